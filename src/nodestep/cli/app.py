"""The commands, put together, and the way from arguments to an exit code."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from importlib import import_module
from typing import Annotated, Any, Final

import typer

from .exits import Exit, epilog
from .safe_text import name, shown_lines
from .shell import PROGRAM
from .telling import reader_is_gone

COMMANDS: Final = {
    "demo": "Graphs",
    "run": "Graphs",
    "draw": "Graphs",
    "threads": "Threads",
    "show": "Threads",
    "pending": "Questions",
    "answer": "Questions",
    "audit": "Questions",
    "history": "Time travel",
    "diff": "Time travel",
    "fork": "Time travel",
    "edit": "Time travel",
    "cancel": "Upkeep",
    "delete": "Upkeep",
    "prune": "Upkeep",
}
"""In the order of the help, each under its heading there; each is the function of its name in the module of its name."""

USAGE_ERRORS: tuple[type[Exception], ...] = tuple(
    kind for kind in typer.BadParameter.__mro__ if issubclass(kind, Exception) and kind is not Exception
)
"""What typer raises for a command line that it cannot read; its releases name the base differently."""


def application(commands: Sequence[str] = tuple(COMMANDS)) -> typer.Typer:
    """The commands as one program. A command's module is loaded with it, so a program of one starts sooner."""
    app = typer.Typer(
        name=PROGRAM,
        epilog=epilog(),
        add_completion=False,
        no_args_is_help=True,
        pretty_exceptions_enable=False,
        context_settings={"help_option_names": ["-h", "--help"]},
    )
    app.callback()(_program)
    for command in commands:
        function = getattr(import_module(f".commands.{command}", __package__), command)
        told = _paragraphs(function.__doc__)
        app.command(command, help=told, epilog=epilog(), rich_help_panel=COMMANDS[command])(function)
    return app


def _paragraphs(text: str) -> str:
    """A docstring with each paragraph on one line; the terminal's width breaks it."""
    return "\n\n".join(" ".join(part.split()) for part in text.split("\n\n"))


def _print_version(wanted: bool) -> None:
    if wanted:
        from .. import __version__

        sys.stdout.write(f"{PROGRAM} {__version__}\n")
        raise typer.Exit


def _program(
    version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Show the version.")
    ] = False,
) -> None:
    """Run graphs that pause for a person, see what waits, and answer it."""


def run(arguments: Sequence[str]) -> int:
    """Run a command line; returns its exit code."""
    for stream in (sys.stdout, sys.stderr):
        # A terminal that cannot show a character gets it written out.
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")
    try:
        _check_utf8(arguments)
        wanted = arguments[0] if arguments else ""
        app = application((wanted,) if wanted in COMMANDS else tuple(COMMANDS))
        code = _code_of(app(list(arguments), prog_name=PROGRAM, standalone_mode=False))
        sys.stdout.flush()
        return code
    except USAGE_ERRORS as error:
        return _tell_usage(error, arguments)
    except (KeyboardInterrupt, typer.Abort):
        return Exit.STOPPED
    except BrokenPipeError:
        return reader_is_gone()


def _code_of(returned: Any) -> int:
    return returned if isinstance(returned, int) else Exit.DONE


def _check_utf8(arguments: Sequence[str]) -> None:
    for number, argument in enumerate(arguments, 1):
        try:
            argument.encode()
        except UnicodeEncodeError:
            raise typer.BadParameter(f"argument {number} is no valid UTF-8") from None


def _takes_thread(error: Exception) -> bool:
    """Whether a thread stands behind the command, without an option."""
    context = getattr(error, "ctx", None)
    return context is not None and any(parameter.name == "thread" for parameter in context.command.params)


def _tell_usage(error: Exception, arguments: Sequence[str]) -> int:
    """A command line that cannot be read, told as every other error is."""
    message = "\n".join(shown_lines(error.format_message()))  # type: ignore[attr-defined]
    command = getattr(getattr(error, "ctx", None), "command_path", PROGRAM)
    if "--json" in arguments:
        told = {"type": "Usage", "message": message, "exit_code": int(Exit.USAGE)}
        sys.stdout.write(json.dumps({"error": told}, indent=2) + "\n")
    else:
        sys.stderr.write(f"error: {message}\n  {name(command) if ' ' not in command else command} --help tells more.")
        hint = ""
        if "No such option: --thread" in message:
            own = f" The thread stands without an option there: {name(command) if ' ' not in command else command} ID."
            hint = own if _takes_thread(error) else ""
        elif "No such option" in message:
            hint = " A value that begins with a dash comes after --."
        sys.stderr.write(f"{hint}\n")
    return Exit.USAGE
