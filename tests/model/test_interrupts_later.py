"""Questions of a page, whose fields are made when they are first read."""

from __future__ import annotations

import copy
import dataclasses
import pickle
from typing import Any

import pytest

from nodestep import Interrupt

KEY = "review:publish"


def made(payload: Any) -> Interrupt:
    return Interrupt(KEY, "publish", "review", "review", payload, "t", pause=3, assignee="Ann")


def listed(payload: Any = "?") -> Interrupt:
    return Interrupt.later(made, [payload])[0]


def test_it_is_the_same_as_one_made_at_once():
    for name in (field.name for field in dataclasses.fields(Interrupt)):
        assert getattr(listed(), name) == getattr(made("?"), name)
    assert listed() == made("?")
    assert repr(listed()) == repr(made("?"))


def test_nothing_is_made_before_a_field_is_read():
    calls: list[str] = []

    def make(payload: str) -> Interrupt:
        calls.append(payload)
        return made(payload)

    (interrupt,) = Interrupt.later(make, ["?"])
    assert calls == []
    assert [interrupt.payload, interrupt.key, interrupt.assignee, calls] == ["?", KEY, "Ann", ["?"]]


@pytest.mark.parametrize("again", [copy.copy, copy.deepcopy, lambda value: pickle.loads(pickle.dumps(value))])
def test_it_survives_copying_before_and_after_it_was_read(again: Any):
    fresh, read = listed(), listed()
    assert read.key == KEY
    assert again(fresh) == again(read) == made("?")
    assert again(fresh).assignee == "Ann"


def test_it_is_frozen_and_has_no_other_fields():
    with pytest.raises(dataclasses.FrozenInstanceError):
        listed().payload = "!"  # type: ignore[misc]
    with pytest.raises(AttributeError, match="'Interrupt' object has no attribute 'prompt'"):
        listed().prompt  # type: ignore[attr-defined]  # noqa: B018
