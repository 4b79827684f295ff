"""The process of a cold resume: `python cold_resume.py PATH STEPS VARIANT` opens the store, builds the graph, answers the
question of its thread, and prints the seconds that took from the opening on."""

from __future__ import annotations

import json
import sys
import time

import this_checkout  # noqa: F401
from graphs import Chat, Resume, SQLiteStateStore, chain_to_a_question, chat, three_deep


def resume(path: str, steps: int, variant: str) -> float:
    begun = time.perf_counter()
    store = SQLiteStateStore(path)
    if variant == "chat":
        result = chat(Chat, steps, store, asks=True).invoke(None, thread_id="t", resume=Resume(1))
    elif variant == "nested":
        graph = three_deep(chain_to_a_question(steps), store)
        result = graph.invoke(None, thread_id="t", resume=Resume("yes"))
    else:
        result = chain_to_a_question(steps, store).invoke(None, thread_id="t", resume=Resume("yes"))
    seconds = time.perf_counter() - begun
    if variant == "chat":
        assert result.data["n"] == steps + 1
        assert len(result.data["messages"]) == steps
    else:
        assert (result.data["label"], result.data["counter"]) == ("yes", steps)
    return seconds


if __name__ == "__main__":
    cpu_s = time.process_time()
    seconds = resume(sys.argv[1], int(sys.argv[2]), sys.argv[3])
    print(json.dumps({"seconds": seconds, "cpu_s": time.process_time() - cpu_s}))
