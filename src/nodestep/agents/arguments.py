"""The arguments of a tool: its parameters read into a model, and the arguments of a call read by it.

A call's arguments have one form: JSON by parameter name, checked, with every default filled in. A person is shown this
form, and it is what runs.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from inspect import Parameter
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError, create_model
from pydantic.fields import FieldInfo

from ..errors import GraphConfigError, StateStoreError
from ..flow.signature import Names
from ..model.canonical import encode
from ..model.copying import same, same_json
from ..model.json import Json, JsonObject
from ..model.limits import NotJson, Unfit, refuse_hidden, to_json
from ..model.misfits import explain
from .context import ToolContext
from .plain_arguments import PlainArguments, plain_arguments

_FLAT = (Parameter.POSITIONAL_OR_KEYWORD, Parameter.KEYWORD_ONLY)


class ArgumentsError(ValueError):
    """Arguments that do not fit a tool; the text is for the model that gave them."""


@dataclass(frozen=True, slots=True)
class Checked:
    """Arguments that fit their tool: `json` as people and hooks see them, `keywords` as the function takes them."""

    json: JsonObject
    keywords: Mapping[str, Any]

    def is_same(self, other: Checked) -> bool:
        """Whether a function could not tell them apart; sets have no order, whatever their JSON says."""
        return same_json(self.json, other.json) or same(dict(self.keywords), dict(other.keywords))


@dataclass(frozen=True, slots=True)
class Arguments:
    """What a function takes: its input as a model, the parameter of each field, and the one of the context."""

    model: type[BaseModel]
    parameters: Mapping[str, str]
    whole: str | None
    """The parameter that takes the model itself, where the tool has an `input_model`."""
    context: str | None
    result: TypeAdapter[Any] | None
    plain: PlainArguments | None
    """How they are read without the model, where every parameter has a plain JSON type."""

    def schema(self) -> JsonObject:
        """The JSON Schema that a model is shown."""
        return {**self.model.model_json_schema(), "additionalProperties": False, "title": self.model.__name__}

    def check(self, given: Mapping[str, Any]) -> Checked:
        """Read the arguments of a call. Raises ArgumentsError, which says what does not fit and never with which value."""
        exact = None if self.plain is None else self.plain.read(given)
        if exact is not None:
            return Checked(*exact)
        try:
            told: JsonObject = to_json(given, "The arguments")
            read = self.model.model_validate_json(encode(told))
            refuse_hidden(read)
            own: JsonObject = to_json(read.model_dump(mode="json", by_alias=True, round_trip=True), "The arguments")
        except ValidationError as error:
            raise ArgumentsError(f"{explain(error, self.names)}. {self._known()}") from None
        except (StateStoreError, Unfit, NotJson) as error:
            raise ArgumentsError(f"they are no JSON that can be stored: {error}") from None
        no_numbers = sorted(name for name in told.keys() & own.keys() if _counts_truths(told[name], own[name]))
        if no_numbers:
            raise ArgumentsError(f"{', '.join(no_numbers)}: true and false are no numbers")
        if self.whole is not None:
            return Checked(own, {self.whole: read})
        return Checked(own, {name: getattr(read, field) for field, name in self.parameters.items()})

    @property
    def names(self) -> frozenset[str]:
        """The names of the arguments, as a call gives them."""
        return frozenset(field.alias or name for name, field in self.model.model_fields.items())

    def _known(self) -> str:
        known = ", ".join(sorted(self.names))
        return f"The tool takes: {known}." if known else "The tool takes no arguments."


def _counts_truths(told: Json, own: Json) -> bool:
    """Whether a truth value was taken for a number: pydantic reads `true` as 1, and a rule that compares numbers would let it
    pass."""
    if isinstance(told, dict) and isinstance(own, dict):
        return any(_counts_truths(told[name], own[name]) for name in told.keys() & own.keys())
    if isinstance(told, list) and isinstance(own, list):
        return any(map(_counts_truths, told, own))
    return type(told) is bool and type(own) in (int, float)


def read_arguments(function: Callable[..., Any], title: str, input_model: type[BaseModel] | None) -> Arguments:
    """What a function takes as a tool. Raises GraphConfigError, whose lines say everything that is wrong."""
    source = inspect.unwrap(function)
    names = Names(getattr(source, "__func__", source), ToolContext)
    signature = inspect.signature(function)
    parameters = list(signature.parameters.values())
    contexts = [each for each in parameters if names.is_context(each.annotation)]
    inputs = [each for each in parameters if each not in contexts]
    types = {each.name: _annotation(names, each.annotation) for each in inputs}
    problems = [*_problems(contexts, inputs, types)]
    if input_model is not None:
        problems += _model_problems(input_model, inputs)
    if problems:
        raise GraphConfigError("\n".join(problems))
    model = _narrowed(input_model, title) if input_model is not None else _made(function, title, inputs, types)
    defaults = {each.name: each.default for each in inputs if each.default is not Parameter.empty}
    return Arguments(
        model,
        {} if input_model is not None else {f"p{at}": each.name for at, each in enumerate(inputs)},
        inputs[0].name if input_model is not None else None,
        contexts[0].name if contexts else None,
        _result_adapter(_annotation(names, signature.return_annotation)),
        plain_arguments(types, defaults) if input_model is None else None,
    )


def _annotation(names: Names, annotation: Any) -> Any:
    return names.value(annotation) if isinstance(annotation, str) else annotation


def _problems(contexts: list[Parameter], inputs: list[Parameter], types: Mapping[str, Any]) -> Iterator[str]:
    if len(contexts) > 1:
        yield f"the parameters {' and '.join(repr(each.name) for each in contexts)} are both a ToolContext. Keep one."
    for each in inputs:
        name, annotation = each.name, types[each.name]
        if name in ("self", "cls"):
            yield f"it is a method. Take it from an instance: tool(the_object.method), not above its def ({name!r})."
        elif each.kind not in _FLAT:
            yield f"the parameter {name!r} is variadic or positional-only, and a model gives arguments by name."
        elif annotation is Parameter.empty:
            yield f"the parameter {name!r} has no annotation. Write its type, as in {name}: str."
        elif isinstance(annotation, str):
            yield f"the annotation {annotation!r} of parameter {name!r} is not known at run time. Import its names."
        elif isinstance(each.default, FieldInfo):
            yield f"the default of parameter {name!r} is a Field. Write {name}: Annotated[..., Field(...)] = value."
        elif each.default is not Parameter.empty:
            yield from _default_problems(each, annotation)


def _default_problems(parameter: Parameter, annotation: Any) -> Iterator[str]:
    try:
        TypeAdapter(annotation).validate_python(parameter.default)
    except ValidationError:
        yield f"the default of parameter {parameter.name!r} does not fit its annotation."
    except Exception:  # a type that pydantic does not know is told with the model
        return


def _model_problems(input_model: Any, inputs: list[Parameter]) -> Iterator[str]:
    if not (isinstance(input_model, type) and issubclass(input_model, BaseModel)):
        yield f"input_model= takes a pydantic model, not {input_model!r}."
    if len(inputs) != 1:
        yield f"with input_model= the function takes that model and nothing else, and it has {len(inputs)} parameters."


def _narrowed(input_model: type[BaseModel], title: str) -> type[BaseModel]:
    """The model, under the tool's title and refusing unknown arguments."""
    body = {"model_config": ConfigDict(extra="forbid"), "__module__": input_model.__module__, "__doc__": None}
    try:
        return type(title, (input_model,), body)
    except Exception as error:  # as a RootModel, which has no arguments with names
        raise GraphConfigError(f"its input_model has no named arguments: {str(error).splitlines()[0]}") from error


def _made(
    function: Callable[..., Any], title: str, inputs: list[Parameter], types: Mapping[str, Any]
) -> type[BaseModel]:
    """A model with a field per parameter. Fields have names of our own, so that no parameter's name can clash with what
    pydantic's models have."""
    fields: dict[str, Any] = {}
    for at, each in enumerate(inputs):
        default = ... if each.default is Parameter.empty else each.default
        fields[f"p{at}"] = (types[each.name], Field(default, alias=each.name))
    try:
        return create_model(title, __config__=ConfigDict(extra="forbid"), __module__=function.__module__, **fields)
    except Exception as error:  # pydantic has several ways to say that it does not know a type
        raise GraphConfigError(f"its parameters have no JSON form: {str(error).splitlines()[0]}") from error


def _result_adapter(annotation: Any) -> TypeAdapter[Any] | None:
    if annotation is Parameter.empty or annotation is Any:
        return None
    if isinstance(annotation, str):
        raise GraphConfigError(
            f"the annotation {annotation!r} of its result is not known at run time. Import its names."
        )
    try:
        return TypeAdapter(annotation)
    except Exception as error:  # as above
        raise GraphConfigError(f"its result has no JSON form: {str(error).splitlines()[0]}") from error
