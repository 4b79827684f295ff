"""Approval of tool calls: what must be asked for, the question, and what comes of its answer.

An answer belongs to the tool, the call and the exact arguments that the person saw. They are kept beside the question, so
that an answer never meets a call that became another one meanwhile.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from ..errors import ToolDeniedError
from ..middleware.approvals import ToolInterruptMiddleware
from ..middleware.decisions import ToolDecision, ToolInterrupt, merged, read_decision
from ..middleware.rules import InterruptRule
from ..model.canonical import encode
from ..model.copying import same_json
from ..model.ids import approval_id
from ..model.interrupt import MISSING, Question
from ..model.json import JsonObject
from ..model.limits import MAX_PAYLOAD_BYTES, check_size
from ..model.position import Task
from ..runtime.context import TaskScope
from ..runtime.frame import outwards
from ..runtime.interrupts import ask
from .arguments import ArgumentsError, Checked
from .calling import check_arguments, read_back
from .tool import Tool

SHOWN = "shown"


@dataclass(frozen=True, slots=True)
class Ready:
    """A call that is about to run, with the arguments that fit its tool: `read` as they were before any hook."""

    tool: Tool[Any, Any]
    call_id: str
    arguments: Checked
    read: JsonObject


@dataclass(frozen=True, slots=True)
class Cleared:
    """A call that may run; `decided` says that a person, or a hook, decided so."""

    tool: Tool[Any, Any]
    arguments: Checked
    decided: bool = False


class Waiting:
    """A call that waits for a decision."""


WAITING = Waiting()


class Approvals:
    """The approvals of one turn, asked by the task that runs its calls."""

    def __init__(self, scope: TaskScope) -> None:
        self._scope = scope
        middleware = [
            item
            for at in outwards(scope.at)
            for item in at.hooks.middleware
            if isinstance(item, ToolInterruptMiddleware)
        ]
        self._rules = tuple(rule for item in middleware for rule in item.rules)
        self.hold_turn = any(item.hold_turn for item in middleware)
        self._shown: JsonObject = scope.cache.get(SHOWN, {})

    def read_before(self, task: Task) -> JsonObject | None:
        """The arguments of a call as they were read when it was first asked about: a default that is made anew each time
        (an id, the hour) is made once."""
        return next((one.get("read", one["arguments"]) for _, one in self._asked(task)), None)

    def judge(self, task: Task, ready: Ready) -> Cleared | Waiting:
        """Whether a call may run now. `task` tells the calls of a turn apart.

        Raises ToolDeniedError for one that was denied, ToolExecutionError where an edit does not fit its tool, or where the
        arguments cannot be shown as they would run.
        """
        current, is_judged = ready.arguments, self._is_judged(ready.tool)
        if not is_judged and not self._shown:
            return Cleared(ready.tool, current)
        needs = self._needs(ready.tool, current)
        asked = self._asked(task)
        question = self._find(asked, ready.tool, current)
        if not needs and question is None:
            return Cleared(ready.tool, read_back(ready.tool, current) if is_judged else current)
        while True:
            current = read_back(ready.tool, current)
            question = question or self._new_question(task, ready, current)
            decision = self._decision(question, ready, current)
            if decision is None:
                return WAITING
            if decision.action == "deny":
                raise ToolDeniedError(ready.tool.name, decision.message or "A person denied the call.")
            edited = current
            if decision.action == "edit":
                edited = read_back(ready.tool, check_arguments(ready.tool, merged(current.json, decision)))
            edited_needs = self._needs(ready.tool, edited)
            if edited_needs <= needs and _keeps_the_rest(current.json, edited.json, decision):
                return Cleared(ready.tool, edited, decided=True)
            current, needs = edited, edited_needs
            question = self._find(asked, ready.tool, current)

    def check_size(self) -> None:
        """Raises LimitExceededError where a turn would ask about more than a task may keep: what was shown stands in its
        cache, so that an answer meets nothing else."""
        n_bytes = len(encode(self._shown))
        check_size(n_bytes, what="What this turn would ask a person to approve", max_bytes=MAX_PAYLOAD_BYTES)

    def _is_judged(self, tool: Tool[Any, Any]) -> bool:
        """Whether a rule looks at calls of this tool, so that what runs must be what the rule saw."""
        return tool.needs_approval is not False or any(rule.names(tool.name) for rule in self._rules)

    def _needs(self, tool: Tool[Any, Any], arguments: Checked) -> frozenset[int]:
        """Which rules want these arguments asked for: by their number, the tool's own as -1."""
        rules: Iterator[tuple[int, InterruptRule]] = enumerate(self._rules)
        needs = {number for number, rule in rules if rule.asks_for(tool.name, arguments.json)}
        return frozenset(needs | {-1} if tool.asks_for(arguments.json) else needs)

    def _asked(self, task: Task) -> Iterator[tuple[str, JsonObject]]:
        """The questions that were asked about a call before, in order, each with what was shown."""
        shown = self._shown.items()
        return iter([(id, one) for id, one in shown if (one["task"], one["call"]) == (task.id, task.payload)])

    def _find(self, asked: Iterator[tuple[str, JsonObject]], tool: Tool[Any, Any], current: Checked) -> str | None:
        """The next of them that showed the call as it is now."""
        return next((id for id, one in asked if _showed(one["arguments"], tool, current)), None)

    def _new_question(self, task: Task, ready: Ready, current: Checked) -> str:
        number = 1
        while (id := approval_id(ready.call_id, number)) in self._shown:
            number += 1
        read = {} if same_json(ready.read, current.json) else {"read": ready.read}
        self._scope.cache[SHOWN] = self._shown
        self._shown[id] = {"task": task.id, "call": task.payload, "arguments": current.json, **read}
        return id

    def _decision(self, question: str, ready: Ready, current: Checked) -> ToolDecision | None:
        """What was decided, `None` while nobody has."""
        shown = ToolInterrupt(tool_name=ready.tool.name, tool_call_id=ready.call_id, arguments=current.json)
        answer = ask(self._scope, question, Question(shown))
        return None if answer is MISSING else read_decision(answer)


def _showed(arguments: JsonObject, tool: Tool[Any, Any], current: Checked) -> bool:
    """Whether arguments that a person saw are the present ones."""
    if same_json(arguments, current.json):
        return True
    try:
        return tool.takes.check(arguments).is_same(current)
    except ArgumentsError:
        return False


def _keeps_the_rest(shown: JsonObject, edited: JsonObject, decision: ToolDecision) -> bool:
    """Whether the arguments that an edit left alone are still those that the person saw."""
    changed = decision.arguments or {}
    return all(name in edited and same_json(edited[name], shown[name]) for name in shown if name not in changed)
