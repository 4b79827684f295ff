"""Every rule that a flow must keep, asked all at once, so that one look at the message is enough.

A rule is a function that judges a draft and yields a line for each thing that breaks it, with what to write instead.
The rules stand in `rules_of_edges.py` (what stands where), `rules_of_names.py`, and `rules_of_paths.py` (where a run
can go).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import TypeAlias

from . import rules_of_edges as edges
from . import rules_of_names as names
from . import rules_of_paths as paths
from .draft import Draft
from .options import max_steps_problems, timeout_problems

Rule: TypeAlias = Callable[[Draft], Iterable[str]]


def problems(draft: Draft) -> list[str]:
    """Everything that is wrong with a flow, in the order of the rules."""
    return [problem for rule in RULES for problem in rule(draft)]


def limits_are_numbers(draft: Draft) -> Iterator[str]:
    """`max_steps` is a whole number from 1, `timeout` a number of seconds or `None`."""
    yield from max_steps_problems(draft.max_steps)
    yield from timeout_problems(draft.timeout)


def nodes_fit_the_state(draft: Draft) -> Iterator[str]:
    """Each node says itself whether it can work on the graph's state."""
    for nodes in draft.found.values():
        yield from (problem for node in nodes for problem in node.problems(draft.schema))


RULES: tuple[Rule, ...] = (
    names.graph_has_a_name,
    limits_are_numbers,
    edges.items_are_edges,
    edges.ends_are_nodes,
    edges.start_only_begins,
    edges.end_only_ends,
    edges.branches_only_end_edges,
    edges.edges_are_written_together,
    edges.joins_name_each_source_once,
    edges.joins_are_written_once,
    names.names_are_known,
    names.names_are_unique,
    names.aliases_are_free,
    nodes_fit_the_state,
    paths.graph_begins,
    paths.nodes_go_on,
    paths.nodes_are_reached,
    paths.joins_can_be_complete,
    paths.joins_wait_for_one_path,
)
"""Every rule, in the order in which a message tells them."""
