"""Asked before something goes for good: a person at the terminal, or `--yes`."""

from __future__ import annotations

from collections.abc import Mapping

from .exits import Exit, Refusal
from .prompts import agreed, editable
from .screen import Screen
from .shell import command


def is_sure(
    screen: Screen, told: str, question: str, yes: bool, name: str, options: Mapping[str, object], *arguments: str
) -> None:
    """Return if it may go on. Raises Refusal when the person says no, or when nobody can be asked and there is no `--yes`;
    `name`, `options` and `arguments` are the command that says it."""
    if yes:
        return
    if not screen.can_ask:
        raise Refusal(
            f"{told} Nobody can be asked here, so it needs --yes. Nothing was done. Write:",
            commands=[command(name, {**options, "--yes": True}, *arguments)],
        )
    screen.say(told)
    editable()
    if not agreed(f"{question} [y/N] "):
        raise Refusal("Nothing was done.", Exit.STOPPED)
