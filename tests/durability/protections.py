"""What protects threads, each switched off by a small patch, and the tests that must then go red.

As a plugin, `pytest -p tests.durability.protections --without NAME` runs with one protection switched off. As a program,

    python -m tests.durability.protections [NAME ...]

runs the tests of each with it and without it, prints a table, and fails where a test does not notice.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.durability.switched_off import (
    Patch,
    admits_all,
    always,
    append_without_epoch,
    approves_what_is_true,
    asks_again,
    before_or_after,
    begins_anew,
    claims_without_comparing,
    clears_all,
    does_nothing,
    every_call,
    forgets_epochs,
    lets_pass_what_raises,
    loses_odd_letters,
    no_deadlines,
    same_for_all_rounds,
    settled_loosely,
    takes_any_question,
    unchecked_arguments,
    unchecked_record,
)

ROOT = Path(__file__).parents[2]
WORKERS = 2


@dataclass(frozen=True)
class Protection:
    """One rule, how it is switched off, and the tests of which at least one must notice."""

    rule: str
    patches: tuple[Patch, ...]
    tests: tuple[str, ...]


MEMORY_THREADS = "nodestep.stores.memory_threads:HeldThreads"

CONTRACT = "tests/stores/test_contract.py"
APPROVALS = "tests/agents/test_approvals.py"

PROTECTIONS: dict[str, Protection] = {
    "compare-and-set": Protection(
        "a claim must find the branch as it was read",
        (Patch("nodestep.stores.writing:Writer._admit", admits_all), Patch(f"{MEMORY_THREADS}._admit", admits_all)),
        ("tests/durability/test_interleavings.py::test_of_two_resumes_one_has_an_effect_in_every_order",),
    ),
    "known row": Protection(
        "a write that goes by what its store knew before must find it so",
        (Patch("nodestep.stores.sqlite_file:queries", claims_without_comparing),),
        ("tests/stores/test_known_rows.py",),
    ),
    "epoch": Protection(
        "a write must carry the epoch of the lease that is held now",
        (
            Patch("nodestep.stores.writing:Writer._admit", forgets_epochs),
            Patch("nodestep.stores.sqlite_file:queries", append_without_epoch),
            Patch(f"{MEMORY_THREADS}._admit", forgets_epochs),
        ),
        (f"{CONTRACT}::test_a_stale_owner_is_refused",),
    ),
    "lease": Protection(
        "a branch whose owner lives and renews is not taken over",
        (Patch("nodestep.stores.leases:Leases.live", always(False)), Patch(f"{MEMORY_THREADS}.live", always(False))),
        (
            f"{CONTRACT}::test_a_lease_lasts_thirty_seconds",
            "tests/durability/test_clocks.py::test_a_lease_is_held_whenever_the_wall_clock_jumps",
        ),
    ),
    "takeover": Protection(
        "the branch of an owner that is known to be dead is free at once",
        (Patch("nodestep.stores.leases:known_dead", always(False)),),
        ("tests/durability/test_os_fork.py::test_a_child_that_is_killed_leaves_its_thread_to_its_parent_at_once",),
    ),
    "transaction": Protection(
        "a commit is one transaction",
        (Patch("nodestep.stores.sqlite_file:SQLiteFile.write", before_or_after),),
        (
            "tests/durability/test_troubled_disks.py::test_a_run_on_a_disk_that_fails_is_told_and_goes_on_when_it_is_well",
        ),
    ),
    "sync": Protection(
        "a commit is on the disk before it is acknowledged",
        (Patch("nodestep.stores.sqlite_file:settle", settled_loosely),),
        ("tests/durability/test_power_cuts.py::test_a_thread_goes_on_after_a_power_cut_at_any_moment",),
    ),
    "checksum": Protection(
        "a record is compared with its checksum when it is read",
        (Patch("nodestep.stores.reading:record_of", unchecked_record),),
        ("tests/stores/test_sqlite_damage.py::test_rows_that_were_changed_behind_the_store_are_never_believed",),
    ),
    "page checksum": Protection(
        "a page is compared with its checksum when it is read",
        (
            Patch("nodestep.stores.sqlite_open:checksumming_vfs", always(None)),
            Patch("nodestep.stores.sqlite_open:has_checksums", always(True)),
        ),
        ("tests/durability/test_damaged_files.py::test_a_flipped_byte_that_could_hide_rows_is_told_or_does_no_harm",),
    ),
    "fork": Protection(
        "a store lets go of its file while the process forks",
        (Patch("nodestep.stores.sqlite:watch_forks", does_nothing),),
        ("tests/durability/test_os_fork.py",),
    ),
    "recorded": Protection(
        "a task whose result is recorded does not run again",
        (Patch("nodestep.engine.plan:_must_run", always(True)),),
        (
            "tests/durability/test_closed_streams.py::test_a_stream_that_is_closed_at_any_of_its_events_can_be_continued"
            "[sends-stream-memory]",
        ),
    ),
    "inner frame": Protection(
        "a graph inside a task goes on where it stood",
        (Patch("nodestep.runtime.nested:_take_up", begins_anew),),
        ("tests/cases/test_subgraph.py::test_sg_01_a_subgraph_goes_on_where_it_asked",),
    ),
    "shared field": Protection(
        "a field that a graph inside a task works on is not edited meanwhile",
        (Patch("nodestep.runtime.editing:_check_unshared", does_nothing),),
        ("tests/nesting/test_history.py::test_a_field_that_an_open_inner_graph_shares_is_not_edited",),
    ),
    "once": Protection(
        "the result of ctx.once is recorded before it is returned",
        (Patch("nodestep.runtime.run:Run.record_once", does_nothing),),
        (
            "tests/durability/test_stopping_nodes.py::test_a_thread_whose_nodes_raise_it_anywhere_can_be_continued"
            "[Alarm-invoke-memory]",
        ),
    ),
    "swallowed pause": Protection(
        "the return value of a node that caught its pause is not used",
        (
            Patch("nodestep.runtime.task:check_not_swallowed", does_nothing),
            Patch("nodestep.runtime.attempts:check_not_swallowed", does_nothing),
        ),
        ("tests/interrupts/test_swallowed.py",),
    ),
    "raising hook": Protection(
        "a hook that raises fails the task and approves nothing",
        (Patch("nodestep.runtime.context:TaskScope.refuse", does_nothing),),
        ("tests/interrupts/test_hooks.py",),
    ),
    "pause number": Protection(
        "an answer for one pause does not meet the question of another",
        (Patch("nodestep.engine.answer:_check_pause", does_nothing),),
        ("tests/interrupts/test_resume.py", "tests/engine/test_answers.py"),
    ),
    "answer schema": Protection(
        "an answer is checked against the type that the question asked for",
        (Patch("nodestep.engine.answer:check_answer", does_nothing),),
        ("tests/people/test_typed_refused.py", "tests/durability/test_any_sequence.py"),
    ),
    "deadline": Protection(
        "a question past its deadline takes no answer",
        (Patch("nodestep.engine.answer:open_and_expired", no_deadlines),),
        ("tests/people/test_deadlines.py", "tests/durability/test_any_sequence.py"),
    ),
    "limit on write": Protection(
        "what is too large is refused before it is written",
        (Patch("nodestep.model.limits:check_size", does_nothing),),
        ("tests/durability/test_odd_values.py::test_size_is_kept_up_to_the_limit_in_bytes_of_json_and_refused_beyond",),
    ),
    "odd numbers": Protection(
        "NaN and what has no 64 bits is refused before it is written",
        (Patch("nodestep.model.limits:check_scalar", does_nothing),),
        ("tests/durability/test_odd_values.py::test_values_that_no_store_keeps_are_refused",),
    ),
    "recorded call": Protection(
        "a tool call whose result is recorded does not run again",
        (Patch("nodestep.runtime.calls:Calls.to_run", every_call),),
        ("tests/agents/test_tool_runner.py",),
    ),
    "same call": Protection(
        "what is recorded of a tool call is not taken for another call that an edit put in its place",
        (Patch("nodestep.agents.turn:_fingerprint", always("")),),
        ("tests/agents/test_changed_calls.py",),
    ),
    "bound approval": Protection(
        "an approval belongs to the exact arguments that were shown",
        (Patch("nodestep.agents.approving:Approvals._find", takes_any_question),),
        ("tests/cases/test_tools.py", "tests/agents/test_approvals.py"),
    ),
    "exact decision": Protection(
        "only exact True or a valid decision lets a tool call run",
        (Patch("nodestep.agents.approving:read_decision", approves_what_is_true),),
        ("tests/agents/test_approvals.py",),
    ),
    "edited call": Protection(
        "an edit that a further rule matches is asked again",
        (Patch("nodestep.agents.approving:Approvals._needs", always(frozenset({-1}))),),
        ("tests/agents/test_approvals.py",),
    ),
    "failing predicate": Protection(
        "a predicate that raises, or is unclear, asks",
        (Patch("nodestep.middleware.rules:must_ask", lets_pass_what_raises),),
        ("tests/middleware/test_rules.py",),
    ),
    "denied call": Protection(
        "a call that a person denied does not run",
        (Patch("nodestep.agents.turn:_judged", clears_all),),
        ("tests/cases/test_tools.py",),
    ),
    "rules of graphs around": Protection(
        "the approval rules of the graphs around cover the tool calls of those inside",
        (Patch("nodestep.agents.approving:outwards", lambda _: lambda at: [at]),),
        ("tests/cases/test_agents.py", "tests/middleware/test_tool_hooks.py"),
    ),
    "kept response": Protection(
        "a model is not asked again while a person answers a question about its response",
        (Patch("nodestep.agents.model_turn:ModelTurn._answer_once", asks_again),),
        ("tests/agents/test_model_hooks.py",),
    ),
    "same request": Protection(
        "a response that was kept is not taken for the answer to another request",
        (Patch("nodestep.agents.model_turn:_fingerprint", always("")),),
        ("tests/agents/test_model_hooks.py",),
    ),
    "whole history": Protection(
        "a model is not asked to go on from messages that its provider would refuse",
        (Patch("nodestep.agents.model_node:checked", lambda _: lambda messages, **_: messages),),
        ("tests/agents/test_model_node.py",),
    ),
    "idempotency key": Protection(
        "every task has a key of its own, the next round of a loop as well",
        (Patch("nodestep.runtime.context:idempotency_key", same_for_all_rounds),),
        ("tests/interrupts/test_idempotency.py",),
    ),
    "edit": Protection(
        "an edited call is checked against its tool",
        (Patch("nodestep.agents.approving:check_arguments", unchecked_arguments),),
        (f"{APPROVALS}::test_an_edit_that_does_not_fit_runs_nothing_and_follows_tool_errors",),
    ),
    "call id": Protection(
        "no two ids of tool calls have one question id",
        (Patch("nodestep.model.ids:encoded_call_id", loses_odd_letters),),
        ("tests/model/test_call_ids.py",),
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


def main(arguments: Sequence[str]) -> int:
    """Print a line for each; 1 where a protection is not noticed."""
    parser = argparse.ArgumentParser(
        prog="scripts/protections",
        description="Switches each protection off once, and shows the tests that notice.",
        epilog=f"The protections: {', '.join(PROTECTIONS)}.",
    )
    parser.add_argument("names", nargs="*", metavar="NAME", help="a protection; all of them without a name")
    names: list[str] = parser.parse_args(arguments).names
    unknown = [name for name in names if name not in PROTECTIONS]
    if unknown:
        parser.error(f"there is no protection {', '.join(map(repr, unknown))}")
    with ThreadPoolExecutor(WORKERS) as pool:
        rows = []
        for row in pool.map(run, names or list(PROTECTIONS)):
            print(row, flush=True)
            rows.append(row)
    print(f"{sum(row.holds for row in rows)} of {len(rows)} protections are noticed when they are switched off")
    return 0 if all(row.holds for row in rows) else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
