"""What pruning and deleting leave, and what they give back. Ids are those of the collection of cases."""

from __future__ import annotations

import pytest

from nodestep import END, START, NodeContext, Resume, ResumeError, SQLiteStateStore, interrupt, when
from tests.history.making import asks, forked, open_keys, point
from tests.running.making import Log, does, of, run, says


def test_pe_08_a_deleted_thread_gives_its_space_back_to_the_next(tmp_path):
    path = tmp_path / "threads.db"

    def goes_on(state: Log) -> bool:
        return state.n < 100

    def size_after(*threads: str) -> int:
        a = does("a", lambda state: {"n": state.n + 1, "log": ["x" * 1000]})
        with SQLiteStateStore(path) as store:
            graph = of(START >> a >> when(goes_on, a, otherwise=END), max_steps=100, state_store=store)
            for thread in threads:
                graph.invoke({}, thread_id=thread)
                run(graph.delete(thread))
            assert run(graph.threads()).items == ()
        return path.stat().st_size

    first = size_after("1")
    assert size_after("2", "3", "4", "5") < 1.5 * first


@pytest.mark.parametrize("taken", ["interrupted", "superstep_completed", "run_started"])
def test_pe_09_a_pruned_thread_is_answered_and_forked_and_its_forks_keep_what_they_need(store, reopened, taken):
    graph = of(START >> says("a") >> says("b") >> asks("ask") >> says("z") >> END, state_store=store)
    graph.invoke({}, thread_id="t")
    fork = forked(graph, taken)
    run(graph.prune("t", keep=1))

    late = forked(graph, "interrupted", name="late")
    for branch in ("main", late, fork):
        if not open_keys(reopened(), branch_id=branch):
            graph.invoke(None, thread_id="t", branch_id=branch, state_store=reopened())
        resume = Resume(answers={"ask:ok": branch})
        done = graph.invoke(None, thread_id="t", branch_id=branch, resume=resume, state_store=reopened())
        assert done.state.log == ["a", "b", f"ask: {branch}", "z"]


def test_pe_14_a_thread_deleted_while_it_waits_takes_no_answer_and_starts_anew_empty(store):
    seen: list[dict[str, object]] = []

    def caching(state: Log, ctx: NodeContext):
        seen.append(dict(ctx.cache))
        ctx.cache["runs"] = 1
        return {"log": [interrupt("?", id="ok")]}

    graph = of(START >> says("a") >> does("ask", caching) >> END, state_store=store)
    graph.invoke({"n": 5}, thread_id="t")
    forked(graph, "interrupted", name="side")
    event = point(graph, "interrupted")
    run(graph.delete("t"))

    with pytest.raises(ResumeError, match="'t'"):
        graph.invoke(None, thread_id="t", resume=Resume("yes"))
    with pytest.raises(ResumeError, match="'t'"):
        run(graph.answer("t", {"ask:ok": "yes"}))
    assert open_keys(graph, None) == []
    assert not run(graph.exists("t"))

    again = graph.invoke({}, thread_id="t")
    assert (again.state, seen) == (Log(log=["a"]), [{}, {}])
    assert [made.id for made in run(graph.branches("t"))] == ["main"]
    assert event not in run(graph.history("t")).checkpoints
