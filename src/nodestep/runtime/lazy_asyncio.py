"""`asyncio`, loaded when something of it is first used: a program that only calls `invoke` need not load it."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from asyncio import *  # noqa: F403
    from asyncio import AbstractEventLoop
else:

    def __getattr__(name: str) -> Any:
        import asyncio

        value = globals()[name] = getattr(asyncio, name)
        return value


def running_loop() -> AbstractEventLoop | None:
    """The event loop that runs in this thread; none can where nobody has loaded asyncio."""
    asyncio = sys.modules.get("asyncio")
    if asyncio is None:
        return None
    try:
        return asyncio.get_running_loop()  # type: ignore[no-any-return]
    except RuntimeError:
        return None
