"""Many processes and one file. Ids are those of the collection of cases."""

from __future__ import annotations

from contextlib import ExitStack

import pytest

from nodestep import SQLiteStateStore
from tests.persistence.children import Child
from tests.persistence.programs.effects import Effects
from tests.persistence.programs.racer import build
from tests.running.making import run

PROCESSES, THREADS = 4, 50


@pytest.mark.slow
def test_pe_03_many_processes_share_a_file_that_is_new_to_all_of_them(tmp_path):
    path, effects = tmp_path / "threads.db", Effects(tmp_path / "effects")
    with ExitStack() as at_work:
        workers = [at_work.enter_context(Child("racer", path, effects.path, n)) for n in range(PROCESSES)]
        assert [worker.hears() for worker in workers] == ["ready"] * PROCESSES
        for what in ("start", "resume"):
            for n, worker in enumerate(workers):
                for thread in range(THREADS):
                    worker.tell(f"{what} {n}.{thread}")
        heard = [[worker.hears() for _ in range(2 * THREADS)] for worker in workers]

    assert heard == [["interrupted"] * THREADS + ["completed"] * THREADS] * PROCESSES
    assert sorted(effects.done()) == sorted(f"{n}.{t}:{n}" for n in range(PROCESSES) for t in range(THREADS))
    with SQLiteStateStore(path) as store:
        assert run(build(store, effects).pending()).items == ()
