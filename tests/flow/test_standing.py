"""Where a thread stands in its graph, as words by node, and in the drawing."""

from __future__ import annotations

from nodestep.flow import END, START
from nodestep.flow.draw import to_text
from nodestep.flow.standing import standing_by_node
from nodestep.model import ids
from nodestep.model.outcome import Asked, Done, Failed, StoredQuestion
from nodestep.model.position import ROOT, Frame, Listing, Position, Task, Work
from nodestep.model.status import Status

from .building import flow, step, steps
from .test_draw import drawn

ASKED = Work(Asked((StoredQuestion("q", "?"),)))


def at(*tasks, work=None, marks=None, listed=(), status=Status.INTERRUPTED):
    frame = Frame(2, tasks, work or {}, marks or {})
    return Position({ROOT: frame}, {key: Listing(1, 0) for key in listed}, status=status)


def diamond():
    a, b, c, d = steps("a b c d")
    return flow(START >> a >> [b, c] >> d >> END)


def test_a_node_is_told_by_what_its_task_waits_for():
    position = at(Task("b", "b"), Task("c", "c"), work={"b": ASKED, "c": Work(Done())}, listed=["b:q"])
    assert standing_by_node(diamond(), position, 0) == {"b": "asks", "c": "done"}


def test_a_node_with_several_tasks_is_told_with_their_numbers():
    tasks = [Task("b", "b"), Task("b[1]", "b"), Task("b[2]", "b"), Task("b[3]", "b")]
    work = {"b": Work(Done()), "b[1]": Work(Failed("E", "")), "b[2]": Work(Done())}
    assert standing_by_node(diamond(), at(*tasks, work=work), 0) == {"b": "2 done, 1 failed, 1 due"}


def test_a_join_tells_which_share_has_arrived():
    assert standing_by_node(diamond(), at(Task("c", "c"), marks={"d": ("b",)}), 0) == {
        "c": "due",
        "d": "1 of 2 arrived",
    }


def test_a_thread_that_came_to_its_end_stands_there():
    assert standing_by_node(diamond(), at(status=Status.COMPLETED), 0) == {ids.END: "completed"}
    assert standing_by_node(diamond(), Position(status=Status.COMPLETED), 0) == {}
    assert standing_by_node(diamond(), at(status=Status.CANCELLED), 0) == {}


def test_a_renamed_node_bears_its_name_now_and_a_removed_one_is_left_out():
    renamed = flow(START >> step("check", aliases=["look"]) >> END)
    assert standing_by_node(renamed, at(Task("look", "look")), 0) == {"check": "due"}
    assert standing_by_node(renamed, at(Task("gone", "gone")), 0) == {}


def test_what_a_graph_inside_waits_for_is_no_word_of_a_node_outside():
    inner = Position({ROOT: Frame(1, (Task("b", "b"),)), "b": Frame(1, (Task("c", "c"),))})
    assert standing_by_node(diamond(), inner, 0) == {"b": "due"}


def test_the_drawing_leads_the_words_in_behind_the_node():
    assert to_text(diamond(), {"b": "asks", "c": "done", "d": "1 of 2 arrived"}) == drawn(
        """
        START  ──> a
        a      ──> b ◄ asks
               ──> c ◄ done
        [b, c] ══> d ◄ 1 of 2 arrived ──> END  all
        """
    )


def test_the_words_stand_in_a_chain_too():
    a, b = steps("a b")
    assert to_text(flow(START >> a >> b >> END), {"b": "asks"}) == "START ──> a ──> b ◄ asks ──> END\n"
    assert to_text(flow(START >> a >> b >> END), {ids.END: "completed"}) == "START ──> a ──> b ──> END ◄ completed\n"


def test_the_words_cannot_change_the_drawing():
    (a,) = steps("a")
    assert to_text(flow(START >> a >> END), {"a": "x\n\x1b[2K"}) == "START ──> a ◄ x\\n\\x1b[2K ──> END\n"
