"""The examples of the interrupts page run unchanged and print what the page says."""

import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLES = sorted((Path(__file__).parent / "interrupts").glob("*.py"))


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda path: path.stem)
def test_an_example_of_the_page_prints_what_the_page_says(example):
    ran = subprocess.run([sys.executable, str(example)], capture_output=True, text=True, timeout=60, check=False)
    assert ran.stderr == ""
    assert ran.stdout == example.with_suffix(".out").read_text()
