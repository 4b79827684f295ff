"""The SQL of the stores: every named query is one that SQLite takes, and none of them scans a table."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import apsw
import pytest

from nodestep.stores.migrate import MIGRATIONS, migrations_after, newest_version
from nodestep.stores.queries import Queries, queries, sql_file
from nodestep.stores.sqlite import SQLiteStateStore

NAMES = Queries.__struct_fields__


@pytest.fixture
def connection(path: Path) -> Iterator[apsw.Connection]:
    with SQLiteStateStore(path) as store:
        yield store._file._writing().raw


def plan_of(connection: apsw.Connection, query: str) -> list[str]:
    rows = connection.execute("EXPLAIN QUERY PLAN " + query, _Anything()).fetchall()
    return [str(row[3]) for row in rows]


@pytest.mark.parametrize("name", NAMES)
def test_every_query_finds_its_rows_by_a_key(connection: apsw.Connection, name: str):
    plan = plan_of(connection, getattr(queries("sqlite"), name))
    scans = [step for step in plan if step.startswith("SCAN") and "subquery" not in step]
    assert scans in ([], ["SCAN counters"], ["SCAN entry"], ["SCAN page"])


def test_pages_of_questions_are_read_in_order_and_not_sorted(connection: apsw.Connection):
    plan = plan_of(connection, queries("sqlite").page_of_questions)
    assert not [step for step in plan if "TEMP B-TREE" in step]
    assert any("questions_by_pause" in step for step in plan)


def test_the_files_name_each_query_once():
    names = re.findall(r"^-- name: (\w+)$", sql_file("sqlite/queries.sql"), re.MULTILINE)
    assert sorted(names) == sorted(NAMES)


def test_migrations_are_numbered_as_they_follow():
    assert [name[:4] for name in MIGRATIONS] == [f"{number:04}" for number in range(1, newest_version() + 1)]
    files = sorted((Path(__file__).parents[2] / "src/nodestep/stores/sql/sqlite/migrations").iterdir())
    assert [file.stem for file in files] == list(MIGRATIONS)


def test_a_store_needs_only_the_migrations_after_its_version():
    assert [migration.number for migration in migrations_after("sqlite", 0)] == [*range(1, newest_version() + 1)]
    assert migrations_after("sqlite", newest_version()) == []


class _Anything(dict[str, None]):
    """A value for every parameter."""

    def __missing__(self, _: str) -> None:
        return None
