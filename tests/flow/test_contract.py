"""The graphs of the users' pages build as written there."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any

from pydantic import BaseModel, Field

from nodestep.flow import END, START, build, node
from nodestep.model import ids
from nodestep.model.node import Command, NodeContext
from nodestep.model.reducers import add
from nodestep.model.schema import StateSchema


class Refund(BaseModel):
    amount: float = 0.0
    approved: bool = False


class Release(BaseModel):
    sign_offs: Annotated[list[str], add] = Field(default_factory=list)


class Quote(BaseModel):
    price: float = 0.0
    accepted: bool = False


def test_a_single_step():
    @node
    def review(state: Refund) -> dict:
        return {"approved": state.amount < 100}

    graph = build([START >> review, review >> END], schema=StateSchema(Refund))

    assert graph.name == "Refund"
    assert graph.edges == {ids.START: ("review",), "review": (ids.END,)}
    assert graph.nodes["review"].call(Refund(amount=80), None) == {"approved": True}


def test_a_node_that_only_goes_by_goto():
    @node
    def legal(state: Release) -> dict:
        return {}

    @node
    def security(state: Release) -> dict:
        return {}

    @node(goto=[legal, security])
    def request_sign_offs(state: Release) -> Command:
        return Command(goto=[legal, security])

    graph = build([START >> request_sign_offs, legal >> END, security >> END], schema=StateSchema(Release))

    assert graph.nodes["request_sign_offs"].goto == ("legal", "security")
    assert graph.edges["request_sign_offs"] == ()
    assert graph.edges["legal"] == graph.edges["security"] == (ids.END,)


def test_a_step_with_the_context():
    @node
    def offer(state: Quote, ctx: NodeContext) -> dict:
        return {"price": ctx.step}

    graph = build([START >> offer, offer >> END], schema=StateSchema(Quote))

    class Context:
        step = 3

    call: Any = graph.nodes["offer"].call
    assert call(Quote(), Context()) == {"price": 3}
    assert isinstance(graph.nodes, Mapping)
