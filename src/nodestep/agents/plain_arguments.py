"""Arguments of plain JSON types: a call that gives them exactly is read by one walk, and read no differently than by the
tool's model."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ..model.canonical import encode
from ..model.json import JsonObject
from ..model.limits import MAX_DEPTH, MAX_PAYLOAD_BYTES, NotJson, Unfit, own_json
from ..model.shapes import Shape, shape_of


@dataclass(frozen=True, slots=True)
class PlainArguments:
    """The parameters of a function by name, each of a plain JSON type; `defaults` are those that fit their type exactly."""

    shapes: Mapping[str, Shape]
    defaults: Mapping[str, Any]

    def read(self, given: Mapping[str, Any]) -> tuple[JsonObject, dict[str, Any]] | None:
        """The arguments as JSON and, not shared with it, as the function takes them: all in the order of the parameters,
        with every default. `None` for a call that does not give them exactly, or that is beyond a limit."""
        if not isinstance(given, dict):
            return None
        try:
            own = own_json(given)
            if not self.shapes.keys() >= own.keys():
                return None
            json = {name: own[name] if name in own else own_json(self.defaults[name]) for name in self.shapes}
            taken = {name: shape.own(json[name]) for name, shape in self.shapes.items()}
        except (KeyError, NotJson, Unfit):
            return None
        return (json, taken) if len(encode(json)) <= MAX_PAYLOAD_BYTES else None


def plain_arguments(annotations: Mapping[str, Any], defaults: Mapping[str, Any]) -> PlainArguments | None:
    """How to read these parameters, `None` where one of them is of another type."""
    shapes = {name: shape_of(annotation, MAX_DEPTH - 1) for name, annotation in annotations.items()}
    known = {name: shape for name, shape in shapes.items() if shape is not None}
    if len(known) < len(shapes):
        return None
    return PlainArguments(known, {name: value for name, value in defaults.items() if _fits(known[name], value)})


def _fits(shape: Shape, value: Any) -> bool:
    try:
        shape.own(value)
    except (NotJson, Unfit):
        return False
    return True
