"""`nodestep cancel`, `delete`, `prune` and `audit`: nothing goes for good that nobody agreed to."""

from __future__ import annotations

import json
import os
import select
import subprocess

import pytest

from .driving import GRAPHS, PATIENCE_S, REFUND, RELEASE, command, environment, process, terminal, typed

OWN = ["--store", "a.db"]


@pytest.fixture
def thread(nodestep):
    """A thread with two open questions, one of them answered, and a fork."""
    nodestep("run", RELEASE, *OWN, "--thread", "r", "--input", "{}")
    nodestep("fork", "r", *OWN, "--from", "1-1", "--name", "over")
    nodestep(
        "answer", *OWN, "--pause", "1", "r", "legal:sign_off", "yes", "--by", "ana", "--note", "fine\x1b[2K\nby me"
    )


def is_there(nodestep):
    return nodestep("show", "r", *OWN).code == 0


def test_cancel_ends_a_thread_and_closes_its_questions(nodestep, thread):
    ended = nodestep("cancel", "r", *OWN, "--reason", "no longer wanted")
    assert (ended.code, ended.out) == (0, "cancelled  thread r\n  closed: security:sign_off\n")
    shown = nodestep("show", "r", *OWN, "--json").json
    assert (shown["status"], shown["questions"], shown["tasks"]) == ("cancelled", [], [])
    assert (
        nodestep("pending", *OWN, "--thread", "r").out == "No question is open in a.db for thread r; it is cancelled.\n"
    )
    again = nodestep("cancel", "r", *OWN)
    assert (again.code, "cancelled already" in again.told) == (6, True)
    gone_on = nodestep("run", RELEASE, *OWN, "--thread", "r")
    assert (gone_on.code, "as in `nodestep run TARGET --thread ID --input JSON`" in gone_on.told) == (6, True)


def test_cancel_takes_one_branch_and_tells_a_program(nodestep, thread):
    ended = nodestep("cancel", "r", *OWN, "--branch", "over", "--json")
    assert ended.json == {"thread_id": "r", "branch_id": "over", "status": "cancelled", "closed": []}
    assert nodestep("show", "r", *OWN, "--json").json["status"] == "interrupted"


def test_cancel_stops_a_run_at_its_next_write(tmp_path):
    for fifo in ("reached", "hold"):
        os.mkfifo(tmp_path / fifo)
    run = ["run", str(GRAPHS / "held.py"), *OWN, "--thread", "order-1"]
    process(*run, "--input", "{}", folder=tmp_path)
    process("answer", *OWN, "--pause", "1", "order-1", "yes", folder=tmp_path)
    reached = os.open(tmp_path / "reached", os.O_RDONLY | os.O_NONBLOCK)
    running = subprocess.Popen(
        command(*run, "--json"), cwd=tmp_path, env=environment(), stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
    )
    with running:
        assert select.select([reached], [], [], PATIENCE_S)[0]
        deleted = process("delete", "order-1", *OWN, "--yes", folder=tmp_path)
        assert (deleted.code, "ThreadBusyError" in deleted.told) == (4, True)
        edited = process("edit", str(GRAPHS / "held.py"), "order-1", *OWN, "--set", "{}", folder=tmp_path)
        assert (edited.code, "ThreadBusyError" in edited.told) == (4, True)
        cancelled = process("cancel", "order-1", *OWN, folder=tmp_path)
        assert cancelled.out == "cancelled  thread order-1\n  a run works on it; it stops at its next write\n"
        with open(tmp_path / "hold", "w"):
            pass
        out, _ = running.communicate(timeout=PATIENCE_S)
    os.close(reached)
    assert running.returncode == 1
    assert json.loads(out)["error"]["type"] == "ThreadCancelledError"
    assert process("show", "order-1", *OWN, "--json", folder=tmp_path).json["status"] == "cancelled"


def test_delete_needs_somebody_to_agree(nodestep, thread):
    ended = nodestep("delete", "r", *OWN)
    assert (ended.code, ended.out) == (2, "")
    assert "Thread r of graph Release goes for good: 2 branches" in ended.told
    assert "1 open question" in ended.told
    assert is_there(nodestep)
    as_json = nodestep("delete", "r", *OWN, "--json")
    assert (as_json.code, is_there(nodestep)) == (2, True)
    line = ended.err.split("$ ")[1]
    assert as_json.json["error"]["commands"] == [line.rstrip("\n")]
    done = nodestep(*typed(line))
    assert (done.code, done.out) == (0, "deleted  thread r\n")
    assert nodestep("show", "r", *OWN).code == 7
    assert nodestep("audit", "r", *OWN).code == 7
    assert nodestep("threads", *OWN, "--json").json["threads"] == []


def test_delete_tells_a_program_what_went(nodestep, thread):
    ended = nodestep("delete", "r", *OWN, "-y", "--json")
    assert ended.json == {"thread_id": "r", "deleted": True, "branches": ["main", "over"]}


@pytest.mark.parametrize("arguments", [["delete", "r"], ["prune", "r", "--keep", "1"]])
@pytest.mark.parametrize(("reply", "code"), [("", 130), ("n", 130), ("y", 0), ("yes", 0)])
def test_at_a_terminal_it_is_asked_first(nodestep, thread, tmp_path, arguments, reply, code):
    with terminal(*arguments, *OWN, folder=tmp_path) as seat:
        seat.sees("for good")
        seat.sees("? [y/N] ")
        seat.types(reply)
        assert seat.ends() == code
        assert ("Nothing was done." in seat.screen) is (code != 0)
    if code:
        assert is_there(nodestep)


@pytest.mark.parametrize("leaves", [lambda seat: seat.presses(b"\x04"), lambda seat: seat.stops()], ids=["D", "C"])
def test_the_end_of_input_is_no_agreement(nodestep, thread, tmp_path, leaves):
    with terminal("delete", "r", *OWN, folder=tmp_path) as seat:
        seat.sees("Delete it? [y/N] ")
        leaves(seat)
        assert seat.ends() == 130
        assert "Traceback" not in seat.screen
    assert is_there(nodestep)


def test_prune_frees_what_is_older_and_keeps_what_stands(nodestep, asks):
    asks()
    for thread_command in (["answer", "refund-1", "yes", "--pause", "1"], ["run", REFUND, "--thread", "refund-1"]):
        assert nodestep(*thread_command, *OWN).code == 0
    nodestep("run", REFUND, *OWN, "--thread", "refund-1", "--input", "{}")
    done = nodestep("prune", "refund-1", *OWN, "--keep", "1", "--yes")
    assert done.out == "pruned  thread refund-1: 6 commits freed, history begins at number 7\n"
    left = nodestep("history", "refund-1", *OWN)
    assert left.out.startswith("What came before was pruned.\n\n1-7")
    assert len(nodestep("audit", "refund-1", *OWN, "--json").json["decisions"]) == 1
    assert len(nodestep("pending", *OWN, "--json").json["questions"]) == 1
    gone = nodestep("diff", "refund-1", "1-2", *OWN)
    assert (gone.code, "UnknownEventError" in gone.told) == (7, True)
    again = nodestep("prune", "refund-1", *OWN, "--keep", "1", "--yes", "--json")
    assert again.json == {"thread_id": "refund-1", "branch_id": "main", "first": 7, "freed": 0}
    nothing = nodestep("prune", "refund-1", *OWN, "--keep", "1", "--yes")
    assert nothing.out == "Nothing to prune: thread refund-1 has no more supersteps than that.\n"


@pytest.mark.parametrize("keep", ["0", "-1", "x"])
def test_prune_keeps_at_least_one_superstep(nodestep, thread, keep):
    ended = nodestep("prune", "r", *OWN, f"--keep={keep}", "--yes")
    assert (ended.code, ended.out, "--keep" in ended.err) == (2, "", True)


# audit


def test_audit_tells_what_who_when_why_and_from_where(nodestep, thread):
    ended = nodestep("audit", *OWN)
    head, row, *note = ended.out.rstrip("\n").split("\n")
    assert head == "Decisions in a.db, oldest first, times in UTC:"
    assert row.endswith('  r  legal:sign_off = "yes" (text), by ana, from the command line, pause 1')
    assert note == [r"    │ fine\x1b[2K", "    │ by me"]
    of_one = nodestep("audit", "r", *OWN)
    assert "  r  " not in of_one.out
    (decision,) = nodestep("audit", "r", *OWN, "--json").json["decisions"]
    assert decision.pop("at").endswith("+00:00")
    assert decision == {
        "thread_id": "r",
        "branch_id": "main",
        "key": "legal:sign_off",
        "value": "yes",
        "source": "cli",
        "by": "ana",
        "note": "fine\x1b[2K\nby me",
        "pause": 1,
        "rejected": None,
    }


def test_audit_tells_expiries_as_what_they_are(nodestep):
    run = ["run", str(GRAPHS / "deadline.py"), *OWN, "--thread", "t"]
    nodestep(*run, "--input", "{}")
    nodestep(*run)
    (decision,) = nodestep("audit", "t", *OWN, "--json").json["decisions"]
    assert (decision["source"], decision["by"], decision["value"]) == ("expiry", None, "no")
    assert 'review:approve = "no" (text), by its deadline' in nodestep("audit", *OWN).out


def test_audit_comes_in_pages(nodestep, thread, asks):
    asks()
    nodestep("answer", *OWN, "--pause", "2", "refund-1", "no")
    nodestep("answer", *OWN, "--pause", "1", "r", "no")
    page = nodestep("audit", *OWN, "--limit", "2", "--json").json
    rest = nodestep("audit", *OWN, "--after", page["next"], "--json").json
    found = [(decision["thread_id"], decision["value"]) for decision in page["decisions"] + rest["decisions"]]
    assert found == [("r", "yes"), ("refund-1", "no"), ("r", "no")]
    *_, line = nodestep("audit", *OWN, "--limit", "2").out.rstrip("\n").split("\n")
    assert nodestep(*typed(line.removeprefix("  $ "))).code == 0


def test_audit_of_a_thread_without_decisions_says_so(nodestep, asks):
    asks()
    ended = nodestep("audit", "refund-1", *OWN)
    assert (ended.code, ended.out) == (0, "Nothing was decided in a.db of thread refund-1.\n")
