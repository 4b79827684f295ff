"""Every refusal names what a reader needs (node, field, writer, key) and never tells a value of the state."""

from __future__ import annotations

import asyncio
import traceback
from collections.abc import Callable
from typing import Annotated, Any

import pytest
from pydantic import AfterValidator, BaseModel, Field

from nodestep import (
    END,
    START,
    BaseState,
    Command,
    Graph,
    GraphExecutionError,
    InvalidUpdateError,
    Middleware,
    NodestepError,
    Send,
    StateStoreError,
    StateUpdateError,
    add,
    branch,
    merge_dict,
    node,
    when,
)
from nodestep.middleware import Replacement
from tests.asking import kept

SECRET = "hunter2"


def longest(current: str | None, update: str) -> str:
    return max(current or "", update, key=len)


def refuse(value: str) -> str:
    if value != "x":
        raise ValueError(f"{value} is not allowed here")
    return value


class Login(BaseState):
    user: str = ""
    pin: int = 0
    ok: Any = None
    log: Annotated[list[int], add] = Field(default_factory=list)
    few: Annotated[list[str], add, Field(max_length=1)] = Field(default_factory=list)
    tags: Annotated[dict[str, int], merge_dict] = Field(default_factory=dict)
    name: Annotated[str, longest] = ""
    never: Annotated[str, AfterValidator(refuse)] = "x"


class Other(BaseModel):
    user: str = SECRET


def alone(body: Callable[..., Any], store: Any, *hooks: Middleware, **options: Any) -> Graph[Login]:
    return Graph(Login, state_store=store, middleware=hooks).flow(START >> node(body, name="n", **options) >> END)


def returning(value: Any, store: Any) -> Graph[Login]:
    return alone(lambda state: value, store)


def change_in_place(state: Login) -> dict[str, Any]:
    state.user = SECRET + SECRET
    return {"pin": 1}


def change_reduced(state: Login) -> Login:
    state.name = SECRET
    return state


class PutIn(Middleware):
    def before_node(self, ctx):
        return Replacement({"pin": SECRET})


class PutOut(Middleware):
    def after_node(self, ctx):
        return Replacement({"pin": SECRET})


def routed(way: Any, store: Any) -> Graph[Login]:
    target = node(lambda state: None, name="target")
    return Graph(Login, state_store=store).flow(
        START >> node(lambda state: {"user": SECRET}, name="n") >> way(target), target >> END
    )


def clashing(store: Any) -> Graph[Login]:
    left, right = (node(lambda state: {"user": SECRET}, name=name) for name in ("left", "right"))
    return Graph(Login, state_store=store).flow(
        START >> node(lambda state: None, name="n") >> [left, right], left >> END, right >> END
    )


UPDATES: list[tuple[str, Any, type[NodestepError], list[str]]] = [
    ("unknown field", {"usr": SECRET}, StateUpdateError, ["'usr'", "Login", "user, pin", "Did you mean 'user'?"]),
    ("wrong type", {"pin": SECRET}, StateUpdateError, ["'pin'"]),
    ("wrong item", {"log": [1, SECRET]}, StateUpdateError, ["'log'"]),
    ("no list", {"log": SECRET}, StateUpdateError, ["'log'"]),
    ("wrong dict value", {"tags": {"a": SECRET}}, StateUpdateError, ["'tags'"]),
    ("constraint", {"few": [SECRET, SECRET]}, StateUpdateError, ["'few'"]),
    ("validator", {"never": SECRET}, StateUpdateError, ["'never'"]),
    ("no JSON", {"ok": {SECRET: print}}, StateStoreError, ["'ok'"]),
    ("key that is no text", {5: SECRET}, StateUpdateError, ["int"]),
]


def told(error: BaseException) -> str:
    """Everything that a log shows of an error, save the lines of code."""
    return "".join(traceback.format_exception_only(error))


def check(error: BaseException, words: list[str]) -> None:
    for word in words:
        assert word in told(error)
    assert SECRET not in told(error)


@pytest.mark.parametrize(("kind", "update", "error", "words"), UPDATES, ids=[item[0] for item in UPDATES])
def test_an_input_that_is_refused_names_field_and_input_and_makes_no_thread(store, kind, update, error, words):
    ran: list[int] = []
    graph = alone(lambda state: ran.append(1), store)
    with pytest.raises(error) as refused:
        graph.invoke(update, thread_id="t")
    check(refused.value, [*words, "the input"])
    assert (kept(store), ran) == (None, [])


@pytest.mark.parametrize(("kind", "update", "error", "words"), UPDATES, ids=[item[0] for item in UPDATES])
@pytest.mark.parametrize("how", ["dict", "command"])
def test_an_update_that_is_refused_names_field_and_node(store, kind, update, error, words, how):
    graph = returning(update if how == "dict" else Command(update=update), store)
    with pytest.raises(error) as refused:
        graph.invoke({}, thread_id="t")
    check(refused.value, [*words, "node 'n'"])


@pytest.mark.parametrize(
    ("kind", "payload", "error", "words"),
    [item for item in UPDATES if item[0] != "constraint"],
    ids=lambda item: str(item)[:12],
)
def test_a_payload_that_is_refused_names_field_and_node(store, kind, payload, error, words):
    target = node(lambda state: None, name="target")
    sending = node(lambda state: Send(target, payload), name="n", goto=[target])
    graph = Graph(Login, state_store=store).flow(START >> sending, target >> END)
    with pytest.raises(error) as refused:
        graph.invoke({}, thread_id="t")
    check(refused.value, [*words, "'n'"])


RUNS: list[tuple[str, Callable[[Any], Graph[Login]], type[NodestepError], list[str]]] = [
    ("in place and something else", lambda s: alone(change_in_place, s), GraphExecutionError, ["'n'", "'user'"]),
    ("in place under a reducer", lambda s: alone(change_reduced, s), GraphExecutionError, ["'name'", "longest"]),
    ("another kind of result", lambda s: returning(SECRET, s), GraphExecutionError, ["'n'", "str"]),
    ("another model", lambda s: returning(Other(), s), GraphExecutionError, ["'n'", "Other"]),
    ("before_node", lambda s: alone(lambda state: None, s, PutIn()), StateUpdateError, ["'pin'", "before_node", "'n'"]),
    ("after_node", lambda s: alone(lambda state: None, s, PutOut()), StateUpdateError, ["'pin'", "'n'"]),
    ("two writers", clashing, InvalidUpdateError, ["'user'", "'left', 'right'"]),
    (
        "a predicate that gives text",
        lambda s: routed(lambda target: when(lambda state: state.user, target, otherwise=END), s),
        GraphExecutionError,
        ["'n'", "str", "True or False"],
    ),
    (
        "a router that gives no key",
        lambda s: routed(lambda target: branch(lambda state: [state.user], {"go": target}), s),
        GraphExecutionError,
        ["'n'", "Known keys: 'go'"],
    ),
]


@pytest.mark.parametrize(("kind", "make", "error", "words"), RUNS, ids=[item[0] for item in RUNS])
def test_a_run_that_is_refused_names_what_is_wrong(store, kind, make, error, words):
    with pytest.raises(error) as refused:
        make(store).invoke({"user": SECRET}, thread_id="t")
    check(refused.value, words)


@pytest.mark.parametrize("given", [SECRET, [SECRET], Other(), 7])
def test_an_input_of_another_kind_is_told_by_its_type(store, given):
    with pytest.raises(StateUpdateError) as refused:
        returning(None, store).invoke(given, thread_id="t")
    check(refused.value, [type(given).__name__, "Login"])
    assert kept(store) is None


@pytest.mark.parametrize(("kind", "update", "error", "words"), UPDATES, ids=[item[0] for item in UPDATES])
def test_history_tells_of_a_refused_update_without_its_value(store, kind, update, error, words):
    graph = returning(update, store)
    with pytest.raises(error):
        graph.invoke({}, thread_id="t")
    event = asyncio.run(graph.history("t")).events[-1]
    # A constraint on the whole field is checked when the superstep merges.
    where = None if kind == "constraint" else "n"
    assert (event.type, event.node, event.error_type) == ("superstep_failed", where, error.__name__)
    assert SECRET not in repr(event)
