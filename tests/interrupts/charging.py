"""What the tests of `ctx.once` charge with: a function that must be called once."""

from __future__ import annotations

import asyncio
from typing import Any

from nodestep import NodeContext, interrupt


class Counter:
    """A function that notes its calls, plain and async."""

    def __init__(self, result: Any = "receipt") -> None:
        self.calls: list[tuple[Any, ...]] = []
        self.result = result

    def charge(self, *args: Any, **kwargs: Any) -> Any:
        self.calls.append((*args, *kwargs.items()))
        return self.result

    async def acharge(self, *args: Any, **kwargs: Any) -> Any:
        await asyncio.sleep(0)
        return self.charge(*args, **kwargs)


def ask_then_return(receipt: Any, ctx: NodeContext) -> Any:
    return {"got": [receipt, interrupt("Sure?", id="a")]}
