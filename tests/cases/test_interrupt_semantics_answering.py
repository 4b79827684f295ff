"""Cases of kind interrupt-semantics about answering; each test bears its case's id."""

from __future__ import annotations

import asyncio
import datetime
import decimal
import enum
from typing import Any

import pytest
from pydantic import BaseModel

from nodestep import (
    Graph,
    GraphConfigError,
    LimitExceededError,
    Middleware,
    Resume,
    ResumeError,
    UnknownThreadError,
    interrupt,
)
from tests.asking import kept, lone, refusal


@pytest.fixture
def ran() -> list[str]:
    return []


@pytest.fixture
def paused(store, ran) -> Graph:
    """Thread `t`, which waits for `ask:approve`."""

    def body(state):
        ran.append("ask")
        return {"got": interrupt("Approve?", id="approve")}

    graph = lone(body, store)
    graph.invoke({}, thread_id="t")
    return graph


def test_is_05_a_dict_meant_as_one_answer_is_not_a_map(paused):
    form = {"ask:approve": "no", "note": "x"}
    assert paused.invoke(None, thread_id="t", resume=Resume(form)).data == {"got": form}


def test_is_05_a_value_and_answers_together_are_an_error():
    with pytest.raises(TypeError, match=r"Resume\(value\).*Resume\(answers="):
        Resume("yes", answers={"ask:approve": "yes"})


def test_is_06_a_mistyped_key_is_told_with_the_open_ones_and_the_right_one_works_then(paused, store, ran):
    with refusal(store, ResumeError, "'ask:aprove'", "Open: 'ask:approve'", "Did you mean", ran=ran):
        paused.invoke(None, thread_id="t", resume=Resume(answers={"ask:aprove": "yes"}))
    done = paused.invoke(None, thread_id="t", resume=Resume(answers={"ask:approve": "yes"}))
    assert done.data == {"got": "yes"}


def test_is_12_new_input_on_a_paused_thread_is_refused_and_told_how_to_answer(paused, store, ran):
    with refusal(store, ResumeError, "'ask:approve'", "resume=Resume(...)", "fork", ran=ran):
        paused.invoke({"amount": 5}, thread_id="t")
    assert [asked.key for asked in asyncio.run(paused.pending("t")).items] == ["ask:approve"]


def test_is_13_input_and_answer_in_one_call_are_refused_together(paused, store, ran):
    """The semantics decide: TypeError, and neither is used."""
    with refusal(store, TypeError, "not both", ran=ran):
        paused.invoke({"note": "hurry"}, thread_id="t", resume=Resume("yes"))


def test_is_14_an_answer_to_an_unknown_thread_makes_none(store):
    with pytest.raises(ResumeError) as refused:
        lone(lambda state: None, store).invoke(None, thread_id="nobody", resume=Resume("x"))
    assert type(refused.value) is UnknownThreadError
    assert kept(store, "nobody") is None


def test_is_14_an_answer_to_a_finished_thread_is_refused(paused, store, ran):
    paused.invoke(None, thread_id="t", resume=Resume("yes"))
    with refusal(store, ResumeError, "'t'", "completed", ran=ran):
        paused.invoke(None, thread_id="t", resume=Resume("x"))


def test_is_14_an_answer_to_a_failed_thread_is_refused(store, ran):
    def broken(state):
        ran.append("ask")
        raise OSError("no disk")

    graph = lone(broken, store)
    with pytest.raises(OSError, match="no disk"):
        graph.invoke({}, thread_id="t")
    with refusal(store, ResumeError, "'t'", "failed", ran=ran):
        graph.invoke(None, thread_id="t", resume=Resume("x"))


def test_is_14_an_answer_without_a_store_is_told_so():
    with pytest.raises(GraphConfigError, match="no store"):
        lone(lambda state: None).invoke(None, thread_id="t", resume=Resume("x"))


def test_is_16_a_falsy_decision_of_a_hook_decides():
    falsies: list[Any] = [False, 0, "", []]
    for falsy in falsies:
        asked: list[str] = []

        class Hook(Middleware):
            def __init__(self, name: str, answer: Any) -> None:
                self.name, self.answer = name, answer

            def on_interrupt(self, ctx, payload):
                asked.append(self.name)  # noqa: B023 - called before the loop goes on
                return self.answer

        hooks = [Hook("h1", None), Hook("h2", falsy), Hook("h3", "yes")]
        done = lone(lambda state: {"got": interrupt("?", id="a")}, middleware=hooks).invoke({})
        assert (done.data, asked) == ({"got": falsy}, ["h1", "h2"])


def test_is_17_what_a_hook_answered_is_kept_and_not_asked_again(store):
    """The hook's decision is recorded with the task."""

    class FirstPassOnly(Middleware):
        passes = 0

        def on_interrupt(self, ctx, payload):
            if payload != "a":
                return None
            self.passes += 1
            return "A" if self.passes == 1 else None

    hook = FirstPassOnly()
    graph = lone(lambda state: {"got": [interrupt("a", id="a"), interrupt("b", id="b")]}, store, middleware=[hook])
    assert list(graph.invoke({}, thread_id="t").interrupts) == ["ask:b"]
    assert graph.invoke(None, thread_id="t", resume=Resume("B")).data == {"got": ["A", "B"]}
    assert hook.passes == 1


class Form(BaseModel):
    ok: bool
    day: datetime.date


class Level(enum.Enum):
    HIGH = "high"


DAY = datetime.date(2025, 3, 1)
SAME: list[tuple[Any, Any]] = [
    (Form(ok=True, day=DAY), {"ok": True, "day": "2025-03-01"}),
    (DAY, "2025-03-01"),
    (decimal.Decimal("0.10"), "0.10"),
    (Level.HIGH, "high"),
    (("a", 1), ["a", 1]),
    ({"a"}, ["a"]),
    (b"text", "text"),
]


@pytest.mark.parametrize(("given", "as_json"), SAME, ids=lambda value: type(value).__name__)
def test_is_24_an_answer_is_the_same_json_in_the_process_and_after_a_restart(store, reopened, given, as_json):
    got: list[Any] = []

    def body(state):
        answer = interrupt("First?", id="a")
        got.append(answer)
        interrupt("Second?", id="b")

    lone(body, store).invoke({}, thread_id="t")
    lone(body, store).invoke(None, thread_id="t", resume=Resume(given))
    lone(body, reopened()).invoke(None, thread_id="t", resume=Resume(1))
    assert got == [as_json, as_json]


@pytest.mark.parametrize("given", [b"\xff", object(), float("nan")], ids=["bytes", "object", "nan"])
def test_is_24_what_cannot_be_made_json_is_refused_before_a_node_runs(paused, store, ran, given):
    """A number that is not finite is over a limit, and so a LimitExceededError; the rest is a ResumeError."""
    error = LimitExceededError if isinstance(given, float) else ResumeError
    with refusal(store, error, "'ask:approve'", ran=ran):
        paused.invoke(None, thread_id="t", resume=Resume(given))


def test_is_25_what_the_node_does_to_its_answer_is_not_kept(store):
    seen: list[bool] = []

    def body(state):
        answer = interrupt("First?", id="a")
        seen.append("seen" in answer)
        answer["seen"] = True
        interrupt("Second?", id="b")

    given = {"ok": True}
    graph = lone(body, store)
    graph.invoke({}, thread_id="t")
    graph.invoke(None, thread_id="t", resume=Resume(given))
    graph.invoke(None, thread_id="t", resume=Resume("yes"))
    assert seen == [False, False]
    assert given == {"ok": True}
