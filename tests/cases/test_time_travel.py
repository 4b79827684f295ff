"""Going back and another way from there. Ids are those of the collection of cases."""

from __future__ import annotations

import pytest

from nodestep import END, START, Command, NodeContext, Resume, ResumeError, interrupt
from tests.asking import refusal
from tests.history.making import asks, events, forked, open_keys, point, told, untouched
from tests.nesting import inside as nesting
from tests.nesting.inside import KINDS, path_of, put_inside
from tests.running.making import Log, does, of, run, says


@pytest.fixture
def ran() -> list[str]:
    return []


@pytest.fixture
def paused(store, ran):
    """Thread `t` waits for `review:ok` behind `draft`."""
    graph = of(START >> says("draft", ran) >> asks("review", ran) >> says("send", ran) >> END, state_store=store)
    graph.invoke({"n": 1}, thread_id="t")
    return graph


def test_tt_02_a_fork_of_a_paused_thread_goes_its_own_way_and_the_original_stays_pending(paused, store):
    branch = forked(paused, "interrupted")
    with untouched(store):
        no = paused.invoke(None, thread_id="t", branch_id=branch, resume=Resume("no"))
    assert open_keys(paused) == ["review:ok"]
    yes = paused.invoke(None, thread_id="t", resume=Resume("yes"))
    assert no.state.log == ["draft", "review: no", "send"]
    assert yes.state.log == ["draft", "review: yes", "send"]
    assert run(paused.load("t", branch_id=branch))["log"] == no.state.log


def test_tt_03_two_answers_in_two_forks_give_two_results(paused):
    results = [
        paused.invoke(None, thread_id="t", branch_id=forked(paused, "interrupted"), resume=Resume(answer)).state.log
        for answer in ("a", "b")
    ]
    assert results == [["draft", "review: a", "send"], ["draft", "review: b", "send"]]


def test_tt_04_a_thread_started_over_asks_only_the_questions_of_its_new_path(store, ran):
    def routes(state: Log):
        return Command(goto="refund" if state.n > 9 else "review")

    route = does("route", routes, goto=["refund", "review"])
    graph = of(START >> route, asks("review", ran) >> END, asks("refund", ran) >> END, state_store=store)
    graph.invoke({"n": 1}, thread_id="t")
    assert open_keys(graph) == ["review:ok"]

    branch = forked(graph, "run_started", name="again")
    graph.invoke({"n": 10}, thread_id="t", branch_id=branch)
    assert open_keys(graph, branch_id=branch) == ["refund:ok"]
    with refusal(store, ResumeError, "'review:ok'", "'refund:ok'", ran=ran, branch=branch):
        graph.invoke(None, thread_id="t", branch_id=branch, resume=Resume(answers={"review:ok": "yes"}))
    assert open_keys(graph, branch_id="main") == ["review:ok"]


def test_is_12_what_the_refusal_of_a_new_input_advises_works(paused, store, ran):
    with refusal(store, ResumeError, "fork the thread at an earlier event", ran=ran):
        paused.invoke({"n": 5}, thread_id="t")
    branch = forked(paused, "superstep_completed")
    again = paused.invoke({"n": 5}, thread_id="t", branch_id=branch)
    assert (again.status, again.state.n, again.state.log) == ("interrupted", 5, ["draft", "draft"])


@pytest.mark.parametrize("kind", KINDS)
def test_tt_05_a_fork_between_two_inner_questions_asks_the_second_again(store, ran, kind):
    nodes = (nesting.says("i1", ran), nesting.asks("a", ran), nesting.says("i2", ran), nesting.asks("b", ran))
    inner = nesting.chain("inner", *nodes)
    graph = nesting.chain("outer", put_inside(kind, inner), nesting.says("after", ran), state_store=store)
    graph.invoke({}, thread_id="t")
    for answer in ("A", "B"):
        done = graph.invoke(None, thread_id="t", resume=Resume(answer))
    assert done.state.log == ["i1", "a=A", "i2", "b=B", "after"]

    done_i2 = next(event for event in events(graph) if event.type == "node_completed" and event.node == "i2")
    branch = run(graph.fork("t", from_=done_i2.id.partition(".")[0])).id
    del ran[:]
    paused = graph.invoke(None, thread_id="t", branch_id=branch)
    assert list(paused.interrupts) == [f"{path_of(kind)}/b:ok"]
    other = graph.invoke(None, thread_id="t", branch_id=branch, resume=Resume("other"))

    assert other.state.log == ["i1", "a=A", "i2", "b=other", "after"]
    assert ran == ["b", "b", "after"]
    assert run(graph.load("t"))["log"] == ["i1", "a=A", "i2", "b=B", "after"]


def test_tt_06_event_ids_move_on_after_a_fork_and_no_event_of_either_branch_is_missing(paused):
    branch = forked(paused, "interrupted")
    ids = [point(paused, "forked", branch=branch)]
    ids.append(paused.invoke(None, thread_id="t", branch_id=branch, resume=Resume("no")).checkpoint_id or "")
    ids.append(paused.invoke({}, thread_id="t", branch_id=branch).checkpoint_id or "")
    paused.invoke(None, thread_id="t", resume=Resume("yes"))

    assert len(set(ids)) == 3
    shared = [event.id for event in events(paused) if event.sequence <= 3]
    assert [event.id for event in events(paused, branch=branch)][: len(shared)] == shared
    for name in ("main", branch):
        history = run(paused.history("t", branch_id=name))
        assert [event.sequence for event in history.events] == sorted(event.sequence for event in history.events)
        assert {event.sequence for event in history.events} == set(range(1, len(history.checkpoints) + 1))
    assert [at for at in run(paused.history("t", branch_id=branch)).checkpoints if at in ids] == ids
    assert told(paused).count("interrupted") == 1
    assert told(paused, branch=branch).count("interrupted") == 2
    (made,) = [made for made in run(paused.branches("t")) if made.id == branch]
    assert (made.parent_branch_id, made.from_event_id) == ("main", point(paused, "interrupted"))


def test_tt_07_an_edit_on_the_way_back_skips_no_question_and_the_route_uses_it(store, ran):
    def asking(state: Log):
        ran.append("ask")
        answer = interrupt(f"Pay {state.n}?", id="ok")
        return Command(update={"log": [answer]}, goto="large" if state.n > 100 else "small")

    ask = does("ask", asking, goto=["large", "small"])
    flow = (START >> says("draft", ran) >> ask, says("large", ran) >> END, says("small", ran) >> END)
    graph = of(*flow, state_store=store)
    graph.invoke({"n": 5}, thread_id="t")
    graph.invoke(None, thread_id="t", resume=Resume("yes"))
    assert run(graph.load("t"))["log"] == ["draft", "yes", "small"]

    branch = forked(graph, "superstep_completed")
    run(graph.update_state("t", {"n": 500}, branch_id=branch))
    del ran[:]
    again = graph.invoke(None, thread_id="t", branch_id=branch)
    assert [asked.payload for asked in again.interrupts.values()] == ["Pay 500?"]
    done = graph.invoke(None, thread_id="t", branch_id=branch, resume=Resume("yes"))
    assert (done.state.log, ran) == (["draft", "yes", "large"], ["ask", "ask", "large"])


def test_tt_08_a_cache_is_as_it_was_at_the_event(store):
    seen: list[dict[str, object]] = []

    def caching(state: Log, ctx: NodeContext):
        seen.append(dict(ctx.cache))
        ctx.cache["price"] = 42
        return {"log": [interrupt("?", id="ok")]}

    graph = of(START >> says("a") >> does("b", caching) >> END, state_store=store)
    graph.invoke({}, thread_id="t")
    graph.invoke(None, thread_id="t", resume=Resume("yes"))
    before, after = forked(graph, "superstep_completed"), forked(graph, "interrupted")
    graph.invoke(None, thread_id="t", branch_id=before)
    graph.invoke(None, thread_id="t", branch_id=after, resume=Resume("no"))
    assert seen == [{}, {"price": 42}, {}, {"price": 42}]


def test_tt_09_the_last_of_five_choices_is_changed_without_redoing_the_others(store, ran):
    steps = [asks(f"step{number}", ran) for number in range(5)]
    chain = START >> steps[0]
    for step in steps[1:]:
        chain = chain >> step
    graph = of(chain >> says("end", ran) >> END, state_store=store)
    graph.invoke({}, thread_id="t")
    for number in range(5):
        graph.invoke(None, thread_id="t", resume=Resume(number))
    branch = forked(graph, "interrupted", 4)
    del ran[:]
    done = graph.invoke(None, thread_id="t", branch_id=branch, resume=Resume("other"))
    assert ran == ["step4", "end"]
    assert done.state.log == ["step0: 0", "step1: 1", "step2: 2", "step3: 3", "step4: other", "end"]
    assert run(graph.load("t"))["log"][4] == "step4: 4"
