"""A tool call that waits for approval: shown as what will run, and decided about in words.

A decision is `approve`, `deny` or `deny: REASON`, or `edit {...}` with the arguments to change, in JSON. What is no decision
is refused here, although the engine would take it for a denial: who writes `yes` means something else.
"""

from __future__ import annotations

from typing import Final

from ..errors import did_you_mean
from ..model.interrupt import Interrupt
from ..model.json import Json, JsonObject
from ..model.limits import to_json
from .exits import Exit, Refusal
from .prompts import LeftOpen, line
from .safe_text import name, shown_json
from .screen import Screen
from .values import described, parsed

WORDS: Final = "DECISION is approve, 'deny: REASON', or 'edit {...}' with the arguments to change, in JSON."
_PARTS: Final = {"kind", "tool_name", "tool_call_id", "arguments"}


def call_of(question: Interrupt) -> JsonObject | None:
    """The tool call that a question asks to approve; `None` for any other question."""
    if not question.id.startswith("approve_"):
        return None
    call = to_json(question.payload, "the payload")
    is_call = isinstance(call, dict) and call.keys() == _PARTS and call["kind"] == "tool_interrupt"
    return call if is_call and isinstance(call["arguments"], dict) else None


def told_call(call: JsonObject) -> str:
    """The call in one line."""
    return f"tool {name(call['tool_name'])}, call {name(call['tool_call_id'])}, would run with"


def read_decision(text: str, call: JsonObject, what: str) -> Json:
    """The decision that a text stands for. Raises Refusal for what is none."""
    word, _, rest = text.strip().partition(" ")
    match word.rstrip(":").lower(), rest.strip():
        case "approve", "":
            return True
        case "deny", reason:
            return {"action": "deny", "message": reason} if reason else {"action": "deny"}
        case "edit", changes if changes:
            return edited(parsed(changes, f"what stands behind edit in {what}"), call, what)
    raise _no_decision(what, described(text))


def checked_decision(value: Json, call: JsonObject, what: str) -> Json:
    """A decision that was given as JSON. Raises Refusal for what is none."""
    from ..middleware.decisions import NoDecision, valid_decision

    try:
        decision = valid_decision(value)
    except NoDecision as why:
        raise _no_decision(what, f"{described(value)}; {why}") from None
    if decision.action == "edit":
        edited(decision.arguments, call, what)
    return value


def edited(changes: Json, call: JsonObject, what: str) -> JsonObject:
    """The decision to change these arguments. A call is shown with all that its tool takes, so no other can be given."""
    known = list(call["arguments"])
    if not isinstance(changes, dict):
        raise _refused(f"the arguments in {what} are no JSON object")
    for key in changes:
        if key not in known:
            takes = f"the tool takes {', '.join(map(name, known)) or 'none'}"
            raise _refused(f"{what} gives the argument {name(key)}, and {takes}.{did_you_mean(key, known)}")
    return {"action": "edit", "arguments": changes}


def will_run(screen: Screen, call: JsonObject, decision: Json, indent: str) -> None:
    """What a decision comes to: the whole call as it will run, or that it will not."""
    tool = name(call["tool_name"])
    if decision is True or decision["action"] != "deny":
        changes = {} if decision is True else decision.get("arguments") or {}
        screen.say(indent, (f"{tool} runs with", "bold"))
        screen.quote(shown_json({**call["arguments"], **changes}, indent=2).split("\n"), indent=indent)
        return
    reason = decision.get("message")
    screen.say(indent, (f"{tool} does not run", "bold"), f"; the model is told {described(reason)}" if reason else "")


def ask_decision(screen: Screen, call: JsonObject, indent: str) -> Json:
    """A decision typed at the terminal. Raises LeftOpen for an empty line, EOFError at the end of input."""
    while True:
        try:
            text = line(f"{indent}Decision (approve, deny: REASON, edit {{...}}): ")
            if not text.strip():
                raise LeftOpen
            return read_decision(text, call, "the decision")
        except Refusal as refusal:
            screen.explain(str(refusal), title="error")


def _no_decision(what: str, given: str) -> Refusal:
    return _refused(f"{what} is no decision: {given}")


def _refused(why: str) -> Refusal:
    end = "" if why.endswith(("?", ".")) else "."
    return Refusal(f"{why[0].upper()}{why[1:]}{end} Nothing was recorded. {WORDS}", Exit.REFUSED)
