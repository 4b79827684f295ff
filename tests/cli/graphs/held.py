"""A graph whose last node can be held in the middle, to be killed there. What runs is noted in the file `ran`."""

from pathlib import Path
from typing import Any

from nodestep import END, START, BaseState, Graph, interrupt, node


class Order(BaseState):
    answer: str = ""
    paid: bool = False


def note(what: str) -> None:
    with open("ran", "a") as file:
        file.write(f"{what}\n")


@node
def check(state: Order) -> dict[str, Any]:
    note("check")
    return {}


@node
def review(state: Order) -> dict[str, Any]:
    answer = interrupt("Pay?", id="approve")
    note("review")
    return {"answer": answer}


@node
def pay(state: Order) -> dict[str, Any]:
    note("pay")
    if Path("hold").exists():
        with open("reached", "w") as fifo:
            fifo.write("pay")
        with open("hold") as fifo:
            fifo.read()
    return {"paid": True}


graph = Graph(Order).flow(START >> check >> review >> pay >> END)
