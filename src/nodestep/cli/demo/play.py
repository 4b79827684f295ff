"""The demo's play: three processes, one after the other, and nothing between them but a file."""

from __future__ import annotations

import inspect
import json
import os
import subprocess
import sys
from typing import Any, Final

from ...model.json import JsonObject
from ...people import history, inbox
from ...stores.sqlite import SQLiteStateStore
from ..exits import Exit, Refusal
from ..safe_text import shown
from ..screen import Screen
from ..shell import PROGRAM, word

TARGET: Final = "nodestep.cli.demo.refund"
THREAD: Final = "order-17"
KEY: Final = "review:approve"
INDENT: Final = "     "
INPUT: Final = '{"order": "A-17", "amount": 80}'


class Play:
    """One performance in `folder`, with the store in the file `store`."""

    def __init__(self, screen: Screen, folder: str, store: str) -> None:
        self._screen = screen
        self._folder = folder
        self._store = store
        self._steps: list[dict[str, Any]] = []

    def perform(self) -> None:
        """Three processes; with `--json`, what each of them printed."""
        thread = ["--store", self._store, "--thread", THREAD]
        self._show_graph()
        self._headline("1. A process runs the graph. It needs a person, so it stores the pause and ends.")
        self._command(["run", TARGET, *thread, "--input", INPUT, "--no-ask"], Exit.INTERRUPTED)
        self._headline("2. That process is gone. Another one records the answer, in a minute or in a month.")
        answer = self._decide()
        pause = ["--store", self._store, "--pause", self._pause()]
        self._command(["answer", *pause, THREAD, KEY, answer], Exit.DONE)
        self._headline("3. A third process goes on where the first one stopped: check does not run again.")
        self._command(["run", TARGET, *thread], Exit.DONE)
        outcome = self._state()["outcome"]
        self._screen.say()
        self._screen.say(
            "The refund: ", (outcome, "bold green"), ". Three processes and one file; check and pay ran once each."
        )
        if self._screen.as_json:
            self._screen.document({"store": self._store, "steps": self._steps, "state": self._state()})

    def _show_graph(self) -> None:
        from ...flow.draw import to_text
        from . import refund

        self._screen.say(("A refund that a person decides", "bold"), f"  ({TARGET})\n")
        for line in to_text(refund.graph.blueprint).rstrip("\n").split("\n"):
            self._screen.say(f"    {line}")
        self._screen.say()
        for line in inspect.getsource(refund.review.spec.function).rstrip("\n").split("\n"):
            self._screen.say("    ", (line, "cyan"))

    def _headline(self, text: str) -> None:
        self._screen.say()
        self._screen.say((text, "bold"))

    def _decide(self) -> str:
        """The answer: the person's at a terminal, else yes."""
        while self._screen.can_ask:
            try:
                typed = input("   Your decision, yes or no? [yes] ").strip().lower() or "yes"
            except EOFError:
                self._screen.say()
                break
            if typed in ("yes", "no"):
                return typed
        return "yes"

    def _command(self, arguments: list[str], expected: Exit) -> None:
        """Run a command as a process of its own, and show it with what it prints."""
        line = " ".join(map(word, [PROGRAM, *arguments]))
        self._screen.say(("   $ ", "dim"), (line, "cyan"))
        as_json = self._screen.as_json
        ended = subprocess.run(
            [sys.executable, "-m", "nodestep.cli", *arguments, *(["--json"] if as_json else [])],
            cwd=self._folder,
            env={**os.environ, "COLUMNS": str(self._screen.width - len(INDENT)), "FORCE_COLOR": ""},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=None if as_json else subprocess.STDOUT,
            check=False,
        )
        output = ended.stdout.decode("utf-8", "replace")
        for printed in output.rstrip("\n").split("\n"):
            self._screen.say(INDENT, printed)
        if ended.returncode != expected:
            raise Refusal(
                f"This command ended with exit code {ended.returncode}, not {int(expected)}: {line}. It printed "
                f"{shown(output)}",
                Exit.FAILED,
            )
        if as_json:
            self._steps.append({"command": line, "exit_code": ended.returncode, "output": json.loads(output)})

    def _pause(self) -> str:
        with self._opened() as store:
            return str(inbox.pending(store, THREAD).items[0].pause)

    def _state(self) -> JsonObject:
        with self._opened() as store:
            return history.load(store, THREAD)

    def _opened(self) -> SQLiteStateStore:
        return SQLiteStateStore(os.path.join(self._folder, self._store))
