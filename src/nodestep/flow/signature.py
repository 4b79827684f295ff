"""How a node's function wants to be called: which parameter is the state, and which the context.

The context is known by its annotation, under any name and in any place; the state is the other parameter. Annotations
may be text, may name things that exist for type checkers only, and are looked up one by one, so that one that cannot be
resolved harms nothing.
"""

from __future__ import annotations

import ast
import inspect
import sys
import typing
from collections import ChainMap
from collections.abc import Callable, Iterator, Mapping
from inspect import Parameter
from types import FrameType, UnionType
from typing import Any, TypeAlias

from msgspec import Struct

from ..model.locks import cached_property
from ..model.node import NodeContext

Call: TypeAlias = Callable[[Any, Any], Any]

_POSITIONAL = (
    Parameter.POSITIONAL_ONLY,
    Parameter.POSITIONAL_OR_KEYWORD,
    Parameter.VAR_POSITIONAL,
)
_VARIADIC = (Parameter.VAR_POSITIONAL, Parameter.VAR_KEYWORD)


class Signature(Struct, frozen=True):
    """What of a function's parameters matters to a node: all of them in order, those that take the state, those that
    take the context, and the annotations that nothing at run time explains."""

    parameters: tuple[Parameter, ...]
    states: tuple[Parameter, ...]
    contexts: tuple[Parameter, ...]
    unknown: frozenset[str] = frozenset()

    def problems(self, name: str) -> Iterator[str]:
        """What keeps the function from being called with a state and a context."""
        write = f"Write def {name if name.isidentifier() else 'step'}"
        if not self.states:
            context = f", {self.contexts[0].name}: NodeContext" if self.contexts else ""
            yield f"it takes no state. {write}(state: YourState{context})."
        if len(self.states) > 1:
            names = " and ".join(repr(p.name) for p in self.states)
            yield f"the parameters {names} have no default, and a node gets one state. {self._advice(write)}"
        if len(self.contexts) > 1:
            names = " and ".join(repr(p.name) for p in self.contexts)
            yield f"the parameters {names} are both annotated as NodeContext. Keep one of them."
        for late in (*self.states, *self.contexts):
            if late.kind is Parameter.POSITIONAL_ONLY and self._place(late) is None:
                yield f"the parameter {late.name!r} is positional-only, behind others. Move it to the front."

    def _advice(self, write: str) -> str:
        for parameter in self.states:
            if isinstance(parameter.annotation, str) and parameter.annotation in self.unknown:
                return (
                    f"The annotation {parameter.annotation!r} of {parameter.name!r} is not known at run time: if it is the "
                    "context, import NodeContext under its own name, or outside of `if TYPE_CHECKING:`."
                )
        return (
            f"{write}(state: YourState, ctx: NodeContext); the context is known by that annotation, and what else the "
            "node needs comes from ctx.context."
        )

    def call(self, function: Callable[..., Any]) -> Call:
        """`function` as a callable of state and context, made once so that each call is cheap."""
        state = self.states[0]
        at, s_name = self._place(state), state.name
        if not self.contexts:
            if at == 0:
                return lambda s, _: function(s)
            return lambda s, _: function(**{s_name: s})
        context = self.contexts[0]
        c_name = context.name
        match at, self._place(context):
            case 0, 1:
                return function
            case 1, 0:
                return lambda s, c: function(c, s)
            case 0, _:
                return lambda s, c: function(s, **{c_name: c})
            case _, 0:
                return lambda s, c: function(c, **{s_name: s})
        return lambda s, c: function(**{s_name: s, c_name: c})

    def _place(self, parameter: Parameter) -> int | None:
        """The position at which a parameter is passed; `None` where it goes by its name."""
        place = self.parameters.index(parameter)
        return place if place < 2 and parameter.kind is not Parameter.KEYWORD_ONLY else None


def read(function: Callable[..., Any], *, skip_self: bool = False) -> Signature:
    """What a node's function takes."""
    source = inspect.unwrap(function)
    names = Names(getattr(source, "__func__", source), NodeContext)
    every = tuple(inspect.signature(function).parameters.values())[1 if skip_self else 0 :]
    contexts = tuple(p for p in every if names.is_context(p.annotation))
    others = tuple(p for p in every if p not in contexts)
    required = tuple(p for p in others if p.default is Parameter.empty and p.kind not in _VARIADIC)
    states = required or tuple(p for p in others if p.kind in _POSITIONAL)[:1]
    return Signature(every, states, contexts, frozenset(names.unknown))


class Names:
    """What the names in a function's annotations stand for: its globals, its closure, and the locals of the functions
    around it that still run. `context` is the type that says of a parameter that it takes the context."""

    def __init__(self, function: Callable[..., Any], context: type) -> None:
        self._function = function
        self._context = context
        self._globals: dict[str, Any] = getattr(function, "__globals__", {})
        self.unknown: set[str] = set()

    def is_context(self, annotation: Any) -> bool:
        """Whether an annotation is the context's type, also as `NodeContext | None` or inside `Annotated`."""
        if isinstance(annotation, typing.ForwardRef):
            annotation = annotation.__forward_arg__
        if isinstance(annotation, str):
            annotation = self.value(annotation)
        if isinstance(annotation, str):
            return _says(annotation, self._context.__name__)
        origin = typing.get_origin(annotation)
        if origin in (typing.Union, UnionType):
            return any(map(self.is_context, typing.get_args(annotation)))
        if origin is typing.Annotated:
            return self.is_context(typing.get_args(annotation)[0])
        kind = annotation if origin is None else origin
        return isinstance(kind, type) and self._context in kind.__mro__

    def value(self, text: str) -> Any:
        """What the text of an annotation means here; the text itself where it means nothing."""
        try:
            return eval(text, self._globals, self._locals)
        except Exception:  # whatever the text does
            self.unknown.add(text)
            return text

    @cached_property
    def _locals(self) -> Mapping[str, Any]:
        """The names around the function that are not global, the innermost first."""
        code = getattr(self._function, "__code__", None)
        if code is None:
            return {}
        cells = zip(code.co_freevars, self._function.__closure__ or (), strict=False)
        closure = {name: cell.cell_contents for name, cell in cells if _is_filled(cell)}
        return ChainMap(closure, *_locals_around(self._function.__qualname__, self._globals))


def _locals_around(name: str, globals: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """The locals of the function that is just defining the one of this qualified name."""
    around = name.rpartition(".<locals>.")[0]
    frame: FrameType | None = sys._getframe()
    while around and frame is not None:
        if frame.f_code.co_qualname == around and frame.f_globals is globals:
            yield frame.f_locals
        frame = frame.f_back


def _says(annotation: str, name: str) -> bool:
    """Whether an annotation that holds something unknown at run time names this type."""
    try:
        tree = ast.parse(annotation, mode="eval")
    except SyntaxError:
        return False
    for part in ast.walk(tree):
        match part:
            case ast.Name(id=found) | ast.Attribute(attr=found) if found == name:
                return True
            case ast.Constant(value=str(text)) if _says(text, name):
                return True
    return False


def _is_filled(cell: Any) -> bool:
    try:
        cell.cell_contents  # noqa: B018 - an empty cell raises
    except ValueError:
        return False
    return True
