"""`nodestep draw`: a graph as a picture. Runs nothing but the module that holds it."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

import typer

from ..options import AsJson, Target, WithTraceback
from ..safe_text import shown_drawing
from ..screen import output_of_users
from ..target import load_graph
from ..telling import telling


class Format(StrEnum):
    """How a graph is drawn."""

    TEXT = "text"
    MERMAID = "mermaid"
    JSON = "json"


def draw(
    target: Target,
    format: Annotated[
        Format,
        typer.Option(
            "--format", metavar="text|mermaid|json", help="Lines for a terminal, a Mermaid flowchart, or data."
        ),
    ] = (Format.TEXT),
    as_json: AsJson = False,
    with_traceback: WithTraceback = False,
) -> None:
    """Draw a graph: its nodes, edges, branches and joins."""
    as_json = as_json or format is Format.JSON
    with telling(as_json=as_json, with_traceback=with_traceback) as screen:
        with output_of_users():
            graph = load_graph(target)
        if as_json:
            screen.document(graph.to_spec())
            return
        from ...flow.draw import to_text

        picture = to_text(graph.blueprint) if format is Format.TEXT else graph.to_mermaid()
        for line in shown_drawing(picture.rstrip("\n")):
            screen.say(line)
