"""Checksums of the pages of a file, and files whose pages have none: copies that other programs made."""

from __future__ import annotations

import shutil
import sqlite3
from collections.abc import Callable
from pathlib import Path

import apsw
import pytest

from nodestep.errors import StateStoreError, StoreCorruptedError
from nodestep.stores import sqlite_checksums
from nodestep.stores.migrate import migrations_after
from nodestep.stores.sqlite import SQLiteStateStore
from nodestep.stores.sqlite_checksums import checksumming_vfs
from nodestep.stores.sqlite_open import APPLICATION_ID
from tests.stores.writing import begin, pause, seen

PAGE = 4096
TABLES = ("counters", "branches", "records", "snapshots", "questions", "answers", "sweeps")


@pytest.fixture
def made(path: Path) -> Path:
    """A store with some threads, closed."""
    with SQLiteStateStore(path) as store:
        for number in range(40):
            begin(store, f"t{number}", record=b"mine" * 100)
        pause(store, thread="paused")
    return path


def backup(path: Path, copy: Path) -> None:
    """As `sqlite3 threads.db '.backup copy.db'` does."""
    source, target = sqlite3.connect(path), sqlite3.connect(copy)
    source.backup(target)
    source.close()
    target.close()


def vacuum_into(path: Path, copy: Path) -> None:
    source = sqlite3.connect(path)
    source.execute("VACUUM INTO ?", (str(copy),))
    source.close()


def without_checksums(path: Path, copy: Path) -> None:
    """As a program that knows of none would have made it."""
    target = apsw.Connection(str(copy))
    for migration in migrations_after("sqlite", 0):
        target.execute(migration.script)
        target.pragma("user_version", migration.number)
    target.pragma("application_id", APPLICATION_ID)
    target.execute("ATTACH ? AS source", (str(path),))
    for table in TABLES:
        target.execute(f"INSERT INTO main.{table} SELECT * FROM source.{table}")
    target.close()


COPIES: dict[str, Callable[[Path, Path], object]] = {
    "a copy of the file": shutil.copy,
    ".backup": backup,
    "VACUUM INTO": vacuum_into,
    "from before there were checksums": without_checksums,
}


def flip(path: Path, at: int) -> None:
    content = bytearray(path.read_bytes())
    content[at] ^= 1
    path.write_bytes(content)


def read(path: Path) -> None:
    with SQLiteStateStore(path) as store:
        store.thread_rows()
        seen(store, "t1")


@pytest.mark.parametrize("how", COPIES)
def test_a_copy_is_a_store_with_everything_and_with_checksums(how: str, made: Path, tmp_path: Path):
    copy = tmp_path / "copy.db"
    COPIES[how](made, copy)
    with SQLiteStateStore(copy) as store:
        assert len(store.thread_rows(limit=100)) == 41
        assert len(store.questions()) == 1
        begin(store, "new")
    flip(copy, PAGE + 3)
    with pytest.raises(StoreCorruptedError):
        read(copy)


@pytest.mark.parametrize("how", [".backup", "VACUUM INTO"])
def test_a_damaged_copy_is_told_and_left_as_it_is(how: str, made: Path, tmp_path: Path):
    copy = tmp_path / "copy.db"
    COPIES[how](made, copy)
    raw = sqlite3.connect(copy)
    (page,) = raw.execute("SELECT rootpage FROM sqlite_schema WHERE name = 'sqlite_autoindex_branches_1'").fetchone()
    raw.close()
    flip(copy, (page - 1) * PAGE + 4)  # how many entries it has
    content = copy.read_bytes()
    with pytest.raises(StoreCorruptedError, match="nor one another"):
        SQLiteStateStore(copy)
    assert copy.read_bytes() == content


def test_every_page_of_a_new_file_has_its_checksum(made: Path):
    whole = made.read_bytes()
    for page in range(len(whole) // PAGE):
        made.write_bytes(whole)
        flip(made, page * PAGE + PAGE - 20)
        raw = apsw.Connection(str(made), vfs=checksumming_vfs())
        with pytest.raises(apsw.Error):
            raw.execute("SELECT * FROM dbstat").fetchall()
        raw.close()


def test_what_another_program_wrote_into_a_store_is_told(made: Path):
    raw = sqlite3.connect(made)
    raw.execute("UPDATE branches SET graph = 'other'")
    raw.commit()
    raw.close()
    with SQLiteStateStore(made) as store, pytest.raises(StoreCorruptedError, match="does not fit its checksum"):
        store.thread_rows()


def test_other_connections_of_the_process_keep_their_vfs(made: Path):
    assert apsw.vfs_names()[0] != checksumming_vfs()


def test_an_apsw_without_the_extension_is_told(path: Path, monkeypatch: pytest.MonkeyPatch):
    apsw.unregister_vfs(checksumming_vfs())
    with monkeypatch.context() as patch:
        patch.setattr(sqlite_checksums, "_EXTENSION", "/nowhere/cksumvfs")
        with pytest.raises(StateStoreError, match="pip install --force-reinstall apsw"):
            SQLiteStateStore(path)
    SQLiteStateStore(path).close()
