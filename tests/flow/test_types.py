"""What a type checker sees; `mypy --strict` over the tests is the test, and running it shows that it is true."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any, assert_type

from nodestep.flow import END, START, Chain, Node, branch, node, when
from nodestep.model.node import Command, NodeContext, Retry

from .building import Refund, flow


@node
def review(state: Refund) -> dict[str, Any]:
    return {"approved": True}


@node
async def pay(state: Refund, ctx: NodeContext) -> dict[str, Any]:
    return {}


@node(name="sign off", goto=[review, "later", END], timeout=3, retry=Retry())
def sign(state: Refund) -> Command:
    return Command(goto=[review])


@node()
async def later(state: Refund) -> str:
    return END


class Desk:
    @node
    def look(self, state: Refund) -> int:
        return 1


def is_large(state: Refund) -> bool:
    return state.amount > 100


def test_calling_a_node_keeps_the_types_of_its_function() -> None:
    assert_type(review(Refund()), dict[str, Any])
    assert_type(sign(Refund()), Command)
    assert_type(Desk().look(Refund()), int)
    waiting = later(Refund())
    _ = assert_type(waiting, Coroutine[Any, Any, str])
    assert asyncio.run(waiting) == END


def test_nodes_are_nodes() -> None:
    every: list[Node] = [review, pay, sign, later, Desk().look]
    plain: Callable[[Refund], dict[str, Any]] = review
    assert [each.name for each in every] == ["review", "pay", "sign off", "later", "look"]
    assert plain(Refund()) == {"approved": True}


def test_every_edge_is_a_chain() -> None:
    assert_type(START >> review, Chain)
    assert_type(review >> pay >> END, Chain)
    assert_type(review >> [pay, sign], Chain)
    assert_type(review >> [pay, when(is_large, sign, otherwise=END)], Chain)
    assert_type([review, pay] >> sign, Chain)
    assert_type([review, pay] >> END, Chain)
    assert_type(START >> review >> [pay, sign] >> later, Chain)
    assert_type(review >> when(lambda state: True, pay, otherwise=[sign, "later"]), Chain)
    assert_type(review >> branch(lambda state: "x", {"x": pay, "y": [sign, END]}), Chain)
    assert_type(review >> "pay", Chain)


def test_the_typed_graph_builds() -> None:
    graph = flow(
        START >> review >> when(is_large, [pay, later], otherwise=sign),
        [pay, later] >> END,
    )
    assert list(graph.nodes) == ["review", "pay", "later", "sign off"]
