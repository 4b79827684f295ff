"""`frozen_value`: the decorator of the small values that every superstep makes.

They are frozen as the dataclasses around them are: the type checker refuses an assignment, wherever it stands. At run time
they are plain, since a dataclass that is frozen there sets each field through a call, which costs more than the rest of a
superstep's bookkeeping. Values that users hold are frozen at run time too.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TypeVar, dataclass_transform

T = TypeVar("T")


@dataclass_transform(frozen_default=True, field_specifiers=(field,))
def frozen_value(cls: type[T]) -> type[T]:
    """A dataclass with slots, equal and hashed by its fields."""
    return dataclass(slots=True, unsafe_hash=True)(cls)
