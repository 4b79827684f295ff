"""The lifecycle table, its cells that refuse: the error, and that nothing was written and nothing ran."""

from __future__ import annotations

from typing import Any

import pytest

from nodestep import END, START, Graph, ResumeError, ThreadBusyError, UnknownThreadError, node
from tests.asking import kept, refusal
from tests.lifecycle.standing import FORMS, answering, going_on, invoke, resuming, starting

REFUSED: list[tuple[str, Any, type[Exception], str]] = [
    ("interrupted", going_on, ResumeError, "paused"),
    ("interrupted", starting, ResumeError, "paused"),
    ("ready", resuming, ResumeError, "ready"),
    ("ready", starting, ResumeError, "answered"),
    ("ready", answering, ResumeError, "ready"),
    ("failed", resuming, ResumeError, "waits for no answer"),
    ("failed", answering, ResumeError, "waits for no answer"),
    ("cut_off", resuming, ResumeError, "waits for no answer"),
    ("cut_off", answering, ResumeError, "waits for no answer"),
    ("failed_and_open", starting, ResumeError, "paused"),
    ("completed", going_on, ResumeError, "completed"),
    ("completed", resuming, ResumeError, "completed"),
    ("completed", answering, ResumeError, "completed"),
    ("cancelled", going_on, ResumeError, "cancelled"),
    ("cancelled", resuming, ResumeError, "cancelled"),
    ("cancelled", answering, ResumeError, "cancelled"),
    ("unknown", going_on, UnknownThreadError, "no thread 't'"),
    ("unknown", resuming, UnknownThreadError, "no thread 't'"),
    ("unknown", answering, UnknownThreadError, "no thread 't'"),
]


def cell(item: Any) -> str | None:
    return item if isinstance(item, str) else getattr(item, "__name__", None)


def forms(call: Any) -> list[Any]:
    """The forms that a call has; answer() has one."""
    return [invoke] if call is answering else FORMS


@pytest.mark.parametrize(
    ("state", "call", "form", "error", "word"),
    [(state, call, form, error, word) for state, call, error, word in REFUSED for form in forms(call)],
    ids=cell,
)
def test_a_call_that_does_not_fit_is_refused(life, state, call, form, error, word):
    graph = getattr(life, state)()
    with refusal(life.store, error, "'t'", word, ran=life.ran):
        call(form, graph)


@pytest.mark.parametrize("call", [going_on, resuming, starting, answering])
def test_a_branch_that_the_thread_does_not_have_is_unknown(life, call):
    graph = life.completed()
    with refusal(life.store, UnknownThreadError, "'t'", "'side'", ran=life.ran, branch="side"):
        call(invoke, graph, branch_id="side")


@pytest.mark.parametrize("call", [going_on, resuming, starting, answering])
def test_a_branch_other_than_main_of_an_unknown_thread_is_unknown(life, call):
    graph = life.unknown()
    with refusal(life.store, UnknownThreadError, "'t'", "'side'", ran=life.ran, branch="side"):
        call(invoke, graph, branch_id="side")
    assert kept(life.store) is None


@pytest.mark.parametrize(
    ("call", "form"),
    [(call, form) for call in (going_on, resuming, starting, answering) for form in forms(call)],
    ids=cell,
)
def test_a_branch_that_a_run_works_on_is_busy(life, call, form):
    entered: list[str] = []

    def busy(state):
        entered.append("busy")
        with refusal(life.store, ThreadBusyError, "'t'", ran=entered):
            call(form, graph)

    graph = Graph(dict, name="life", state_store=life.store).flow(START >> node(busy, name="busy") >> END)
    assert graph.invoke({}, thread_id="t").status == "completed"
    assert entered == ["busy"]


@pytest.mark.parametrize("call", [going_on, resuming, starting, answering])
def test_a_branch_with_an_open_question_that_a_run_works_on_is_busy(life, call):
    """While a run repeats what failed, the question is open and takes no answer."""
    graph = life.failed_and_open()

    def work(state):
        with refusal(life.store, ThreadBusyError, "'t'", ran=life.ran):
            call(invoke, graph)

    life.work = work
    assert life.both().invoke(None, thread_id="t").status == "interrupted"
