"""A task's own copy of a model state behaves like a real instance, whatever a node does with it."""

import copy
import json
import pickle
import threading
import weakref
from functools import cached_property
from typing import Annotated, Any, ClassVar, Generic, TypeVar

import pytest
from pydantic import BaseModel, ConfigDict, Field, PrivateAttr, TypeAdapter, ValidationError

from nodestep.errors import GraphExecutionError
from nodestep.model.model_views import held_by, unread_of
from nodestep.model.reducers import Replace, add, add_messages
from nodestep.model.schema import StateSchema
from nodestep.model.state import BaseState

T = TypeVar("T")


class Message(BaseModel):
    id: str
    parts: list[int] = []


def longest(current, update):
    return max(current or [], update, key=len)


class Chat(BaseState):
    KIND: ClassVar[str] = "chat"
    user: str = "ada"
    messages: Annotated[list[Message], add_messages] = []
    turns: int = 1
    seen: dict[str, list[int]] = {}
    best: Annotated[list[int], longest] = []
    tags: list[str] = ["a"]

    @property
    def n_messages(self):
        return len(self.messages)

    @cached_property
    def total(self):
        return sum(len(message.parts) for message in self.messages)

    def bump(self):
        self.turns += 1
        return self


MESSAGES = [Message(id=str(n), parts=[n]) for n in range(50)]
SEEN = {str(n): [n] for n in range(50)}
FULL = Chat(user="ada", messages=MESSAGES, seen=SEEN, best=list(range(50)))
SCHEMA = StateSchema(Chat)
VALUES = SCHEMA.first_state(FULL)


def view_of():
    return SCHEMA.view(VALUES)


@pytest.fixture(autouse=True)
def state_is_untouched():
    yield
    assert SCHEMA.result(VALUES) == Chat(user="ada", messages=MESSAGES, seen=SEEN, best=list(range(50)))


def test_small_fields_are_there_at_once_and_large_ones_unread():
    view = view_of()
    assert sorted(unread_of(view)) == ["best", "messages", "seen"]
    assert held_by(view)["tags"] == ["a"]
    assert held_by(view)["tags"] is not VALUES["tags"]


def test_reading_a_field_copies_that_field_alone():
    view = view_of()
    messages = view.messages
    assert messages == MESSAGES
    assert view.messages is messages
    assert messages[0] is not FULL.messages[0]
    assert sorted(unread_of(view)) == ["best", "seen"]


def test_a_view_is_an_instance_of_the_users_class():
    view = view_of()
    assert isinstance(view, Chat)
    assert view.__class__ is Chat
    assert type(view).__name__ == "Chat"
    assert unread_of(view)
    assert view.KIND == "chat"


def test_a_view_whose_containers_are_short_and_flat_is_a_plain_instance():
    assert type(SCHEMA.view(SCHEMA.first_state({"tags": ["a"] * 32}))) is Chat


WAYS_TO_READ = {
    "vars": lambda view: Chat(**vars(view)),
    "__dict__": lambda view: Chat(**view.__dict__),
    "iteration": lambda view: Chat(**dict(view)),
    "model_dump": lambda view: Chat(**view.model_dump()),
    "model_dump_json": lambda view: Chat.model_validate_json(view.model_dump_json()),
    "model_copy": lambda view: view.model_copy(),
    "model_copy deep": lambda view: view.model_copy(deep=True),
    "model_copy update": lambda view: view.model_copy(update={"user": "ada"}),
    "copy": copy.copy,
    "deepcopy": copy.deepcopy,
    "pickle": lambda view: pickle.loads(pickle.dumps(view)),
    "adapter": lambda view: Chat(**TypeAdapter(Chat).dump_python(view)),
    "outer model": lambda view: Chat(**TypeAdapter(list[Any]).dump_python([view])[0]),
    "validate": lambda view: TypeAdapter(Chat).validate_python(view),
    "from_attributes": lambda view: Chat.model_validate(view, from_attributes=True),
    "getattr": lambda view: Chat(**{name: getattr(view, name) for name in Chat.model_fields}),
    "own class": lambda view: type(view)(**dict(view)),
    "class": lambda view: view.__class__(**dict(view)),
    "model_construct": lambda view: type(view).model_construct(**dict(view)),
    "replace": lambda view: view.__replace__(user="ada") if hasattr(view, "__replace__") else view.model_copy(),
    "getstate": lambda view: Chat.model_construct(**view.__getstate__()["__dict__"]),
}


@pytest.mark.parametrize("way", WAYS_TO_READ)
def test_every_way_to_read_a_view_sees_everything_and_never_the_states_own(way):
    read = WAYS_TO_READ[way](view_of())
    assert read == FULL
    assert isinstance(read, Chat)
    assert list(dict(read)) == list(Chat.model_fields)
    read.messages[0].parts.append(99)
    read.messages.pop()
    read.seen["0"].append(99)
    read.tags.append("changed")


def test_a_view_equals_an_instance_from_either_side():
    assert view_of() == FULL
    assert view_of() == FULL
    assert FULL.__eq__(view_of())
    assert view_of() == view_of()
    assert view_of() != FULL.model_copy(update={"turns": 2})
    assert FULL.model_copy(update={"messages": []}) != view_of()
    assert view_of() != 5


def test_the_text_of_a_view_is_that_of_an_instance():
    assert repr(view_of()) == repr(FULL)
    assert str(view_of()) == str(FULL)


def test_dumping_follows_the_options():
    view = view_of()
    assert view.model_dump(include={"user", "turns"}) == {"user": "ada", "turns": 1}
    assert json.loads(view_of().model_dump_json(include={"seen"})) == {"seen": SEEN}
    assert set(view_of().model_fields_set) == set(Chat.model_fields)


def test_methods_properties_and_cached_properties_work():
    view = view_of()
    assert view.n_messages == 50
    assert view.total == 50
    assert view.total == 50
    assert view.bump() is view
    assert SCHEMA.changes(view, VALUES) == {"turns": 2}


def test_setting_an_attribute_copies_nothing_else():
    view = view_of()
    view.turns = 5
    view.seen = {}
    assert sorted(unread_of(view)) == ["best", "messages"]
    assert (view.turns, view.seen) == (5, {})
    assert SCHEMA.changes(view, VALUES) == {"turns": 5, "seen": {}}


def test_an_unknown_attribute_is_refused_as_by_an_instance():
    view = view_of()
    with pytest.raises(ValueError, match='"Chat" object has no field "other"'):
        view.other = 1
    with pytest.raises(AttributeError, match="'Chat' object has no attribute 'other'"):
        _ = view.other
    assert not hasattr(view_of(), "other")
    assert getattr(view_of(), "other", 3) == 3


def test_once_everything_was_read_a_view_is_of_the_users_class_itself():
    view = view_of()
    dict(view)
    assert type(view) is Chat
    assert view == FULL


def test_reading_changes_nothing():
    view = view_of()
    assert SCHEMA.changes(view, VALUES) == {}
    _ = view.messages
    assert SCHEMA.changes(view, VALUES) == {}
    repr(view)
    assert SCHEMA.changes(view, VALUES) == {}


def test_what_a_node_changes_in_place_is_found():
    view = view_of()
    view.messages[0].parts.append(7)
    view.tags.append("b")
    view.user = "bob"
    changed = SCHEMA.changes(view, VALUES)
    edited = [Message(id="0", parts=[0, 7]), *MESSAGES[1:]]
    assert changed == {"messages": Replace(edited), "tags": ["a", "b"], "user": "bob"}
    later, _ = SCHEMA.merge(VALUES, [SCHEMA.take_update(changed, "node 'x'")], str)
    assert SCHEMA.result(later) == FULL.model_copy(update={"messages": edited, "tags": ["a", "b"], "user": "bob"})


def test_a_field_with_a_custom_reducer_cannot_be_changed_in_place():
    view = view_of()
    view.best.append(1)
    with pytest.raises(
        GraphExecutionError, match=r"changed field 'best' in place. Its reducer longest takes an update"
    ):
        SCHEMA.changes(view, VALUES)


@pytest.mark.parametrize("name", ["messages", "user"])
def test_removing_a_field_is_refused(name):
    view = view_of()
    delattr(view, name)
    with pytest.raises(GraphExecutionError, match=f"removed field '{name}'"):
        SCHEMA.changes(view, VALUES)


def test_threads_of_one_node_get_one_copy():
    def read_by(readers):
        view = view_of()
        copies: list = []
        threads = [threading.Thread(target=lambda read=read: copies.append(read(view))) for read in readers]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        return {id(messages) for messages in (*copies, view.messages)}

    for _ in range(20):
        assert len(read_by([lambda view: view.messages, lambda view: dict(view)["messages"]] * 2)) == 1


def test_a_view_can_be_referred_to_weakly():
    view = view_of()
    assert weakref.ref(view)() is view


def test_private_attributes_are_fresh_in_every_view_and_never_stored():
    class Model(BaseState):
        items: list[list[int]] = [[n] for n in range(50)]
        _cache: dict[str, int] = PrivateAttr(default_factory=dict)

    schema = StateSchema(Model)
    values = schema.first_state()
    first, second = schema.view(values), schema.view(values)
    assert unread_of(first)
    first._cache["a"] = 1
    first._cache = {**first._cache, "b": 2}
    assert (first._cache, second._cache) == ({"a": 1, "b": 2}, {})
    assert unread_of(first)
    assert schema.changes(first, values) == {}
    assert schema.result(values)._cache == {}


def test_assignments_are_validated_where_the_model_says_so():
    class Model(BaseState):
        model_config = ConfigDict(validate_assignment=True)
        n: int = 0
        items: list[list[int]] = [[n] for n in range(50)]

    schema = StateSchema(Model)
    values = schema.first_state()
    view = schema.view(values)
    view.n = "5"  # type: ignore[assignment]
    assert schema.changes(view, values) == {"n": 5}
    with pytest.raises(ValidationError):
        view.n = "x"  # type: ignore[assignment]
    assert view.items == schema.data(values)["items"]


def test_views_of_a_frozen_model_cannot_be_changed():
    class Model(BaseState):
        model_config = ConfigDict(frozen=True)
        n: int = 0
        items: tuple[tuple[int, ...], ...] = tuple((n,) for n in range(50))

    schema = StateSchema(Model)
    values = schema.first_state({"n": 1})
    view = schema.view(values)
    for frozen in (view, schema.view(values)):
        with pytest.raises(ValidationError):
            frozen.n = 5
        with pytest.raises(ValidationError):
            frozen.items = ()
    assert hash(view) == hash(Model(n=1))
    assert {view} == {Model(n=1)}


def test_a_frozen_field_cannot_be_set():
    class Model(BaseState):
        n: int = Field(default=0, frozen=True)
        items: list[list[int]] = [[n] for n in range(50)]

    schema = StateSchema(Model)
    with pytest.raises(ValidationError):
        schema.view(schema.first_state()).n = 5


def test_frozen_values_without_moving_parts_are_shared_and_not_copied():
    class Line(BaseModel):
        model_config = ConfigDict(frozen=True)
        text: str
        marks: tuple[int, ...] = ()

    class Model(BaseState):
        lines: Annotated[list[Line], add] = []

    schema = StateSchema(Model)
    values = schema.first_state({"lines": [Line(text=str(n)) for n in range(50)]})
    first, second = schema.view(values), schema.view(values)
    assert first.lines is not second.lines
    assert first.lines[0] is second.lines[0]


def test_no_hook_of_the_users_class_runs_for_a_view():
    made = []

    class Base(BaseState):
        def __init_subclass__(cls, **kwargs: Any) -> None:
            made.append(cls.__name__)

        @classmethod
        def __pydantic_init_subclass__(cls, **kwargs: Any) -> None:
            made.append(cls.__name__)

        def __init__(self, **data: Any) -> None:
            made.append("init")
            super().__init__(**data)

    class Model(Base):
        items: list[list[int]] = [[n] for n in range(50)]

    made.clear()
    schema = StateSchema(Model)
    view = schema.view(schema.first_state())
    assert len(view.items) == 50
    assert made == []


@pytest.mark.filterwarnings("ignore:.*shadows an attribute")
def test_a_field_that_hides_a_name_of_its_class_is_always_there():
    class Mixin:
        rows: Any = "of the class"

    class Model(BaseState, Mixin):
        rows: list[list[int]] = [[n] for n in range(50)]

    schema = StateSchema(Model)
    assert schema.view(schema.first_state()).rows[3] == [3]


def test_generic_models_have_views():
    class Box(BaseModel, Generic[T]):
        items: list[T] = []

    schema = StateSchema(Box[list[int]])
    values = schema.first_state({"items": [[n] for n in range(50)]})
    view = schema.view(values)
    assert unread_of(view)
    assert isinstance(view, Box)
    assert view == Box[list[int]](items=[[n] for n in range(50)])


def test_a_models_own_getattr_and_setattr_are_kept():
    class Model(BaseState):
        items: list[list[int]] = [[n] for n in range(50)]
        n: int = 0

        def __getattr__(self, name: str) -> Any:
            if name == "answer":
                return 42
            return super().__getattr__(name)  # type: ignore[misc]

        def __setattr__(self, name: str, value: Any) -> None:
            super().__setattr__(name, value * 2 if name == "n" else value)

        def __eq__(self, other: object) -> bool:
            return isinstance(other, Model) and self.n == other.n

        def __repr__(self) -> str:
            return f"<Model of {len(self.items)}>"

    schema = StateSchema(Model)
    values = schema.first_state()
    view: Any = schema.view(values)
    assert view.answer == 42
    assert repr(schema.view(values)) == "<Model of 50>"
    assert schema.view(values) == Model()
    view.n = 4
    assert view.n == 8
    assert len(view.items) == 50


def test_results_are_instances_of_the_class_itself():
    result = SCHEMA.result(VALUES)
    assert type(result) is Chat
    result.messages.clear()
    data = SCHEMA.data(VALUES)
    assert data == dict(FULL)
    data["messages"][0].parts.append(7)
