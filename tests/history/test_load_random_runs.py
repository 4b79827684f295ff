"""Whatever a run did, each of its checkpoints shows what the run saw there."""

from __future__ import annotations

from itertools import count
from typing import Any

from hypothesis import HealthCheck, given, settings

from nodestep import Resume
from tests.history.random_runs import SCRIPTS, Drawn, Script, drawn
from tests.running.making import run

FEW = settings(max_examples=8, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
NUMBERS = count()


def lived(script: Script, store: Any, thread: str) -> list[tuple[str, dict[str, Any]]]:
    """Run a script to its end, answering what it asks; for each event that was reported the state that went with it."""
    graph = drawn(script, store)
    seen: list[tuple[str, dict[str, Any]]] = []
    input: Any = {"log": ["in"]}
    resume = None
    while True:
        for event in graph.stream(input, thread_id=thread, stream_mode="values", resume=resume):
            state = event.data if event.mode == "values" else event.data.state
            seen.append((event.checkpoint_id, state))  # type: ignore[arg-type]
        if event.mode == "final":
            return seen
        input, resume = None, Resume(answers={key: f"to {key}" for key in event.data.interrupts})


@FEW
@given(script=SCRIPTS)
def test_every_checkpoint_shows_what_the_run_saw(store, script):
    thread = f"t{next(NUMBERS)}"
    graph = drawn(script, store)
    for at, state in lived(script, store, thread):
        assert run(graph.load(thread, at)) == Drawn(**state).model_dump()
        assert run(graph.get_state(thread, at)).value == Drawn(**state)


@FEW
@given(script=SCRIPTS)
def test_a_fork_of_any_checkpoint_comes_to_the_same_end(store, script):
    """What was answered is answered again in the same way."""
    thread = f"t{next(NUMBERS)}"
    graph = drawn(script, store)
    lived(script, store, thread)
    end = run(graph.load(thread))
    history = run(graph.history(thread))
    for at in history.checkpoints[:-1]:
        branch = run(graph.fork(thread, from_=at)).id
        assert run(graph.load(thread, branch_id=branch)) == run(graph.load(thread, at))
        while run(graph.load(thread, branch_id=branch)) != end:
            open_now = [asked.key for asked in run(graph.pending(thread, branch_id=branch)).items]
            resume = Resume(answers={key: f"to {key}" for key in open_now}) if open_now else None
            graph.invoke(None, thread_id=thread, branch_id=branch, resume=resume)
    assert run(graph.history(thread)) == history
