"""`nodestep draw`."""

from __future__ import annotations

import json

from .driving import RELEASE


def test_a_graph_is_drawn_as_lines(nodestep):
    ended = nodestep("draw", RELEASE)
    assert (ended.code, ended.err) == (0, "")
    assert "START" in ended.out
    assert "══> " in ended.out or "──> legal" in ended.out


def test_a_graph_is_drawn_as_a_flowchart(nodestep):
    ended = nodestep("draw", RELEASE, "--format", "mermaid")
    assert ended.out.startswith("flowchart TD\n")


def test_a_graph_is_drawn_as_data(nodestep):
    by_format = nodestep("draw", RELEASE, "--format", "json")
    by_flag = nodestep("draw", RELEASE, "--json")
    assert by_format.json == by_flag.json
    assert by_flag.json["name"] == "Release"
    assert json.dumps(by_flag.json).isascii()


def test_a_picture_shows_nothing_harmful(nodestep, tmp_path):
    (tmp_path / "odd.py").write_text(
        "from nodestep import END, START, Graph, branch, node\n"
        "@node\n"
        "def pick(state): return {}\n"
        "def router(state): return 'x'\n"
        "graph = Graph(dict, name='odd').flow(START >> pick, pick >> branch(router, {'a\\u200b\\u202e\\x1b[2K': END}))\n"
    )
    ended = nodestep("draw", "odd.py")
    assert ended.code == 0, ended
    assert ended.out.isprintable() or all(line.isprintable() for line in ended.out.split("\n"))
    assert "\\u202e" in ended.out
