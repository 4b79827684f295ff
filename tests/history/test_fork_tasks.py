"""What a task takes along into a fork: its cache, its recorded results and answers as they were, and never its key."""

from __future__ import annotations

from nodestep import END, START, NodeContext, Resume, interrupt
from tests.history.making import forked, told
from tests.running.making import Log, does, of, run, says


def caching(ran: list[str]):
    """A node that asks twice, and works something out before each question."""

    def body(state: Log, ctx: NodeContext):
        for id in ("one", "two"):
            if id not in ctx.cache:
                ran.append(id)
                ctx.cache[id] = len(ran)
            ctx.cache[f"{id} answer"] = interrupt(f"{id}?", id=id)
        return {"log": [f"{key}={value}" for key, value in ctx.cache.items()]}

    return does("ask", body)


def test_the_cache_is_as_it_was_at_the_event(store, ran):
    graph = of(START >> says("a") >> caching(ran) >> END, state_store=store)
    graph.invoke({}, thread_id="t")
    graph.invoke(None, thread_id="t", resume=Resume("first"))
    done = graph.invoke(None, thread_id="t", resume=Resume("second"))
    assert done.state.log == ["a", "one=1", "one answer=first", "two=2", "two answer=second"]

    before, first, second = (forked(graph, "superstep_completed"), *(forked(graph, "interrupted", n) for n in (0, 1)))
    graph.invoke(None, thread_id="t", branch_id=first, resume=Resume("other"))
    last = graph.invoke(None, thread_id="t", branch_id=first, resume=Resume("x"))
    assert last.state.log == ["a", "one=1", "one answer=other", "two=3", "two answer=x"]

    last = graph.invoke(None, thread_id="t", branch_id=second, resume=Resume("y"))
    assert last.state.log == ["a", "one=1", "one answer=first", "two=2", "two answer=y"]

    del ran[:]
    graph.invoke(None, thread_id="t", branch_id=before)
    assert ran == ["one"]


def test_what_was_recorded_once_is_not_done_again_in_a_fork_from_after_it(store, ran):
    def charges(state: Log, ctx: NodeContext):
        receipt = ctx.once("charge", lambda: ran.append("charge") or len(ran))
        return {"log": [f"{receipt} {interrupt('?', id='ok')}"]}

    graph = of(START >> says("a") >> does("pay", charges) >> END, state_store=store)
    graph.invoke({}, thread_id="t")
    after, before = forked(graph, "interrupted"), forked(graph, "superstep_completed")
    assert graph.invoke(None, thread_id="t", branch_id=after, resume=Resume("x")).state.log == ["a", "1 x"]
    graph.invoke(None, thread_id="t", branch_id=before)
    assert graph.invoke(None, thread_id="t", branch_id=before, resume=Resume("y")).state.log == ["a", "2 y"]
    assert graph.invoke(None, thread_id="t", resume=Resume("z")).state.log == ["a", "1 z"]


def test_the_idempotency_key_of_a_task_differs_on_every_branch_and_stays_over_its_attempts(store):
    keys: dict[str, list[str]] = {}

    def asks(state: Log, ctx: NodeContext):
        keys.setdefault(ctx.branch_id, []).append(ctx.idempotency_key)
        return {"log": [interrupt("?", id="ok")]}

    graph = of(START >> says("a") >> does("ask", asks) >> END, state_store=store)
    graph.invoke({}, thread_id="t")
    one = forked(graph, "interrupted")
    two = forked(graph, "interrupted", branch=one)
    for branch in ("main", one, two):
        graph.invoke(None, thread_id="t", branch_id=branch, resume=Resume("yes"))

    assert {branch: len(set(seen)) for branch, seen in keys.items()} == {"main": 1, one: 1, two: 1}
    assert [len(keys[branch]) for branch in ("main", one, two)] == [2, 1, 1]
    assert len({key for seen in keys.values() for key in seen}) == 3


def test_a_node_is_told_its_branch(store):
    def tells(state: Log, ctx: NodeContext):
        return {"log": [ctx.branch_id]}

    graph = of(START >> does("a", tells) >> END, state_store=store)
    assert graph.invoke({}, thread_id="t").state.log == ["main"]
    branch = forked(graph, "run_started", name="side")
    assert graph.invoke(None, thread_id="t", branch_id=branch).state.log == ["side"]


def test_a_loop_in_a_fork_asks_anew_in_each_round(store):
    def asks(state: Log):
        return {"n": state.n + 1, "log": [interrupt(f"round {state.n}", id="ok")]}

    ask = does("ask", asks)
    graph = of(START >> ask >> says("back") >> does("again", asks) >> END, state_store=store)
    graph.invoke({}, thread_id="t")
    graph.invoke(None, thread_id="t", resume=Resume("main 1"))
    branch = forked(graph, "interrupted", 1)
    graph.invoke(None, thread_id="t", resume=Resume("main 2"))
    done = graph.invoke(None, thread_id="t", branch_id=branch, resume=Resume("fork 2"))
    assert done.state.log == ["main 1", "back", "fork 2"]
    assert told(graph, branch=branch).count("answered") == 2
    assert run(graph.load("t"))["log"] == ["main 1", "back", "main 2"]
