"""A question beside other tasks of its superstep: what finishes, what fails, and what runs again."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from nodestep import END, START, Graph, Resume, ResumeError, Send, interrupt, node
from tests.asking import lone, refusal


class Superstep:
    """`ask`, `flaky` and `fast` in one superstep; each notes its runs, and `flaky` fails while `broken`."""

    def __init__(self) -> None:
        self.ran: list[str] = []
        self.broken = True

    def ask(self, state) -> dict[str, Any]:
        self.ran.append("ask")
        return {"ask": interrupt("A?", id="a")}

    def flaky(self, state) -> dict[str, Any]:
        self.ran.append("flaky")
        if self.broken:
            raise OSError("no disk")
        return {"flaky": True}

    def fast(self, state) -> dict[str, Any]:
        self.ran.append("fast")
        return {"fast": True}

    def graph(self, store) -> Graph:
        tasks = [node(getattr(self, name), name=name) for name in ("ask", "fast", "flaky")]
        return Graph(dict, name="superstep", state_store=store).flow(
            START >> node(lambda state: None, name="start") >> tasks, *(task >> END for task in tasks)
        )


@pytest.fixture
def superstep() -> Superstep:
    return Superstep()


@pytest.fixture
def failed(superstep, store) -> Graph:
    """The superstep after its first run: `flaky` failed, `ask` waits, `fast` is done."""
    graph = superstep.graph(store)
    with pytest.raises(OSError, match="no disk"):
        graph.invoke({}, thread_id="t")
    superstep.ran.clear()
    return graph


def test_a_question_beside_a_failure_stays_open_and_the_error_reaches_the_caller(failed):
    (asked,) = asyncio.run(failed.pending("t")).items
    assert (asked.key, asked.payload) == ("ask:a", "A?")
    assert asyncio.run(failed.load("t")) == {}
    kinds = [event.type for event in asyncio.run(failed.history("t")).events]
    assert kinds[-2:] == ["interrupted", "superstep_failed"]


def test_going_on_runs_what_failed_and_not_the_task_that_asks(failed, superstep):
    superstep.broken = False
    paused = failed.invoke(None, thread_id="t")
    assert (paused.status, list(paused.interrupts)) == ("interrupted", ["ask:a"])
    assert superstep.ran == ["flaky"]
    done = failed.invoke(None, thread_id="t", resume=Resume(1))
    assert superstep.ran == ["flaky", "ask"]
    assert done.data == {"ask": 1, "fast": True, "flaky": True}


def test_a_question_keeps_its_pause_while_others_fail(failed, superstep):
    (asked,) = asyncio.run(failed.pending("t")).items
    with pytest.raises(OSError, match="no disk"):
        failed.invoke(None, thread_id="t")
    superstep.broken = False
    paused = failed.invoke(None, thread_id="t")
    assert paused.interrupts["ask:a"].pause == asked.pause
    assert paused.interrupts["ask:a"].asked_at == asked.asked_at
    assert failed.invoke(None, thread_id="t", resume=Resume(1, pause=asked.pause)).status == "completed"


def test_a_later_call_that_pauses_on_an_older_question_shows_its_json_form(store):
    broken = [True]
    asking = node(lambda state: interrupt(("a", "b"), id="a"), name="ask")

    def body(state):
        if broken:
            raise OSError("no disk")

    flaky = node(body, name="flaky")
    graph = Graph(dict, state_store=store).flow(
        START >> node(lambda state: None, name="start") >> [asking, flaky], asking >> END, flaky >> END
    )
    with pytest.raises(OSError, match="no disk"):
        graph.invoke({}, thread_id="t")
    broken.clear()
    assert graph.invoke(None, thread_id="t").interrupts["ask:a"].payload == ["a", "b"]


def test_an_answer_runs_the_asking_and_the_failed_task_in_one_call(failed, superstep):
    superstep.broken = False
    done = failed.invoke(None, thread_id="t", resume=Resume(1))
    assert sorted(superstep.ran) == ["ask", "flaky"]
    assert done.data == {"ask": 1, "fast": True, "flaky": True}


def test_an_answer_given_while_the_failure_lasts_is_kept(failed, superstep, store):
    with pytest.raises(OSError, match="no disk"):
        failed.invoke(None, thread_id="t", resume=Resume(1))
    assert asyncio.run(failed.pending("t")).items == ()
    superstep.broken = False
    superstep.ran.clear()
    with refusal(store, ResumeError, "'t'", ran=superstep.ran):
        failed.invoke(None, thread_id="t", resume=Resume(2))
    done = failed.invoke(None, thread_id="t")
    assert superstep.ran == ["flaky"]
    assert done.data == {"ask": 1, "fast": True, "flaky": True}


def test_a_failed_branch_whose_last_question_was_answered_is_ready(failed, superstep, store):
    assert asyncio.run(failed.answer("t", {"ask:a": 1})) == ()
    with refusal(store, ResumeError, "'t'", ran=superstep.ran):
        failed.invoke({}, thread_id="t")
    superstep.broken = False
    assert failed.invoke(None, thread_id="t").data == {"ask": 1, "fast": True, "flaky": True}
    assert sorted(superstep.ran) == ["ask", "flaky"]


def test_siblings_of_an_asking_task_run_to_their_end(store):
    async def run():
        asked = asyncio.Event()
        ended: list[str] = []

        async def ask(state):
            asked.set()
            interrupt("A?", id="a")

        async def slow(state):
            await asked.wait()
            for _ in range(5):
                await asyncio.sleep(0)
            ended.append("slow")
            return {"slow": True}

        tasks = [node(ask, name="ask"), node(slow, name="slow")]
        graph = Graph(dict, state_store=store).flow(
            START >> node(lambda state: None, name="start") >> tasks, *(task >> END for task in tasks)
        )
        paused = await graph.ainvoke({}, thread_id="t")
        return paused, ended

    paused, ended = asyncio.run(run())
    assert (paused.status, paused.data, ended) == ("interrupted", {}, ["slow"])


def test_an_async_task_cancelled_by_its_siblings_failure_asks_on_the_next_run(store):
    async def run():
        ran: list[str] = []
        broken = [True]

        async def ask(state):
            ran.append("ask")
            if broken:
                await asyncio.Event().wait()
            interrupt("A?", id="a")

        async def flaky(state):
            ran.append("flaky")
            await asyncio.sleep(0)
            if broken:
                raise OSError("no disk")

        tasks = [node(ask, name="ask"), node(flaky, name="flaky")]
        graph = Graph(dict, state_store=store).flow(
            START >> node(lambda state: None, name="start") >> tasks, *(task >> END for task in tasks)
        )
        with pytest.raises(OSError, match="no disk"):
            await graph.ainvoke({}, thread_id="t")
        open_then = (await graph.pending("t")).items
        broken.clear()
        ran.clear()
        paused = await graph.ainvoke(None, thread_id="t")
        return open_then, ran, list(paused.interrupts)

    assert asyncio.run(run()) == ((), ["ask", "flaky"], ["ask:a"])


def test_the_resumed_task_keeps_its_send_payload_and_does_not_see_siblings_writes(store):
    seen: list[Any] = []

    @node
    def judge(state):
        seen.append((state["item"], state.get("wrote")))
        if state["item"] == "asks":
            return {"got": interrupt("?", id="a")}
        return {"wrote": True}

    @node(goto=[judge])
    def split(state):
        return [Send(judge, {"item": "asks"}), Send(judge, {"item": "writes"})]

    graph = Graph(dict, state_store=store).flow(START >> split, judge >> END)
    graph.invoke({}, thread_id="t")
    done = graph.invoke(None, thread_id="t", resume=Resume(1))
    assert sorted(seen[:2]) == [("asks", None), ("writes", None)]
    assert seen[2:] == [("asks", None)]
    assert done.data == {"got": 1, "wrote": True}


def test_a_lone_node_that_fails_after_its_answer_is_not_asked_again(store):
    broken = [True]

    def body(state):
        answer = interrupt("A?", id="a")
        if broken and broken.pop():
            raise OSError("no disk")
        return {"got": answer}

    graph = lone(body, store)
    graph.invoke({}, thread_id="t")
    with pytest.raises(OSError, match="no disk"):
        graph.invoke(None, thread_id="t", resume=Resume("yes"))
    assert graph.invoke(None, thread_id="t").data == {"got": "yes"}
