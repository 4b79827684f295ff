"""`subgraph`: a node that is a graph. What is wrong with it alone is told here; how it fits a state, with the graph."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, NoReturn

from ..errors import did_you_mean
from ..flow.edges import shown
from ..flow.node import Node
from ..flow.options import alias_problems, name_problems, refuse
from ..graph import Graph
from ..model.declared import named
from ..model.fields import CustomField
from ..model.node import NodeSpec
from ..model.schema import StateSchema
from ..model.subgraph import Subgraph
from ..runtime.nested import own_store


class SubgraphNode(Node):
    """A node that is a graph, made by `subgraph`."""

    def problems(self, schema: StateSchema[Any]) -> Iterable[str]:
        """Tells shared fields that the two states do not have in common, and inner ones that nothing gives."""
        inner = self.spec.inner
        assert inner is not None
        for name, field in inner.blueprint.schema.fields.items() if inner.share else ():
            if field.required and name not in inner.share:
                yield (
                    f"Subgraph {self.name!r} does not give {name!r}, which {inner.blueprint.schema.name} needs. Share it too, "
                    "give it a default, or write state_in= and state_out=."
                )
        for name in inner.share:
            yield from _sharing_problems(f"Subgraph {self.name!r} shares {name!r}", name, schema, inner)


def _sharing_problems(what: str, field: str, outer: StateSchema[Any], inner: Subgraph) -> Iterator[str]:
    schemas = (outer, inner.blueprint.schema)
    for schema in schemas:
        if not schema.has_field(field):
            known = ", ".join(schema.fields) or "none"
            yield (
                f"{what}, which {schema.name} does not have. Fields: {known}."
                f"{did_you_mean(field, list(schema.fields))} To pass a field under another name, write state_in= and "
                "state_out=."
            )
    ours, theirs = (schema.fields.get(field) for schema in schemas)
    if ours is not None and theirs is not None and ours.annotation != theirs.annotation:
        yield (
            f"{what}, which is {_type_text(ours.annotation)} in {outer.name} and {_type_text(theirs.annotation)} in "
            f"{inner.blueprint.schema.name}. Give it one type, or write state_in= and state_out=."
        )
    if isinstance(ours, CustomField):
        yield (
            f"{what}, whose reducer {named(ours.reducer)} takes updates, and the inner graph's last state does not tell them. "
            "Write state_in= and state_out=, which says what the update is."
        )


def _type_text(annotation: Any) -> str:
    return inspect.formatannotation(annotation)


def subgraph(
    name: str,
    graph: Graph[Any],
    *,
    share: Sequence[str] | None = None,
    state_in: Callable[[Any], Any] | None = None,
    state_out: Callable[[Any], Any] | None = None,
    aliases: Sequence[str] = (),
) -> Node:
    """Make a graph a node of another: `START >> subgraph("review", reviews, share=["draft"]) >> END`.

    The inner graph runs inside the thread of the outer one, as a part of its history, with the store, context and lease of
    the outer run and its own limits and middleware. Its questions show at the top, under `"<outer task>/<inner key>"`.

    - `share`: fields that both states have, of one type. They go in as they are, and what the inner graph made of them
      comes out through the outer reducers. All other fields of the inner state start anew.
    - `state_in(outer state)`, `state_out(inner state)`: instead of `share`, plain functions: the first returns the inner
      graph's input, a dict or its state, the second an update of the outer state. Each gets a copy.
    - `aliases`: former names, by which waiting threads still find the node.

    Raises GraphConfigError for everything that is wrong: a graph without a flow or with a store of its own, neither or
    both of `share` and the maps. Whether the shared fields fit is checked with the outer graph.
    """
    problems = [*name_problems(name, "The name"), *alias_problems(aliases, name)]
    problems += [*_graph_problems(graph), *_state_problems(share, state_in, state_out)]
    refuse(f"Subgraph {shown(name)}", problems)
    inner = Subgraph(graph.blueprint, graph.hooks, tuple(share or ()), state_in, state_out)
    return SubgraphNode(NodeSpec(name, subgraph, _not_called, is_async=False, aliases=tuple(aliases), inner=inner))


def _not_called(_state: Any, _context: Any) -> NoReturn:
    raise AssertionError("unreachable: the runtime runs the inner graph as a frame")


def _graph_problems(graph: Any) -> Iterator[str]:
    if not isinstance(graph, Graph):
        yield f"its graph is {shown(graph)}. Pass a Graph, as in subgraph('review', reviews, share=['draft'])."
    elif not graph.has_flow:
        yield (
            f"graph {graph.name!r} has no flow yet. Call its flow(...) before it becomes a node; a graph cannot be a node "
            "of itself."
        )
    elif graph.state_store is not None:
        yield own_store(graph)


def _state_problems(share: Any, state_in: Any, state_out: Any) -> Iterator[str]:
    maps = {"state_in": state_in, "state_out": state_out}
    given = [name for name, value in maps.items() if value is not None]
    if share is not None and given:
        yield f"share= and {given[0]}= exclude each other. Keep share=, or write state_in= and state_out=."
    elif share is None and len(given) < 2:
        yield (
            f"it does not say {'how state gets in and out' if not given else f'what goes with {given[0]}='}. Write "
            "share=['field', ...] for fields that both states have, or state_in= and state_out=."
        )
    if share is not None:
        yield from _share_problems(share)
    for name in given:
        value = maps[name]
        if not callable(value):
            yield f"{name}={shown(value)} is not a function. Write a def that takes a state and returns a dict."
        elif inspect.iscoroutinefunction(value):
            yield f"{name}={shown(value)} is async, and a map is plain. Do what must be awaited in a node."


def _share_problems(share: Any) -> Iterator[str]:
    if not isinstance(share, (list, tuple)):
        yield f"share={shown(share)} is not a list. Write share=['field', ...]."
        return
    if not share:
        yield "share=[] shares nothing. Name a field that both states have."
    for field in dict.fromkeys(share if all(isinstance(field, str) for field in share) else ()):
        if share.count(field) > 1:
            yield f"share names {field!r} twice. Name it once."
    for field in share:
        if not isinstance(field, str):
            yield f"share holds {shown(field)}, which is not a field's name. Write share=['field', ...]."
