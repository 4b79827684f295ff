"""`interrupt_node`: a node that only asks. Its answer is written to the state like an update of a function."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Annotated, Any

from msgspec.structs import replace
from pydantic import AfterValidator
from pydantic_core import PydanticCustomError

from ..errors import GraphExecutionError, StateStoreError, StateUpdateError, did_you_mean
from ..flow.edges import shown
from ..flow.node import Node
from ..flow.options import alias_problems, name_problems, refuse
from ..model.answers import Misfit, schema_of
from ..model.fields import CustomField
from ..model.ids import QUESTION_ID
from ..model.node import DeclaredInterrupt, NodeSpec
from ..model.schema import StateSchema
from ..model.template import Misspelt, Template
from ..runtime.interrupts import interrupt


class InterruptNode(Node):
    """A node that only asks, made by `interrupt_node`."""

    _answer: Any

    def __init__(self, spec: NodeSpec, answer: Any) -> None:
        super().__init__(spec)
        object.__setattr__(self, "_answer", answer)

    @property
    def asks(self) -> DeclaredInterrupt:
        """What is asked, and where the answer goes."""
        assert self.spec.interrupt is not None
        return self.spec.interrupt

    def is_same(self, other: Node) -> bool:
        """Whether both ask the same, for an answer of the same type."""
        return super().is_same(other) and isinstance(other, InterruptNode) and self._answer == other._answer

    def problems(self, schema: StateSchema[Any]) -> Iterable[str]:
        """Tells fields that the state does not have."""
        if not schema.has_field(self.asks.key):
            yield f"Node {self.name!r} writes its answer to key={self.asks.key!r}, and {_unknown(self.asks.key, schema)}"
        for field, place in self.asks.prompt.fields.items():
            if not schema.has_field(field):
                yield f"The prompt of node {self.name!r} names {place}, and {_unknown(field, schema)}"

    def spec_for(self, schema: StateSchema[Any]) -> NodeSpec:
        """The node with the type that its answer must have in this state."""
        asks, answer_type = self.asks, _answer_type(self._answer, schema, self.asks.key)

        def ask(state: Any, context: Any) -> dict[str, Any]:
            try:
                prompt = asks.prompt.render(state)
            except GraphExecutionError:
                if asks.key not in context.work.answers:
                    raise
                prompt = asks.prompt.text  # the answer is in, so nobody reads it
            return {asks.key: interrupt(prompt, id=asks.key, answer=answer_type)}

        return replace(self.spec, call=ask)


def _unknown(field: str, schema: StateSchema[Any]) -> str:
    known = ", ".join(schema.fields) or "none"
    return f"{field!r} is no field of {schema.name}. Fields: {known}.{did_you_mean(field, list(schema.fields))}"


def _answer_type(given: Any, schema: StateSchema[Any], key: str) -> Any:
    """The type of an answer: the one given, else that of an update of the field, where JSON Schema can tell it. Either way
    the field must take the answer too."""
    annotation = given if given is not None else _update_type(schema, key)
    if annotation is None:
        return None

    def taken(answer: Any) -> Any:
        try:
            schema.take_update({key: answer}, "the answer")
        except (StateUpdateError, StateStoreError) as error:
            raise PydanticCustomError("state_field", "{reason}", {"reason": str(error)}) from None
        return answer

    return Annotated[annotation, AfterValidator(taken)]


def _update_type(schema: StateSchema[Any], key: str) -> Any:
    field = schema.fields.get(key)
    if field is None or isinstance(field, CustomField):
        return None  # any JSON: the field, or its reducer, says what it takes
    part = field.part
    annotation = Annotated[(part.annotation, *part.metadata)] if part.metadata else part.annotation
    try:
        schema_of(annotation)
    except Misfit:
        return None
    return annotation


def interrupt_node(
    name: str,
    *,
    key: str,
    prompt: str = "",
    answer: Any = None,
    aliases: Sequence[str] = (),
) -> Node:
    """A pause without a function: the run stops here until a person answers, and goes on with the node that follows.

    - `key`: the field that the answer is written to, through its reducer; it is the id of the question too.
    - `prompt`: the question. Places in it are filled in from the state: `{draft}`, `{order.total:.2f}`, `{items[0]}`; `{{`
      and `}}` stand for braces. They read fields, keys and indexes, and nothing else.
    - `answer`: the type of the answer; `None` is the type of an update of the field. The question carries its JSON
      Schema, and an answer that does not fit is refused before anything is written.
    - `aliases`: former names, by which waiting threads still find the node.

    Raises GraphConfigError for everything that is wrong here; `flow()` raises it for a field that the state does not
    have. A run raises GraphExecutionError for a place that has no value, before it asks.
    """
    problems = [*name_problems(name, "The name"), *alias_problems(aliases, name), *_key_problems(key)]
    template = None
    try:
        template = Template(prompt)
    except (Misspelt, TypeError) as error:
        problems.append(
            f"prompt={shown(prompt)} is not text. Write prompt='Publish {{draft}}?'."
            if isinstance(error, TypeError)
            else f"in its prompt {error}"
        )
    problems += _answer_problems(answer)
    refuse(f"Node {shown(name)}", problems)
    assert template is not None
    asks = DeclaredInterrupt(key, template)
    return InterruptNode(
        NodeSpec(name, interrupt_node, _unbound, is_async=False, aliases=tuple(aliases), interrupt=asks), answer
    )


def _unbound(_state: Any, _context: Any) -> Any:
    raise AssertionError("unreachable: a graph binds the node to its state")


def _key_problems(key: object) -> Iterator[str]:
    if not isinstance(key, str) or not QUESTION_ID.fullmatch(key):
        yield (
            f"key={shown(key)} cannot be the id of a question. It is the name of a state field, of 1 to 256 ASCII letters, "
            "digits, '_', '.' and '-'."
        )


def _answer_problems(answer: Any) -> Iterator[str]:
    try:
        if answer is not None:
            schema_of(answer)
    except Misfit as error:
        yield f"answer={shown(answer)} was refused: {error}. Name a type such as bool, Literal['yes', 'no'] or a model."
