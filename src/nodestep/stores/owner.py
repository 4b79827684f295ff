"""Who holds a lease: a process, named so that another one on the same host can tell whether it still lives.

A process id alone is used again, so its start time goes with it, and the boot and the PID namespace in which both
mean something. Linux tells them under /proc; elsewhere, and where /proc is another namespace's, an owner is never
known to be dead and its lease has to end.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Final

from msgspec import Struct

from ..model.canonical import decode, encode

_PROC: Final = Path("/proc")
_DEAD_STATES: Final = frozenset("ZX")
"""A zombie runs no code any more; it only waits for its parent to take note."""


class Owner(Struct, frozen=True):
    """A process. `boot` names the boot of the host, `started` is the process's start time in clock ticks since then,
    and `namespace` the PID namespace in which `pid` counts; each is `None` where the platform does not tell. Its leases
    last `lease_ms`."""

    pid: int
    boot: str | None
    started: int | None
    namespace: int | None
    lease_ms: int

    def to_json(self) -> str:
        """The stored form."""
        return encode([self.pid, self.boot, self.started, self.namespace, self.lease_ms]).decode()

    @classmethod
    def from_json(cls, text: str) -> Owner:
        """The owner that `to_json` wrote. Raises ValueError for any other text."""
        match decode(text):
            case [int(pid), str() | None as boot, int() | None as started, int() | None as namespace, int(lease_ms)]:
                return cls(pid, boot, started, namespace, lease_ms)
        raise ValueError("not an owner")


def this_process(lease_ms: int) -> Owner:
    """The identity of the process that calls."""
    pid = os.getpid()
    boot = _boot_id()
    own = _stat("self")
    if own is None or own.pid != pid:
        return Owner(pid, boot, None, None, lease_ms)
    return Owner(pid, boot, own.started, _pid_namespace(), lease_ms)


def known_dead(owner: Owner, asking: Owner) -> bool:
    """Whether `asking` can tell that `owner` runs no more. False where it cannot tell."""
    if owner.boot != asking.boot and None not in (owner.boot, asking.boot):
        return True
    if None in (owner.boot, owner.namespace, owner.started) or owner.namespace != asking.namespace:
        return False
    try:
        os.kill(owner.pid, 0)
    except ProcessLookupError:
        return True
    except OSError:
        pass
    now = _stat(str(owner.pid))
    return now is not None and (now.started != owner.started or now.state in _DEAD_STATES)


class _Stat(Struct, frozen=True):
    pid: int
    state: str
    started: int


def _stat(process: str) -> _Stat | None:
    """What /proc tells of a process; `None` where it is hidden, gone, or there is no /proc (see proc_pid_stat(5))."""
    try:
        text = (_PROC / process / "stat").read_bytes()
        # The second field is the program's name in brackets, which may itself hold spaces and brackets.
        fields = text[text.rindex(b")") + 2 :].split()
        return _Stat(int(text[: text.index(b" ")]), fields[0].decode(), int(fields[19]))
    except (OSError, ValueError, IndexError):
        return None


def _boot_id() -> str | None:
    try:
        return (_PROC / "sys/kernel/random/boot_id").read_text("utf-8").strip() or None
    except (OSError, ValueError):
        return None


def _pid_namespace() -> int | None:
    try:
        return (_PROC / "self/ns/pid").stat().st_ino
    except OSError:
        return None
