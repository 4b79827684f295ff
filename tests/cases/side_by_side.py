"""Nodes of the cases about tasks side by side: they ask, and they count."""

from __future__ import annotations

from collections import Counter
from typing import Any

from nodestep import interrupt
from tests.running.making import Log, does


def asks(name: str, ran: Counter[str] | None = None, payload: Any = "?"):
    """A node that asks `sign_off` and writes down what it was answered."""

    def body(state: Log):
        if ran is not None:
            ran[name] += 1
        return {"log": [f"{name}: {interrupt(payload, id='sign_off')}"]}

    return does(name, body)


def counts(name: str, ran: Counter[str]):
    def body(state: Log):
        ran[name] += 1
        return {"log": [name]}

    return does(name, body)
