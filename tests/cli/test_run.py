"""`nodestep run`: how a run ends is told by a word, by the exit code, and by what can be typed next."""

from __future__ import annotations

import json

import pytest

from nodestep.people import history, inbox
from nodestep.stores.sqlite import SQLiteStateStore

from .driving import GRAPHS, REFUND, RELEASE, process, shell, typed

BROKEN = str(GRAPHS / "broken.py")
KINDS = str(GRAPHS / "kinds.py")


def test_a_run_to_the_end_prints_the_state_and_ends_with_0(nodestep):
    ended = nodestep("run", KINDS, "--input", "{}")
    assert ended.code == 0
    assert ended.out.startswith("completed  thread ")
    assert '│   "text": "written"' in ended.out
    assert ended.err == "  step 0  write\n"


def test_a_pause_prints_the_question_and_the_commands_and_ends_with_3(nodestep):
    ended = nodestep("run", REFUND, "--store", "a.db", "--thread", "refund-1", "--input", "{}")
    assert ended.code == 3
    assert ended.out == (
        "interrupted  thread refund-1 waits for 1 answer\n"
        "  asks review:approve (pause 1)\n"
        "    │ Approve the refund?\n"
        "    $ nodestep answer --store a.db --pause 1 refund-1 review:approve VALUE\n"
        "VALUE is text; write -j before it for JSON. Then continue with:\n"
        f"  $ nodestep run {REFUND} --store a.db --thread refund-1\n"
    )


def test_cl_04_the_three_outcomes_differ_by_word_and_exit_code(tmp_path):
    run = f"nodestep run '{REFUND}' --store a.db --thread t --quiet"
    paused = shell(f"{run} --input '{{}}' && echo and so on", folder=tmp_path)
    assert (paused.code, "and so on" in paused.out) == (3, False)
    assert paused.out.startswith("interrupted ")
    failed = shell(f"nodestep run '{BROKEN}' --store a.db --thread f --input '{{}}' && echo and so on", folder=tmp_path)
    assert (failed.code, "and so on" in failed.out) == (1, False)
    assert failed.out.startswith("failed ")
    answered = "nodestep answer --store a.db --pause 1 t review:approve yes"
    done = shell(f"{answered} && {run} && echo and so on", folder=tmp_path)
    assert (done.code, "and so on" in done.out) == (0, True)
    assert "\ncompleted " in done.out


def test_st_06_a_paused_thread_is_interrupted_everywhere(nodestep, asks):
    asks()
    again = nodestep("run", REFUND, "--store", "a.db", "--thread", "refund-1")
    as_json = nodestep("run", REFUND, "--store", "a.db", "--thread", "refund-1", "--json")
    assert (again.code, again.out.split()[0]) == (3, "interrupted")
    assert (as_json.code, as_json.json["status"]) == (3, "interrupted")
    assert again.err == as_json.err == ""


def test_continuing_a_paused_thread_runs_nothing(nodestep, asks, tmp_path):
    asks()
    with SQLiteStateStore(tmp_path / "a.db") as store:
        before = store.head("refund-1", "main")
        nodestep("run", REFUND, "--store", "a.db", "--thread", "refund-1")
        assert store.head("refund-1", "main") == before


def test_new_input_on_a_paused_thread_is_refused_with_the_commands_that_answer(nodestep, asks):
    asks()
    ended = nodestep("run", REFUND, "--store", "a.db", "--thread", "refund-1", "--input", "{}")
    assert ended.code == 6
    assert "takes answers, no new input" in ended.told
    assert "$ nodestep answer --store a.db --pause 1 refund-1 review:approve VALUE" in ended.err


def test_an_answered_thread_goes_on(nodestep, asks):
    pause = asks()
    nodestep("answer", "--store", "a.db", "--pause", str(pause), "refund-1", "review:approve", "yes")
    ended = nodestep("run", REFUND, "--store", "a.db", "--thread", "refund-1", "--json")
    assert (ended.code, ended.json["status"], ended.json["state"]["answer"]) == (0, "completed", "yes")


def test_a_half_answered_thread_does_not_go_on(nodestep):
    nodestep("run", RELEASE, "--store", "a.db", "--thread", "r", "--input", "{}")
    nodestep("answer", "--store", "a.db", "--pause", "1", "r", "legal:sign_off", "yes")
    ended = nodestep("run", RELEASE, "--store", "a.db", "--thread", "r", "--json")
    assert ended.code == 3
    assert [question["key"] for question in ended.json["questions"]] == ["security:sign_off"]


@pytest.mark.parametrize("where", ["file", "standard input"])
def test_input_comes_from_a_file_or_from_standard_input(nodestep, tmp_path, where):
    (tmp_path / "in.json").write_text('\ufeff{"payload": "from there"}\n')
    given = "@in.json" if where == "file" else "-"
    stdin = (tmp_path / "in.json").read_bytes() if where != "file" else b""
    ended = nodestep("run", REFUND, "--store", "a.db", "--thread", "t", "--input", given, "--json", stdin=stdin)
    assert ended.json["questions"][0]["payload"] == "from there"


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ("", ["--input is no JSON"]),
        ("{payload: 1}", ["--input is no JSON", "It begins"]),
        ("null", ["JSON object of state fields", "not null"]),
        ("[1]", ["not list"]),
        ('"text"', ["not text"]),
        ('{"a": 1, "a": 2}', ["the key a comes twice"]),
        ('{"a": NaN}', ["NaN is no number of JSON"]),
        ("@nowhere.json", ["nowhere.json", "cannot be read"]),
        ('{"payload": 1, "colour": 2}', ["colour", "the input"]),
    ],
)
def test_input_that_is_none_is_refused_before_anything_is_written(nodestep, tmp_path, given, words):
    ended = nodestep("run", REFUND, "--store", "a.db", "--thread", "t", "--input", given)
    assert ended.code == 2, ended
    for word in words:
        assert word in ended.told
    if (tmp_path / "a.db").exists():
        with SQLiteStateStore(tmp_path / "a.db") as store:
            assert store.head("t", "main") is None


def test_a_bad_target_makes_no_store(nodestep, tmp_path):
    nodestep("run", "nowhere.py", "--store", "a.db", "--thread", "t", "--input", "{}")
    assert not (tmp_path / "a.db").exists()


@pytest.mark.parametrize(
    ("given", "more"),
    [
        ('{"amount": "much"}', []),
        ('{"nowhere": 1}', []),
        ("{}", ["--branch", "other"]),
        ("{}", ["--thread", "a" * 513]),
    ],
)
def test_a_first_input_that_is_refused_makes_no_store(nodestep, tmp_path, given, more):
    ended = nodestep("run", REFUND, "--store", "new.db", "--thread", "t", "--input", given, *more)
    assert ended.code in (2, 5, 7)
    assert list(tmp_path.glob("*.db*")) == []


def test_a_kept_run_needs_a_thread(nodestep, tmp_path):
    ended = nodestep("run", KINDS, "--store", "a.db", "--input", "{}")
    assert (ended.code, "--thread ID" in ended.told) == (2, True)
    assert not (tmp_path / "a.db").exists()


def test_a_thread_that_no_store_keeps_is_refused(nodestep):
    ended = nodestep("run", KINDS, "--thread", "t", "--input", "{}")
    assert (ended.code, ended.out, "--store FILE" in ended.told) == (2, "", True)
    assert "step 0" not in ended.told


def test_a_run_without_a_store_cannot_be_continued(nodestep):
    ended = nodestep("run", KINDS, "--thread", "t")
    assert (ended.code, "has no store" in ended.told) == (2, True)


def test_a_pause_without_a_store_is_an_error_that_says_so(nodestep):
    ended = nodestep("run", REFUND, "--input", "{}")
    assert ended.code == 2
    assert "review" in ended.told
    assert "approve" in ended.told


@pytest.mark.parametrize("given", [[], ["--input", "{}"]])
def test_continuing_with_a_file_that_is_not_there_makes_none(nodestep, tmp_path, given):
    ended = nodestep("run", KINDS, "--store", "sub/none.db", "--thread", "t", *given)
    assert ended.code == (7 if not given else 5)
    assert not (tmp_path / "sub").exists()


def test_an_unknown_thread_is_told(nodestep, asks):
    asks()
    ended = nodestep("run", REFUND, "--store", "a.db", "--thread", "refund-2")
    assert (ended.code, "refund-2" in ended.told) == (7, True)


def test_a_completed_thread_takes_a_new_turn_and_nothing_else(nodestep):
    run = ["run", KINDS, "--store", "a.db", "--thread", "t"]
    assert nodestep(*run, "--input", "{}").code == 0
    assert nodestep(*run).code == 6
    assert nodestep(*run, "--input", "{}").code == 0


def test_a_failing_node_is_told_without_a_traceback(nodestep, tmp_path):
    run = ["run", BROKEN, "--store", "a.db", "--thread", "w"]
    ended = nodestep(*run, "--input", json.dumps({"message": "no\x1b[2K account\r\nrecorded  yes"}))
    assert ended.code == 1
    assert ended.out == "failed  thread w\n"
    assert "error: LookupError in node fails, at " in ended.told
    assert "broken.py:" in ended.err
    assert "  │ no\\x1b[2K account\\r\n  │ recorded  yes\n" in ended.err
    assert f"$ nodestep run {BROKEN} --store a.db --thread w\n" in ended.err
    assert "Traceback" not in ended.err
    again = nodestep(*run, "--traceback")
    assert again.code == 1
    assert "Traceback (most recent call last)" in again.err
    assert "  step " not in again.err


def test_a_failing_node_is_told_as_json(nodestep):
    ended = nodestep("run", BROKEN, "--store", "a.db", "--thread", "w", "--input", "{}", "--json")
    assert ended.code == 1
    told = ended.json
    assert (told["status"], told["thread_id"]) == ("failed", "w")
    assert (told["error"]["type"], told["error"]["node"]) == ("LookupError", "fails")
    assert told["error"]["message"] == "no such account"
    assert told["error"]["exit_code"] == 1
    assert "traceback" not in told["error"]
    assert ended.err == ""


def test_a_failing_node_without_a_store_is_told_as_well(nodestep):
    ended = nodestep("run", BROKEN, "--input", "{}")
    assert ended.code == 1
    assert "LookupError" in ended.err
    assert "continue" not in ended.told


@pytest.mark.parametrize(("how", "kind"), [("exit", "SystemExit"), ("update", "StateUpdateError")])
def test_other_ways_to_fail_are_failures_of_the_run(nodestep, how, kind):
    ended = nodestep("run", BROKEN, "--store", "a.db", "--thread", "w", "--input", json.dumps({"how": how}), "--json")
    assert (ended.code, ended.json["status"], ended.json["error"]["type"]) == (1, "failed", kind)


def test_what_nodes_print_keeps_the_document_whole(tmp_path):
    ended = process("run", BROKEN, "--input", '{"how": "chatter"}', "--json", folder=tmp_path)
    assert ended.json["status"] == "completed"
    assert "a node speaks" in ended.err


def test_quiet_shows_no_steps(nodestep):
    assert nodestep("run", KINDS, "--input", "{}", "--quiet").err == ""


def test_the_context_reaches_the_nodes_and_is_not_repeated(nodestep, tmp_path):
    (tmp_path / "app.py").write_text(
        "from nodestep import END, START, Graph, NodeContext, interrupt, node\n"
        "@node\n"
        "def greet(state: dict, ctx: NodeContext) -> dict:\n"
        "    return {'said': f\"{interrupt('Greet?', id='q')} {ctx.context['name']}\"}\n"
        "graph = Graph(dict, name='greet').flow(START >> greet >> END)\n"
    )
    run = ["run", "app.py", "--store", "a.db", "--thread", "t", "--context"]
    paused = nodestep(*run, '{"name": "hunter2"}', "--input", "{}")
    assert paused.code == 3
    assert "hunter2" not in paused.told
    assert "--context JSON" in paused.out
    nodestep("answer", "--store", "a.db", "--pause", "1", "t", "greet:q", "Hello")
    done = nodestep(*run, '{"name": "Ana"}', "--json")
    assert done.json["state"] == {"said": "Hello Ana"}


def test_a_graph_with_a_store_of_its_own_pauses_there(nodestep, tmp_path):
    ended = nodestep("run", f"{KINDS}:in_own_file", "--thread", "t", "--input", "{}")
    assert ended.code == 3
    assert "the graph's own store" in ended.told.lower()
    again = nodestep("run", f"{KINDS}:in_own_file", "--thread", "t", "--json")
    assert (again.code, again.json["status"]) == (3, "interrupted")
    assert again.json["questions"][0]["key"] == "ask:text"
    other = nodestep("run", f"{KINDS}:in_own_file", "--thread", "t", "--input", "{}")
    assert (other.code, "ResumeError" in other.told) == (6, True)
    with SQLiteStateStore(tmp_path / "own.db") as store:
        assert [question.key for question in inbox.pending(store).items] == ["ask:text"]
        assert history.load(store, "t") == {"text": ""}


def test_the_store_may_come_from_the_environment(nodestep, asks, monkeypatch):
    asks()
    monkeypatch.setenv("NODESTEP_STORE", "a.db")
    assert "review:approve" in nodestep("pending").out
    ended = nodestep("run", REFUND, "--thread", "refund-1")
    assert ended.code == 3
    assert "nodestep answer --store a.db" in ended.out


@pytest.mark.parametrize(
    "thread",
    ["it's", "100%", "a/b", "../up", "two\nlines", "A", "a ", " a", "\u202ex", "🎉", '"', "-t", "a", "--", "\\n"],
)
def test_sc_04_odd_thread_ids_are_kept_apart_and_typed_exactly(nodestep, asks, tmp_path, thread):
    asks(thread="a")
    asks(thread="two lines")
    if thread != "a":
        asks(thread=thread)
    found = nodestep("pending", "--store", "a.db", f"--thread={thread}", "--json").json["questions"]
    assert [question["thread_id"] for question in found] == [thread]
    printed = nodestep("run", REFUND, "--store", "a.db", f"--thread={thread}").out
    line = next(line for line in printed.split("\n") if "$ nodestep answer" in line).split("$ ", 1)[1]
    ended = nodestep(*typed(line.replace(" VALUE", " yes")))
    assert ended.code == 0, ended
    left = nodestep("pending", "--store", "a.db", "--json").json["questions"]
    assert thread not in [question["thread_id"] for question in left]
    assert {path.name for path in tmp_path.iterdir()} <= {"a.db", "a.db-wal", "a.db-shm"}


@pytest.mark.parametrize("thread", ["", "x" * 10_000])
def test_sc_04_thread_ids_that_no_store_keeps_are_refused(nodestep, thread):
    ended = nodestep("run", REFUND, "--store", "a.db", "--thread", thread, "--input", "{}")
    assert ended.code in (2, 5)
    assert "review:approve" not in ended.told


def test_an_error_of_several_lines_stands_behind_bars(nodestep, tmp_path):
    (tmp_path / "odd.py").write_text(
        "from nodestep import END, START, Graph, node\n"
        "from nodestep.errors import GraphExecutionError\n"
        "@node\n"
        "def fails(state: dict) -> dict:\n"
        "    raise GraphExecutionError('first\\n  $ nodestep answer evil\\x1b[2K')\n"
        "graph = Graph(dict, name='odd').flow(START >> fails >> END)\n"
    )
    ended = nodestep("run", "odd.py", "--input", "{}", "--store", "a.db", "--thread", "t")
    assert ended.code == 1
    assert "GraphExecutionError in node fails: first\n  │   $ nodestep answer evil\\x1b[2K\n" in ended.err


def test_a_merge_that_cannot_be_is_told_without_a_way_to_go_on(nodestep, tmp_path):
    (tmp_path / "both.py").write_text(
        "from nodestep import END, START, BaseState, Graph, node\n"
        "class State(BaseState):\n"
        "    total: int = 0\n"
        "@node\n"
        "def one(state: State) -> dict: return {'total': 1}\n"
        "@node\n"
        "def two(state: State) -> dict: return {'total': 2}\n"
        "graph = Graph(State).flow(START >> [one, two], one >> END, two >> END)\n"
    )
    run = ["run", "both.py", "--store", "a.db", "--thread", "t"]
    ended = nodestep(*run, "--input", "{}")
    assert (ended.code, "InvalidUpdateError" in ended.told, "Continue with" in ended.told) == (1, True, False)
    assert nodestep(*run).code == 6
