"""People who answer, for tests of programs that ask."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, TypeVar

from ..graph import Graph
from ..model.interrupt import Interrupt, Resume
from ..runtime.result import GraphResult
from ..threads import Threads

S = TypeVar("S")

ANY_QUESTION: Final = "*"
MOST_PAUSES: Final = 1000


class People:
    """Answer questions by rules: `answers` says what, by a question's key (`"review:approve"`), its id (`"approve"`) or
    `"*"` for all others, in this order. A function is called with the `Interrupt` and returns the answer.

    A question without a rule stays open. `by` is who answers. `asked` keeps the questions that were answered, in order.
    """

    def __init__(self, answers: Mapping[str, Any], *, by: str | None = None) -> None:
        self.by = by
        self.asked: list[Interrupt] = []
        self._answers = dict(answers)

    async def answer(self, threads: Threads, thread_id: str | None = None) -> tuple[Interrupt, ...]:
        """Answer what is open, in one thread or in all of them, and run nothing; returns the questions answered.

        `threads` is a graph or a store. What cannot be answered raises what `threads.answer()` raises.
        """
        before, after = len(self.asked), None
        while True:
            page = await threads.pending(thread_id, after=after)
            for question in filter(self._knows, page.items):
                given = {question.key: self._answer_to(question)}
                await threads.answer(
                    question.thread_id, given, branch_id=question.branch_id, pause=question.pause, by=self.by
                )
                self.asked.append(question)
            if (after := page.next) is None:
                return tuple(self.asked[before:])

    def run(self, graph: Graph[S], state: Any = None, **call: Any) -> GraphResult[S]:
        """`graph.invoke(state, **call)`, and again with answers for as long as they know all that a pause asks.

        Raises RuntimeError after a thousand pauses.
        """
        result = graph.invoke(state, **call)
        for _ in range(MOST_PAUSES):
            resume = self._resume(result)
            if resume is None:
                return result
            result = graph.invoke(None, **_going_on(call, result), resume=resume)
        raise _endless(result)

    async def arun(self, graph: Graph[S], state: Any = None, **call: Any) -> GraphResult[S]:
        """The same with `graph.ainvoke`."""
        result = await graph.ainvoke(state, **call)
        for _ in range(MOST_PAUSES):
            resume = self._resume(result)
            if resume is None:
                return result
            result = await graph.ainvoke(None, **_going_on(call, result), resume=resume)
        raise _endless(result)

    def _resume(self, result: GraphResult[Any]) -> Resume | None:
        questions = list(result.interrupts.values())
        if not questions or not all(map(self._knows, questions)):
            return None
        answers = {question.key: self._answer_to(question) for question in questions}
        pauses = {question.key: question.pause for question in questions if question.pause is not None}
        self.asked += questions
        return Resume(answers=answers, pause=pauses, by=self.by)

    def _knows(self, question: Interrupt) -> bool:
        return any(name in self._answers for name in _names(question))

    def _answer_to(self, question: Interrupt) -> Any:
        rule = next(self._answers[name] for name in _names(question) if name in self._answers)
        return rule(question) if callable(rule) else rule


def _names(question: Interrupt) -> tuple[str, ...]:
    return question.key, question.id, ANY_QUESTION


def _going_on(call: Mapping[str, Any], result: GraphResult[Any]) -> dict[str, Any]:
    return {**call, "thread_id": result.thread_id}


def _endless(result: GraphResult[Any]) -> RuntimeError:
    return RuntimeError(
        f"Thread {result.thread_id!r} still asks {', '.join(result.interrupts)} after {MOST_PAUSES:,} pauses. Is the answer "
        "refused again and again?"
    )
