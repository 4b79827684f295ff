"""Five questions in a row, each answer noted; a command that routes; what runs is noted in the file `ran`."""

from typing import Annotated, Any

from pydantic import Field

from nodestep import END, START, BaseState, Command, Graph, Node, add, interrupt, node


class Trip(BaseState):
    stops: Annotated[list[str], add] = Field(default_factory=list)
    amount: int = 0
    outcome: str = ""


def note(what: str) -> None:
    with open("ran", "a") as file:
        file.write(f"{what}\n")


def asking(number: int) -> Node:
    def ask(state: Trip) -> dict[str, Any]:
        note(f"ask{number}")
        return {"stops": [interrupt(f"Stop {number}?", id="stop")]}

    return node(ask, name=f"ask{number}")


five = [asking(number) for number in range(1, 6)]
graph = Graph(Trip).flow(START >> five[0] >> five[1] >> five[2] >> five[3] >> five[4] >> END)


@node
def price(state: Trip) -> dict[str, Any]:
    return {"amount": 50}


@node(goto=["pay", "refuse"])
def approve(state: Trip) -> Command:
    if state.amount < 100:
        return Command(goto="pay")
    return Command(goto="pay" if interrupt(f"Pay {state.amount}?", id="pay") == "yes" else "refuse")


@node
def confirm(state: Trip) -> dict[str, Any]:
    return {"outcome": interrupt(f"Book for {state.amount}?", id="book")}


@node
def pay(state: Trip) -> dict[str, Any]:
    return {"outcome": f"paid {state.amount}"}


@node
def refuse(state: Trip) -> dict[str, Any]:
    return {"outcome": f"refused {state.amount}"}


routed = Graph(Trip, name="routed").flow(START >> price >> confirm >> approve, pay >> END, refuse >> END)
