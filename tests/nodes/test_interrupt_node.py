"""Declared pauses: a node that asks and writes the answer, wherever it stands in a graph."""

from __future__ import annotations

import asyncio
from typing import Annotated, Any, Literal

import pytest
from pydantic import AfterValidator, Field

from nodestep import (
    END,
    START,
    BaseState,
    Graph,
    InvalidUpdateError,
    Middleware,
    Replace,
    Resume,
    ResumeError,
    Send,
    add,
    interrupt_node,
    node,
    when,
)
from nodestep.errors import GraphConfigError, GraphExecutionError
from tests.asking import refusal


class Post(BaseState):
    draft: str = "hello"
    approved: bool = False
    title: str = ""
    remarks: Annotated[list[str], add] = Field(default_factory=list)
    rounds: int = 0
    log: Annotated[list[str], add] = Field(default_factory=list)


@node
def write(state: Post) -> dict:
    return {"log": ["write"], "rounds": state.rounds + 1}


@node
def publish(state: Post) -> dict:
    return {"log": [f"publish {state.approved} {state.title}".strip()]}


review = interrupt_node("review", key="approved", prompt="Publish {draft}?")
name_it = interrupt_node("name it", key="title", prompt="Which title?")


def posts(*items: Any, store: Any = None, **options: Any) -> Graph[Post]:
    return Graph(Post, state_store=store, **options).flow(*items)


def asked(result: Any) -> dict[str, Any]:
    return {key: found.payload for key, found in result.interrupts.items()}


def answer(graph: Graph[Any], *answers: Any) -> Any:
    for value in answers:
        resume = Resume(answers=value) if isinstance(value, dict) else Resume(value)
        result = graph.invoke(None, thread_id="t", resume=resume)
    return result


# Where it stands


def test_it_is_the_only_node(store):
    graph = posts(START >> review >> END, store=store)

    paused = graph.invoke({}, thread_id="t")

    assert asked(paused) == {"review:approved": "Publish hello?"}
    assert (paused.interrupts["review:approved"].id, paused.interrupts["review:approved"].node) == (
        "approved",
        "review",
    )
    assert answer(graph, True).state.approved is True


def test_it_is_the_first_node(store):
    graph = posts(START >> review >> publish >> END, store=store)

    graph.invoke({"draft": "new"}, thread_id="t")

    assert answer(graph, True).state.log == ["publish True"]


def test_it_is_the_last_node(store):
    graph = posts(START >> write >> review >> END, store=store)

    graph.invoke({}, thread_id="t")
    done = answer(graph, True)

    assert (done.state.log, done.state.approved) == (["write"], True)


def test_two_follow_each_other(store):
    graph = posts(START >> review >> name_it >> publish >> END, store=store)

    graph.invoke({}, thread_id="t")
    second = answer(graph, True)

    assert asked(second) == {"name it:title": "Which title?"}
    assert answer(graph, "News").state.log == ["publish True News"]


def test_the_same_field_is_asked_for_twice(store):
    again = interrupt_node("again", key="approved", prompt="Sure, after {approved}?")
    graph = posts(START >> review >> again >> publish >> END, store=store)

    graph.invoke({}, thread_id="t")
    second = answer(graph, True)

    assert asked(second) == {"again:approved": "Sure, after True?"}
    assert answer(graph, False).state.log == ["publish False"]


def test_the_branch_behind_it_sees_the_answer(store):
    graph = posts(
        START >> review,
        review >> when(lambda s: s.approved, publish, otherwise=write),
        publish >> END,
        write >> END,
        store=store,
    )

    graph.invoke({}, thread_id="t")

    assert answer(graph, False).state.log == ["write"]


def test_it_is_in_a_branch_that_is_not_taken(store):
    graph = posts(
        START >> write >> when(lambda s: s.rounds > 1, review, otherwise=publish), review >> publish >> END, store=store
    )

    assert graph.invoke({}, thread_id="t").state.log == ["write", "publish False"]


def test_every_round_of_a_loop_asks_anew(store):
    graph = posts(START >> write >> review >> when(lambda s: s.approved, END, otherwise=write), store=store)

    graph.invoke({}, thread_id="t")
    pauses = set()
    for _ in range(3):
        paused = answer(graph, False)
        pauses.add(paused.interrupts["review:approved"].pause)

    assert len(pauses) == 3
    assert answer(graph, True).state.log == ["write"] * 4


def test_several_stand_side_by_side(store):
    graph = posts(START >> [review, name_it] >> publish >> END, store=store)

    paused = graph.invoke({}, thread_id="t")

    assert sorted(paused.interrupts) == ["name it:title", "review:approved"]
    done = answer(graph, {"review:approved": True, "name it:title": "News"})
    assert done.state.log == ["publish True News"]


def test_a_sibling_runs_once_beside_it(store):
    graph = posts(START >> [review, write] >> publish >> END, store=store)

    paused = graph.invoke({}, thread_id="t")

    assert paused.state.log == []
    assert answer(graph, True).state.log == ["write", "publish True"]


def test_each_task_of_a_fan_out_asks_for_itself(store):
    remark = interrupt_node("remark", key="remarks", prompt="Remark on {draft}?")

    @node(goto=[remark])
    def spread(state: Post) -> list[Send]:
        return [Send(remark, {"draft": draft}) for draft in ("a", "b", "c")]

    graph = posts(START >> spread, remark >> END, store=store)

    paused = graph.invoke({}, thread_id="t")

    assert asked(paused) == {
        "remark:remarks": "Remark on a?",
        "remark[1]:remarks": "Remark on b?",
        "remark[2]:remarks": "Remark on c?",
    }
    answers = {key: [found.payload[-2]] for key, found in paused.interrupts.items()}
    assert answer(graph, answers).state.remarks == ["a", "b", "c"]


def test_two_that_write_a_field_without_a_merging_reducer_conflict(store):
    other = interrupt_node("other", key="approved", prompt="And you?")
    graph = posts(START >> [review, other] >> publish >> END, store=store)

    graph.invoke({}, thread_id="t")

    with pytest.raises(InvalidUpdateError, match="approved"):
        answer(graph, {"review:approved": True, "other:approved": False})


def test_it_pauses_a_new_turn(store):
    graph = posts(START >> review >> END, store=store)

    for turn in (True, False):
        graph.invoke({}, thread_id="t")
        assert answer(graph, turn).state.approved is turn


# The answer


@pytest.mark.parametrize("value", ["no", 1, None, [True], {"approved": True}])
def test_an_answer_that_does_not_fit_the_field_is_refused(store, value):
    graph = posts(START >> review >> publish >> END, store=store)
    graph.invoke({}, thread_id="t")

    with refusal(store, ResumeError, "'review:approved' does not fit its question"):
        graph.invoke(None, thread_id="t", resume=Resume(value))


def test_the_question_carries_the_schema_of_the_field(store):
    graph = posts(START >> review >> name_it >> END, store=store)

    paused = graph.invoke({}, thread_id="t")

    assert paused.interrupts["review:approved"].answer_schema == {"type": "boolean"}


def test_the_answer_goes_through_the_reducer(store):
    remark = interrupt_node("remark", key="remarks")
    graph = posts(START >> remark >> END, store=store)

    paused = graph.invoke({"remarks": ["first"]}, thread_id="t")

    assert paused.interrupts["remark:remarks"].answer_schema == {"items": {"type": "string"}, "type": "array"}
    assert answer(graph, ["second", "third"]).state.remarks == ["first", "second", "third"]


def test_the_answer_of_a_reducer_of_ones_own_is_any_json(store):
    def longest(old: str | None, new: Any) -> str:
        return max(old or "", str(new), key=len)

    class Best(BaseState):
        best: Annotated[str, longest] = ""

    graph = Graph(Best, state_store=store).flow(START >> interrupt_node("ask", key="best") >> END)
    paused = graph.invoke({"best": "12"}, thread_id="t")

    assert paused.interrupts["ask:best"].answer_schema is None
    assert graph.invoke(None, thread_id="t", resume=Resume(12345)).state.best == "12345"


def test_a_type_of_ones_own_narrows_the_answer(store):
    graph = posts(START >> interrupt_node("ask", key="title", answer=Literal["News", "Sport"]) >> END, store=store)
    graph.invoke({}, thread_id="t")

    with refusal(store, ResumeError, "enum"):
        graph.invoke(None, thread_id="t", resume=Resume("Weather"))
    assert answer(graph, "Sport").state.title == "Sport"


def test_an_answer_that_only_the_field_refuses_is_asked_for_again(store):
    def no_shouting(text: str) -> str:
        if text.isupper():
            raise ValueError("not so loud")
        return text

    class Quiet(BaseState):
        title: Annotated[str, AfterValidator(no_shouting)] = ""

    graph = Graph(Quiet, state_store=store).flow(START >> interrupt_node("ask", key="title") >> END)
    first = graph.invoke({}, thread_id="t").interrupts["ask:title"].pause

    again = answer(graph, "LOUD")

    assert again.status == "interrupted"
    assert again.interrupts["ask:title"].pause != first
    assert answer(graph, "quiet").state.title == "quiet"


def test_an_answer_of_a_type_that_the_field_refuses_is_asked_for_again(store):
    graph = posts(START >> interrupt_node("ask", key="title", answer=int) >> END, store=store)
    graph.invoke({}, thread_id="t")

    assert answer(graph, 5).status == "interrupted"


def test_a_dict_as_state_takes_any_answer(store):
    graph = Graph(dict, state_store=store).flow(START >> interrupt_node("ask", key="note", prompt="{topic}?") >> END)
    paused = graph.invoke({"topic": "Tea"}, thread_id="t")

    assert asked(paused) == {"ask:note": "Tea?"}
    assert answer(graph, False).data == {"topic": "Tea", "note": False}


def test_a_hook_answers_it(store):
    class Yes(Middleware):
        def on_interrupt(self, ctx: Any, payload: Any) -> Any:
            return True if payload == "Publish hello?" else None

    graph = posts(START >> review >> END, store=store, middleware=[Yes()])

    assert graph.invoke({}, thread_id="t").state.approved is True


def test_it_needs_a_store():
    with pytest.raises(GraphConfigError, match="'review' asks 'approved', and nothing can pause without a store"):
        posts(START >> review >> END).invoke({})


def test_it_is_answered_like_any_question(store):
    graph = posts(START >> review >> publish >> END, store=store)
    graph.invoke({}, thread_id="t")

    async def by_somebody() -> Any:
        (open_question,) = (await store.pending()).items
        left = await store.answer("t", {open_question.key: True}, pause=open_question.pause, by="kim")
        return left, await graph.ainvoke(None, thread_id="t"), (await store.audit("t")).items

    left, done, decisions = asyncio.run(by_somebody())
    assert (left, done.state.log) == ((), ["publish True"])
    assert [(d.key, d.value, d.by) for d in decisions] == [("review:approved", True, "kim")]


# The prompt


def test_the_prompt_shows_the_state_at_the_pause(store):
    graph = posts(
        START >> write >> interrupt_node("ask", key="title", prompt="{{{draft}}} {rounds:03d} {log[0]}") >> END,
        store=store,
    )

    assert asked(graph.invoke({}, thread_id="t")) == {"ask:title": "{hello} 001 write"}


def test_without_a_prompt_the_payload_is_empty(store):
    graph = posts(START >> interrupt_node("ask", key="title") >> END, store=store)

    assert asked(graph.invoke({}, thread_id="t")) == {"ask:title": ""}


def test_a_place_without_a_value_fails_before_the_pause_is_stored(store):
    graph = posts(START >> interrupt_node("ask", key="title", prompt="{log[2]}") >> END, store=store)

    with pytest.raises(GraphExecutionError, match=r"\{log\[2\]\} cannot be filled in"):
        graph.invoke({}, thread_id="t")

    assert asyncio.run(graph.pending()).items == ()
    assert [event.type for event in asyncio.run(graph.history("t")).events][-1] == "superstep_failed"


def test_a_failed_prompt_is_asked_once_the_state_has_the_value(store):
    graph = posts(START >> interrupt_node("ask", key="title", prompt="{log[0]}?") >> END, store=store)
    with pytest.raises(GraphExecutionError):
        graph.invoke({}, thread_id="t")

    asyncio.run(graph.update_state("t", {"log": ["now"]}))

    assert asked(graph.invoke(None, thread_id="t")) == {"ask:title": "now?"}


def test_an_edit_of_the_state_during_the_pause_stays(store):
    graph = posts(START >> review >> publish >> END, store=store)
    graph.invoke({}, thread_id="t")

    asyncio.run(graph.update_state("t", {"draft": "edited", "title": "News", "approved": True}))

    done = answer(graph, False)
    assert (done.state.draft, done.state.title, done.state.approved) == ("edited", "News", False)


def test_an_edit_that_empties_the_prompt_does_not_cost_the_answer(store):
    graph = posts(START >> interrupt_node("ask", key="title", prompt="{log[0]}?") >> publish >> END, store=store)
    graph.invoke({"log": ["it"]}, thread_id="t")

    asyncio.run(graph.update_state("t", {"log": Replace([])}))

    assert answer(graph, "News").state.log == ["publish False News"]


# What is refused when it is written


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"key": "aproved"}, ["key='aproved'", "'aproved' is no field of Post", "Did you mean 'approved'?"]),
        ({"key": "approved", "prompt": "{drafd}?"}, ["names {drafd}", "'drafd' is no field of Post", "'draft'?"]),
    ],
)
def test_an_unknown_field_is_refused_with_the_graph(options, words):
    with pytest.raises(GraphConfigError) as caught:
        posts(START >> interrupt_node("ask", **options) >> END)
    assert all(word in str(caught.value) for word in words), str(caught.value)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"key": "größe"}, "key='größe' cannot be the id of a question"),
        ({"key": ""}, "key='' cannot be"),
        ({"key": None}, "key=None cannot be"),
        ({"key": "title", "prompt": "{draft"}, "in its prompt a single '{'"),
        ({"key": "title", "prompt": "{draft.__class__}"}, "starts with '_'"),
        ({"key": "title", "prompt": None}, "prompt=None is not text"),
        ({"key": "title", "answer": type("Odd", (), {})}, "answer=Odd was refused: the type has no JSON Schema"),
        ({"key": "title", "aliases": "old"}, "aliases='old' is not a list"),
    ],
)
def test_what_is_wrong_alone_is_refused_at_once(options, words):
    with pytest.raises(GraphConfigError) as caught:
        interrupt_node("ask", **options)
    assert words in str(caught.value)


def test_the_same_pause_written_twice_is_one_node():
    graph = posts(START >> write >> review, interrupt_node("review", key="approved", prompt="Publish {draft}?") >> END)

    assert list(graph.blueprint.nodes) == ["write", "review"]


def test_two_pauses_of_one_name_are_refused():
    with pytest.raises(GraphConfigError, match="'review' appears with different options"):
        posts(START >> review, interrupt_node("review", key="title") >> END)


def test_one_pause_stands_in_graphs_over_several_states(store):
    class Other(BaseState):
        draft: str = "other"
        approved: str = ""

    graph = Graph(Other, state_store=store).flow(START >> review >> END)

    assert graph.invoke({}, thread_id="t").interrupts["review:approved"].answer_schema == {"type": "string"}


def test_a_renamed_pause_finds_its_thread_by_the_alias(store):
    posts(START >> review >> END, store=store, name="posts").invoke({}, thread_id="t")
    renamed = interrupt_node("approval", key="approved", prompt="Publish {draft}?", aliases=["review"])

    graph = posts(START >> renamed >> END, store=store, name="posts")

    assert answer(graph, {"review:approved": True}).state.approved is True
