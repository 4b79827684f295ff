"""How updates meet what the fields hold."""

from collections.abc import Mapping
from typing import Annotated, Any

import pytest
from annotated_types import MaxLen
from hypothesis import given
from hypothesis import strategies as st
from pydantic import AfterValidator, BaseModel, Field

from nodestep.errors import StateStoreError, StateUpdateError
from nodestep.model.canonical import decode, encode
from nodestep.model.copying import same
from nodestep.model.patch import apply
from nodestep.model.reducers import RemoveMessage, Replace, add, add_messages, merge_dict
from nodestep.model.schema import StateSchema
from nodestep.model.state import BaseState


def highest(current, update):
    return update if current is None else max(current, update)


def put_in(current, update):
    """Changes what it is given, as a careless reducer would."""
    current = current or []
    current.append(update)
    return current


class Message(BaseModel):
    id: str | None = None
    text: str = ""


class Model(BaseState):
    n: int = 0
    log: Annotated[list[str], add] = []
    nested: Annotated[list[dict[str, Any]], add] = []
    options: Annotated[dict[str, Any], merge_dict] = {}
    messages: Annotated[list[Message], add_messages] = []
    raw: Annotated[list[dict[str, Any]], add_messages] = []
    best: Annotated[int | None, highest] = None
    pile: Annotated[list[Any], put_in] = []
    bounded: Annotated[list[int], add, MaxLen(3)] = Field(default_factory=list)


SCHEMA = StateSchema(Model)


def merged(values, *updates, schema=SCHEMA):
    taken = [schema.take_update(update, f"node '{n}'", f"1/{n}") for n, update in enumerate(updates)]
    return schema.merge(values, taken, lambda index: f"node '{index}'")


def after(*updates, schema=SCHEMA):
    return schema.data(merged(schema.initial(), *updates, schema=schema)[0])


def test_updates_are_applied_in_the_order_given():
    state = after(
        {"n": 1, "log": ["a"]}, {"n": 2, "log": ["b", "c"]}, {"options": {"k": 1}}, {"options": {"k": 2, "l": 3}}
    )
    assert (state["n"], state["log"], state["options"]) == (2, ["a", "b", "c"], {"k": 2, "l": 3})


def test_messages_are_appended_edited_and_removed():
    state = after(
        {"messages": [{"id": "1", "text": "a"}, {"id": "2", "text": "b"}]},
        {"messages": [RemoveMessage("1"), {"id": "2", "text": "B"}, {"text": "c"}]},
    )
    assert [message.text for message in state["messages"]] == ["B", "c"]
    assert len(state["messages"][1].id) == 32


def test_replace_bypasses_every_kind_of_reducer():
    state = after(
        {"log": ["a"], "options": {"k": 1}, "best": 9, "messages": [{"id": "1"}]},
        {"log": Replace(["b"]), "options": Replace({}), "best": Replace(1), "messages": Replace([{"id": "2"}])},
        {"log": ["c"], "messages": [{"id": "3"}]},
    )
    assert (state["log"], state["options"], state["best"]) == (["b", "c"], {}, 1)
    assert [message.id for message in state["messages"]] == ["2", "3"]


def test_the_values_before_are_never_changed():
    before, _ = merged(SCHEMA.initial(), {"log": ["a"], "options": {"k": 1}, "messages": [{"id": "1"}], "pile": 1})
    shown = SCHEMA.data(before)
    for update in (
        {"log": ["b"], "options": {"l": 2}, "messages": [{"id": "2"}, RemoveMessage("1")], "pile": 2},
        {"log": ["c"], "messages": [{"id": "3"}]},
        {"log": ["d"], "messages": [{"id": "1", "text": "edited"}]},
    ):
        merged(before, update)
        assert SCHEMA.data(before) == shown


def test_two_merges_from_one_state_do_not_meet():
    base, _ = merged(SCHEMA.initial(), {"log": ["a"], "messages": [{"id": "1"}]})
    left, _ = merged(base, {"log": ["left"], "messages": [{"id": "l"}]})
    right, _ = merged(base, {"log": ["right"], "messages": [{"id": "r"}]})
    further, _ = merged(left, {"log": ["further"], "messages": [{"id": "f"}, {"id": "l", "text": "edited"}]})
    assert [SCHEMA.data(values)["log"] for values in (left, right, further)] == [
        ["a", "left"],
        ["a", "right"],
        ["a", "left", "further"],
    ]
    assert [[m.id for m in SCHEMA.data(values)["messages"]] for values in (left, right, further)] == [
        ["1", "l"],
        ["1", "r"],
        ["1", "l", "f"],
    ]
    assert SCHEMA.data(left)["messages"][1].text == ""


def test_fields_that_nobody_wrote_stay_the_same_objects():
    before = SCHEMA.first_state({"nested": Replace([{"a": 1}])})
    values, _ = merged(before, {"n": 1})
    assert values["nested"] is before["nested"]


def test_an_update_can_be_merged_again():
    update = SCHEMA.take_update({"pile": {"a": 1}, "options": {"k": [1]}, "log": ["a"]}, "node 'x'")
    first, second = (SCHEMA.data(SCHEMA.merge(SCHEMA.initial(), [update], str)[0]) for _ in range(2))
    assert first == second
    assert first["pile"] == [{"a": 1}]


def test_only_results_of_custom_reducers_are_told_as_a_patch():
    _, patch = merged({**SCHEMA.initial(), "best": 3}, {"n": 1, "log": ["a"], "best": 5}, {"best": 4})
    assert patch == {"set": {"best": 5}}
    assert merged(SCHEMA.initial(), {"log": ["a"]})[1] == {}


def test_a_custom_reducer_gets_none_where_the_field_is_absent():
    seen = []

    def watch(current, update):
        seen.append(current)
        return update

    class Watched(BaseState):
        x: Annotated[int, watch]

    schema = StateSchema(Watched)
    schema.first_state({"x": 1})
    assert seen == [None]


def test_a_custom_reducer_takes_what_the_field_holds_or_any_json():
    def total(current, update):
        return (current or 0) + (sum(update["parts"]) if isinstance(update, dict) else update)

    class Model(BaseState):
        n: Annotated[int, total] = 0

    schema = StateSchema(Model)
    assert after({"n": "2"}, {"n": {"parts": [3, 4]}}, schema=schema) == {"n": 9}
    with pytest.raises(
        StateUpdateError, match=r"neither what the field holds .* nor a plain JSON value: it holds a tuple"
    ):
        schema.take_update({"n": (1, 2)}, "node 'x'")


def test_a_custom_reducer_that_changes_its_arguments_harms_nobody():
    before, _ = merged(SCHEMA.initial(), {"pile": {"a": [1]}})
    after_, _ = merged(before, {"pile": 2})
    assert SCHEMA.data(before)["pile"] == [{"a": [1]}]
    assert SCHEMA.data(after_)["pile"] == [{"a": [1]}, 2]


def test_the_result_of_a_custom_reducer_must_fit_and_survive():
    class Model(BaseState):
        n: Annotated[int, lambda current, update: str(update)] = 0
        text: Annotated[int, lambda current, update: "x"] = 0
        loose: Annotated[Any, lambda current, update: (update,)] = None

    schema = StateSchema(Model)
    assert after({"n": 5}, schema=schema)["n"] == 5
    with pytest.raises(StateUpdateError, match=r"Field 'text' refused the value merged from the update of node '0'"):
        after({"text": 5}, schema=schema)
    with pytest.raises(StateStoreError, match="Field 'loose' refused the value merged"):
        after({"loose": 5}, schema=schema)


def test_an_error_of_a_reducer_passes_with_a_note():
    def broken(current, update):
        raise ZeroDivisionError("oops")

    class Model(BaseState):
        n: Annotated[int, broken] = 0

    with pytest.raises(ZeroDivisionError) as caught:
        after({"n": 5}, schema=StateSchema(Model))
    assert caught.value.__notes__ == ["raised by the reducer broken of field 'n', for the update of node '0'"]


def test_a_constraint_on_the_whole_field_is_checked_after_the_merge():
    assert after({"bounded": [1, 2]}, {"bounded": [3]})["bounded"] == [1, 2, 3]
    with pytest.raises(StateUpdateError) as caught:
        after({"bounded": [1, 2]}, {"bounded": [3, 4]})
    assert str(caught.value).startswith("Field 'bounded' refused the value merged from the update of node '1': ")
    assert "at most 3 items" in str(caught.value)


def test_one_update_need_not_meet_a_constraint_on_the_whole():
    class Model(BaseState):
        log: Annotated[list[int], add, Field(min_length=2)] = [1, 2]

    assert after({"log": [3]}, schema=StateSchema(Model)) == {"log": [1, 2, 3]}
    with pytest.raises(StateUpdateError, match="at least 2 items"):
        after({"log": Replace([1])}, schema=StateSchema(Model))


def test_a_validator_of_the_whole_field_may_only_check():
    class Model(BaseState):
        log: Annotated[list[int], add, AfterValidator(lambda items: items[-2:])] = []

    with pytest.raises(StateUpdateError, match="may only check it"):
        after({"log": [1, 2]}, {"log": [3]}, schema=StateSchema(Model))


def test_a_field_that_others_may_write_too_has_a_merging_reducer():
    update = SCHEMA.take_update({"n": 1, "log": ["a"], "best": 1, "options": Replace({})}, "node 'x'")
    assert SCHEMA.written_alone(update) == {"n", "options"}
    assert SCHEMA.written_alone(SCHEMA.take_update({"n": 1}, "node 'x'")) == {"n"}


def test_appending_to_a_long_list_copies_nothing():
    values, _ = merged(SCHEMA.initial(), {"log": ["a"] * 1000, "messages": [{"id": str(n)} for n in range(1000)]})
    more, _ = merged(values, {"log": ["b"], "messages": [{"id": "new"}]})
    for name in ("log", "messages"):
        assert more[name]._storage is values[name]._storage


MESSAGES = st.lists(
    st.builds(RemoveMessage, st.sampled_from("123"))
    | st.fixed_dictionaries({"id": st.sampled_from("123") | st.none(), "text": st.sampled_from("xy")}),
    max_size=3,
)
UPDATES = st.lists(
    st.fixed_dictionaries(
        {},
        optional={
            "n": st.integers(-5, 5),
            "log": st.lists(st.sampled_from("ab"), max_size=2) | st.builds(Replace, st.just(["c"])),
            "options": st.dictionaries(st.sampled_from("kl"), st.integers(0, 2) | st.just([None])),
            "messages": MESSAGES,
            "raw": MESSAGES,
            "best": st.integers(0, 9),
            "pile": st.integers(0, 2) | st.just([1]),
        },
    ),
    max_size=5,
)


@given(UPDATES)
def test_replaying_the_patches_gives_what_merging_gave(updates):
    values = SCHEMA.initial()
    stored = decode(encode(SCHEMA.dump(values)))
    positions: dict = {}
    for superstep, update in enumerate(updates):
        taken = SCHEMA.take_update(update, "node 'x'", f"{superstep}/x")
        values, results = SCHEMA.merge(values, [taken], str)
        for patch in (taken.patch, results):
            apply(stored, decode(encode(dict(patch))), positions)
    assert stored == SCHEMA.dump(values)
    assert same(SCHEMA.load(stored), SCHEMA.data(values))


@given(UPDATES)
def test_a_recorded_update_merges_like_the_one_that_was_taken(updates):
    taken = [SCHEMA.take_update(update, "node 'x'", f"1/{n}") for n, update in enumerate(updates)]
    read = [SCHEMA.update_from_patch(decode(encode(dict(update.patch)))) for update in taken]
    for one, other in zip(taken, read, strict=True):
        assert same(dict(one.values), dict(other.values)) or isinstance(one.values, Mapping)
        assert SCHEMA.written_alone(one) == SCHEMA.written_alone(other)
    first, first_patch = SCHEMA.merge(SCHEMA.initial(), taken, str)
    second, second_patch = SCHEMA.merge(SCHEMA.initial(), read, str)
    assert same(SCHEMA.data(first), SCHEMA.data(second))
    assert first_patch == second_patch
