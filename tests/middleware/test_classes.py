"""What a middleware class is refused for when it is defined, and a graph for what is no middleware."""

from __future__ import annotations

import pytest

from nodestep import Graph, GraphConfigError, Middleware
from nodestep.middleware import Middleware as TheSame

HOOKS = [
    *("before_graph", "after_graph", "on_run_end", "before_node", "after_node", "on_error", "on_interrupt"),
    *("before_model", "after_model", "before_tool", "after_tool", "on_tool_error", "tools"),
]


def define(**members):
    return type("Mine", (Middleware,), members)


def hook(self, *args):
    return None


async def async_hook(self, *args):
    return None


def test_it_is_one_class_under_two_names():
    assert TheSame is Middleware


@pytest.mark.parametrize("name", HOOKS)
def test_every_hook_can_be_defined(name):
    define(**{name: hook})


@pytest.mark.parametrize("name", [name for name in HOOKS if name != "on_interrupt"])
def test_every_hook_but_on_interrupt_may_be_async(name):
    define(**{name: async_hook})


def test_an_async_on_interrupt_is_refused():
    with pytest.raises(GraphConfigError, match=r"Mine\.on_interrupt is async def.*plain def"):
        define(on_interrupt=async_hook)


def test_an_async_on_interrupt_is_refused_also_behind_a_decorator():
    import functools

    @functools.wraps(async_hook)
    def wrapped(self, *args):
        return async_hook(self, *args)

    with pytest.raises(GraphConfigError, match="on_interrupt is async def"):
        define(on_interrupt=wrapped)


@pytest.mark.parametrize("wrap", [staticmethod, classmethod])
def test_an_async_on_interrupt_is_refused_also_as_a_static_or_class_method(wrap):
    with pytest.raises(GraphConfigError, match="on_interrupt is async def"):
        define(on_interrupt=wrap(async_hook))


@pytest.mark.parametrize(
    ("name", "meant"),
    [
        ("before_nodes", "before_node"),
        ("after_nod", "after_node"),
        ("on_interupt", "on_interrupt"),
        ("on_interrupts", "on_interrupt"),
        ("on_errors", "on_error"),
        ("on_run_ended", "on_run_end"),
        ("beforegraph", "before_graph"),
        ("onerror", "on_error"),
    ],
)
def test_a_misspelt_hook_is_refused_with_the_one_meant(name, meant):
    with pytest.raises(GraphConfigError, match=rf"Mine\.{name}.*Did you mean '{meant}'\?"):
        define(**{name: hook})


@pytest.mark.parametrize("name", ["on_start", "before_everything", "after_all"])
def test_a_method_that_begins_like_a_hook_is_refused_with_the_hooks_there_are(name):
    with pytest.raises(GraphConfigError) as refused:
        define(**{name: hook})
    assert f"Mine.{name}" in str(refused.value)
    assert all(known in str(refused.value) for known in HOOKS)


@pytest.mark.parametrize("name", ["_before_node", "_on_interrupt", "__call__", "decide", "limit", "reset"])
def test_a_method_of_ones_own_is_left_alone(name):
    define(**{name: hook})


def test_what_is_no_method_may_have_any_name():
    define(before_what="text", on_call=None)


def test_a_subclass_of_a_middleware_is_checked_too():
    base = define(before_node=hook)
    with pytest.raises(GraphConfigError, match="Did you mean 'after_node'"):
        type("Below", (base,), {"after_nodes": hook})


def test_a_class_in_the_place_of_an_object_is_told():
    with pytest.raises(GraphConfigError, match=r"Mine is a class. Write Mine\(\)"):
        Graph(dict, middleware=[define()])


@pytest.mark.parametrize("given", [object(), "logger", None, lambda ctx: None])
def test_what_is_no_middleware_is_refused(given):
    with pytest.raises(GraphConfigError, match=f"Middleware objects, not {type(given).__name__}"):
        Graph(dict, middleware=[given])
