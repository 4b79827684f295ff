"""Answers against open questions: all is checked before anything runs."""

from __future__ import annotations

from datetime import date
from decimal import Decimal

import pytest
from pydantic import BaseModel

from nodestep import LimitExceededError, Resume, ResumeError
from nodestep.engine.answer import check_answers, check_some

from .making import DONE, asked, frame, position

ONE = position(frame("a", work={"a": asked("ok")}), {"a:ok": 7})
TWO = position(
    frame("legal", "security", "z", work={"legal": asked("ok"), "security": asked("ok"), "z": DONE}),
    {"legal:ok": 7, "security:ok": 9},
)


def answers(at, resume: Resume):
    return check_answers(at, resume, 0)


def refused(at, resume: Resume, *words: str) -> None:
    with pytest.raises(ResumeError) as caught:
        answers(at, resume)
    for word in words:
        assert word in str(caught.value)


def test_a_value_answers_the_only_question():
    assert answers(ONE, Resume("yes")) == {"a:ok": "yes"}
    assert answers(ONE, Resume(None)) == {"a:ok": None}


def test_a_map_answers_every_question_by_key_in_whatever_order():
    given = {"security:ok": 2, "legal:ok": 1}

    assert answers(TWO, Resume(answers=given)) == given


def test_a_dict_as_the_one_value_is_no_map():
    given = {"a:ok": "no", "note": "x"}

    assert answers(ONE, Resume(given)) == {"a:ok": given}


def test_one_value_for_several_questions_is_refused():
    refused(TWO, Resume("yes"), "2 questions", "'legal:ok', 'security:ok'", "Resume(answers=")


def test_a_missing_answer_is_refused_and_named():
    refused(TWO, Resume(answers={"legal:ok": 1}), "missing: 'security:ok'")


@pytest.mark.parametrize("key", ["legal:okay", "z:ok", "legal", "", 5, None])
def test_a_key_that_is_not_open_is_refused_and_the_open_ones_are_told(key):
    refused(TWO, Resume(answers={key: 1, "security:ok": 1, "legal:ok": 1}), repr(key), "'legal:ok', 'security:ok'")


def test_a_mistyped_key_is_told_its_nearest():
    refused(ONE, Resume(answers={"a:okk": 1}), "Did you mean 'a:ok'?")


def test_a_question_that_no_pause_has_shown_cannot_be_answered():
    hidden = position(frame("a", "b", work={"a": asked("ok"), "b": asked("ok")}), {"a:ok": 7})

    refused(hidden, Resume(answers={"a:ok": 1, "b:ok": 1}), "'b:ok'")
    assert answers(hidden, Resume(1)) == {"a:ok": 1}


def test_answers_may_carry_the_pause_they_were_meant_for():
    assert answers(ONE, Resume("yes", pause=7)) == {"a:ok": "yes"}
    both = {"legal:ok": 1, "security:ok": 2}
    assert answers(TWO, Resume(answers=both, pause={"legal:ok": 7, "security:ok": 9})) == both


@pytest.mark.parametrize("pause", [6, 8, {"a:ok": 6}])
def test_an_answer_meant_for_another_pause_is_refused(pause):
    refused(ONE, Resume("yes", pause=pause), "'a:ok'", "pause 7")


def test_one_number_for_questions_of_several_pauses_is_refused():
    refused(TWO, Resume(answers={"legal:ok": 1, "security:ok": 2}, pause=7), "'security:ok'", "9")


def test_some_answers_need_not_be_all():
    assert check_some(TWO, {"security:ok": 2}, None, 0) == {"security:ok": 2}
    assert check_some(TWO, {"security:ok": 2}, 9, 0) == {"security:ok": 2}
    with pytest.raises(ResumeError, match="pause 9"):
        check_some(TWO, {"security:ok": 2}, 7, 0)


class Decision(BaseModel):
    when: date
    amount: Decimal


def test_answers_become_plain_json_of_their_own():
    items: list[object] = [1, (2, 3)]
    given = {"list": items, "model": Decision(when=date(2026, 1, 2), amount=Decimal("0.10"))}

    (answer,) = answers(ONE, Resume(given)).values()

    assert answer == {"list": [1, [2, 3]], "model": {"when": "2026-01-02", "amount": "0.10"}}
    items.append("later")
    assert answer["list"] == [1, [2, 3]]


@pytest.mark.parametrize("value", [object(), lambda: 1, {"x": {1: 1, "1": 2}}])
def test_an_answer_that_is_no_json_is_refused_and_names_its_question(value):
    refused(ONE, Resume(value), "'a:ok'")


@pytest.mark.parametrize("value", [float("nan"), 2**63, "x" * (1 << 20), "\0"])
def test_an_answer_beyond_a_limit_says_so(value):
    with pytest.raises(LimitExceededError, match="'a:ok'"):
        answers(ONE, Resume(value))
