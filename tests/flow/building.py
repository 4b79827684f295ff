"""What the tests of `flow` share: small nodes, and flows that are built or refused."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import BaseModel

from nodestep.errors import GraphConfigError
from nodestep.flow import Node, build, node
from nodestep.model.blueprint import Blueprint
from nodestep.model.schema import StateSchema


class Refund(BaseModel):
    """The state of most tests."""

    amount: float = 0.0
    approved: bool = False


def step(name: str, **options: Any) -> Node:
    """A node that does nothing."""
    return node(lambda state: None, name=name, **options)


def steps(names: str, **options: Any) -> list[Node]:
    """A node for each of the names, which stand with a space between."""
    return [step(name, **options) for name in names.split()]


def flow(*items: object, **options: Any) -> Blueprint:
    """The blueprint of a flow over `Refund`."""
    return build(items, schema=StateSchema(Refund), **options)


def refusal(*items: object, **options: Any) -> str:
    """The message with which a flow is refused."""
    with pytest.raises(GraphConfigError) as caught:
        flow(*items, **options)
    return str(caught.value)


def problems(*items: object, **options: Any) -> list[str]:
    """The problems that a refused flow is told to have."""
    first, *numbered = refusal(*items, **options).split("\n")
    if not numbered:
        return [first.partition(": ")[2]]
    assert first.endswith(f"has {len(numbered)} problems:")
    return [line.partition(". ")[2] for line in numbered]
