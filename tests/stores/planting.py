"""Forks set into a store by hand: a branch row that names its parent, and nothing else."""

from __future__ import annotations

from nodestep.stores.base import Head, StateStore
from nodestep.stores.branches import BranchRow
from nodestep.stores.connection import Connection
from nodestep.stores.memory import InMemoryStateStore, _Branch
from nodestep.stores.sqlite import SQLiteStateStore
from tests.stores.writing import seen


def plant_fork(store: StateStore, parent: Head, sequence: int, branch: str) -> Head:
    """A fork of `parent` after its record `sequence`, at rest."""
    no = parent.no + 1000
    if isinstance(store, InMemoryStateStore):
        made = _Branch(
            no, parent.thread_id, branch, parent.graph, 7, parent=store._by_no[parent.no], fork_sequence=sequence
        )
        store._branches[parent.thread_id, branch] = made
        store._by_no[no] = made
    else:
        assert isinstance(store, SQLiteStateStore)
        new = BranchRow.new(no, parent.thread_id, branch, parent.graph, 7)
        row = new._replace(parent_no=parent.no, fork_sequence=sequence, known_sequence=sequence)

        def plant(connection: Connection) -> None:
            connection.change(store._queries.add_branch, row.columns())

        store._file.write(plant)
    return seen(store, parent.thread_id, branch).head
