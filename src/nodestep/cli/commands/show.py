"""`nodestep show`: one thread as it stands. Loads a graph only to draw it."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer

from ...engine.due import DueTask, due_tasks
from ...errors import GraphChangedError
from ...model.ids import frame_path
from ...model.records import AnswerRecord, BranchRecord
from ...model.status import Status
from ...people import audit as decisions
from ...people import branches as forks
from ...stores.base import StateStore
from ..decisions import decision_to_json, show_decision
from ..files import named, open_existing
from ..look import Look, look_at, status_of
from ..options import AsJson, Branch, Named, Store, WithTraceback
from ..questions import (
    MAIN,
    Place,
    answer_command,
    has_expired,
    question_to_json,
    run_command,
    show_question,
    show_state,
)
from ..safe_text import name, shown_drawing, shown_lines
from ..screen import STYLE_OF_STATUS, Screen, output_of_users
from ..shell import command
from ..telling import telling
from ..times import age, iso

if TYPE_CHECKING:
    from ...graph import Graph

LATEST: Final = 5
"""So many decisions are shown; `audit` shows all."""
SHOWN_BRANCHES: Final = 20
SHOWN_TASKS: Final = 50
PAGE: Final = 1000


def show(
    thread: Named,
    store: Store = None,
    target: Annotated[
        str | None,
        typer.Option(
            "--target",
            metavar="TARGET",
            help="The graph to draw, as run takes it. Without it the tasks that are due are listed.",
        ),
    ] = None,
    branch: Branch = MAIN,
    full: Annotated[bool, typer.Option("--full", help="Show a long state and long payloads whole.")] = False,
    as_json: AsJson = False,
    with_traceback: WithTraceback = False,
) -> None:
    """Show a thread as it stands.

    Its status, its state as stored, what its tasks wait for, its open questions, its branches, and who decided what lately.
    With --target the graph is drawn, with the place where the thread stands, and what no longer fits it is told.
    """
    with telling(as_json=as_json, with_traceback=with_traceback) as screen, open_existing(store) as opened:
        look = look_at(opened, thread, branch)
        graph = None if target is None else _loaded(target)
        branches = forks.branches(opened, thread)
        decisions = _latest(opened, thread)
        if as_json:
            screen.document(_to_json(opened, look, branches, decisions, graph))
            return
        place = Place(named(store), thread, branch)
        _tell_standing(screen, look)
        show_state(screen, look.state, full=full)
        if graph is None:
            _tell_tasks(screen, due_tasks(look.position, look.now_ms))
        else:
            _draw(screen, look, graph)
        _tell_questions(screen, look, place, full)
        _tell_branches(screen, opened, place, branches)
        _tell_decisions(screen, place, decisions)
        if look.status in (Status.READY, Status.UNFINISHED, Status.FAILED) and look.position.conflict is None:
            screen.say("\nContinue it with:")
            screen.type(run_command(place, target or "TARGET"))


def _loaded(target: str) -> Graph[Any]:
    from ..target import load_graph

    with output_of_users():
        return load_graph(target)


def _latest(store: StateStore, thread: str) -> list[AnswerRecord]:
    """The newest decisions on any branch of the thread, the newest first."""
    newest: deque[AnswerRecord] = deque(maxlen=LATEST)
    after: str | None = None
    while True:
        page = decisions.audit(store, thread, limit=PAGE, after=after)
        newest.extend(page.items)
        after = page.next
        if after is None:
            return list(reversed(newest))


def _tell_standing(screen: Screen, look: Look) -> None:
    head = look.head
    branch = "" if head.branch_id == MAIN else f", branch {name(head.branch_id)}"
    screen.say(
        (look.status.value, STYLE_OF_STATUS[look.status.value]), "  thread ", (name(head.thread_id), "bold"), branch
    )
    created, updated = look.created_at, look.updated_at
    screen.say(
        f"  of graph {name(head.graph)}, begun {age(created, look.now_ms)}, changed {age(updated, look.now_ms)}, ",
        f"last event {look.last_event}",
    )
    screen.say("\nState, as stored:")


def _tell_tasks(screen: Screen, tasks: Sequence[DueTask]) -> None:
    if not tasks:
        return
    screen.say("\nDue:")
    shown = [name(frame_path(due.path, due.task.id)) for due in tasks[:SHOWN_TASKS]]
    width = max(map(len, shown))
    for due, where in zip(tasks, shown, strict=False):
        asks = f" {', '.join(map(name, due.keys))}" if due.keys else ""
        screen.say("  ", (f"{where:{width}}", "bold"), f"  {due.wait.value}{asks}")
    if len(tasks) > SHOWN_TASKS:
        screen.say(f"  and {len(tasks) - SHOWN_TASKS} more; --json shows all")


def _draw(screen: Screen, look: Look, graph: Graph[Any]) -> None:
    from ...flow.draw import to_text
    from ...flow.standing import standing_by_node

    blueprint = graph.blueprint
    standing = standing_by_node(blueprint, look.position, look.now_ms)
    screen.say(f"\nGraph {name(blueprint.name)}, and where the thread stands in it:")
    for line in shown_drawing(to_text(blueprint, standing).rstrip("\n")):
        screen.say(f"  {line}" if line else "")
    tasks = due_tasks(look.position, look.now_ms)
    gone = [due for due in tasks if not due.path and blueprint.name_now(due.task.node) not in blueprint.nodes]
    if gone:
        screen.say("Not in this graph:")
        for due in gone[:SHOWN_TASKS]:
            screen.say(f"  {name(due.task.id)}  {due.wait.value}")
    misfit = _misfit(graph, look)
    if misfit is not None:
        screen.say("The stored state does not fit this graph:")
        for line in shown_lines(misfit):
            screen.say(f"  {line}")


def _misfit(graph: Graph[Any], look: Look) -> str | None:
    """Why the graph could not read the stored state; `None` where it can."""
    try:
        with output_of_users():
            graph.blueprint.schema.load(look.state)
    except GraphChangedError as error:
        return str(error)
    return None


def _tell_questions(screen: Screen, look: Look, place: Place, full: bool) -> None:
    if not look.waiting and not look.expired:
        return
    screen.say("\nQuestions:")
    rejected = look.rejected
    for question in (*look.waiting, *look.expired):
        why = rejected.get(question.key)
        show_question(screen, question, place, now_ms=look.now_ms, full=full, rejected=why)
        if not has_expired(question, look.now_ms):
            screen.type(answer_command(place, question), indent="    ")


def _tell_branches(screen: Screen, store: StateStore, place: Place, branches: Sequence[BranchRecord]) -> None:
    if len(branches) == 1:
        return
    screen.say("\nBranches:")
    width = max(len(name(branch.id)) for branch in branches[:SHOWN_BRANCHES])
    for branch in branches[:SHOWN_BRANCHES]:
        status = status_of(store, place.thread_id, branch.id).value
        origin = ""
        if branch.parent_branch_id is not None:
            origin = f", from {branch.from_event_id} of {name(branch.parent_branch_id)}"
        here = ", shown here" if branch.id == place.branch_id else ""
        screen.say(
            "  ",
            (f"{name(branch.id):{width}}", "bold"),
            "  ",
            (status, STYLE_OF_STATUS[status]),
            f"{origin}, begun {age(branch.created_at, store.now_ms())}{here}",
        )
    if len(branches) > SHOWN_BRANCHES:
        screen.say(f"  and {len(branches) - SHOWN_BRANCHES} more; --json shows all")


def _tell_decisions(screen: Screen, place: Place, decisions: Sequence[AnswerRecord]) -> None:
    if not decisions:
        return
    screen.say("\nDecisions, the latest first:")
    for decision in decisions:
        show_decision(screen, decision, with_thread=False)
    if len(decisions) == LATEST:
        screen.say("All of them:")
        screen.type(command("audit", {"--store": place.store}, place.thread_id))


def _to_json(
    store: StateStore,
    look: Look,
    branches: Sequence[BranchRecord],
    decisions: Sequence[AnswerRecord],
    graph: Graph[Any] | None,
) -> dict[str, Any]:
    head = look.head
    told: dict[str, Any] = {
        "thread_id": head.thread_id,
        "branch_id": head.branch_id,
        "graph": head.graph,
        "status": look.status.value,
        "created_at": iso(look.created_at),
        "updated_at": iso(look.updated_at),
        "last_event": look.last_event,
        "state": look.state,
        "tasks": [
            {
                "task_id": due.task.id,
                "node": due.task.node,
                "path": due.path,
                "wait": due.wait.value,
                "keys": list(due.keys),
            }
            for due in due_tasks(look.position, look.now_ms)
        ],
        "questions": [
            {
                **question_to_json(question),
                "expired": has_expired(question, look.now_ms),
                "rejected": look.rejected.get(question.key),
            }
            for question in (*look.waiting, *look.expired)
        ],
        "branches": [
            {
                "id": branch.id,
                "parent_branch_id": branch.parent_branch_id,
                "from_event_id": branch.from_event_id,
                "created_at": iso(branch.created_at),
                "status": status_of(store, head.thread_id, branch.id).value,
            }
            for branch in branches
        ],
        "latest_decisions": [decision_to_json(decision) for decision in decisions],
    }
    if graph is not None:
        from ...flow.standing import standing_by_node

        told["standing"] = dict(standing_by_node(graph.blueprint, look.position, look.now_ms))
        told["misfit"] = _misfit(graph, look)
    return told
