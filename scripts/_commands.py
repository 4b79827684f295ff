"""What the page of the command line takes from the commands: the table of them, and what each one tells in its help.

Run by `scripts/reference`. The tests compare what stands in `docs` with what this module makes.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from typer.main import get_command

from nodestep.cli.app import COMMANDS, application
from nodestep.cli.exits import MEANING

ROOT: Final = Path(__file__).parents[1]
COMMAND_LINE: Final = ROOT / "docs" / "command-line.md"


def with_commands(page: str) -> str:
    """A page with what stands between its marks made anew."""
    for mark, rows in (("overview", _overview()), ("commands", _commands()), ("exit codes", _exit_codes())):
        before, begin, rest = page.partition(f"<!-- {mark} -->\n")
        _, end, after = rest.partition(f"<!-- end of {mark} -->\n")
        page = "".join([before, begin, "\n", "\n".join(rows), "\n\n", end, after])
    return page


def _overview() -> Iterator[str]:
    """Every command in the order of the help, with the first sentence of what it tells."""
    yield "| Command | |"
    yield "|---|---|"
    for name, command in _all():
        anchor = f"#nodestep-{name}"
        yield f"| [`nodestep {_usage(name, command, short=True)}`]({anchor}) | {_cell(_paragraphs(command)[0])} |"


def _commands() -> Iterator[str]:
    """Every command with its help, under the headings of the help."""
    heading = ""
    for name, command in _all():
        if COMMANDS[name] != heading:
            heading = COMMANDS[name]
            yield from (f"## {heading}", "")
        yield from (f"### `nodestep {name}`", "", f"`nodestep {_usage(name, command)}`", "")
        for paragraph in _paragraphs(command):
            yield from (_text(paragraph), "")
        yield from ("| Parameter | |", "|---|---|")
        yield from (f"| {_spelled(each)} | {_told(each)} |" for each in command.params)
        yield ""
    yield "`--help`, or `-h`, tells all this at the terminal."


def _exit_codes() -> Iterator[str]:
    yield "| Exit code | Meaning |"
    yield "|---|---|"
    yield from (f"| {code.value} | {meaning} |" for code, meaning in MEANING.items())


def _all() -> Iterator[tuple[str, Any]]:
    program: Any = get_command(application())
    return ((name, program.commands[name]) for name in COMMANDS)


def _usage(name: str, command: Any, *, short: bool = False) -> str:
    """The command with its arguments, and the options that it cannot do without."""
    words = [name]
    for each in command.params:
        if _is_argument(each):
            words.append(_argument(each))
        elif each.required:
            words.append(f"{each.opts[0]} {each.metavar}")
    return " ".join(words if short else [*words, "[OPTIONS]"])


def _argument(parameter: Any) -> str:
    metavar = str(parameter.metavar)
    is_told = metavar.startswith("[") and metavar.endswith("]")
    return metavar if parameter.required or is_told else f"[{metavar}]"


def _is_argument(parameter: Any) -> bool:
    return str(parameter.param_type_name) == "argument"


def _paragraphs(command: Any) -> list[str]:
    return [" ".join(part.split()) for part in command.help.split("\n\n")]


def _spelled(parameter: Any) -> str:
    if _is_argument(parameter):
        return f"`{_argument(parameter)}`"
    first, *others = parameter.opts
    value = f" {parameter.metavar}" if parameter.metavar else ""
    spelled = f"{first}{value}".replace("|", "\\|")
    return ", ".join([f"`{spelled}`", *(f"`{other}`" for other in others)])


def _told(parameter: Any) -> str:
    text = parameter.help
    default = parameter.default
    if isinstance(default, str | int) and not isinstance(default, bool) and default != "":
        text += f" Default: `{getattr(default, 'value', default)}`."
    if parameter.envvar:
        text += f" Without it `{parameter.envvar}` is asked."
    return _cell(text)


def _cell(text: str) -> str:
    """Text in a cell of a table."""
    return _text(text).replace("|", "\\|")


def _text(text: str) -> str:
    """Text in which options and words in capitals are set as code, so that no underscore or star counts as Markdown."""
    return re.sub(r"(?<![\w`-])(--?[a-z][a-z-]*|@FILE|@@\.\.\.)(?![\w`])", r"`\1`", text)


if __name__ == "__main__":
    COMMAND_LINE.write_text(with_commands(COMMAND_LINE.read_text(encoding="utf-8")), encoding="utf-8")
