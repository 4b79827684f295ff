"""`@node`: what it makes of a function, and what it refuses."""

from __future__ import annotations

import asyncio
import copy
import functools
from datetime import timedelta
from typing import TYPE_CHECKING, Annotated, Any, Optional

import pytest

from nodestep.errors import GraphConfigError
from nodestep.flow import END, START, Node, node
from nodestep.model import node as model
from nodestep.model.node import NodeContext, Retry

from .building import Refund, flow, refusal, step

if TYPE_CHECKING:
    from somewhere import NodeContext as Renamed  # type: ignore[import-not-found]
    from somewhere import Unknown


def call(made: Node) -> Any:
    """What the node's call does with state "s" and context "c"."""
    result = made.spec.call("s", "c")
    return asyncio.run(result) if made.spec.is_async else result


def test_a_node_is_called_like_its_function():
    @node
    def review(state: Refund, limit: float = 100) -> dict:
        """Looks at a refund."""
        return {"approved": state.amount < limit}

    assert review(Refund(amount=80)) == {"approved": True}
    assert review(Refund(amount=80), limit=50) == {"approved": False}
    assert review.__name__ == "review"
    assert review.__doc__ == "Looks at a refund."
    assert review.__module__ == __name__
    assert review.__wrapped__(Refund()) == {"approved": True}
    assert (review.name, review.spec.name, str(review), repr(review)) == (
        "review",
        "review",
        "review",
        "<node 'review'>",
    )


def test_an_async_function_stays_async():
    @node
    async def review(state: Refund) -> dict:
        return {"approved": True}

    assert review.spec.is_async
    assert asyncio.run(review(Refund())) == {"approved": True}


def test_options_go_into_the_spec():
    @node
    def legal(state): ...

    retry = Retry(5, on=(TimeoutError, OSError))

    @node(name="sign off", goto=[legal, "later", END], timeout=1, retry=retry, aliases=["approve"])
    def sign(state): ...

    spec = sign.spec
    assert (spec.name, spec.goto, spec.timeout_s) == ("sign off", ("legal", "later", "__end__"), 1.0)
    assert (spec.retry, spec.aliases, spec.is_async) == (retry, ("approve",), False)
    assert spec.function is sign.__wrapped__
    assert sign.goto_nodes == (legal,)


def test_a_lambda_with_a_name_is_a_node():
    assert call(node(lambda s: [s], name="wrap")) == ["s"]


def test_a_node_never_changes():
    made = step("a")

    with pytest.raises(AttributeError, match="'a'"):
        made.name = "b"  # type: ignore[misc]
    with pytest.raises(AttributeError, match="'a'"):
        del made.name
    assert copy.copy(made) is made
    assert copy.deepcopy({"x": [made]})["x"][0] is made


# The state and the context


def test_the_context_is_known_by_its_annotation():
    @node
    def late(state, ctx: NodeContext):
        return state, ctx

    @node
    def early(run: NodeContext, data):
        return data, run

    @node
    def by_keyword(state, *, anything: NodeContext):
        return state, anything

    @node
    def first_and_keyword(anything: NodeContext, *, state):
        return state, anything

    @node
    def keywords(*, ctx: NodeContext, state):
        return state, ctx

    @node
    def behind_a_default(state, more=1, ctx: NodeContext = None):  # type: ignore[assignment]
        return state, ctx

    @node
    async def waits(ctx: NodeContext, state):
        return state, ctx

    @node
    def positional(state, ctx: NodeContext, /):
        return state, ctx

    @node
    def state_by_keyword(*, state):
        return state, "c"

    for each in (
        state_by_keyword,
        late,
        early,
        by_keyword,
        first_and_keyword,
        keywords,
        behind_a_default,
        waits,
        positional,
    ):
        assert call(each) == ("s", "c"), each


def test_the_context_may_be_annotated_in_every_usual_way():
    from nodestep.model.node import NodeContext as Local

    def as_text(state, ctx: model.NodeContext): ...
    def optional(state, ctx: NodeContext | None = None): ...
    def older(state, ctx: Optional[NodeContext]): ...  # noqa: UP045
    def annotated(state, ctx: Annotated[NodeContext, "the run"]): ...
    def local(state, ctx: Local): ...
    def for_checkers(state: Unknown, ctx: somewhere.NodeContext | None): ...  # type: ignore[name-defined] # noqa: F821
    def nested(state, ctx: "Annotated['NodeContext', Unknown]"): ...  # noqa: UP037

    class MyContext(NodeContext): ...

    def own(state, ctx: MyContext): ...

    for each in (as_text, optional, older, annotated, local, for_checkers, nested, own):
        made = node(each)
        made.spec.call("s", "c")
        with pytest.raises(TypeError):
            made.spec.function()
        assert made.spec.call is each, each


def test_annotations_that_are_types_work_as_text_does():
    def review(state, ctx): ...

    review.__annotations__ = {"state": Refund, "ctx": NodeContext | None}

    assert node(review).spec.call is review


def test_an_annotation_inside_a_closure_is_found():
    def make():
        from nodestep.model.node import NodeContext as Inner

        def review(state, ctx: Inner):
            return Inner

        return review

    assert node(make()).spec.name == "review"


def test_text_that_is_no_expression_is_no_context():
    def review(state, ctx): ...

    review.__annotations__ = {"state": "no type", "ctx": "NodeContext"}

    assert node(review).spec.call is review


def test_text_inside_a_type_is_read():
    def review(state, ctx): ...

    review.__annotations__ = {"state": "Refund", "ctx": Optional["model.NodeContext"]}

    assert node(review).spec.call is review


def test_a_name_that_is_bound_later_harms_nothing():
    def make():
        def review(state, ctx: NodeContext):
            return later

        made = node(review)
        later = 3
        return made

    assert call(make()) == 3


def test_an_annotation_that_means_itself_ends():
    def review(state, ctx): ...

    review.__globals__["Loop"] = "Loop"
    review.__annotations__ = {"ctx": "Loop"}

    with pytest.raises(GraphConfigError, match="'state' and 'ctx'"):
        node(review)


def test_the_innermost_name_counts():
    from nodestep.model.node import NodeContext as Refund  # noqa: F401 - another meaning of a global name

    @node
    def review(state, ctx: Refund): ...

    assert review.spec.call is review.__wrapped__


def test_a_state_that_cannot_be_resolved_harms_nothing():
    @node
    def review(state: Unknown):
        return state

    assert call(review) == "s"


def test_parameters_with_a_default_keep_it():
    @node
    def review(state, limit=3, *rest, strict=True, **more):
        return state, limit, rest, strict, more

    assert call(review) == ("s", 3, (), True, {})


def test_a_state_with_a_default_is_the_state():
    @node
    def review(state=None):
        return state

    assert call(review) == "s"


def test_a_wrapper_that_takes_anything_gets_the_state():
    def review(state, ctx: NodeContext):
        return state, ctx

    def plain(*args, **kwargs):
        return args

    @functools.wraps(review)
    def kept(*args, **kwargs):
        return review(*args, **kwargs)

    assert call(node(plain)) == ("s",)
    assert call(node(kept)) == ("s", "c")
    assert node(kept).name == "review"


@pytest.mark.parametrize(
    ("function", "words"),
    [
        (lambda: None, ["takes no state", "state: YourState"]),
        (lambda a, b: None, ["'a' and 'b'", "ctx: NodeContext"]),
        (lambda *, a, b: None, ["'a' and 'b'", "ctx.context"]),
    ],
)
def test_parameters_that_do_not_fit_are_refused(function, words):
    with pytest.raises(GraphConfigError) as caught:
        node(function, name="odd")
    assert all(word in str(caught.value) for word in ["'odd'", *words])


def test_odd_contexts_are_refused():
    def lonely(ctx: NodeContext): ...
    def two(state, one: NodeContext, other: NodeContext): ...
    def renamed(state, ctx: Renamed): ...
    def hidden(state, more=1, ctx: NodeContext = None, /): ...  # type: ignore[assignment]

    for function, word in ((lonely, "no state"), (two, "'one' and 'other'"), (hidden, "'ctx'")):
        with pytest.raises(GraphConfigError, match=word):
            node(function)
    with pytest.raises(GraphConfigError, match=r"'ctx'.*'Renamed'.*TYPE_CHECKING"):
        node(renamed)


# What is a function


class Desk:
    def __init__(self, limit: float = 100) -> None:
        self.limit = limit

    def plain(self, state: Refund) -> dict:
        return {"approved": state.amount < self.limit}

    @node(timeout=3)
    def review(self, state: Refund, ctx: NodeContext) -> dict:
        """Looks."""
        return {"approved": state.amount < self.limit}

    @staticmethod
    @node
    def still(state: Refund) -> dict:
        return {}

    @classmethod
    def made(cls, state: Refund) -> dict:
        return {"approved": cls is Desk}

    def __call__(self, state: Refund) -> dict:
        return {}


def test_a_bound_method_is_a_node():
    made = node(Desk(10).plain, name="desk")

    assert made.spec.call(Refund(amount=5), None) == {"approved": True}
    assert made(Refund(amount=50)) == {"approved": False}
    assert node(Desk.made).spec.call(Refund(), None) == {"approved": True}


def test_a_method_decorated_in_its_class_is_a_node_of_each_instance():
    desk = Desk(10)

    graph = flow(START >> desk.review >> Desk.still, Desk.still >> END)

    spec = graph.nodes["review"]
    assert spec.timeout_s == 3
    assert spec.call(Refund(amount=50), None) == {"approved": False}
    assert desk.review(Refund(amount=5), None) == {"approved": True}  # type: ignore[arg-type]
    assert desk.review.__doc__ == "Looks."


def test_two_reads_of_a_method_are_one_node():
    desk = Desk()

    assert desk.review.is_same(desk.review)
    assert not desk.review.is_same(Desk().review)
    assert list(flow(START >> desk.review, desk.review >> END).nodes) == ["review"]


def test_the_goto_of_a_method_names_methods_of_its_instance():
    class Office:
        @node(goto=[END])
        def sign(self, state): ...

        @node(goto=[sign, "start"])
        def start(self, state): ...

    office = Office()

    graph = flow(START >> office.start, office.sign >> END)

    assert graph.nodes["sign"].function == office.sign.__wrapped__
    assert list(graph.nodes) == ["start", "sign"]


def test_a_method_without_its_instance_is_refused_by_the_flow():
    message = refusal(START >> Desk.review >> END)

    assert "'review'" in message
    assert "Desk.review without an instance" in message
    assert "step = Desk(...)" in message


def test_the_nodes_of_two_instances_need_names():
    message = refusal(START >> Desk(1).review >> Desk(2).review >> END)

    assert "Several nodes are named 'review'" in message
    assert "name=" in message


def generator(state):
    yield state


async def async_generator(state):
    yield state


@pytest.mark.parametrize(
    ("value", "words"),
    [
        (Refund, ["Refund", "is a class", "instance.method"]),
        (lambda state: None, ["lambda", "no name", "name='step'"]),
        (generator, ["generator", "yields", "ctx.emit"]),
        (async_generator, ["async_generator", "yields", "ctx.emit"]),
        (functools.partial(generator, 1), ["functools.partial", "def"]),
        (Desk(), ["Desk", "the_object.method"]),
        (step("again"), ["again", "is a node already"]),
        (print, ["print", "a def"]),
        ([].append, ["append", "a def"]),
        (staticmethod(generator), ["@staticmethod above @node"]),
        (classmethod(generator), ["TheClass.method"]),
        ("review", ["'review'", "@node(name='review')"]),
        (3, ["int 3", "@node above"]),
        ([], ["list []", "@node above"]),
    ],
)
def test_what_is_no_function_is_refused(value, words):
    with pytest.raises(GraphConfigError) as caught:
        node(value)
    assert all(word in str(caught.value) for word in words), str(caught.value)


def test_a_class_method_decorated_in_its_class_is_refused():
    with pytest.raises(GraphConfigError, match=r"'review'.*node\(TheClass\.method"):

        class Odd:
            @classmethod
            @node
            def review(cls, state): ...


# Options


@pytest.mark.parametrize("name", ["a", "Approve refund", "a.b-c_d 1", "1", "x" * 512])
def test_names_that_fit(name):
    assert step(name).name == name


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("", ["empty"]),
        ("a/b", ["'a/b'", "'/'"]),
        ("a:b[1]", ["':[]'"]),
        ("prüfen", ["'prüfen'", "'ü'", "name="]),
        ("a\n", ["'\\n'"]),
        (" a", ["' a'", "'a'"]),
        (" ", ["' '"]),
        ("x" * 513, ["513", "512"]),
        ("__start__", ["'__start__'", "reserved"]),
        ("__end__", ["reserved"]),
        ("END", ["reserved"]),
        (3, ["3", "string"]),
        (END, ["END"]),
    ],
)
def test_names_that_do_not_fit_are_refused(name, words):
    with pytest.raises(GraphConfigError) as caught:
        step(name)
    assert all(word in str(caught.value) for word in words), str(caught.value)


def test_a_function_whose_name_does_not_fit_needs_another():
    def prüfen(state): ...

    with pytest.raises(GraphConfigError, match="'prüfen'"):
        node(prüfen)
    assert node(prüfen, name="check").name == "check"


@pytest.mark.parametrize("timeout", [0, -1, True, "3", float("nan"), float("inf"), timedelta(seconds=3)])
def test_timeouts_that_are_no_seconds_are_refused(timeout):
    with pytest.raises(GraphConfigError, match=r"'a': timeout=.*seconds"):
        step("a", timeout=timeout)


@pytest.mark.parametrize(
    ("retry", "words"),
    [
        (3, ["retry=3", "Retry(max_attempts=3)"]),
        (Retry, ["retry=Retry", "Retry(max_attempts=3)"]),
        (Retry(0), ["max_attempts=0"]),
        (Retry(True), ["max_attempts=True"]),
        (Retry(2.0), ["max_attempts=2.0"]),  # type: ignore[arg-type]
        (Retry(initial_delay_s=-1), ["initial_delay_s=-1", "seconds"]),
        (Retry(backoff=0.5), ["backoff=0.5", "factor"]),
        (Retry(max_delay_s=float("inf")), ["max_delay_s=inf"]),
        (Retry(jitter=1), ["jitter=1"]),  # type: ignore[arg-type]
        (Retry(on=()), ["on=()"]),
        (Retry(on=KeyboardInterrupt), ["KeyboardInterrupt", "Exception"]),  # type: ignore[arg-type]
        (Retry(on=(OSError, "TimeoutError")), ["'TimeoutError'"]),  # type: ignore[arg-type]
        (Retry(on=[OSError]), ["on="]),  # type: ignore[arg-type]
    ],
)
def test_retries_that_do_not_fit_are_refused(retry, words):
    with pytest.raises(GraphConfigError) as caught:
        step("a", retry=retry)
    assert all(word in str(caught.value) for word in ["'a'", *words]), str(caught.value)


@pytest.mark.parametrize(
    ("goto", "words"),
    [
        ("later", ["goto='later'", "goto=['later']"]),
        (step("b"), ["goto=b", "goto=[b]"]),
        ([3], ["holds 3"]),
        ([generator], ["holds generator"]),
        ([START], ["START"]),
        (["b", step("b")], ["b twice"]),
    ],
)
def test_goto_that_does_not_list_targets_is_refused(goto, words):
    with pytest.raises(GraphConfigError) as caught:
        step("a", goto=goto)
    assert all(word in str(caught.value) for word in ["'a'", *words]), str(caught.value)


@pytest.mark.parametrize(
    ("aliases", "words"),
    [
        ("old", ["'old'", "aliases=["]),
        (["a"], ["'a'", "own name"]),
        (["b", "b"], ["'b'", "twice"]),
        (["a/b"], ["alias 'a/b'", "'/'"]),
        ([3], ["alias 3"]),
    ],
)
def test_aliases_that_do_not_fit_are_refused(aliases, words):
    with pytest.raises(GraphConfigError) as caught:
        step("a", aliases=aliases)
    assert all(word in str(caught.value) for word in words), str(caught.value)


def test_everything_wrong_with_a_node_is_told_at_once():
    with pytest.raises(GraphConfigError) as caught:
        node(lambda a, b: None, name="a/b", timeout=0, retry=1, goto="x", aliases="y")  # type: ignore[call-overload]

    lines = str(caught.value).split("\n")
    assert lines[0] == "Node 'a/b' has 6 problems:"
    assert [line[:5] for line in lines[1:]] == [f"  {n}. " for n in range(1, 7)]
