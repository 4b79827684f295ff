"""What protects threads, each switched off by a small patch, and the tests that must then go red.

As a plugin, `pytest -p tests.durability.protections --without NAME` runs with one protection switched off. As a program,

    python -m tests.durability.protections [NAME ...]

runs the tests of each with it and without it, prints a table, and fails where a test does not notice.
"""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from importlib import import_module
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
WORKERS = 2


@dataclass(frozen=True)
class Patch:
    """Puts something else in the place of `module:name`; `make` gets what stands there."""

    where: str
    make: Callable[[Any], Any]

    def apply(self) -> None:
        module, _, path = self.where.partition(":")
        holder: Any = import_module(module)
        *outer, name = path.split(".")
        for part in outer:
            holder = getattr(holder, part)
        setattr(holder, name, self.make(getattr(holder, name)))


@dataclass(frozen=True)
class Protection:
    """One rule, how it is switched off, and the tests of which at least one must notice."""

    rule: str
    patches: tuple[Patch, ...]
    tests: tuple[str, ...]


def _does_nothing(_: Any) -> Any:
    return lambda *args, **kwargs: None


def _always(value: Any) -> Callable[[Any], Any]:
    return lambda _: lambda *args, **kwargs: value


def _admits_all(admit: Any) -> Any:
    """A guard that lets every write to an existing branch pass, save one that wants to make it."""

    def admitted(self: Any, write: Any, branch: Any) -> Any:
        return None if type(write.guard).__name__ in ("New", "ForkOf") else branch

    return admitted


def _forgets_epochs(admit: Any) -> Any:
    """A guard that compares everything but the epoch."""

    def admitted(self: Any, write: Any, branch: Any) -> Any:
        guard = write.guard
        if hasattr(guard, "epoch"):
            write = replace(write, guard=replace(guard, epoch=branch.epoch))
        return admit(self, write, branch)

    return admitted


def _append_without_epoch(queries: Any) -> Any:
    def read(dialect: str) -> Any:
        found = queries(dialect)
        return replace(found, append_record=found.append_record.replace("epoch = ?6", "?6 = ?6"))

    return read


def _unchecked_record(_: Any) -> Any:
    from nodestep.stores.base import Record
    from nodestep.stores.rows import LAST_SEQUENCE, SEQUENCE_BITS

    return lambda row: Record(row[0] >> SEQUENCE_BITS, row[0] & LAST_SEQUENCE, row[1], row[4], row[2])


def _settled_loosely(settle: Any) -> Any:
    def settled(raw: Any, **options: Any) -> None:
        settle(raw, **options)
        raw.pragma("synchronous", "NORMAL")

    return settled


def _no_deadlines(_: Any) -> Any:
    return lambda position, now_ms: (tuple(position.open_questions()), ())


def _same_for_all_rounds(key: Any) -> Any:
    return lambda origin, superstep, path, task: key(origin, 0, path, task)


def _before_or_after(transaction: Any) -> Any:
    """Each statement by itself, with nothing undone."""

    def write(self: Any, work: Any) -> Any:
        return work(self._writing())

    return write


def _takes_any_question(_: Any) -> Any:
    return lambda self, asked, ready, current: next((id for id, _ in asked), None)


def _approves_what_is_true(read_decision: Any) -> Any:
    from nodestep.middleware.decisions import APPROVED

    return lambda answer: APPROVED if answer and not isinstance(answer, dict) else read_decision(answer)


def _lets_pass_what_raises(_: Any) -> Any:
    def must_ask(match: Any, arguments: Any) -> bool:
        try:
            return match is None or bool(match(arguments))
        except Exception:
            return False

    return must_ask


def _clears_all(_: Any) -> Any:
    from nodestep.agents.approving import Cleared

    return lambda approvals, id, ready: Cleared(ready.tool, ready.arguments)


def _every_call(_: Any) -> Any:
    return lambda self: frozenset(task.id for task in self.frame.due)


MEMORY_THREADS = "nodestep.stores.memory_threads:HeldThreads"

CONTRACT = "tests/stores/test_contract.py"

PROTECTIONS: dict[str, Protection] = {
    "compare-and-set": Protection(
        "a claim must find the branch as it was read",
        (Patch("nodestep.stores.writing:Writer._admit", _admits_all), Patch(f"{MEMORY_THREADS}._admit", _admits_all)),
        ("tests/durability/test_interleavings.py::test_of_two_resumes_one_has_an_effect_in_every_order",),
    ),
    "epoch": Protection(
        "a write must carry the epoch of the lease that is held now",
        (
            Patch("nodestep.stores.writing:Writer._admit", _forgets_epochs),
            Patch("nodestep.stores.sqlite_file:queries", _append_without_epoch),
            Patch(f"{MEMORY_THREADS}._admit", _forgets_epochs),
        ),
        (f"{CONTRACT}::test_a_stale_owner_is_refused",),
    ),
    "lease": Protection(
        "a branch whose owner lives and renews is not taken over",
        (Patch("nodestep.stores.leases:Leases.live", _always(False)), Patch(f"{MEMORY_THREADS}.live", _always(False))),
        (
            f"{CONTRACT}::test_a_lease_lasts_thirty_seconds",
            "tests/durability/test_clocks.py::test_a_lease_is_held_whenever_the_wall_clock_jumps",
        ),
    ),
    "takeover": Protection(
        "the branch of an owner that is known to be dead is free at once",
        (Patch("nodestep.stores.leases:known_dead", _always(False)),),
        ("tests/durability/test_os_fork.py::test_a_child_that_is_killed_leaves_its_thread_to_its_parent_at_once",),
    ),
    "transaction": Protection(
        "a commit is one transaction",
        (Patch("nodestep.stores.sqlite_file:SQLiteFile.write", _before_or_after),),
        (
            "tests/durability/test_troubled_disks.py::test_a_run_on_a_disk_that_fails_is_told_and_goes_on_when_it_is_well",
        ),
    ),
    "sync": Protection(
        "a commit is on the disk before it is acknowledged",
        (Patch("nodestep.stores.sqlite_file:settle", _settled_loosely),),
        ("tests/durability/test_power_cuts.py::test_a_thread_goes_on_after_a_power_cut_at_any_moment",),
    ),
    "checksum": Protection(
        "a record is compared with its checksum when it is read",
        (Patch("nodestep.stores.reading:record_of", _unchecked_record),),
        ("tests/durability/test_damaged_files.py::test_a_flipped_byte_is_told_or_does_no_harm_to_any_thread",),
    ),
    "fork": Protection(
        "a store lets go of its file while the process forks",
        (Patch("nodestep.stores.sqlite:watch_forks", _does_nothing),),
        ("tests/durability/test_os_fork.py",),
    ),
    "recorded": Protection(
        "a task whose result is recorded does not run again",
        (Patch("nodestep.engine.plan:_must_run", _always(True)),),
        ("tests/durability/test_closed_streams.py",),
    ),
    "once": Protection(
        "the result of ctx.once is recorded before it is returned",
        (Patch("nodestep.runtime.run:Run.record_once", _does_nothing),),
        ("tests/durability/test_stopping_nodes.py",),
    ),
    "swallowed pause": Protection(
        "the return value of a node that caught its pause is not used",
        (Patch("nodestep.runtime.task:check_not_swallowed", _does_nothing),),
        ("tests/interrupts/test_swallowed.py",),
    ),
    "raising hook": Protection(
        "a hook that raises fails the task and approves nothing",
        (Patch("nodestep.runtime.context:TaskScope.refuse", _does_nothing),),
        ("tests/interrupts/test_hooks.py",),
    ),
    "pause number": Protection(
        "an answer for one pause does not meet the question of another",
        (Patch("nodestep.engine.answer:_check_pause", _does_nothing),),
        ("tests/interrupts/test_resume.py", "tests/engine/test_answers.py"),
    ),
    "answer schema": Protection(
        "an answer is checked against the type that the question asked for",
        (Patch("nodestep.engine.answer:check_answer", _does_nothing),),
        ("tests/people/test_typed_refused.py", "tests/durability/test_any_sequence.py"),
    ),
    "deadline": Protection(
        "a question past its deadline takes no answer",
        (Patch("nodestep.engine.answer:open_and_expired", _no_deadlines),),
        ("tests/people/test_deadlines.py", "tests/durability/test_any_sequence.py"),
    ),
    "limit on write": Protection(
        "what is too large is refused before it is written",
        (Patch("nodestep.model.limits:check_size", _does_nothing),),
        ("tests/durability/test_odd_values.py::test_size_is_kept_up_to_the_limit_in_bytes_of_json_and_refused_beyond",),
    ),
    "odd numbers": Protection(
        "NaN and what has no 64 bits is refused before it is written",
        (Patch("nodestep.model.limits:check_scalar", _does_nothing),),
        ("tests/durability/test_odd_values.py::test_values_that_no_store_keeps_are_refused",),
    ),
    "recorded call": Protection(
        "a tool call whose result is recorded does not run again",
        (Patch("nodestep.runtime.calls:Calls.to_run", _every_call),),
        ("tests/agents/test_tool_runner.py",),
    ),
    "same call": Protection(
        "what is recorded of a tool call is not taken for another call that an edit put in its place",
        (Patch("nodestep.agents.turn:_fingerprint", _always("")),),
        ("tests/agents/test_changed_calls.py",),
    ),
    "bound approval": Protection(
        "an approval belongs to the exact arguments that were shown",
        (Patch("nodestep.agents.approving:Approvals._find", _takes_any_question),),
        ("tests/cases/test_tools.py", "tests/agents/test_approvals.py"),
    ),
    "exact decision": Protection(
        "only exact True or a valid decision lets a tool call run",
        (Patch("nodestep.agents.approving:read_decision", _approves_what_is_true),),
        ("tests/agents/test_approvals.py",),
    ),
    "edited call": Protection(
        "an edit that a further rule matches is asked again",
        (Patch("nodestep.agents.approving:Approvals._needs", _always(frozenset({-1}))),),
        ("tests/agents/test_approvals.py",),
    ),
    "failing predicate": Protection(
        "a predicate that raises, or is unclear, asks",
        (Patch("nodestep.middleware.rules:must_ask", _lets_pass_what_raises),),
        ("tests/middleware/test_rules.py",),
    ),
    "denied call": Protection(
        "a call that a person denied does not run",
        (Patch("nodestep.agents.turn:_judged", _clears_all),),
        ("tests/cases/test_tools.py",),
    ),
    "rules of graphs around": Protection(
        "the approval rules of the graphs around cover the tool calls of those inside",
        (Patch("nodestep.agents.approving:outwards", lambda _: lambda at: [at]),),
        ("tests/cases/test_agents.py", "tests/middleware/test_tool_hooks.py"),
    ),
    "idempotency key": Protection(
        "every task has a key of its own, the next round of a loop as well",
        (Patch("nodestep.runtime.context:idempotency_key", _same_for_all_rounds),),
        ("tests/interrupts/test_idempotency.py",),
    ),
}


def switch_off(name: str) -> None:
    """Do without a protection in this process from now on."""
    for patch in PROTECTIONS[name].patches:
        patch.apply()


def pytest_addoption(parser: Any) -> None:
    parser.addoption("--without", choices=list(PROTECTIONS), help="switch a protection off")


def pytest_configure(config: Any) -> None:
    name = config.getoption("--without")
    if name is not None:
        from tests.durability import nursery

        switch_off(name)
        nursery.WITHOUT = name


@dataclass(frozen=True)
class Row:
    """What came of one protection."""

    name: str
    green: bool
    red: tuple[str, ...]
    seconds: float

    def __str__(self) -> str:
        result = f"{len(self.red)} red, such as {self.red[0]}" if self.red else "NOTHING RED"
        return f"{self.name:16} {self.seconds:6.1f} s  {result if self.green else 'RED WITH IT AS WELL'}"

    @property
    def holds(self) -> bool:
        return self.green and bool(self.red)


def run(name: str) -> Row:
    """Run the tests of a protection with it, and without it until one is red."""
    begun = time.monotonic()
    tests = PROTECTIONS[name].tests
    with_it = _pytest(tests)
    without = _pytest(tests, "--without", name, "--maxfail=3")
    red = tuple(line.split()[1].rpartition("/")[2] for line in without.splitlines() if line.startswith("FAILED "))
    return Row(name, with_it.rstrip().endswith("OK"), red, time.monotonic() - begun)


def _pytest(tests: Sequence[str], *options: str) -> str:
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "tests.durability.protections"]
    done = subprocess.run([*command, *options, *tests], cwd=ROOT, capture_output=True, text=True, check=False)
    if done.returncode not in (0, 1):
        raise SystemExit(f"{' '.join(tests)}: pytest ended with {done.returncode}\n{done.stdout}{done.stderr}")
    return done.stdout + ("OK" if done.returncode == 0 else "RED")


def main(names: Sequence[str]) -> int:
    """Print a line for each; 1 where a protection is not noticed."""
    with ThreadPoolExecutor(WORKERS) as pool:
        rows = []
        for row in pool.map(run, names or list(PROTECTIONS)):
            print(row, flush=True)
            rows.append(row)
    print(f"{sum(row.holds for row in rows)} of {len(rows)} protections are noticed when they are switched off")
    return 0 if all(row.holds for row in rows) else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
