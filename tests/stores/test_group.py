"""Group commit: jobs that wait together are executed together, and each caller learns of its own."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from dataclasses import dataclass, field

import pytest

from nodestep.errors import StoreFullError
from nodestep.stores.group import GroupCommit


@dataclass(eq=False)
class Job:
    name: str
    done: bool = False
    error: Exception | None = None


@dataclass
class Stage:
    """Executes jobs, the first list only once the test opens the gate."""

    act: Callable[[list[Job]], None] = lambda jobs: None
    lists: list[list[str]] = field(default_factory=list)
    entered: threading.Event = field(default_factory=threading.Event)
    gate: threading.Event = field(default_factory=threading.Event)

    def __post_init__(self) -> None:
        self.group: GroupCommit[Job] = GroupCommit(self.execute)
        self.errors: dict[str, BaseException] = {}
        self.threads: list[threading.Thread] = []

    def execute(self, jobs: list[Job]) -> None:
        self.lists.append([job.name for job in jobs])
        if len(self.lists) == 1:
            self.entered.set()
            assert self.gate.wait(10)
        self.act(jobs)
        for job in jobs:
            job.done = True

    def start(self, name: str, job: Job | None = None) -> Job:
        job = job or Job(name)

        def run() -> None:
            try:
                self.group.submit(job)
            except BaseException as error:
                self.errors[name] = error

        thread = threading.Thread(target=run, daemon=True)
        thread.start()
        self.threads.append(thread)
        return job

    def wait_for(self, count: int) -> None:
        """Until so many jobs wait behind the one that is executed."""
        while len(self.group._gathering.jobs) < count:
            os.sched_yield()

    def finish(self) -> None:
        self.gate.set()
        for thread in self.threads:
            thread.join(10)
            assert not thread.is_alive()


def three_behind_one(stage: Stage) -> None:
    stage.start("first")
    assert stage.entered.wait(10)
    for count, name in enumerate(("a", "b", "c"), start=1):
        stage.start(name)
        stage.wait_for(count)


def test_a_lone_job_is_executed_at_once():
    stage = Stage()
    stage.gate.set()
    stage.group.submit(Job("only"))
    stage.group.submit(Job("next"))
    assert stage.lists == [["only"], ["next"]]


def test_jobs_that_come_meanwhile_are_executed_together():
    stage = Stage()
    three_behind_one(stage)
    stage.finish()
    assert stage.lists == [["first"], ["a", "b", "c"]]
    assert stage.errors == {}


def test_an_error_reaches_everyone_whose_job_was_in_the_list():
    def act(jobs: list[Job]) -> None:
        if len(jobs) > 1:
            raise StoreFullError("no room")

    stage = Stage(act)
    three_behind_one(stage)
    stage.finish()
    assert sorted(stage.errors) == ["a", "b", "c"]
    assert all(isinstance(error, StoreFullError) for error in stage.errors.values())
    assert len({id(error) for error in stage.errors.values()}) == 3


def test_after_an_error_the_next_job_is_executed():
    def act(jobs: list[Job]) -> None:
        if jobs[0].name == "bad":
            raise StoreFullError("no room")

    stage = Stage(act)
    stage.gate.set()
    with pytest.raises(StoreFullError):
        stage.group.submit(Job("bad"))
    stage.group.submit(Job("good"))
    assert stage.lists == [["bad"], ["good"]]


def test_when_the_leader_is_interrupted_the_others_do_their_work_themselves():
    def act(jobs: list[Job]) -> None:
        if [job.name for job in jobs] == ["a", "b", "c"]:
            raise KeyboardInterrupt

    stage = Stage(act)
    three_behind_one(stage)
    stage.finish()
    assert stage.lists[:2] == [["first"], ["a", "b", "c"]]
    assert sorted(name for names in stage.lists[2:] for name in names) == ["b", "c"]
    assert [(name, type(error)) for name, error in stage.errors.items()] == [("a", KeyboardInterrupt)]


def test_nothing_is_executed_while_somebody_holds_the_lead():
    stage = Stage()
    stage.gate.set()
    with stage.group.lead:
        stage.start("a")
        stage.wait_for(1)
        assert stage.lists == []
    stage.finish()
    assert stage.lists == [["a"]]


def test_who_wants_the_lead_waits_for_what_is_executed():
    stage = Stage()
    seen: list[list[str]] = []
    three_behind_one(stage)

    def lead() -> None:
        with stage.group.lead:
            seen.extend(stage.lists)

    thread = threading.Thread(target=lead, daemon=True)
    thread.start()
    assert stage.group.lead.locked()
    assert seen == []
    stage.finish()
    thread.join(10)
    assert seen[0] == ["first"]


def test_a_caller_that_is_interrupted_while_it_waits_takes_its_job_back():
    stage = Stage()
    stage.gate.set()
    job = Job("interrupted")
    stage.group.lead = Interrupted()  # type: ignore[assignment]
    with pytest.raises(KeyboardInterrupt):
        stage.group.submit(job)
    stage.group.lead = threading.Lock()
    stage.group.submit(Job("next"))
    assert stage.lists == [["next"]]


class Interrupted:
    """A lock whose waiter is interrupted."""

    def __enter__(self) -> None:
        raise KeyboardInterrupt

    def __exit__(self, *_: object) -> None:
        raise AssertionError("it was never taken")
