"""A command at a terminal, with a reader who types what the page shows behind each prompt."""

from __future__ import annotations

import os
import pty
import select
import subprocess
import time
from collections.abc import Mapping
from pathlib import Path

PATIENCE_S = 60


def at_terminal(command: str, expected: str, folder: Path, environment: Mapping[str, str]) -> str:
    """What the screen shows in the end. A prompt is a last line that ends with a blank; if the page shows the screen so far,
    the rest of that line of the page is typed. Where the screen is another one the input ends, and so does the command."""
    master, slave = pty.openpty()
    running = subprocess.Popen(
        ["bash", "-c", command],
        cwd=folder,
        env=environment,
        stdin=slave,
        stdout=slave,
        stderr=slave,
        start_new_session=True,
    )
    os.close(slave)
    screen = ""
    deadline = time.monotonic() + PATIENCE_S
    try:
        while True:
            if not select.select([master], [], [], max(0.0, deadline - time.monotonic()))[0]:
                return f"{screen}<nothing more came for {PATIENCE_S} s>"
            try:
                read = os.read(master, 65536)
            except OSError:  # the other end is closed
                return screen
            if not read:
                return screen
            screen += read.decode().replace("\r\n", "\n")
            if screen.endswith((": ", "] ")):
                os.write(master, _typed(screen, expected))
    finally:
        if running.poll() is None:
            running.kill()
        running.wait()
        os.close(master)


def _typed(screen: str, expected: str) -> bytes:
    """The keys to press at a prompt, or the end of the input."""
    shown = "\n".join(line.rstrip() for line in screen.strip("\n").split("\n")[:-1])
    prompt = screen.rpartition("\n")[2]
    before, lines = len(shown.split("\n")) if shown else 0, expected.split("\n")
    is_as_told = lines[:before] == (shown.split("\n") if shown else []) and len(lines) > before
    if not is_as_told or not f"{lines[before]} ".startswith(prompt):
        return b"\x04"
    return lines[before].removeprefix(prompt.rstrip()).strip().encode() + b"\n"
