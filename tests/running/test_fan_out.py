"""Several tasks in one superstep."""

from __future__ import annotations

import threading

from nodestep import END, START, Command, NodeContext, Send, node

from .making import Log, both, does, of, returns, says, soon


def test_a_list_of_targets_runs_side_by_side():
    met = threading.Barrier(2)

    def meets(state: Log):
        met.wait(20)

    assert of(START >> [does("a", meets), does("b", meets)] >> says("c") >> END).invoke({}).state.log == ["c"]


def test_every_task_sees_the_state_before_the_superstep():
    def body(state: Log, ctx: NodeContext):
        return {"log": [f"{ctx.node} saw {state.log}"]}

    graph = of(START >> [does("a", body), does("b", body)] >> says("c") >> END)

    assert both(graph, {"log": ["x"]}).state.log == ["x", "a saw ['x']", "b saw ['x']", "c"]


def test_writes_merge_by_node_name_whatever_ends_first():
    first_done = threading.Event()

    def late(state: Log):
        soon(first_done)
        return {"log": ["alpha"]}

    def early(state: Log):
        first_done.set()
        return {"log": ["zeta"]}

    graph = of(START >> [does("zeta", early), does("alpha", late)] >> says("c") >> END)

    assert both(graph, {}).state.log == ["alpha", "zeta", "c"]


def test_a_send_lays_its_payload_over_the_state_for_that_task_alone():
    def item(state: Log, ctx: NodeContext):
        return {"log": [f"{ctx.task_id}: {state.n} {state.log}"]}

    sends = [Send("item", {"n": 1}), Send("item"), Send("item", {"n": 3, "log": ["own"]})]
    graph = of(
        START >> returns("plan", Command(update={"n": 9}, goto=sends), goto=["item"]),
        does("item", item) >> does("end", lambda state: {"log": [f"end: {state.n}"]}) >> END,
    )

    assert both(graph, {"log": ["x"]}).state.log == [
        "x",
        "item: 1 ['x']",
        "item[1]: 9 ['x']",
        "item[2]: 3 ['own']",
        "end: 9",
    ]


def test_a_plain_target_named_by_several_tasks_runs_once():
    d = says("d")

    assert both(of(START >> [says("a"), says("b")], "a" >> d, "b" >> d, d >> END), {}).state.log == ["a", "b", "d"]


def test_of_several_sends_on_a_field_of_one_value_the_last_wins():
    sends = [Send("item", {"n": n}) for n in (5, 2, 3)]
    graph = of(
        START >> returns("plan", sends, goto=["item"]),
        does("item", lambda state: {"n": state.n * 10}) >> END,
    )

    assert both(graph, {}).state.n == 30


def test_a_thousand_sends_merge_in_their_order():
    def item(state: Log):
        return {"log": [str(state.n)]}

    graph = of(
        START >> returns("plan", [Send("item", {"n": n}) for n in range(1000)], goto=["item"]),
        does("item", item) >> END,
    )

    assert graph.invoke({}).state.log == [str(n) for n in range(1000)]


def test_plain_tasks_that_wait_for_one_another_all_run_at_once():
    met = threading.Barrier(50)

    @node(goto=["task"])
    def plan(state: Log):
        return [Send("task", {"n": n}) for n in range(50)]

    @node
    def task(state: Log):
        met.wait(20)
        return {"log": [f"{state.n}"]}

    graph = of(START >> plan, task >> END)

    assert graph.invoke({}).state.log == [f"{n}" for n in range(50)]


def test_quick_plain_tasks_share_threads():
    threads = set()

    @node(goto=["task"])
    def plan(state: Log):
        return [Send("task", {"n": n}) for n in range(500)]

    @node
    def task(state: Log):
        threads.add(threading.get_ident())

    of(START >> plan, task >> END).invoke({})

    assert len(threads) < 100
