"""What a flow is refused for: every rule, what its message names, and several at once."""

from __future__ import annotations

import functools

import pytest

from nodestep.errors import GraphConfigError
from nodestep.flow import END, START, Node, branch, node, when
from nodestep.flow.edges import link

from .building import flow, problems, refusal, step, steps


def yes(state):
    return True


def assert_only_problem(*items, words, **options):
    found = problems(*items, **options)
    assert len(found) == 1, found
    assert all(word in found[0] for word in words), found[0]


# Items and ends


def test_a_bare_node_is_no_item():
    a, b, c = steps("a b c")

    first, *_ = problems(START >> a, a >> b, c)

    assert all(word in first for word in ["c stands alone", "c >> END", "a >> [b, c]"])


@pytest.mark.parametrize(
    ("item", "words"),
    [
        (yes, ["yes", "@node above", "START >> yes"]),
        (when(yes, "a", otherwise=END), ["when(yes, ...)", "a >> when"]),
        ([START >> "a"], ["flow(*edges)"]),
        (START, ["START stands alone"]),
        (END, ["END stands alone"]),
        (None, ["None stands alone"]),
        ("a", ["'a' stands alone"]),
        (lambda state: None, ["<lambda> stands alone"]),
    ],
)
def test_what_is_no_edge_is_no_item(item, words):
    assert_only_problem(START >> step("a") >> END, item, words=words)


def test_a_lonely_first_node_is_told_how_to_begin():
    assert_only_problem(step("a"), words=["a stands alone", "START >> a", "a >> END"])


@pytest.mark.parametrize(
    ("target", "words"),
    [
        (yes, ["yes is a plain function", "@node"]),
        (lambda state: None, ["lambda", "when(...)"]),
        (3, ["3 is not a node"]),
        (None, ["None", "END"]),
        ({"x": "a"}, ["dict", "branch("]),
        ({"a"}, ["set", "list"]),
        ([], ["empty list"]),
        ([["a"]], ["['a'] stands inside a list"]),
        (Node, ["Node is a class"]),
        (["a", yes], ["a plain function"]),
        (functools.partial(yes), ["partial is a plain function"]),
    ],
)
def test_what_is_no_node_is_no_target(target, words):
    a = step("a", goto=["a"])
    assert_only_problem(START >> a, a >> target, words=["a >> ", *words])


def test_a_chain_inside_a_list_is_refused():
    a, b, c = steps("a b c")

    assert_only_problem(START >> a >> [b >> c, b], b >> END, words=["b >> c", "edge of its own"])


def test_what_is_no_node_is_no_source():
    a = step("a")

    assert_only_problem(START >> a, link(yes, a), a >> END, words=["yes >> a", "plain function"])
    assert_only_problem(START >> a, [] >> a, a >> END, words=["[] >> a", "empty list"])


@pytest.mark.parametrize(
    ("target", "words"),
    [
        (yes, ["yes is a plain function"]),
        ([], ["empty list", "END"]),
        (when(yes, "a", otherwise=END), ["another condition"]),
        (START, ["START", "first node"]),
        (None, ["None"]),
    ],
)
def test_what_is_no_node_is_no_target_of_a_condition(target, words):
    a = step("a")

    assert_only_problem(START >> a >> when(yes, target, otherwise=END), words=["a >> when(yes, ...)", *words])
    assert_only_problem(START >> a >> branch(yes, {"k": target}), words=["a >> branch(yes, ...)", *words])


def test_nothing_leads_into_start():
    a = step("a")

    assert_only_problem(START >> a, a >> START, words=["a >> START", "first node"])


def test_nothing_leads_out_of_end():
    a = step("a")

    assert_only_problem(START >> a >> END, END >> a, words=["END >> a"])
    assert_only_problem(START >> a >> END >> a, words=["END >> a"])


def test_start_is_in_no_join():
    a, b = steps("a b")

    assert_only_problem(START >> a, [START, a] >> b >> END, words=["[START, a] >> b", "START"])


def test_no_edge_goes_on_from_a_condition():
    a, b, c = steps("a b c")

    found = problems(START >> a >> when(yes, b, otherwise=END) >> c, b >> END, a >> [c, END], c >> END)

    assert "when(yes, ...) >> c goes on from when(yes, ...)" in found[0]
    assert "b >> d" in found[0]


def test_a_join_leads_into_no_condition():
    a, b, c = steps("a b c")

    found = problems(START >> [a, b] >> when(yes, c, otherwise=END), c >> END)
    assert "[a, b] >> d" in found[0]
    assert "d >> when(yes, ...)" in found[0]


# Edges and joins


def test_separate_edges_of_a_node_belong_into_a_list():
    a, b, c = steps("a b c")

    assert_only_problem(
        START >> a,
        a >> b,
        a >> [c, when(yes, b, otherwise=END)],
        b >> END,
        c >> END,
        words=["a has 2 separate edges", "a >> b and a >> [c, when(yes, ...)]", "a >> [b, c, when(yes, ...)]"],
    )
    assert_only_problem(START >> a, START >> b, [a, b] >> END, words=["START >> [a, b]"])


def test_an_edge_is_written_once():
    a, b = steps("a b")

    assert_only_problem(START >> a, START >> a >> b >> END, words=["START >> a is written 2 times"])
    assert_only_problem(START >> a >> [b, b], b >> END, words=["a >> [b, b] names b twice"])


def test_a_join_is_written_once():
    a, b, c = steps("a b c")

    assert_only_problem(START >> [a, b] >> c >> END, [b, a] >> c, words=["The join into 'c' is written more than once"])


def test_a_node_has_one_join():
    a, b, c, d = steps("a b c d")

    assert_only_problem(
        START >> [a, b, c], [a, b] >> d >> END, [b, c] >> d, words=["Several joins lead into 'd'", "[a, b, c] >> d"]
    )


def test_a_join_needs_different_nodes():
    a, b = steps("a b")

    assert_only_problem(START >> a, [a, a] >> b >> END, words=["[a, a] >> b names a twice"])


# Names


def test_a_misspelt_name_gets_the_one_that_was_meant():
    a, b = step("triage", goto=["escalte"]), step("escalate")

    assert_only_problem(
        START >> a,
        b >> END,
        words=["'triage' names 'escalte'", "Known nodes: escalate, triage", "Did you mean 'escalate'?"],
    )


def test_a_name_must_be_in_the_graph_wherever_it_stands():
    a = step("a", goto=["nope"])

    found = problems(START >> a >> ["zzz", when(yes, "yyy", otherwise=END)], "www" >> END)

    for name in ("'nope'", "'zzz'", "'yyy'", "'www'"):
        [line] = [line for line in found if f"names {name}" in line]
        assert line.endswith("Known nodes: a.")


def test_end_in_quotes_is_told_as_such():
    a = step("a")

    assert_only_problem(START >> a >> "END", words=["'END'", "without quotes"])


def test_an_alias_is_no_name():
    a = step("a", aliases=["old"])
    b = step("b", goto=["old"])

    assert_only_problem(START >> a >> b, words=["'old'", "alias", "Write 'a'"])


def test_two_functions_with_one_name_are_refused():
    def review(state): ...

    one, two = node(review), step("review")

    assert_only_problem(START >> one, two >> END, words=["Several nodes are named 'review'", "test_refusals", "name="])


def test_one_function_with_different_options_is_refused():
    def review(state): ...

    assert_only_problem(START >> node(review), node(review, timeout=3) >> END, words=["'review'", "different options"])
    assert flow(START >> node(review), node(review) >> END)


def test_aliases_are_free():
    assert_only_problem(
        START >> step("a", aliases=["b"]) >> step("b") >> END, words=["alias 'b' of node 'a'", "another node"]
    )
    assert_only_problem(
        START >> step("a", aliases=["c"]) >> step("b", aliases=["c"]) >> END, words=["alias 'c'", "'a'", "'b'"]
    )


@pytest.mark.parametrize("name", ["", " x", "a\nb", "x" * 513, 3])
def test_a_graph_needs_a_name_that_can_be_shown(name):
    assert_only_problem(START >> step("a") >> END, name=name, words=["name", "Graph(..., name='refunds')"])


# Limits


@pytest.mark.parametrize("max_steps", [0, -1, True, 2.0, "25", None])
def test_max_steps_is_a_whole_number_from_one(max_steps):
    assert_only_problem(START >> step("a") >> END, max_steps=max_steps, words=["max_steps=", "25"])


@pytest.mark.parametrize("timeout", [0, -1, True, "30", float("nan")])
def test_a_timeout_is_seconds(timeout):
    assert_only_problem(START >> step("a") >> END, timeout=timeout, words=["timeout=", "seconds"])


# Paths


def test_an_empty_flow_is_refused():
    assert_only_problem(words=["no node", "START >> first"])
    assert_only_problem(START >> END, words=["no node"])


def test_start_must_lead_somewhere():
    a, b = steps("a b")

    assert_only_problem(a >> b >> END, words=["START >> a"])


def test_a_dead_end_is_refused():
    a, b, c, d = steps("a b c d")

    assert_only_problem(START >> a >> b, words=["Nothing follows 'b'", "b >> END"])
    assert_only_problem(START >> [a, b] >> c, words=["Nothing follows 'c'"])
    assert_only_problem(START >> a >> when(yes, d, otherwise=END), words=["Nothing follows 'd'"])


def test_unreachable_nodes_are_refused():
    a, b, c = steps("a b c")

    assert_only_problem(START >> a >> END, b >> c >> b, words=["START never comes to 'b', 'c'", "goto"])


def test_every_way_of_going_counts_as_reaching():
    a, b, c, d, e = steps("a b c d e")
    f = step("f", goto=["g"])
    g = step("g", goto=[END])

    assert flow(START >> a >> [b, c], [b, c] >> d >> branch(yes, {1: e, 2: END}), e >> when(yes, f, otherwise=g))


def test_a_join_that_can_never_be_complete_is_refused():
    a, b, c, d = steps("a b c d")

    found = problems(START >> a, [a, b] >> c >> END)
    assert "START never comes to 'b'" in found[0]
    assert "The join [a, b] >> c waits for 'b', which never arrives" in found[1]
    assert len(found) == 2

    assert_only_problem(START >> a, [a, d] >> d, d >> END, words=["[a, d] >> d waits for 'd'"])


def test_a_join_of_nodes_that_never_run_together_is_refused():
    a, b, c, d, e = steps("a b c d e")

    assert_only_problem(
        START >> a >> when(yes, b, otherwise=c),
        [b, c] >> d >> END,
        words=["[b, c] >> d waits for 'b' and 'c'", "a >> when(yes, ...)", "b >> d and c >> d"],
    )
    assert_only_problem(
        START >> [a, e] >> b >> branch(yes, {1: c, 2: d, 3: END}),
        d >> step("f"),
        [c, "f"] >> step("g") >> END,
        words=["[c, f] >> g", "b >> branch(yes, ...)"],
    )


def test_a_join_of_nodes_that_may_run_together_is_kept():
    a, b, c, d = steps("a b c d")
    again = step("again", goto=["a", END])

    assert flow(START >> a >> branch(yes, {1: [b, c], 2: b}), [b, c] >> d >> END)
    assert flow(START >> a >> [when(yes, b, otherwise=END), when(yes, c, otherwise=END)], [b, c] >> d >> END)
    assert flow(START >> a >> when(yes, b, otherwise=c), b >> a, [b, c] >> d >> END)
    assert flow(START >> a >> when(yes, b, otherwise=c), [b, c] >> d >> END, b >> again, c >> "again")
    assert flow(START >> step("first", goto=[b]) >> a >> when(yes, b, otherwise=c), [b, c] >> d >> END)


# Conditions


async def async_router(state):
    return True


async def async_generator_router(state):
    yield True


def generator_router(state):
    yield True


class AsyncCallable:
    async def __call__(self, state):
        return True


@pytest.mark.parametrize(
    ("router", "words"),
    [
        (async_router, ["async_router", "asynchronous"]),
        (async_generator_router, ["async_generator_router", "asynchronous"]),
        (functools.partial(async_router), ["asynchronous"]),
        (AsyncCallable(), ["AsyncCallable", "asynchronous"]),
        (generator_router, ["generator_router", "generator"]),
        (step("review"), ["review", "node"]),
        ("review", ["'review'", "function"]),
        (True, ["True", "function"]),
        (lambda: True, ["one argument"]),
        (lambda state, ctx: True, ["one argument"]),
    ],
)
def test_routers_that_cannot_work_are_refused_where_they_are_written(router, words):
    for make in (
        lambda: when(router, "a", otherwise=END),
        lambda: branch(router, {1: "a"}),
    ):
        with pytest.raises(GraphConfigError) as caught:
            make()
        assert all(word in str(caught.value) for word in words), str(caught.value)


@pytest.mark.parametrize("router", [bool, yes, lambda state, limit=3: True, functools.partial(yes), lambda *a: True])
def test_what_takes_the_state_alone_is_a_router(router):
    assert when(router, "a", otherwise=END).router is router


def test_a_router_without_a_signature_is_taken():
    assert when(max, "a", otherwise=END).router is max
    assert repr(when(max, "a", otherwise=END)) == "<when(max, ...)>"


@pytest.mark.parametrize("mapping", [{}, ["a"], None, step("a")])
def test_a_branch_needs_a_mapping(mapping):
    with pytest.raises(GraphConfigError, match=r"branch\(yes, .*Write a dict"):
        branch(yes, mapping)


# All at once


def test_every_problem_is_told():
    a, b, c, d = steps("a b c d")

    message = refusal(
        START >> a,
        a >> b,
        a >> "escalte",
        c,
        END >> d,
        step("escalate") >> END,
        step("a") >> START,
        name="refunds",
        max_steps=0,
        timeout=-1,
    )

    first, *lines = message.split("\n")
    assert first == f"Graph 'refunds' has {len(lines)} problems:"
    assert [line.split(". ")[0] for line in lines] == [f"  {n}" for n in range(1, len(lines) + 1)]
    for words in (
        "max_steps=0",
        "timeout=-1",
        "c stands alone",
        "a >> START",
        "END >> d",
        "a has 2 separate edges",
        "'escalte', which is not in the graph",
        "Several nodes are named 'a'",
        "Nothing follows 'b'",
        "Nothing follows 'd'",
        "START never comes to",
    ):
        assert sum(words in line for line in lines) == 1, (words, message)


def test_one_problem_is_told_on_one_line():
    assert refusal(START >> step("a"), name="refunds") == (
        "Graph 'refunds': Nothing follows 'a'. Write a >> END, or the node that comes next."
    )


def test_a_node_may_judge_the_state():
    class Picky(Node):
        def problems(self, schema):
            yield f"{self.name} needs a field 'mood'."

    assert problems(START >> Picky(step("a").spec) >> END) == ["a needs a field 'mood'."]
