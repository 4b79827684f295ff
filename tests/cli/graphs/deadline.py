"""A question whose deadline has passed when it is asked, with a default."""

from datetime import UTC, datetime

from nodestep import END, START, Graph, interrupt, node

LONG_AGO = datetime(2020, 1, 2, 3, 4, tzinfo=UTC)


@node
def review(state: dict) -> dict:
    return {"answer": interrupt("Approve?", id="approve", expires=LONG_AGO, default="no", assignee="ana\x1b[2K")}


graph = Graph(dict, name="deadline").flow(START >> review >> END)
