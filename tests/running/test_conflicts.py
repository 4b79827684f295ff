"""Parallel writes that cannot be merged."""

from __future__ import annotations

import pytest

from nodestep import END, START, InvalidUpdateError, Replace, ResumeError, Send

from .making import Log, both, does, of, returns, run, says


def conflicting(ran: list[str] | None = None, **options):
    def body(name, n):
        def write(state: Log):
            if ran is not None:
                ran.append(name)
            return {"n": n, "log": [name]} if state.n < 5 else {"log": [name]}

        return does(name, write)

    return of(START >> [body("b", 1), body("a", 2)] >> says("c") >> END, **options)


def test_two_writers_of_one_value_fail_the_run_and_are_named():
    with pytest.raises(InvalidUpdateError) as caught:
        both(conflicting(), {})

    assert (caught.value.field, caught.value.nodes) == ("n", ("a", "b"))


def test_replace_beside_another_writer_fails_the_run():
    graph = of(START >> [returns("a", {"log": Replace(["x"])}), says("b")] >> says("c") >> END)
    with pytest.raises(InvalidUpdateError, match="'log'"):
        both(graph, {})


def test_nothing_of_it_merges_and_its_tasks_are_kept(store):
    ran: list[str] = []
    graph = conflicting(ran, state_store=store)
    with pytest.raises(InvalidUpdateError):
        graph.invoke({}, thread_id="t")

    assert run(graph.load("t")) == {"log": [], "n": 0}
    assert sorted(ran) == ["a", "b"]
    events = run(graph.history("t")).events
    assert sorted(event.node for event in events if event.type == "node_completed") == ["a", "b"]
    assert events[-1].error_type == "InvalidUpdateError"


def test_going_on_is_refused_and_names_the_conflict(store, reopened):
    ran: list[str] = []
    with pytest.raises(InvalidUpdateError):
        conflicting(state_store=store).invoke({}, thread_id="t")
    before = store.read("t", "main")

    with pytest.raises(ResumeError, match=r"'a', 'b'.*'n'.*new input"):
        conflicting(ran, state_store=reopened()).invoke(None, thread_id="t")

    assert ran == []
    assert store.read("t", "main") == before


def test_a_new_input_goes_on(store):
    graph = conflicting(state_store=store)
    with pytest.raises(InvalidUpdateError):
        graph.invoke({}, thread_id="t")

    assert graph.invoke({"n": 5}, thread_id="t").state == Log(n=5, log=["a", "b", "c"])


def test_the_conflict_is_forgotten_after_the_new_turn(store):
    graph = conflicting(state_store=store)
    with pytest.raises(InvalidUpdateError):
        graph.invoke({}, thread_id="t")
    graph.invoke({"n": 5}, thread_id="t")

    with pytest.raises(ResumeError, match="completed"):
        graph.invoke(None, thread_id="t")


def test_sends_of_one_node_are_no_conflict(store):
    sends = [Send("item", {"n": n}) for n in (1, 2)]
    graph = of(
        START >> returns("plan", sends, goto=["item"]), does("item", lambda s: {"n": s.n}) >> END, state_store=store
    )

    assert graph.invoke({}, thread_id="t").state.n == 2
