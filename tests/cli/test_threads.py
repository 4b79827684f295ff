"""`nodestep threads` and `nodestep show`: where threads stand, in one word everywhere, and what they wait for."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from nodestep.model.status import Status

from .driving import GRAPHS, REFUND, RELEASE

BROKEN = str(GRAPHS / "broken.py")
RUN = ["run", RELEASE, "--store", "a.db", "--thread", "r"]
REFUND_INPUT = json.dumps({"payload": "Approve the refund?"})


@pytest.fixture
def four(nodestep, asks):
    """A failed thread, a completed one, an interrupted one and a ready one, in this order of age."""
    nodestep("run", BROKEN, "--store", "a.db", "--thread", "broken", "--input", "{}")
    nodestep("run", str(GRAPHS / "kinds.py"), "--store", "a.db", "--thread", "done", "--input", "{}")
    nodestep(*RUN, "--input", "{}")
    asks(thread="answered")
    nodestep("answer", "--store", "a.db", "--pause", "2", "answered", "yes")


def test_threads_are_listed_newest_first_with_where_they_stand(nodestep, four):
    ended = nodestep("threads", "--store", "a.db")
    assert (ended.code, ended.err) == (0, "")
    assert ended.out == (
        "ready        answered  of graph Refund, begun just now, changed just now\n"
        "interrupted  r  of graph Release, begun just now, changed just now\n"
        "completed    done  of graph Note, begun just now, changed just now\n"
        "failed       broken  of graph Work, begun just now, changed just now\n"
    )


def test_threads_are_found_by_graph_and_by_status(nodestep, four):
    by_graph = nodestep("threads", "--store", "a.db", "--graph", "Release", "--json").json["threads"]
    assert [thread["thread_id"] for thread in by_graph] == ["r"]
    for status, expected in (("failed", ["broken"]), ("ready", ["answered"]), ("running", [])):
        found = nodestep("threads", "--store", "a.db", "--status", status, "--json").json["threads"]
        assert [thread["thread_id"] for thread in found] == expected
    none = nodestep("threads", "--store", "a.db", "--status", "running")
    assert (none.code, none.out) == (0, "There is no thread of that kind in a.db.\n")
    odd = nodestep("threads", "--store", "a.db", "--status", "paused")
    assert (odd.code, "interrupted" in odd.told) == (2, True)


def test_threads_come_in_pages(nodestep, four):
    first = nodestep("threads", "--store", "a.db", "--limit", "3")
    *_, line = first.out.rstrip("\n").split("\n")
    assert line.startswith("  $ nodestep threads --store a.db --limit 3 --after ")
    page = nodestep("threads", "--store", "a.db", "--limit", "3", "--json").json
    rest = nodestep("threads", "--store", "a.db", "--after", page["next"], "--json").json
    assert [thread["thread_id"] for thread in page["threads"] + rest["threads"]] == ["answered", "r", "done", "broken"]
    assert rest["next"] is None


@pytest.mark.parametrize("arguments", [["--limit", "0"], ["--limit", "1001"], ["--after", "x"], ["--after", "-1"]])
def test_pages_that_make_no_sense_are_told_in_words_of_the_command_line(nodestep, four, arguments):
    ended = nodestep("threads", "--store", "a.db", *arguments)
    assert (ended.code, ended.out) == (2, "")
    assert arguments[0] in ended.err


@pytest.mark.parametrize("command", ["threads", "show r", "pending --thread r", "history r", "audit r"])
def test_a_command_that_reads_makes_no_store(nodestep, tmp_path, command):
    ended = nodestep(*command.split(), "--store", "none.db")
    assert (ended.code, ended.out) == (7, "")
    assert list(tmp_path.iterdir()) == []


def test_st_06_a_paused_thread_is_called_interrupted_everywhere(nodestep):
    assert nodestep(*RUN, "--input", "{}", "--json").json["status"] == "interrupted"
    assert nodestep("threads", "--store", "a.db").out.startswith("interrupted  r  ")
    assert nodestep("show", "r", "--store", "a.db").out.startswith("interrupted  thread r\n")
    assert nodestep("show", "r", "--store", "a.db", "--json").json["status"] == "interrupted"
    events = nodestep("history", "r", "--store", "a.db", "--json").json["events"]
    assert events[-1]["type"] == "interrupted"
    assert events[-1]["error_type"] is None


def test_show_tells_status_state_tasks_questions_and_decisions(nodestep):
    nodestep(*RUN, "--input", "{}")
    nodestep("answer", "--store", "a.db", "--pause", "1", "r", "legal:sign_off", "yes", "--by", "ana", "--note", "ok")
    ended = nodestep("show", "r", "--store", "a.db")
    assert (ended.code, ended.err) == (0, "")
    last = nodestep("show", "r", "--store", "a.db", "--json").json["last_event"]
    lines = ended.out.split("\n")
    at = next(number for number, line in enumerate(lines) if line.endswith("pause 1") and "legal" in line)
    assert lines[at].endswith('  legal:sign_off = "yes" (text), by ana, from the command line, pause 1')
    lines[at] = "DECISION"
    assert "\n".join(lines) == (
        "interrupted  thread r\n"
        f"  of graph Release, begun just now, changed just now, last event {last}\n"
        "\n"
        "State, as stored:\n"
        "  │ {\n"
        '  │   "sign_offs": []\n'
        "  │ }\n"
        "\n"
        "Due:\n"
        "  legal     due\n"
        "  security  asks security:sign_off\n"
        "\n"
        "Questions:\n"
        "  asks security:sign_off (pause 1, asked just now)\n"
        "    │ Security: release?\n"
        "    $ nodestep answer --store a.db --pause 1 r security:sign_off VALUE\n"
        "\n"
        "Decisions, the latest first:\n"
        "DECISION\n"
        "    │ ok\n"
    )


def test_show_draws_the_graph_with_the_place_where_the_thread_stands(nodestep):
    nodestep(*RUN, "--input", "{}")
    nodestep("answer", "--store", "a.db", "--pause", "1", "r", "legal:sign_off", "yes")
    ended = nodestep("show", "r", "--store", "a.db", "--target", RELEASE)
    assert (
        "Graph Release, and where the thread stands in it:\n"
        "  START ──> legal ◄ due ──> END\n"
        "        ──> security ◄ asks ──> END\n"
    ) in ended.out
    assert "Due:" not in ended.out
    as_json = nodestep("show", "r", "--store", "a.db", "--target", RELEASE, "--json").json
    assert as_json["standing"] == {"legal": "due", "security": "asks"}


def test_show_tells_what_the_graph_no_longer_has(nodestep):
    nodestep(*RUN, "--input", "{}")
    ended = nodestep("show", "r", "--store", "a.db", "--target", REFUND)
    assert ended.code == 0
    assert "Not in this graph:\n  legal  asks\n  security  asks\n" in ended.out


def test_show_tells_why_the_state_does_not_fit_the_graph(nodestep, tmp_path):
    nodestep(*RUN, "--input", "{}")
    newer = Path(RELEASE).read_text().replace("(BaseState):", "(BaseState):\n    currency: str\n")
    (tmp_path / "newer.py").write_text(newer)
    ended = nodestep("show", "r", "--store", "a.db", "--target", "newer.py")
    assert ended.code == 0
    assert "The stored state does not fit this graph:\n  Release needs 'currency'" in ended.out
    as_json = nodestep("show", "r", "--store", "a.db", "--target", "newer.py", "--json").json
    assert as_json["misfit"].startswith("Release needs 'currency'")


def test_show_tells_how_a_thread_goes_on(nodestep, four):
    failed = nodestep("show", "broken", "--store", "a.db")
    assert "Due:\n  fails  failed\n" in failed.out
    assert failed.out.endswith("Continue it with:\n  $ nodestep run TARGET --store a.db --thread broken\n")
    done = nodestep("show", "done", "--store", "a.db", "--target", str(GRAPHS / "kinds.py"))
    assert "──> END ◄ completed" in done.out
    assert "Continue" not in done.out


def test_show_lists_the_branches_and_shows_each_of_them(nodestep):
    nodestep(*RUN, "--input", "{}")
    nodestep("fork", "r", "--store", "a.db", "--from", "1-1", "--name", "again")
    main = nodestep("show", "r", "--store", "a.db").out
    assert (
        "Branches:\n  main   interrupted, begun just now, shown here\n"
        "  again  unfinished, from 1-1 of main, begun just now\n"
    ) in main
    again = nodestep("show", "r", "--store", "a.db", "--branch", "again").out
    assert again.startswith("unfinished  thread r, branch again\n")
    assert again.endswith("  $ nodestep run TARGET --store a.db --branch again --thread r\n")
    as_json = nodestep("show", "r", "--store", "a.db", "--json").json
    assert [(branch["id"], branch["status"]) for branch in as_json["branches"]] == [
        ("main", "interrupted"),
        ("again", "unfinished"),
    ]


def test_show_gives_everything_to_a_program(nodestep):
    nodestep(*RUN, "--input", "{}")
    shown = nodestep("show", "r", "--store", "a.db", "--json").json
    assert {key: shown[key] for key in ("thread_id", "branch_id", "graph", "status", "state")} == {
        "thread_id": "r",
        "branch_id": "main",
        "graph": "Release",
        "status": "interrupted",
        "state": {"sign_offs": []},
    }
    events = nodestep("history", "r", "--store", "a.db", "--json").json["events"]
    assert shown["last_event"] == events[-1]["id"]
    assert shown["tasks"][0] == {
        "task_id": "legal",
        "node": "legal",
        "path": "",
        "wait": "asks",
        "keys": ["legal:sign_off"],
    }
    assert [(question["key"], question["expired"]) for question in shown["questions"]] == [
        ("legal:sign_off", False),
        ("security:sign_off", False),
    ]
    assert shown["latest_decisions"] == []


def test_a_long_state_is_shortened_unless_all_is_asked_for(nodestep, asks):
    asks(json.dumps("x" * 5000))
    short = nodestep("show", "refund-1", "--store", "a.db")
    assert "more characters are not shown" in short.out
    full = nodestep("show", "refund-1", "--store", "a.db", "--full")
    assert "not shown" not in full.out
    assert full.out.count("x") >= 10_000


@pytest.mark.parametrize("command", ["show", "history", "audit", "cancel", "delete --yes", "prune --keep 1 --yes"])
def test_an_unknown_thread_is_told(nodestep, asks, command):
    asks()
    name, *options = command.split()
    for more in ([], ["--json"]):
        ended = nodestep(name, "nowhere", "--store", "a.db", *options, *more)
        assert ended.code == 7
        assert "nowhere" in ended.told
        assert "invoke(" not in ended.told
    assert nodestep("show", "refund-1", "--store", "a.db").code == 0


ODD_IDS = (
    *("o'clock", '"; DROP TABLE branches; --', "%s%n", "../../etc/passwd", "a\nb", "Refund-1", "refund-1", "refund-1 "),
    *("--json", "-", "\u202eevil", "\x1b[2Kx", "e\u0301", "é", "🧾", "x" * 512),
)


def test_sc_04_odd_thread_ids_are_kept_apart_by_every_command(nodestep, tmp_path):
    for number, thread in enumerate(ODD_IDS):
        payload = json.dumps({"payload": number})
        ended = nodestep("run", REFUND, "--store", "a.db", f"--thread={thread}", "--input", payload, "--json")
        assert ended.code == 3, ended
    listed = nodestep("threads", "--store", "a.db", "--json").json["threads"]
    assert [thread["thread_id"] for thread in listed] == list(reversed(ODD_IDS))
    printed = nodestep("threads", "--store", "a.db").out
    assert all(line.isprintable() for line in printed.split("\n"))
    assert len(set(printed.split("\n"))) == len(ODD_IDS) + 1
    for number, thread in enumerate(ODD_IDS):
        shown = nodestep("show", "--store", "a.db", "--json", "--", thread).json
        assert (shown["thread_id"], shown["state"]["payload"]) == (thread, number)
        events = nodestep("history", "--store", "a.db", "--json", "--", thread)
        assert events.json["thread_id"] == thread
        readable = nodestep("show", "--store", "a.db", "--", thread)
        assert all(line.isprintable() for line in readable.out.split("\n"))
    for thread in ODD_IDS[::2]:
        assert nodestep("delete", "--store", "a.db", "--yes", "--", thread).code == 0
    left = nodestep("threads", "--store", "a.db", "--json").json["threads"]
    assert [thread["thread_id"] for thread in left] == list(reversed(ODD_IDS[1::2]))
    assert {path.name.split("-")[0] for path in tmp_path.iterdir()} == {"a.db"}
    for refused in ("", "x" * 513):
        ended = nodestep("show", "--store", "a.db", "--", refused)
        assert (ended.code, "512 characters" in ended.told) == (5, True)


def test_every_status_has_a_colour():
    from nodestep.cli.screen import STYLE_OF_STATUS

    assert set(STYLE_OF_STATUS) == {status.value for status in Status}
