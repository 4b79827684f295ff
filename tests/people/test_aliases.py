"""A node that was renamed takes over what waits under its former name: its answers, its cache, and where it leads."""

from __future__ import annotations

import pytest

from nodestep import (
    END,
    START,
    GraphChangedError,
    NodeContext,
    Resume,
    interrupt,
)
from tests.asking import refusal
from tests.history.making import forked, open_keys
from tests.running.making import Log, does, of, run, says


def body(name: str, ran: list[str] | None = None):
    """Writes as `name` whatever it is called."""

    def ask(state: Log, ctx: NodeContext):
        if ran is not None:
            ran.append(ctx.node)
        ctx.cache["runs"] = ctx.cache.get("runs", 0) + 1
        return {"log": [f"{name} {ctx.cache['runs']}: {interrupt('?', id='ok')}"]}

    return ask


def asking(store, name: str, ran: list[str] | None = None, **options):
    return of(START >> says("a") >> does(name, body("it", ran), **options) >> says("z") >> END, state_store=store)


@pytest.fixture
def old(store):
    """Thread `t` waits for `review:ok`."""
    old = asking(store, "review")
    old.invoke({}, thread_id="t")
    return old


def test_a_renamed_node_goes_on_with_its_answer_and_its_cache(old, store):
    new = asking(store, "approve", aliases=["review"])
    assert new.invoke(None, thread_id="t", resume=Resume("yes")).state.log == ["a", "it 2: yes", "z"]


def test_its_question_keeps_its_key_until_it_is_answered(old, store):
    new = asking(store, "approve", aliases=["review"])
    (asked,) = run(new.pending("t")).items
    assert asked.key == "review:ok"
    assert run(new.answer("t", {"review:ok": "yes"}, pause=asked.pause)) == ()
    assert new.invoke(None, thread_id="t").status == "completed"


def test_answers_collected_before_the_change_are_used_after_it(old, store):
    run(old.answer("t", {"review:ok": "early"}))
    new = asking(store, "approve", aliases=["review"])
    assert new.invoke(None, thread_id="t").state.log == ["a", "it 2: early", "z"]


def test_the_next_turn_runs_under_the_new_name(old, store):
    new = asking(store, "approve", aliases=["review"])
    new.invoke(None, thread_id="t", resume=Resume("yes"))
    assert list(new.invoke({}, thread_id="t").interrupts) == ["approve:ok"]


def test_the_idempotency_key_stays(store):
    keys: list[str] = []

    def keyed(state: Log, ctx: NodeContext):
        keys.append(ctx.idempotency_key)
        interrupt("?", id="ok")

    of(START >> does("old", keyed) >> END, state_store=store).invoke({}, thread_id="t")
    new = of(START >> does("new", keyed, aliases=["old"]) >> END, state_store=store)
    new.invoke(None, thread_id="t", resume=Resume(1))
    assert keys[0] == keys[1]


def test_a_node_renamed_twice_names_both_former_names(old, store):
    new = asking(store, "sign", aliases=["approve", "review"])
    assert new.invoke(None, thread_id="t", resume=Resume("yes")).status == "completed"


def test_a_fork_and_an_edit_work_across_the_change(old, store):
    new = asking(store, "approve", aliases=["review"])
    branch = forked(new, "interrupted")
    run(new.update_state("t", {"n": 5}))
    assert new.invoke(None, thread_id="t", branch_id=branch, resume=Resume("no")).state.log[1] == "it 2: no"
    assert new.invoke(None, thread_id="t", resume=Resume("yes")).state.n == 5


def test_a_failed_node_that_was_renamed_runs_again(store):
    def fails(state: Log):
        raise OSError("no disk")

    with pytest.raises(OSError, match="no disk"):
        of(START >> says("a") >> does("work", fails) >> END, state_store=store).invoke({}, thread_id="t")
    mended = of(START >> says("a") >> says("labour", aliases=["work"]) >> END, state_store=store)
    assert mended.invoke(None, thread_id="t").state.log == ["a", "labour"]


def test_a_node_that_was_removed_keeps_the_answers_stored(old, store, ran):
    run(old.answer("t", {"review:ok": "kept"}, by="ann"))
    other = asking(store, "other", ran)
    with refusal(store, GraphChangedError, "'t'", "'review'", "aliases", ran=ran):
        other.invoke(None, thread_id="t")
    assert [item.value for item in run(other.audit("t")).items] == ["kept"]
    assert old.invoke(None, thread_id="t").state.log == ["a", "it 2: kept", "z"]


def test_a_question_of_a_removed_node_can_still_be_answered_and_waits_for_the_node_to_come_back(old, store, ran):
    other = asking(store, "other", ran)
    assert open_keys(other) == ["review:ok"]
    assert run(other.answer("t", {"review:ok": "kept"})) == ()
    with refusal(store, GraphChangedError, "'review'", ran=ran):
        other.invoke(None, thread_id="t")
    assert asking(store, "back", aliases=["review"]).invoke(None, thread_id="t").state.log[1] == "it 2: kept"


def test_a_node_learns_its_own_name_as_it_is_now(old, store, ran):
    new = asking(store, "approve", ran, aliases=["review"])
    new.invoke(None, thread_id="t", resume=Resume("yes"))
    assert ran == ["approve"]
