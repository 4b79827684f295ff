"""Graphs inside tasks: a subgraph node's, and those that a node calls.

Each works as a frame of its parent's thread. What it finished is found again when the task runs again, however the run
before ended; when the task is done the frame goes.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable
from typing import Any

from ..engine.plan import check_frame
from ..engine.route import first_tasks
from ..errors import GraphChangedError, GraphConfigError, GraphExecutionError
from ..hooks.middleware import HookTable
from ..model.blueprint import Blueprint
from ..model.event import FrameOpened
from ..model.ids import frame_path
from ..model.position import Frame
from ..model.subgraph import InnerGraph, Subgraph
from . import lazy_asyncio as asyncio
from .around import hooked
from .blocking import AsyncDoor, Door
from .context import BOOKKEEPING, CURRENT, TaskScope, check_question_id
from .frame import FrameRun
from .loading import dropped_fields, new_fields
from .pool import leave_error
from .routing import chooser
from .run import Run
from .steps import supersteps

IN_LOOP = AsyncDoor()


async def run_subgraph(scope: TaskScope, door: Door) -> Any:
    """What a subgraph node returns: its graph run to the end. A pause inside pauses the task."""
    inner = scope.spec.inner
    assert inner is not None
    path = frame_path(scope.at.path, scope.task.id)
    token = CURRENT.set(None)
    try:
        at = _enter(scope, path, inner.blueprint, inner.hooks, door, lambda: _input(scope, inner))
        completed = await _run(at)
        result = _output(scope, inner, at) if completed else None
    finally:
        CURRENT.reset(token)
    if not completed:
        scope.pause()
    return result


async def call_graph(scope: TaskScope, graph: InnerGraph[Any], input: Any, id: str) -> Any:
    """The final state of a graph that a node calls. It runs in a task of its own, so that one that waits beside others
    does not end them; the node's task waits for all."""
    _check_call(scope, graph, id)
    path = frame_path(scope.at.path, f"{scope.task.id}/{id}")
    work = asyncio.create_task(_called(scope, graph, input, path))
    work.add_done_callback(leave_error)
    scope.own("calls", set).add(work)
    at = await asyncio.shield(work)
    if at is None:
        scope.pause()
    return at.schema.result(at.values)


async def end_calls(scope: TaskScope) -> None:
    """The node has ended, so what it called must. Beside a pause it runs to its end, and an error of it wins over the
    pause; otherwise it is cancelled."""
    calls = {call for call in scope.calls if not call.done()}
    scope.own("calls", set).clear()
    if not calls:
        return
    if not scope.signals:
        _cancel(calls)
    try:
        await asyncio.wait(calls)
    except asyncio.CancelledError:
        _cancel(calls)
        await asyncio.wait(calls)
        raise
    errors = [error for call in calls if not call.cancelled() and (error := call.exception()) is not None]
    if scope.signals and errors:
        scope.signals = []
        raise errors[0]


def _cancel(calls: set[asyncio.Task[Any]]) -> None:
    for call in calls:
        call.cancel()


async def _called(scope: TaskScope, graph: InnerGraph[Any], input: Any, path: str) -> FrameRun | None:
    CURRENT.set(None)
    _check_graph(scope.run, path, graph.blueprint)
    at = _enter(scope, path, graph.blueprint, graph.hooks, IN_LOOP, lambda: {} if input is None else input)
    return at if await _run(at) else None


def own_store(graph: InnerGraph[Any]) -> str:
    """What is wrong with a graph inside another that has a store."""
    return (
        f"graph {graph.name!r} has a store of its own, and a graph inside another is kept in the outer thread. Leave "
        "state_store= out of the inner Graph(...)."
    )


def _check_call(scope: TaskScope, graph: Any, id: str) -> None:
    scope.check_open("call")
    check_question_id("ctx.call", id)
    if not isinstance(graph, InnerGraph):
        raise TypeError(f"ctx.call takes a Graph, not {type(graph).__name__}. Nothing ran.")
    if graph.state_store is not None:
        raise GraphConfigError(f"For ctx.call, {own_store(graph)} Nothing ran.")
    with BOOKKEEPING:
        if id in scope.call_ids:
            raise GraphExecutionError(
                f"Node {scope.node!r} calls ctx.call with the id {id!r} twice in one run. Give each call its own id."
            )
        scope.own("call_ids", set).add(id)


def _enter(
    scope: TaskScope, path: str, blueprint: Blueprint, hooks: HookTable, door: Door, make_input: Callable[[], Any]
) -> FrameRun:
    """The frame at a path: as an earlier attempt of this run left it, as the thread has it stored, or new."""
    run = scope.run
    at = run.frames.get(path)
    if at is None:
        at = FrameRun(run, path, blueprint, hooks, door, secrets.token_hex(16), scope)
        if path in run.stored:
            _take_up(run, at)
        else:
            _open(run, at, make_input())
        run.frames[path] = at
    at.parent, at.door = scope, door
    return at


def _check_graph(run: Run, path: str, blueprint: Blueprint) -> None:
    known = run.frames.get(path) or run.stored.get(path)
    if known is not None and known.frame.graph != blueprint.name:
        raise GraphChangedError(
            f"The call {path!r} is at work on graph {known.frame.graph!r}, and the node now calls graph {blueprint.name!r} "
            "there. Give the other call another id, or let the first come to its end. Nothing of the other graph ran."
        )


def _open(run: Run, at: FrameRun, input: Any) -> None:
    at.values = at.schema.first_state(input, f"{at.origin}/input")
    due = first_tasks(at.blueprint, chooser(at, at.values))
    at.frame = Frame(1, due, graph=at.blueprint.name)
    run.unrecorded.append(FrameOpened(at.path, at.blueprint.name, at.schema.dump(at.values), due))


def _take_up(run: Run, at: FrameRun) -> None:
    stored = run.stored[at.path]
    if stored.values is None:
        check_frame(at.blueprint, stored.frame)
        at.values = at.schema.load(stored.state)
    else:
        at.values = stored.values
    at.dropped = dropped_fields(at.schema, stored.state)
    at.frame = stored.frame
    run.unrecorded.extend(new_fields(at.schema, stored.state, at.values, at.path))
    del run.stored[at.path]


async def _run(at: FrameRun) -> bool:
    """Whether the graph came to its end; one that had done so before is not run again."""
    if at.frame.superstep > 1 and not at.frame.due:
        return True
    return await hooked(at, supersteps, lambda error: error)


def _input(scope: TaskScope, inner: Subgraph) -> Any:
    """What goes in: the shared fields as they are, or what `state_in` makes of a copy of the state."""
    if inner.state_in is not None:
        return inner.state_in(scope.at.schema.view(scope.values))
    data = scope.at.schema.data(scope.values)
    return {name: data[name] for name in inner.share if name in data}


def _output(scope: TaskScope, inner: Subgraph, at: FrameRun) -> Any:
    """What comes out, as a node's return value: how the inner graph changed the shared fields, or what `state_out`
    returns."""
    if inner.state_out is None:
        return scope.at.schema.update_between(scope.values, at.schema.data(at.values), inner.share)
    update = inner.state_out(at.schema.result(at.values))
    if update is not None and not isinstance(update, dict):
        raise GraphExecutionError(
            f"state_out of subgraph {scope.node!r} returned {type(update).__name__}. It returns an update of the outer state "
            "as a dict, or None."
        )
    return update
