"""`nodestep fork` and `nodestep edit`: another way from an earlier moment, and nothing of the first way changed."""

from __future__ import annotations

import json

import pytest

from .driving import GRAPHS, REFUND, RELEASE, typed

STEPS = str(GRAPHS / "steps.py")
ROUTED = f"{STEPS}:routed"
OWN = ["--store", "a.db"]


@pytest.fixture
def go(nodestep):
    """Continues a thread on a branch; how it ended, as a document."""

    def on(target, thread, branch="main", *more):
        return nodestep("run", target, *OWN, "--thread", thread, "--branch", branch, *more, "--json").json

    return on


@pytest.fixture
def say(nodestep):
    """Answers the only open question of a branch."""

    def answer(thread, value, branch="main"):
        look = nodestep("show", thread, *OWN, "--branch", branch, "--json").json
        (question,) = look["questions"]
        given = ["--branch", branch, "--pause", str(question["pause"])]
        ended = nodestep("answer", *OWN, *given, thread, question["key"], value)
        assert ended.code == 0, ended

    return answer


def events(nodestep, thread, branch="main"):
    return nodestep("history", thread, *OWN, "--branch", branch, "--limit", "1000", "--json").json["events"]


def event(nodestep, thread, kind, number=0):
    """The id of the number-th event of a kind."""
    return [found["id"] for found in events(nodestep, thread) if found["type"] == kind][number]


def test_a_fork_says_where_it_stands_and_how_to_go_on(nodestep, asks):
    asks()
    paused = nodestep("fork", "refund-1", *OWN, "--from", "1-3")
    assert (paused.code, paused.err) == (0, "")
    assert paused.out == (
        "forked  branch fork-1 of thread refund-1, from 1-3 of main\n"
        "  it is interrupted, and waits for answers:\n"
        "    $ nodestep answer --store a.db --branch fork-1 --pause 1 refund-1 review:approve VALUE\n"
    )
    before = nodestep("fork", "refund-1", *OWN, "--from", "1-2", "--name", "before it")
    assert before.out == (
        'forked  branch "before it" of thread refund-1, from 1-2 of main\n'
        "  it is unfinished; continue it:\n"
        "    $ nodestep run TARGET --store a.db --branch 'before it' --thread refund-1\n"
    )
    again = typed(before.out.split("$ ")[1])
    assert nodestep(*[REFUND if word == "TARGET" else word for word in again]).code == 3


def test_a_fork_at_an_event_inside_a_commit_says_where_it_stands(nodestep, asks):
    asks()
    inside = event(nodestep, "refund-1", "superstep_started")
    stands = nodestep("fork", "refund-1", *OWN, "--from", inside, "--json").json["from_event_id"]
    assert stands != inside
    assert nodestep("fork", "refund-1", *OWN, "--from", inside).out.startswith(
        f"forked  branch fork-2 of thread refund-1, from {stands} of main\n"
        f"  a branch begins at a commit; the last one at event {inside} is {stands}\n"
    )


def test_a_fork_is_one_document_for_a_program(nodestep, asks):
    asks()
    forked = nodestep("fork", "refund-1", *OWN, "--from", "1-3", "--json").json
    assert forked.pop("created_at").endswith("+00:00")
    assert forked == {
        "thread_id": "refund-1",
        "branch_id": "fork-1",
        "parent_branch_id": "main",
        "from_event_id": "1-3",
        "status": "interrupted",
    }


def test_an_event_says_itself_which_branch_it_is_of(nodestep, asks, say, go):
    asks()
    nodestep("fork", "refund-1", *OWN, "--from", "1-3", "--name", "a")
    say("refund-1", "yes", "a")
    ended = nodestep("fork", "refund-1", *OWN, "--from", "2-5", "--name", "b")
    assert "from 2-5 of a" in ended.out
    assert "it is ready; continue it:" in ended.out
    assert go(REFUND, "refund-1", "b")["state"]["answer"] == "yes"


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        (["--from", "1-99"], 7, ["1-99", "`nodestep history` lists the ids"]),
        (["--from", "latest"], 7, ["latest"]),
        (["--from", "1-3", "--branch", "nowhere"], 7, ["nowhere"]),
        (["--from", "1-3", "--name", "main"], 2, ["main", "nothing was forked"]),
        (["--from", "1-3", "--name", "x" * 513], 5, ["512 characters"]),
        ([], 2, ["--from"]),
    ],
)
def test_a_fork_that_cannot_be_is_told_and_makes_nothing(nodestep, asks, arguments, code, words):
    asks()
    ended = nodestep("fork", "refund-1", *OWN, *arguments)
    assert (ended.code, ended.out) == (code, "")
    for word in words:
        assert word in ended.told
    assert len(nodestep("show", "refund-1", *OWN, "--json").json["branches"]) == 1


def test_tt_02_a_fork_of_a_paused_thread_is_answered_on_its_own(nodestep, asks, say, go):
    asks()
    nodestep("fork", "refund-1", *OWN, "--from", "1-3", "--name", "other")
    say("refund-1", "no", "other")
    assert go(REFUND, "refund-1", "other")["state"]["answer"] == "no"
    still = nodestep("pending", *OWN, "--json").json["questions"]
    assert [(question["branch_id"], question["key"]) for question in still] == [("main", "review:approve")]
    say("refund-1", "yes")
    assert go(REFUND, "refund-1")["state"]["answer"] == "yes"
    assert nodestep("show", "refund-1", *OWN, "--branch", "other", "--json").json["state"]["answer"] == "no"


def test_tt_03_two_forks_take_two_answers_to_one_question(nodestep, asks, say, go):
    asks()
    for value in ("a", "b"):
        nodestep("fork", "refund-1", *OWN, "--from", "1-3", "--name", value)
        say("refund-1", value, value)
    assert [go(REFUND, "refund-1", value)["state"]["answer"] for value in ("a", "b")] == ["a", "b"]


def test_tt_04_a_paused_thread_is_started_over_from_before_the_pause(nodestep, asks, go):
    asks()
    refused = nodestep("run", REFUND, *OWN, "--thread", "refund-1", "--input", '{"payload": "Other?"}')
    assert refused.code == 6
    nodestep("fork", "refund-1", *OWN, "--from", "1-1", "--name", "over")
    over = go(REFUND, "refund-1", "over", "--input", '{"payload": "Other?"}')
    assert [question["payload"] for question in over["questions"]] == ["Other?"]
    on_it = nodestep("show", "refund-1", *OWN, "--branch", "over", "--json").json["questions"]
    assert [question["payload"] for question in on_it] == ["Other?"]
    assert on_it[0]["pause"] == 2
    stale = nodestep("answer", *OWN, "--branch", "over", "--pause", "1", "refund-1", "review:approve", "yes")
    assert (stale.code, "ResumeError" in stale.told) == (6, True)


def test_tt_06_every_step_of_a_fork_has_an_event_of_its_own(nodestep, asks, say, go):
    asks()
    nodestep("fork", "refund-1", *OWN, "--from", "1-3", "--name", "other")
    for branch in ("main", "other"):
        say("refund-1", branch, branch)
        go(REFUND, "refund-1", branch)
        go(REFUND, "refund-1", branch, "--input", json.dumps({"payload": f"again {branch}"}))
    main, other = events(nodestep, "refund-1"), events(nodestep, "refund-1", "other")
    for told in (main, other):
        ids = [found["id"] for found in told]
        assert len(set(ids)) == len(ids)
        assert [found["sequence"] for found in told] == sorted(found["sequence"] for found in told)
    shared = [found["id"] for found in main if found["sequence"] <= 3]
    assert [found["id"] for found in other][: len(shared)] == shared
    assert {found["id"].split("-")[0] for found in other[len(shared) :]} == {"2"}
    assert [found["type"] for found in other if found["type"] != "forked"] == [found["type"] for found in main]


def test_tt_07_an_edit_on_the_way_back_is_seen_and_the_question_still_asked(nodestep, say, go):
    nodestep("run", ROUTED, *OWN, "--thread", "t", "--input", "{}")
    first = event(nodestep, "t", "superstep_completed")
    nodestep("fork", "t", *OWN, "--from", first, "--name", "dear")
    edited = nodestep("edit", ROUTED, "t", *OWN, "--branch", "dear", "--set", '{"amount": 500}')
    assert edited.out == "edited  thread t, branch dear, event 2-4\n  changed  amount  50 -> 500\n"
    asked = go(ROUTED, "t", "dear")
    assert [question["payload"] for question in asked["questions"]] == ["Book for 500?"]
    say("t", "ok", "dear")
    gate = go(ROUTED, "t", "dear")
    assert [question["payload"] for question in gate["questions"]] == ["Pay 500?"]
    say("t", "no", "dear")
    assert go(ROUTED, "t", "dear")["state"]["outcome"] == "refused 500"
    say("t", "ok")
    assert go(ROUTED, "t")["state"]["outcome"] == "paid 50"


def test_tt_09_only_the_last_of_five_choices_is_made_anew(nodestep, say, go, tmp_path):
    nodestep("run", STEPS, *OWN, "--thread", "t", "--input", "{}")
    for stop in "abcde":
        say("t", stop)
        end = go(STEPS, "t")
    assert end["state"]["stops"] == list("abcde")
    (tmp_path / "ran").unlink()
    fifth = event(nodestep, "t", "interrupted", 4)
    nodestep("fork", "t", *OWN, "--from", fifth, "--name", "other")
    say("t", "x", "other")
    assert go(STEPS, "t", "other")["state"]["stops"] == list("abcdx")
    assert (tmp_path / "ran").read_text().split() == ["ask5"]


# edit


def test_an_edit_passes_the_reducers_and_shows_what_changed(nodestep):
    nodestep("run", RELEASE, *OWN, "--thread", "r", "--input", '{"sign_offs": ["ops: yes"]}')
    ended = nodestep("edit", RELEASE, "r", *OWN, "--set", '{"sign_offs": ["qa: yes"]}', "--json")
    assert ended.json["changes"] == [{"path": ["sign_offs", 1], "change": "added", "after": "qa: yes"}]
    assert nodestep("show", "r", *OWN, "--json").json["status"] == "interrupted"
    assert nodestep("diff", "r", "1-1", *OWN).out.endswith('  added    sign_offs[1]  "qa: yes"\n')


def test_an_edit_takes_its_values_from_a_file_or_standard_input(nodestep, asks, tmp_path):
    asks()
    (tmp_path / "set.json").write_text('{"answer": 1}')
    assert nodestep("edit", REFUND, "refund-1", *OWN, "--set", "@set.json").out.endswith("answer  null -> 1\n")
    assert nodestep("edit", REFUND, "refund-1", *OWN, "--set", "-", stdin=b'{"answer": 2}').code == 0
    assert nodestep("show", "refund-1", *OWN, "--json").json["state"]["answer"] == 2
    same = nodestep("edit", REFUND, "refund-1", *OWN, "--set", '{"answer": 2}')
    assert same.out.endswith("  the state is as it was\n")


def test_an_edit_can_make_a_thread(nodestep):
    unknown = nodestep("edit", RELEASE, "new", *OWN, "--set", "{}")
    assert (unknown.code, "There is no store a.db" in unknown.told) == (7, True)
    made = nodestep("edit", RELEASE, "new", *OWN, "--set", '{"sign_offs": ["a"]}', "--create")
    assert made.out == 'edited  thread new, event 1-1\n  added    sign_offs  ["a"]\n'
    other = nodestep("edit", RELEASE, "other", *OWN, "--set", "{}")
    assert (other.code, "--create makes a thread" in other.told) == (7, True)
    assert nodestep("show", "new", *OWN, "--json").json["status"] == "completed"


@pytest.mark.parametrize(
    ("values", "code", "words"),
    [
        ('{"nowhere": 1}', 2, ["StateUpdateError", "nowhere"]),
        ('{"sign_offs": "a"}', 2, ["StateUpdateError", "sign_offs"]),
        ("[]", 2, ["--set takes a JSON object"]),
        ("{", 2, ["--set is no JSON"]),
    ],
)
def test_an_edit_that_does_not_fit_the_state_is_refused(nodestep, values, code, words):
    nodestep("run", RELEASE, *OWN, "--thread", "r", "--input", "{}")
    before = events(nodestep, "r")
    ended = nodestep("edit", RELEASE, "r", *OWN, "--set", values)
    assert (ended.code, ended.out) == (code, "")
    for word in words:
        assert word in ended.told
    assert events(nodestep, "r") == before


def test_an_edit_of_what_a_finished_task_replaces_is_refused(nodestep, tmp_path):
    (tmp_path / "two.py").write_text(
        "from nodestep import END, START, BaseState, Graph, interrupt, node\n"
        "class State(BaseState):\n"
        "    total: int = 0\n"
        "@node\n"
        "def counts(state: State) -> dict: return {'total': 1}\n"
        "@node\n"
        "def asks(state: State) -> dict: return interrupt('?', id='q') and {}\n"
        "graph = Graph(State).flow(START >> [counts, asks], counts >> END, asks >> END)\n"
    )
    nodestep("run", "two.py", *OWN, "--thread", "t", "--input", "{}")
    ended = nodestep("edit", "two.py", "t", *OWN, "--set", '{"total": 7}')
    assert (ended.code, "InvalidUpdateError" in ended.told) == (6, True)
    assert "so this edit cannot write it now" in ended.told
    assert nodestep("show", "t", *OWN, "--json").json["tasks"][0]["wait"] == "done"


def test_an_edit_without_a_store_asks_the_store_of_the_graph(nodestep):
    kinds = f"{GRAPHS / 'kinds.py'}:in_own_file"
    nodestep("run", kinds, "--thread", "t", "--input", "{}")
    ended = nodestep("edit", kinds, "t", "--set", '{"text": "edited"}')
    assert ended.out == "edited  thread t, event 1-3\n"
    assert nodestep("show", "t", "--store", "own.db", "--json").json["state"] == {"text": "edited"}
    none = nodestep("edit", f"{GRAPHS / 'kinds.py'}", "t", "--set", "{}")
    assert (none.code, "Give --store FILE" in none.told) == (2, True)
