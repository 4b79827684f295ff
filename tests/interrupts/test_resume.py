"""Resuming: what is checked before anything is written or run, and the pause that an answer is bound to."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from nodestep import (
    END,
    START,
    Graph,
    GraphConfigError,
    Interrupt,
    LimitExceededError,
    Resume,
    ResumeError,
    UnknownThreadError,
    interrupt,
    node,
    when,
)
from tests.asking import kept, lone, refusal

FORMS = pytest.mark.parametrize("form", ["invoke", "ainvoke"])


def call(graph: Graph, form: str, *args, **options):
    return graph.invoke(*args, **options) if form == "invoke" else asyncio.run(graph.ainvoke(*args, **options))


@pytest.fixture
def ran() -> list[str]:
    return []


@pytest.fixture
def paused(store, ran) -> Graph:
    """A thread `t` that waits for `ask:a`."""

    def body(state):
        ran.append("ask")
        return {"got": interrupt("What?", id="a")}

    graph = lone(body, store)
    graph.invoke({}, thread_id="t")
    return graph


def test_a_resume_is_a_value_or_answers_and_never_both():
    with pytest.raises(TypeError, match="one of two forms"):
        Resume("yes", answers={"ask:a": "yes"})
    with pytest.raises(TypeError, match="one of two forms"):
        Resume()


@pytest.mark.parametrize("answers", [["yes"], "yes", ("ask:a", "yes"), {"yes"}, 1])
def test_answers_of_a_resume_are_a_mapping(answers):
    with pytest.raises(TypeError, match="mapping from key to value"):
        Resume(answers=answers)


def test_the_value_of_a_resume_is_not_a_keyword():
    with pytest.raises(TypeError):
        Resume(value="yes")  # type: ignore[call-arg]


def test_a_resume_shows_its_keys_and_no_answers():
    assert repr(Resume("hunter2")) == "Resume(...)"
    assert repr(Resume(answers={"ask:pin": "hunter2"})) == "Resume(answers={'ask:pin'})"


@FORMS
@pytest.mark.parametrize("given", [{}, {"note": "hurry"}])
def test_input_and_resume_in_one_call_is_refused(paused, store, ran, form, given):
    with refusal(store, TypeError, "input or resume=, not both", ran=ran):
        call(paused, form, given, thread_id="t", resume=Resume("yes"))


@FORMS
@pytest.mark.parametrize("given", ["yes", True, 0, {"ask:a": "yes"}, [Resume("yes")], Resume])
def test_what_is_no_resume_is_refused(paused, store, ran, form, given):
    with refusal(store, TypeError, "resume= takes a Resume", type(given).__name__, ran=ran):
        call(paused, form, None, thread_id="t", resume=given)


@FORMS
def test_a_resume_given_as_input_is_refused(paused, store, ran, form):
    with refusal(store, TypeError, "A Resume is no input", "resume=Resume(...)", ran=ran):
        call(paused, form, Resume("yes"), thread_id="t")


@FORMS
def test_without_a_store_there_is_nothing_to_resume(form):
    with pytest.raises(GraphConfigError, match=r"'lone' has no store.*resume=.*state_store="):
        call(lone(lambda state: None), form, None, thread_id="t", resume=Resume("yes"))


@FORMS
def test_an_unknown_thread_is_told_and_not_made(store, form):
    with pytest.raises(UnknownThreadError, match="'nobody'"):
        call(lone(lambda state: None, store), form, None, thread_id="nobody", resume=Resume("yes"))
    assert kept(store, "nobody") is None
    assert store.questions() == ()


@FORMS
def test_an_unknown_branch_is_told_and_not_made(paused, store, ran, form):
    with refusal(store, UnknownThreadError, "'other'", "'t'", ran=ran, branch="other"):
        call(paused, form, None, thread_id="t", branch_id="other", resume=Resume("yes"))


@FORMS
def test_a_mistyped_key_is_told_with_the_open_ones_and_the_nearest(paused, store, ran, form):
    with refusal(store, ResumeError, "'ask:b'", "Open: 'ask:a'", "Did you mean 'ask:a'?", ran=ran):
        call(paused, form, None, thread_id="t", resume=Resume(answers={"ask:b": "yes"}))
    assert paused.invoke(None, thread_id="t", resume=Resume(answers={"ask:a": "yes"})).data == {"got": "yes"}


@pytest.mark.parametrize("key", ["", "ask", "a", ":a", "ask:", "ASK:a", "ask:a ", "/ask:a", 5, None, ("ask", "a")])
def test_only_the_exact_key_will_do(paused, store, ran, key):
    with refusal(store, ResumeError, repr(key), ran=ran):
        paused.invoke(None, thread_id="t", resume=Resume(answers={key: "yes"}))


def test_an_unknown_key_beside_the_right_one_refuses_both(paused, store, ran):
    with refusal(store, ResumeError, "'ask:b'", ran=ran):
        paused.invoke(None, thread_id="t", resume=Resume(answers={"ask:a": "yes", "ask:b": "yes"}))


def test_no_answers_answer_nothing(paused, store, ran):
    with refusal(store, ResumeError, "missing: 'ask:a'", ran=ran):
        paused.invoke(None, thread_id="t", resume=Resume(answers={}))


def test_a_resume_can_be_used_for_many_threads(store):
    graph = lone(lambda state: {"got": interrupt("What?", id="a")}, store)
    yes = Resume({"ok": True})
    for thread in ("one", "two"):
        graph.invoke({}, thread_id=thread)
        assert graph.invoke(None, thread_id=thread, resume=yes).data == {"got": {"ok": True}}


def test_what_the_caller_does_to_the_answers_later_does_not_reach_the_resume():
    answers = {"ask:a": 1}
    resume = Resume(answers=answers)
    answers["ask:b"] = 2
    assert resume.answers == {"ask:a": 1}


# Who and why


def test_who_answered_and_why_is_kept_in_history(paused):
    paused.invoke(None, thread_id="t", resume=Resume("yes", by="ann", note="as agreed"))
    (answered,) = [event for event in asyncio.run(paused.history("t")).events if event.type == "answered"]
    assert answered.data["answers"] == {"ask:a": "yes"}
    assert (answered.data["by"], answered.data["note"], answered.data["source"]) == ("ann", "as agreed", "api")


NO_TEXT: list[tuple[Any, type[Exception]]] = [
    (5, TypeError),
    (object(), TypeError),
    (b"ann", TypeError),
    ("a\0b", LimitExceededError),
    ("\ud800", LimitExceededError),
    ("x" * (2 << 20), LimitExceededError),
]


@pytest.mark.parametrize("argument", ["by", "note"])
@pytest.mark.parametrize(("value", "error"), NO_TEXT, ids=["int", "object", "bytes", "NUL", "half", "2 MiB"])
def test_who_and_why_are_texts_within_the_limits(paused, store, ran, argument, value, error):
    with refusal(store, error, argument, ran=ran):
        paused.invoke(None, thread_id="t", resume=Resume("yes", **{argument: value}))


# The pause


def pause_of(asked: Interrupt) -> int:
    assert asked.pause is not None
    return asked.pause


def test_an_answer_bound_to_the_pause_it_saw_is_taken(paused):
    (asked,) = asyncio.run(paused.pending("t")).items
    done = paused.invoke(None, thread_id="t", resume=Resume("yes", pause=asked.pause))
    assert done.data == {"got": "yes"}


def test_an_answer_bound_to_another_pause_is_refused(paused, store, ran):
    (asked,) = asyncio.run(paused.pending("t")).items
    other = asked.pause + 1
    with refusal(store, ResumeError, "'ask:a'", f"pause {other}", f"pause {asked.pause}", ran=ran):
        paused.invoke(None, thread_id="t", resume=Resume("yes", pause=other))


def test_an_answer_delivered_twice_does_not_meet_the_next_round(store):
    @node
    def ask(state):
        return {"got": interrupt("Good enough?", id="approve")}

    graph = Graph(dict, name="rounds", state_store=store).flow(
        START >> ask >> when(lambda state: state["got"] == "no", ask, otherwise=END)
    )
    first = graph.invoke({}, thread_id="t").interrupts["ask:approve"]
    click = Resume("no", pause=first.pause)
    second = graph.invoke(None, thread_id="t", resume=click).interrupts["ask:approve"]
    assert second.pause != first.pause
    with refusal(store, ResumeError, "'ask:approve'", f"pause {first.pause}"):
        graph.invoke(None, thread_id="t", resume=click)


def test_no_pause_number_is_given_twice_in_a_store(store):
    graph = lone(lambda state: interrupt("?", id="a"), store)
    pauses = [pause_of(graph.invoke({}, thread_id=f"t{n}").interrupts["ask:a"]) for n in range(5)]
    assert pauses == sorted(set(pauses))


def test_answers_to_questions_of_different_pauses_are_bound_by_key(store):
    broken = [True]

    def later(state):
        if broken:
            raise OSError("no disk")
        return {"b": interrupt("B?", id="b")}

    asking = node(lambda state: {"a": interrupt("A?", id="a")}, name="early")
    failing = node(later, name="late")
    graph = Graph(dict, name="two", state_store=store).flow(
        START >> node(lambda state: None, name="start") >> [asking, failing], asking >> END, failing >> END
    )
    with pytest.raises(OSError, match="no disk"):
        graph.invoke({}, thread_id="t")
    broken.clear()
    asked = graph.invoke(None, thread_id="t").interrupts
    early, late = pause_of(asked["early:a"]), pause_of(asked["late:b"])
    assert early < late
    answers = {"early:a": 1, "late:b": 2}
    with refusal(store, ResumeError, "'late:b'", f"pause {early}", f"pause {late}"):
        graph.invoke(None, thread_id="t", resume=Resume(answers=answers, pause=early))
    with refusal(store, ResumeError, "'early:a'"):
        graph.invoke(None, thread_id="t", resume=Resume(answers=answers, pause={"early:a": late}))
    bound = {"early:a": early, "late:b": late}
    assert graph.invoke(None, thread_id="t", resume=Resume(answers=answers, pause=bound)).data == {"a": 1, "b": 2}


def test_a_pause_given_for_a_key_that_is_not_answered_is_refused(paused, store, ran):
    (asked,) = asyncio.run(paused.pending("t")).items
    resume = Resume(answers={"ask:a": "yes"}, pause={"ask:A": asked.pause + 7})
    with refusal(store, ResumeError, "'ask:A'", ran=ran):
        paused.invoke(None, thread_id="t", resume=resume)


@pytest.mark.parametrize("pause", ["1", 1.5, True, [1], {"ask:a": True}])
def test_a_pause_that_is_no_number_is_refused(paused, store, ran, pause):
    with refusal(store, TypeError, "pause=", ran=ran):
        paused.invoke(None, thread_id="t", resume=Resume(answers={"ask:a": "yes"}, pause=pause))
