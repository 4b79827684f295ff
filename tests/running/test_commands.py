"""Where a node sends the thread by itself."""

from __future__ import annotations

import pytest

from nodestep import END, START, Command, GraphExecutionError, Send

from .making import Log, both, does, of, returns, run, says


def test_goto_replaces_the_edges_for_that_run_of_the_node():
    def body(state: Log):
        return Command(update={"log": ["a"], "n": state.n + 1}, goto="c") if state.n < 1 else {"log": ["a"]}

    graph = of(START >> does("a", body, goto=["c"]) >> says("b") >> END, says("c") >> "a")

    assert both(graph, {}).state.log == ["a", "c", "a", "b"]


def test_goto_takes_nodes_and_names_and_sends_together():
    b = says("b")
    graph = of(
        START >> returns("a", Command(goto=[b, "c", Send("d", {"n": 1}), END]), goto=[b, "c", "d"]),
        b >> END,
        says("c") >> END,
        says("d") >> END,
    )

    assert both(graph, {}).state.log == ["b", "c", "d"]


def test_goto_takes_one_send():
    d = does("d", lambda state: {"log": [f"d{state.n}"]})

    assert both(of(START >> returns("a", Command(goto=Send("d", {"n": 7})), goto=["d"]), d >> END), {}).state.log == [
        "d7"
    ]


def test_a_node_may_go_to_itself():
    def body(state: Log):
        return Command(update={"n": state.n + 1}, goto="a" if state.n < 3 else END)

    assert both(of(START >> does("a", body, goto=["a"])), {}).state.n == 4


def refused(target, *words: str, **options) -> None:
    graph = of(START >> returns("review", target, **options) >> says("reply") >> END)
    with pytest.raises(GraphExecutionError) as caught:
        both(graph, {})
    for word in ("'review'", *words):
        assert word in str(caught.value)


@pytest.mark.parametrize("target", [Command(goto="replay"), Command(goto=["replay"]), Send("replay"), [Send("replay")]])
def test_an_unknown_target_is_refused_with_its_nearest(target):
    refused(target, "'replay'", "Known nodes", "Did you mean 'reply'?")


@pytest.mark.parametrize(
    "target", [Command(goto="reply"), Send("reply"), [Send("reply")], Command(goto=[Send("reply")])]
)
def test_an_undeclared_target_is_refused_and_told_how_to_declare_it(target):
    refused(target, "'reply'", "goto=[reply")


@pytest.mark.parametrize("target", [Command(goto=START), Command(goto=5), Command(goto=[None]), Send(None), Send(END)])
def test_what_is_no_node_is_refused(target):
    refused(target, "not in the graph", goto=["reply"])


def test_a_node_of_another_graph_is_no_target():
    refused(Command(goto=says("elsewhere")), "'elsewhere'", goto=["reply"])


def test_nothing_of_a_refused_command_is_merged(store):
    graph = of(
        START >> says("first") >> returns("review", Command(update={"n": 5}, goto="replay")) >> END, state_store=store
    )
    with pytest.raises(GraphExecutionError):
        graph.invoke({}, thread_id="t")

    assert run(graph.load("t")) == {"log": ["first"], "n": 0}
