"""What TARGET may name, and what it may not."""

from typing import Any

from nodestep import END, START, BaseState, Graph, InMemoryStateStore, SQLiteStateStore, interrupt, node


class Note(BaseState):
    text: str = ""


@node
def write(state: Note) -> dict[str, Any]:
    return {"text": "written"}


@node
def ask(state: Note) -> dict[str, Any]:
    return {"text": interrupt("What shall I write?", id="text")}


def make() -> Graph[Note]:
    return Graph(Note).flow(START >> write >> END)


def fail() -> Graph[Note]:
    raise LookupError("no settings")


async def make_later() -> Graph[Note]:
    return make()


class Shelf:
    graph = make()


def in_memory() -> Graph[Note]:
    return Graph(Note, state_store=InMemoryStateStore()).flow(START >> ask >> END)


def in_own_file() -> Graph[Note]:
    return Graph(Note, state_store=SQLiteStateStore("own.db")).flow(START >> ask >> END)


graph = make()
number = 12
unfinished = Graph(Note)
