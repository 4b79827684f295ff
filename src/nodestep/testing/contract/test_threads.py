"""Many threads on one store: nothing is lost, nothing is written twice, and one claim wins."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial

from ...stores.base import Append, AuditRow, Fenced, ForkOf, New, Receipt, Refused, StateStore, Status, Write
from ..writes import begin, bodies, done, go_on, holding, one, pause, question, seen, unchanged, write

THREADS = 8


def together(work: Callable[[int], object]) -> list[object]:
    """Run the work in eight threads that begin at the same moment."""
    barrier = threading.Barrier(THREADS)

    def run(number: int) -> object:
        barrier.wait()
        return work(number)

    with ThreadPoolExecutor(THREADS) as pool:
        return list(pool.map(run, range(THREADS)))


def one_of(store: StateStore, item: Write | Append, _: int) -> Receipt | Refused:
    return one(store, item)


def test_threads_that_commit_at_the_same_time_lose_nothing(store: StateStore) -> None:
    rounds = 40

    def work(number: int) -> None:
        thread = f"t{number}"
        receipt = begin(store, thread, record=b"0")
        for step in range(1, rounds):
            status = Status.RUNNING if step < rounds - 1 else Status.COMPLETED
            receipt = go_on(store, receipt, status, thread, record=b"%d" % step)

    together(work)
    for number in range(THREADS):
        stored = seen(store, f"t{number}")
        assert bodies(stored) == [b"%d" % step for step in range(rounds)]
        assert stored.head.status is Status.COMPLETED


def test_of_many_claims_at_the_same_time_one_wins(store: StateStore) -> None:
    for round in range(10):
        rested = begin(store, f"t{round}", Status.READY)
        claim = write(unchanged(rested), thread=f"t{round}")
        answers = together(partial(one_of, store, claim))
        assert sum(isinstance(answer, Receipt) for answer in answers) == 1
        assert seen(store, f"t{round}").head.sequence == 2


def test_of_many_new_branches_at_the_same_time_one_is_made(store: StateStore) -> None:
    for round in range(10):
        answers = together(partial(one_of, store, write(New("g"), thread=f"t{round}")))
        assert sum(isinstance(answer, Receipt) for answer in answers) == 1


def test_pause_numbers_of_many_threads_are_all_different(store: StateStore) -> None:
    numbers = together(lambda number: [pause(store, thread=f"{number}-{n}").pause for n in range(10)])
    flat = [number for some in numbers for number in some]  # type: ignore[attr-defined]
    assert len(set(flat)) == THREADS * 10
    assert len(store.questions(limit=1000)) == THREADS * 10


def test_readers_see_whole_commits_only(store: StateStore) -> None:
    held = begin(store)
    stop = threading.Event()

    def look() -> bool:
        while not stop.is_set():
            stored = seen(store)
            asked = [row.key for row in stored.questions]
            interrupted = stored.head.status is Status.INTERRUPTED
            if (asked == ["a:x", "b:y"]) != interrupted or len(stored.records) != stored.head.sequence:
                return False
        return True

    with ThreadPoolExecutor(4) as pool:
        looks = [pool.submit(look) for _ in range(4)]
        for _ in range(30):
            rested = go_on(store, held, Status.INTERRUPTED, opens=(question("a:x"), question("b:y")))
            held = done(store, write(unchanged(rested), closes=("a:x", "b:y")))
        stop.set()
        assert all(seen_whole.result() for seen_whole in looks)


def test_of_many_forks_of_one_name_at_the_same_time_one_is_made(store: StateStore) -> None:
    begin(store, status=Status.READY)
    head = seen(store).head
    for round in range(10):
        item = write(ForkOf(head.no, 1), Status.UNFINISHED, branch=f"fork-{round}")
        answers = together(partial(one_of, store, item))
        assert sum(isinstance(answer, Receipt) for answer in answers) == 1
    assert len(store.branch_rows("t")) == 11


def test_decisions_of_many_threads_are_all_numbered_apart(store: StateStore) -> None:
    def work(number: int) -> None:
        for n in range(10):
            begin(store, f"{number}-{n}", Status.READY, audits=(AuditRow("a:x", n, "api"), AuditRow("b:y", n, "api")))

    together(work)
    numbers = [item.number for item in store.audit_rows(limit=1000)]
    assert numbers == list(range(1, THREADS * 20 + 1))


def test_a_run_and_a_fence_at_the_same_time_have_one_end(store: StateStore) -> None:
    for round in range(10):
        held = begin(store, f"t{round}")
        ends = [
            write(holding(held), Status.COMPLETED, f"t{round}"),
            write(Fenced(held.no), Status.CANCELLED, f"t{round}"),
        ]
        answers = together(lambda number, ends=ends: one(store, ends[number % 2]))  # type: ignore[misc]
        assert sum(isinstance(answer, Receipt) for answer in answers) == 1
        assert seen(store, f"t{round}").head.sequence == 2


def test_threads_are_deleted_and_made_again_at_the_same_time(store: StateStore) -> None:
    def work(number: int) -> None:
        for n in range(10):
            pause(store, thread=f"t{number}")
            if n < 9:
                assert len(store.delete_rows(f"t{number}")) == 1

    together(work)
    assert sorted(head.thread_id for head in store.thread_rows()) == [f"t{number}" for number in range(THREADS)]
    assert len(store.questions(limit=1000)) == THREADS


def test_a_reader_finds_a_thread_whole_or_not_at_all(store: StateStore) -> None:
    stop = threading.Event()

    def look() -> bool:
        while not stop.is_set():
            stored, listed = store.read("t", "main"), store.questions(limit=1000)
            if stored is not None and (len(stored.questions), len(stored.records)) != (2, 1):
                return False
            if len(listed) not in (0, 2):
                return False
        return True

    with ThreadPoolExecutor(4) as pool:
        looks = [pool.submit(look) for _ in range(4)]
        for _ in range(20):
            begin(store, status=Status.INTERRUPTED, opens=(question("a:x"), question("b:y")))
            store.delete_rows("t")
        stop.set()
        assert all(seen_whole.result() for seen_whole in looks)
