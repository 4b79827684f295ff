"""Graphs called inside nodes, many at once. In a process of its own, so that a hang harms no other test."""

from __future__ import annotations

import subprocess
import sys
import textwrap

PROGRAM = """
    from contextlib import suppress
    from threading import Barrier, BrokenBarrierError
    from typing import Annotated
    from nodestep import END, START, BaseState, Graph, Send, add, node

    N = 128
    met = Barrier(N)

    class Log(BaseState):
        log: Annotated[list[str], add] = []

    def says(name):
        return node(lambda state: {"log": [name]}, name=name)

    inner = Graph(Log).flow(START >> [says("x"), says("y")] >> says("z") >> END)

    @node(goto=["item"])
    def plan(state):
        return [Send("item") for _ in range(N)]

    @node
    def item(state):
        with suppress(BrokenBarrierError):
            met.wait(3)
        return {"log": inner.invoke({}).state.log}

    outer = Graph(Log).flow(START >> plan, item >> END)
    print(len(outer.invoke({}).state.log) == 3 * N)
"""


def test_more_nodes_than_threads_may_each_call_a_graph_that_needs_threads():
    ran = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(PROGRAM)], capture_output=True, text=True, timeout=6, check=False
    )

    assert (ran.stdout, ran.stderr) == ("True\n", "")
