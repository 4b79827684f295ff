"""The page of the interrupt node: its sample runs unchanged but for the imports, and its table of attributes holds."""

from __future__ import annotations

import inspect
import re
import subprocess
import sys
from pathlib import Path

from nodestep import GraphInterrupt

SAMPLE = Path(__file__).parent / "interrupt_node" / "sample.py"
ON_THE_PAGE = """
    try:
        await graph.run(state, checkpointer=cp, checkpoint_id="run-1")
    except GraphInterrupt as interrupt:
        print(interrupt.prompt)
        value = input("> ")
        await graph.run(
            state, checkpointer=cp, checkpoint_id="run-1", resume=value
        )
"""


def without_layout(text: str) -> str:
    return "".join(re.sub(r"#.*", "", text).split()).replace(",)", ")")


def test_the_sample_holds_the_lines_of_the_page():
    assert without_layout(ON_THE_PAGE) in without_layout(SAMPLE.read_text())


def test_the_sample_runs():
    ran = subprocess.run(
        [sys.executable, str(SAMPLE)], input="yes\n", capture_output=True, text=True, timeout=60, check=False
    )
    assert ran.stderr == ""
    assert ran.stdout == SAMPLE.with_suffix(".out").read_text()


def test_the_signal_is_made_as_on_the_page():
    parameters = inspect.signature(GraphInterrupt).parameters
    assert {name: parameter.default for name, parameter in parameters.items()} == {
        "key": inspect.Parameter.empty,
        "prompt": "",
        "node_id": None,
        "checkpoint_id": None,
    }


def test_the_signal_has_the_attributes_of_the_page():
    signal = GraphInterrupt("approved", "Publish?", "review", "run-1")

    assert str(signal) == "workflow paused for input: Publish?"
    assert (signal.key, signal.prompt, signal.node_id, signal.checkpoint_id) == (
        "approved",
        "Publish?",
        "review",
        "run-1",
    )
    assert signal.nested_checkpoint_id is None
    assert str(GraphInterrupt("approved")) == "workflow paused for input: approved"
