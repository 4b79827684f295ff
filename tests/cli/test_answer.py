"""`nodestep answer`: one rule for text and values, nothing recorded that was not meant."""

from __future__ import annotations

import json

import pytest

from nodestep.engine.replay import record_from_bytes
from nodestep.model.event import Answered
from nodestep.people import inbox
from nodestep.stores.sqlite import SQLiteStateStore

from .driving import GRAPHS, REFUND, RELEASE, process


@pytest.fixture
def two(nodestep, tmp_path):
    """A thread with two open questions; returns what is recorded of it."""
    nodestep("run", RELEASE, "--store", "a.db", "--thread", "r", "--input", "{}")

    def recorded():
        with SQLiteStateStore(tmp_path / "a.db") as store:
            facts = [fact for record in store.records("r", "main") for fact in record_from_bytes(record.body)]
            return [fact for fact in facts if isinstance(fact, Answered)]

    return recorded


KEYS = ("legal:sign_off (pause 1)", "security:sign_off (pause 1)")


@pytest.mark.parametrize(
    ("arguments", "value", "told"),
    [
        (["true"], "true", '"true" (text)'),
        (["1"], "1", '"1" (text)'),
        (["yes"], "yes", '"yes" (text)'),
        (['"yes"'], '"yes"', r'"\"yes\"" (text)'),
        (["two\nlines\n"], "two\nlines\n", r'"two\nlines\n" (text)'),
        ([""], "", '"" (text)'),
        (["--", "-5"], "-5", '"-5" (text)'),
        (["--", "--json"], "--json", '"--json" (text)'),
        (["@answer.txt"], "two\nlines", r'"two\nlines" (text)'),
        (["@@home"], "@home", '"@home" (text)'),
        (["-"], "piped", '"piped" (text)'),
        (["-j", "true"], True, "true (JSON boolean)"),
        (["-j", "1"], 1, "1 (JSON number)"),
        (["-j", "null"], None, "null (JSON null)"),
        (["-j", '"yes"'], "yes", '"yes" (text)'),
        (["-j", "@answer.json"], {"amount": [1, 2.5]}, '{"amount": [1, 2.5]} (JSON object)'),
        (["--value-json", "--", "-5"], -5, "-5 (JSON number)"),
    ],
)
def test_cl_03_a_value_is_text_and_json_only_where_it_says_so(nodestep, asks, tmp_path, arguments, value, told):
    asks()
    (tmp_path / "answer.txt").write_text("two\nlines\n")
    (tmp_path / "answer.json").write_text('{"amount": [1, 2.5]}\n')
    options = [word for word in arguments if word in ("-j", "--value-json")]
    words = [word for word in arguments if word not in options]
    at = words.index("--") if "--" in words else 0
    words = [*words[:at], *(["--"] if "--" in words else []), "refund-1", "review:approve", words[-1]]
    ended = nodestep("answer", "--store", "a.db", "--pause", "1", *options, *words, stdin=b"piped\r\n")
    assert ended.code == 0, ended
    assert f"recorded  review:approve = {told}\n" in ended.out
    done = nodestep("run", REFUND, "--store", "a.db", "--thread", "refund-1", "--json")
    assert done.json["state"]["answer"] == value
    assert type(done.json["state"]["answer"]) is type(value)


@pytest.mark.parametrize("value", ["yes", "{a: 1}", "", "NaN", "1 2", "-Infinity", '{"a": 1, "a": 2}', "[" * 100_000])
def test_cl_03_what_is_no_json_is_refused_under_the_flag(nodestep, asks, value):
    asks()
    ended = nodestep("answer", "--store", "a.db", "--pause", "1", "-j", "refund-1", "review:approve", "--", value)
    assert (ended.code, ended.out) == (2, "")
    assert "the answer to review:approve is no JSON" in ended.told
    assert len(ended.err) < 600


def test_an_answer_says_what_was_recorded_what_is_open_and_how_to_go_on(nodestep, two):
    first = nodestep("answer", "--store", "a.db", "--pause", "1", "r", "legal:sign_off", "yes", "--by", "ana")
    assert first.out == 'recorded  legal:sign_off = "yes" (text)\nstill open: security:sign_off\n'
    second = nodestep("answer", "--store", "a.db", "--pause", "1", "r", "no", "--note", "not yet")
    assert second.out == (
        'recorded  security:sign_off = "no" (text)\n'
        "Every question of thread r is answered. Continue it with:\n"
        "  $ nodestep run TARGET --store a.db --thread r\n"
        "  TARGET is where graph Release is written.\n"
    )
    facts = [(dict(fact.answers), fact.by, fact.note, fact.source) for fact in two()]
    assert facts == [
        ({"legal:sign_off": "yes"}, "ana", None, "cli"),
        ({"security:sign_off": "no"}, None, "not yet", "cli"),
    ]


def test_several_answers_are_recorded_together(nodestep, two):
    answers = ["--answer", "legal:sign_off=a=b", "--answer", "security:sign_off="]
    ended = nodestep("answer", "--store", "a.db", "--pause", "1", "r", *answers, "--json")
    assert ended.json == {
        "thread_id": "r",
        "branch_id": "main",
        "status": "ready",
        "recorded": {"legal:sign_off": "a=b", "security:sign_off": ""},
        "open": [],
    }
    assert len(two()) == 1


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        (["yes"], 6, ["one value cannot answer them"]),
        (["legal:sign_of", "yes"], 6, ["legal:sign_of.", "Did you mean 'legal:sign_off'?"]),
        (["nowhere:x", "yes"], 6, ["nowhere:x"]),
        (["--answer", "legal:sign_off=yes", "--answer", "nowhere:x=yes"], 6, ["nowhere:x"]),
        (["--answer", "legal:sign_off=yes", "--answer", "legal:sign_off=yes"], 2, ["answered twice"]),
        (["legal:sign_off", "yes", "--answer", "legal:sign_off=no"], 2, ["answered twice"]),
        (["--answer", "yes"], 2, ["KEY=VALUE"]),
    ],
)
def test_cl_05_wrong_keys_are_errors_that_list_the_open_ones(nodestep, two, arguments, code, words):
    ended = nodestep("answer", "--store", "a.db", "--pause", "1", "r", *arguments)
    assert (ended.code, ended.out) == (code, "")
    for word in (*words, *KEYS):
        assert word in ended.told
    assert two() == []


def test_cl_05_one_of_two_answers_does_not_let_the_run_go_on(nodestep, two):
    nodestep("answer", "--store", "a.db", "--pause", "1", "r", "legal:sign_off", "yes")
    ended = nodestep("run", RELEASE, "--store", "a.db", "--thread", "r")
    assert ended.code == 3
    assert "security:sign_off" in ended.out
    assert "legal:sign_off" not in ended.out


@pytest.mark.parametrize("arguments", [["yes", "please", "now"], ["yes", "--answer", "legal:sign_off=yes"]])
def test_too_many_words_are_a_usage_error(nodestep, two, arguments):
    ended = nodestep("answer", "--store", "a.db", "--pause", "1", "r", *arguments)
    assert (ended.code, ended.out) == (2, "")
    assert two() == []


def test_a_lone_word_that_looks_like_a_mistyped_key_is_no_answer(nodestep, asks):
    asks()
    ended = nodestep("answer", "--store", "a.db", "--pause", "1", "refund-1", "review:aprove")
    assert (ended.code, "looks like a key" in ended.told) == (2, True)
    meant = nodestep(
        "answer", "--store", "a.db", "--pause", "1", "refund-1", "--answer", "review:approve=review:aprove"
    )
    assert meant.code == 0


@pytest.mark.parametrize(("pause", "code"), [("1", 0), ("review:approve=1", 0), ("2", 6), ("review:approve=7", 6)])
def test_an_answer_meets_only_the_question_of_its_pause(nodestep, asks, pause, code):
    asks()
    ended = nodestep("answer", "--store", "a.db", "--pause", pause, "refund-1", "yes")
    assert ended.code == code
    assert (ended.out == "") == (code != 0)


@pytest.mark.parametrize(
    "pauses", [["x"], ["-1"], ["1", "2"], ["nowhere:x=1"], ["review:approve="], ["1.0"], ["\u0661"]]
)
def test_pauses_that_are_none_are_usage_errors(nodestep, asks, pauses):
    asks()
    options = [f"--pause={pause}" for pause in pauses]
    ended = nodestep("answer", "--store", "a.db", *options, "refund-1", "yes")
    assert (ended.code, ended.out) == (2, "")


def test_an_answer_without_its_pause_is_refused_with_the_command_to_type(nodestep, asks):
    asks()
    ended = nodestep("answer", "--store", "a.db", "refund-1", "review:approve", "it's -j", "--by", "ana")
    assert (ended.code, ended.out) == (2, "")
    assert ended.err.endswith(
        "  $ nodestep answer --store a.db --pause 1 --by ana refund-1 review:approve 'it'\\''s -j'\n"
    )
    without_value = nodestep("answer", "--store", "a.db", "refund-1")
    assert without_value.code == 2
    assert "$ nodestep answer --store a.db --pause 1 refund-1 review:approve VALUE\n" in without_value.err
    assert nodestep("pending", "--store", "a.db", "--json").json["questions"]


@pytest.mark.parametrize(
    ("prepare", "code", "words"),
    [
        ([], 7, ["refund-2"]),
        ([["run", REFUND, "--thread", "refund-2", "--input", '{"payload": "?"}']], 0, []),
        (
            [
                ["run", REFUND, "--thread", "refund-2", "--input", "{}"],
                ["answer", "refund-2", "yes", "--pause", "1"],
            ],
            6,
            ["waits for no answer", "ready"],
        ),
        (
            [
                ["run", REFUND, "--thread", "refund-2", "--input", "{}"],
                ["answer", "refund-2", "yes", "--pause", "1"],
                ["run", REFUND, "--thread", "refund-2"],
            ],
            6,
            ["waits for no answer", "completed"],
        ),
    ],
)
def test_an_answer_that_nobody_waits_for_is_refused(nodestep, monkeypatch, prepare, code, words):
    monkeypatch.setenv("NODESTEP_STORE", "a.db")
    nodestep("run", RELEASE, "--thread", "other", "--input", "{}")
    pause = "2" if prepare else "1"
    for command in prepare:
        nodestep(*[pause if word == "1" else word for word in command])
    ended = nodestep("answer", "refund-2", "yes", "--pause", pause)
    assert ended.code == code, ended
    for word in words:
        assert word in ended.told


def test_an_answer_over_the_limit_is_refused(nodestep, asks, tmp_path):
    asks()
    (tmp_path / "big.txt").write_text("x" * (1 << 20))
    ended = nodestep("answer", "--store", "a.db", "--pause", "1", "refund-1", "@big.txt")
    assert (ended.code, "LimitExceededError" in ended.told) == (5, True)
    assert nodestep("pending", "--store", "a.db", "--json").json["questions"]


@pytest.mark.parametrize(("stdin", "word"), [(b"\xff\xfe", "UTF-8"), (b"a\x00b", "NUL")])
def test_an_answer_that_is_no_text_is_refused(nodestep, asks, stdin, word):
    asks()
    ended = nodestep("answer", "--store", "a.db", "--pause", "1", "refund-1", "-", stdin=stdin)
    assert ended.code in (2, 5)
    assert word in ended.told


def test_standard_input_is_one_answer_only(nodestep, two):
    answers = ["--answer", "legal:sign_off=-", "--answer", "security:sign_off=-"]
    ended = nodestep("answer", "--store", "a.db", "--pause", "1", "r", *answers, stdin=b"yes")
    assert (ended.code, "one value only" in ended.told) == (2, True)
    assert two() == []


def test_arguments_that_are_no_text_are_refused(tmp_path):
    broken = b"r\xff".decode("utf-8", "surrogateescape")
    ended = process("answer", broken, "yes", "--store", "a.db", "--json", folder=tmp_path)
    assert (ended.code, ended.json["error"]["exit_code"]) == (2, 2)
    assert "argument 2 is no valid UTF-8" in ended.json["error"]["message"]


def test_the_answer_command_imports_no_graph_and_runs_nothing(nodestep, two, tmp_path):
    with SQLiteStateStore(tmp_path / "a.db") as store:
        before = len(store.records("r", "main"))
        nodestep("answer", "--store", "a.db", "--pause", "1", "r", "legal:sign_off", "yes")
        assert len(store.records("r", "main")) == before + 1
        assert [question.key for question in inbox.pending(store, "r").items] == ["security:sign_off"]


def test_a_value_with_a_dash_is_told_where_to_go(nodestep, asks):
    asks()
    ended = nodestep("answer", "--store", "a.db", "--pause", "1", "refund-1", "review:approve", "-5")
    assert (ended.code, "comes after --" in ended.told) == (2, True)


def test_values_shown_back_are_safe(nodestep, asks):
    asks()
    value = "\x1b[2K\u202e" + "x" * 1000
    ended = nodestep("answer", "--store", "a.db", "--pause", "1", "refund-1", value)
    first = ended.out.split("\n")[0]
    assert first.isprintable()
    assert first.startswith(r'recorded  review:approve = "\u001b[2K\u202exxx')
    assert "more characters" in first
    assert (
        json.loads(nodestep("run", REFUND, "--store", "a.db", "--thread", "refund-1", "--json").out)["state"]["answer"]
        == value
    )


def test_a_question_whose_deadline_has_passed_is_closed_everywhere(nodestep):
    run = ["run", str(GRAPHS / "deadline.py"), "--store", "a.db", "--thread", "t"]
    assert nodestep(*run, "--input", "{}").code == 3
    listed = nodestep("pending", "--store", "a.db", "--thread", "t")
    assert listed.out == "No question is open in a.db for thread t; it is ready.\n"
    shown = nodestep("show", "--store", "a.db", "t")
    assert shown.out.startswith("ready  thread t\n")
    assert (
        r'asks review:approve (pause 1, asked just now, for "ana\u001b[2K", expired 2020-01-02 03:04 UTC)' in shown.out
    )
    assert "$ nodestep answer" not in shown.out
    for late in (["yes"], ["review:approve", "yes"], ["--answer", "review:approve=yes"], []):
        ended = nodestep("answer", "--store", "a.db", "--pause", "1", "t", *late)
        assert (ended.code, ended.out, "InterruptExpiredError" in ended.told) == (6, "", True)
        assert "The deadline of 'review:approve' on thread 't' has passed" in ended.told
    done = nodestep(*run, "--json")
    assert (done.code, done.json["state"]) == (0, {"answer": "no"})


def test_an_answer_past_its_deadline_is_told_so_beside_a_question_that_waits(nodestep):
    run = ["run", f"{GRAPHS / 'deadline.py'}:both", "--store", "a.db", "--thread", "t"]
    assert nodestep(*run, "--input", "{}").code == 3
    late = nodestep("answer", "--store", "a.db", "--pause", "1", "t", "review:approve", "yes")
    assert (late.code, "InterruptExpiredError" in late.told) == (6, True)
    in_time = nodestep("answer", "--store", "a.db", "--pause", "1", "t", "yes")
    assert in_time.out.startswith('recorded  other:approve = "yes" (text)\n')
    assert nodestep(*run, "--json").json["state"] == {"answer": "no", "other": "yes"}


def test_who_comes_second_is_told_who_was_first(nodestep, two):
    first = ["answer", "--store", "a.db", "--pause", "1", "r", "legal:sign_off", "yes", "--by", "ana"]
    assert nodestep(*first).code == 0
    second = nodestep(*first[:-1], "ben")
    assert (second.code, second.out) == (6, "")
    assert "'legal:sign_off' of pause 1 was answered already, by 'ana', at " in second.told
    assert "Nothing was recorded. Open: 'security:sign_off'." in second.told
    assert nodestep("answer", "--store", "a.db", "--pause", "1", "r", "no", "--by", "eve").code == 0
    for late in (["maybe"], ["security:sign_off", "maybe"], []):
        ended = nodestep("answer", "--store", "a.db", "--pause", "1", "r", *late)
        assert (ended.code, ended.out) == (6, "")
        assert "'security:sign_off' of pause 1 was answered already, by 'eve', at " in ended.told
    assert len(two()) == 2


def test_a_mistyped_key_is_no_answered_one(nodestep, two):
    ended = nodestep("answer", "--store", "a.db", "--pause", "1", "r", "legal:sign_of", "yes")
    assert (ended.code, "Did you mean 'legal:sign_off'?" in ended.told) == (6, True)
    assert "already" not in ended.told
