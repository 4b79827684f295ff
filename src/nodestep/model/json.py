"""The types of JSON values as Python holds them: the only place where `Any` stands for data."""

from __future__ import annotations

from typing import Any, TypeAlias

Json: TypeAlias = Any
"""`None`, `bool`, `int`, `float`, `str`, a list of these, or a dict from `str` to these."""

JsonObject: TypeAlias = dict[str, Any]
