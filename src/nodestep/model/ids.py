"""Keys, task ids and paths: derived from where a thing stands, never random.

A frame is a graph at work; its path is `""` for the thread's own graph and `"<outer task>"`, or `"<outer task>/<call id>"`
for a call from code, inside a node. Task ids hold no `/` and no `:`, so a key reads back one way only.
"""

from __future__ import annotations

import hashlib
import re

NAME = re.compile(r"[A-Za-z0-9_. -]+")
QUESTION_ID = re.compile(r"[A-Za-z0-9_.-]{1,256}")
RESERVED = frozenset({"__start__", "__end__"})
START = "__start__"
END = "__end__"


def task_id(node: str, index: int) -> str:
    """The id of the index-th task of a node in its superstep: `name`, then `name[1]`, `name[2]`."""
    return node if index == 0 else f"{node}[{index}]"


def frame_path(path: str, inner: str) -> str:
    """The path of a frame inside the frame `path`: in its task of that id, or, from `"<task>/<id>"`, in a call of one."""
    return f"{path}/{inner}" if path else inner


def is_within(path: str, outer: str) -> bool:
    """Whether a frame's path is `outer` or lies inside it."""
    return not outer or path == outer or path.startswith(f"{outer}/")


def interrupt_key(path: str, task: str, question_id: str) -> str:
    """The key of a question, e.g. `"review:approve"`, or `"outer/review:approve"` in an inner graph."""
    return f"{path}/{task}:{question_id}" if path else f"{task}:{question_id}"


def event_id(branch_no: int, sequence: int, part: int | None = None) -> str:
    """The id of an event: the branch's number in its store, the commit's sequence, and the part of a commit."""
    return f"{branch_no}-{sequence}" if part is None else f"{branch_no}-{sequence}.{part}"


def idempotency_key(origin: str, superstep: int, path: str, task: str) -> str:
    """The same for every attempt of a task and different for every other task; `origin` names store and branch.

    32 hexadecimal digits, fit for the idempotency header of a payment service.
    """
    text = f"{origin}\x00{superstep}\x00{path}\x00{task}"
    return hashlib.sha256(text.encode()).hexdigest()[:32]


def split_key(key: str) -> tuple[str, str, str]:
    """The path, task and question id of a key. The id holds no `:` and no `/`, the task no `:` and no `/`."""
    where, _, question_id = key.rpartition(":")
    path, _, task = where.rpartition("/")
    return path, task, question_id


def encoded_call_id(call_id: str, number: int = 1) -> str:
    """A tool call's id as part of a key: every byte of its UTF-8 that is no ASCII letter, digit, `_` or `-` as `.` and two
    hexadecimal digits. No two texts become the same one. The n-th thing of one call id gets `..n`, which no text becomes.
    """
    encoded = re.sub(rb"[^A-Za-z0-9_-]", lambda byte: b".%02x" % byte[0][0], call_id.encode("utf-8", "surrogatepass"))
    return encoded.decode() if number == 1 else f"{encoded.decode()}..{number}"


def approval_id(call_id: str, number: int = 1) -> str:
    """The id of the n-th question that asks for the approval of a call with this id in one turn."""
    return f"approve_{encoded_call_id(call_id, number)}"
