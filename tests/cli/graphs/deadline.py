"""A question whose deadline has passed when it is asked, with a default; alone, and beside one that waits."""

from datetime import UTC, datetime

from nodestep import END, START, Graph, interrupt, node

LONG_AGO = datetime(2020, 1, 2, 3, 4, tzinfo=UTC)


@node
def review(state: dict) -> dict:
    return {"answer": interrupt("Approve?", id="approve", expires=LONG_AGO, default="no", assignee="ana\x1b[2K")}


@node
def other(state: dict) -> dict:
    return {"other": interrupt("Approve as well?", id="approve")}


graph = Graph(dict, name="deadline").flow(START >> review >> END)
both = Graph(dict, name="both").flow(START >> [review, other], [review, other] >> END)
