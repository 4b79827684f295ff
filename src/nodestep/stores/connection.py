"""The little that a store asks of a database. A dialect is one class of this shape and a folder of SQL.

Every method raises the typed errors of `errors.py` and none of the driver's.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol, TypeAlias, TypeVar

from .queries import Queries
from .rows import Row

T = TypeVar("T")
Values: TypeAlias = tuple[str | int | bytes | None, ...]


class Connection(Protocol):
    """A connection inside a transaction."""

    def rows(self, query: str, values: Values = ()) -> list[Row]:
        """All rows of a query."""

    def run(self, query: str, values: Values = ()) -> object:
        """Run a statement that changes rows."""

    def change(self, query: str, values: Values = ()) -> int:
        """The same; says how many."""


class Database(Protocol):
    """Transactions, one writer at a time and any number of readers."""

    @property
    def queries(self) -> Queries:
        """The SQL of this dialect."""

    def write(self, work: Callable[[Connection], T]) -> T:
        """Run the work in one transaction that is durable on return, and undone if anything raises. Never called from
        two threads at once."""

    def write_one(self, query: str, values: Values = ()) -> int:
        """One statement that is durable on return; says how many rows it changed. Never called from two threads at
        once."""

    def read(self, work: Callable[[Connection], T]) -> T:
        """Run the work on one consistent look at the data, at the same time as other readers and the writer."""

    def read_between_writes(self, work: Callable[[Connection], T]) -> T:
        """The same, as fast as it can be where nobody writes meanwhile. Never called while a write is."""

    def close(self) -> None:
        """Let go of every connection."""
