"""Answers collected one by one until the thread is ready, by whoever comes; a call then goes on."""

from __future__ import annotations

from typing import Any

import pytest

from nodestep import LimitExceededError, Resume, ResumeError, ThreadBusyError, UnknownThreadError, interrupt
from tests.asking import refusal
from tests.history.making import asks, events, forked, open_keys, side_by_side, told, untouched
from tests.running.making import Log, does, run, says


@pytest.fixture
def graph(store, ran):
    """Thread `t` waits for `legal:ok` and `security:ok`."""
    graph = side_by_side(asks("legal", ran), asks("security", ran), says("build", ran), state_store=store)
    graph.invoke({}, thread_id="t")
    return graph


def answer(on: Any, answers: Any, **options: Any) -> tuple[str, ...]:
    return run(on.answer("t", answers, **options))


def status(on: Any) -> str:
    return run(on.threads()).items[0].status


def test_answers_are_collected_until_the_thread_is_ready_and_a_call_goes_on(graph, ran):
    assert (answer(graph, {"legal:ok": 1}), status(graph)) == (("security:ok",), "interrupted")
    assert (answer(graph, {"security:ok": 2}), status(graph)) == ((), "ready")
    assert sorted(ran) == ["build", "legal", "security"]
    assert graph.invoke(None, thread_id="t").state.log == ["a", "build", "legal: 1", "security: 2"]
    assert sorted(ran) == ["build", "legal", "legal", "security", "security"]


def test_answers_given_in_two_processes_come_together_in_a_third(graph, reopened):
    answer(reopened(), {"legal:ok": 1})
    answer(reopened(), {"security:ok": 2})
    done = graph.invoke(None, thread_id="t", state_store=reopened())
    assert done.state.log == ["a", "build", "legal: 1", "security: 2"]


def test_a_resume_gives_the_rest(graph):
    answer(graph, {"legal:ok": 1})
    done = graph.invoke(None, thread_id="t", resume=Resume(answers={"security:ok": 2}))
    assert done.state.log == ["a", "build", "legal: 1", "security: 2"]


def test_a_call_to_go_on_waits_for_the_last_answer(graph, store, ran):
    answer(graph, {"legal:ok": 1})
    with refusal(store, ResumeError, "'security:ok'", ran=ran):
        graph.invoke(None, thread_id="t")
    with refusal(store, ResumeError, "'security:ok'", ran=ran):
        graph.invoke({}, thread_id="t")


def test_a_ready_thread_takes_neither_a_new_input_nor_another_answer(graph, store, ran):
    answer(graph, {"legal:ok": 1, "security:ok": 2})
    with refusal(store, ResumeError, "invoke(None)", ran=ran):
        graph.invoke({"n": 1}, thread_id="t")
    for resume in (Resume(1), Resume(answers={"legal:ok": 3})):
        with refusal(store, ResumeError, "ready", ran=ran):
            graph.invoke(None, thread_id="t", resume=resume)
    with refusal(store, ResumeError, ran=ran):
        answer(graph, {"legal:ok": 3})


def test_an_answer_that_was_given_closes_only_its_question(graph):
    before = {asked.key: asked for asked in run(graph.pending("t")).items}
    answer(graph, {"legal:ok": 1})
    assert run(graph.pending("t")).items == (before["security:ok"],)
    assert open_keys(graph, None) == ["security:ok"]


def test_each_is_told_in_history_with_who_and_why(graph):
    answer(graph, {"legal:ok": "yes"}, by="ann", note="read it")
    answer(graph, {"security:ok": "no"}, by="ben")
    assert [event.data for event in events(graph) if event.type == "answered"] == [
        {"answers": {"legal:ok": "yes"}, "by": "ann", "note": "read it", "source": "api"},
        {"answers": {"security:ok": "no"}, "by": "ben", "note": None, "source": "api"},
    ]
    assert told(graph).count("run_started") == 1


def test_a_failed_thread_with_open_questions_takes_answers_and_is_then_ready(store, ran):
    broken = [True]

    def fails(state: Log):
        if broken:
            raise OSError(broken.pop())
        return {"log": ["work"]}

    graph = side_by_side(asks("legal"), does("work", fails), state_store=store)
    with pytest.raises(OSError, match="True"):
        graph.invoke({}, thread_id="t")
    assert status(graph) == "failed"
    assert answer(graph, {"legal:ok": 1}) == ()
    assert status(graph) == "ready"
    with refusal(store, ResumeError, "invoke(None)", ran=ran):
        graph.invoke({}, thread_id="t")
    assert graph.invoke(None, thread_id="t").state.log == ["a", "legal: 1", "work"]


def test_answers_survive_a_run_that_fails_after_them(store, reopened, ran):
    broken = [True]

    def asks_and_fails(state: Log):
        answer = interrupt("?", id="ok")
        if broken:
            raise OSError(broken.pop())
        return {"log": [f"got {answer}"]}

    graph = side_by_side(does("ask", asks_and_fails), says("b", ran), state_store=store)
    graph.invoke({}, thread_id="t")
    answer(graph, {"ask:ok": "kept"})
    with pytest.raises(OSError, match="True"):
        graph.invoke(None, thread_id="t")
    assert (status(graph), open_keys(graph)) == ("failed", [])
    assert graph.invoke(None, thread_id="t", state_store=reopened()).state.log == ["a", "got kept", "b"]


def test_a_key_may_be_answered_anew_in_a_fork_from_before(graph):
    answer(graph, {"legal:ok": "first"})
    branch = forked(graph, "interrupted")
    assert answer(graph, {"legal:ok": "second"}, branch_id=branch) == ("security:ok",)
    answer(graph, {"security:ok": 2})
    assert graph.invoke(None, thread_id="t").state.log[2] == "legal: first"


@pytest.mark.parametrize(
    ("pause", "error"),
    [("1", TypeError), (1.0, TypeError), (True, TypeError), ([1], TypeError), ({"legal:ok": "1"}, TypeError)],
)
def test_a_pause_is_a_number_or_a_number_for_each_key(graph, store, ran, pause, error):
    with refusal(store, error, "pause=", ran=ran):
        answer(graph, {"legal:ok": 1}, pause=pause)
    with pytest.raises(error, match="pause="):
        Resume(1, pause=pause)


def test_a_pause_named_for_a_question_that_is_not_answered_here_is_told(graph, store, ran):
    (pause,) = {asked.pause for asked in run(graph.pending("t")).items}
    with refusal(store, ResumeError, "'security:ok'", ran=ran):
        answer(graph, {"legal:ok": 1}, pause={"legal:ok": pause, "security:ok": pause})


def test_an_unknown_branch_takes_no_answer(graph, store, ran):
    with untouched(store), pytest.raises(UnknownThreadError, match="'side'"):
        answer(graph, {"legal:ok": 1}, branch_id="side")


def test_a_running_thread_takes_no_answer(store):
    def tries(state: Log):
        with pytest.raises(ThreadBusyError, match="'t'"):
            answer(graph, {"legal:ok": 1})

    graph = side_by_side(asks("legal"), does("work", tries), state_store=store)
    assert graph.invoke({}, thread_id="t").status == "interrupted"
    assert open_keys(graph) == ["legal:ok"]


def test_who_is_an_id_and_why_is_a_text_within_the_limits(graph, store, ran):
    for options in ({"by": ""}, {"by": "x" * 513}, {"note": "x" * (1 << 20)}, {"note": "\ud800"}):
        with refusal(store, LimitExceededError, next(iter(options)), ran=ran):
            answer(graph, {"legal:ok": 1}, **options)
    assert answer(graph, {"legal:ok": 1}, by="x" * 512, note="") == ("security:ok",)
