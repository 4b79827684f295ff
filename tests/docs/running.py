"""Runs a page as a reader would: its blocks in order, in one folder, and each output compared with what the page shows.

- A `python` block runs as it stands. Blocks of a page share their names; one marked `fresh` begins without any.
- A `python` block marked with a file's name, as in `python release.py`, is saved as that file, and not run.
- A `text` block is what the Python block before it prints. A block that prints must be followed by one.
- A `console` block holds commands, each behind `$ `, and below each what it prints.
- A `console terminal` block is the same at a terminal: what stands behind a prompt is typed there.

In what is printed, `...` stands for anything, such as an instant.
"""

from __future__ import annotations

import io
import os
import re
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import redirect_stdout
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType

from tests.docs.pages import Block
from tests.docs.terminal import at_terminal

PYTHON = "python"
OUTPUT = "text"
CONSOLE = "console"
TERMINAL = "terminal"


def file_of(block: Block) -> str | None:
    """The file that a Python block is saved as, if it is one."""
    return next((flag for flag in block.flags if flag.endswith(".py")), None)


@dataclass(frozen=True)
class Printed:
    """What a block or a command printed, and what the page says; a block that shows no output prints none."""

    where: str
    actual: str
    expected: str = ""

    @property
    def is_as_told(self) -> bool:
        """Whether the two are equal, blanks at the end of lines aside; `...` in the page is anything."""
        actual, expected = _stripped(self.actual), _stripped(self.expected)
        pattern = ".*?".join(map(re.escape, expected.split("...")))
        return re.fullmatch(pattern, actual, re.DOTALL) is not None


def run(blocks: Sequence[Block], folder: Path) -> Iterator[Printed]:
    """Run the blocks of one page in `folder`, which is the current one, and tell what each printed."""
    module = _fresh_module(blocks[0].page)
    for place, block in enumerate(blocks):
        file = file_of(block)
        if file is not None:
            (folder / file).write_text(block.text, encoding="utf-8")
        elif block.language == PYTHON:
            if "fresh" in block.flags:
                module = _fresh_module(block.page)
            following = blocks[place + 1] if place + 1 < len(blocks) else None
            expected = following.text if following is not None and following.language == OUTPUT else ""
            yield Printed(_where(block), _run_python(block, module), expected)
        elif block.language == CONSOLE:
            for line, command, output in _commands(block):
                if TERMINAL in block.flags:
                    printed = at_terminal(command, _stripped(output), folder, _environment(folder))
                else:
                    printed = run_command(command, folder)
                yield Printed(f"{block.page.name}:{line}", printed, output)


def _where(block: Block) -> str:
    return f"{block.page.name}:{block.line}"


def _stripped(text: str) -> str:
    return "\n".join(line.rstrip() for line in text.strip("\n").splitlines())


def _fresh_module(page: Path) -> ModuleType:
    """A module to run blocks in. It is registered, so that types defined in it find their annotations."""
    module = ModuleType(f"page_{page.stem.replace('-', '_')}")
    sys.modules[module.__name__] = module
    return module


def _run_python(block: Block, module: ModuleType) -> str:
    """Run a block, with the page's own line numbers in whatever it raises."""
    code = compile("\n" * (block.line - 1) + block.text, block.page, "exec", dont_inherit=True)
    out = io.StringIO()
    with redirect_stdout(out):
        exec(code, module.__dict__)
    return out.getvalue()


def _commands(block: Block) -> Iterator[tuple[int, str, str]]:
    """Each command of a console block with its line and its output. A command goes on where a line ends with `\\`."""
    lines = block.text.splitlines()
    at = 0
    while at < len(lines):
        assert lines[at].startswith("$ "), f"{block.page.name}:{block.line + at} is neither a command nor an output"
        first, command = at, lines[at][2:]
        while command.endswith("\\"):
            at += 1
            command += "\n" + lines[at]
        at += 1
        output = []
        while at < len(lines) and not lines[at].startswith("$ "):
            output.append(lines[at])
            at += 1
        yield block.line + first, command, "\n".join(output)


def _environment(folder: Path) -> dict[str, str]:
    own = Path(sys.executable).parent
    return {
        "PATH": f"{own}{os.pathsep}{os.environ['PATH']}",
        "HOME": str(folder),
        "COLUMNS": "100",
        "NO_COLOR": "1",
        "TERM": "dumb",
        "PYTHONUNBUFFERED": "1",
        "PYTHONWARNINGS": "error",
        "PYTHONDONTWRITEBYTECODE": "1",
        "LC_ALL": "C.UTF-8",
    }


def run_command(command: str, folder: Path) -> str:
    """What a command prints, run by a shell in `folder` with this Python's programs on the PATH and no terminal."""
    ran = subprocess.run(
        ["bash", "-c", command],
        cwd=folder,
        env=_environment(folder),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=60,
        check=False,
    )
    return ran.stdout
