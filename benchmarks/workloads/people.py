"""W13: what people ask of a large store: a page of 10,000 open questions over 100,000 threads, and a fork of a long thread."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

import apsw
import work
from children import Ended, run
from graphs import InMemoryStateStore, SQLiteStateStore, chain, question
from harness import Clock, Row, file_bytes, median, new_path, workload

from nodestep.stores.base import New, QuestionRow, StateStore, Status, Write

PAGE = 100
PAGES = 50
FORKS = 100
STARTS = 5
TOGETHER = 1000
"""How many threads of the large store are written in one transaction."""
_IMPORT_ALL = """
import sys
for name in sys.argv[1:]:
    try:
        __import__(name)
    except ImportError:
        pass  # a part of a module, or one that goes by another name
"""


@workload("W13.pending")
def pending() -> list[Row]:
    """The first page and one from the middle, beside a bare query of as many rows; and the command line's first page."""
    path = new_path()
    _fill(path)
    return [*asyncio.run(_pages(path)), _bare_query(path), *_command_line(path)]


def _fill(path: str) -> None:
    """Every tenth thread asks. One pause is made by the graph, the others are copies of its rows."""
    record, asked = _one_pause()
    with SQLiteStateStore(path) as store:
        for first in range(0, work.THREADS, TOGETHER):
            numbers = range(first, first + TOGETHER)
            store.commit([_thread(number, record, asked) for number in numbers])


def _one_pause() -> tuple[bytes, QuestionRow]:
    store = InMemoryStateStore()
    question(store).invoke({**work.small_input(), "answer": ""}, thread_id="t")
    rows: StateStore = store
    stored = rows.read("t", "main")
    assert stored is not None
    return stored.records[0].body, stored.questions[0]


def _thread(number: int, record: bytes, asked: QuestionRow) -> Write:
    asks = number % (work.THREADS // work.QUESTIONS) == 0
    opens = (asked._replace(pause=None, asked_at_ms=None),) if asks else ()
    status = Status.INTERRUPTED if asks else Status.COMPLETED
    return Write(f"order-{number}", "main", New("Asked"), status, record, opens=opens)


async def _pages(path: str) -> list[Row]:
    with SQLiteStateStore(path) as store:
        page = await store.pending(limit=PAGE)
        while len(page.items) == PAGE and page.items[0].thread_id != f"order-{work.THREADS // 2}":
            middle, page = page.next, await store.pending(limit=PAGE, after=page.next)
        first = await _timed(PAGES, lambda: _page(store, None))
        later = await _timed(PAGES, lambda: _page(store, middle))
    return [{"workload": "W13.pending.first", **first}, {"workload": "W13.pending.middle", **later}]


async def _page(store: SQLiteStateStore, after: str | None) -> None:
    page = await store.pending(limit=PAGE, after=after)
    assert len(page.items) == PAGE


async def _timed(times: int, call: Callable[[], Awaitable[object]]) -> Row:
    await call()
    with Clock() as clock:
        for _ in range(times):
            await call()
    return clock.row(times)


def _bare_query(path: str) -> Row:
    """The same rows, by hand."""
    connection = apsw.Connection(path, flags=apsw.SQLITE_OPEN_READONLY)
    query = f"SELECT * FROM questions ORDER BY pause LIMIT {PAGE}"
    assert len(connection.execute(query).fetchall()) == PAGE
    with Clock() as clock:
        for _ in range(PAGES):
            connection.execute(query).fetchall()
    return clock.row(PAGES, workload="W13.pending.sql")


def _command_line(path: str) -> list[Row]:
    """`nodestep pending`, beside an interpreter that imports what it imports, save nodestep itself."""
    program = ["-m", "nodestep.cli", "pending", "--store", path]
    imports = ["-c", _IMPORT_ALL, *_imported(program)]
    runs: dict[str, list[Ended]] = {"W13.cli.pending": [], "W13.cli.imports": []}
    for _ in range(STARTS):
        runs["W13.cli.pending"].append(run(program))
        runs["W13.cli.imports"].append(run(imports))
    assert f"order-{work.THREADS // work.QUESTIONS}" in runs["W13.cli.pending"][0].output
    return [
        {
            "workload": name,
            "n": 1,
            "seconds": median([ended.wall_s for ended in ended_runs]),
            "cpu_s": min(ended.cpu_s for ended in ended_runs),
        }
        for name, ended_runs in runs.items()
    ]


def _imported(program: list[str]) -> list[str]:
    """The modules outside of nodestep that a program has imported when it ends, in order."""
    watched = (
        "import atexit, runpy, sys; bare = set(sys.modules);"
        "atexit.register(lambda: sys.stderr.write(' '.join(n for n in list(sys.modules) if n not in bare)));"
        f"sys.argv = {['nodestep', *program[2:]]!r};"
        f"runpy.run_module({program[1]!r}, run_name='__main__', alter_sys=True)"
    )
    names = run(["-c", watched]).errors.split()
    return [name for name in names if name.partition(".")[0] not in ("nodestep", "__main__")]


@workload("W13.fork")
def fork() -> list[Row]:
    """Forks at the last event of shorter and longer threads: neither time nor bytes may grow with the history."""
    return [_forks(steps) for steps in work.FORKED_HISTORIES]


def _forks(steps: int) -> Row:
    path = new_path()
    with SQLiteStateStore(path) as store:
        last = chain(steps, store).invoke(work.small_input(), thread_id="t").checkpoint_id
    assert last is not None
    before = file_bytes(path)
    with SQLiteStateStore(path) as store:
        row = asyncio.run(_timed(FORKS, lambda: store.fork("t", from_=last)))
    added = file_bytes(path) - before
    return {"workload": f"W13.fork.h{steps}", **row, "bytes_per_fork": added // (FORKS + 1)}
