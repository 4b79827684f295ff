"""TARGET names a graph in a module or a file; what is wrong with it is told in a sentence, never as a traceback."""

from __future__ import annotations

import pytest

from .driving import GRAPHS, RELEASE

KINDS = str(GRAPHS / "kinds.py")


@pytest.mark.parametrize("name", ["", ":graph", ":make", ":Shelf.graph"])
def test_a_file_and_a_name_in_it_is_a_target(nodestep, name):
    ended = nodestep("run", KINDS + name, "--input", "{}", "--json")
    assert (ended.code, ended.json["state"]) == (0, {"text": "written"})


@pytest.mark.parametrize("target", ["notes", "notes:graph", "package.notes:graph", "package/notes.py:graph"])
def test_a_module_in_the_current_folder_is_a_target(nodestep, tmp_path, target):
    source = (GRAPHS / "kinds.py").read_text()
    (tmp_path / "package").mkdir()
    for file in (tmp_path / "notes.py", tmp_path / "package" / "notes.py"):
        file.write_text(source)
    ended = nodestep("run", target, "--input", "{}", "--json")
    assert ended.code == 0, ended


def test_a_file_finds_the_modules_beside_it_and_takes_the_place_of_none(nodestep, tmp_path):
    (tmp_path / "app").mkdir()
    (tmp_path / "app" / "neighbour.py").write_text((GRAPHS / "kinds.py").read_text())
    (tmp_path / "app" / "random.py").write_text("from neighbour import graph\n")
    ended = nodestep("run", "app/random.py", "--input", "{}", "--json")
    assert ended.code == 0, ended
    import random

    assert not random.__name__.startswith("app")


def test_a_file_with_one_graph_needs_no_name_whatever_it_is_called(nodestep, tmp_path):
    (tmp_path / "one.py").write_text(
        f"from runpy import run_path\nnotes = run_path({KINDS!r})['graph']\nsame = notes\n"
    )
    ended = nodestep("run", "one.py", "--input", "{}", "--json")
    assert (ended.code, ended.json["state"]) == (0, {"text": "written"})


@pytest.mark.parametrize(
    ("target", "words"),
    [
        ("several.py", ["has several graphs", "as in several.py:one", "Graphs there: one, two"]),
        ("app/notes.py", ["has no graph", "Name a Graph"]),
        ("nowhere.py", ["no file nowhere.py"]),
        ("nowhere", ["no module nowhere"]),
        ("app/notes", ["no file app/notes", "app/notes.py?"]),
        (f"{KINDS}:grahp", ["no grahp", "Did you mean 'graph'", "Graphs there:", "graph"]),
        (f"{KINDS}:number", ["is no Graph but of type int"]),
        (f"{KINDS}:make_later", ["is no Graph but of type function"]),
        (f"{KINDS}:unfinished", ["'Note' has no nodes yet"]),
        (f"{KINDS}:fail", ["LookupError: no settings", "kinds.py:", "--traceback"]),
        (f"{KINDS}:", ["module:graph"]),
        ("broken_syntax.py", ["SyntaxError", "broken_syntax.py:2"]),
        ("broken_import.py", ["ModuleNotFoundError", "no_such_module", "broken_import.py:1"]),
        ("leaves.py", ["SystemExit", "leaves.py:2"]),
        ("not a module", ["no module"]),
        ("..x", ["no module name"]),
    ],
)
def test_a_target_that_cannot_be_had_is_a_usage_error_in_a_sentence(nodestep, tmp_path, target, words):
    (tmp_path / "app").mkdir()
    (tmp_path / "app" / "notes.py").write_text("")
    (tmp_path / "broken_syntax.py").write_text("x = 1\ndef (:\n")
    (tmp_path / "broken_import.py").write_text("import no_such_module\n")
    (tmp_path / "leaves.py").write_text("import sys\nsys.exit('bye')\n")
    (tmp_path / "several.py").write_text(
        f"from runpy import run_path\none, two = [run_path({KINDS!r})['graph'] for _ in 'ab']\n"
    )
    ended = nodestep("draw", target)
    assert ended.code == 2, ended
    assert ended.out == ""
    assert "Traceback" not in ended.err
    for word in words:
        assert word in ended.told


def test_the_traceback_comes_when_it_is_asked_for(nodestep):
    ended = nodestep("draw", f"{KINDS}:fail", "--traceback")
    assert "Traceback (most recent call last)" in ended.err
    assert 'raise LookupError("no settings")' in ended.err


def test_what_a_module_prints_keeps_the_document_whole(nodestep, tmp_path):
    (tmp_path / "chatty.py").write_text(
        f"print('hello')\nfrom runpy import run_path\ngraph = run_path({RELEASE!r})['graph']\n"
    )
    ended = nodestep("draw", "chatty.py", "--json")
    assert ended.json["name"] == "Release"
    assert "hello" in ended.err
