"""`nodestep demo`: the main job in one minute, without keys and without anything to write first."""

from __future__ import annotations

import contextlib
import os
import tempfile
from collections.abc import Iterator
from typing import Annotated

import typer

from ..demo.play import Play
from ..exits import Refusal
from ..options import AsJson
from ..safe_text import name
from ..telling import telling

FILE_NAME = "demo.db"


def demo(
    store: Annotated[
        str | None,
        typer.Option(
            "--store", metavar="FILE", help="Keep the demo's store in a new file; without it a temporary one is used."
        ),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """See a graph pause, its process end, another process answer, and a third go on.

    Every step is a command in a process of its own, as you would type it. At a terminal the answer is yours.
    """
    with telling(as_json=as_json) as screen, _folder(store) as folder:
        play = Play(screen, folder, store or FILE_NAME)
        play.perform()
        if store is None:
            screen.say("The store was temporary and is gone; --store FILE keeps one to look around in.")
        else:
            screen.say(f"The store is kept in {name(store)}.")


@contextlib.contextmanager
def _folder(store: str | None) -> Iterator[str]:
    """Where the commands run: here with a store to keep, which must be new, else in a folder that is removed again."""
    if store is None:
        with tempfile.TemporaryDirectory(prefix="nodestep-demo-") as folder:
            yield folder
    elif os.path.lexists(store):
        raise Refusal(f"{name(store)} is there already, and the demo starts with a new store. Give another name.")
    else:
        yield os.getcwd()
