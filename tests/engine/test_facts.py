"""Every fact reads back from its stored form as it was."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nodestep import StoreCorruptedError
from nodestep.engine.replay import record_from_bytes, record_to_bytes
from nodestep.model.event import (
    Answered,
    Continued,
    Expired,
    Fact,
    Forked,
    OnceRecorded,
    Paused,
    RunCompleted,
    RunFailed,
    Started,
    StateUpdated,
    SuperstepCompleted,
    TaskRecorded,
    fact_from_json,
    fact_to_json,
)
from nodestep.model.outcome import Asked, Done, Failed, StoredQuestion, Target
from nodestep.model.position import Conflict, tasks_of

text = st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=8)
maybe = st.none() | text
numbers = st.integers(-(2**63), 2**63 - 1)
json = st.recursive(
    st.none() | st.booleans() | numbers | st.floats(allow_nan=False, allow_infinity=False) | text,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(text, inner, max_size=3),
    max_leaves=6,
)
objects = st.dictionaries(text, json, max_size=3)
names = st.from_regex(r"[A-Za-z0-9_. -]{1,6}", fullmatch=True)
paths = st.just("") | names
patches = st.dictionaries(st.sampled_from(["set", "append", "merge", "messages", "reduce"]), objects, max_size=2)
targets = st.builds(Target, names, st.none() | objects)
due = st.lists(targets, max_size=4).map(tasks_of)
marks = st.dictionaries(names, st.lists(names, min_size=1, max_size=3).map(tuple), max_size=2)
questions = st.builds(StoredQuestion, names, json, st.none() | objects, maybe, st.none() | numbers) | st.builds(
    StoredQuestion, names, json, has_default=st.just(True), default=json
)
caches = st.none() | objects
outcomes = st.one_of(
    st.builds(Done, patches, st.none() | st.lists(targets, max_size=3).map(tuple), objects),
    st.builds(
        Asked, st.lists(questions, max_size=3).map(tuple), objects, caches, st.dictionaries(names, text, max_size=2)
    ),
    st.builds(Failed, text, text, objects, caches),
)
facts: st.SearchStrategy[Fact] = st.one_of(
    st.builds(Started, text, patches, due),
    st.builds(Continued, text),
    st.builds(Answered, objects, maybe, maybe, text),
    st.builds(Expired, st.lists(text, max_size=3).map(tuple)),
    st.builds(TaskRecorded, names, outcomes, paths),
    st.builds(OnceRecorded, names, names, json, paths),
    st.builds(SuperstepCompleted, due, patches, st.none() | marks, paths),
    st.just(Paused()),
    st.builds(
        RunFailed, text, text, maybe, st.none() | st.builds(Conflict, text, st.lists(text, max_size=2).map(tuple))
    ),
    st.builds(StateUpdated, patches),
    st.builds(Forked, text),
    st.just(RunCompleted()),
)


@given(facts)
def test_a_fact_reads_back_from_its_json(fact):
    assert fact_from_json(fact_to_json(fact)) == fact


@given(st.lists(facts, max_size=4))
def test_a_record_reads_back_from_its_bytes(many):
    assert record_from_bytes(record_to_bytes(many)) == many


def test_a_superstep_of_one_task_is_a_short_record():
    fact = SuperstepCompleted(tasks_of([Target("b")]), {"set": {"n": 1}})

    assert record_to_bytes([fact]) == b'[["step",{"set":{"n":1}},["b"]]]'


@pytest.mark.parametrize(
    "body", [b"", b"{", b"5", b'[["later",1]]', b'[["step"]]', b'[["start","r"]]', b"[5]", b"[[]]"]
)
def test_what_no_nodestep_of_this_version_wrote_is_corrupted(body):
    with pytest.raises(StoreCorruptedError):
        record_from_bytes(body)
