"""`nodestep run`: starts a thread or a turn, or continues a thread, and tells how that ended."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ...errors import InvalidUpdateError, LeaseLostError, ThreadCancelledError, UnknownThreadError
from ...model.json import JsonObject
from ...model.limits import check_id
from ...stores.sqlite import SQLiteStateStore
from ..asking import ask, told_recorded
from ..exits import Exit, Refusal, exit_of_run
from ..files import VARIABLE, open_existing
from ..options import AsJson, Branch, Store, Target, Thread, WithTraceback
from ..questions import (
    MAIN,
    Place,
    answer_command,
    question_to_json,
    run_command,
    show_question,
    show_state,
    what_value_is,
)
from ..runner import Completed, Paused, RunFailure, Runner
from ..safe_text import name
from ..screen import Screen, output_of_users
from ..target import load_graph
from ..telling import error_to_json, tell, telling
from ..values import Reader

if TYPE_CHECKING:
    from ...graph import Graph


def run(
    target: Target,
    input: Annotated[
        str | None,
        typer.Option(
            "--input",
            metavar="JSON",
            help="State fields as a JSON object, to start a thread or a turn; @FILE takes it from a file, - from standard "
            "input. Without it the thread is continued.",
        ),
    ] = None,
    thread: Thread = None,
    store: Store = None,
    context: Annotated[
        str | None,
        typer.Option(
            "--context", metavar="JSON", help="What nodes read as ctx.context; given as --input is, never stored."
        ),
    ] = None,
    branch: Branch = MAIN,
    no_ask: Annotated[
        bool, typer.Option("--no-ask", help="Do not ask at the terminal; end when the run pauses.")
    ] = False,
    by: Annotated[str | None, typer.Option("--by", metavar="NAME", help="Who answers at the terminal.")] = None,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Do not show the supersteps as they finish.")] = False,
    as_json: AsJson = False,
    with_traceback: WithTraceback = False,
) -> None:
    """Run a graph: start a thread with --input, or continue one without.

    When the run pauses, a terminal is asked for the answers, and the run goes on with them. Where there is none, the open
    questions are printed with the commands that answer them. Without --store the graph's own store keeps the thread, if it
    has one.
    """
    with telling(as_json=as_json, quiet=quiet, with_traceback=with_traceback) as screen, contextlib.ExitStack() as held:
        reader = Reader()
        given = None if input is None else reader.json_object(input, "--input")
        shared = None if context is None else reader.json(context, "--context")
        with _speaking(screen):
            graph = load_graph(target)
        if store and not thread:
            raise Refusal(f"A run that is kept needs a name: give --thread ID. (--store or {VARIABLE} names a store.)")
        if thread and not store and given is not None and graph.state_store is None:
            raise Refusal(
                "--thread names a run that is kept, and there is no store: give --store FILE, or leave --thread out."
            )
        opened = held.enter_context(_store(store, graph, thread, branch, given)) if store else None
        runner = Runner(screen, graph, opened, thread, branch, shared)
        again = _Again(target, store, branch, _shown_context(context))
        work = _Work(screen, runner, again, by, may_ask=screen.can_ask and not no_ask, with_traceback=with_traceback)
        code = work.carry_on(given, thread)
        if code is not Exit.DONE:
            raise typer.Exit(code)


def _store(path: str, graph: Graph[Any], thread: str | None, branch: str, given: JsonObject | None) -> SQLiteStateStore:
    if given is None:
        return open_existing(path)
    if not os.path.exists(path):
        _check_first(graph, thread or "", branch, given)
    return SQLiteStateStore(path)


def _check_first(graph: Graph[Any], thread: str, branch: str, given: JsonObject) -> None:
    """What would be refused of a thread's first input is refused before its store is made, so that none is left behind."""
    check_id("thread_id", thread)
    if branch != MAIN:
        raise UnknownThreadError(thread, branch)
    schema = graph.blueprint.schema
    schema.dump(schema.first_state(given))


def _shown_context(context: str | None) -> str | None:
    """A context may hold secrets, so the command to type names a file, or leaves a blank to fill in."""
    return context if context is None or context.startswith("@") else "JSON"


@contextlib.contextmanager
def _speaking(screen: Screen) -> Iterator[None]:
    """While code of users runs: standard output is theirs unless a program reads it."""
    with output_of_users() if screen.as_json else contextlib.nullcontext():
        yield


@dataclass(frozen=True, slots=True)
class _Again:
    """What a command that goes on with the thread repeats."""

    target: str
    store: str | None
    branch_id: str
    context: str | None

    def place(self, thread_id: str) -> Place:
        return Place(self.store, thread_id, self.branch_id)

    def command(self, thread_id: str) -> str:
        return run_command(self.place(thread_id), self.target, context=self.context)


@dataclass(frozen=True, slots=True)
class _Work:
    """Running, asking and telling, until the thread has ended or nobody answers."""

    screen: Screen
    runner: Runner
    again: _Again
    by: str | None
    may_ask: bool
    with_traceback: bool

    def carry_on(self, given: JsonObject | None, thread: str | None) -> Exit:
        paused = self.runner.paused()
        if paused is not None and given is not None:
            raise self._takes_answers(paused)
        end: Completed | Paused | None = paused
        while True:
            if end is None:
                try:
                    end = self._run(given, thread)
                except RunFailure as failure:
                    return self._tell_failure(failure, thread)
                given = None
            if isinstance(end, Completed):
                return self._tell_completed(end)
            left = self._ask(end) if self.may_ask else end
            if left is not None:
                return self._tell_paused(left)
            end = None

    def _run(self, given: JsonObject | None, thread: str | None) -> Completed | Paused:
        try:
            with _speaking(self.screen):
                return self.runner.run(given)
        except KeyboardInterrupt:
            if thread is None or self.again.store is None:
                raise
            raise Refusal(
                "Stopped from the keyboard. What finished is recorded; continue with:",
                Exit.STOPPED,
                commands=[self.again.command(thread)],
            ) from None

    def _takes_answers(self, paused: Paused) -> Refusal:
        place = self.again.place(paused.thread_id)
        return Refusal(
            f"Thread {name(paused.thread_id)} is interrupted and takes answers, no new input. Nothing ran. Answer with:",
            Exit.REFUSED,
            commands=[answer_command(place, question) for question in paused.questions],
        )

    def _ask(self, paused: Paused) -> Paused | None:
        """Ask for the answers and record them; what is still open, or `None`."""
        place = self.again.place(paused.thread_id)
        self._head_line("interrupted", "bold yellow", paused)
        answers = ask(self.screen, paused.questions, place, rejected=self.runner.rejected(paused))
        if not answers.values:
            return paused
        still = self.runner.record(place, answers, self.by)
        told_recorded(self.screen, answers.values)
        return replace(paused, questions=tuple(q for q in paused.questions if q.key in still)) if still else None

    def _head_line(self, status: str, style: str, end: Completed | Paused) -> None:
        waits = ""
        if isinstance(end, Paused):
            many = len(end.questions)
            waits = " waits for 1 answer" if many == 1 else f" waits for {many} answers"
        self.screen.say((status, style), f"  thread {name(end.thread_id)}{waits}")

    def _tell_completed(self, end: Completed) -> Exit:
        if self.screen.as_json:
            self.screen.document(self._document("completed", end.thread_id, end.state))
            return Exit.DONE
        self._head_line("completed", "bold green", end)
        show_state(self.screen, end.state)
        return Exit.DONE

    def _tell_paused(self, end: Paused) -> Exit:
        place = self.again.place(end.thread_id)
        rejected = self.runner.rejected(end)
        if self.screen.as_json:
            document = self._document("interrupted", end.thread_id, end.state)
            document["questions"] = [
                {**question_to_json(question), "rejected": rejected.get(question.key)} for question in end.questions
            ]
            self.screen.document(document)
            return Exit.INTERRUPTED
        self._head_line("interrupted", "bold yellow", end)
        for question in end.questions:
            show_question(self.screen, question, place, rejected=rejected.get(question.key))
            if place.store is not None:
                self.screen.type(answer_command(place, question), indent="    ")
        if place.store is None:
            self.screen.say(
                "The graph's own store keeps the thread; name its file with --store to answer from elsewhere."
            )
            return Exit.INTERRUPTED
        self.screen.say(f"{what_value_is(end.questions)} Then continue with:")
        self.screen.type(self.again.command(end.thread_id))
        return Exit.INTERRUPTED

    def _tell_failure(self, failure: RunFailure, thread: str | None) -> Exit:
        code = exit_of_run(failure.error)
        if self.screen.as_json:
            document = self._document("failed", thread, None)
            document["error"] = error_to_json(
                failure.error, code, node=failure.node, with_traceback=self.with_traceback
            )
            self.screen.document(document)
            return code
        self.screen.say(("failed", "bold red"), *([] if thread is None else [f"  thread {name(thread)}"]))
        tell(self.screen, failure.error, code, node=failure.node, with_traceback=self.with_traceback)
        goes_on = not isinstance(failure.error, InvalidUpdateError | LeaseLostError | ThreadCancelledError)
        if goes_on and thread is not None and self.again.store is not None:
            self.screen.problem("  What finished is recorded. Continue with:")
            self.screen.type(self.again.command(thread), error=True)
        return code

    def _document(self, status: str, thread_id: str | None, state: JsonObject | None) -> JsonObject:
        return {
            "status": status,
            "thread_id": thread_id,
            "branch_id": self.again.branch_id,
            "state": state,
            "questions": [],
        }
