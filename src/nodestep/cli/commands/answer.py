"""`nodestep answer`: records answers in a store, and runs nothing. Imports no graph."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, Any

import typer

from ...errors import InterruptExpiredError, ResumeError, ThreadBusyError
from ...model.interrupt import Interrupt
from ...people import inbox
from ...people.audit import who_was_first
from ...stores.sqlite import SQLiteStateStore
from ..asking import Answers, ask, confirm, told_recorded
from ..exits import Exit, Refusal
from ..files import named, open_existing
from ..given import Given, read_given, read_pauses
from ..look import Look, look_at
from ..options import AsJson, Branch, Named, Store
from ..questions import MAIN, Place, answer_command, run_command, show_question
from ..safe_text import name
from ..screen import Screen
from ..shell import command
from ..telling import telling


def answer(
    thread: Named,
    words: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[KEY] VALUE",
            help="The question's key, which may be left out when one is open, and the answer. Without a value the terminal "
            "asks for it.",
            show_default=False,
        ),
    ] = None,
    store: Store = None,
    pause: Annotated[
        list[str] | None,
        typer.Option(
            "--pause",
            metavar="N",
            help="The pause that showed the question, as pending prints it; the answer is refused if another question "
            "stands there now. KEY=N gives it for one key. Without it the terminal shows the question and asks first.",
        ),
    ] = None,
    answers: Annotated[
        list[str] | None,
        typer.Option("--answer", metavar="KEY=VALUE", help="An answer to the question of a key; may come again."),
    ] = None,
    value_json: Annotated[
        bool, typer.Option("--value-json", "-j", help="Every value is JSON: true, 12, null, {...}. Else it is text.")
    ] = False,
    by: Annotated[str | None, typer.Option("--by", metavar="NAME", help="Who answers; kept with the answer.")] = None,
    note: Annotated[str | None, typer.Option("--note", metavar="TEXT", help="Why; kept with the answer.")] = None,
    branch: Branch = MAIN,
    as_json: AsJson = False,
) -> None:
    """Answer open questions of a thread, and run nothing.

    A VALUE is text as it stands: true is the text "true". With -j it is JSON. A question that has a type which takes no
    text gets a value of that type: yes or no, a number, or JSON. @FILE takes the value from a file, - from standard input,
    and @@... is text that begins with @. A value that begins with a dash comes after --.

    A tool call that waits for approval takes approve, 'deny: REASON', or 'edit {...}' with the arguments to change, in
    JSON.

    Without a VALUE the terminal asks, field by field where the question has a type, and shows the whole answer first.
    """
    with telling(as_json=as_json) as screen, open_existing(store) as opened:
        place = Place(named(store), thread, branch)
        look = look_at(opened, thread, branch)
        keys = _keys(words or [], answers or [])
        questions = _open_questions(opened, look, keys)
        _refuse_closed(opened, look, keys)
        given = read_given(words or [], answers or [], questions)
        pauses = read_pauses(pause or [], list(given.raw), questions)
        values = given.values(questions, as_json=value_json)
        if not given.raw:
            decided = _asked(screen, look, given, place)
        elif len(pauses) == len(values):
            decided = Answers(values, pauses)
        elif screen.can_ask:
            shown = [question for question in questions if question.key in values]
            sure = confirm(screen, shown, values, place)
            decided = Answers(values if sure else {}, {**{q.key: q.pause for q in shown}, **pauses})
        else:
            again = {"-j": value_json, "--by": by, "--note": note, "--answer": answers}
            raise _unseen(place, questions, given, again, words or [])
        if not decided.values:
            screen.say("Nothing was recorded.")
            raise typer.Exit(Exit.INTERRUPTED)
        still = inbox.answer(
            opened,
            thread,
            decided.values,
            branch_id=branch,
            pause=decided.seen,
            by=by,
            note=note,
            source="cli",
        )
        _tell(screen, opened, place, decided.values, still)


def _keys(words: Sequence[str], answers: Sequence[str]) -> list[str]:
    """What may be a key in the command: the first of two words, or the only one, and what stands before an `=`."""
    return [*words[:1], *(answer.partition("=")[0] for answer in answers)]


def _open_questions(store: SQLiteStateStore, look: Look, keys: Sequence[str]) -> tuple[Interrupt, ...]:
    """The questions of the branch that wait. Raises where there are none, by where the thread stands, and tells who was
    first to answer."""
    thread = look.head.thread_id
    if look.head.live:
        raise ThreadBusyError(
            f"A run works on thread {thread!r} right now. Nothing was recorded; answer again when it has ended."
        )
    if look.waiting:
        return look.waiting
    if look.expired:
        raise _expired([question.key for question in look.expired], thread)
    named = [key for key in keys if ":" in key]
    first = who_was_first(store, thread, look.head.branch_id, named or None)
    told = f"{first or ''} Thread {thread!r} waits for no answer: it is {look.status.value}. Nothing was recorded."
    raise ResumeError(told.lstrip())


def _refuse_closed(store: SQLiteStateStore, look: Look, keys: Sequence[str]) -> None:
    """An answer to a question whose deadline has passed, or that somebody answered before, is told so, rather than that
    there is no such question."""
    waiting = [question.key for question in look.waiting]
    late = [question.key for question in look.expired if question.key in keys]
    if late:
        raise _expired(late, look.head.thread_id)
    others = [key for key in keys if ":" in key and key not in waiting]
    first = who_was_first(store, look.head.thread_id, look.head.branch_id, others) if others else None
    if first is not None:
        raise ResumeError(f"{first} Nothing was recorded. Open: {', '.join(map(repr, waiting))}.")


def _expired(keys: Sequence[str], thread: str) -> InterruptExpiredError:
    return InterruptExpiredError(
        f"The deadline of {', '.join(map(repr, keys))} on thread {thread!r} has passed, so there is nothing to answer. "
        "Nothing was recorded; the next run goes on without it."
    )


def _asked(screen: Screen, look: Look, given: Given, place: Place) -> Answers:
    if not screen.can_ask:
        commands = [answer_command(place, question) for question in given.to_ask]
        raise Refusal("No value was given, and there is no terminal to ask at. Write one of these:", commands=commands)
    for question in look.expired:
        show_question(screen, question, place, now_ms=look.now_ms)
    return ask(screen, given.to_ask, place, rejected=look.rejected)


def _unseen(
    place: Place, questions: tuple[Interrupt, ...], given: Given, again: Mapping[str, object], words: list[str]
) -> Refusal:
    """An answer without the pause of its question: it could meet another question than the one that was read."""
    pauses = {question.key: question.pause for question in questions if question.key in given.raw}
    one = len(set(pauses.values())) == 1
    numbers = [str(next(iter(pauses.values())))] if one else [f"{key}={pause}" for key, pause in pauses.items()]
    options = {**place.options, "--pause": numbers, **again}
    return Refusal(
        "An answer needs the pause that showed the question, so that it meets no other; at a terminal the question is shown "
        "instead. Nothing was recorded. For the questions open now, write:",
        commands=[command("answer", options, place.thread_id, *words)],
    )


def _tell(
    screen: Screen, store: SQLiteStateStore, place: Place, values: Mapping[str, Any], still: tuple[str, ...]
) -> None:
    look = look_at(store, place.thread_id, place.branch_id)
    if screen.as_json:
        screen.document(
            {
                "thread_id": place.thread_id,
                "branch_id": place.branch_id,
                "status": look.status.value,
                "recorded": values,
                "open": list(still),
            }
        )
        return
    told_recorded(screen, values)
    if still:
        screen.say(f"still open: {', '.join(map(name, still))}")
        return
    screen.say(f"Every question of thread {name(place.thread_id)} is answered. Continue it with:")
    screen.type(run_command(place, "TARGET"))
    screen.say(f"  TARGET is where graph {name(look.head.graph)} is written.")
