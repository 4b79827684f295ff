"""Pauses as streams and those who read later see them. Ids are those of the collection of cases."""

from __future__ import annotations

from contextlib import aclosing, closing

import pytest

from nodestep import END, START, InterruptEventData, Middleware, NodeContext, Resume, interrupt
from tests.running.making import Log, does, of, run, says
from tests.streams.listening import FORMS, events


def asks(ran: list[str] | None = None):
    def body(state: Log, ctx: NodeContext):
        if ran is not None:
            ran.append("ask")
        ctx.emit("asking")
        return {"log": [interrupt({"question": "Approve?"}, id="ok")]}

    return does("ask", body)


@FORMS
def test_st_02_a_question_cannot_be_mistaken_for_the_state(form, store):
    graph = of(START >> says("a") >> asks() >> END, state_store=store)
    *values, question = events(form, graph, {"n": 3}, "values", thread_id="t")

    assert [(event.mode, event.data) for event in values] == [("values", {"n": 3, "log": ["a"]})]
    assert question.mode == "interrupt"
    assert type(question.data) is InterruptEventData
    assert question.data.state == {"n": 3, "log": ["a"]}
    assert list(question.data.interrupts) == ["ask:ok"]


@FORMS
def test_st_03_leaving_at_the_question_leaves_a_stored_pause(form, store):
    graph = of(START >> says("a") >> asks() >> END, state_store=store)
    if form == "stream":
        for event in graph.stream({}, stream_mode="custom", thread_id="t"):
            if event.mode == "interrupt":
                break
    else:

        async def leave() -> None:
            async for event in graph.astream({}, stream_mode="custom", thread_id="t"):
                if event.mode == "interrupt":
                    break

        run(leave())

    assert [item.key for item in run(graph.pending("t")).items] == ["ask:ok"]
    assert graph.invoke(None, thread_id="t", resume=Resume("yes")).state.log == ["a", "yes"]


@FORMS
@pytest.mark.parametrize("leave_after", ["a", "b", "c"])
def test_st_03_leaving_in_the_middle_leaves_whole_supersteps(form, leave_after, store):
    ran: list[str] = []
    graph = of(START >> says("a", ran) >> [says("b", ran), says("c", ran)] >> says("d", ran) >> END, state_store=store)

    def is_last(event) -> bool:
        return event.node == leave_after

    if form == "stream":
        with closing(graph.stream({}, stream_mode="updates", thread_id="t")) as stream:  # type: ignore[type-var]
            next(filter(is_last, stream))
    else:

        async def leave() -> None:
            async with aclosing(graph.astream({}, stream_mode="updates", thread_id="t")) as stream:  # type: ignore[type-var]
                async for event in stream:
                    if is_last(event):
                        break

        run(leave())

    assert run(graph.load("t"))["log"] == (["a"] if leave_after == "a" else ["a", "b", "c"])
    assert graph.invoke(None, thread_id="t").state.log == ["a", "b", "c", "d"]
    assert sorted(ran) == ["a", "b", "c", "d"]


@FORMS
def test_st_04_the_stream_of_a_resume_has_only_what_is_new(form, store):
    graph = of(START >> says("a") >> [says("b"), asks()] >> says("c") >> END, state_store=store)
    modes = ["updates", "values", "custom"]
    first = events(form, graph, {}, modes, thread_id="t")
    second = events(form, graph, None, modes, thread_id="t", resume=Resume("yes"))

    assert [event.node for event in first if event.mode == "updates"] == ["a"]
    assert [event.node for event in second if event.mode == "updates"] == ["b", "ask", "c"]
    assert [event.data["log"] for event in second if event.mode == "values"] == [
        ["a", "yes", "b"],
        ["a", "yes", "b", "c"],
    ]


@FORMS
def test_st_04_the_second_pass_of_a_node_can_be_told_from_the_first(form, store):
    graph = of(START >> asks() >> END, state_store=store)
    first = events(form, graph, {}, "custom", thread_id="t")
    second = events(form, graph, None, "custom", thread_id="t", resume=Resume("yes"))

    assert [event.data for event in (first[0], second[0])] == ["asking", "asking"]
    assert first[0].run_id != second[0].run_id
    assert first[0].checkpoint_id != second[0].checkpoint_id


def test_st_05_what_is_open_can_be_read_by_thread_alone_without_running_a_node(store, reopened):
    ran: list[str] = []
    of(START >> asks(ran) >> END, state_store=store).invoke({"n": 2}, thread_id="t")

    again = of(START >> asks(ran) >> END, state_store=reopened())
    (question,) = run(again.pending("t")).items

    assert (question.key, question.payload) == ("ask:ok", {"question": "Approve?"})
    assert (question.thread_id, question.branch_id, question.node) == ("t", "main", "ask")
    assert run(again.load("t")) == {"n": 2, "log": []}
    assert run(again.history("t")).events[-1].type == "interrupted"
    assert ran == ["ask"]


def test_st_05_a_store_alone_can_tell_what_is_open(store, reopened):
    of(START >> asks() >> END, state_store=store).invoke({}, thread_id="t")

    (question,) = run(reopened().pending()).items
    assert (question.key, question.payload) == ("ask:ok", {"question": "Approve?"})


@FORMS
def test_st_06_a_paused_run_is_told_as_paused_everywhere(form, store):
    outcomes = []

    class Notes(Middleware):
        def on_run_end(self, ctx, outcome):
            outcomes.append((outcome.status, outcome.error))

    graph = of(START >> asks() >> END, state_store=store, middleware=[Notes()])
    ends = events(form, graph, {}, [], thread_id="t")
    result = graph.invoke({}, thread_id="u")

    assert [event.mode for event in ends] == ["interrupt"]
    assert result.status == "interrupted"
    assert outcomes == [("paused", None), ("paused", None)]
    head = store.head("t", "main")
    assert head is not None
    assert head.status == "interrupted"
    types = [event.type for event in run(graph.history("t")).events]
    assert types[-1] == "interrupted"
    assert "superstep_failed" not in types
    assert "run_completed" not in types
