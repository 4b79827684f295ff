"""Whatever is asked of a stored thread without its graph runs no code of its state type."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import AfterValidator, Field

from nodestep import END, START, BaseState, Graph, Resume, interrupt, node
from tests.history.making import forked, point
from tests.running.making import run


def test_loading_telling_forking_answering_pruning_and_cancelling_run_no_users_code(store, reopened):
    called: list[str] = []

    def noted(value: Any) -> Any:
        called.append("validator")
        return value

    def joined(current: str | None, update: str) -> str:
        called.append("reducer")
        return (current or "") + update

    def fresh() -> list[int]:
        called.append("factory")
        return []

    class Watched(BaseState):
        word: Annotated[str, joined] = ""
        n: Annotated[int, AfterValidator(noted)] = 0
        got: Annotated[list[int], Field(default_factory=fresh)]

    def ask(state: Watched):
        called.append("node")
        return {"word": "b", "n": 2, "got": [interrupt("?", id="ok", answer=Annotated[int, AfterValidator(noted)])]}

    first = node(lambda state: {"word": "a", "n": 1}, name="a")
    graph = Graph(Watched, state_store=store).flow(START >> first >> node(ask, name="ask") >> END)
    graph.invoke({}, thread_id="t")
    assert set(called) == {"validator", "reducer", "factory", "node"}
    del called[:]

    other = reopened()
    for at in run(other.history("t")).checkpoints:
        run(other.load("t", at))
    branch = forked(other, "interrupted")
    run(other.answer("t", {"ask:ok": 5}, branch_id=branch))
    forked(other, "superstep_completed")
    run(other.pending())
    run(other.audit())
    run(other.threads())
    run(other.prune("t", keep=1))
    run(other.cancel("t"))
    assert called == []
    assert run(other.load("t", point(other, "interrupted")))["word"] == "a"
    assert graph.invoke(None, thread_id="t", branch_id=branch).data == {"word": "ab", "n": 2, "got": [5]}


def test_a_resume_validates_the_state_it_loads_but_does_not_reduce_it_again(store):
    called: list[str] = []

    def joined(current: str | None, update: str) -> str:
        called.append(update)
        return (current or "") + update

    class Word(BaseState):
        word: Annotated[str, joined] = ""

    def ask(state: Word):
        return {"word": interrupt("?", id="ok")}

    first = node(lambda state: {"word": "a"}, name="a")
    graph = Graph(Word, state_store=store).flow(START >> first >> node(ask, name="ask") >> END)
    graph.invoke({}, thread_id="t")
    assert graph.invoke(None, thread_id="t", resume=Resume("b")).data == {"word": "ab"}
    assert called == ["a", "b"]
