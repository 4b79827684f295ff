"""`@node`: a function becomes a node.

What is wrong with the function or an option is told here, all at once, where the function is written; how the node fits
a graph is checked with the graph.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterable, Iterator, Sequence
from types import BuiltinFunctionType, FunctionType, MethodType
from typing import Any, Concatenate, Generic, ParamSpec, TypeVar, overload

from msgspec import Struct
from msgspec.structs import replace

from ..errors import GraphConfigError
from ..model.node import NodeSpec, Retry
from ..model.schema import StateSchema
from . import signature
from .edges import End, shown
from .node import Node
from .options import (
    alias_problems,
    goto_problems,
    name_problems,
    refuse,
    retry_problems,
    target_name,
    timeout_problems,
)

P = ParamSpec("P")
Q = ParamSpec("Q")
R = TypeVar("R")


class _Options(Struct, frozen=True):
    """The arguments of `@node(...)`, as given."""

    name: str | None
    goto: Sequence[Node | End | str] | None
    timeout: float | None
    retry: Retry | None
    aliases: Sequence[str]

    def problems(self, name: str) -> Iterator[str]:
        yield from name_problems(name, "The name")
        yield from timeout_problems(self.timeout)
        yield from retry_problems(self.retry)
        yield from goto_problems(self.goto)
        yield from alias_problems(self.aliases, name)


class FunctionNode(Node, Generic[P, R]):
    """A node made from a function; calling it calls the function, so that a test can: `review(state)`."""

    __name__: str
    __qualname__: str
    __wrapped__: Callable[P, R]
    _options: _Options
    _is_method: bool

    def __init__(self, function: Callable[P, R], options: _Options) -> None:
        name = function.__name__ if options.name is None else options.name
        is_method = _is_method(function)
        refuse(f"Node {shown(name)}", (*options.problems(name), *_function_problems(function, is_method)))
        takes = signature.read(function, skip_self=is_method)
        spec = NodeSpec(
            name=name,
            function=function,
            call=takes.call(function),
            is_async=inspect.iscoroutinefunction(function),
            goto=tuple(map(target_name, options.goto or ())),
            timeout_s=None if options.timeout is None else float(options.timeout),
            retry=options.retry,
            aliases=tuple(options.aliases),
        )
        super().__init__(spec, (t for t in options.goto or () if isinstance(t, Node)))
        for attribute in ("__module__", "__name__", "__qualname__", "__doc__"):
            object.__setattr__(self, attribute, getattr(function, attribute, None))
        object.__setattr__(self, "__wrapped__", function)
        object.__setattr__(self, "_options", options)
        object.__setattr__(self, "_is_method", is_method)

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R:
        """Call the function as it was written."""
        return self.__wrapped__(*args, **kwargs)

    @overload
    def __get__(self, instance: None, owner: type | None = None) -> FunctionNode[P, R]: ...
    @overload
    def __get__(
        self: FunctionNode[Concatenate[Any, Q], R], instance: object, owner: type | None = None
    ) -> FunctionNode[Q, R]: ...
    def __get__(self, instance: Any, owner: type | None = None) -> FunctionNode[Any, Any]:
        if instance is None or not self._is_method:
            return self
        goto = self._options.goto and [_bound(target, instance) for target in self._options.goto]
        return FunctionNode(MethodType(self.__wrapped__, instance), replace(self._options, goto=goto))

    def problems(self, schema: StateSchema[Any]) -> Iterable[str]:
        """Tells a method that was read from its class, not from an instance."""
        if self._is_method:
            yield (
                f"Node {self.name!r} is the method {self.__qualname__} without an instance. Take it from one: step = "
                f"{self.__qualname__.split('.')[-2]}(...), then START >> step.{self.__name__}."
            )
        yield from super().problems(schema)


def _bound(target: Node | End | str, instance: object) -> Node | End | str:
    """A target of a method's `goto`, which may be another method of the class, as a target of the instance's."""
    if isinstance(target, FunctionNode) and getattr(type(instance), target.__name__, None) is target:
        bound: Node = target.__get__(instance)
        return bound
    return target


@overload
def node(
    function: Callable[P, R],
    /,
    *,
    name: str | None = None,
    goto: Sequence[Node | End | str] | None = None,
    timeout: float | None = None,
    retry: Retry | None = None,
    aliases: Sequence[str] = (),
) -> FunctionNode[P, R]: ...
@overload
def node(
    function: None = None,
    /,
    *,
    name: str | None = None,
    goto: Sequence[Node | End | str] | None = None,
    timeout: float | None = None,
    retry: Retry | None = None,
    aliases: Sequence[str] = (),
) -> Callable[[Callable[P, R]], FunctionNode[P, R]]: ...
def node(
    function: Callable[..., Any] | None = None,
    /,
    *,
    name: str | None = None,
    goto: Sequence[Node | End | str] | None = None,
    timeout: float | None = None,
    retry: Retry | None = None,
    aliases: Sequence[str] = (),
) -> Any:
    """Make a function a node: `@node`, `@node(name=..., ...)`, or `node(obj.method, name=...)`.

    The function may be `def` or `async def`. It takes the state, and the context where a parameter is annotated as
    NodeContext, under any names and in any order; parameters with a default keep it. It returns a dict of updates, a
    `Command`, a `Send` or a list of them, `END`, `None`, or the state it got. A method decorated in its class is a node
    of each instance: `START >> worker.review`.

    - `name`: letters, digits, `_ . -` and space, at most 512; `None` is the function's name.
    - `goto`: the targets of `Command(goto=...)` and `Send`: nodes, END, or names of nodes defined later.
    - `timeout`: seconds that one attempt may take; `None` is no limit.
    - `retry`: how often a failing attempt is made again; `None` is never.
    - `aliases`: former names, by which waiting threads still find the node.

    Raises GraphConfigError, listing everything that is wrong with the function and the options.
    """
    options = _Options(name, goto, timeout, retry, aliases)
    if function is None:
        return lambda decorated: _make(decorated, options)
    return _make(function, options)


def _make(function: Any, options: _Options) -> FunctionNode[Any, Any]:
    _check_is_function(function, options.name)
    return FunctionNode(function, options)


def _function_problems(function: Callable[..., Any], is_method: bool) -> Iterator[str]:
    if inspect.isgeneratorfunction(function) or inspect.isasyncgenfunction(function):
        yield "it yields. Return one update; what a run tells on its way goes through ctx.emit(...)."
    takes = signature.read(function, skip_self=is_method)
    if takes.parameters and takes.parameters[0].name == "cls" and _is_in_class(function):
        yield "it is a class method. Leave @node out and write node(TheClass.method, name='step') below the class."
        return
    yield from takes.problems(function.__name__)


def _is_in_class(function: Callable[..., Any]) -> bool:
    """Whether a function is written in the body of a class and not bound to anything."""
    around = function.__qualname__.rpartition(".")[0]
    return not isinstance(function, MethodType) and bool(around) and not around.endswith("<locals>")


def _is_method(function: Callable[..., Any]) -> bool:
    return _is_in_class(function) and next(iter(inspect.signature(function).parameters), None) == "self"


def _check_is_function(value: Any, name: str | None) -> None:
    """Refuse what is neither a function nor a bound method, saying what to write instead."""
    match value:
        case Node():
            why = "is a node already. Use it as it is; its options go into its own @node(...)."
        case FunctionType(__name__="<lambda>") if name is None:
            why = "has no name. Write node(lambda state: ..., name='step'), or a def."
        case FunctionType() | MethodType(__func__=FunctionType()):
            return
        case str():
            why = f"is text. The name goes by keyword: @node(name={value!r})."
        case type():
            why = "is a class. Decorate a function, or make an instance and write node(instance.method, name='step')."
        case staticmethod():
            why = "is a static method already. Put @staticmethod above @node."
        case classmethod():
            why = "is a class method. Leave @node out and write node(TheClass.method, name='step') below the class."
        case functools.partial():
            why = "is a functools.partial. Write a def that calls it: def step(state): return the_partial(state)."
        case BuiltinFunctionType() | MethodType():
            why = "is not written in Python. Write a def that calls it."
        case _ if callable(value):
            why = "is an object that can be called. Pass its method: node(the_object.method, name='step')."
        case _:
            why = "cannot be called. Decorate a function: @node above def step(state): ..."
    kind = "" if isinstance(value, (Node, FunctionType, type)) else f"the {type(value).__name__} "
    raise GraphConfigError(f"@node takes a function or a bound method, and {kind}{shown(value)} {why}")
