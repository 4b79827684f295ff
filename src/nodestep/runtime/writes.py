"""What a node returned, read: the update it made and where it sends the thread."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import CoroutineType
from typing import TYPE_CHECKING, Any, TypeAlias

from ..errors import GraphExecutionError, a, did_you_mean
from ..model.ids import END as END_NAME
from ..model.ids import START as START_NAME
from ..model.node import Command, Send
from ..model.outcome import Target
from ..model.schema import Update

if TYPE_CHECKING:
    from .context import TaskScope


Writes: TypeAlias = tuple[Update | None, tuple[Target, ...] | None]
"""The validated update, `None` where there is none, and where the node sends the thread; `None` to follow the edges."""


def shown(scope: TaskScope, writes: Writes) -> dict[str, Any] | None:
    """A copy of the update for a hook."""
    return None if writes[0] is None else scope.at.schema.shown(writes[0])


def replaced(scope: TaskScope, writes: Writes, value: Any) -> Writes:
    """The writes with another update, as an `after_node` hook asked for."""
    if value is not None and not isinstance(value, Mapping):
        raise GraphExecutionError(
            f"after_node of node {scope.node!r} replaced the update with {type(value).__name__}; an update is a dict."
        )
    return _validated(scope, value), writes[1]


def read_writes(scope: TaskScope, result: Any) -> Writes:
    """Raises GraphExecutionError for a result of another kind, and the errors of a bad update."""
    schema = scope.at.schema
    view = scope.view
    changed = None if view is None or schema.is_untouched(view, scope.values) else schema.changes(view, scope.values)
    if result is view and view is not None:
        return _validated(scope, changed or None), None
    if changed:
        raise GraphExecutionError(
            f"Node {scope.node!r} changed {_names(changed)} of its state in place and returned something else, so the "
            "change would be lost. Return the state itself, or an update such as {'field': value}."
        )
    if type(result) is dict:  # by far the most frequent, and the check for any mapping is dear
        return _validated(scope, result), None
    if result is None:
        return None, None
    if isinstance(result, Command):
        return _read_command(scope, result)
    if isinstance(result, Mapping):
        return _validated(scope, result), None
    targets = _targets(scope, result)
    if isinstance(result, CoroutineType):
        result.close()
        raise GraphExecutionError(
            f"Node {scope.node!r} returned a coroutine that nobody awaited. Write async def for the node, and await in it."
        )
    if targets is None:
        raise GraphExecutionError(
            f"Node {scope.node!r} returned {type(result).__name__}. A node returns a dict, Command, Send, a list of "
            "Send, END, None, or the state object it received."
        )
    return None, targets


def _read_command(scope: TaskScope, command: Command) -> Writes:
    update = command.update
    if update is not None and not isinstance(update, Mapping):
        raise GraphExecutionError(
            f"Node {scope.node!r} returned Command(update={type(update).__name__}); an update is a dict."
        )
    goto = command.goto
    if goto is None:
        return _validated(scope, update), None
    items = goto if isinstance(goto, Sequence) and not isinstance(goto, str) else (goto,)
    return _validated(scope, update), tuple(_target(scope, item) for item in items)


def _targets(scope: TaskScope, result: Any) -> tuple[Target, ...] | None:
    if isinstance(result, Send) or _is_end(result):
        return (_target(scope, result),)
    if isinstance(result, list | tuple) and all(isinstance(item, Send) for item in result):
        return tuple(_target(scope, item) for item in result)
    return None


def _target(scope: TaskScope, item: Any) -> Target:
    node = item.node if isinstance(item, Send) else item
    name = _name_of(node)
    if name == END_NAME and not isinstance(item, Send):
        return Target(END_NAME)
    nodes = scope.at.blueprint.nodes
    if name is None or name == START_NAME or name not in nodes:
        shown = repr(name) if name is not None else a(type(node).__name__)
        raise GraphExecutionError(
            f"Node {scope.node!r} sends to {shown}, which is not in the graph. Known nodes: {', '.join(nodes)}."
            f"{did_you_mean(name, tuple(nodes)) if name else ''}"
        )
    if name not in scope.spec.goto:
        raise GraphExecutionError(
            f"Node {scope.node!r} sends to {name!r} without declaring it. Write @node(goto=[{name}, ...]) so that the "
            "graph can be checked and drawn."
        )
    if not isinstance(item, Send) or item.payload is None:
        return Target(name, {} if isinstance(item, Send) else None)
    _, payload = scope.at.schema.take_payload(item.payload, f"the Send of node {scope.node!r}")
    return Target(name, payload)


def _name_of(node: Any) -> str | None:
    if isinstance(node, str):
        return node
    name = getattr(node, "name", None)
    return name if isinstance(name, str) else None


def _is_end(result: Any) -> bool:
    return _name_of(result) == END_NAME


def _validated(scope: TaskScope, update: Mapping[str, Any] | None) -> Update | None:
    if update is None:
        return None
    schema = scope.at.schema
    return schema.take_update(update, scope.spec.writer, scope.at.seed(scope.task) if schema.derives_ids else "")


def _names(changed: Mapping[str, Any]) -> str:
    return ", ".join(repr(name) for name in changed)
