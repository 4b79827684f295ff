"""What a node returned, read: the update it made and where it sends the thread."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import CoroutineType
from typing import TYPE_CHECKING, Any, NamedTuple

from ..errors import GraphExecutionError, a, did_you_mean
from ..model.ids import END as END_NAME
from ..model.ids import START as START_NAME
from ..model.node import Command, Send
from ..model.outcome import Target
from ..model.patch import NO_PATCH, Patch
from ..model.schema import Update

if TYPE_CHECKING:
    from .context import TaskScope


class Writes(NamedTuple):
    """`as_given` is the update as the node wrote it, `update` the same validated; `goto` is `None` to follow the edges."""

    as_given: Mapping[str, Any] | None
    update: Update | None
    goto: tuple[Target, ...] | None

    @property
    def patch(self) -> Patch:
        return NO_PATCH if self.update is None else self.update.patch

    def shown(self, scope: TaskScope) -> dict[str, Any] | None:
        """A copy of the update for a hook."""
        if self.update is None:
            return None if self.as_given is None else {}
        return scope.at.schema.shown(self.update)

    def replaced(self, scope: TaskScope, value: Any) -> Writes:
        """The writes with another update, as an `after_node` hook asked for."""
        if value is not None and not isinstance(value, Mapping):
            raise GraphExecutionError(
                f"after_node of node {scope.node!r} replaced the update with {type(value).__name__}; an update is a dict."
            )
        return self._replace(as_given=value, update=_validated(scope, value))


def read_writes(scope: TaskScope, result: Any) -> Writes:
    """Raises GraphExecutionError for a result of another kind, and the errors of a bad update."""
    schema = scope.at.schema
    view = scope.view
    changed = None if view is None else schema.changes(view, scope.values)
    if result is view and view is not None:
        return Writes(changed or None, _validated(scope, changed or None), None)
    if changed:
        raise GraphExecutionError(
            f"Node {scope.node!r} changed {_names(changed)} of its state in place and returned something else, so the "
            "change would be lost. Return the state itself, or an update such as {'field': value}."
        )
    if type(result) is dict:  # by far the most frequent, and the check for any mapping is dear
        return Writes(result, _validated(scope, result), None)
    if result is None:
        return Writes(None, None, None)
    if isinstance(result, Command):
        return _read_command(scope, result)
    if isinstance(result, Mapping):
        return Writes(result, _validated(scope, result), None)
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
    return Writes(None, None, targets)


def _read_command(scope: TaskScope, command: Command) -> Writes:
    update = command.update
    if update is not None and not isinstance(update, Mapping):
        raise GraphExecutionError(
            f"Node {scope.node!r} returned Command(update={type(update).__name__}); an update is a dict."
        )
    goto = command.goto
    if goto is None:
        return Writes(update, _validated(scope, update), None)
    items = goto if isinstance(goto, Sequence) and not isinstance(goto, str) else (goto,)
    return Writes(update, _validated(scope, update), tuple(_target(scope, item) for item in items))


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
    if not update:
        return None
    schema = scope.at.schema
    return schema.take_update(update, scope.spec.writer, scope.at.seed(scope.task) if schema.derives_ids else "")


def _names(changed: Mapping[str, Any]) -> str:
    return ", ".join(repr(name) for name in changed)
