"""`Replacement`: another input, another update, a result in the place of an error; and what is no replacement."""

from __future__ import annotations

from typing import Any

import pytest

from nodestep import (
    END,
    START,
    BaseState,
    Command,
    Graph,
    GraphExecutionError,
    Middleware,
    StateStoreError,
    StateUpdateError,
    node,
)
from nodestep.middleware import Replacement
from tests.middleware.noting import Awaiting, Noting, chain


class Order(BaseState):
    amount: int = 0
    note: str = ""


def typed(body: Any, hooks: list[Middleware], store: Any = None) -> Graph[Order]:
    return Graph(Order, middleware=hooks, state_store=store).flow(START >> node(body, name="n") >> END)


def hooks(**does: Any) -> list[Middleware]:
    return [Noting("A", [], **does)]


def test_before_node_lays_a_mapping_over_the_state_for_this_call():
    seen: list[Order] = []
    done = typed(lambda state: seen.append(state), hooks(before_node=Replacement({"amount": 7}))).invoke({"note": "x"})
    assert seen == [Order(amount=7, note="x")]
    assert done.state == Order(note="x")


def test_before_node_gives_a_whole_state_for_this_call():
    seen: list[Order] = []
    given = Order(amount=7)
    done = typed(lambda state: seen.append(state), hooks(before_node=Replacement(given))).invoke({"note": "x"})
    assert seen == [Order(amount=7)]
    assert done.state == Order(note="x")


def test_before_node_of_a_later_middleware_sees_what_an_earlier_one_put_in():
    first = Noting("A", [], before_node=Replacement({"amount": 7}))
    second = Noting("B", [])
    typed(lambda state: None, [first, second]).invoke({})
    assert [ctx.state for hook, ctx in second.seen if hook == "before_node"] == [Order(amount=7)]


def test_a_change_in_place_is_told_against_the_replaced_input():
    def body(state):
        state.note = f"paid {state.amount}"
        return state

    done = typed(body, hooks(before_node=Replacement({"amount": 7}))).invoke({})
    assert done.state == Order(amount=0, note="paid 7")


@pytest.mark.parametrize(("value", "field"), [({"amuont": 7}, "'amuont'"), ({"amount": "many"}, "'amount'")])
def test_an_input_that_does_not_fit_fails_the_node_and_is_named(store, value, field):
    ran: list[int] = []
    graph = typed(lambda state: ran.append(1), hooks(before_node=Replacement(value)), store)
    with pytest.raises(StateUpdateError, match=field) as refused:
        graph.invoke({}, thread_id="t")
    assert "before_node" in str(refused.value)
    assert "many" not in str(refused.value)
    assert ran == []


def test_an_input_of_another_type_fails_the_node_and_is_named():
    with pytest.raises(GraphExecutionError, match=r"before_node of node 'n'.*int"):
        typed(lambda state: None, hooks(before_node=Replacement(7))).invoke({})


def test_after_node_puts_another_update_in_the_place_of_the_nodes():
    done = typed(lambda state: {"amount": 1, "note": "x"}, hooks(after_node=Replacement({"amount": 2}))).invoke({})
    assert done.state == Order(amount=2)


@pytest.mark.parametrize("nothing", [None, {}])
def test_after_node_may_take_the_update_away(nothing):
    assert typed(lambda state: {"amount": 1}, hooks(after_node=Replacement(nothing))).invoke({}).state == Order()


def test_after_node_of_an_outer_middleware_sees_what_an_inner_one_put_in():
    outer = Noting("A", [])
    inner = Noting("B", [], after_node=Replacement({"amount": 2}))
    typed(lambda state: {"amount": 1}, [outer, inner]).invoke({})
    assert [ctx.update for hook, ctx in outer.seen if hook == "after_node"] == [{"amount": 2}]


def test_after_node_leaves_the_way_that_a_command_chose():
    target = node(lambda state: {"note": "reached"}, name="target")
    sending = node(lambda state: Command(update={"amount": 1}, goto=target), name="sending", goto=[target])
    graph = Graph(Order, middleware=hooks(after_node=Replacement({"amount": 2}))).flow(START >> sending, target >> END)
    assert graph.invoke({}).state.amount == 2
    noting = Noting("A", [])
    Graph(Order, middleware=[noting]).flow(START >> sending, target >> END).invoke({})
    assert [ctx.node_name for hook, ctx in noting.seen if hook == "after_node"] == ["sending", "target"]


@pytest.mark.parametrize(
    ("value", "error", "words"),
    [
        ({"amuont": 7}, StateUpdateError, "'amuont'"),
        ({"amount": "many"}, StateUpdateError, "'amount'"),
        (7, GraphExecutionError, "int"),
        (Command(update={}), GraphExecutionError, "Command"),
    ],
)
def test_an_update_that_does_not_fit_fails_the_node_and_is_named(value, error, words):
    with pytest.raises(error, match=words) as refused:
        typed(lambda state: {"amount": 1}, hooks(after_node=Replacement(value))).invoke({})
    assert "'n'" in str(refused.value)
    assert "many" not in str(refused.value)


def broken(state):
    raise OSError("no disk")


def test_on_error_gives_a_result_as_if_the_node_had_returned_it():
    assert typed(broken, hooks(on_error=Replacement({"note": "mended"}))).invoke({}).state == Order(note="mended")


@pytest.mark.parametrize("nothing", [None, {}, END])
def test_on_error_may_give_nothing(nothing):
    assert typed(broken, hooks(on_error=Replacement(nothing))).invoke({}).state == Order()


def test_on_error_may_choose_a_way():
    target = node(lambda state: {"note": "reached"}, name="target")
    failing = node(broken, name="failing", goto=[target])
    graph = Graph(Order, middleware=hooks(on_error=Replacement(Command(goto=target)))).flow(
        START >> failing, target >> END
    )
    assert graph.invoke({}).state == Order(note="reached")


def test_on_error_forgets_what_the_failed_node_changed_in_place():
    def body(state):
        state.amount = 99
        raise OSError("no disk")

    assert typed(body, hooks(on_error=Replacement({"note": "mended"}))).invoke({}).state == Order(note="mended")


def test_on_error_is_told_the_error(store):
    told: list[Exception] = []

    class Look(Middleware):
        def on_error(self, ctx, error):
            told.append(error)

    with pytest.raises(OSError, match="no disk") as failed:
        typed(broken, [Look()], store).invoke({}, thread_id="t")
    assert told == [failed.value]


def test_a_result_that_does_not_fit_fails_the_node_and_is_named():
    with pytest.raises(StateUpdateError, match="'amuont'"):
        typed(broken, hooks(on_error=Replacement({"amuont": 7}))).invoke({})
    with pytest.raises(StateStoreError, match="'note'"):
        chain(broken, middleware=hooks(on_error=Replacement({"note": print}))).invoke({})


@pytest.mark.parametrize("hook", ["before_node", "after_node"])
@pytest.mark.parametrize("kind", [Noting, Awaiting])
@pytest.mark.parametrize("answer", [{"amount": 7}, Order(), False, 0, "", Replacement])
def test_what_is_no_replacement_fails_the_node(hook, kind, answer):
    with pytest.raises(
        GraphExecutionError, match=rf"{hook} hook returned {type(answer).__name__}.*Replacement\(value\)"
    ):
        typed(lambda state: None, [kind("A", [], **{hook: answer})]).invoke({})


def test_what_is_no_replacement_fails_the_node_also_after_an_error():
    with pytest.raises(GraphExecutionError, match=r"on_error hook returned dict.*Replacement\(value\)"):
        typed(broken, hooks(on_error={"note": "mended"})).invoke({})
