"""Many processes resume one paused thread at once: exactly one has an effect, and every other is told so."""

from __future__ import annotations

import pytest

from tests.durability.racing import Race


@pytest.mark.parametrize("what", ["resume", "aresume"])
@pytest.mark.parametrize(("processes", "rounds"), [(2, 15), (10, 10)])
def test_of_many_resumes_exactly_one_has_an_effect(processes, rounds, what, quick):
    with Race(quick, processes) as race:
        for number in range(rounds):
            race.resume(f"t{number}", what)
    assert sum(race.losses.values()) == rounds * (processes - 1)


@pytest.mark.parametrize("what", ["resume", "aresume"])
def test_of_many_resumes_of_a_question_two_graphs_deep_exactly_one_has_an_effect(what, quick):
    with Race(quick, 6, "nested") as race:
        for number in range(6):
            race.resume(f"t{number}", what)
    assert sum(race.losses.values()) == 6 * 5


def test_of_ten_processes_that_continue_a_ready_thread_one_does(quick):
    with Race(quick, 10) as race:
        for number in range(5):
            thread = f"t{number}"
            race.graph.invoke({"thread": thread}, thread_id=thread)
            assert race.all("answer", thread).count("recorded") == 1
            assert race.all("go", thread).count("completed") == 1
    assert len(race.effects.done()) == 5


def test_of_ten_processes_that_start_a_thread_one_does(quick):
    with Race(quick, 10) as race:
        for number in range(5):
            assert race.all("start", f"t{number}").count("interrupted") == 1
