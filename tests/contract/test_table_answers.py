"""The page's table "Rules and defaults", its rows about answers and what comes with them; each test names its row."""

from __future__ import annotations

import datetime
from typing import Any

import pytest
from pydantic import BaseModel

from nodestep import (
    END,
    START,
    Command,
    ContextNotProvidedError,
    Graph,
    NodeContext,
    Resume,
    ResumeError,
    UnknownThreadError,
    interrupt,
    node,
)
from tests.asking import kept, lone, refusal


def pair(store, ran: list[str]) -> Graph:
    """Two nodes that ask at the same time, both with the id `sign_off`."""

    def asking(name: str):
        def ask(state):
            ran.append(name)
            return {name: interrupt(f"{name}?", id="sign_off")}

        return node(ask, name=name)

    legal, security = asking("legal"), asking("security")
    return Graph(dict, name="release", state_store=store).flow(
        START >> node(lambda state: None, name="request") >> [legal, security], legal >> END, security >> END
    )


def answer_of(store, value: Any) -> Any:
    """What the node gets for an answer."""
    graph = lone(lambda state: {"got": interrupt("What?", id="what")}, store)
    graph.invoke({}, thread_id="t")
    return graph.invoke(None, thread_id="t", resume=Resume(value)).data["got"]


@pytest.fixture
def ran() -> list[str]:
    return []


@pytest.fixture
def paused_pair(store, ran: list[str]) -> Graph:
    graph = pair(store, ran)
    graph.invoke({}, thread_id="t")
    return graph


# `Resume(value)`: "Answers the only pending interrupt"


def test_row_resume_value_answers_the_only_pending_interrupt(store):
    assert answer_of(store, "yes") == "yes"


# `Resume(answers={key: value, ...})`: "Answers several pending interrupts; it must answer all of them"


def test_row_resume_answers_answers_each_by_its_key(paused_pair):
    answers = {"security:sign_off": "no", "legal:sign_off": "yes"}
    done = paused_pair.invoke(None, thread_id="t", resume=Resume(answers=answers))
    assert done.data == {"legal": "yes", "security": "no"}


def test_row_resume_answers_must_answer_all_of_them(paused_pair, store, ran):
    with refusal(store, ResumeError, "missing: 'security:sign_off'", ran=ran):
        paused_pair.invoke(None, thread_id="t", resume=Resume(answers={"legal:sign_off": "yes"}))


def test_row_resume_answers_works_for_a_single_interrupt(store):
    graph = lone(lambda state: {"got": interrupt("What?", id="what")}, store)
    graph.invoke({}, thread_id="t")
    assert graph.invoke(None, thread_id="t", resume=Resume(answers={"ask:what": 1})).data == {"got": 1}


# `resume=`: "It takes only a `Resume`. `Command` is a node's return value, not an answer"


@pytest.mark.parametrize("given", [Command(goto=[]), "yes", True, {"ask:what": "yes"}, Resume])
def test_row_resume_takes_only_a_resume(paused_pair, store, ran, given):
    kind = type(given).__name__
    with refusal(store, TypeError, "resume= takes a Resume", kind, "Resume(answers={key: value, ...})", ran=ran):
        paused_pair.invoke(None, thread_id="t", resume=given)


# Checking the answers: "Answers are checked before anything runs. [...] raises `ResumeError`"


def test_row_checking_the_answers_a_key_that_is_not_pending(paused_pair, store, ran):
    answers = {"legal:sign_off": "yes", "security:sign_of": "yes"}
    with refusal(store, ResumeError, "'security:sign_of'", "'legal:sign_off', 'security:sign_off'", ran=ran):
        paused_pair.invoke(None, thread_id="t", resume=Resume(answers=answers))


def test_row_checking_the_answers_a_pending_interrupt_without_an_answer(paused_pair, store, ran):
    with refusal(store, ResumeError, "'legal:sign_off'", ran=ran):
        paused_pair.invoke(None, thread_id="t", resume=Resume(answers={"security:sign_off": "yes"}))


def test_row_checking_the_answers_a_single_value_while_several_are_pending(paused_pair, store, ran):
    with refusal(store, ResumeError, "2 questions", "'legal:sign_off', 'security:sign_off'", "answers=", ran=ran):
        paused_pair.invoke(None, thread_id="t", resume=Resume("yes"))


def test_row_checking_the_answers_with_nothing_pending(paused_pair, store, ran):
    paused_pair.invoke(None, thread_id="t", resume=Resume(answers={"legal:sign_off": 1, "security:sign_off": 2}))
    with refusal(store, ResumeError, "'t'", "completed", ran=ran):
        paused_pair.invoke(None, thread_id="t", resume=Resume("yes"))


def test_row_checking_the_answers_on_a_thread_that_does_not_exist(store, ran):
    with refusal(store, UnknownThreadError, "'t'", ran=ran):
        pair(store, ran).invoke(None, thread_id="t", resume=Resume("yes"))
    assert kept(store) is None
    assert issubclass(UnknownThreadError, ResumeError)


# Answer types: "Answers are normalized to JSON values: a pydantic model arrives as a dict, a `date` as a string"


class Decision(BaseModel):
    approve: bool
    until: datetime.date


def test_row_answer_types_a_model_arrives_as_a_dict_and_a_date_as_a_string(store):
    given = Decision(approve=True, until=datetime.date(2025, 3, 1))
    assert answer_of(store, given) == {"approve": True, "until": "2025-03-01"}
    assert answer_of(store, datetime.date(2025, 3, 1)) == "2025-03-01"


# `context=`: "The context of the paused run is not stored. Pass it again with `resume=`"


def test_row_context_is_not_stored_and_passed_again_with_resume(store):
    def greet(state: dict, ctx: NodeContext) -> dict[str, Any]:
        answer = interrupt("Greet?", id="greet")
        return {"said": f"{ctx.context} {answer}"}

    graph = lone(greet, store)
    graph.invoke({}, thread_id="t", context="first")
    with pytest.raises(ContextNotProvidedError, match=r"'ask'.*context="):
        graph.invoke(None, thread_id="t", resume=Resume("Ann"))
    done = graph.invoke(None, thread_id="t", context="second")
    assert done.data == {"said": "second Ann"}
