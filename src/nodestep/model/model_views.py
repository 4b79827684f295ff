"""Views of a pydantic model: a task's own copy of the state whose large fields are copied on first read.

While a field is unread the view is of a hidden subclass of the user's model. Reading the field copies it; whatever looks at
the whole object (`==`, iteration, dumping, copying, pickling, `vars()`) reads `__dict__` sooner or later, which copies all
that is left and turns the view into a plain instance of the user's class.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import Any, Final

from pydantic import BaseModel

from .dict_views import filling

_DICT: Final[Any] = BaseModel.__dict__["__dict__"]
_CLASS: Final[Any] = object.__dict__["__class__"]
_FIELDS_SET: Final[Any] = BaseModel.__dict__["__pydantic_fields_set__"]
_EXTRA: Final[Any] = BaseModel.__dict__["__pydantic_extra__"]
_PRIVATE: Final[Any] = BaseModel.__dict__["__pydantic_private__"]
held_by: Final[Callable[[Any], dict[str, Any]]] = _DICT.__get__
"""What the view holds by name. Unread fields are missing; more than the fields may be there."""
_set_dict, _set_fields_set = _DICT.__set__, _FIELDS_SET.__set__
_set_extra, _set_private = _EXTRA.__set__, _PRIVATE.__set__
_new: Final[Any] = object.__new__

_SOURCE: Final = "\0source"
"""Where an unread view keeps its `Source`: an entry of its dict that no name can reach."""


class Source:
    """The fields a view has yet to copy, by name, and how."""

    __slots__ = ("copier", "unread")

    def __init__(self, copier: Callable[[str], Any], unread: Collection[str]) -> None:
        self.copier = copier
        self.unread = unread


def instances(model: type[BaseModel]) -> Callable[[dict[str, Any]], Any]:
    """What makes an instance of the model that holds the values as they are, without validation; private attributes are
    fresh."""
    has_private = bool(model.__private_attributes__)

    def instance(held: dict[str, Any]) -> Any:
        made = _new(model)
        _set_dict(made, held)
        _set_fields_set(made, set(held))
        _set_extra(made, None)
        _set_private(made, None)
        if has_private:
            made.model_post_init(None)
        return made

    return instance


def unread_of(view: Any) -> Collection[str]:
    """The names of the fields that the view has not copied."""
    source = held_by(view).get(_SOURCE)
    return () if source is None else [name for name in source.unread if name not in held_by(view)]


def leave_unread(view: Any, hidden: type[BaseModel], source: Source) -> None:
    """Make an instance one of its model's hidden subclass, which copies what `source` names when it is read."""
    _FIELDS_SET.__get__(view).update(source.unread)
    held_by(view)[_SOURCE] = source
    _CLASS.__set__(view, hidden)


class _Quiet:
    """Stands before the user's model, so that no `__init_subclass__` of theirs runs for the hidden subclass."""

    __slots__ = ()

    def __init_subclass__(cls, **_kwargs: Any) -> None:
        pass


def hidden_subclass(model: type[BaseModel]) -> type[BaseModel] | None:
    """The subclass of unread views; `None` where the model's memory layout allows none. Pydantic builds nothing for it."""
    told = {name: getattr(model, name) for name in ("__module__", "__qualname__", "__doc__")}
    try:
        hidden = type.__new__(
            type(model), model.__name__, (_Quiet, model), {"__slots__": (), **told, **_overrides(model)}
        )
        _CLASS.__set__(instances(model)({}), hidden)
    except TypeError:
        return None
    return hidden


def _overrides(model: type[BaseModel]) -> dict[str, Any]:
    """The members of a hidden subclass. Each copies what it needs first and then leaves the work to the model."""
    plainly_set = _plainly_set(model)

    def settle(view: Any) -> Any:
        with filling:
            held = held_by(view)
            source = held.pop(_SOURCE, None)
            if source is not None:
                for name in source.unread:
                    if name not in held:
                        held[name] = source.copier(name)
                names = model.__pydantic_fields__
                ordered = {name: held[name] for name in names if name in held}
                _set_dict(view, {**ordered, **held})
                _CLASS.__set__(view, model)
        return view

    def read(view: Any, name: str) -> Any:
        with filling:
            held = held_by(view)
            source = held.get(_SOURCE)
            if source is None or name not in source.unread or name in held:
                return object.__getattribute__(view, name) if name in held else model.__getattr__(view, name)  # type: ignore[attr-defined]
            value = held[name] = source.copier(name)
            return value

    def write(view: Any, name: str, value: Any) -> None:
        if name in plainly_set:
            held_by(view)[name] = value
            _FIELDS_SET.__get__(view).add(name)
        elif name.startswith("_"):
            model.__setattr__(view, name, value)
        else:
            setattr(settle(view), name, value)

    def then(name: str) -> Callable[..., Any]:
        function = getattr(model, name)

        def settled(view: Any, *args: Any) -> Any:
            return function(settle(view), *args)

        return settled

    whole = ("__eq__", "__repr__", "__str__", "__copy__", "__deepcopy__", "__reduce_ex__", "__delattr__", "__iter__")
    return {
        **{name: then(name) for name in whole},
        "__hash__": model.__hash__,
        "__new__": lambda _cls, *args, **kwargs: model(*args, **kwargs),
        "__getattr__": read,
        "__setattr__": write,
        "__class__": property(lambda _: model),
        "__dict__": property(lambda view: held_by(settle(view)), lambda view, held: _set_dict(settle(view), held)),
    }


def _plainly_set(model: type[BaseModel]) -> frozenset[str]:
    """The fields whose assignment on an instance does nothing but assign."""
    config = model.model_config
    if config.get("validate_assignment") or config.get("frozen") or model.__setattr__ is not BaseModel.__setattr__:
        return frozenset()
    return frozenset(name for name, info in model.__pydantic_fields__.items() if not info.frozen)
