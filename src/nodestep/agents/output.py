"""What a model must answer: any type that pydantic knows, as a JSON Schema for the model, and its text read as JSON."""

from __future__ import annotations

from typing import Any

from pydantic import PydanticUserError, TypeAdapter, ValidationError

from ..errors import GraphConfigError, StructuredOutputError
from ..model.json import Json, JsonObject
from ..model.limits import to_json
from ..model.misfits import explain


class Output:
    """An output schema. `schema` is what the model is shown; its `title` is the schema's name."""

    def __init__(self, output_type: Any, what: str) -> None:
        self.name: str = getattr(output_type, "__name__", "output")
        try:
            self._adapter: TypeAdapter[Any] = TypeAdapter(output_type)
            self.schema: JsonObject = {"title": self.name, **self._adapter.json_schema()}
        except PydanticUserError as error:
            reason = str(error).splitlines()[0]
            raise GraphConfigError(
                f"{what}: output_schema={self.name} has no JSON Schema: {reason}. Give a pydantic model, a dataclass, a "
                "TypedDict or another type of JSON values."
            ) from error

    def read(self, text: str) -> Json:
        """What the model answered, checked, in JSON with every default filled in. Raises StructuredOutputError."""
        try:
            value = self._adapter.validate_json(_without_fence(text))
        except ValidationError as error:
            names = frozenset(self.schema.get("properties", ()))
            raise StructuredOutputError(self.name, text, explain(error, names)) from None
        return to_json(self._adapter.dump_python(value, mode="json", by_alias=True), "The model's answer")

    def refused(self, words: str) -> StructuredOutputError:
        """The error for a model that refused to answer."""
        return StructuredOutputError(self.name, words, "the model refused")


def _without_fence(text: str) -> str:
    """The text inside a Markdown fence, which models like to put around JSON; all of it where there is none."""
    text = text.strip()
    if text.startswith("```") and text.endswith("```"):
        return text[3:-3].removeprefix("json").strip()
    return text
