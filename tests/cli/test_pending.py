"""`nodestep pending`: what waits, readable, safe, and with the command that answers it."""

from __future__ import annotations

import json
from datetime import UTC, datetime

import pytest

from nodestep.cli.times import age

from .driving import RELEASE

FORGED = "A\x1b[2K\rBell\x07 \x1b]0;owned\x07 back\x08\x08 \x9b31m \u202eabc\u2066 \u200b [red]r[/] :smile:\nrecorded  x = yes"


def test_each_question_comes_with_thread_key_pause_age_payload_and_command(nodestep, asks):
    asks()
    ended = nodestep("pending", "--store", "a.db")
    assert (ended.code, ended.err) == (0, "")
    assert ended.out == (
        "1 question is open in a.db.\n"
        "\n"
        "thread refund-1, of graph Refund\n"
        "  asks review:approve (pause 1, asked just now)\n"
        "    │ Approve the refund?\n"
        "    $ nodestep answer --store a.db --pause 1 refund-1 review:approve VALUE\n"
        "\n"
        "VALUE is text; write -j before it for JSON.\n"
    )


def test_cl_01_control_characters_are_written_out_and_json_is_unaffected(nodestep, asks):
    asks(json.dumps(FORGED))
    ended = nodestep("pending", "--store", "a.db")
    assert all(line.isprintable() for line in ended.out.split("\n"))
    assert (
        r"    │ A\x1b[2K\rBell\x07 \x1b]0;owned\x07 back\x08\x08 \x9b31m \u202eabc\u2066 \u200b [red]r[/] :smile:"
        in (ended.out.replace("\n    ┊ ", ""))
    )
    assert "\n    │ recorded  x = yes\n" in ended.out
    as_json = nodestep("pending", "--store", "a.db", "--json")
    assert as_json.out.isascii()
    assert as_json.json["questions"][0]["payload"] == FORGED


def test_a_payload_that_is_no_text_is_shown_as_json(nodestep, asks):
    asks('{"amount": 80, "reason": "a\\nb\\u001b[2K\\u202e \\\\ \\"q\\"", "items": []}')
    ended = nodestep("pending", "--store", "a.db")
    shown = [line[6:] for line in ended.out.split("\n") if line.startswith("    │ ")]
    assert json.loads("\n".join(shown)) == {"amount": 80, "reason": 'a\nb\x1b[2K\u202e \\ "q"', "items": []}
    assert all(line.isprintable() for line in ended.out.split("\n"))


def test_a_long_line_of_a_payload_never_reaches_the_left_edge(nodestep, asks):
    asks(json.dumps("Approve?" + " " * 65 + "recorded  review:approve = yes"))
    ended = nodestep("pending", "--store", "a.db")
    rows = [line for line in ended.out.split("\n") if "recorded" in line]
    assert rows
    assert all(row.startswith("    ┊ ") for row in rows)
    assert all(len(line) <= 80 for line in ended.out.split("\n") if "$" not in line)


@pytest.mark.parametrize("payload", ["x" * 5000, "line\n" * 1000])
def test_a_long_payload_is_shortened_and_says_how_to_see_all(nodestep, asks, payload):
    asks(json.dumps(payload))
    ended = nodestep("pending", "--store", "a.db")
    assert len(ended.out) < 4000
    hidden = int(next(line for line in ended.out.split("\n") if "not shown" in line).split()[0].replace(",", ""))
    shown = ended.out.count("x") if payload[0] == "x" else len("line\n") * ended.out.count("│ line") - 1
    assert abs(len(payload) - hidden - shown) <= 1
    assert "$ nodestep pending --store a.db --thread refund-1 --full" in ended.out
    full = nodestep("pending", "--store", "a.db", "--thread", "refund-1", "--full")
    assert "not shown" not in full.out
    assert full.out.count("x") >= payload.count("x")


def test_questions_come_in_pages(nodestep, asks):
    for number in range(3):
        asks(thread=f"t{number}")
    first = nodestep("pending", "--store", "a.db", "--limit", "2")
    line = first.out.rstrip().split("\n")[-1]
    assert line.startswith("  $ nodestep pending --store a.db --limit 2 --after ")
    first_json = nodestep("pending", "--store", "a.db", "--limit", "2", "--json").json
    rest = nodestep("pending", "--store", "a.db", "--after", first_json["next"], "--json").json
    threads = [question["thread_id"] for page in (first_json, rest) for question in page["questions"]]
    assert threads == ["t0", "t1", "t2"]
    assert rest["next"] is None


def test_questions_are_found_by_thread_and_graph(nodestep, asks):
    asks()
    nodestep("run", RELEASE, "--store", "a.db", "--thread", "r", "--input", "{}")
    by_graph = nodestep("pending", "--store", "a.db", "--graph", "Release", "--json").json
    assert {question["thread_id"] for question in by_graph["questions"]} == {"r"}
    assert "2 questions are open" in nodestep("pending", "--store", "a.db", "--thread", "r").out
    assert nodestep("pending", "--store", "a.db", "--graph", "Other").out == "No question is open in a.db.\n"


def test_a_thread_without_questions_says_where_it_stands(nodestep, asks):
    asks()
    nodestep("answer", "--store", "a.db", "--pause", "1", "refund-1", "yes")
    ended = nodestep("pending", "--store", "a.db", "--thread", "refund-1")
    assert ended.out == "No question is open in a.db for thread refund-1; it is ready.\n"
    unknown = nodestep("pending", "--store", "a.db", "--thread", "refund-2")
    assert (unknown.code, "refund-2" in unknown.told) == (7, True)


@pytest.mark.parametrize("arguments", [["--limit", "0"], ["--limit", "1001"], ["--limit", "x"], ["--after", "x"]])
def test_pages_that_make_no_sense_are_usage_errors(nodestep, asks, arguments):
    asks()
    ended = nodestep("pending", "--store", "a.db", *arguments)
    assert (ended.code, ended.out) == (2, "")


@pytest.mark.parametrize(
    ("store", "code", "words"),
    [
        ("none.db", 7, ["no store none.db", "none was made"]),
        ("sub/none.db", 7, ["no store"]),
        ("a.db/none.db", 7, ["no store"]),
        ("empty.db", 7, ["is empty"]),
        ("text.db", 5, ["StoreFormatError"]),
        (".", 5, ["is a folder"]),
    ],
)
def test_a_file_that_is_no_store_is_told_and_left_alone(nodestep, asks, tmp_path, store, code, words):
    asks()
    (tmp_path / "empty.db").touch()
    (tmp_path / "text.db").write_text("hello" * 1000)
    before = sorted(path.name for path in tmp_path.iterdir())
    for command in (["pending"], ["answer", "t", "k:q", "v", "--pause", "1"]):
        ended = nodestep(*command, "--store", store)
        assert ended.code == code, ended
        for word in words:
            assert word in ended.told
    assert sorted(path.name for path in tmp_path.iterdir()) == before
    assert (tmp_path / "empty.db").stat().st_size == 0


def test_no_store_named_at_all_is_told(nodestep):
    ended = nodestep("pending")
    assert (ended.code, "--store FILE, or set NODESTEP_STORE" in ended.told) == (2, True)


@pytest.mark.parametrize(
    ("seconds", "told"),
    [(-5, "just now"), (0, "just now"), (59, "just now"), (60, "1 min ago"), (7300, "2 h ago"), (200_000, "2 d ago")],
)
def test_age_is_told_in_the_largest_unit(seconds, told):
    assert age(datetime.fromtimestamp(1_000_000_000, UTC), (1_000_000_000 + seconds) * 1000) == told
