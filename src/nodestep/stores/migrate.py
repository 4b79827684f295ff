"""Numbered migrations: the files under `sql/<dialect>/migrations`, each carried out once and in order.

Knows their numbers and texts; what version a store has, and the transaction around a migration, are the dialect's.
"""

from __future__ import annotations

from typing import Final

from msgspec import Struct

from .queries import sql_file

MIGRATIONS: Final = ("0001_first",)
"""Every migration by its name. One that was released is never changed: a new file follows it."""


class Migration(Struct, frozen=True):
    """A step to the schema version `number`."""

    number: int
    script: str


def newest_version() -> int:
    """The schema version that this nodestep writes."""
    return len(MIGRATIONS)


def migrations_after(dialect: str, version: int) -> list[Migration]:
    """What a store of this version still lacks."""
    return [
        Migration(number, sql_file(f"{dialect}/migrations/{name}.sql"))
        for number, name in enumerate(MIGRATIONS, start=1)
        if number > version
    ]
