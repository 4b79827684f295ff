"""What a program loads: a graph in memory loads neither SQL nor its driver, and nothing that it does not use."""

from __future__ import annotations

import subprocess
import sys

FIRST_EXAMPLE = "from nodestep import END, START, BaseState, Graph, InMemoryStateStore, Resume, interrupt, node"
NOT_LOADED = {
    "apsw",
    "asyncio",
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

AS_A_WHOLE = f"""
from nodestep import SQLiteStateStore
{FIRST_EXAMPLE}

class Post(BaseState):
    text: str = ""

@node
def write(state: Post) -> dict:
    return {{"text": "Sunday"}}

@node
def review(state: Post) -> dict:
    return {{"text": interrupt(state.text, id="publish")}}

for store in (InMemoryStateStore(), SQLiteStateStore(FILE)):
    posts = Graph(Post, state_store=store).flow(START >> write >> review >> END)
    posts.invoke({{}}, thread_id="post-1")
    assert posts.invoke(None, thread_id="post-1", resume=Resume("yes")).status == "completed"
"""


def loaded_by(program: str) -> set[str]:
    told = f"{program}\nimport sys\nprint(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", told], capture_output=True, text=True, check=True)
    return set(done.stdout.split())


def test_the_first_example_loads_what_it_uses_and_no_more():
    loaded = loaded_by(FIRST_EXAMPLE)
    assert "nodestep.graph" in loaded
    assert loaded & NOT_LOADED == set()


def test_a_program_that_only_calls_invoke_loads_no_asyncio(tmp_path):
    assert "asyncio" not in loaded_by(AS_A_WHOLE.replace("FILE", repr(str(tmp_path / "posts.db"))))


def test_the_package_alone_loads_nothing_of_its_own():
    loaded = loaded_by("import nodestep")
    assert {name for name in loaded if name.startswith("nodestep.")} == set()
    assert "pydantic" not in loaded
