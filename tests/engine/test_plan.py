"""From a position to the tasks of the next superstep."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from nodestep import END, START, GraphChangedError
from nodestep.engine.plan import check_fits, runnable
from nodestep.model.position import Position, Task, merge_order

from .making import DONE, FAILED, asked, frame, graph, names, position, steps, tasks


def test_the_first_task_of_a_node_bears_its_name_and_the_others_a_number():
    assert tasks(("item", {"n": 1}), "other", ("item", {"n": 2}), ("item", {})) == (
        Task("item", "item", {"n": 1}),
        Task("other", "other"),
        Task("item[1]", "item", {"n": 2}),
        Task("item[2]", "item", {}),
    )


def test_a_plain_target_named_by_several_tasks_runs_once():
    assert names(tasks("b", "c", "b", "c", "b")) == ["b", "c"]


def test_a_plain_target_beside_sends_of_the_same_node_is_one_task_more():
    assert tasks(("b", {"n": 1}), "b", ("b", {"n": 2}), "b") == (
        Task("b", "b", {"n": 1}),
        Task("b[1]", "b"),
        Task("b[2]", "b", {"n": 2}),
    )


def test_updates_merge_by_node_name_and_then_in_scheduling_order():
    due = tasks("c", ("a", {"n": 1}), "b", ("a", {"n": 2}))

    assert names(tuple(merge_order(due))) == ["a", "a[1]", "b", "c"]


def test_everything_due_runs_when_nothing_is_recorded():
    at = frame("a", "b")

    assert runnable(position(at)) == at.due


def test_a_finished_task_does_not_run_again():
    assert names(runnable(position(frame("a", "b", "c", work={"b": DONE})))) == ["a", "c"]


def test_a_failed_task_runs_again():
    assert names(runnable(position(frame("a", "b", work={"a": DONE, "b": FAILED})))) == ["b"]


def test_a_task_that_waits_for_a_person_does_not_run():
    assert runnable(position(frame("a", "b", work={"a": asked("ok"), "b": DONE}))) == ()


def test_a_task_runs_when_its_last_question_was_answered():
    one = replace(asked("x", "y"), answers={"x": 1})
    both = replace(asked("x", "y"), answers={"x": 1, "y": None})

    assert runnable(position(frame("a", work={"a": one}))) == ()
    assert names(runnable(position(frame("a", work={"a": both})))) == ["a"]


def test_a_task_with_answers_but_no_outcome_runs():
    cut_off = replace(asked("x"), outcome=None, answers={"x": 1})

    assert names(runnable(position(frame("a", work={"a": cut_off})))) == ["a"]


def test_a_position_whose_nodes_are_all_there_fits():
    a, b = steps("a b")

    check_fits(graph(START >> a >> b >> END), position(frame("b")))
    check_fits(graph(START >> a >> b >> END), Position())


def test_a_position_that_waits_at_a_node_that_is_gone_is_refused():
    a, b = steps("approve ship")
    with pytest.raises(GraphChangedError, match=r"'aprove'.*Did you mean 'approve'"):
        check_fits(graph(START >> a >> b >> END), position(frame("aprove")))


def test_a_position_whose_join_is_gone_is_refused():
    a, b = steps("a b")
    with pytest.raises(GraphChangedError, match="'d'"):
        check_fits(graph(START >> a >> b >> END), position(frame("a", marks={"d": ("b",)})))
