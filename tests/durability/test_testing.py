"""`nodestep.testing` as users have it: a store that dies, and the contract of stores against a store of theirs."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from pathlib import Path

import pytest

from nodestep import END, START, Graph, InMemoryStateStore, Resume, SQLiteStateStore, interrupt, node
from nodestep.testing import DyingStore, ManualClock, StoreDiedError
from tests.durability.nursery import ROOT


@node
def ask(state: dict, /):
    return {"answer": interrupt("?", id="ok")}


@node
def act(state: dict, /):
    return {"done": True}


graph = Graph(dict, name="asking").flow(START >> ask >> act >> END)


@pytest.mark.parametrize("at", [1, 2, 3])
def test_a_dying_store_makes_the_writes_before_its_last(at):
    store = InMemoryStateStore()
    dying = DyingStore(store, at=at)

    def play() -> None:
        graph.invoke({}, thread_id="t", state_store=dying)
        graph.invoke(None, thread_id="t", resume=Resume(1), state_store=dying)

    with pytest.raises(StoreDiedError, match=f"died before write {at}"):
        play()
    assert (dying.dead, dying.writes) == (True, at)
    head = store.head("t", "main")
    assert (0 if head is None else head.sequence) == at - 1


def test_a_dying_store_may_die_when_its_last_write_is_made():
    store = InMemoryStateStore()
    with pytest.raises(StoreDiedError, match="died after write 2"):
        graph.invoke({}, thread_id="t", state_store=DyingStore(store, at=2, after=True))
    assert [question.key for question in asyncio.run(store.pending()).items] == ["ask:ok"]


def test_a_dead_store_answers_nothing_more():
    dying = DyingStore(InMemoryStateStore(), at=1)
    with pytest.raises(StoreDiedError):
        graph.invoke({}, thread_id="t", state_store=dying)
    for call in (dying.pending(), dying.threads(), dying.exists("t"), dying.delete("t")):
        with pytest.raises(StoreDiedError):
            asyncio.run(call)


def test_a_store_that_does_not_die_is_the_store():
    clock = ManualClock()
    dying = DyingStore(InMemoryStateStore(clock=clock, lease_s=7), at=100)
    assert (dying.instant, dying.lease_s, dying.now_ms()) == (True, 7, clock.wall)
    graph.invoke({}, thread_id="t", state_store=dying)
    assert graph.invoke(None, thread_id="t", resume=Resume(1), state_store=dying).status == "completed"
    assert not dying.dead


def test_what_a_store_does_when_it_dies_can_be_said():
    deaths: list[str] = []
    dying = DyingStore(InMemoryStateStore(), at=2, die=lambda: deaths.append("died"))
    with pytest.raises(StoreDiedError):
        graph.invoke({}, thread_id="t", state_store=dying)
    assert deaths == ["died"]


def test_what_the_dead_store_left_goes_on_when_the_lease_has_ended(tmp_path: Path):
    clock = ManualClock()
    with SQLiteStateStore(tmp_path / "t.db", clock=clock) as store:
        with pytest.raises(StoreDiedError):
            graph.invoke({}, thread_id="t", state_store=DyingStore(store, at=2))
        clock.forward(30_000)
        assert graph.invoke(None, thread_id="t", state_store=store).status == "interrupted"


STORES = '''
from nodestep import InMemoryStateStore

def good(clock):
    return InMemoryStateStore(clock=clock)

class Forgetful(InMemoryStateStore):
    """Takes every write for one that fits."""

    def commit(self, writes):
        return [answer for write in writes for answer in super(Forgetful, self).commit([_unguarded(self, write)])]

def _unguarded(store, write):
    from msgspec.structs import replace
    from nodestep.stores.base import Append, New, Unchanged
    if isinstance(write, Append):
        return write
    head = store.head(write.thread_id, write.branch_id)
    if head is None or isinstance(write.guard, New):
        return write
    return replace(write, guard=Unchanged(head.no, head.epoch, head.sequence))

def bad(clock):
    return Forgetful(clock=clock)
'''


def contract(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    (folder / "their_stores.py").write_text(STORES)
    plugin = ["-p", "nodestep.testing.plugin", "-p", "no:cacheprovider", "-p", "no:xdist"]
    command = [sys.executable, "-m", "pytest", "-q", *plugin, *arguments, "--pyargs"]
    return subprocess.run(
        [*command, "nodestep.testing.contract.test_guards"],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
        timeout=100,
    )


def test_the_contract_runs_against_a_store_of_another(tmp_path: Path):
    done = contract(tmp_path, "--nodestep-store", "their_stores:good")
    assert done.returncode == 0, done.stdout + done.stderr
    assert " passed" in done.stdout


def test_the_contract_finds_what_is_wrong_with_a_store(tmp_path: Path):
    done = contract(tmp_path, "--nodestep-store", "their_stores:bad")
    assert done.returncode == 1, done.stdout + done.stderr
    assert "FAILED" in done.stdout


def test_without_a_store_the_plugin_says_what_to_write(tmp_path: Path):
    done = contract(tmp_path, "-k", "claimed")
    assert done.returncode == 1
    assert "--nodestep-store my_package.stores:make" in done.stdout
    assert (ROOT / "src" / "nodestep" / "testing" / "plugin.py").exists()
