"""The graph hooks of a frame, around its work in one run."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from functools import partial
from types import MappingProxyType
from typing import Any

from msgspec.structs import replace

from ..errors import ThreadCancelledError
from ..hooks.contexts import RunOutcome
from ..hooks.middleware import GraphHooks, owner_of
from ..model.event import Remembered
from ..model.ids import is_within, split_key
from ..model.limits import own_json
from ..model.memory import changed
from .frame import FrameRun
from .memory import WorkingMemory
from .questions import open_interrupts


def hooked(
    at: FrameRun, work: Callable[[FrameRun], Awaitable[bool]], failed: Callable[[BaseException], BaseException]
) -> Awaitable[bool]:
    """Do the work with the hooks around it, and say whether the graph came to its end. A middleware whose `before_graph`
    was reached gets its `on_run_end`. `failed` is told an error first, and says which one to raise."""
    has_hooks = at.hooks.around_graph or at.hooks.after_graph
    return _hooked(at, work, failed) if has_hooks else _plain(at, work, failed)


async def _hooked(
    at: FrameRun, work: Callable[[FrameRun], Awaitable[bool]], failed: Callable[[BaseException], BaseException]
) -> bool:
    outcome = RunOutcome("failed")
    entered: list[GraphHooks] = []
    try:
        await _begin_hooks(at, entered)
        completed = await work(at)
        for hook in at.hooks.after_graph if completed else ():
            await _called(at, hook(at.graph_context(_only_read(at, hook))))
        outcome = RunOutcome("completed") if completed else RunOutcome("paused", _questions(at))
    except BaseException as error:
        error = failed(error)
        stopped = isinstance(error, ThreadCancelledError) or not isinstance(error, Exception)
        outcome = RunOutcome("cancelled" if stopped else "failed", error=error)
        await _end_hooks(at, entered, outcome, error)
        raise error from error.__cause__
    failure = await _end_hooks(at, entered, outcome, None)
    if failure is not None:
        raise failure
    return completed


async def _plain(
    at: FrameRun, work: Callable[[FrameRun], Awaitable[bool]], failed: Callable[[BaseException], BaseException]
) -> bool:
    try:
        return await work(at)
    except BaseException as error:
        error = failed(error)
        raise error from error.__cause__


def _questions(at: FrameRun) -> dict[str, Any]:
    return {key: asked for key, asked in open_interrupts(at.run).items() if is_within(split_key(key)[0], at.path)}


async def _begin_hooks(at: FrameRun, entered: list[GraphHooks]) -> None:
    """Ask every `before_graph`. What they changed in their memory goes with the next commit."""
    memory = WorkingMemory(at.frame.memory)
    for hooks in at.hooks.around_graph:
        entered.insert(0, hooks)
        if hooks.before_graph is not None:
            context = at.graph_context(partial(memory.of, owner_of(hooks.before_graph)))
            await _called(at, hooks.before_graph(context))
    change = memory.change()
    if change:
        at.frame = replace(at.frame, memory=changed(at.frame.memory, change))
        at.run.unrecorded.append(Remembered(change, at.path))


def _only_read(at: FrameRun, hook: Callable[..., Any]) -> Callable[[], Any]:
    return lambda: MappingProxyType(own_json(at.frame.memory.get(owner_of(hook), {})))


async def _end_hooks(
    at: FrameRun, entered: list[GraphHooks], outcome: RunOutcome, failure: BaseException | None
) -> BaseException | None:
    """Ask every `on_run_end`. The first error of one is returned where the run itself did not fail; each further one is a
    note."""
    for hooks in entered:
        if hooks.on_run_end is None:
            continue
        try:
            await _called(at, hooks.on_run_end(at.graph_context(_only_read(at, hooks.on_run_end)), outcome))
        except Exception as error:
            if failure is None:
                failure = error
            else:
                failure.add_note(f"on_run_end failed as well: {type(error).__name__}: {error}")
    return failure


async def _called(at: FrameRun, result: Any) -> Any:
    if not isinstance(result, Awaitable):
        return result

    async def waited() -> Any:
        return await result

    return await at.door.in_loop(waited())
