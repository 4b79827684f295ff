"""The workloads on nodestep, a module for each family; importing them registers them."""

from __future__ import annotations

from . import agent, blob, chain, chat, cold, crowd, fan_out, imports, pauses, people

__all__ = ["agent", "blob", "chain", "chat", "cold", "crowd", "fan_out", "imports", "pauses", "people"]
