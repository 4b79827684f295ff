"""A thread whose process is killed, and killed again; after each death what is stored is judged, and at the end the whole."""

from __future__ import annotations

import random
import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import astuple, dataclass, field
from pathlib import Path

from nodestep.stores.base import Status
from tests.durability.lives import ENDS, FORMS, History, Kill, history, live, noted_as, once_is_once
from tests.durability.nursery import Nursery
from tests.durability.shapes import SHAPES
from tests.persistence.programs.effects import Effects


@dataclass
class Figures:
    """What was seen over many threads."""

    threads: int = 0
    kills: int = 0
    runs: int = 0
    answers: int = 0
    by_shape: Counter[str] = field(default_factory=Counter)

    def __str__(self) -> str:
        return (
            f"{self.threads} threads, {self.kills} kills, {self.runs} runs of tasks, {self.answers} answers: no recorded task "
            f"ran again, nothing was lost ({', '.join(f'{shape} {count}' for shape, count in self.by_shape.items())})"
        )


class Threads:
    """Threads of the eight shapes, each in a file of its own under `folder`."""

    def __init__(self, nursery: Nursery, folder: Path) -> None:
        self.nursery = nursery
        self.folder = folder
        self.figures = Figures()
        self._whole: dict[str, History] = {}

    def whole(self, shape: str) -> History:
        """The uninterrupted run of a shape."""
        if shape not in self._whole:
            with tempfile.TemporaryDirectory(dir=self.folder) as folder:
                self._lives(Path(folder), shape, "invoke", [])
                self._whole[shape] = history(Path(folder) / "threads.db")
        return self._whole[shape]

    def writes(self, shape: str) -> int:
        """How many writes the uninterrupted run makes."""
        return self.whole(shape).last

    def survive(self, shape: str, kills: Sequence[Kill], form: str = "invoke") -> None:
        """Take a thread through these deaths to its end. Fails where anything is lost or done twice."""
        whole = self.whole(shape)
        with tempfile.TemporaryDirectory(dir=self.folder) as folder:
            told = self._lives(Path(folder), shape, form, kills)
        assert told.status is Status.COMPLETED
        assert told.log == whole.log
        assert {key for _, key in told.answered} == {key for _, key in whole.answered}
        assert len(told.answered) == len(whole.answered)
        self.figures.threads += 1
        self.figures.by_shape[shape] += 1

    def _lives(self, folder: Path, shape: str, form: str, kills: Sequence[Kill]) -> History:
        path, effects = folder / "threads.db", Effects(folder / "effects")
        before, read = History(), 0
        for kill in (*kills, None):
            end = self.nursery.child(
                live, shape, str(path), str(effects.path), form, None if kill is None else astuple(kill)
            )
            noted = effects.done()
            after = history(path)
            self._judge(before, noted[read:], after)
            self.figures.kills += end.killed
            before, read = after, len(noted)
        assert once_is_once(effects.done()), "what had been done once was done again"
        return before

    def _judge(self, before: History, noted: Sequence[str], after: History) -> None:
        """`noted` is what happened in the life between."""
        runs, acknowledged = noted_as("run", noted), [int(sequence) for sequence in noted_as("ack", noted)]
        answers = {(int(pause), key) for pause, _, key in (note.partition(":") for note in noted_as("answer", noted))}
        assert max(acknowledged, default=0) <= after.last, "an acknowledged commit is lost"
        assert before.done.isdisjoint(runs), "a recorded task ran again"
        assert before.once.isdisjoint(noted_as("once", noted)), "what was recorded as done once was done again"
        assert before.done <= after.done, "a recorded task is lost"
        assert set(after.ends.values()) <= {1}, "a task is recorded twice"
        assert answers.isdisjoint(before.answered), "an answered question was asked again"
        assert before.answered == after.answered[: len(before.answered)], "an answer is lost"
        assert before.open <= answers | after.open, "an open question is lost"
        assert not after.asked_again, "a task asked again what was answered"
        assert len(set(after.shown)) == len(after.shown), "a question was shown by two pauses"
        self.figures.runs += len(runs)
        self.figures.answers += len(answers)


def points(writes: int) -> Iterator[Kill]:
    """Before and after every write, by turns in both ways of dying."""
    for at in range(1, writes + 1):
        for after in (False, True):
            yield Kill(at, after, ENDS[(at + after) % len(ENDS)])


def drawn(chance: random.Random, writes: int, deaths: int = 2) -> tuple[str, list[Kill]]:
    """A form of calling, and deaths at random writes. A later life has fewer writes left; where death comes too late for
    it, it ends by itself."""
    kills = [
        Kill(chance.randint(1, max(1, writes - n)), chance.random() < 0.5, chance.choice(ENDS)) for n in range(deaths)
    ]
    return chance.choice(FORMS), kills


def double_kills(threads: Threads, count: int, seed: int) -> None:
    """So many threads that die twice, at places that follow from the seed."""
    chance = random.Random(seed)
    for _ in range(count):
        shape = chance.choice(list(SHAPES))
        form, kills = drawn(chance, threads.writes(shape))
        try:
            threads.survive(shape, kills, form)
        except AssertionError as error:
            error.add_note(f"seed {seed}: {shape}, {form}, {kills}")
            raise
