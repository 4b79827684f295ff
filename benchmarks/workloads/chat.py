"""W5: a chat that grows by a message a step, in a SQLite file."""

from __future__ import annotations

import work
from graphs import Chat, ChatWithIds, SQLiteStateStore, chat
from harness import Clock, Marks, Row, file_bytes, new_path, workload

from .chain import empty_bytes


def _run(schema: type[Chat] | type[ChatWithIds], messages: int, *, reads: bool = False) -> Row:
    path, marks = new_path(), Marks()
    with SQLiteStateStore(path) as store:
        graph = chat(schema, messages, store, mark=marks, reads=reads)
        with Clock() as clock:
            result = graph.invoke({"n": 0, "messages": []}, thread_id="t")
        assert len(result.state.messages) == messages
    size = file_bytes(path)
    return clock.row(messages, **marks.growth(), bytes=size, beyond_empty=size - empty_bytes())


@workload("W5.sync")
def appends() -> Row:
    return _run(Chat, work.MESSAGES)


@workload("W5.sync.5000")
def appends_many() -> Row:
    return _run(Chat, work.MANY_MESSAGES)


@workload("W5.sync.add_messages")
def appends_with_ids() -> Row:
    return _run(ChatWithIds, work.MESSAGES)


@workload("W5.sync.add_messages.5000")
def appends_many_with_ids() -> Row:
    return _run(ChatWithIds, work.MANY_MESSAGES)


@workload("W5.sync.reads")
def reads() -> Row:
    """The node looks at the messages so far, and so gets a list of its own."""
    return _run(Chat, work.MESSAGES, reads=True)


@workload("W5.sync.reads.5000")
def reads_many() -> Row:
    return _run(Chat, work.MANY_MESSAGES, reads=True)
