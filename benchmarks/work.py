"""The work of the workloads, the same for every library: sizes, the small step, the messages, the blob, and the checks of
what came out. Knows no library."""

from __future__ import annotations

import random
from collections.abc import Mapping
from typing import Any, Final

CHAIN_STEPS: Final = 1000
DURABLE_STEPS: Final = 300
MESSAGES: Final = 500
MANY_MESSAGES: Final = 5000
FAN_OUT: Final = 1000
PAUSES: Final = 200
HISTORIES: Final = (10, 100, 1000, 1099)
"""Steps before a cold resume; the last is 99 steps past a snapshot that is taken every 100."""
BLOB_STEPS: Final = 200
CROWD: Final = 1000
DURABLE_CROWD: Final = 200
CROWD_STEPS: Final = 5
CROWD_SLEEP_S: Final = 0.001
THREADS: Final = 100_000
QUESTIONS: Final = 10_000
AGENT_TURNS: Final = 100
AGENT_CALLS: Final = 10
"""Calls of a tool in each turn of an agent's model."""
FORKED_HISTORIES: Final = (10, 200, 1000, 10_000)

_ALPHABET: Final = "abcdefghijklmnopqrstuvwxyz0123456789 "
_CHANCE: Final = random.Random(7)
_TEXTS: Final = ["".join(_CHANCE.choices(_ALPHABET, k=200)) for _ in range(1000)]
"""Made when the module is imported, so that no clock of a workload runs meanwhile."""


def small_input() -> dict[str, Any]:
    """The three fields that the small step reads and writes."""
    return {"counter": 0, "label": "start", "total": 0.0}


def small_step(counter: int, total: float) -> dict[str, Any]:
    """What one step makes of them: all three are written."""
    following = counter + 1
    return {"counter": following, "label": f"step-{following}", "total": total + 0.5 * following}


def check_small(state: Mapping[str, Any], steps: int) -> None:
    assert state["counter"] == steps, (state["counter"], steps)
    assert state["label"] == f"step-{steps}", state["label"]
    assert abs(state["total"] - 0.25 * steps * (steps + 1)) < 1e-6, state["total"]


def message(number: int) -> dict[str, str]:
    """One message of a chat, with 200 characters of content."""
    return {"role": "assistant" if number % 2 else "user", "content": _TEXTS[number % len(_TEXTS)]}


def blob() -> dict[str, Any]:
    """A nested dict of about 1 MB of JSON."""
    chance = random.Random(11)
    return {
        "rows": [
            {
                "id": number,
                "name": "".join(chance.choices(_ALPHABET, k=24)),
                "score": chance.random(),
                "tags": ["alpha", "beta", "gamma"],
                "ok": number % 3 == 0,
                "text": "".join(chance.choices(_ALPHABET, k=70)),
            }
            for number in range(5000)
        ]
    }
