"""`Graph.run`: the final state, or `GraphInterrupt`; and the answer as a bare value, a dict or a `Resume`."""

from __future__ import annotations

import asyncio
import copy
import pickle
from datetime import timedelta
from typing import Any

import pytest

from nodestep import (
    END,
    START,
    BaseState,
    Graph,
    GraphInterrupt,
    InMemoryStateStore,
    NodeContext,
    Resume,
    RunInterruptedError,
    interrupt,
    interrupt_node,
    node,
)
from nodestep.errors import (
    GraphConfigError,
    InterruptExpiredError,
    NodestepError,
    ResumeError,
    ThreadBusyError,
    UnknownThreadError,
)
from tests.asking import refusal
from tests.stores.writing import StillClock


class Post(BaseState):
    draft: str = "hello"
    verdict: Any = "unset"
    title: str = ""
    log: str = ""


ask_verdict = interrupt_node("review", key="verdict", prompt="Publish {draft}?")
ask_title = interrupt_node("name it", key="title", prompt="Which title?")


@node
def publish(state: Post) -> dict:
    return {"log": f"{state.log}{state.verdict!r}"}


def posts(*items: Any, **options: Any) -> Graph[Post]:
    return Graph(Post, **options).flow(*items)


GRAPH = posts(START >> ask_verdict >> publish >> END)
BOTH = posts(START >> [ask_verdict, ask_title] >> publish >> END)


def run(graph: Graph[Any], store: Any, state: Any = None, **options: Any) -> Any:
    given = {} if state is None else state
    return asyncio.run(graph.run(given, checkpointer=store, checkpoint_id="t", **options))


def paused(graph: Graph[Any], store: Any, state: Any = None, **options: Any) -> RunInterruptedError:
    with pytest.raises(GraphInterrupt) as caught:
        run(graph, store, state, **options)
    assert isinstance(caught.value, RunInterruptedError)
    return caught.value


# The end, and the pause


def test_it_returns_the_final_state(store):
    graph = posts(START >> publish >> END)

    assert run(graph, store, {"verdict": 1}) == Post(verdict=1, log="1")


def test_it_runs_without_a_store():
    graph = posts(START >> publish >> END)

    assert asyncio.run(graph.run({"verdict": 1})).log == "1"


def test_a_pause_tells_everything_of_the_page(store):
    signal = paused(GRAPH, store)

    assert (signal.key, signal.prompt, signal.node_id) == ("verdict", "Publish hello?", "review")
    assert (signal.checkpoint_id, signal.nested_checkpoint_id, signal.thread_id) == ("t", None, "t")
    assert str(signal) == "workflow paused for input: Publish hello?"
    assert list(signal.interrupts) == ["review:verdict"]


def test_a_pause_of_a_function_tells_its_key_and_its_payload_as_text(store):
    @node
    def ask(state: Post) -> dict:
        return {"verdict": interrupt({"draft": state.draft, "n": 1}, id="approve")}

    signal = paused(posts(START >> ask >> END), store)

    assert (signal.key, signal.node_id) == ("ask:approve", "ask")
    assert signal.prompt == '{"draft":"hello","n":1}'


def test_of_several_questions_the_first_by_key_is_told_and_all_are_there(store):
    signal = paused(BOTH, store)

    assert (signal.key, signal.node_id) == ("title", "name it")
    assert sorted(signal.interrupts) == ["name it:title", "review:verdict"]


def test_the_caller_catches_it_as_an_exception_too(store):
    with pytest.raises(Exception) as caught:  # noqa: PT011 - any exception is the point
        run(GRAPH, store)
    assert isinstance(caught.value, NodestepError)


@pytest.mark.parametrize("again", [copy.copy, copy.deepcopy, lambda error: pickle.loads(pickle.dumps(error))])
def test_it_survives_copying(store, again):
    signal = paused(GRAPH, store)

    twin = again(signal)

    assert type(twin) is RunInterruptedError
    assert str(twin) == str(signal)
    assert vars(twin) == vars(signal)


def test_raised_in_a_node_of_another_graph_it_fails_that_node(store):
    @node
    async def outer(state: Post) -> dict:
        await GRAPH.run({}, checkpointer=store, checkpoint_id="inner")
        return {"log": "went on"}

    graph = posts(START >> outer >> END)

    with pytest.raises(RunInterruptedError) as caught:
        run(graph, store)
    assert caught.value.thread_id == "inner"
    assert [asked.thread_id for asked in asyncio.run(store.pending()).items] == ["inner"]


# Which call it is


def test_a_paused_thread_raises_the_same_again_and_runs_nothing(store):
    first = paused(GRAPH, store)

    with refusal(store, RunInterruptedError, "workflow paused for input: Publish hello?"):
        run(GRAPH, store, {"draft": "ignored"})
    again = paused(GRAPH, store)

    assert again.interrupts == first.interrupts
    assert (again.key, again.prompt, again.node_id, again.checkpoint_id) == (
        first.key,
        first.prompt,
        first.node_id,
        first.checkpoint_id,
    )


def test_the_state_is_ignored_with_an_answer(store):
    paused(GRAPH, store, {"draft": "first"})

    assert run(GRAPH, store, {"draft": "second"}, resume="yes").draft == "first"


def test_the_state_is_ignored_on_an_unfinished_thread(store):
    failing = [True]

    @node
    def once_broken(state: Post) -> dict:
        if failing.pop():
            failing.append(False)
            raise ValueError("broken")
        return {"log": state.draft}

    graph = posts(START >> once_broken >> END)
    with pytest.raises(ValueError, match="broken"):
        run(graph, store, {"draft": "first"})

    assert run(graph, store, {"draft": "second"}).log == "first"


def test_an_answered_thread_goes_on(store):
    paused(GRAPH, store)
    asyncio.run(store.answer("t", {"review:verdict": "yes"}))

    assert run(GRAPH, store, {"draft": "ignored"}).log == "'yes'"


def test_a_completed_thread_starts_another_turn(store):
    graph = posts(START >> publish >> END)
    run(graph, store, {"verdict": 1})

    assert run(graph, store, {"verdict": 2}).log == "12"


def test_an_answer_to_a_completed_thread_is_refused(store):
    paused(GRAPH, store)
    run(GRAPH, store, resume="yes")

    for resume in ("yes", {"verdict": "yes"}, Resume("yes")):
        with refusal(store, ResumeError, "waits for no answer"):
            run(GRAPH, store, resume=resume)


def test_an_answer_to_an_unknown_thread_is_refused(store):
    for resume in ("yes", {"verdict": "yes"}, {}):
        with refusal(store, UnknownThreadError, "'t'"):
            run(GRAPH, store, resume=resume)


def test_an_answer_without_a_store_is_refused():
    with pytest.raises(GraphConfigError, match="has no store, and resume= needs a stored thread"):
        asyncio.run(GRAPH.run({}, resume=False))


@pytest.mark.parametrize("checkpoint_id", [None, ""])
def test_a_checkpointer_needs_a_checkpoint_id(store, checkpoint_id):
    for graph, options in ((GRAPH, {"checkpointer": store}), (posts(START >> publish >> END, state_store=store), {})):
        with pytest.raises(GraphConfigError, match="so a run needs a checkpoint_id"):
            asyncio.run(graph.run({}, checkpoint_id=checkpoint_id, **options))
    assert asyncio.run(store.threads()).items == ()


def test_what_is_no_checkpointer_is_refused():
    with pytest.raises(GraphConfigError, match="takes a store"):
        asyncio.run(GRAPH.run({}, checkpointer={}, checkpoint_id="t"))  # type: ignore[arg-type]


def test_the_graphs_own_store_is_the_checkpointer_unless_another_is_given(store):
    graph = posts(START >> publish >> END, state_store=InMemoryStateStore())

    asyncio.run(graph.run({}, checkpoint_id="own"))
    asyncio.run(graph.run({}, checkpointer=store, checkpoint_id="other"))

    assert asyncio.run(graph.exists("own"))
    assert not asyncio.run(graph.exists("other"))
    assert asyncio.run(store.exists("other"))


def test_the_context_reaches_the_nodes(store):
    @node
    def read(state: Post, ctx: NodeContext) -> dict:
        return {"log": ctx.context["user"]}

    graph = posts(START >> ask_verdict >> read >> END)
    paused(graph, store)

    assert run(graph, store, resume="yes", context={"user": "kim"}).log == "kim"


def test_a_running_thread_is_busy(store):
    async def twice() -> Any:
        begun, go_on = asyncio.Event(), asyncio.Event()

        async def wait(state: Post) -> dict:
            begun.set()
            await go_on.wait()
            return {}

        graph = posts(START >> node(wait, name="wait") >> END)
        first = asyncio.ensure_future(graph.run({}, checkpointer=store, checkpoint_id="t"))
        await begun.wait()
        for options in ({}, {"resume": "yes"}, {"resume": {"verdict": 1}}):
            with pytest.raises(ThreadBusyError):
                await graph.run({}, checkpointer=store, checkpoint_id="t", **options)
        go_on.set()
        await first

    asyncio.run(twice())


def test_the_id_of_an_inner_checkpoint_is_refused_with_the_outer_one(store):
    paused(GRAPH, store)
    event = asyncio.run(store.history("t")).checkpoints[-1]

    for options in ({}, {"resume": "yes"}):
        with refusal(store, GraphConfigError, "checkpoint_id='t'", f"{event}/sub"):
            asyncio.run(GRAPH.run({}, checkpointer=store, checkpoint_id=f"{event}/sub", **options))
    assert len(asyncio.run(store.threads()).items) == 1


# The answer


@pytest.mark.parametrize("value", ["yes", True, False, 0, "", None, [], 1.5, ["a"]])
def test_a_bare_value_answers_the_only_question(store, value):
    paused(GRAPH, store)

    assert run(GRAPH, store, resume=value) == Post(verdict=value, log=repr(value))


def test_a_resume_answers_with_what_it_holds(store):
    paused(GRAPH, store)

    assert run(GRAPH, store, resume=Resume({"verdict": "a form"})).verdict == {"verdict": "a form"}


@pytest.mark.parametrize("name", ["verdict", "review:verdict"])
def test_a_dict_is_a_map_by_field_or_key(store, name):
    paused(GRAPH, store)

    assert run(GRAPH, store, resume={name: False}).verdict is False


def test_a_dict_answers_several(store):
    paused(BOTH, store)

    done = run(BOTH, store, resume={"verdict": None, "name it:title": "News"})

    assert (done.verdict, done.title) == (None, "News")


def test_a_bare_value_does_not_answer_several(store):
    paused(BOTH, store)

    with refusal(store, ResumeError, "2 questions are open"):
        run(BOTH, store, resume="yes")


def test_a_dict_must_answer_all(store):
    paused(BOTH, store)

    with refusal(store, ResumeError, "missing: 'name it:title'"):
        run(BOTH, store, resume={"verdict": 1})


@pytest.mark.parametrize("name", ["verdikt", "review:verdikt", "approve", 5, None, ("a",)])
def test_an_unknown_name_is_refused(store, name):
    paused(GRAPH, store)

    words = ["no open question's key or field", "'review:verdict' (field 'verdict')", "write resume=Resume({...})"]
    with refusal(store, ResumeError, *words):
        run(GRAPH, store, resume={name: "yes"})
    assert run(GRAPH, store, resume={"verdict": "yes"}).verdict == "yes"


def test_a_misspelt_name_is_recognized(store):
    paused(GRAPH, store)

    with refusal(store, ResumeError, "Did you mean 'verdict'?"):
        run(GRAPH, store, resume={"verdikt": "yes"})


def test_the_id_of_a_functions_question_is_no_field(store):
    graph = posts(START >> node(lambda state: {"verdict": interrupt("?", id="verdict")}, name="ask") >> publish >> END)
    paused(graph, store)

    with refusal(store, ResumeError, "no open question's key or field"):
        run(graph, store, resume={"verdict": "yes"})
    assert run(graph, store, resume={"ask:verdict": "yes"}).verdict == "yes"


def test_a_field_that_several_questions_write_is_ambiguous(store):
    other = interrupt_node("other", key="verdict")
    graph = posts(START >> [ask_verdict, other] >> publish >> END)
    paused(graph, store)

    with refusal(store, ResumeError, "the field 'verdict', which 2 open questions write", "Resume({...})"):
        run(graph, store, resume={"verdict": "yes"})


def test_one_question_is_not_answered_twice(store):
    paused(GRAPH, store)

    with refusal(store, ResumeError, "resume= answers 'review:verdict' twice"):
        run(GRAPH, store, resume={"verdict": 1, "review:verdict": 2})


def test_an_expired_question_takes_its_default_without_an_answer():
    clock = StillClock()
    store = InMemoryStateStore(clock=clock)
    ask = node(
        lambda state: {"verdict": interrupt("?", id="a", expires=timedelta(seconds=5), default="late")}, name="ask"
    )
    graph = posts(START >> ask >> publish >> END)
    paused(graph, store)
    clock.forward(6000)

    with refusal(store, InterruptExpiredError, "deadline"):
        run(graph, store, resume={"ask:a": "yes"})
    assert run(graph, store).verdict == "late"


def test_a_node_that_was_renamed_lets_nothing_be_answered(store):
    paused(GRAPH, store)
    renamed = posts(START >> interrupt_node("approval", key="verdict", prompt="Publish?") >> publish >> END)

    for resume in ("yes", {"review:verdict": "yes"}):
        with pytest.raises(NodestepError, match="review"):
            run(renamed, store, resume=resume)
    assert run(GRAPH, store, resume="yes").verdict == "yes"
