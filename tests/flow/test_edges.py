"""What `>>` writes, seen in the blueprint."""

from __future__ import annotations

import copy
import pickle

import pytest

from nodestep.errors import GraphConfigError
from nodestep.flow import END, START, Node, branch, node, target_name, when
from nodestep.model import ids
from nodestep.model.blueprint import Branch, Join

from .building import flow, step, steps


def is_large(state):
    return True


def test_a_chain_is_an_edge_after_the_other():
    a, b, c = steps("a b c")

    assert flow(START >> a >> b >> c >> END).edges == {
        ids.START: ("a",),
        "a": ("b",),
        "b": ("c",),
        "c": (ids.END,),
    }


def test_a_list_of_targets_goes_to_all_of_them():
    a, b, c = steps("a b c")

    assert flow(START >> a >> [b, c], b >> END, c >> END).edges["a"] == ("b", "c")
    assert flow(START >> (a, b), a >> END, b >> END).edges[ids.START] == ("a", "b")


def test_a_list_of_sources_is_a_join():
    a, b, c, d = steps("a b c d")

    graph = flow(START >> a, a >> [b, c], [b, c] >> d, d >> END)

    assert graph.joins == (Join("d", ("b", "c")),)
    assert graph.edges["b"] == graph.edges["c"] == ()
    assert graph.joins_from("b") == graph.joins

    chained = flow(START >> a >> [b, c] >> d >> END)
    assert (chained.edges, chained.joins) == (graph.edges, graph.joins)


def test_a_join_into_several_nodes_is_a_join_each():
    a, b, c, d = steps("a b c d")

    graph = flow(START >> [a, b] >> (c, d), c >> END, d >> END)

    assert graph.joins == (Join("c", ("a", "b")), Join("d", ("a", "b")))


def test_a_list_before_end_is_an_edge_each():
    a, b = steps("a b")

    graph = flow(START >> [a, b] >> END)

    assert graph.joins == ()
    assert graph.edges["a"] == graph.edges["b"] == (ids.END,)


def test_a_list_of_one_is_that_node():
    a, b = steps("a b")

    graph = flow(START >> [a], [a] >> b, b >> END)

    assert graph.joins == ()
    assert graph.edges["a"] == ("b",)


def test_a_node_may_have_an_edge_and_stand_in_joins():
    a, b, c, d, e = steps("a b c d e")

    graph = flow(START >> [a, b], a >> c >> END, [a, b] >> d >> END, [a, b] >> e >> END)

    assert graph.edges["a"] == ("c",)
    assert [join.target for join in graph.joins_from("a")] == ["d", "e"]


def test_when_is_a_branch_over_true_and_false():
    a, b, c = steps("a b c")

    graph = flow(START >> a >> when(is_large, b, otherwise=[c, END]), b >> END, c >> END)

    assert graph.edges["a"] == (Branch(is_large, {True: ("b",), False: ("c", ids.END)}, "is_large", True),)


def test_branch_leads_by_key():
    a, b, c = steps("a b c")

    graph = flow(
        START >> branch(is_large, {"x": a, 2: [b, "c"], None: END}),
        a >> c,
        b >> END,
        c >> END,
    )

    [edge] = graph.edges[ids.START]
    assert edge == Branch(is_large, {"x": ("a",), 2: ("b", "c"), None: (ids.END,)}, "is_large")
    assert list(edge.targets) == ["x", 2, None]


def test_a_condition_without_a_name_is_labelled_by_its_form():
    assert when(lambda s: True, "a", otherwise=END).label == "when"
    assert branch(lambda s: 1, {1: END}).label == "branch"


def test_a_list_may_hold_a_condition():
    a, b, c = steps("a b c")

    first, second = flow(START >> a >> [b, when(is_large, c, otherwise=END)], [b, c] >> END).edges["a"]

    assert first == "b"
    assert isinstance(second, Branch)


def test_names_stand_for_nodes():
    a, b, c = steps("a b c")

    graph = flow(START >> a >> "b", b >> [c, "a"], "c" >> END)

    assert graph.edges == {ids.START: ("a",), "a": ("b",), "b": ("c", "a"), "c": (ids.END,)}


def test_goto_brings_its_nodes_along():
    c = step("c", goto=[END])
    b = step("b", goto=[c])
    a = step("a", goto=[b, "a", END])

    graph = flow(START >> a)

    assert list(graph.nodes) == ["a", "b", "c"]
    assert graph.nodes["a"].goto == ("b", "a", ids.END)


def test_chains_join_up():
    a, b, c, d = steps("a b c d")
    tail = c >> d >> END

    assert flow(START >> (a >> b) >> tail).edges == flow(START >> a >> b >> c >> d >> END).edges


def test_a_chain_never_changes():
    a, b, c = steps("a b c")
    start = START >> a
    before = repr(start)

    one = start >> b
    two = start >> [b, c]

    assert repr(start) == before == "<START >> a>"
    assert repr(one) == "<START >> a >> b>"
    assert repr(two) == "<START >> a >> [b, c]>"


def test_a_node_may_stand_in_several_graphs():
    a, b = steps("a b")

    one, two = flow(START >> a >> END), flow(START >> b >> a >> END)

    assert one.nodes["a"] is two.nodes["a"]


def test_an_edge_has_no_truth_value():
    a = step("a")

    with pytest.raises(GraphConfigError, match=r"START >> a.*commas"):
        bool(START >> a)


def test_start_and_end_are_one_object_each():
    assert (repr(START), repr(END)) == ("START", "END")
    assert copy.deepcopy(END) is END
    assert pickle.loads(pickle.dumps(END)) is END
    assert pickle.loads(pickle.dumps(START)) is START
    assert copy.copy(START) is START


def test_end_is_a_name_like_any_other_target():
    @node
    def stop(state) -> str:
        return END

    assert stop({}) is END
    assert END == ids.END
    assert [target_name(t) for t in (END, stop, "later")] == [ids.END, "stop", "later"]
    assert type(target_name(END)) is str


def test_nodes_keep_the_order_in_which_they_are_written():
    a, b, c = steps("a b c")

    assert list(flow(START >> c, c >> a, a >> b, b >> END).nodes) == ["c", "a", "b"]
    assert all(isinstance(each, Node) for each in (a, b, c))


def test_limits_and_name_are_taken_over():
    a = step("a", aliases=["old"], timeout=2)

    graph = flow(START >> a >> END, name="refunds", max_steps=7, timeout=60)

    assert (graph.name, graph.max_steps, graph.timeout_s) == ("refunds", 7, 60.0)
    assert graph.aliases == {"old": "a"}
    assert graph.nodes["a"].timeout_s == 2.0


def test_a_blueprint_cannot_be_changed():
    graph = flow(START >> step("a") >> END)

    with pytest.raises(TypeError):
        graph.nodes["b"] = graph.nodes["a"]  # type: ignore[index]
    with pytest.raises(TypeError):
        graph.edges["a"] = ()  # type: ignore[index]
