"""Declared questions and graphs inside nodes, as pictures and as data."""

from __future__ import annotations

import json
import re

from nodestep import END, START, BaseState, Graph, interrupt_node, node, subgraph
from nodestep.flow.draw import to_text


class Post(BaseState):
    draft: str = ""
    approved: bool = False


@node
def write(state: Post) -> dict:
    return {}


review = Graph(Post, name="reviews").flow(
    START >> interrupt_node("ask", key="approved", prompt="Publish {draft}?") >> END
)
middle = Graph(Post, name="middles").flow(START >> write >> subgraph("review", review, share=["approved"]) >> END)
outer = Graph(Post).flow(
    START >> write >> subgraph("check it", middle, share=["draft", "approved"]) >> END,
)


def test_mermaid_draws_the_nesting():
    assert outer.to_mermaid() == (
        """flowchart TD
    START(["START"])
    n_write["write"]
    subgraph n_check_it["check it"]
        n_check_it_START(["START"])
        n_check_it_n_write["write"]
        subgraph n_check_it_n_review["review"]
            n_check_it_n_review_START(["START"])
            n_check_it_n_review_n_ask[/"ask"/]
            n_check_it_n_review_END(["END"])
            n_check_it_n_review_START --> n_check_it_n_review_n_ask
            n_check_it_n_review_n_ask --> n_check_it_n_review_END
        end
        n_check_it_END(["END"])
        n_check_it_START --> n_check_it_n_write
        n_check_it_n_write --> n_check_it_n_review
        n_check_it_n_review --> n_check_it_END
    end
    END(["END"])
    START --> n_write
    n_write --> n_check_it
    n_check_it --> END
"""
    )


def test_ids_differ_across_the_levels():
    inner = Graph(Post).flow(START >> node(lambda s: None, name="b") >> END)
    graph = Graph(Post).flow(
        START >> subgraph("a", inner, share=["draft"]) >> node(lambda s: None, name="a n b") >> "a START",
        node(lambda s: None, name="a START") >> END,
    )

    ids = re.findall(r"^ *(?:subgraph )?(\w+)[\[(]", graph.to_mermaid(), re.MULTILINE)

    assert len(ids) == len(set(ids)) == 8


def test_text_shows_each_inner_graph_below():
    assert to_text(outer.blueprint, {"check it/review/ask": "asks"}) == (
        """START ──> write ──> check it ──> END

check it:
  START ──> write ──> review ──> END

  review:
    START ──> ask ◄ asks ──> END
"""
    )


def test_the_spec_tells_what_is_inside():
    (_, check) = outer.to_spec()["nodes"]

    assert check["subgraph"]["share"] == ["draft", "approved"]
    assert check["subgraph"]["graph"]["name"] == "middles"
    (ask,) = check["subgraph"]["graph"]["nodes"][1]["subgraph"]["graph"]["nodes"]
    assert ask["interrupt"] == {"key": "approved", "prompt": "Publish {draft}?"}
    assert json.loads(outer.to_json()) == outer.to_spec()


def test_the_spec_names_the_maps():
    def into(state: Post) -> dict:
        return {}

    def out_of(state: Post) -> dict:
        return {}

    graph = Graph(Post).flow(START >> subgraph("a", review, state_in=into, state_out=out_of) >> END)

    told = graph.to_spec()["nodes"][0]["subgraph"]
    assert (told["share"], told["state_in"], told["state_out"]) == ([], "into", "out_of")
