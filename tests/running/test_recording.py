"""What a run commits, counted at the store."""

from __future__ import annotations

import threading

import pytest

from nodestep import END, START, InMemoryStateStore, NodeContext, Resume, SQLiteStateStore, interrupt
from tests.watching import Watched

from .making import Log, does, of, run, says, soon


def watched(graph, store, *calls, asynchronous: bool = False, **options) -> Watched:
    """A store that saw these calls: inputs, or answers."""
    seen = Watched(store)
    for call in calls:
        given = {"resume": call} if isinstance(call, Resume) else {"initial_state": call}
        if asynchronous:
            run(graph.ainvoke(thread_id="t", state_store=seen, **given))
        else:
            graph.invoke(thread_id="t", state_store=seen, **given)
    return seen


@pytest.mark.parametrize("asynchronous", [False, True])
@pytest.mark.parametrize("n", [1, 3, 10])
def test_a_chain_of_n_supersteps_is_n_commits_and_one_for_the_claim(store, n, asynchronous):
    chain = START >> says("s0")
    for index in range(1, n):
        chain = chain >> says(f"s{index}")

    seen = watched(of(chain >> END), store, {}, asynchronous=asynchronous)

    assert seen.kinds() == [["Started"], *[["SuperstepCompleted"]] * (n - 1), ["SuperstepCompleted", "RunCompleted"]]


def test_a_second_turn_costs_the_same(store):
    assert len(watched(of(START >> says("a") >> says("b") >> END), store, {}, {}).commits) == 6


def test_a_pause_is_one_commit_and_the_answer_comes_with_the_claim(store):
    def ask(state: Log):
        return {"log": [interrupt("?", id="ok")]}

    seen = watched(of(START >> says("a") >> does("ask", ask) >> END), store, {}, Resume("yes"))

    assert seen.kinds()[:3] == [["Started"], ["SuperstepCompleted"], ["TaskRecorded", "Paused"]]
    assert seen.kinds()[3] == ["Answered", "Continued"]
    assert len(seen.commits) == 5


def test_a_failed_superstep_is_one_commit(store):
    def fails(state: Log):
        raise ValueError("no")

    seen = Watched(store)
    with pytest.raises(ValueError, match="no"):
        of(START >> does("a", fails) >> END).invoke({}, thread_id="t", state_store=seen)

    assert seen.kinds() == [["Started"], ["TaskRecorded", "RunFailed"]]


@pytest.mark.parametrize("kind", ["memory", "sqlite"])
def test_each_of_several_tasks_is_recorded_as_it_ends(kind, tmp_path):
    recorded = threading.Event()

    def before(facts):
        if [type(fact).__name__ for fact in facts] == ["TaskRecorded"] and facts[0].task == "quick":
            recorded.set()

    def slow(state: Log):
        soon(recorded)
        return {"log": ["slow"]}

    with InMemoryStateStore() if kind == "memory" else SQLiteStateStore(tmp_path / "t.db") as store:
        seen = Watched(store, before)
        graph = of(START >> [says("quick"), does("slow", slow)] >> says("c") >> END, state_store=seen)

        assert graph.invoke({}, thread_id="t").state.log == ["quick", "slow", "c"]

    assert seen.kinds()[1:3] == [["TaskRecorded"], ["TaskRecorded", "SuperstepCompleted"]]


def test_outcomes_that_are_ready_together_share_a_commit():
    async def quick(state: Log):
        return {"log": ["x"]}

    nodes = [does(f"n{index}", quick) for index in range(50)]
    seen = watched(of(START >> nodes >> says("end") >> END), InMemoryStateStore(), {})

    assert len(seen.commits) < 10
    assert sum(kinds.count("TaskRecorded") for kinds in seen.kinds()) == 50


def test_an_input_that_is_refused_commits_nothing(store):
    seen = Watched(store)
    with pytest.raises(Exception, match="'oops'"):
        of(START >> says("a") >> END).invoke({"oops": 1}, thread_id="t", state_store=seen)

    assert seen.commits == []


def test_a_once_is_a_commit_before_it_returns(store):
    seen = Watched(store)
    at_return = []

    def pays(state: Log, ctx: NodeContext):
        ctx.once("pay", lambda: 5)
        at_return.append(seen.kinds()[-1])

    of(START >> does("a", pays) >> END).invoke({}, thread_id="t", state_store=seen)

    assert at_return == [["OnceRecorded"]]
