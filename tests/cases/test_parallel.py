"""Tasks side by side, their answers and the order of their writes. Ids are those of the collection of cases."""

from __future__ import annotations

import asyncio
import random
from collections import Counter

import pytest

from nodestep import END, START, Middleware, Resume, ResumeError, interrupt
from tests.cases.side_by_side import asks, counts
from tests.running.making import Log, does, of, run, says


async def a_few_turns(chance: random.Random) -> None:
    for _ in range(chance.randrange(6)):
        await asyncio.sleep(0)


def test_pa_01_a_finished_sibling_does_not_run_again(store, reopened):
    ran: Counter[str] = Counter()

    def graph(kept):
        return of(
            START >> says("before") >> [counts("fast", ran), asks("ask")] >> says("after") >> END, state_store=kept
        )

    paused = graph(store).invoke({}, thread_id="t")
    assert paused.state.log == ["before"]

    done = graph(reopened()).invoke(None, thread_id="t", resume=Resume("yes"))
    assert done.state.log == ["before", "ask: yes", "fast", "after"]
    assert ran["fast"] == 1


def two_questions(store, ran: Counter[str]):
    return of(START >> [asks("legal", ran), asks("security", ran)] >> counts("ship", ran) >> END, state_store=store)


def test_pa_02_one_bare_answer_for_several_questions_is_refused(store):
    ran: Counter[str] = Counter()
    graph = two_questions(store, ran)
    graph.invoke({}, thread_id="t")

    with pytest.raises(ResumeError, match=r"'legal:sign_off', 'security:sign_off'"):
        graph.invoke(None, thread_id="t", resume=Resume("yes"))

    assert ran == {"legal": 1, "security": 1}
    assert len(run(graph.pending("t")).items) == 2


def test_pa_03_a_missing_answer_is_refused_and_named(store):
    ran: Counter[str] = Counter()
    graph = two_questions(store, ran)
    graph.invoke({}, thread_id="t")

    with pytest.raises(ResumeError, match=r"missing: 'security:sign_off'"):
        graph.invoke(None, thread_id="t", resume=Resume(answers={"legal:sign_off": "yes"}))

    assert ran == {"legal": 1, "security": 1}
    assert len(run(graph.pending("t")).items) == 2


def test_pa_03_answers_are_collected_one_by_one_with_answer(store):
    """`Resume` must answer everything; people who answer one at a time use `answer`, which runs nothing."""
    ran: Counter[str] = Counter()
    graph = two_questions(store, ran)
    graph.invoke({}, thread_id="t")

    assert run(graph.answer("t", {"security:sign_off": "S"})) == ("legal:sign_off",)
    done = graph.invoke(None, thread_id="t", resume=Resume("L"))

    assert done.state.log == ["legal: L", "security: S", "ship"]
    assert ran == {"legal": 2, "security": 2, "ship": 1}


def test_pa_05_answers_never_change_places(store):
    chance = random.Random(5)

    def signs(name: str):
        async def body(state: Log):
            await a_few_turns(chance)
            return {"log": [f"{name}: {interrupt('?', id='sign_off')}"]}

        return does(name, body)

    graph = of(START >> [signs("legal"), signs("security")] >> says("end") >> END, state_store=store)

    async def round_(n: int) -> None:
        await graph.ainvoke({}, thread_id=f"t{n}")
        answers = {"security:sign_off": f"S{n}", "legal:sign_off": f"L{n}"}
        done = await graph.ainvoke(None, thread_id=f"t{n}", resume=Resume(answers=answers))
        assert done.state.log == [f"legal: L{n}", f"security: S{n}", "end"]

    async def rounds() -> None:
        await asyncio.gather(*(round_(n) for n in range(50)))

    run(rounds())


class Approve(Middleware):
    def on_interrupt(self, ctx, payload):
        return ctx.node_name


def test_pa_06_the_order_of_writes_does_not_depend_on_timing(store):
    chance = random.Random(6)

    def item(name: str):
        async def body(state: Log):
            await a_few_turns(chance)
            answer = interrupt("?", id="sign_off")
            await a_few_turns(chance)
            return {"log": [f"{name} {answer}"]}

        return does(name, body)

    def graph(**options):
        return of(START >> [item("c"), item("a"), item("b")] >> says("end") >> END, state_store=store, **options)

    expected = ["a a", "b b", "c c", "end"]
    for n in range(10):
        assert run(graph(middleware=[Approve()]).ainvoke({}, thread_id=f"direct{n}")).state.log == expected
        run(graph().ainvoke({}, thread_id=f"paused{n}"))
        names = ["b", "c", "a"]
        chance.shuffle(names)
        answers = {f"{name}:sign_off": name for name in names}
        done = run(graph().ainvoke(None, thread_id=f"paused{n}", resume=Resume(answers=answers)))
        assert done.state.log == expected
