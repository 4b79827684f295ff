"""Who works on a thread: one owner at a time, over processes that die, stop and wake."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator

import pytest

from nodestep import Resume, SQLiteStateStore, ThreadBusyError
from tests.watching import until

from .children import Child
from .programs.holder import Log, build


@pytest.fixture
def path(tmp_path):
    return tmp_path / "threads.db"


@pytest.fixture
def store(path) -> Iterator[SQLiteStateStore]:
    with SQLiteStateStore(path) as made:
        yield made


def live(store: SQLiteStateStore) -> bool:
    head = store.head("t", "main")
    return head is not None and head.live


def test_while_another_process_works_on_a_thread_every_call_is_refused_and_changes_nothing(path, store):
    graph = build(store, "other")
    with Child("holder", path, "plain", 30) as holder:
        assert holder.hears() == "inside"
        before = store.read("t", "main")

        for given, resume in ((Log(), None), (None, Resume(1)), (None, None)):
            with pytest.raises(ThreadBusyError, match="'t'"):
                graph.invoke(given, thread_id="t", resume=resume)
        with pytest.raises(ThreadBusyError, match="'t'"):
            asyncio.run(graph.answer("t", {"work:ok": 1}))
        assert store.read("t", "main") == before

        holder.tell()
        assert holder.hears() == "first of holder work of holder last of holder"


def test_a_running_thread_can_be_read(path, store):
    graph = build(store, "other")
    with Child("holder", path, "plain", 30) as holder:
        holder.hears()

        assert asyncio.run(graph.load("t"))["log"] == ["first of holder"]
        assert asyncio.run(graph.get_state("t")).value == Log(log=["first of holder"])


def test_a_killed_owner_is_taken_over_at_once(path, store):
    with Child("holder", path, "plain", 3600) as holder:
        holder.hears()
        assert live(store)
        holder.kill()

        assert not live(store)
        done = build(store, "other").invoke(None, thread_id="t")

    assert done.state.log == ["first of holder", "work of other", "last of other"]


def test_a_new_input_may_take_over_as_well(path, store):
    with Child("holder", path, "plain", 3600) as holder:
        holder.hears()
        holder.kill()

    done = build(store, "other").invoke({"log": ["new"]}, thread_id="t")
    assert done.state.log == ["first of holder", "new", "first of other", "work of other", "last of other"]


@pytest.mark.parametrize("kind", ["plain", "async"])
def test_a_living_owner_keeps_its_lease_however_long_its_node_takes(kind, path, store):
    with Child("holder", path, kind, 0.3) as holder:
        holder.hears()
        ends = store.now_ms() + 900

        until(lambda: not live(store) or store.now_ms() > ends)

        assert live(store)


@pytest.mark.parametrize("kind", ["plain", "once", "async"])
def test_an_owner_that_slept_over_its_lease_writes_nothing_more(kind, path, store):
    with Child("holder", path, kind, 0.3) as holder:
        assert holder.hears() == "inside"
        holder.stop()
        until(lambda: not live(store))
        done = build(store, "other").invoke(None, thread_id="t")
        after = store.read("t", "main")

        holder.wake()
        if kind == "async":
            assert holder.hears() == "cancelled"
        else:
            holder.tell()
        assert holder.hears() == "LeaseLostError"
        assert holder.ended() == 0

    assert done.state.log == ["first of holder", "work of other", "last of other"]
    assert store.read("t", "main") == after


def test_an_owner_that_slept_over_its_lease_goes_on_where_nobody_took_over(path, store):
    with Child("holder", path, "plain", 0.3) as holder:
        holder.hears()
        holder.stop()
        until(lambda: not live(store))

        holder.wake()
        holder.tell()
        assert holder.hears() == "first of holder work of holder last of holder"
