"""The parameters that several commands share, with their help."""

from __future__ import annotations

from typing import Annotated, TypeAlias

import typer

from .files import VARIABLE

Target: TypeAlias = Annotated[
    str,
    typer.Argument(
        metavar="TARGET",
        help="The graph: module:name or path/to/file.py:name, where the name is that of a Graph or of a function that "
        "returns one; without a name it is graph, or the only one there.",
        show_default=False,
    ),
]
Named: TypeAlias = Annotated[str, typer.Argument(metavar="THREAD", help="The thread.", show_default=False)]
Store: TypeAlias = Annotated[
    str | None,
    typer.Option("--store", metavar="FILE", envvar=VARIABLE, help="The SQLite file that keeps the threads."),
]
Thread: TypeAlias = Annotated[str | None, typer.Option("--thread", metavar="ID", help="The thread.")]
Branch: TypeAlias = Annotated[str, typer.Option("--branch", metavar="ID", help="The branch of the thread.")]
Limit: TypeAlias = Annotated[int, typer.Option("--limit", metavar="N", help="How many at most, 1 to 1000.")]
After: TypeAlias = Annotated[
    str | None, typer.Option("--after", metavar="CURSOR", help="Those after a page, by what its end printed.")
]
AsJson: TypeAlias = Annotated[
    bool,
    typer.Option(
        "--json", help="Write one JSON document to standard output, an error as well, and nothing else. Never asks."
    ),
]
Yes: TypeAlias = Annotated[bool, typer.Option("--yes", "-y", help="Do not ask whether it may be done.")]
WithTraceback: TypeAlias = Annotated[
    bool, typer.Option("--traceback", help="Show the traceback of an error in the graph's own code.")
]
