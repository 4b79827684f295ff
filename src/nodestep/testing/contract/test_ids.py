"""Odd ids (SC-04): kept apart exactly, and never read as anything but text."""

from __future__ import annotations

import itertools
from pathlib import Path

import pytest

from ...stores.base import StateStore
from ..writes import begin, bodies, pause, seen

ODD = [
    "a",
    "A",
    "a ",
    " a",
    "á",
    "a\u0301",
    "a'; DROP TABLE records; --",
    'a"b',
    "a'b",
    "a%",
    "a_",
    "%",
    "../a",
    "..",
    "/etc/passwd",
    "a\\b",
    "a\nb",
    "a\r\nb",
    "a\tb",
    "🙂",
    "🙂🙂",
    "?1",
    ":a",
    "null",
    "1",
    "1.0",
    "01",
    "0x1",
    "x" * 512,
    "x" * 511,
]


def test_every_odd_thread_id_is_a_thread_of_its_own(store: StateStore) -> None:
    for thread in ODD:
        begin(store, thread, record=thread.encode())
    for thread in ODD:
        assert bodies(seen(store, thread)) == [thread.encode()]
        assert seen(store, thread).head.thread_id == thread


def test_every_odd_branch_id_is_a_branch_of_its_own(store: StateStore) -> None:
    for branch in ODD:
        begin(store, branch=branch, record=branch.encode())
    for branch in ODD:
        assert bodies(seen(store, "t", branch)) == [branch.encode()]


def test_thread_and_branch_do_not_run_into_each_other(store: StateStore) -> None:
    pairs = list(itertools.product(("a", "ab", "a/b"), ("b", "", "/b")))
    for thread, branch in pairs:
        begin(store, thread, branch=branch, record=f"{thread}|{branch}".encode())
    for thread, branch in pairs:
        assert bodies(seen(store, thread, branch)) == [f"{thread}|{branch}".encode()]


@pytest.mark.parametrize("thread", ODD)
def test_the_questions_of_an_odd_thread_are_listed_alone(store: StateStore, thread: str) -> None:
    pause(store, "a:x", thread=thread)
    pause(store, "b:y", thread=thread + "x")
    assert [listed.question.key for listed in store.questions(thread)] == ["a:x"]


def test_odd_ids_make_no_file(store: StateStore, tmp_path: Path) -> None:
    before = {file.name for file in tmp_path.rglob("*")}
    for thread in ODD:
        begin(store, thread)
    after = {file.name for file in tmp_path.rglob("*")}
    assert after - before <= {"threads.db", "threads.db-wal", "threads.db-shm"}
