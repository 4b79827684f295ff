"""Typed answers: a type as JSON Schema, an answer checked against one, and an answer as the type.

The schema travels with the question, so any front end can check an answer without the graph. It is data, and may have been
tampered with: nothing here compiles it to code, and no reference leads out of it.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel, PydanticSchemaGenerationError, PydanticUserError, ValidationError
from pydantic.errors import PydanticInvalidForJsonSchema

from .canonical import encode
from .json import Json, JsonObject

if TYPE_CHECKING:
    from pydantic import TypeAdapter

SHOWN_CHARACTERS = 200


class Misfit(Exception):  # noqa: N818 - a finding on its way to the place that can name the question
    """An answer that does not fit; the text says where and which rule, never the value."""


@lru_cache(maxsize=256)
def _adapter(answer_type: Any) -> TypeAdapter[Any]:
    return _new_adapter(answer_type)


def _adapter_of(answer_type: Any) -> TypeAdapter[Any]:
    try:
        return _adapter(answer_type)
    except TypeError:
        return _new_adapter(answer_type)  # not hashable, such as Annotated[str, {"a": 1}]


def _new_adapter(answer_type: Any) -> TypeAdapter[Any]:
    from pydantic import TypeAdapter

    return TypeAdapter(answer_type)


def schema_of(answer_type: Any) -> JsonObject:
    """The JSON Schema of a type. Raises Misfit for a type that has none."""
    try:
        return _adapter_of(answer_type).json_schema()
    except (PydanticSchemaGenerationError, PydanticUserError, PydanticInvalidForJsonSchema) as error:
        raise Misfit(f"the type has no JSON Schema: {type(error).__name__}") from error


def by_schema_names(answer: Any) -> Any:
    """An answer that is a model, as JSON with the names that its schema has: its aliases."""
    return answer.model_dump(mode="json", by_alias=True) if isinstance(answer, BaseModel) else answer


def check_answer(answer: Json, schema: JsonObject) -> None:
    """Raises Misfit where a JSON value does not fit a schema, or the schema is none."""
    # Loaded on first use: most programs never ask for a typed answer.
    from jsonschema import Draft202012Validator
    from jsonschema.exceptions import SchemaError, best_match
    from referencing import Registry
    from referencing.exceptions import Unresolvable

    try:
        Draft202012Validator.check_schema(schema)
        validator = Draft202012Validator(
            schema, registry=Registry(), format_checker=Draft202012Validator.FORMAT_CHECKER
        )
        error = best_match(validator.iter_errors(answer))
    except SchemaError:
        raise Misfit("its question's answer schema is no JSON Schema") from None
    except RecursionError:
        raise Misfit("its question's answer schema refers to itself without end") from None
    except Unresolvable:
        raise Misfit("its question's answer schema refers to something outside itself") from None
    if error is not None:
        where = "".join(f"[{part!r}]" for part in error.absolute_path) or "the answer"
        raise Misfit(f"{where} breaks the rule {error.validator} = {_shown(error.validator_value)}")


def as_type(answer: Json, answer_type: Any) -> Any:
    """A JSON answer as the type. Raises Misfit where the type refuses what its schema let through."""
    try:
        return _adapter_of(answer_type).validate_json(encode(answer))
    except ValidationError as error:
        rules = ", ".join(
            dict.fromkeys(found["type"] for found in error.errors(include_url=False, include_input=False))
        )
        raise Misfit(f"the type refused it ({rules})") from None


def _shown(rule: Any) -> str:
    text = repr(rule)
    return text if len(text) <= SHOWN_CHARACTERS else f"{text[:SHOWN_CHARACTERS]}…"
