"""How many supersteps a call may take."""

from __future__ import annotations

import pytest

from nodestep import END, START, RunLimitExceededError, when

from .making import Log, both, does, of, run, says


def endless(**options):
    """Counts in `n`, for ever."""
    return of(START >> does("a", lambda state: {"n": state.n + 1}) >> "a", **options)


def test_a_run_may_take_exactly_as_many_supersteps_as_allowed():
    assert both(of(START >> says("a") >> says("b") >> END, max_steps=2), {}).step == 1


def test_a_run_that_needs_more_is_stopped_and_names_the_limit():
    with pytest.raises(RunLimitExceededError, match="max_steps=3") as caught:
        both(endless(max_steps=3), {})

    assert (caught.value.limit_name, caught.value.limit_value) == ("max_steps", 3)


def test_the_limit_is_25_unless_told_otherwise():
    with pytest.raises(RunLimitExceededError, match="25"):
        endless().invoke({})


def test_what_finished_is_recorded_and_the_next_call_has_a_new_budget(store):
    graph = endless(max_steps=3, state_store=store)

    for n in (3, 6, 9):
        with pytest.raises(RunLimitExceededError):
            graph.invoke({} if n == 3 else None, thread_id="t")
        assert run(graph.load("t"))["n"] == n


def test_a_stopped_thread_can_be_finished_by_a_call_that_needs_no_more(store):
    graph = of(START >> says("a") >> says("b") >> says("c") >> END, max_steps=2, state_store=store)
    with pytest.raises(RunLimitExceededError):
        graph.invoke({}, thread_id="t")

    assert graph.invoke(None, thread_id="t").state == Log(log=["a", "b", "c"])


def test_parallel_tasks_are_one_superstep():
    assert both(of(START >> [says("a"), says("b"), says("c")] >> says("d") >> END, max_steps=2), {}).step == 1


def test_a_graph_may_end_before_its_first_node():
    def nothing(state: Log) -> bool:
        return False

    result = both(of(START >> when(nothing, says("a"), otherwise=END), "a" >> END), {"n": 4})
    assert (result.status, result.state) == ("completed", Log(n=4))
