"""A blueprint told as plain data, for tools: JSON values only, in the order written, the same in every process."""

from __future__ import annotations

import inspect
import json
import re
from typing import Any, ClassVar

from pydantic.json_schema import GenerateJsonSchema

from ..model.blueprint import Blueprint, Branch, Edge
from ..model.fields import Field
from ..model.json import Json, JsonObject
from ..model.node import DeclaredInterrupt, NodeSpec, Retry
from ..model.subgraph import Subgraph
from .branches import key_text
from .edges import shown_name


def to_json(blueprint: Blueprint) -> str:
    """What `to_spec` tells, as ASCII JSON text with an indent of 2."""
    return json.dumps(to_spec(blueprint), indent=2)


def to_spec(blueprint: Blueprint) -> JsonObject:
    """The graph as data: its state, nodes, edges and joins; times are in seconds.

    START and END stand by these names, which no node can have. A field tells its JSON Schema where it has one, else only
    the text of its type; functions are told by their names. `subgraph` of a node holds the graph inside it, in this form.
    """
    return {
        "name": blueprint.name,
        "max_steps": blueprint.max_steps,
        "timeout_s": blueprint.timeout_s,
        "state": {
            "name": blueprint.schema.name,
            "fields": [_field(field) for field in blueprint.schema.fields.values()],
        },
        "nodes": [_node(spec) for spec in blueprint.nodes.values()],
        "edges": [_edge(source, edge) for source, edges in blueprint.edges.items() for edge in edges],
        "joins": [{"from": list(join.sources), "to": shown_name(join.target)} for join in blueprint.joins],
    }


def _field(field: Field) -> JsonObject:
    return {
        "name": field.name,
        "type": _without_addresses(inspect.formatannotation(field.annotation)),
        "schema": _json_schema(field),
        "required": field.required,
        "reducer": _name_of(field.reducer),
    }


class _Quiet(GenerateJsonSchema):
    ignored_warning_kinds: ClassVar[set[Any]] = {"skipped-choice", "non-serializable-default"}  # type: ignore[misc]


def _json_schema(field: Field) -> JsonObject | None:
    try:
        return field.whole.adapter.json_schema(schema_generator=_Quiet)
    except Exception:  # many kinds, and a type's own hooks may raise anything; the text of the type is told anyway
        return None


def _node(spec: NodeSpec) -> JsonObject:
    return {
        "name": spec.name,
        "is_async": spec.is_async,
        "timeout_s": spec.timeout_s,
        "retry": None if spec.retry is None else _retry(spec.retry),
        "goto": [shown_name(target) for target in spec.goto],
        "aliases": list(spec.aliases),
        "interrupt": None if spec.interrupt is None else _interrupt(spec.interrupt),
        "subgraph": None if spec.inner is None else _subgraph(spec.inner),
    }


def _interrupt(interrupt: DeclaredInterrupt) -> JsonObject:
    return {"key": interrupt.key, "prompt": interrupt.prompt.text}


def _subgraph(inner: Subgraph) -> JsonObject:
    return {
        "share": list(inner.share),
        "state_in": None if inner.state_in is None else _name_of(inner.state_in),
        "state_out": None if inner.state_out is None else _name_of(inner.state_out),
        "graph": to_spec(inner.blueprint),
    }


def _retry(retry: Retry) -> JsonObject:
    kinds = retry.on if isinstance(retry.on, tuple) else (retry.on,)
    return {
        "max_attempts": retry.max_attempts,
        "initial_delay_s": retry.initial_delay_s,
        "backoff": retry.backoff,
        "max_delay_s": retry.max_delay_s,
        "jitter": retry.jitter,
        "on": [kind.__name__ for kind in kinds],
    }


def _edge(source: str, edge: Edge) -> JsonObject:
    if not isinstance(edge, Branch):
        return {"from": shown_name(source), "to": shown_name(edge)}
    return {
        "from": shown_name(source),
        "when" if edge.is_predicate else "branch": edge.label,
        "targets": [
            {"key": _key(key), "to": [shown_name(target) for target in targets]}
            for key, targets in edge.targets.items()
        ],
    }


def _key(key: object) -> Json:
    """A key of a branch: itself where JSON has it, else its text."""
    return key if key is None or type(key) in (str, bool, int) else key_text(key)


def _name_of(function: Any) -> str:
    return str(getattr(function, "__name__", type(function).__name__))


def _without_addresses(text: str) -> str:
    return re.sub(r" at 0x[0-9a-fA-F]+", "", text)
