"""`interrupt()` and `interrupt_many()`: a recorded answer, else a hook's, else the pause.

Everything that is refused here goes up the way a pause does, so that no `except Exception` in a node can turn a refusal
into a go-ahead; see docs/design.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any, TypeVar, overload

from ..errors import GraphConfigError, GraphExecutionError, InterruptExpiredError, ResumeError
from ..model.answers import Misfit, as_type, by_schema_names, check_answer, schema_of
from ..model.event import LAST_INSTANT_MS
from ..model.interrupt import MISSING, Question
from ..model.json import Json, JsonObject
from ..model.limits import check_id, own_json, to_json
from ..model.outcome import StoredQuestion
from .context import BOOKKEEPING, CURRENT, Raised, TaskScope, check_question_id
from .frame import outwards

T = TypeVar("T")


@overload
def interrupt(
    payload: Any,
    *,
    id: str,
    answer: type[T],
    expires: timedelta | datetime | None = None,
    default: Any = MISSING,
    assignee: str | None = None,
) -> T: ...
@overload
def interrupt(
    payload: Any,
    *,
    id: str,
    answer: Any = None,
    expires: timedelta | datetime | None = None,
    default: Any = MISSING,
    assignee: str | None = None,
) -> Any: ...
def interrupt(
    payload: Any,
    *,
    id: str,
    answer: Any = None,
    expires: timedelta | datetime | None = None,
    default: Any = MISSING,
    assignee: str | None = None,
) -> Any:
    """Ask a person, and return the answer.

    The first time, the node stops here and the thread pauses; when it goes on, the node runs again from the top and this
    call returns the answer. `id` names the question within one run of its node: 1 to 256 ASCII letters, digits, `_`, `.`
    and `-`. The payload is anything that JSON can hold, at most 1 MiB.

    With `answer=Type` the question carries the type's JSON Schema, every answer is checked against it before anything is
    written, and this call returns the type; without it, JSON values. After `expires` (a duration from now, or an aware
    instant, by the store's clock) the question is closed: the next run takes `default`, or this call raises
    InterruptExpiredError. `assignee` says who should answer.

    Raises ValueError for a bad id or a naive instant, GraphExecutionError for an id used twice in one run or an answer
    type without a schema, RuntimeError outside a node. Without a store the run fails with GraphConfigError.
    """
    scope = _scope("interrupt")
    given = _ask(scope, id, Question(payload, answer=answer, expires=expires, default=default, assignee=assignee))
    if given is MISSING:
        scope.pause()
    return given


def interrupt_many(questions: Mapping[str, Any]) -> dict[str, Any]:
    """Ask several questions in one pause: `{id: payload or Question(...)}`. Returns the answers by id.

    Raises as `interrupt` does; TypeError for anything but a non-empty mapping.
    """
    if not isinstance(questions, Mapping) or not questions:
        raise TypeError("interrupt_many takes a non-empty mapping from id to payload, as in {'legal': 'Approve?'}.")
    scope = _scope("interrupt_many")
    answers = {
        id: _ask(scope, id, question if isinstance(question, Question) else Question(question))
        for id, question in questions.items()
    }
    if any(answer is MISSING for answer in answers.values()):
        scope.pause()
    return answers


def _scope(what: str) -> TaskScope:
    scope = CURRENT.get()
    if scope is None:
        raise RuntimeError(
            f"{what}() was called outside a running node. It works in nodes and node hooks, and in threads that carry "
            "their context (asyncio.to_thread); not in routers, reducers, validators of the state, graph hooks or a thread "
            "pool of your own."
        )
    return scope


def _ask(scope: TaskScope, id: str, question: Question) -> Any:
    scope.check_open("interrupt")
    try:
        check_question_id("interrupt", id)
    except ValueError as error:
        scope.fault = error
        raise
    return ask(scope, id, question)


def ask(scope: TaskScope, id: str, question: Question) -> Any:
    """The answer, if there is one; otherwise the question is noted, to be raised, and MISSING comes back."""
    _take_id(scope, id)
    for answers in (scope.work.answers, scope.hook_answers):
        if id in answers:
            try:
                return _given(answers[id], question)
            except Misfit as error:
                scope.own("rejected", dict)[id] = str(error)
            except Exception as error:
                scope.refuse(error)  # a validator that breaks has not accepted the answer
    if id in scope.work.expired:
        raise InterruptExpiredError(
            f"The question {id!r} of node {scope.node!r} passed its deadline without an answer, and it has no default. "
            "Give it one with interrupt(..., default=...), or catch this error and decide."
        )
    try:
        stored = _stored(scope, id, question)
        answer = _ask_hooks(scope, id, question.payload)
        if answer is not MISSING:
            answer = _checked(answer, stored.answer_schema, f"the on_interrupt answer to {id!r} in node {scope.node!r}")
            scope.own("hook_answers", dict)[id] = answer
            return _given(answer, question)
        if scope.run.store is None:
            raise GraphConfigError(
                f"Node {scope.node!r} asks {id!r}, and nothing can pause without a store. Pass one, as in "
                "Graph(..., state_store=SQLiteStateStore('threads.db')), and a thread_id."
            )
    except Misfit as error:
        scope.refuse(ResumeError(f"The answer of a hook to {id!r} in node {scope.node!r} was refused: {error}."))
    except Exception as error:
        scope.refuse(error)
    scope.own("raised", dict)[id] = Raised(stored, question.payload)
    return MISSING


def _take_id(scope: TaskScope, id: str) -> None:
    with BOOKKEEPING:
        if id in scope.ids:
            scope.fault = GraphExecutionError(
                f"Node {scope.node!r} asks the id {id!r} twice in one run. Give each question its own id."
            )
            raise scope.fault
        scope.own("ids", set).add(id)


def _given(answer: Json, question: Question) -> Any:
    return own_json(answer) if question.answer is None else as_type(answer, question.answer)


def _ask_hooks(scope: TaskScope, id: str, payload: Any) -> Any:
    """The first answer of a hook, of the task's own graph and then of those around it, each in middleware order; MISSING
    when every hook leaves the question to a person."""
    for hook in (each for at in outwards(scope.at) for each in at.hooks.on_interrupt):
        try:
            answer = hook(scope.hook_context(hook), payload)
        except Exception:
            raise
        except BaseException as error:
            # It passes, and is remembered: a node that catches everything must not go on as if it had an answer.
            scope.fault = GraphExecutionError(
                f"An on_interrupt hook raised {type(error).__name__} at question {id!r} of node {scope.node!r}, and the "
                "node caught it. The question is not answered."
            )
            raise
        if answer is not None:
            return answer
    return MISSING


def _stored(scope: TaskScope, id: str, question: Question) -> StoredQuestion:
    """The question as data. Raises what is wrong with it."""
    where = f"question {id!r} in node {scope.node!r}"
    schema = None
    if question.answer is not None:
        try:
            schema = schema_of(question.answer)
        except Misfit as error:
            raise GraphExecutionError(f"The answer= of {where} was refused: {error}.") from error
    if question.assignee is not None:
        if not isinstance(question.assignee, str) or not question.assignee:
            raise GraphExecutionError(f"The assignee= of {where} is a name, not {type(question.assignee).__name__}.")
        check_id("assignee", question.assignee)
    has_default = question.default is not MISSING
    default = _checked(question.default, schema, f"the default of {where}") if has_default else None
    return StoredQuestion(
        id,
        to_json(question.payload, f"the payload of {where}"),
        schema,
        question.assignee,
        _deadline_ms(scope, question.expires, where),
        has_default,
        default,
    )


def _checked(value: Any, schema: JsonObject | None, name: str) -> Json:
    """A value as JSON that fits the schema; raises ResumeError where it does not, and what is wrong with it as JSON."""
    answer = to_json(value if schema is None else by_schema_names(value), name)
    try:
        if schema is not None:
            check_answer(answer, schema)
    except Misfit as error:
        raise ResumeError(f"{name[0].upper()}{name[1:]} was refused: {error}") from None
    return answer


def _deadline_ms(scope: TaskScope, expires: timedelta | datetime | None, where: str) -> int | None:
    match expires:
        case None:
            return None
        case timedelta():
            store = scope.run.store
            deadline_ms = max(0, (0 if store is None else store.now_ms()) + int(expires.total_seconds() * 1000))
            if deadline_ms < LAST_INSTANT_MS:
                return deadline_ms
            raise ValueError(
                f"The expires= of {where} lies beyond the year 9999. Leave it out for a question without end."
            )
        case datetime() if expires.tzinfo is not None:
            return min(int(expires.timestamp() * 1000), LAST_INSTANT_MS)
    raise ValueError(
        f"The expires= of {where} takes a timedelta or an aware datetime, as in timedelta(days=2), not "
        f"{'a naive datetime' if isinstance(expires, datetime) else type(expires).__name__}."
    )
