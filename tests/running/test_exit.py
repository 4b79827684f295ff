"""A program ends when it is done, whatever it left behind."""

from __future__ import annotations

import subprocess
import sys
import textwrap

import pytest

PROGRAM = """
    import asyncio, sys, threading
    from nodestep import END, START, Graph, GraphExecutionError, SQLiteStateStore, node

    @node(timeout=0.05)
    def stuck(state):
        threading.Event().wait()

    graph = Graph(dict, name="stuck", state_store=SQLiteStateStore(sys.argv[1])).flow(START >> stuck >> END)
    try:
        if sys.argv[2] == "invoke":
            graph.invoke({}, thread_id="t")
        else:
            asyncio.run(graph.ainvoke({}, thread_id="t"))
    except GraphExecutionError as error:
        print(type(error).__name__)
"""


@pytest.mark.parametrize("form", ["invoke", "ainvoke"])
def test_a_node_left_behind_does_not_keep_the_program_from_ending(form, tmp_path):
    ran = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(PROGRAM), str(tmp_path / "threads.db"), form],
        capture_output=True,
        text=True,
        timeout=20,
        check=False,
    )

    assert (ran.returncode, ran.stdout, ran.stderr) == (0, "NodeTimeoutError\n", "")
