"""A graph drawn as Mermaid and as text."""

from __future__ import annotations

import enum
import itertools
import re
import textwrap

from nodestep.flow import END, START, branch, when
from nodestep.flow.draw import to_text
from nodestep.flow.mermaid import to_mermaid

from .building import flow, step, steps


class Kind(enum.Enum):
    REFUND = 1


def route(state):
    return "refund"


def is_large(state):
    return True


def drawn(text: str) -> str:
    return textwrap.dedent(text).lstrip("\n")


def everything():
    triage, refund, reply, close = step("triage"), step("refund"), step("reply"), step("close it")
    ask = step("ask", goto=["reply", END])
    return flow(
        START >> triage >> branch(route, {"refund": refund, "other": [reply, ask], True: END}),
        [refund, reply] >> close >> when(is_large, END, otherwise=triage),
    )


def test_a_straight_graph_is_one_line():
    a, b = steps("a b")

    assert to_text(flow(START >> a >> b >> END)) == "START ──> a ──> b ──> END\n"


def test_text_has_a_line_per_edge():
    assert to_text(everything()) == drawn(
        """
        START           ──> triage
        triage          ──> refund    route: refund
                        ──> reply     route: other
                        ──> ask       route: other
                        ──> END       route: true
        [refund, reply] ══> close it  all
        ask             ┄┄> reply     goto
                        ┄┄> END       goto
        close it        ──> END       is_large: true
                        ──> triage    is_large: false
        """
    )


def test_nodes_with_company_have_lines_of_their_own():
    a, b, c, d = steps("a b c d")

    assert to_text(flow(START >> a >> [b, c], b >> d >> END, c >> d)) == drawn(
        """
        START ──> a
        a     ──> b ──> d
              ──> c ──> d
        d     ──> END
        """
    )


def test_a_loop_is_drawn_once():
    a, b = steps("a b")

    assert to_text(flow(START >> a >> b >> a)) == "START ──> a\na     ──> b ──> a\n"


def test_control_characters_are_written_out():
    key = "x\x1b[2K\r\n\u202e\x9b"

    text = to_text(flow(START >> branch(route, {key: step("a", goto=[END])})))

    assert "route: x\\x1b[2K\\r\\n\\u202e\\x9b\n" in text
    assert all(c.isprintable() or c == "\n" for c in text)


def test_mermaid_draws_every_edge():
    assert to_mermaid(everything()) == drawn(
        """
        flowchart TD
            START(["START"])
            n_triage["triage"]
            n_refund["refund"]
            n_reply["reply"]
            n_ask["ask"]
            n_close_it["close it"]
            END(["END"])
            START --> n_triage
            c_n_triage_1{"route"}
            n_triage --> c_n_triage_1
            c_n_triage_1 -->|"refund"| n_refund
            c_n_triage_1 -->|"other"| n_reply
            c_n_triage_1 -->|"other"| n_ask
            c_n_triage_1 -->|"true"| END
            c_n_close_it_1{"is_large"}
            n_close_it --> c_n_close_it_1
            c_n_close_it_1 -->|"true"| END
            c_n_close_it_1 -->|"false"| n_triage
            j_n_close_it(("all"))
            n_refund --> j_n_close_it
            n_reply --> j_n_close_it
            j_n_close_it --> n_close_it
            n_ask -.-> n_reply
            n_ask -.-> END
        """
    )


def test_end_is_drawn_where_something_leads_to_it():
    a, b = steps("a b")

    assert "END" not in to_mermaid(flow(START >> a >> b >> a))


def test_mermaid_labels_cannot_break_out():
    keys = {
        'x"]-->|y': "x#34;#93;--#62;#124;y",
        "<b>\x1b": "#60;b#62;#92;x1b",
        "#quot;": "#35;quot#59;",
        "": "#39;#39;",
        "é": "é",
        None: "None",
        Kind.REFUND: "Kind.REFUND",
        int: "int",
        ("a", 1): "#40;#39;a#39;#44; 1#41;",
    }

    text = to_mermaid(flow(START >> branch(route, dict.fromkeys(keys, step("a", goto=[END])))))

    assert re.findall(r'-->\|"(.*)"\|', text) == list(keys.values())


def test_mermaid_tells_like_names_apart():
    names = ["a b", "a.b", "a_b", "a-b", "a_b__2", "end", "graph"]
    every = [step(name) for name in names]
    edges = [one >> other for one, other in itertools.pairwise(every)]

    text = to_mermaid(flow(START >> every[0], *edges, every[-1] >> END))

    ids = re.findall(r"^ +(\w+)\[", text, re.MULTILINE)
    assert len(set(ids)) == len(names)
    assert "end" not in ids


def test_keys_without_a_fixed_text_lose_their_address():
    class Odd: ...

    assert " at 0x" not in to_mermaid(flow(START >> branch(route, {Odd(): step("a", goto=[END])})))
