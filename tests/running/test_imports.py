"""What a program loads: a graph in memory loads neither SQL nor its driver, and nothing that it does not use."""

from __future__ import annotations

import subprocess
import sys

FIRST_EXAMPLE = "from nodestep import END, START, BaseState, Graph, InMemoryStateStore, Resume, interrupt, node"
NOT_LOADED = {
    "apsw",
    "difflib",
    "importlib.metadata",
    "importlib.resources",
    "jsonschema",
    "nodestep.agents",
    "nodestep.chat",
    "nodestep.cli",
    "nodestep.flow.draw",
    "nodestep.flow.mermaid",
    "nodestep.flow.spec",
    "nodestep.middleware",
    "nodestep.model.template",
    "nodestep.nodes",
    "nodestep.runtime.checkpointed",
    "nodestep.runtime.editing",
    "nodestep.runtime.nested",
    "nodestep.sqlite_store",
    "nodestep.stores.sql",
    "nodestep.stores.sqlite",
    "pydantic.plugin._loader",
    "pydantic.root_model",
    "pydantic.type_adapter",
    "rich",
    "sqlite3",
    "typer",
}


def loaded_by(program: str) -> set[str]:
    told = f"{program}\nimport sys\nprint(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", told], capture_output=True, text=True, check=True)
    return set(done.stdout.split())


def test_the_first_example_loads_what_it_uses_and_no_more():
    loaded = loaded_by(FIRST_EXAMPLE)
    assert "nodestep.graph" in loaded
    assert loaded & NOT_LOADED == set()


def test_the_package_alone_loads_nothing_of_its_own():
    loaded = loaded_by("import nodestep")
    assert {name for name in loaded if name.startswith("nodestep.")} == set()
    assert "pydantic" not in loaded
