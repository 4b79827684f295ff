"""Which files SQLiteStateStore opens, makes, and leaves alone."""

from __future__ import annotations

import os
import sqlite3
import stat
import tempfile
from pathlib import Path

import apsw
import pytest

from nodestep.errors import StateStoreError, StoreFormatError
from nodestep.stores.sqlite import SQLiteStateStore
from nodestep.stores.sqlite_checksums import checksumming_vfs
from nodestep.stores.sqlite_open import APPLICATION_ID
from tests.stores.writing import begin, seen


def test_a_store_is_there_when_it_is_opened_again(path: Path):
    with SQLiteStateStore(path) as store:
        begin(store, record=b"kept")
        id = store.id
    with SQLiteStateStore(str(path)) as store:
        assert store.id == id
        assert seen(store).records[0].body == b"kept"


def test_two_stores_have_two_ids(tmp_path: Path):
    with SQLiteStateStore(tmp_path / "a.db") as a, SQLiteStateStore(tmp_path / "b.db") as b:
        assert a.id != b.id


def test_a_new_file_is_its_owners_alone(path: Path):
    with SQLiteStateStore(path) as store:
        begin(store)
        for file in path.parent.iterdir():
            assert stat.S_IMODE(file.stat().st_mode) == 0o600


def test_an_existing_file_keeps_its_mode(path: Path):
    path.touch(0o640)
    path.chmod(0o640)
    SQLiteStateStore(path).close()
    assert stat.S_IMODE(path.stat().st_mode) == 0o640


def test_closing_leaves_one_file(path: Path):
    with SQLiteStateStore(path) as store:
        begin(store)
        store.questions()
    assert [file.name for file in path.parent.iterdir()] == ["threads.db"]


def test_a_file_of_zero_bytes_is_a_new_store(path: Path):
    path.touch()
    with SQLiteStateStore(path) as store:
        begin(store)
        assert seen(store).head.sequence == 1


def test_a_path_stays_the_same_after_chdir(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    (tmp_path / "other").mkdir()
    monkeypatch.chdir(tmp_path)
    with SQLiteStateStore("threads.db") as store:
        monkeypatch.chdir(tmp_path / "other")
        store.questions()
        begin(store)
    assert not list((tmp_path / "other").iterdir())


@pytest.mark.parametrize("name", ["a b.db", "a?b#c%20.db", "é🙂.db", "a'b\".db", "-x", "x:memory:"])
def test_a_path_is_a_path_whatever_it_holds(tmp_path: Path, name: str):
    with SQLiteStateStore(tmp_path / name) as store:
        begin(store)
    assert [file.name for file in tmp_path.iterdir()] == [name]


@pytest.mark.parametrize("path", ["", ":memory:", "file:threads.db", "file::memory:?cache=shared"])
def test_what_is_no_path_is_refused_with_what_to_write(path: str):
    with pytest.raises(StateStoreError, match="InMemoryStateStore"):
        SQLiteStateStore(path)


def test_a_path_with_nul_is_refused(tmp_path: Path):
    with pytest.raises(StateStoreError, match="NUL"):
        SQLiteStateStore(f"{tmp_path}/a\x00b")


def test_a_missing_folder_is_told(tmp_path: Path):
    with pytest.raises(StateStoreError, match="Make the folder first"):
        SQLiteStateStore(tmp_path / "missing" / "threads.db")
    assert not list(tmp_path.iterdir())


def test_a_folder_is_no_store(tmp_path: Path):
    with pytest.raises(StateStoreError, match="is a folder"):
        SQLiteStateStore(tmp_path)


def test_a_file_that_cannot_be_made_is_told():
    with pytest.raises(StateStoreError, match="cannot be"):
        SQLiteStateStore("/proc/self/threads.db")


@pytest.mark.parametrize(
    "content", [b"x", bytes(511), b"-" * 512, b"hello world\n" * 1000, bytes(4096), b"PK\x03\x04" + bytes(9000)]
)
def test_a_file_that_is_no_database_is_left_as_it_is(path: Path, content: bytes):
    path.write_bytes(content)
    with pytest.raises(StoreFormatError, match="no SQLite database"):
        SQLiteStateStore(path)
    assert path.read_bytes() == content


@pytest.mark.parametrize(
    "script",
    [
        "CREATE TABLE records (id)",
        "PRAGMA application_id = 7",
        "PRAGMA application_id = 7; CREATE TABLE t (id)",
        "PRAGMA user_version = 3",
        "CREATE VIEW v AS SELECT 1",
    ],
)
def test_a_database_of_another_program_is_left_as_it_is(path: Path, script: str):
    other = sqlite3.connect(path)
    other.executescript(script)
    other.close()
    content = path.read_bytes()
    with pytest.raises(StoreFormatError, match="another program"):
        SQLiteStateStore(path)
    assert path.read_bytes() == content
    assert [file.name for file in path.parent.iterdir()] == ["threads.db"]


def test_a_store_of_a_newer_version_asks_for_an_upgrade(path: Path):
    SQLiteStateStore(path).close()
    newer = sqlite3.connect(path)
    newer.execute("PRAGMA user_version = 99")
    newer.close()
    with pytest.raises(StoreFormatError, match=r"version 99.*Upgrade nodestep"):
        SQLiteStateStore(path)


def test_a_store_says_in_its_header_whose_it_is(path: Path):
    SQLiteStateStore(path).close()
    header = path.read_bytes()[:100]
    assert header.startswith(b"SQLite format 3\0")
    assert header[68:72] == APPLICATION_ID.to_bytes(4, "big") == b"node"


@pytest.mark.skipif(os.geteuid() != 0, reason="gives up the rights of root to try")
def test_a_file_without_rights_to_it_is_told():
    with tempfile.TemporaryDirectory() as folder:
        os.chmod(folder, 0o755)
        SQLiteStateStore(f"{folder}/threads.db").close()
        os.seteuid(65534)
        try:
            with pytest.raises(StateStoreError, match="needs to write"):
                SQLiteStateStore(f"{folder}/threads.db")
            with pytest.raises(StateStoreError, match="may write to"):
                SQLiteStateStore(f"{folder}/new.db")
        finally:
            os.seteuid(0)


def test_triggers_and_views_in_the_file_never_run(path: Path):
    with SQLiteStateStore(path) as store:
        begin(store, record=b"mine")
    other = apsw.Connection(str(path), vfs=checksumming_vfs())
    other.execute("CREATE TRIGGER t AFTER INSERT ON records BEGIN DELETE FROM branches; END")
    other.close()
    with SQLiteStateStore(path) as store:
        begin(store, "second")
        assert seen(store).records[0].body == b"mine"
