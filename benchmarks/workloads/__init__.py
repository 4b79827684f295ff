"""The workloads on nodestep, a module for each family; importing them registers them."""

from __future__ import annotations

from . import blob, chain, chat, cold, crowd, fan_out, imports, pauses, people

__all__ = ["blob", "chain", "chat", "cold", "crowd", "fan_out", "imports", "pauses", "people"]
