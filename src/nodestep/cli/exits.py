"""Exit codes: one table from every error to the code it ends with, and the text that tells them in every `--help`."""

from __future__ import annotations

from collections.abc import Sequence
from enum import IntEnum
from typing import Final

from .. import errors


class Exit(IntEnum):
    """How a command ended."""

    DONE = 0
    FAILED = 1
    USAGE = 2
    INTERRUPTED = 3
    BUSY = 4
    STORE = 5
    REFUSED = 6
    UNKNOWN = 7
    STOPPED = 130


MEANING: Final = {
    Exit.DONE: "done: the run completed, or what was asked for happened",
    Exit.FAILED: "the run failed; it can be continued",
    Exit.USAGE: "the command, the graph or a value is written wrongly; nothing ran",
    Exit.INTERRUPTED: "interrupted: the run waits for answers",
    Exit.BUSY: "another run, or another program, holds the thread or the store; try again",
    Exit.STORE: "the store cannot be used, or a value cannot be stored",
    Exit.REFUSED: "refused: it does not fit where the thread stands; nothing was written",
    Exit.UNKNOWN: "there is no such store, thread, branch or event",
    Exit.STOPPED: "stopped from the keyboard, or not agreed to there",
}

EXIT_OF: Final[dict[type[BaseException], Exit]] = {
    errors.NodestepError: Exit.FAILED,
    errors.GraphConfigError: Exit.USAGE,
    errors.GraphExecutionError: Exit.FAILED,
    errors.NodeTimeoutError: Exit.FAILED,
    errors.GraphTimeoutError: Exit.FAILED,
    errors.InterruptSwallowedError: Exit.FAILED,
    errors.InterruptExpiredError: Exit.REFUSED,
    errors.ThreadBusyError: Exit.BUSY,
    errors.LeaseLostError: Exit.BUSY,
    errors.ThreadCancelledError: Exit.FAILED,
    errors.GraphChangedError: Exit.REFUSED,
    errors.ResumeError: Exit.REFUSED,
    errors.RunLimitExceededError: Exit.FAILED,
    errors.RunInterruptedError: Exit.INTERRUPTED,
    errors.StateUpdateError: Exit.USAGE,
    errors.InvalidUpdateError: Exit.FAILED,
    errors.StateStoreError: Exit.STORE,
    errors.UnknownThreadError: Exit.UNKNOWN,
    errors.UnknownEventError: Exit.UNKNOWN,
    errors.StoreBusyError: Exit.BUSY,
    errors.StoreFullError: Exit.STORE,
    errors.StoreCorruptedError: Exit.STORE,
    errors.StoreFormatError: Exit.STORE,
    errors.LimitExceededError: Exit.STORE,
    errors.ToolExecutionError: Exit.FAILED,
    errors.ToolGroupExecutionError: Exit.FAILED,
    errors.ToolDeniedError: Exit.FAILED,
    errors.ModelProviderError: Exit.FAILED,
    errors.ChatHistoryError: Exit.FAILED,
    errors.StructuredOutputError: Exit.FAILED,
    errors.ContextNotProvidedError: Exit.FAILED,
}
"""Where a thread's run had begun, an error other than a lost thread or store is `FAILED`, whatever this table says."""


class Refusal(Exception):  # noqa: N818 - told to a person as a sentence, never caught by type outside this package
    """What the command line itself refuses: a sentence, the exit code, and commands to type instead."""

    def __init__(self, message: str, code: Exit = Exit.USAGE, *, commands: Sequence[str] = ()) -> None:
        super().__init__(message)
        self.code = code
        self.commands = tuple(commands)


def exit_of(error: BaseException) -> Exit:
    """The code that an error ends with; an error that is not ours is a failure."""
    if isinstance(error, Refusal):
        return error.code
    return next((EXIT_OF[kind] for kind in type(error).__mro__ if kind in EXIT_OF), Exit.FAILED)


def exit_of_run(error: BaseException) -> Exit:
    """The code of an error that ended a run after it had begun: what a node raises says nothing of the command."""
    code = exit_of(error)
    return code if code in (Exit.BUSY, Exit.STORE) else Exit.FAILED


def epilog() -> str:
    """The codes as they stand at the end of every help text."""
    lines = ["Exit codes:", *(f"{code.value:>3}  {meaning}" for code, meaning in MEANING.items())]
    return "\n".join(lines)
