"""`subgraph` as it is written: what it becomes, and what it is refused for."""

from __future__ import annotations

from typing import Annotated, Any

import pytest
from pydantic import Field

from nodestep import END, START, BaseState, Graph, InMemoryStateStore, Node, add, node, subgraph
from nodestep.errors import GraphConfigError


class Draft(BaseState):
    text: str = ""
    notes: Annotated[list[str], add] = Field(default_factory=list)
    rounds: int = 0


class Article(BaseState):
    text: str = ""
    notes: Annotated[list[str], add] = Field(default_factory=list)
    title: str = ""
    rounds: str = ""


@node
def polish(state: Draft) -> dict:
    return {"text": state.text.strip()}


def polishing(**options: Any) -> Graph[Draft]:
    return Graph(Draft, name="polishing", **options).flow(START >> polish >> END)


def articles(step: Node) -> Graph[Article]:
    return Graph(Article).flow(START >> step >> END)


def refusal(*args: Any, **options: Any) -> str:
    with pytest.raises(GraphConfigError) as caught:
        articles(subgraph(*args, **options))
    return str(caught.value)


def test_a_subgraph_node_is_data():
    inner = polishing()

    graph = articles(subgraph("tidy", inner, share=["text", "notes"], aliases=["clean"]))

    spec = graph.blueprint.nodes["tidy"]
    assert spec.inner is not None
    assert spec.inner.blueprint is inner.blueprint
    assert spec.inner.share == ("text", "notes")
    assert graph.blueprint.aliases == {"clean": "tidy"}


def test_maps_stand_in_the_place_of_shared_fields():
    def to_draft(state: Article) -> dict:
        return {"text": state.title}

    def to_article(state: Draft) -> dict:
        return {"title": state.text}

    graph = articles(subgraph("tidy", polishing(), state_in=to_draft, state_out=to_article))

    inner = graph.blueprint.nodes["tidy"].inner
    assert inner is not None
    assert (inner.share, inner.state_in, inner.state_out) == ((), to_draft, to_article)


def test_one_graph_may_be_several_nodes():
    inner = polishing()
    left, right = (subgraph(name, inner, share=["notes"]) for name in ("left", "right"))

    graph = Graph(Article).flow(START >> [left, right] >> node(lambda state: None, name="last"), "last" >> END)

    assert {name for name, spec in graph.blueprint.nodes.items() if spec.inner is not None} == {"left", "right"}


def test_the_same_subgraph_written_twice_is_one_node():
    inner = polishing()

    graph = Graph(Article).flow(
        START >> subgraph("tidy", inner, share=["text"]), subgraph("tidy", inner, share=["text"]) >> END
    )

    assert list(graph.blueprint.nodes) == ["tidy"]


def test_two_graphs_of_one_name_are_refused():
    with pytest.raises(GraphConfigError, match=r"'tidy' appears with different options\. Make it once"):
        Graph(Article).flow(
            START >> subgraph("tidy", polishing(), share=["text"]), subgraph("tidy", polishing(), share=["text"]) >> END
        )


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({}, ["does not say how state gets in and out", "share=['field', ...]", "state_in="]),
        ({"state_in": dict}, ["what goes with state_in="]),
        ({"share": ["text"], "state_out": dict}, ["share= and state_out= exclude each other"]),
        ({"share": "text"}, ["share='text' is not a list"]),
        ({"share": []}, ["share=[] shares nothing"]),
        ({"share": ["text", "text"]}, ["share names 'text' twice"]),
        ({"share": [1]}, ["share holds 1"]),
        ({"share": ["text"], "aliases": ["tidy"]}, ["alias 'tidy' is the node's own name"]),
        ({"state_in": 1, "state_out": dict}, ["state_in=1 is not a function"]),
    ],
)
def test_how_state_gets_in_and_out_is_said_in_one_way(options, words):
    message = refusal("tidy", polishing(), **options)

    assert all(word in message for word in ["Subgraph 'tidy'", *words]), message


def test_a_map_that_is_async_is_refused():
    async def to_draft(state: Article) -> dict:
        return {}

    assert "is async" in refusal("tidy", polishing(), state_in=to_draft, state_out=dict)


def test_a_field_that_a_state_does_not_have_is_not_shared():
    message = refusal("tidy", polishing(), share=["titel"])

    assert "shares 'titel', which Article does not have" in message
    assert "Did you mean 'title'?" in message
    assert "shares 'titel', which Draft does not have" in message


def test_a_field_of_two_types_is_not_shared():
    message = refusal("tidy", polishing(), share=["rounds"])

    assert "shares 'rounds', which is str in Article and int in Draft" in message


def test_a_dict_as_state_has_every_field():
    plain = Graph(dict).flow(START >> subgraph("tidy", polishing(), share=["text"]) >> END)

    assert plain.blueprint.nodes["tidy"].inner is not None


def test_an_inner_graph_with_a_store_of_its_own_is_refused():
    message = refusal("tidy", polishing(state_store=InMemoryStateStore()), share=["text"])

    assert "graph 'polishing' has a store of its own" in message


def test_a_graph_is_no_node_of_itself():
    graph = Graph(Article)

    with pytest.raises(GraphConfigError, match=r"has no flow yet.*a graph cannot be a node of itself"):
        graph.flow(START >> subgraph("again", graph, share=["text"]) >> END)


def test_what_is_no_graph_is_refused():
    assert "its graph is polish. Pass a Graph" in refusal("tidy", polish, share=["text"])


def test_everything_that_is_wrong_is_told_at_once():
    message = refusal("a:b", polish)

    assert message.startswith("Subgraph 'a:b' has 3 problems:")


def test_a_shared_field_with_a_reducer_of_your_own_is_refused() -> None:
    def longest(current: str | None, update: str) -> str:
        return max(current or "", update, key=len)

    class Texts(BaseState):
        text: Annotated[str, longest] = ""

    inner = Graph(Texts, name="inner").flow(START >> node(lambda s: None, name="n") >> END)

    with pytest.raises(GraphConfigError, match="'text', whose reducer longest takes updates"):
        Graph(Texts, name="outer").flow(START >> subgraph("sub", inner, share=["text"]) >> END)
