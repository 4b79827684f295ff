"""A power cut at any moment: what was acknowledged is there, the file opens, and nothing in it is wrong."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from nodestep import SQLiteStateStore
from nodestep.stores.base import Receipt, Status
from tests.durability.disk import Disk, Synced, Told, cuts
from tests.durability.lives import finish, history, noted_as
from tests.durability.shapes import SHAPES
from tests.persistence.programs.effects import Effects
from tests.stores.writing import StillClock, begin, done, go_on, question, seen, unchanged, write


@pytest.fixture
def chance() -> random.Random:
    seed = random.randrange(1 << 32)
    print(f"seed {seed}")
    return random.Random(seed)


def restore(folder: Path, files: dict[str, bytes]) -> Path:
    for file in folder.glob("t.db*"):
        file.unlink()
    for name, content in files.items():
        (folder / name).write_bytes(content)
    return folder / "t.db"


@dataclass
class Traffic:
    """Threads that grow, ask and are answered, on a store that is closed and opened again; what was acknowledged is told to
    the disk."""

    disk: Disk
    path: Path
    records: dict[str, list[bytes]] = field(default_factory=dict)
    chance: random.Random = field(default_factory=random.Random)

    def run(self, steps: int) -> None:
        for _ in range(3):
            with SQLiteStateStore(self.path) as store:
                self.disk.tell(("open", store.id))
                for step in range(steps // 3):
                    self.step(store, step)

    def step(self, store: SQLiteStateStore, step: int) -> None:
        thread = (
            f"t{len(self.records)}"
            if len(self.records) < 3 or step % 10 == 0
            else self.chance.choice(list(self.records))
        )
        body = b"%d " % step * self.chance.choice((1, 9, 900, 20_000))
        before = store.head(thread, "main")
        if before is None:
            receipt = begin(store, thread, record=body)
        else:
            receipt = done(store, write(unchanged(_receipt(before)), thread=thread, record=body, closes=("a:x",)))
        self.acknowledged(thread, receipt, body)
        asked = b"asked " + body
        receipt = go_on(store, receipt, Status.INTERRUPTED, thread, record=asked, opens=(question("a:x"),))
        self.acknowledged(thread, receipt, asked)

    def acknowledged(self, thread: str, receipt: Receipt, body: bytes) -> None:
        self.records.setdefault(thread, []).append(body)
        self.disk.tell(("stored", thread, receipt.sequence))


def _receipt(head: Any) -> Receipt:
    return Receipt(head.no, head.epoch, head.sequence, 0)


def check(path: Path, told: Sequence[Any], records: dict[str, list[bytes]]) -> None:
    """All that was acknowledged is there, and at most the one commit more that was under way."""
    ids = {what[1] for what in told if what[0] == "open"}
    acknowledged: dict[str, int] = {}
    for what in told:
        if what[0] == "stored":
            acknowledged[what[1]] = what[2]
    more = 0
    with SQLiteStateStore(path) as store:
        assert not ids or {store.id} == ids
        for thread, bodies in records.items():
            found = [record.body for record in store.records(thread, "main", limit=10_000)]
            assert len(found) >= acknowledged.get(thread, 0), "an acknowledged commit is lost"
            assert found == bodies[: len(found)]
            more += len(found) - acknowledged.get(thread, 0)
            asked = bool(found) and found[-1].startswith(b"asked ")
            assert len(store.questions(thread)) == asked
            if found:
                assert (seen(store, thread).head.status is Status.INTERRUPTED) == asked
        assert more <= 1
        begin(store, "new")


def points(disk: Disk, chance: random.Random, count: int) -> set[int]:
    """Moments around syncs and acknowledgements, where there is most to lose."""
    near = [at + beside for at, deed in enumerate(disk.deeds) if isinstance(deed, Synced | Told) for beside in (0, 1)]
    return set(chance.sample(near, min(count, len(near))))


def test_what_a_store_acknowledged_survives_a_power_cut_at_any_moment(quick, chance):
    with Disk() as disk:
        traffic = Traffic(disk, quick / "t.db", chance=chance)
        traffic.run(120)
    assert any(isinstance(deed, Synced) and deed.file == "t.db" for deed in disk.deeds[200:]), "the log was never moved"
    folder = quick / "cut"
    folder.mkdir()
    for told, files in cuts(disk.deeds, points(disk, chance, 60), chance):
        check(restore(folder, files), told, traffic.records)


class Telling:
    """Tells a disk of each commit that is acknowledged."""

    def __init__(self, store: Any, disk: Disk) -> None:
        self.store = store
        self.disk = disk

    def commit(self, writes: Any) -> Any:
        answers = self.store.commit(writes)
        for answer in answers:
            if isinstance(answer, Receipt):
                self.disk.tell(answer.sequence)
        return answers

    def __getattr__(self, name: str) -> Any:
        return getattr(self.store, name)


@pytest.mark.parametrize("shape", SHAPES)
def test_a_thread_goes_on_after_a_power_cut_at_any_moment(shape, quick, chance):
    clock = StillClock()
    with Disk() as disk, SQLiteStateStore(quick / "t.db", clock=clock) as inner:
        store = Telling(inner, disk)
        finish(SHAPES[shape](store, Effects(quick / "effects")), store, Effects(quick / "effects"))
    whole = history(quick / "t.db")
    clock.forward(60_000)  # a boot later, the leases of before are over
    folder = quick / "cut"
    folder.mkdir()
    for told, files in cuts(disk.deeds, points(disk, chance, 15), chance):
        path, effects = restore(folder, files), Effects(folder / "effects")
        effects.path.unlink(missing_ok=True)
        if shape == "beside_a_failure":
            effects.do("failed")
        with SQLiteStateStore(path, clock=clock) as opened:
            before = history(path)
            assert before.last >= max(told, default=0)
            finish(SHAPES[shape](opened, effects), opened, effects)
        after = history(path)
        assert after.log == whole.log
        assert before.done.isdisjoint(noted_as("run", effects.done()))
        assert before.once.isdisjoint(noted_as("once", effects.done()))
        assert before.done <= after.done
        assert {key for _, key in after.answered} == {key for _, key in whole.answered}
