"""A renamed node beside finished siblings, in joins, and as a target."""

from __future__ import annotations

import pytest

from nodestep import (
    END,
    START,
    Command,
    GraphChangedError,
    InvalidUpdateError,
    NodeContext,
    Resume,
    Send,
    interrupt,
    when,
)
from tests.asking import refusal
from tests.history.making import asks, open_keys
from tests.running.making import Log, does, of, returns, run, says


def body(name: str, ran: list[str] | None = None):
    """Writes as `name` whatever it is called."""

    def ask(state: Log, ctx: NodeContext):
        if ran is not None:
            ran.append(ctx.node)
        ctx.cache["runs"] = ctx.cache.get("runs", 0) + 1
        return {"log": [f"{name} {ctx.cache['runs']}: {interrupt('?', id='ok')}"]}

    return ask


def pair(store, one: str, two: str, ran: list[str], **aliases: list[str]):
    """Two tasks at once: `one` has finished, `two` asks."""
    nodes = [
        says(one, ran, aliases=aliases.get(one, [])),
        does(two, body("two"), aliases=aliases.get(two, [])),
    ]
    return of(START >> says("a") >> nodes >> says("join") >> END, state_store=store)


@pytest.mark.parametrize("renamed", ["asking", "finished", "both"])
def test_beside_finished_siblings_and_in_a_join_nothing_is_repeated_or_missed(store, ran, renamed):
    pair(store, "one", "two", ran).invoke({}, thread_id="t")
    one, two = {"asking": ("one", "zwei"), "finished": ("eins", "two"), "both": ("eins", "zwei")}[renamed]
    aliases = {new: [old] for new, old in ((one, "one"), (two, "two")) if new != old}
    new = pair(store, one, two, ran, **aliases)
    done = new.invoke(None, thread_id="t", resume=Resume("yes"))
    assert done.state.log == ["a", "one", "two 2: yes", "join"]
    assert ran == ["one"]


def test_the_order_in_which_updates_merge_does_not_change_with_the_name(store, ran):
    pair(store, "m", "n", ran).invoke({}, thread_id="t")
    new = pair(store, "z", "b", ran, z=["m"], b=["n"])
    assert new.invoke(None, thread_id="t", resume=Resume("yes")).state.log == ["a", "m", "two 2: yes", "join"]


def test_two_writers_of_a_field_still_conflict_after_one_was_renamed(store):
    def setting(name: str, aliases: list[str]):
        def sets(state: Log):
            return {"n": interrupt("?", id="ok")}

        nodes = [returns("x", {"n": 1}), does(name, sets, aliases=aliases)]
        return of(START >> says("a") >> nodes, *(task >> END for task in nodes), state_store=store)

    setting("y", []).invoke({}, thread_id="t")
    with pytest.raises(InvalidUpdateError, match="'n'"):
        setting("why", ["y"]).invoke(None, thread_id="t", resume=Resume(2))


def joined(store, source: str, target: str, **aliases: list[str]):
    """`source` reached the join in the first superstep; `c` asks on the way there."""
    first, b = says(source, aliases=aliases.get(source, [])), says("b")
    join = says(target, aliases=aliases.get(target, []))
    flow = (START >> [first, b], b >> does("c", body("c")), [first, "c"] >> join >> END)
    return of(*flow, state_store=store)


@pytest.mark.parametrize(("source", "target"), [("s2", "join"), ("s", "join2"), ("s2", "join2")])
def test_the_marks_of_a_half_full_join_follow_renamed_sources_and_targets(store, source, target):
    joined(store, "s", "join").invoke({}, thread_id="t")
    aliases = {new: [old] for new, old in ((source, "s"), (target, "join")) if new != old}
    done = joined(store, source, target, **aliases).invoke(None, thread_id="t", resume=Resume("yes"))
    assert done.state.log == ["b", "s", "c 2: yes", target]


def test_a_join_whose_source_is_gone_is_told(store, ran):
    joined(store, "s", "join").invoke({}, thread_id="t")
    with refusal(store, GraphChangedError, "'s'", ran=ran):
        joined(store, "other", "join").invoke(None, thread_id="t", resume=Resume("yes"))


def sending(store, name: str, aliases: list[str]):
    """`split` has sent three tasks to the node of this name, of which each asks."""

    def item(state: Log):
        return {"log": [f"{state.n}: {interrupt('?', id='ok')}"]}

    target = does(name, item, aliases=aliases)
    split = does("split", lambda state: [Send(name, {"n": n}) for n in range(3)], goto=[name])
    return of(START >> split, target >> END, state_store=store)


def test_tasks_that_were_sent_to_it_go_on_each_with_its_payload(store):
    sending(store, "item", []).invoke({}, thread_id="t")
    new = sending(store, "entry", ["item"])
    assert open_keys(new) == ["item:ok", "item[1]:ok", "item[2]:ok"]
    run(new.answer("t", {"item[1]:ok": "b"}))
    done = new.invoke(None, thread_id="t", resume=Resume(answers={"item:ok": "a", "item[2]:ok": "c"}))
    assert done.state.log == ["0: a", "1: b", "2: c"]


@pytest.mark.parametrize("goto", [lambda name: Command(goto=name), lambda name: Command(goto=[Send(name)])])
def test_a_recorded_goto_to_a_renamed_node_leads_there(store, goto):
    def flow(target: str, aliases: list[str]):
        nodes = [asks("ask"), returns("jump", goto(target), goto=[target])]
        return of(START >> says("a") >> nodes, nodes[0] >> END, says(target, aliases=aliases) >> END, state_store=store)

    flow("target", []).invoke({}, thread_id="t")
    done = flow("aim", ["target"]).invoke(None, thread_id="t", resume=Resume(1))
    assert done.state.log == ["a", "ask: 1", "aim"]


def test_a_renamed_node_that_two_tasks_lead_to_runs_once(store):
    def flow(target: str, aliases: list[str]):
        nodes = [asks("ask"), returns("jump", Command(goto=target), goto=[target])]
        end = says(target, aliases=aliases)
        return of(START >> says("a") >> nodes, nodes[0] >> end >> END, state_store=store)

    flow("target", []).invoke({}, thread_id="t")
    done = flow("aim", ["target"]).invoke(None, thread_id="t", resume=Resume(1))
    assert done.state.log == ["a", "ask: 1", "aim"]


def test_a_router_behind_a_renamed_node_is_asked(store):
    def flow(name: str, aliases: list[str]):
        ask = does(name, body("it"), aliases=aliases)
        yes, no = says("yes"), says("no")
        route = when(lambda state: state.log[-1].endswith("yes"), yes, otherwise=no)
        return of(START >> ask >> route, yes >> END, no >> END, state_store=store)

    flow("review", []).invoke({}, thread_id="t")
    new = flow("approve", ["review"])
    assert new.invoke(None, thread_id="t", resume=Resume("yes")).state.log == ["it 2: yes", "yes"]
