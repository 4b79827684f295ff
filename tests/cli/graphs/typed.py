"""One question whose answer has the type that the input names."""

from decimal import Decimal
from enum import Enum
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, Field, TypeAdapter

from nodestep import END, START, BaseState, Graph, interrupt, node


class Size(Enum):
    SMALL = "small"
    LARGE = "large"


class Address(BaseModel):
    street: str
    zip: str = Field(pattern=r"^\d{5}$", description="Five digits.")


class Card(BaseModel):
    kind: Literal["card"] = "card"
    number: str


class Transfer(BaseModel):
    kind: Literal["transfer"] = "transfer"
    iban: str


class Tree(BaseModel):
    name: str
    children: "list[Tree]" = Field(default_factory=list)


class Decision(BaseModel):
    approved: bool
    amount: float = Field(80.0, ge=0)
    reason: str | None = None


class Everything(BaseModel):
    size: Size
    until: str | None
    address: Address
    billing: Address | None = None
    tags: list[str] = Field(default_factory=list, max_length=2)
    stops: list[Address]
    pay: Annotated[Card | Transfer, Field(discriminator="kind")]
    limits: dict[str, int]
    place: tuple[int, str]
    count: int | str = 0
    extra: Any = None


def _refuse_friday(day: str) -> str:
    if day == "friday":
        raise ValueError("nothing happens on a friday")
    return day


TYPES: dict[str, Any] = {
    "bool": bool,
    "whole": Annotated[int, Field(ge=1, le=5)],
    "number": float,
    "choice": Literal["red", "green"],
    "numbers": Literal[3, 2, 1],
    "many": Literal["a", "b", "c", "d", "e", "f", "g", "h"],
    "text": Annotated[str, Field(max_length=5)],
    "maybe": bool | None,
    "decimal": Decimal,
    "list": list[int],
    "decision": Decision,
    "everything": Everything,
    "tree": Tree,
    "friday": Annotated[str, AfterValidator(_refuse_friday)],
}


class Asked(BaseState):
    type: str
    answer: Any = None


@node
def review(state: Asked) -> dict[str, Any]:
    kind = TYPES[state.type]
    answer = interrupt(f"A {state.type}, please", id="answer", answer=kind)
    return {"answer": TypeAdapter(kind).dump_python(answer, mode="json")}


graph = Graph(Asked).flow(START >> review >> END)
