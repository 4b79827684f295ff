"""`nodestep demo`: the main job, shown by real processes, always the same."""

from __future__ import annotations

from .driving import process, terminal

STEPS = [
    "A refund that a person decides",
    "def review(state: Refund)",
    "1. A process runs the graph.",
    '$ nodestep run nodestep.cli.demo.refund --store demo.db --thread order-17 --input \'{"order": "A-17", "amount": 80}\'',
    "step 0  check",
    "interrupted  thread order-17 waits for 1 answer",
    "│ Refund 80.00 for order A-17? The risk is low.",
    "2. That process is gone.",
    "$ nodestep answer --store demo.db --pause 1 order-17 review:approve yes",
    'recorded  review:approve = "yes" (text)',
    "3. A third process goes on",
    "$ nodestep run nodestep.cli.demo.refund --store demo.db --thread order-17\n",
    "step 0  review",
    "step 1  pay",
    "completed  thread order-17",
    '"outcome": "paid 80.00"',
    "The refund: paid 80.00.",
]


def test_the_demo_pauses_ends_answers_and_goes_on(tmp_path):
    ended = process("demo", folder=tmp_path)
    assert (ended.code, ended.err) == (0, "")
    at = 0
    for step in STEPS:
        at = ended.out.index(step, at) + len(step)
    assert list(tmp_path.iterdir()) == []
    assert len(ended.out.split("\n")) < 60


def test_the_demo_always_prints_the_same(tmp_path):
    assert process("demo", folder=tmp_path).out == process("demo", folder=tmp_path).out


def test_the_demo_asks_a_person_at_a_terminal(tmp_path):
    with terminal("demo", folder=tmp_path) as seat:
        seat.sees("Your decision, yes or no? [yes] ")
        seat.types("perhaps")
        seat.sees("Your decision, yes or no? [yes] ")
        seat.types("no")
        seat.sees('recorded  review:approve = "no" (text)')
        seat.sees("step 1  decline")
        seat.sees("The refund: declined 80.00.")
        assert seat.ends() == 0


def test_the_demo_keeps_its_store_where_it_is_told_to(tmp_path):
    ended = process("demo", "--store", "kept.db", folder=tmp_path)
    assert ended.code == 0
    assert "The store is kept in kept.db." in ended.out
    run = ["run", "nodestep.cli.demo.refund", "--store", "kept.db", "--thread", "order-18"]
    again = process(*run, "--input", '{"order": "A-18", "amount": 300}', folder=tmp_path)
    assert "The risk is high." in again.out
    twice = process("demo", "--store", "kept.db", folder=tmp_path)
    assert (twice.code, "there already" in twice.told) == (2, True)


def test_the_demo_as_json_is_one_document(tmp_path):
    ended = process("demo", "--json", folder=tmp_path)
    assert (ended.code, ended.err) == (0, "")
    assert [step["exit_code"] for step in ended.json["steps"]] == [3, 0, 0]
    assert ended.json["steps"][0]["output"]["status"] == "interrupted"
    assert ended.json["state"]["outcome"] == "paid 80.00"
