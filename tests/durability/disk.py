"""A disk under SQLite that a test holds in its hands: it notes every write and every sync, and fails when it is told to.

While a `Disk` is in use, all connections that this process opens go through it. `cut` says what a power cut leaves of what
was noted: all that was synced, and of the rest any part, in any order, the last write perhaps torn.
"""

from __future__ import annotations

import os
import random
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import apsw

from nodestep.stores.sqlite_checksums import checksumming_vfs

SECTOR = 512
"""The smallest part of a write that a disk makes as a whole."""


@dataclass(frozen=True, slots=True)
class Wrote:
    file: str
    offset: int
    data: bytes


@dataclass(frozen=True, slots=True)
class Resized:
    file: str
    size: int


@dataclass(frozen=True, slots=True)
class Synced:
    """Everything written to the file is on the disk. The first sync of a new file is also one of its folder."""

    file: str


@dataclass(frozen=True, slots=True)
class Made:
    file: str


@dataclass(frozen=True, slots=True)
class Deleted:
    file: str


@dataclass(frozen=True, slots=True)
class Told:
    """Not of the disk: what a caller was told at this moment."""

    what: Any


Deed: TypeAlias = Wrote | Resized | Synced | Made | Deleted | Told


class Disk(AbstractContextManager["Disk"]):
    """`deeds` is what was done, in order. `trouble` is asked before each deed, and raises an error of apsw to refuse it."""

    def __init__(self) -> None:
        self.deeds: list[Deed] = []
        self.trouble: Callable[[Deed], None] = lambda deed: None
        self._shim: _Shim | None = None

    def __enter__(self) -> Disk:
        self._shim = _Shim(self)
        _put_checksums_on(_Shim.NAME)
        return self

    def __exit__(self, *_: object) -> None:
        assert self._shim is not None
        self._shim.unregister()
        _put_checksums_on(_Shim.BASE)

    def does(self, deed: Deed) -> None:
        self.trouble(deed)
        self.deeds.append(deed)

    def tell(self, what: Any) -> None:
        self.deeds.append(Told(what))


def _put_checksums_on(vfs: str) -> None:
    """The VFS that writes checksums stands on the one that is the default while it is loaded."""
    apsw.unregister_vfs(checksumming_vfs())
    apsw.set_default_vfs(vfs)
    checksumming_vfs()


class _Shim(apsw.VFS):
    NAME = "nodestep-test-disk"
    BASE = "unix"

    def __init__(self, disk: Disk) -> None:
        self._disk = disk
        super().__init__(self.NAME, self.BASE)

    def xOpen(self, name: Any, flags: list[int]) -> Any:  # noqa: N802
        path = name.filename() if isinstance(name, apsw.URIFilename) else name
        if path is not None and not os.path.exists(path):
            self._disk.does(Made(os.path.basename(path)))
        return _File(self._disk, name, path or "", flags)

    def xDelete(self, filename: str, syncdir: bool) -> None:  # noqa: N802
        self._disk.does(Deleted(os.path.basename(filename)))
        super().xDelete(filename, syncdir)


class _File(apsw.VFSFile):
    def __init__(self, disk: Disk, name: Any, path: str, flags: list[int]) -> None:
        self._disk = disk
        self._name = os.path.basename(path)
        super().__init__(_Shim.BASE, name, flags)

    def xWrite(self, data: bytes, offset: int) -> None:  # noqa: N802
        self._disk.does(Wrote(self._name, offset, bytes(data)))
        super().xWrite(data, offset)

    def xTruncate(self, newsize: int) -> None:  # noqa: N802
        self._disk.does(Resized(self._name, newsize))
        super().xTruncate(newsize)

    def xSync(self, flags: int) -> None:  # noqa: N802
        self._disk.does(Synced(self._name))
        super().xSync(flags)


@dataclass
class Stable:
    """What is surely on the disk, and what was done since that may or may not be."""

    files: dict[str, bytearray] = field(default_factory=dict)
    unsynced: dict[str, list[Wrote | Resized]] = field(default_factory=dict)
    made: set[str] = field(default_factory=set)
    deleted: set[str] = field(default_factory=set)

    def take(self, deed: Deed) -> None:
        match deed:
            case Made(file):
                self.made.add(file)
            case Wrote(file) | Resized(file):
                self.unsynced.setdefault(file, []).append(deed)
            case Deleted(file):
                self.deleted.add(file)
                self.unsynced.pop(file, None)
                self.made.discard(file)
            case Synced(file):
                if file in self.made:
                    self._sync_folder()
                content = self.files.setdefault(file, bytearray())
                for change in self.unsynced.pop(file, []):
                    _apply(content, change)

    def _sync_folder(self) -> None:
        for file in self.deleted:
            self.files.pop(file, None)
        self.deleted.clear()
        self.made.clear()

    def left(self, chance: random.Random, share: float) -> dict[str, bytes]:
        """The files as a power cut may leave them: of what was not synced about this share is there."""
        left = {file: bytearray(content) for file, content in self.files.items()}
        for file in self.deleted:
            if chance.random() < share:
                left.pop(file, None)
        for file, changes in self.unsynced.items():
            for change in changes:
                if chance.random() < share:
                    _apply(left.setdefault(file, bytearray()), _torn(change, chance) if share < 1 else change)
        return {file: bytes(content) for file, content in left.items()}


def _torn(change: Wrote | Resized, chance: random.Random) -> Wrote | Resized:
    if isinstance(change, Resized) or len(change.data) <= SECTOR or chance.random() < 0.7:
        return change
    return Wrote(
        change.file, change.offset, change.data[: SECTOR * chance.randrange(1, len(change.data) // SECTOR + 1)]
    )


def _apply(content: bytearray, change: Wrote | Resized) -> None:
    if isinstance(change, Resized):
        del content[change.size :]
        content.extend(bytes(change.size - len(content)))
        return
    end = change.offset + len(change.data)
    content.extend(bytes(max(0, end - len(content))))
    content[change.offset : end] = change.data


SHARES = (0.0, 0.5, 1.0)


def cuts(
    deeds: Sequence[Deed], points: set[int] | None, chance: random.Random
) -> Iterator[tuple[list[Any], dict[str, bytes]]]:
    """What was told before a power cut at each of these deeds (at every one without `points`), and what it may leave."""
    stable = Stable()
    told: list[Any] = []
    for at, deed in enumerate(deeds):
        if points is None or at in points:
            for share in SHARES:
                yield list(told), stable.left(chance, share)
        if isinstance(deed, Told):
            told.append(deed.what)
        stable.take(deed)
    for share in SHARES:
        yield list(told), stable.left(chance, share)
