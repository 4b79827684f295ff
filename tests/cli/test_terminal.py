"""At a terminal a person is asked: shown the question, shown their answer, and nothing is recorded before they say so."""

from __future__ import annotations

from nodestep.people import history, inbox
from nodestep.stores.sqlite import SQLiteStateStore

from .driving import GRAPHS, REFUND, RELEASE, terminal

RUN = ["run", REFUND, "--store", "a.db", "--thread", "refund-1"]


def open_keys(folder, thread="refund-1"):
    with SQLiteStateStore(folder / "a.db") as store:
        return [question.key for question in inbox.pending(store, thread).items]


def state(folder, thread="refund-1"):
    with SQLiteStateStore(folder / "a.db") as store:
        return history.load(store, thread)


def test_a_run_asks_and_goes_on_with_the_answer(tmp_path):
    with terminal(*RUN, "--input", '{"payload": "Pay?\\u001b[2K"}', folder=tmp_path) as seat:
        seat.sees("interrupted  thread refund-1 waits for 1 answer\n")
        seat.sees("  asks review:approve (pause 1)\n    │ Pay?\\x1b[2K\n    Answer: ")
        seat.types("yes")
        seat.sees('Send "yes" (text)? [Y/n] ')
        seat.types("")
        seat.sees('recorded  review:approve = "yes" (text)\n')
        seat.sees("completed  thread refund-1\n")
        assert seat.ends() == 0
    assert state(tmp_path)["answer"] == "yes"
    with SQLiteStateStore(tmp_path / "a.db") as store:
        answered = next(event for event in history.history(store, "refund-1").events if event.type == "answered")
    assert answered.data["source"] == "cli"


def test_what_is_typed_is_shown_back_and_can_be_typed_again(tmp_path):
    with terminal(*RUN, "--input", "{}", folder=tmp_path) as seat:
        seat.sees("Answer: ")
        seat.types("true")
        seat.sees('Send "true" (text)? [Y/n] ')
        seat.types("n")
        seat.sees("Answer: ")
        seat.types("-j yes")
        seat.sees("what stands behind -j is no JSON")
        seat.sees("Answer: ")
        seat.types("-j true")
        seat.sees("Send true (JSON boolean)? [Y/n] ")
        seat.types("y")
        seat.sees("completed")
        assert seat.ends() == 0
    assert state(tmp_path)["answer"] is True


def test_an_empty_line_leaves_the_question_open(tmp_path):
    with terminal("run", RELEASE, "--store", "a.db", "--thread", "r", "--input", "{}", folder=tmp_path) as seat:
        seat.sees("waits for 2 answers")
        seat.sees("asks legal:sign_off")
        seat.sees("Answer: ")
        seat.types("")
        seat.sees("asks security:sign_off")
        seat.sees("Answer: ")
        seat.types("fine")
        seat.sees("[Y/n] ")
        seat.types("")
        seat.sees('recorded  security:sign_off = "fine" (text)\n')
        seat.sees("waits for 1 answer")
        seat.sees("$ nodestep answer --store a.db --pause 1 r legal:sign_off VALUE")
        assert seat.ends() == 3
    assert open_keys(tmp_path, "r") == ["legal:sign_off"]


def test_ctrl_c_at_the_question_records_nothing(tmp_path):
    with terminal(*RUN, "--input", "{}", folder=tmp_path) as seat:
        seat.sees("Answer: ")
        seat.stops()
        seat.sees("Nothing was recorded.")
        assert seat.ends() == 130
        assert "Traceback" not in seat.screen
    assert open_keys(tmp_path) == ["review:approve"]


def test_the_end_of_input_leaves_the_question_open(tmp_path):
    with terminal(*RUN, "--input", "{}", folder=tmp_path) as seat:
        seat.sees("Answer: ")
        seat.presses(b"\x04")
        seat.sees("$ nodestep answer")
        assert seat.ends() == 3
    assert open_keys(tmp_path) == ["review:approve"]


def test_ctrl_c_after_an_answer_was_typed_records_nothing(tmp_path):
    with terminal("run", RELEASE, "--store", "a.db", "--thread", "r", "--input", "{}", folder=tmp_path) as seat:
        seat.sees("Answer: ")
        seat.types("yes")
        seat.sees("[Y/n] ")
        seat.types("")
        seat.sees("asks security:sign_off")
        seat.sees("Answer: ")
        seat.stops()
        seat.sees("Nothing was recorded.")
        assert seat.ends() == 130
    assert len(open_keys(tmp_path, "r")) == 2


def test_a_run_that_shall_not_ask_ends_at_the_pause(tmp_path):
    with terminal(*RUN, "--input", "{}", "--no-ask", folder=tmp_path) as seat:
        seat.sees("$ nodestep answer --store a.db --pause 1 refund-1 review:approve VALUE")
        assert seat.ends() == 3


def test_a_paused_thread_is_asked_about_when_it_is_continued(nodestep, asks, tmp_path):
    asks()
    with terminal(*RUN, folder=tmp_path) as seat:
        seat.sees("Answer: ")
        seat.types("no")
        seat.sees("[Y/n] ")
        seat.types("")
        seat.sees("completed")
        assert seat.ends() == 0


def test_an_answer_without_its_pause_shows_the_question_and_asks_first(nodestep, asks, tmp_path):
    asks()
    command = ["answer", "--store", "a.db", "refund-1", "review:approve", "yes"]
    with terminal(*command, folder=tmp_path) as seat:
        seat.sees("asks review:approve (pause 1)\n    │ Approve the refund?\n")
        seat.sees('answer "yes" (text)\n')
        seat.sees("Record this answer? [y/N] ")
        seat.types("")
        seat.sees("Nothing was recorded.")
        assert seat.ends() == 3
    assert open_keys(tmp_path) == ["review:approve"]
    with terminal(*command, folder=tmp_path) as seat:
        seat.sees("Record this answer? [y/N] ")
        seat.types("y")
        seat.sees("recorded  review:approve")
        assert seat.ends() == 0
    assert open_keys(tmp_path) == []


def test_an_answer_is_bound_to_the_pause_that_was_shown(nodestep, asks, tmp_path):
    asks()
    with terminal("answer", "--store", "a.db", "refund-1", "no", folder=tmp_path) as seat:
        seat.sees("Record this answer? [y/N] ")
        nodestep("answer", "--store", "a.db", "--pause", "1", "refund-1", "yes")
        assert nodestep(*RUN).code == 0
        nodestep(*RUN, "--input", "{}")
        seat.types("y")
        seat.sees("ResumeError")
        assert seat.ends() == 6
    assert open_keys(tmp_path) == ["review:approve"]


def test_an_answer_without_a_value_is_asked_for(nodestep, tmp_path):
    nodestep("run", RELEASE, "--store", "a.db", "--thread", "r", "--input", "{}")
    with terminal("answer", "--store", "a.db", "r", "security:sign_off", folder=tmp_path) as seat:
        seat.sees("asks security:sign_off")
        seat.sees("Answer: ")
        seat.types("ok")
        seat.sees("[Y/n] ")
        seat.types("")
        seat.sees("still open: legal:sign_off")
        assert seat.ends() == 0
    assert open_keys(tmp_path, "r") == ["legal:sign_off"]


def test_a_question_past_its_deadline_is_shown_and_not_asked(nodestep, tmp_path):
    nodestep("run", f"{GRAPHS / 'deadline.py'}:both", "--store", "a.db", "--thread", "t", "--input", "{}")
    with terminal("answer", "--store", "a.db", "t", folder=tmp_path) as seat:
        seat.sees("asks review:approve (pause 1, asked just now, ")
        seat.sees("expired 2020-01-02 03:04 UTC)")
        seat.sees("asks other:approve (pause 1)")
        seat.sees("Answer: ")
        seat.types("yes")
        seat.sees("[Y/n] ")
        seat.types("")
        seat.sees('recorded  other:approve = "yes" (text)')
        assert seat.ends() == 0
        assert seat.screen.count("Answer: ") == 1


def test_a_document_is_never_interrupted_by_a_question(tmp_path):
    with terminal(*RUN, "--input", "{}", "--json", folder=tmp_path) as seat:
        assert seat.ends() == 3
        assert seat.screen.startswith("{\n")


def test_colours_are_ours_alone(tmp_path):
    payload = '{"payload": "\\u001b[31mred [bold red]x[/] :smile: [link=http://a.b]c[/link]"}'
    with terminal(*RUN, "--input", payload, "--no-ask", folder=tmp_path, TERM="xterm") as seat:
        assert seat.ends() == 3
    assert "\x1b[1;33minterrupted\x1b[0m" in seat.screen
    assert r"\x1b[31mred [bold red]x[/] :smile: [link=http://a.b]c[/link]" in seat.screen
    assert "\x1b[31m" not in seat.screen
    assert "\x1b]8" not in seat.screen


def test_a_graph_with_a_store_in_memory_is_asked_and_goes_on_in_one_process(tmp_path):
    target = f"{GRAPHS / 'kinds.py'}:in_memory"
    with terminal("run", target, "--thread", "t", "--input", "{}", folder=tmp_path) as seat:
        seat.sees("asks ask:text")
        seat.sees("Answer: ")
        seat.types("hello")
        seat.sees("[Y/n] ")
        seat.types("")
        seat.sees('"text": "hello"')
        assert seat.ends() == 0


def test_a_long_error_on_a_terminal_never_reaches_the_left_edge(tmp_path):
    run = ["run", str(GRAPHS / "broken.py"), "--store", "a.db", "--thread", "w", "--input", "{}"]
    with terminal(*run, "--branch", "b " * 60, folder=tmp_path) as seat:
        assert seat.ends() == 7
    rows = seat.screen.rstrip("\n").split("\n")
    assert rows[0].startswith("UnknownThreadError: ")
    assert len(rows) > 2
    assert all(row.startswith("  ┊ ") for row in rows[1:])
