"""What a store keeps over processes, kills and reloads. Ids are those of the collection of cases."""

from __future__ import annotations

import json
from typing import Annotated

import pytest
from pydantic import Field

from nodestep import (
    END,
    START,
    BaseState,
    ContextNotProvidedError,
    Graph,
    NodeContext,
    Resume,
    Send,
    SQLiteStateStore,
    StoreFullError,
    add,
    interrupt,
    when,
)
from tests.persistence.children import Child
from tests.persistence.programs.effects import Effects
from tests.persistence.programs.orders import build, finish
from tests.running.making import Log, does, of, returns, run, says
from tests.watching import Watched


def test_pe_01_a_pause_is_answered_in_another_process(tmp_path):
    path, effects = tmp_path / "threads.db", Effects(tmp_path / "effects")

    def process(what: str) -> str:
        with Child("release", path, effects.path, what) as child:
            heard = child.hears()
            assert child.ended() == 0
            return heard

    assert process("pause") == "interrupted"
    assert json.loads(process("pending")) == {
        "legal:sign_off": {"question": "Legal?", "terms": ["a", 1]},
        "security:sign_off": "Security?",
    }
    assert json.loads(process("answer")) == ["built", "legal: fine ['a', 1]", "security: ok", "published"]
    assert sorted(effects.done()) == ["build", "publish", "terms"]


def test_pe_04_reading_history_does_not_block_writing(store):
    graph = of(START >> says("a") >> says("b") >> END, state_store=store)
    graph.invoke({}, thread_id="t")

    events = iter(run(graph.history("t")).events)
    next(events)
    records = iter(store.records("t", "main"))
    next(records)
    stream = graph.stream({}, thread_id="u", stream_mode="values")
    next(stream)

    assert graph.invoke({}, thread_id="v").state.log == ["a", "b"]
    assert len(list(events)) > 1
    assert len(list(records)) == 2
    assert [event.mode for event in stream] == ["values", "final"]


def test_pe_08_a_file_grows_with_what_was_written(tmp_path):
    """Deleting a thread belongs to another page; here only growth is measured."""

    def size(steps: int) -> int:
        path = tmp_path / f"{steps}.db"
        kilobyte = "x" * 1000

        def adds(state: Log):
            return {"n": state.n + 1, "log": [kilobyte]}

        def goes_on(state: Log) -> bool:
            return state.n < steps

        a = does("a", adds)
        with SQLiteStateStore(path) as store:
            of(START >> a >> when(goes_on, a, otherwise=END), max_steps=steps).invoke(
                {}, thread_id="t", state_store=store
            )
        return path.stat().st_size

    empty, one, two = size(1), size(100), size(200)
    assert two - empty < 2.5 * (one - empty)
    assert two - empty < 200 * 1000 * 5


@pytest.mark.parametrize(
    ("point", "twice"), [("beside pack", "price"), ("after the effect", "approved:yes"), ("answered", "")]
)
def test_pe_10_a_kill_repeats_only_what_was_not_recorded(point, twice, tmp_path):
    path, effects = tmp_path / "threads.db", Effects(tmp_path / "effects")
    with Child("orders", path, effects.path, point) as child:
        assert child.hears() == "inside"
        before = effects.done()
        child.kill()
    with SQLiteStateStore(path) as store:
        finish(build(store, effects))

    again = [effect for effect in effects.done()[len(before) :] if effect in before]
    assert again == ([twice] if twice in before else [])


def test_pe_11_a_pause_that_could_not_be_stored_is_an_error(store):
    def full(facts) -> None:
        if any(type(fact).__name__ == "Paused" for fact in facts):
            raise StoreFullError("The disk is full.")

    graph = of(START >> does("ask", lambda s: {"log": [interrupt("?", id="ok")]}) >> END)
    with pytest.raises(StoreFullError):
        graph.invoke({}, thread_id="t", state_store=Watched(store, full))

    assert run(graph.pending("t", state_store=store)).items == ()


def test_pe_11_a_pause_that_was_returned_is_there_after_a_kill(tmp_path):
    path, effects = tmp_path / "threads.db", Effects(tmp_path / "effects")
    with Child("orders", path, effects.path, "paused") as child:
        assert child.hears() == "inside"
        child.kill()

    with SQLiteStateStore(path) as store:
        assert [item.payload for item in run(store.pending()).items] == ["Approve 42?"]


class Chat(BaseState):
    messages: Annotated[list[str], add] = Field(default_factory=list)
    count: int = 0
    untouched: str = "default"
    given: str = ""


def test_pe_12_fields_that_no_node_touched_are_there_after_reload(store, reopened):
    def counts(state: Chat):
        return {"count": 5}

    def asks(state: Chat):
        return {"messages": [interrupt("?", id="ok")]}

    def graph(kept):
        return Graph(Chat, state_store=kept).flow(
            START >> returns("a", {"messages": ["hello"]}) >> does("b", counts) >> does("c", asks) >> END
        )

    graph(store).invoke({"given": "input"}, thread_id="t")
    again = graph(reopened())

    expected = Chat(messages=["hello"], count=5, given="input")
    assert run(again.get_state("t")).value == expected
    assert run(again.load("t")) == expected.model_dump()
    done = again.invoke(None, thread_id="t", resume=Resume("yes"))
    assert done.state == Chat(messages=["hello", "yes"], count=5, given="input")


def test_pe_13_context_is_passed_again_with_the_answer(store, reopened):
    """Semantics: an accepted answer is used once and kept, so the call after the error goes on without it."""

    def reads(state: Log, ctx: NodeContext):
        answer = interrupt("?", id="ok") if state.n == 1 else "-"
        return {"log": [f"{ctx.context['tenant']} {state.n} {answer}"]}

    def graph(kept):
        return of(
            START >> returns("plan", [Send("item", {"n": n}) for n in (0, 1)], goto=["item"]),
            does("item", reads) >> END,
            state_store=kept,
        )

    graph(store).invoke({}, thread_id="t", context={"tenant": "acme"})
    again = graph(reopened())
    with pytest.raises(ContextNotProvidedError, match=r"ctx\.context.*context="):
        again.invoke(None, thread_id="t", resume=Resume("yes"))

    assert again.invoke(None, thread_id="t", context={"tenant": "acme"}).state.log == ["acme 0 -", "acme 1 yes"]
