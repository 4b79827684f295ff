"""`@tool`: a typed function becomes what a model can call."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from types import FunctionType, MethodType
from typing import Any, Generic, ParamSpec, TypeVar, overload

from pydantic import BaseModel

from ..chat import ToolDefinition
from ..errors import GraphConfigError
from ..flow.options import refuse
from ..middleware.predicates import Predicate
from ..middleware.rules import must_ask
from ..model.json import JsonObject
from ..model.locks import cached_property
from .arguments import Arguments, read_arguments

P = ParamSpec("P")
R = TypeVar("R")

_NAME = re.compile(r"[a-zA-Z0-9_-]{1,64}")


@dataclass(frozen=True, eq=False, repr=False)
class Tool(Generic[P, R]):
    """A typed function that a model can call; calling it calls the function, so that a test can. Made by `@tool`."""

    name: str
    description: str
    function: Callable[P, R]
    takes: Arguments
    needs_approval: bool | Predicate = False

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R:
        """Call the function as it was written."""
        return self.function(*args, **kwargs)

    @cached_property
    def is_async(self) -> bool:
        """Whether the function is `async def`."""
        return inspect.iscoroutinefunction(self.function)

    def input_schema(self) -> JsonObject:
        """The JSON Schema of the arguments, as the model is shown it: no further properties, `<CamelName>Input` as title."""
        return self.takes.schema()

    @cached_property
    def definition(self) -> ToolDefinition:
        """The tool as a model is told of it."""
        return ToolDefinition(self.name, self.description, self.input_schema())

    def asks_for(self, arguments: JsonObject) -> bool:
        """Whether the tool itself wants a call with these arguments approved. What is unclear is asked."""
        match self.needs_approval:
            case bool(always):
                return always
            case predicate:
                return must_ask(predicate, arguments)

    def __repr__(self) -> str:
        return f"<tool {self.name!r}>"


@overload
def tool(
    function: Callable[P, R],
    /,
    *,
    name: str | None = None,
    description: str | None = None,
    input_model: type[BaseModel] | None = None,
    needs_approval: bool | Predicate = False,
) -> Tool[P, R]: ...
@overload
def tool(
    function: None = None,
    /,
    *,
    name: str | None = None,
    description: str | None = None,
    input_model: type[BaseModel] | None = None,
    needs_approval: bool | Predicate = False,
) -> Callable[[Callable[P, R]], Tool[P, R]]: ...
def tool(
    function: Callable[..., Any] | None = None,
    /,
    *,
    name: str | None = None,
    description: str | None = None,
    input_model: type[BaseModel] | None = None,
    needs_approval: bool | Predicate = False,
) -> Any:
    """Make a function a tool: `@tool`, `@tool(name=..., ...)`, or `tool(obj.method)`.

    The function may be `def` or `async def`. Every parameter has an annotation, and the model is shown them as a JSON
    Schema; one that is annotated as ToolContext takes the context, and no model sees it. What it returns must fit its
    return annotation and have a JSON form.

    - `name`: what the model calls it, 1 to 64 of `a-z A-Z 0-9 _ -`; `None` is the function's name.
    - `description`: what the model is told about it; `None` is the function's docstring, and one of them is required.
    - `input_model`: a pydantic model of the arguments, of which the function takes an instance instead.
    - `needs_approval`: `True`, or a predicate over the arguments such as `gt("amount", 100)`: a person must approve the
      call wherever it is made. A predicate that raises, or does not answer with a `bool`, asks.

    Raises GraphConfigError, listing everything that is wrong.
    """
    if function is None:
        return lambda decorated: _make(decorated, name, description, input_model, needs_approval)
    return _make(function, name, description, input_model, needs_approval)


def _make(
    function: Any,
    name: Any,
    description: Any,
    input_model: type[BaseModel] | None,
    needs_approval: Any,
) -> Tool[Any, Any]:
    if not isinstance(function, FunctionType | MethodType):
        raise GraphConfigError(
            f"@tool takes a function or a bound method, not {function!r}. Write @tool above a def; a name goes by keyword."
        )
    named = function.__name__ if name is None else name
    told = inspect.cleandoc(function.__doc__ or "") if description is None else description
    problems = [*name_problems(named, told)]
    if inspect.isgeneratorfunction(function) or inspect.isasyncgenfunction(function):
        problems.append("it yields. Return one result; what a tool tells on its way goes through ctx.emit(...).")
    if not isinstance(needs_approval, bool) and not callable(needs_approval):
        problems.append("needs_approval= takes True, False or a predicate, as in needs_approval=gt('amount', 100).")
    takes = None
    try:
        takes = read_arguments(function, input_title(str(named)), input_model)
    except GraphConfigError as error:
        problems += str(error).splitlines()
    refuse(f"Tool {named!r}", problems)
    assert takes is not None
    return Tool(named, told, function, takes, needs_approval)


def name_problems(name: object, description: object) -> Iterator[str]:
    """What keeps a model from being told of a tool."""
    if not isinstance(name, str) or not _NAME.fullmatch(name):
        yield "its name must be 1 to 64 of a-z A-Z 0-9 _ -. Pass one with name=."
    if not isinstance(description, str) or not description.strip():
        yield "it has no description for the model. Write a docstring, or pass description=."


def input_title(name: str) -> str:
    """`<CamelName>Input`: `lookup_order` becomes `LookupOrderInput`."""
    return "".join(part[:1].upper() + part[1:] for part in re.split(r"[_-]+", name)) + "Input"
