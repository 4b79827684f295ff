"""The main job: one process pauses, another answers, a third goes on, also when one of them is killed on the way."""

from __future__ import annotations

import os
import select
import signal
import subprocess

from .driving import GRAPHS, PATIENCE_S, command, environment, process

HELD = str(GRAPHS / "held.py")
THREAD = ["--store", "a.db", "--thread", "order-1"]


def killed_in_pay(folder, *arguments):
    """Start a command, and kill it once the node `pay` is in the middle of its work."""
    for fifo in ("reached", "hold"):
        os.mkfifo(folder / fifo)
    reached = os.open(folder / "reached", os.O_RDONLY | os.O_NONBLOCK)
    try:
        running = subprocess.Popen(
            command(*arguments), cwd=folder, env=environment(), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE
        )
        with running:
            ready, _, _ = select.select([reached], [], [], PATIENCE_S)
            running.send_signal(signal.SIGKILL)
            running.communicate(timeout=PATIENCE_S)
        assert ready, "the node was never reached"
        assert running.returncode == -signal.SIGKILL
    finally:
        os.close(reached)
        (folder / "hold").unlink()


def test_three_processes_share_nothing_but_the_file(tmp_path):
    paused = process("run", HELD, *THREAD, "--input", "{}", folder=tmp_path)
    assert paused.code == 3, paused
    listed = process("pending", "--store", "a.db", "--json", folder=tmp_path).json["questions"]
    assert [question["key"] for question in listed] == ["review:approve"]
    answer = ["answer", "--store", "a.db", "--pause", str(listed[0]["pause"]), "order-1", "review:approve", "yes"]
    assert process(*answer, folder=tmp_path).code == 0
    assert process(*answer, folder=tmp_path).code == 6
    done = process("run", HELD, *THREAD, "--json", folder=tmp_path)
    assert (done.code, done.json["state"]) == (0, {"answer": "yes", "paid": True})
    assert process("run", HELD, *THREAD, folder=tmp_path).code == 6
    assert (tmp_path / "ran").read_text().split() == ["check", "review", "pay"]


def test_a_killed_process_loses_no_answer_and_repeats_no_recorded_step(tmp_path):
    assert process("run", HELD, *THREAD, "--input", "{}", folder=tmp_path).code == 3
    answer = ["answer", "--store", "a.db", "--pause", "1", "order-1", "review:approve", "yes"]
    assert process(*answer, folder=tmp_path).code == 0
    killed_in_pay(tmp_path, "run", HELD, *THREAD)
    waits = process("pending", "--store", "a.db", "--thread", "order-1", folder=tmp_path)
    assert waits.out == "No question is open in a.db for thread order-1; it is unfinished.\n"
    done = process("run", HELD, *THREAD, "--json", folder=tmp_path)
    assert (done.code, done.json["state"]) == (0, {"answer": "yes", "paid": True})
    assert (tmp_path / "ran").read_text().split() == ["check", "review", "pay", "pay"]


def test_a_thread_that_a_living_process_works_on_is_busy(tmp_path):
    for fifo in ("reached", "hold"):
        os.mkfifo(tmp_path / fifo)
    assert process("run", HELD, *THREAD, "--input", "{}", folder=tmp_path).code == 3
    process("answer", "--store", "a.db", "--pause", "1", "order-1", "yes", folder=tmp_path)
    reached = os.open(tmp_path / "reached", os.O_RDONLY | os.O_NONBLOCK)
    running = subprocess.Popen(
        command("run", HELD, *THREAD, "--json"), cwd=tmp_path, env=environment(), stdout=subprocess.PIPE
    )
    with running:
        try:
            assert select.select([reached], [], [], PATIENCE_S)[0]
            busy = process("run", HELD, *THREAD, folder=tmp_path)
            assert (busy.code, "ThreadBusyError" in busy.told) == (4, True)
            late = process("answer", "--store", "a.db", "--pause", "1", "order-1", "no", folder=tmp_path)
            assert (late.code, "ThreadBusyError" in late.told) == (4, True)
        finally:
            with open(tmp_path / "hold", "w"):
                pass
            running.communicate(timeout=PATIENCE_S)
            os.close(reached)
    assert running.returncode == 0


def test_ctrl_c_while_a_node_runs_leaves_a_thread_that_can_be_continued(tmp_path):
    for fifo in ("reached", "hold"):
        os.mkfifo(tmp_path / fifo)
    process("run", HELD, *THREAD, "--input", "{}", folder=tmp_path)
    process("answer", "--store", "a.db", "--pause", "1", "order-1", "yes", folder=tmp_path)
    reached = os.open(tmp_path / "reached", os.O_RDONLY | os.O_NONBLOCK)
    running = subprocess.Popen(
        command("run", HELD, *THREAD), cwd=tmp_path, env=environment(), stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    with running:
        assert select.select([reached], [], [], PATIENCE_S)[0]
        running.send_signal(signal.SIGINT)
        _, told = running.communicate(timeout=PATIENCE_S)
    os.close(reached)
    assert running.returncode == 130, told
    assert b"Traceback" not in told
    assert b"What finished is recorded" in told
    (tmp_path / "hold").unlink()
    assert process("run", HELD, *THREAD, folder=tmp_path).code == 0
    assert (tmp_path / "ran").read_text().split() == ["check", "review", "pay", "pay"]


def test_a_reader_that_goes_away_is_no_error_of_ours(tmp_path):
    process("run", HELD, *THREAD, "--input", "{}", folder=tmp_path)
    running = subprocess.Popen(
        command("pending", "--store", "a.db"),
        cwd=tmp_path,
        env=environment(),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    with running:
        assert running.stdout is not None
        assert running.stderr is not None
        running.stdout.close()
        assert running.stderr.read() == b""
    assert running.returncode == 141
