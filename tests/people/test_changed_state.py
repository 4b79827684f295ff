"""A state type that changed while a thread waits: new fields, dropped fields, fields of another type."""

from __future__ import annotations

from typing import Annotated, Any

import pytest
from pydantic import Field

from nodestep import END, START, BaseState, Graph, GraphChangedError, Resume, add, interrupt, merge_dict, node
from tests.asking import refusal
from tests.history.making import open_keys, point, told
from tests.running.making import run

REQUIRED: Any = object()


def typed(store, **fields: tuple[Any, Any]) -> Graph[Any]:
    """A graph over `got` and these fields (type and default); its node asks, then its second one writes what it is told to
    by the answer."""
    annotations: dict[str, Any] = {"got": Any, **{name: kind for name, (kind, _) in fields.items()}}
    defaults = {name: default for name, (_, default) in fields.items() if default is not REQUIRED}
    state = type("Order", (BaseState,), {"__annotations__": annotations, "got": None, **defaults})

    def ask(state):
        return {"got": interrupt("?", id="a")}

    def write(state):
        return state.got

    return Graph(state, name="orders", state_store=store).flow(
        START >> node(ask, name="ask") >> node(write, name="write") >> END
    )


def resumed(graph: Graph[Any], writes: dict[str, Any] | None = None) -> dict[str, Any]:
    return graph.invoke(None, thread_id="t", resume=Resume(writes)).data


def test_a_new_field_gets_its_default_and_can_be_written(store):
    typed(store).invoke({}, thread_id="t")
    graph = typed(store, count=(int, 5))
    assert run(graph.get_state("t")).value.count == 5
    assert resumed(graph)["count"] == 5
    graph.invoke({"count": 6}, thread_id="t")
    assert resumed(graph, {"count": 7})["count"] == 7


LISTS = [
    (Annotated[list[str], add], ["first"], ["x"], ["first", "x"]),
    (Annotated[dict[str, int], merge_dict], {"first": 1}, {"x": 2}, {"first": 1, "x": 2}),
    (Annotated[list[str], add], Field(default_factory=lambda: ["first"]), ["x"], ["first", "x"]),
]


@pytest.mark.parametrize(("kind", "default", "update", "expected"), LISTS, ids=["add", "merge_dict", "factory"])
def test_what_is_merged_onto_a_new_fields_default_is_stored_with_it(store, reopened, kind, default, update, expected):
    typed(store).invoke({}, thread_id="t")
    assert resumed(typed(store, field=(kind, default)), {"field": update})["field"] == expected
    graph = typed(reopened(), field=(kind, default))
    assert run(graph.get_state("t")).value.field == expected
    assert run(graph.load("t"))["field"] == expected


@pytest.mark.parametrize(("kind", "default", "update", "expected"), LISTS[:2], ids=["add", "merge_dict"])
def test_an_edit_or_an_input_on_top_of_a_new_fields_default_is_stored_with_it(store, kind, default, update, expected):
    typed(store).invoke({}, thread_id="t")
    graph = typed(store, field=(kind, default))
    run(graph.update_state("t", {"field": update}))
    assert run(graph.get_state("t")).value.field == expected


def test_a_dropped_field_is_left_out_and_kept_in_history(store):
    typed(store, count=(int, 0)).invoke({"count": 5}, thread_id="t")
    graph = typed(store)
    assert "count" not in resumed(graph)
    assert run(graph.load("t", point(graph, "interrupted")))["count"] == 5
    assert run(typed(store, count=(int, 0)).get_state("t", point(graph, "interrupted"))).value.count == 5


@pytest.mark.parametrize("grows", [False, True], ids=["short", "long"])
def test_a_dropped_field_is_still_in_what_is_stored_however_long_the_thread_gets(store, grows):
    typed(store, count=(int, 0)).invoke({"count": 5}, thread_id="t")
    graph = typed(store)
    for _ in range(6):
        resumed(graph, {"got": "x" * 9000} if grows else None)
        graph.invoke({}, thread_id="t")
    assert run(graph.load("t")).get("count") == 5
    assert run(typed(store, count=(int, 0)).get_state("t")).value.count == 5


def test_a_dropped_field_that_a_finished_sibling_wrote_is_left_out(store):
    def both(*extra: str) -> Graph[Any]:
        annotations = {"got": Any, **dict.fromkeys(extra, int)}
        state = type("Order", (BaseState,), {"__annotations__": annotations, "got": None, **dict.fromkeys(extra, 0)})
        tasks = [
            node(lambda state: {"got": interrupt("?", id="a")}, name="ask"),
            node(lambda state: dict.fromkeys(extra, 7), name="beside"),
        ]
        return Graph(state, name="orders", state_store=store).flow(
            START >> node(lambda state: None, name="start") >> tasks, *(task >> END for task in tasks)
        )

    both("count").invoke({}, thread_id="t")
    assert resumed(both(), "yes") == {"got": "yes"}  # type: ignore[arg-type]
    assert run(both().load("t"))["got"] == "yes"


def test_a_field_whose_type_takes_the_stored_value_goes_on(store):
    typed(store, count=(int, 0)).invoke({"count": 5}, thread_id="t")
    assert resumed(typed(store, count=(float, 0.0)))["count"] == 5.0


@pytest.mark.parametrize(
    ("before", "after"),
    [((str, ""), (int, 0)), ((list[str], []), (dict[str, str], {})), ((int, 0), (Annotated[int, Field(lt=5)], 0))],
)
def test_a_field_of_another_type_is_told_and_nothing_is_written(store, before, after):
    value = {str: "many", list[str]: ["a"], int: 5}[before[0]]
    typed(store, count=before).invoke({"count": value}, thread_id="t")
    changed = typed(store, count=after)
    for call in (
        lambda: resumed(changed),
        lambda: run(changed.get_state("t")),
        lambda: run(changed.update_state("t", {"got": 1})),
    ):
        with refusal(store, GraphChangedError, "'t'", "'count'"):
            call()
    assert run(changed.load("t"))["count"] == value
    assert open_keys(changed) == ["ask:a"]


def test_collected_answers_stay_stored_while_the_state_does_not_fit(store):
    typed(store, count=(str, "")).invoke({"count": "many"}, thread_id="t")
    changed = typed(store, count=(int, 0))
    assert run(changed.answer("t", {"ask:a": {"count": "kept"}})) == ()
    with refusal(store, GraphChangedError, "'count'"):
        changed.invoke(None, thread_id="t")
    assert typed(store, count=(str, "")).invoke(None, thread_id="t").data["count"] == "kept"


def test_a_new_required_field_is_told_and_nothing_is_written(store):
    typed(store).invoke({}, thread_id="t")
    changed = typed(store, count=(int, REQUIRED))
    with refusal(store, GraphChangedError, "'t'", "'count'"):
        resumed(changed)
    with refusal(store, GraphChangedError, "'t'", "'count'"):
        run(changed.get_state("t"))


def test_a_completed_thread_is_told_when_its_next_turn_does_not_fit(store):
    graph = typed(store, count=(str, ""))
    graph.invoke({"count": "many"}, thread_id="t")
    resumed(graph)
    with refusal(store, GraphChangedError, "'count'"):
        typed(store, count=(int, 0)).invoke({}, thread_id="t")
    assert told(graph)[-1] == "run_completed"


def test_a_fork_is_judged_by_the_state_it_stands_on(store):
    graph = typed(store, count=(int | str, 0))
    graph.invoke({"count": 1}, thread_id="t")
    graph.invoke(None, thread_id="t", resume=Resume({"count": "many"}))
    branch = run(graph.fork("t", from_=point(graph, "interrupted"))).id
    changed = typed(store, count=(int, 0))
    with refusal(store, GraphChangedError, "'count'"):
        changed.invoke({}, thread_id="t")
    assert changed.invoke(None, thread_id="t", branch_id=branch, resume=Resume({"count": 2})).data["count"] == 2
