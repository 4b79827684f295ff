"""Values whose dataclass methods are made at first use: they are what dataclasses with slots would be."""

from __future__ import annotations

import copy
import dataclasses
import inspect
import pickle
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar

import pytest

from nodestep.model import value as values
from nodestep.model.value import locked_value

T = TypeVar("T")


@locked_value
class Plain:
    """A value with a default and a factory."""

    name: str
    size: int = 1
    tags: list[str] = field(default_factory=list, compare=False, repr=False)

    @property
    def double(self) -> int:
        return self.size * 2


@locked_value
class Locked(Generic[T]):
    """A generic value with an argument by keyword."""

    item: T
    note: str | None = field(default=None, kw_only=True)


MADE: list[Callable[[], Any]] = [lambda: Plain("a", 2), lambda: Locked("a", note="b")]


@pytest.mark.parametrize("make", MADE)
def test_two_of_the_same_fields_are_equal_and_hash_alike(make: Callable[[], Any]):
    assert make() == make()
    assert hash(make()) == hash(make())


def test_values_of_other_fields_differ():
    assert Plain("a") != Plain("a", 2)
    assert Locked("a") != Locked("a", note="b")
    assert Plain("a", tags=["x"]) == Plain("a")


def test_defaults_and_factories_are_used():
    one, other = Plain("a"), Plain("a")
    assert [one.size, one.tags, one.double, Locked(1).note] == [1, [], 2, None]
    assert one.tags is not other.tags


def test_a_value_is_shown_with_its_fields():
    assert [repr(Plain("a")), repr(Locked("a"))] == ["Plain(name='a', size=1)", "Locked(item='a', note=None)"]


def test_a_value_is_matched_and_replaced_by_its_fields():
    match Plain("a", 2):
        case Plain(name, size):
            assert (name, size) == ("a", 2)
    assert dataclasses.replace(Plain("a"), size=7) == Plain("a", 7)
    assert dataclasses.is_dataclass(Locked)


def test_a_value_has_slots_and_no_room_for_more():
    assert not hasattr(Plain("a"), "__dict__")
    with pytest.raises(AttributeError):
        Plain("a").other = 1  # type: ignore[attr-defined]


def test_a_locked_value_refuses_changes():
    held = Locked("a")
    with pytest.raises(dataclasses.FrozenInstanceError, match="item"):
        held.item = "b"  # type: ignore[misc]
    with pytest.raises(dataclasses.FrozenInstanceError, match="other"):
        held.other = "b"  # type: ignore[attr-defined]
    with pytest.raises(dataclasses.FrozenInstanceError, match="item"):
        del held.item


@pytest.mark.parametrize("make", MADE)
@pytest.mark.parametrize("again", [copy.copy, copy.deepcopy, lambda one: pickle.loads(pickle.dumps(one))])
def test_a_value_survives_copying(make: Callable[[], Any], again: Callable[[Any], Any]):
    assert again(make()) == make()


def test_its_signature_is_that_of_its_fields():
    assert list(inspect.signature(Plain).parameters) == ["name", "size", "tags"]


def test_the_methods_are_made_at_first_use_and_once(monkeypatch: pytest.MonkeyPatch):
    finished: list[str] = []

    def counted(**options: Any) -> Callable[[type], type]:
        def finish(cls: type) -> type:
            finished.append(cls.__name__)
            return dataclass(**options)(cls)

        return finish

    monkeypatch.setattr(values, "dataclass", counted)

    @locked_value
    class Late:
        name: str

    with ThreadPoolExecutor(8) as pool:
        made = list(pool.map(Late, "abcdefgh" * 20))
        assert finished == []
        assert all(pool.map(Late("a").__eq__, [Late("a")] * 20))
    assert finished == ["Late"]
    assert [late.name for late in made] == list("abcdefgh" * 20)


def test_a_value_is_made_as_a_dataclass_is():
    @locked_value
    class Made:
        first: int
        second: str = "b"
        third: list[int] = field(default_factory=list)
        fourth: int = field(default=4, kw_only=True)
        derived: str = field(init=False)

        def __post_init__(self) -> None:
            object.__setattr__(self, "derived", f"{self.first}{self.second}")

    make: Any = Made
    one = make(1, third=[3])
    assert [one.first, one.second, one.third, one.fourth, one.derived] == [1, "b", [3], 4, "1b"]
    assert list(inspect.signature(Made).parameters) == ["first", "second", "third", "fourth"]
    with pytest.raises(TypeError, match="first"):
        make()
    with pytest.raises(TypeError, match="fifth"):
        make(1, fifth=5)
