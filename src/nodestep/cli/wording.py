"""What the engine says to programmers, in the words of the command line.

An error of the engine tells what to write in Python. Whoever reads it here has commands instead: each row of the table is
a way of speaking and what stands in its place. What no row knows stays as it is.
"""

from __future__ import annotations

import re
from typing import Final

CONTINUE: Final = "`nodestep run` without --input"
NEW_INPUT: Final = "`nodestep run TARGET --thread ID --input JSON`"
A_STORE: Final = "--store FILE and --thread ID"

_STORE_CALL: Final = r"SQLiteStateStore\('threads\.db'\)"

WORDING: Final[tuple[tuple[str, str], ...]] = (
    (r"[Aa]nswer with invoke\(None, resume=Resume\(\.\.\.\)\)", "Answer with `nodestep answer`"),
    (r"as in invoke\(\{\.\.\.\}, thread_id=\.\.\.\)", f"as in {NEW_INPUT}"),
    (r"with invoke\(None(?:, thread_id=\.\.\.)?\)", f"with {CONTINUE}"),
    (r"invoke\(None\) on the same thread (runs|goes)", rf"{CONTINUE} \1"),
    (r"fork the thread at an earlier event", "fork the thread at an earlier event (`nodestep fork`)"),
    (rf"Pass state_store={_STORE_CALL} and a thread_id", f"Give {A_STORE}"),
    (rf"Pass state_store={_STORE_CALL}, here or to Graph\(\.\.\.\)", "Give --store FILE"),
    (rf"Pass one, as in Graph\(\.\.\., state_store={_STORE_CALL}\), and a thread_id", f"Give {A_STORE}"),
    (r"pass an input such as \{\}", "give an input, as in --input '{}'"),
    (
        r"so a run needs a thread_id to be kept under: a text that is not empty, as in invoke\(.*?\)\.",
        "so a run needs --thread ID to be kept under.",
    ),
    (r"history\(\) lists the events that can", "`nodestep history` lists the events that can"),
    (r"The ids are in \(await graph\.history\(thread_id\)\)\.checkpoints", "`nodestep history` lists the ids"),
    (r"\b(?:pending|threads|audit|history)\(limit=\.\.\.\)", "--limit"),
    (
        r"\b(?:pending|threads|audit)\(after=\.\.\.\) takes the `next` of an earlier page",
        "--after takes what the end of an earlier page printed",
    ),
    (r"\bthreads\(status=\.\.\.\)", "--status"),
    (r"\bprune\(keep=\.\.\.\)", "--keep"),
    (r"Pass it on every call, as in invoke\(\.\.\., context=\.\.\.\)", "Give it to every run with --context JSON"),
    (r"so update_state cannot", "so this edit cannot"),
)

_ROWS: Final = tuple((re.compile(pattern, re.DOTALL), words) for pattern, words in WORDING)


def in_commands(message: str) -> str:
    """A message of the engine, as one says it to whoever types commands."""
    for pattern, words in _ROWS:
        message = pattern.sub(words, message)
    return message
