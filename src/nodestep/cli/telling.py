"""Errors, told: to a person as a sentence on standard error, to a program as JSON, to a shell as the exit code.

No traceback reaches a user who did not ask for one. What an error says may hold text from outside, so all of it passes
through `safe_text`.
"""

from __future__ import annotations

import os
import sys
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Any

import typer

from ..errors import NodestepError
from .exits import Exit, Refusal, exit_of
from .safe_text import cut, name, shown, shown_drawing, shown_lines
from .screen import Screen
from .wording import in_commands

MESSAGE_CHARACTERS = 4000
MESSAGE_LINES = 60


@contextmanager
def telling(
    *,
    as_json: bool,
    quiet: bool = False,
    with_traceback: bool = False,
    code_of: Callable[[BaseException], Exit] = exit_of,
) -> Iterator[Screen]:
    """A screen for the work of one command, whose errors are told there and become its exit code, by `code_of`."""
    screen = Screen(as_json=as_json, quiet=quiet)
    try:
        yield screen
    except typer.Exit:
        raise
    except BrokenPipeError:
        raise typer.Exit(reader_is_gone()) from None
    except KeyboardInterrupt:
        screen.problem("Stopped from the keyboard.")
        if screen.as_json:
            screen.document({"error": {"type": "KeyboardInterrupt", "message": "stopped from the keyboard"}})
        raise typer.Exit(Exit.STOPPED) from None
    except Exception as error:
        code = code_of(error)
        tell(screen, error, code, with_traceback=with_traceback)
        if screen.as_json:
            screen.document({"error": error_to_json(error, code, with_traceback=with_traceback)})
        raise typer.Exit(code) from None


def tell(
    screen: Screen, error: BaseException, code: Exit, *, node: str | None = None, with_traceback: bool = False
) -> None:
    """The error for a person, on standard error."""
    if screen.as_json:
        return
    if code is Exit.STOPPED:
        screen.problem()
        screen.explain(str(error), error=True)
    elif isinstance(error, Refusal):
        screen.explain(str(error), title="error", error=True)
    elif isinstance(error, NodestepError):
        title = name(type(error).__name__) + (f" in node {name(node)}" if node is not None else "")
        lines = (shown_drawing if node is None else shown_lines)(_message(error))
        screen.explain("\n".join(lines), title=title, error=True)
    else:
        where = f" in node {name(node)}" if node is not None else ""
        at = place(error)
        line = "" if at is None else f", at {shown(at)}"
        screen.explain(f"{name(type(error).__name__)}{where}{line}", title="error", error=True)
        screen.quote(shown_lines(_message(error)), error=True)
    for note in getattr(error, "__notes__", ()):
        screen.quote(shown_lines(str(note)), error=True)
    for command in getattr(error, "commands", ()):
        screen.type(command, error=True)
    if with_traceback:
        for line in shown_lines(_traceback(error)):
            screen.problem("  ", line)


def error_to_json(
    error: BaseException, code: Exit, *, node: str | None = None, with_traceback: bool = False
) -> dict[str, Any]:
    """The error for a program."""
    told: dict[str, Any] = {
        "type": code.name.capitalize() if isinstance(error, Refusal) else type(error).__name__,
        "message": _text(error),
        "exit_code": int(code),
    }
    if node is not None:
        told["node"] = node
    if not isinstance(error, Refusal | NodestepError):
        told["at"] = place(error)
    if getattr(error, "commands", ()):
        told["commands"] = list(error.commands)  # type: ignore[attr-defined]
    if with_traceback:
        told["traceback"] = _traceback(error)
    return told


def place(error: BaseException) -> str | None:
    """The innermost line of a user's code that the error passed through, as `file:line in function`."""
    if isinstance(error, SyntaxError) and error.filename:
        return f"{error.filename}:{error.lineno}"
    frames = traceback.extract_tb(error.__traceback__)
    not_theirs = _not_theirs()
    theirs = [f for f in frames if not f.filename.startswith(not_theirs)]
    if not theirs:
        return None
    return f"{theirs[-1].filename}:{theirs[-1].lineno} in {theirs[-1].name}"


def _not_theirs() -> tuple[str, ...]:
    """Where the files of nodestep, of Python and of installed packages lie; `<` begins the name of code without a file."""
    import sysconfig

    folders = [sysconfig.get_path(kind) for kind in ("stdlib", "platstdlib", "purelib", "platlib")]
    ours = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    return (*(folder + os.sep for folder in (ours, *folders)), "<")


def _text(error: BaseException) -> str:
    return in_commands(str(error)) if isinstance(error, NodestepError) else str(error)


def _message(error: BaseException) -> str:
    text = _text(error) or "(no message)"
    head, hidden = cut(text, characters=MESSAGE_CHARACTERS, lines=MESSAGE_LINES)
    return head if not hidden else f"{head}... ({hidden:,} more characters; --json shows all)"


def _traceback(error: BaseException) -> str:
    cause = error.__cause__ if isinstance(error, Refusal) and error.__cause__ is not None else error
    return "".join(traceback.format_exception(cause))


def reader_is_gone() -> int:
    """Whoever read our output, such as `head`, has had enough: be quiet from here on, and end as a shell would say it."""
    with suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return 128 + 13  # SIGPIPE
