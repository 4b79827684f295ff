"""What each mode of a stream tells."""

from __future__ import annotations

import threading

from nodestep import (
    END,
    START,
    InMemoryStateStore,
    NodeContext,
    Replace,
    Send,
    interrupt,
    when,
)
from tests.running.making import Log, does, of, returns, says, soon

from .listening import FORMS, events, listen, shown


def ask(state: Log):
    return {"log": [interrupt("Approve?", id="ok")]}


@FORMS
def test_updates_come_after_each_superstep_one_per_task_in_scheduling_order(form):
    first_done = threading.Event()

    def late(state: Log):
        soon(first_done)
        return {"n": 1}

    def early(state: Log):
        first_done.set()

    graph = of(START >> [does("z", late), does("a", early)] >> says("c") >> END)
    got = events(form, graph, {}, "updates")[:-1]

    assert [(event.mode, event.node, event.task_id, event.step) for event in got] == [
        ("updates", "z", "z", 0),
        ("updates", "a", "a", 0),
        ("updates", "c", "c", 1),
    ]


@FORMS
def test_an_update_event_carries_the_update_itself_or_none(form):
    graph = of(START >> [returns("a", {"n": 1}), returns("b", None), returns("c", {})] >> says("d") >> END)

    assert [event.data for event in events(form, graph, {}, "updates")][:-1] == [{"n": 1}, None, None, {"log": ["d"]}]


@FORMS
def test_updates_tell_every_send_as_a_task_of_its_own(form):
    sends = [Send("item", {"n": 1}), Send("item", {"n": 2})]
    graph = of(START >> returns("plan", sends, goto=["item"]), does("item", lambda s: {"log": [str(s.n)]}) >> END)

    assert [event.task_id for event in events(form, graph, {}, "updates")] == ["plan", "item", "item[1]", None]


@FORMS
def test_values_come_after_each_superstep_as_a_dict(form):
    graph = of(START >> [says("a"), says("b")] >> says("c") >> END)

    assert shown(events(form, graph, {"n": 5}, "values"))[:-1] == [
        ("values", None, {"n": 5, "log": ["a", "b"]}),
        ("values", None, {"n": 5, "log": ["a", "b", "c"]}),
    ]


@FORMS
def test_custom_events_are_what_nodes_emit(form):
    def plain(state: Log, ctx: NodeContext):
        ctx.emit({"half": 1})
        ctx.emit("two")

    async def coroutine(state: Log, ctx: NodeContext):
        ctx.emit(3)

    graph = of(START >> does("a", plain) >> does("b", coroutine) >> END)

    assert shown(events(form, graph, {}, "custom"))[:-1] == [
        ("custom", "a", {"half": 1}),
        ("custom", "a", "two"),
        ("custom", "b", 3),
    ]


@FORMS
def test_custom_events_of_parallel_tasks_come_while_others_run(form):
    heard = threading.Event()

    def waits(state: Log):
        soon(heard)

    def emits(state: Log, ctx: NodeContext):
        ctx.emit("now")
        soon(heard)

    graph = of(START >> [does("a", waits), does("b", emits)] >> says("c") >> END)
    seen = []

    def read(event):
        seen.append(event.mode)
        heard.set()

    listen(form, graph, {}, "custom", read)
    assert seen == ["custom", "final"]


def test_emitting_does_nothing_when_nobody_listens():
    def emits(state: Log, ctx: NodeContext):
        ctx.emit(object())

    of(START >> does("a", emits) >> END).invoke({})
    assert len(events("stream", of(START >> does("a", emits) >> END), {}, "values")) == 2


@FORMS
def test_debug_events_are_dicts_with_their_type(form):
    graph = of(START >> says("a") >> says("b") >> END)
    got = events(form, graph, {}, "debug")[:-1]

    assert [(event.data["type"], event.node) for event in got] == [
        ("node_input", "a"),
        ("node_output", "a"),
        ("state_merge", None),
        ("routes", None),
        ("node_input", "b"),
        ("node_output", "b"),
        ("state_merge", None),
        ("routes", None),
    ]
    assert all(type(event.data) is dict for event in got)


@FORMS
def test_several_modes_are_told_together(form):
    graph = of(START >> says("a") >> END)

    assert [event.mode for event in events(form, graph, {}, ["values", "updates"])] == ["updates", "values", "final"]


@FORMS
def test_events_are_copies(form):
    given = {"list": [1]}

    def emits(state: Log, ctx: NodeContext):
        ctx.emit(given)
        return {"log": ["a"]}

    graph = of(START >> does("a", emits) >> says("b") >> END)
    finals = []

    def spoil(event):
        if event.mode == "final":
            finals.append(event.data.state)
        else:
            _spoil(event.data)

    listen(form, graph, {}, ["custom", "values", "updates", "debug"], spoil)

    assert given == {"list": [1]}
    assert finals == [{"n": 0, "log": ["a", "b"]}]


def _spoil(data):
    if isinstance(data, list):
        data.append("spoilt")
    elif isinstance(data, dict):
        for value in data.values():
            _spoil(value)
        data["spoilt"] = True


@FORMS
def test_an_update_with_replace_is_told_as_what_the_field_holds(form):
    graph = of(START >> returns("a", {"log": Replace(["new"])}) >> END)

    (update, _) = events(form, graph, {"log": ["old"]}, "updates")
    assert "new" in repr(update.data)


def test_a_stream_of_a_graph_without_a_node_to_run_has_its_final_event():
    graph = of(
        START >> when(lambda state: False, says("a"), otherwise=END), "a" >> END, state_store=InMemoryStateStore()
    )
    assert [event.mode for event in events("stream", graph, {}, "values", thread_id="t")] == ["final"]


@FORMS
def test_tokens_may_be_asked_for_where_nothing_speaks(form):
    assert [event.mode for event in events(form, of(START >> says("a") >> END), {}, "tokens")] == ["final"]
