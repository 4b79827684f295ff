"""A task's own copy of a dict state: whatever a node does with it, it sees every field and never the state's own."""

import collections
import contextlib
import copy
import json
import operator
import pickle
import string
from collections.abc import Callable
from typing import Annotated, Any, TypedDict

import pytest
from pydantic import TypeAdapter, ValidationError

from nodestep.errors import GraphExecutionError
from nodestep.model.dict_views import Unread, UnreadState
from nodestep.model.reducers import Replace, add
from nodestep.model.schema import StateSchema


class Chat(TypedDict, total=False):
    user: str
    turns: int
    messages: Annotated[list[dict[str, Any]], add]
    seen: dict[str, list[int]]
    tags: list[str]


MESSAGES = [{"role": "user", "parts": [n]} for n in range(50)]
SEEN = {str(n): [n] for n in range(50)}
FULL = {"user": "ada", "turns": 1, "messages": MESSAGES, "seen": SEEN, "tags": ["a"]}


def schema_and_values(state_type):
    schema = StateSchema(state_type)
    values = schema.first_state(FULL)
    return schema, values


@pytest.fixture(params=[Chat, dict], ids=["TypedDict", "dict"])
def state(request):
    return schema_and_values(request.param)


def raw(view):
    return dict(dict.items(view))


def test_small_fields_are_there_at_once_and_large_ones_unread(state):
    schema, values = state
    view = schema.view(values)
    assert isinstance(view, dict)
    assert raw(view)["tags"] == ["a"]
    assert type(raw(view)["messages"]) is type(raw(view)["seen"]) is Unread


def test_a_view_whose_containers_are_short_and_flat_is_a_plain_dict():
    schema = StateSchema(Chat)
    assert type(schema.view(schema.first_state({"user": "ada", "tags": ["a"] * 32, "messages": []}))) is dict


def test_reading_a_field_copies_that_field_alone(state):
    schema, values = state
    view = schema.view(values)
    messages = view["messages"]
    assert messages == MESSAGES
    assert view["messages"] is messages
    assert type(raw(view)["seen"]) is Unread


def updated(mapping, view):
    mapping.update(view)
    return mapping


def matched(view):
    match view:
        case {"user": user, "turns": turns, "messages": messages, "seen": seen, **rest}:
            return {"user": user, "turns": turns, "messages": messages, "seen": seen, **rest}


WAYS_TO_READ: dict[str, Callable[[Any], Any]] = {
    "dict": dict,
    "unpacking": lambda view: {**view},
    "call": lambda view: (lambda **fields: fields)(**view),
    "items": lambda view: dict(list(view.items())),
    "values": lambda view: dict(zip(view.keys(), view.values(), strict=True)),
    "get": lambda view: {key: view.get(key) for key in view},
    "getitem": lambda view: {key: view[key] for key in view},
    "itemgetter": lambda view: dict(zip(view, operator.itemgetter(*view)(view), strict=True)),
    "copy": lambda view: view.copy(),
    "copy.copy": copy.copy,
    "deepcopy": copy.deepcopy,
    "pickle": lambda view: pickle.loads(pickle.dumps(view)),
    "json": lambda view: json.loads(json.dumps(view)),
    "json with indent": lambda view: json.loads(json.dumps(view, indent=1)),
    "sorted json": lambda view: {key: json.loads(json.dumps(view, sort_keys=True))[key] for key in view},
    "pydantic dump": lambda view: TypeAdapter(dict).dump_python(view),
    "pydantic dump of anything": lambda view: TypeAdapter(Any).dump_python([view])[0],
    "pydantic json": lambda view: json.loads(TypeAdapter(Any).dump_json(view)),
    "or": lambda view: view | {},
    "ror": lambda view: {} | view,
    "ior": lambda view: operator.ior({}, view),
    "update": lambda view: updated({}, view),
    "ChainMap": lambda view: dict(collections.ChainMap({}, view)),
    "OrderedDict": lambda view: dict(collections.OrderedDict(view)),
    "UserDict": lambda view: dict(collections.UserDict(view)),
    "pop": lambda view: {key: view.pop(key) for key in list(view)},
    "popitem": lambda view: dict(reversed([view.popitem() for _ in range(len(view))])),
    "setdefault": lambda view: {key: view.setdefault(key) for key in view},
    "repr": lambda view: eval(repr(view)),
    "match": matched,
}


@pytest.mark.parametrize("way", WAYS_TO_READ)
def test_every_way_to_read_a_view_sees_everything_and_never_the_states_own(state, way):
    schema, values = state
    read = WAYS_TO_READ[way](schema.view(values))
    assert read == FULL
    assert list(read) == list(FULL)
    for message in read["messages"]:
        message["parts"].append("changed")
    read["seen"].clear()
    read["tags"].append("changed")
    assert schema.data(values) == FULL


def test_a_view_equals_what_it_shows_from_either_side(state):
    schema, values = state
    assert schema.view(values) == FULL
    assert schema.view(values) == FULL
    assert [schema.view(values)] == [FULL]
    assert schema.view(values) == schema.view(values)
    assert schema.view(values) != {**FULL, "turns": 2}
    assert schema.view(values) != {**FULL, "messages": []}


def test_keys_length_and_membership_need_no_copy(state):
    schema, values = state
    view = schema.view(values)
    assert (len(view), list(view), list(view.keys()), list(reversed(view))[-1]) == (5, list(FULL), list(FULL), "user")
    assert "messages" in view
    assert "nothing" not in view
    assert view.get("nothing", 7) == 7
    assert isinstance(view, UnreadState)


def test_missing_keys_behave_as_in_a_dict(state):
    schema, values = state
    view = schema.view(values)
    with pytest.raises(KeyError):
        view["nothing"]
    with pytest.raises(KeyError):
        view.pop("nothing")
    assert view.pop("nothing", 1) == 1
    assert view.setdefault("nothing", 2) == 2
    with pytest.raises(TypeError):
        hash(view)


def test_templates_read_a_view(state):
    schema, values = state
    view = schema.view(values)
    assert "{user} {messages[0]}".format_map(view) == "ada {'role': 'user', 'parts': [0]}"
    assert string.Template("$user").substitute(view) == "ada"


def test_pydantic_validates_a_view_or_refuses_it(state):
    schema, values = state
    adapter = TypeAdapter(dict[str, str | int | list | dict])
    view = schema.view(values)
    with contextlib.suppress(ValidationError):  # up to pydantic 2.11 or so, which reads behind the back of a dict
        assert adapter.validate_python(view) == FULL
    assert adapter.validate_python(dict(schema.view(values))) == FULL


def test_code_that_reads_behind_the_back_of_a_dict_meets_a_placeholder_that_tells(state):
    schema, values = state
    placeholder = raw(schema.view(values))["messages"]
    assert type(placeholder).__name__ == "UnreadFieldOfStateUseDictOfState"
    assert repr(placeholder) == "<field 'messages' was not read yet; give this code dict(state)>"
    with pytest.raises(TypeError, match="UnreadFieldOfState"):
        json.dumps([placeholder])


def test_once_everything_was_read_nothing_is_overridden(state):
    schema, values = state
    view = schema.view(values)
    view.items()
    assert type(view).__getitem__ is dict.__getitem__
    assert TypeAdapter(dict).validate_python(view) == FULL
    assert pickle.loads(pickle.dumps(view)) == copy.deepcopy(view) == FULL


def test_reading_changes_nothing(state):
    schema, values = state
    view = schema.view(values)
    for read in (lambda: view["messages"], lambda: view["tags"], lambda: repr(view)):
        read()
        assert schema.changes(view, values) == {}


CHANGES = {
    "scalar": (lambda view: view.update(turns=2), {"turns": 2}),
    "to bool": (lambda view: operator.setitem(view, "turns", True), {"turns": True}),
    "read and changed": (lambda view: view["seen"]["0"].append(9), {"seen": {**SEEN, "0": [0, 9]}}),
    "replaced unread": (lambda view: operator.setitem(view, "seen", {}), {"seen": {}}),
    "small field": (lambda view: view["tags"].append("b"), {"tags": ["a", "b"]}),
    "ior": (lambda view: operator.ior(view, {"user": "bob"}), {"user": "bob"}),
}


@pytest.mark.parametrize("name", CHANGES)
def test_what_a_node_changes_in_place_is_found(state, name):
    schema, values = state
    change, expected = CHANGES[name]
    view = schema.view(values)
    change(view)
    assert schema.changes(view, values) == expected
    assert schema.data(values) == FULL


def test_a_change_and_its_undoing_is_none(state):
    schema, values = state
    view = schema.view(values)
    view["seen"]["0"].append(9)
    view["seen"]["0"].pop()
    view["turns"] = 1
    assert schema.changes(view, values) == {}


def test_a_number_that_becomes_another_type_is_a_change():
    schema = StateSchema(dict)
    values = schema.first_state({"a": {"x": [1]}})
    view = schema.view(values)
    view["a"]["x"][0] = 1.0
    assert repr(schema.changes(view, values)) == "{'a': {'x': [1.0]}}"


def test_what_a_merging_field_holds_now_replaces_it():
    schema, values = schema_and_values(Chat)
    view = schema.view(values)
    view["messages"].append({"role": "tool"})
    changed = schema.changes(view, values)
    assert changed == {"messages": Replace([*MESSAGES, {"role": "tool"}])}
    later, _ = schema.merge(values, [schema.take_update(changed, "node 'x'")], str)
    assert schema.data(later)["messages"] == [*MESSAGES, {"role": "tool"}]


def test_a_new_key_is_a_change_and_is_then_refused_where_it_is_no_field():
    schema, values = schema_and_values(Chat)
    view = schema.view(values)
    view["other"] = 1
    assert schema.changes(view, values) == {"other": 1}


@pytest.mark.parametrize(
    "remove", [lambda view: view.pop("user"), lambda view: view.pop("seen"), lambda view: view.clear()]
)
def test_removing_a_field_is_refused(state, remove):
    schema, values = state
    view = schema.view(values)
    remove(view)
    with pytest.raises(GraphExecutionError, match="removed field"):
        schema.changes(view, values)


def test_a_field_exchanged_for_another_is_refused_too(state):
    schema, values = state
    view = schema.view(values)
    del view["turns"]
    view["other"] = 1
    with pytest.raises(GraphExecutionError, match="removed field 'turns'"):
        schema.changes(view, values)


def test_a_view_shows_the_state_as_it_was_however_the_state_goes_on():
    schema = StateSchema(Chat)
    values = schema.first_state({"messages": MESSAGES})
    values, _ = schema.merge(values, [schema.take_update({"messages": [{"n": 1}]}, "node 'x'")], str)
    view = schema.view(values)
    schema.merge(values, [schema.take_update({"messages": [{"n": 2}]}, "node 'x'")], str)
    assert view["messages"] == [*MESSAGES, {"n": 1}]


def test_results_and_data_are_full_copies(state):
    schema, values = state
    for made in (schema.result(values), schema.data(values)):
        assert type(made) is dict
        made["messages"].clear()
        assert schema.data(values) == FULL
