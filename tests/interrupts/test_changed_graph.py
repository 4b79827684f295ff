"""A graph that changed while a thread waits: told before anything is written or run, and nothing is lost."""

from __future__ import annotations

import asyncio
from typing import Annotated, Any

import pytest

from nodestep import END, START, BaseState, Command, Graph, GraphChangedError, Resume, Send, add, interrupt, node
from tests.asking import lone, refusal


def asking(name: str, ran: list[str]):
    def body(state):
        ran.append(name)
        return {"got": interrupt("A?", id="a")}

    return node(body, name=name)


@pytest.fixture
def ran() -> list[str]:
    return []


def named(name: str, store, ran: list[str]) -> Graph:
    return Graph(dict, name="g", state_store=store).flow(START >> asking(name, ran) >> END)


@pytest.mark.parametrize("resume", [Resume(1), Resume(answers={"review:a": 1})], ids=["value", "answers"])
def test_a_node_that_is_gone_is_told_and_the_answer_stays_with_the_caller(store, ran, resume):
    named("review", store, ran).invoke({}, thread_id="t")
    with refusal(store, GraphChangedError, "'t'", "'review'", "'g'", "aliases", "Did you mean 'reviews'?", ran=ran):
        named("reviews", store, ran).invoke(None, thread_id="t", resume=resume)
    assert named("review", store, ran).invoke(None, thread_id="t", resume=resume).data == {"got": 1}


def test_collected_answers_stay_stored(store, ran):
    graph = named("review", store, ran)
    graph.invoke({}, thread_id="t")
    asyncio.run(graph.answer("t", {"review:a": 1}))
    with refusal(store, GraphChangedError, "'review'", ran=ran):
        named("other", store, ran).invoke(None, thread_id="t")
    assert named("review", store, ran).invoke(None, thread_id="t").data == {"got": 1}


def test_a_failed_threads_node_that_is_gone_is_told(store, ran):
    def broken(state):
        raise OSError("no disk")

    with pytest.raises(OSError, match="no disk"):
        lone(broken, store).invoke({}, thread_id="t")
    with refusal(store, GraphChangedError, "'ask'", ran=ran):
        named("other", store, ran).invoke(None, thread_id="t")


def test_a_finished_sibling_whose_node_is_gone_is_told(store, ran):
    """What it sends on to would be unknown as well."""

    def both(*names: str) -> Graph:
        tasks = [asking("review", ran), *(node(lambda state: {"beside": True}, name=name) for name in names)]
        return Graph(dict, name="g", state_store=store).flow(
            START >> node(lambda state: None, name="start") >> tasks, *(task >> END for task in tasks)
        )

    both("beside").invoke({}, thread_id="t")
    with refusal(store, GraphChangedError, "'beside'", ran=ran):
        both("other").invoke(None, thread_id="t", resume=Resume(1))


def test_what_can_be_read_without_the_graph_is_read_all_the_same(store, ran):
    named("review", store, ran).invoke({"amount": 5}, thread_id="t")
    other = named("other", store, ran)
    assert [asked.key for asked in asyncio.run(other.pending("t")).items] == ["review:a"]
    assert asyncio.run(other.load("t")) == {"amount": 5}
    assert asyncio.run(other.history("t")).events


def test_a_completed_thread_takes_a_new_turn_on_the_changed_graph(store, ran):
    graph = named("review", store, ran)
    graph.invoke({}, thread_id="t")
    graph.invoke(None, thread_id="t", resume=Resume(1))
    assert list(named("other", store, ran).invoke({}, thread_id="t").interrupts) == ["other:a"]


# The state


def typed(store, ran: list[str], **annotations: Any) -> Graph:
    state = type("Order", (BaseState,), {"__annotations__": {"got": Any, **annotations}, "got": None})
    return Graph(state, state_store=store).flow(START >> asking("ask", ran) >> END)


def test_a_field_that_no_longer_fits_is_told(store, ran):
    typed(store, ran, count=str).invoke({"count": "many"}, thread_id="t")
    with refusal(store, GraphChangedError, "'count'", ran=ran):
        typed(store, ran, count=int).invoke(None, thread_id="t", resume=Resume(1))
    assert typed(store, ran, count=str).invoke(None, thread_id="t", resume=Resume(1)).status == "completed"


def test_the_stored_value_is_not_told(store, ran):
    typed(store, ran, count=str).invoke({"count": "hunter2"}, thread_id="t")
    with pytest.raises(GraphChangedError) as refused:
        typed(store, ran, count=int).invoke(None, thread_id="t", resume=Resume(1))
    assert "hunter2" not in str(refused.value)


def test_a_new_field_that_must_be_given_is_told(store, ran):
    typed(store, ran).invoke({}, thread_id="t")
    with refusal(store, GraphChangedError, "'count'", ran=ran):
        typed(store, ran, count=int).invoke(None, thread_id="t", resume=Resume(1))


def two_sends(store, ran: list[str], item: Any) -> Graph:
    """One task asks, the other finishes; `item` is the type of the field that both are sent."""
    state = type("Order", (BaseState,), {"__annotations__": {"item": item, "got": Any}, "item": 0, "got": None})

    @node
    def judge(state):
        ran.append("judge")
        return {"item": state.item} if state.item != "asks" else {"got": interrupt("A?", id="a")}

    @node(goto=[judge])
    def split(state):
        return [Send(judge, {"item": "asks"}), Send(judge, {"item": "writes"})]

    return Graph(state, state_store=store).flow(START >> split, judge >> END)


def test_a_send_payload_that_no_longer_fits_is_told_before_anything_runs(store, ran):
    two_sends(store, ran, int | str).invoke({}, thread_id="t")
    with refusal(store, GraphChangedError, "'item'", ran=ran):
        two_sends(store, ran, int).invoke(None, thread_id="t", resume=Resume(1))
    assert two_sends(store, ran, int | str).invoke(None, thread_id="t", resume=Resume(1)).status == "completed"


def test_a_finished_siblings_update_that_no_longer_fits_is_told_before_anything_runs(store, ran):
    def both(count: Any) -> Graph:
        annotations = {"count": Annotated[list[count], add], "got": Any}
        state = type("Order", (BaseState,), {"__annotations__": annotations, "got": None, "count": []})
        tasks = [asking("ask", ran), node(lambda state: {"count": ["many"]}, name="beside")]
        return Graph(state, state_store=store).flow(
            START >> node(lambda state: None, name="start") >> tasks, *(task >> END for task in tasks)
        )

    both(str).invoke({}, thread_id="t")
    with refusal(store, GraphChangedError, "'count'", ran=ran):
        both(int).invoke(None, thread_id="t", resume=Resume(1))
    assert both(str).invoke(None, thread_id="t", resume=Resume(1)).data == {"count": ["many"], "got": 1}


def test_a_node_that_a_finished_sibling_sends_to_and_that_is_gone_is_told_before_anything_runs(store, ran):
    def sending_to(name: str) -> Graph:
        target = node(lambda state: {"reached": name}, name=name)
        tasks = [asking("ask", ran), node(lambda state: Command(goto=name), name="beside", goto=[target])]
        return Graph(dict, name="g", state_store=store).flow(
            START >> node(lambda state: None, name="start") >> tasks, tasks[0] >> END, target >> END
        )

    sending_to("old").invoke({}, thread_id="t")
    with refusal(store, GraphChangedError, "'old'", ran=ran):
        sending_to("new").invoke(None, thread_id="t", resume=Resume(1))
    assert sending_to("old").invoke(None, thread_id="t", resume=Resume(1)).data == {"got": 1, "reached": "old"}
