"""Nodes that charge once."""

from __future__ import annotations

from typing import Any

import pytest

from nodestep import NodeContext
from tests.interrupts.charging import Counter


@pytest.fixture
def counter() -> Counter:
    return Counter()


@pytest.fixture(params=["once", "aonce"])
def charging(request, counter: Counter):
    """A node's body: charge once, then do what `then` says."""

    def body(then):
        def plain(state: dict, ctx: NodeContext) -> Any:
            return then(ctx.once("charge", counter.charge, 5, currency="EUR"), ctx)

        async def awaited(state: dict, ctx: NodeContext) -> Any:
            return then(await ctx.aonce("charge", counter.acharge, 5, currency="EUR"), ctx)

        return plain if request.param == "once" else awaited

    return body
