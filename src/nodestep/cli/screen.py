"""Where a command speaks: lines for a person, or one JSON document for a program.

Lines that answer the question go to standard output, notes on the way and problems to standard error. With `--json` the
one document is all that standard output gets. Knows streams and widths, and nothing of threads; text from outside must
have passed through `safe_text` before it comes here.
"""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import sys
from collections.abc import Iterable, Iterator
from typing import IO, Any, Final, TypeAlias

from .safe_text import BAR, GOES_ON, fitting, in_bars, rows

Part: TypeAlias = str | tuple[str, str]
"""Text, or text and a style of rich, such as `("interrupted", "bold yellow")`."""

STYLE_OF_STATUS: Final = {
    "running": "bold cyan",
    "unfinished": "bold magenta",
    "interrupted": "bold yellow",
    "ready": "bold cyan",
    "failed": "bold red",
    "completed": "bold green",
    "cancelled": "dim",
}


class Screen:
    """The streams of one command. `as_json` says that a program reads; `quiet` leaves out the notes on the way."""

    def __init__(self, *, as_json: bool = False, quiet: bool = False) -> None:
        self.as_json = as_json
        self._quiet = quiet or as_json

    @property
    def can_ask(self) -> bool:
        """Whether a person is there to answer: input and output are a terminal."""
        return not self.as_json and _is_terminal(sys.stdin) and _is_terminal(sys.stdout)

    @property
    def width(self) -> int:
        """Columns of the terminal, or 80."""
        return max(shutil.get_terminal_size().columns, 40)

    def say(self, *parts: Part) -> None:
        """A line of ours."""
        if not self.as_json:
            _write(sys.stdout, parts)

    def row(self, *parts: Part) -> None:
        """A line of ours of which a terminal shows as much as one of its rows holds; elsewhere all of it."""
        if self.as_json or not _is_terminal(sys.stdout):
            self.say(*parts)
            return
        left = self.width - 1
        kept: list[Part] = []
        for part in parts:
            text = part if isinstance(part, str) else part[0]
            head, taken = fitting(text, left)
            left -= taken
            if head != text:
                kept.append(f"{head}…")
                break
            kept.append(part)
        self.say(*kept)

    def note(self, *parts: Part) -> None:
        """A line about the way there, on standard error."""
        if not self._quiet:
            _write(sys.stderr, parts)

    def problem(self, *parts: Part) -> None:
        """A line about what went wrong, on standard error."""
        if not self.as_json:
            _write(sys.stderr, parts)

    def quote(self, lines: list[str], *, indent: str = "  ", error: bool = False) -> None:
        """Safe lines of a text from outside, behind bars."""
        for row in in_bars(lines, self.width - len(indent) - 1):
            (self.problem if error else self.say)(indent, (row[:1], "dim"), row[1:])

    def explain(self, text: str, *, title: str = "", error: bool = False) -> None:
        """A safe sentence behind a title. What does not fit the terminal, and lines that names or values of others may have
        brought in, stand behind bars."""
        stream = sys.stderr if error else sys.stdout
        width = self.width - len(title) - 5 if _is_terminal(stream) else sys.maxsize
        lead: tuple[Part, ...] = ((title, "bold red"), ": ") if title else ()
        for line in text.split("\n"):
            for row in rows(line, width):
                (self.problem if error else self.say)(*lead, row)
                lead = ("  ", (GOES_ON, "dim"))
            lead = ("  ", (BAR, "dim"))

    def type(self, command: str, *, indent: str = "  ", error: bool = False) -> None:
        """A command line to type; never broken, so that it can be copied."""
        (self.problem if error else self.say)(indent, ("$ ", "dim"), (command, "cyan"))

    def document(self, value: Any) -> None:
        """The JSON document, in ASCII."""
        sys.stdout.write(json.dumps(value, indent=2) + "\n")
        sys.stdout.flush()


def _is_terminal(stream: IO[str] | None) -> bool:
    try:
        return stream is not None and stream.isatty()
    except ValueError:
        return False


def _write(stream: IO[str], parts: Iterable[Part]) -> None:
    if _is_terminal(stream) or os.environ.get("FORCE_COLOR"):
        from rich.console import Console
        from rich.text import Text

        console = Console(file=stream, markup=False, emoji=False, highlight=False)
        console.print(Text.assemble(*parts), soft_wrap=True)
    else:
        stream.write("".join(part if isinstance(part, str) else part[0] for part in parts) + "\n")
    stream.flush()


@contextlib.contextmanager
def output_of_users() -> Iterator[None]:
    """While a program reads our standard output, what a user's code prints goes to standard error, that of its child
    processes included."""
    sys.stdout.flush()
    try:
        ours = sys.stdout.fileno()
    except (OSError, ValueError):
        with contextlib.redirect_stdout(sys.stderr):
            yield
        return
    kept = os.dup(ours)
    os.dup2(2, ours)
    try:
        with contextlib.redirect_stdout(sys.stderr):
            yield
    finally:
        sys.stderr.flush()
        os.dup2(kept, ours)
        os.close(kept)
