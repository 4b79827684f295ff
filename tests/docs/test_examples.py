"""The examples run alone, and say in their first lines how to run them otherwise."""

from __future__ import annotations

import re
import subprocess
import sys

import pytest

from tests.docs.pages import ROOT
from tests.docs.running import run_command

EXAMPLES = sorted((ROOT / "examples").glob("*.py"))

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
