"""The examples run alone, and say in their first lines how to run them otherwise."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.chat.endpoint import call, said, serving
from tests.docs.pages import ROOT
from tests.docs.running import run_command

ASSISTANT = ROOT / "examples" / "assistant.py"
EXAMPLES = sorted(path for path in (ROOT / "examples").glob("*.py") if path != ASSISTANT)

ALONE = {
    "refund": """\
payment service: 20.00 for order A-1000
completed not above 50
interrupted {'question': 'Approve this refund?', 'order': 'A-1001', 'amount': 80.0}
payment service: 80.00 for order A-1001
completed a person said 'yes'
""",
    "release": """\
interrupted ['legal:sign_off', 'security:sign_off']
Legal: approve 2.1.0?

## 2.1.0
- Faster start.
- Fix a leak.
still open: legal:sign_off
uploading 2.1.0
completed {'legal': 'approved', 'security': 'approved'} True
""",
}


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda path: path.stem)
def test_an_example_runs_alone(example, tmp_path):
    ran = subprocess.run(
        [sys.executable, "-W", "error", str(example)],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert ran.stderr == ""
    assert ran.stdout == ALONE[example.stem]
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda path: path.stem)
def test_the_commands_in_an_example_pause_answer_and_complete(example, tmp_path):
    (tmp_path / "examples").symlink_to(example.parent)
    docstring = example.read_text(encoding="utf-8").split('"""')[1]
    commands = re.findall(r"^    (nodestep (?:.*\\\n)*.*)$", docstring, flags=re.MULTILINE)
    printed = [run_command(command, tmp_path) for command in commands]
    assert "\ninterrupted  thread" in f"\n{printed[0]}"
    assert "open in" in printed[1]
    assert all(text.startswith("recorded") for text in printed[2:-1])
    assert "\ncompleted  thread" in printed[-1]


def assist(folder: Path, url: str, typed: str) -> str:
    """What the assistant prints for what is typed."""
    ran = subprocess.run(
        [sys.executable, "-W", "error", str(ASSISTANT)],
        cwd=folder,
        env={**os.environ, "OPENAI_BASE_URL": url, "OPENAI_MODEL": "tiny", "OPENAI_API_KEY": "none"},
        input=typed,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert ran.stderr == ""
    return ran.stdout


def test_the_assistant_asks_any_endpoint_and_a_person_also_after_it_was_stopped(tmp_path):
    note = call("c1", "write_note", '{"name": "milk", "text": "Buy milk."}')
    with serving(said(calls=[note]), said("It is noted.")) as endpoint:
        stopped = assist(tmp_path, endpoint.url, "note: buy milk\n")
        assert "It wants to call write_note with {'name': 'milk', 'text': 'Buy milk.'}" in stopped
        assert list(tmp_path.glob("notes/*")) == []
        assert "It is noted." in assist(tmp_path, endpoint.url, "\n")
        assert (tmp_path / "notes" / "milk.txt").read_text() == "Buy milk."
    assert [request["messages"][-1]["role"] for request in endpoint.requests] == ["user", "tool"]


def test_the_assistant_says_which_variables_it_needs(tmp_path):
    environment = {name: value for name, value in os.environ.items() if not name.startswith("OPENAI")}
    ran = subprocess.run(
        [sys.executable, str(ASSISTANT)], cwd=tmp_path, env=environment, capture_output=True, text=True, check=False
    )
    assert ran.returncode == 1
    assert "OPENAI_BASE_URL" in ran.stderr
