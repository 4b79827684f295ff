"""From finished tasks to the tasks due next."""

from __future__ import annotations

from nodestep import END, START, branch, when
from nodestep.engine.route import first_tasks
from nodestep.model import ids
from nodestep.model.outcome import Target
from nodestep.model.position import Task

from .making import follow, frame, graph, names, no_router, step, steps


def test_an_input_makes_the_targets_of_start_due():
    a, b = steps("a b")

    assert names(first_tasks(graph(START >> [b, a], a >> END, b >> END), no_router)) == ["b", "a"]
    assert first_tasks(graph(START >> a >> END), no_router) == (Task("a", "a"),)


def test_an_input_asks_the_router_after_start():
    a, b = steps("a b")
    asked = []

    def choose(condition, source):
        asked.append((condition.label, source))
        return condition.targets["right"]

    blueprint = graph(START >> branch(pick, {"left": a, "right": [b, END]}), a >> END, b >> END)

    assert names(first_tasks(blueprint, choose)) == ["b"]
    assert asked == [("pick", ids.START)]


def pick(state):
    return "left"


def test_a_finished_task_makes_the_targets_of_its_edge_due():
    a, b, c = steps("a b c")
    blueprint = graph(START >> a >> [c, b], b >> END, c >> END)

    assert names(follow(blueprint, frame("a")).due) == ["c", "b"]
    assert follow(blueprint, frame("b", "c")).due == ()


def test_tasks_are_followed_in_scheduling_order():
    a, b, c, d = steps("a b c d")
    blueprint = graph(START >> [b, a], a >> c, b >> d, c >> END, d >> END)

    assert names(follow(blueprint, frame("b", "a")).due) == ["d", "c"]


def test_goto_takes_the_place_of_the_edges():
    a, b, c = step("a", goto=["c", "d"]), *steps("b c")
    d = step("d")
    blueprint = graph(START >> a >> [b, c], b >> END, c >> END, d >> END)

    assert names(follow(blueprint, frame("a"), {"a": (Target("d"), Target("c"))}).due) == ["d", "c"]
    assert follow(blueprint, frame("a"), {"a": (Target(ids.END),)}).due == ()


def test_an_empty_goto_goes_nowhere():
    a, b = step("a", goto=["b"]), step("b")

    assert follow(graph(START >> a >> b >> END), frame("a"), {"a": ()}).due == ()


def test_one_task_of_a_node_may_jump_while_another_follows_the_edge():
    a, b, c = step("a", goto=["c"]), *steps("b c")
    blueprint = graph(START >> a >> b >> END, c >> END)

    assert names(follow(blueprint, frame("a", ("a", {})), {"a[1]": (Target("c"),)}).due) == ["b", "c"]


def test_every_send_becomes_a_task_with_its_payload():
    a, b = step("a", goto=["b"]), step("b")
    sends = (Target("b", {"n": 1}), Target("b", {}), Target("b", {"n": 1}))

    due = follow(graph(START >> a >> END, b >> END), frame("a"), {"a": sends}).due

    assert due == (Task("b", "b", {"n": 1}), Task("b[1]", "b", {}), Task("b[2]", "b", {"n": 1}))


def test_a_router_is_asked_once_however_many_tasks_of_its_node_finished():
    a, b, c = steps("a b c")
    asked = []

    def choose(condition, source):
        asked.append(source)
        return condition.targets[True]

    blueprint = graph(START >> a >> when(is_large, b, otherwise=c), b >> END, c >> END)
    due = follow(blueprint, frame(("a", {"n": 1}), ("a", {"n": 2})), choose=choose).due

    assert (names(due), asked) == (["b"], ["a"])


def is_large(state):
    return True


def test_a_router_is_not_asked_for_a_task_that_jumps():
    a, b, c = step("a", goto=["c"]), *steps("b c")
    blueprint = graph(START >> a >> when(is_large, b, otherwise=c), b >> END, c >> END)

    assert names(follow(blueprint, frame("a"), {"a": (Target("c"),)}).due) == ["c"]


def test_a_branch_beside_a_plain_edge_adds_its_targets():
    a, b, c = steps("a b c")
    blueprint = graph(START >> a >> [b, when(is_large, c, otherwise=END)], b >> END, c >> END)

    assert names(follow(blueprint, frame("a"), choose=lambda condition, _: condition.targets[True]).due) == ["b", "c"]
    assert names(follow(blueprint, frame("a"), choose=lambda condition, _: condition.targets[False]).due) == ["b"]
