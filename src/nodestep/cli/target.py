"""TARGET: the graph that a command runs or draws, found in a module or a file."""

from __future__ import annotations

import importlib
import importlib.util
import inspect
import os
import sys
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

from ..errors import NodestepError, did_you_mean
from .exits import Refusal
from .safe_text import name, shown
from .telling import place

if TYPE_CHECKING:
    from ..graph import Graph

DEFAULT_NAME = "graph"


def load_graph(target: str) -> Graph[Any]:
    """The graph that `module:name` or `path/to/file.py:name` names; without a name it is `graph`, or the only one there. A
    function without parameters is called for it. Importing runs the module. Raises Refusal, or the graph's
    GraphConfigError."""
    from ..graph import Graph

    where, attribute = _split(target)
    module = _guarded(lambda: _imported(where), where)
    attribute = attribute or _unnamed(module, where)
    found = _attribute(module, attribute, where)
    if inspect.isroutine(found) and not inspect.iscoroutinefunction(found):
        found = _guarded(found, f"{where}:{attribute}")
    if not isinstance(found, Graph):
        raise Refusal(
            f"{name(attribute)} in {name(where)} is no Graph but of type {name(type(found).__name__)}.{_known(module)}"
        )
    found.blueprint  # noqa: B018 - raises here where there is no flow yet
    return found


def _split(target: str) -> tuple[str, str]:
    where, colon, attribute = target.rpartition(":")
    if not colon or attribute.endswith(".py") or "/" in attribute or "\\" in attribute:
        return target, ""
    if not where or not attribute:
        raise Refusal(f"TARGET is module:graph or path/to/file.py:graph, not {name(target)}.")
    return where, attribute


def _imported(where: str) -> ModuleType:
    if where.endswith(".py") or "/" in where or os.sep in where:
        return _from_file(Path(where))
    sys.path.insert(0, os.getcwd())
    importlib.invalidate_caches()
    try:
        return importlib.import_module(where)
    except ModuleNotFoundError as error:
        if error.name is None or not (where == error.name or where.startswith(error.name + ".")):
            raise
        raise Refusal(f"There is no module {name(where)} on the path or in the current folder.") from error
    except (TypeError, ValueError) as error:
        if error.__traceback__ is not None and place(error) is not None:
            raise
        raise Refusal(f"{name(where)} is no module name: {shown(str(error))}.") from error


def _from_file(file: Path) -> ModuleType:
    """The file as a module of its own, found beside its neighbours as a script would find them."""
    if not file.is_file():
        with_ending = file.with_name(f"{file.name}.py")
        hint = f" Did you mean {name(str(with_ending))}?" if with_ending.is_file() else ""
        raise Refusal(f"There is no file {name(str(file))}.{hint}")
    # A name that no other module has: a file called random.py must not stand in for Python's own.
    module_name = f"nodestep_target_{file.stem}"
    spec = importlib.util.spec_from_file_location(module_name, file.resolve())
    if spec is None or spec.loader is None:
        raise Refusal(f"{name(str(file))} is no Python file; its name has to end in .py.")
    sys.path.insert(0, str(file.resolve().parent))
    module = importlib.util.module_from_spec(spec)
    sys.modules[module_name] = module
    try:
        spec.loader.exec_module(module)
    except BaseException:
        del sys.modules[module_name]
        raise
    return module


def _guarded(code: Any, where: str) -> Any:
    """Run a user's code; what it raises is told as theirs, with the line it comes from."""
    try:
        return code()
    except (Refusal, NodestepError, KeyboardInterrupt):
        raise
    except BaseException as error:
        at = place(error)
        line = "" if at is None else f", at {shown(at)}"
        raise Refusal(
            f"{name(where)} cannot be loaded: {name(type(error).__name__)}: {shown(str(error))}{line}. --traceback shows the "
            "whole way there."
        ) from error


def _unnamed(module: ModuleType, where: str) -> str:
    """The name of the graph that is meant when none is given."""
    known = _graphs(module)
    if hasattr(module, DEFAULT_NAME) or not known:
        return DEFAULT_NAME
    if len({id(getattr(module, key)) for key in known}) > 1:
        example = f"{where}:{known[0]}"
        raise Refusal(f"{name(where)} has several graphs. Name one, as in {name(example)}.{_known(module)}")
    return known[0]


def _graphs(module: ModuleType) -> list[str]:
    from ..graph import Graph

    return [key for key, value in vars(module).items() if isinstance(value, Graph)]


def _attribute(module: ModuleType, path: str, where: str) -> Any:
    found: Any = module
    for part in path.split("."):
        if not hasattr(found, part):
            near = did_you_mean(part, [known for known in dir(found) if not known.startswith("_")])
            raise Refusal(f"{name(where)} has no {name(path)}.{shown(near)}{_known(module)}")
        found = getattr(found, part)
    return found


def _known(module: ModuleType) -> str:
    if known := _graphs(module):
        return f" Graphs there: {', '.join(map(name, known))}."
    return " Name a Graph, or a function without parameters that returns one."
