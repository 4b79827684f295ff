"""What the documentation takes from the code: the reference of public names, and the tree of files.

Run by `scripts/reference`. The tests compare what stands in `docs` with what this module makes, so neither can rot.
"""

from __future__ import annotations

import ast
import enum
import inspect
import re
from collections.abc import Callable, Iterator
from importlib import import_module
from pathlib import Path
from typing import Any, Final

ROOT: Final = Path(__file__).parents[1]
SOURCE: Final = ROOT / "src" / "nodestep"
REFERENCE: Final = ROOT / "docs" / "reference.md"
ARCHITECTURE: Final = ROOT / "docs" / "architecture.md"

WIDTH: Final = 100
TREE_WIDTH: Final = 120
FEW_WORDS: Final = 4
"""Fewer words than this behind a colon tell nothing."""
INTRODUCTION: Final = """\
# Reference

Every public name, from its signature and docstring. Written by `scripts/reference`; do not edit it by hand. The
[other pages](index.md) explain how the names work together.
"""

SUBJECTS: Final[tuple[tuple[str, str, tuple[str, ...]], ...]] = (
    ("Graphs", "", ("graph", "runtime.result")),
    ("State", "", ("model.state", "model.reducers")),
    ("Flow and nodes", "", ("flow", "model.node", "model.ids")),
    ("Interrupts", "", ("runtime.interrupts", "runtime.context", "model.interrupt")),
    ("Stores", "", ("store", "sqlite_store", "stores")),
    ("Threads", "", ("threads", "model.event", "model.page", "model.records", "model.status")),
    ("Streams", "", ("runtime.stream",)),
    (
        "Middleware",
        "In `nodestep.middleware`; `Middleware` and `RunOutcome` in `nodestep` too.",
        ("hooks", "middleware"),
    ),
    ("Chat models", "In `nodestep.chat`; `ScriptedChat` in `nodestep` too.", ("chat",)),
    ("Testing", "In `nodestep.testing`.", ("testing",)),
    ("Errors", "", ("errors",)),
)
"""Each subject with a sentence about it and the modules whose names it holds; what none names comes last."""

UNTOLD: Final = {
    "Graph": {"blueprint"},
    "Node": {"__init__", "spec", "goto_nodes", "problems", "is_same"},
}
"""Members that other rooms of the package use, and users do not."""


def reference() -> str:
    """The text of `docs/reference.md`."""
    by_subject: dict[str, list[str]] = {title: [] for title, _, _ in SUBJECTS}
    for name, value in _public():
        title = next((title for title, _, modules in SUBJECTS if _stands_in(value, modules)), "Others")
        by_subject.setdefault(title, []).append("\n".join(_entry(name, value)))
    by_subject["Threads"].insert(0, "\n".join(_thread_methods()))
    sentences = {title: sentence for title, sentence, _ in SUBJECTS}
    parts = [INTRODUCTION]
    for title, entries in by_subject.items():
        if entries:
            sentence = sentences.get(title, "")
            parts.append("\n".join([f"## {title}", *(["", sentence] if sentence else []), "", "\n".join(entries)]))
    return re.sub(r"\n{3,}", "\n\n", "\n".join(parts)).rstrip() + "\n"


def _public() -> Iterator[tuple[str, Any]]:
    """The public names with their values, each once."""
    seen: set[str] = set()
    for module in ("nodestep", "nodestep.middleware", "nodestep.chat", "nodestep.testing"):
        for name in import_module(module).__all__:
            if name not in seen and not name.startswith("__"):
                seen.add(name)
                yield name, getattr(import_module(module), name)


def _stands_in(value: Any, modules: tuple[str, ...]) -> bool:
    where = getattr(value, "__module__", None) or type(value).__module__
    where = where.removeprefix("nodestep.")
    return any(where == module or where.startswith(f"{module}.") for module in modules)


def _entry(name: str, value: Any) -> Iterator[str]:
    yield f"### `{name}`\n"
    if inspect.isclass(value):
        yield from _class(name, value)
    elif callable(value) and hasattr(value, "__name__"):
        yield from _callable(name, value)
        yield _docstring(value)
    else:
        yield _docstring_of_constant(name, value)
    yield ""


def _class(name: str, value: type) -> Iterator[str]:
    if issubclass(value, enum.Enum):
        yield _docstring(value)
        yield "\nMembers: " + ", ".join(f"`{member.name}` ({member.value!r})" for member in value) + "."
        return
    hides = _hides(name, value)
    if not (getattr(value, "_is_protocol", False) or hides("__init__")):
        yield from _callable(name, value)
    yield _docstring(value)
    if issubclass(value, BaseException):
        bases = [base.__name__ for base in value.__bases__]
        yield f"\nDerives from {' and '.join(f'`{base}`' for base in bases)}."
        return
    yield from _members(value, hides)


def _hides(name: str, value: type) -> Callable[[str], bool]:
    """Which members of a class are told elsewhere: those of every thread, and those that only writers of a store use."""
    from nodestep.stores.base import StateStore
    from nodestep.threads import Threads

    told = set(UNTOLD.get(name, ()))
    if issubclass(value, Threads):
        told |= set(vars(Threads)) - {"__init__"}
    if hasattr(value, "commit"):
        told |= set(vars(StateStore)) - {"__init__", "close", "lease_s"}
        told |= {name for name in dir(value) if name.startswith(("before_", "after_"))}
    return told.__contains__


def _thread_methods() -> Iterator[str]:
    from nodestep.threads import Threads

    yield "### Methods of graphs and stores\n"
    yield "A `Graph` and every store have these. A graph asks its own store, or the one given as `state_store=`.\n"
    yield from _members(Threads, lambda _: False)
    yield ""


def _members(value: type, hides: Callable[[str], bool]) -> Iterator[str]:
    for name, member in _own_members(value):
        if hides(name):
            continue
        if isinstance(member, property):
            if member.__doc__:
                yield f"\n#### `{name}`\n\n{_docstring(member)}"
        else:
            yield f"\n#### `{name}()`\n"
            yield from _callable(name, member, skips_self=True)
            yield _docstring(member)


def _own_members(value: type) -> Iterator[tuple[str, Any]]:
    """Public methods and properties of a class and of its bases among ours, the class's own first."""
    seen: set[str] = set()
    for owner in value.__mro__:
        if not owner.__module__.startswith("nodestep"):
            continue
        for name, member in vars(owner).items():
            is_told = inspect.isfunction(member) or isinstance(member, property)
            if is_told and not name.startswith("_") and name not in seen:
                seen.add(name)
                yield name, member


def _callable(name: str, value: Any, *, skips_self: bool = False) -> Iterator[str]:
    try:
        getattr(value, "__init__", None)  # a value's class makes it when it is asked for
        signature = inspect.signature(value)
    except (ValueError, TypeError):
        return
    if inspect.isclass(value) and not _is_of_ours(value):
        return
    every = list(signature.parameters.values())[1 if skips_self else 0 :]
    kept = [p for p in every if not (p.name.startswith("_") and p.kind is p.KEYWORD_ONLY)]
    returns = "" if signature.return_annotation in (inspect.Signature.empty, None) else signature.return_annotation
    if inspect.isclass(value):
        returns = ""
    prefix = "async " if inspect.iscoroutinefunction(value) else ""
    yield f"```python\n{_written(prefix + name, _parameters(kept), _annotation(returns))}\n```\n"


def _is_of_ours(value: type) -> bool:
    """Whether a class says how its objects are made, rather than a base outside of this package."""
    made = next(owner for owner in value.__mro__ if "__init__" in vars(owner))
    return made.__module__.startswith("nodestep")


def _parameters(parameters: list[inspect.Parameter]) -> list[str]:
    shown: list[str] = []
    has_star = False
    for number, parameter in enumerate(parameters):
        if parameter.kind is parameter.KEYWORD_ONLY and not has_star:
            shown.append("*")
        has_star = has_star or parameter.kind in (parameter.KEYWORD_ONLY, parameter.VAR_POSITIONAL)
        shown.append(_parameter(parameter))
        after = parameters[number + 1].kind if number + 1 < len(parameters) else None
        if parameter.kind is parameter.POSITIONAL_ONLY and after is not parameter.POSITIONAL_ONLY:
            shown.append("/")
    return shown


_GATHERING: Final = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)


def _parameter(parameter: inspect.Parameter) -> str:
    stars = "*" * (1 + (parameter.kind is parameter.VAR_KEYWORD)) if parameter.kind in _GATHERING else ""
    text = f"{stars}{parameter.name}"
    annotated = parameter.annotation is not parameter.empty
    if annotated:
        text += f": {_annotation(parameter.annotation)}"
    if parameter.default is not parameter.empty:
        text += f" = {_default(parameter.default)}" if annotated else f"={_default(parameter.default)}"
    return text


def _annotation(annotation: Any) -> str:
    return annotation if isinstance(annotation, str) else getattr(annotation, "__name__", repr(annotation))


def _default(value: Any) -> str:
    if isinstance(value, type):
        return value.__name__
    text = f'"{value}"' if isinstance(value, str) else repr(value)
    return "..." if " at 0x" in text or text.startswith("<") else text


def _written(name: str, parameters: list[str], returns: str) -> str:
    arrow = f" -> {returns}" if returns else ""
    line = f"{name}({', '.join(parameters)}){arrow}"
    if len(line) <= WIDTH:
        return line
    inner = "".join(f"    {parameter},\n" for parameter in parameters)
    return f"{name}(\n{inner}){arrow}"


def _docstring(value: Any) -> str:
    return inspect.cleandoc(value.__doc__ or "")


def _docstring_of_constant(name: str, value: Any) -> str:
    """The text below a constant in its module, which Python itself does not keep."""
    tree = ast.parse(Path(inspect.getfile(type(value))).read_text(encoding="utf-8"))
    for statement, following in zip(tree.body, tree.body[1:], strict=False):
        if (
            isinstance(statement, ast.AnnAssign)
            and isinstance(statement.target, ast.Name)
            and statement.target.id == name
        ):
            match following:
                case ast.Expr(value=ast.Constant(value=str(text))):
                    return inspect.cleandoc(text)
    return ""


ROOMS: Final = (
    "errors.py",
    "model",
    "flow",
    "engine",
    "stores",
    "hooks",
    "people",
    "runtime",
    "threads.py",
    "store.py",
    "graph.py",
    "middleware",
    "cli",
    "__init__.py",
)
"""The order of the house, from the ground up; what is not named here comes last."""


def tree() -> str:
    """The files of the package, each with the first sentence of what it says of itself."""
    rows = list(_rows(SOURCE, ""))
    width = max(len(name) for name, _ in rows)
    room = TREE_WIDTH - width - 2
    return "src/nodestep/\n" + "".join(
        f"{name:{width}}  {_shortened(text, room)}".rstrip() + "\n" for name, text in rows
    )


def _shortened(sentence: str, room: int) -> str:
    """A sentence, or as much of its beginning as there is room for, cut where it makes a stop."""
    short = sentence.removesuffix(".")
    while len(short) > room and (stops := list(re.finditer(r"[:;,] ", short))):
        short = short[: stops[-1].start()]
        before, colon, after = short.rpartition(": ")
        if colon and len(after.split()) < FEW_WORDS:
            short = before
    return short


def _rows(folder: Path, indent: str) -> Iterator[tuple[str, str]]:
    entries = sorted(filter(_counts, folder.iterdir()), key=_order)
    for entry in entries:
        is_last = entry is entries[-1]
        branch, below = ("└── ", "    ") if is_last else ("├── ", "│   ")
        if entry.is_dir():
            yield f"{indent}{branch}{entry.name}/", _first_sentence(entry / "__init__.py")
            yield from _rows(entry, indent + below)
        else:
            yield f"{indent}{branch}{entry.name}", _first_sentence(entry)


def _counts(entry: Path) -> bool:
    if entry.is_dir():
        return entry.name != "__pycache__"
    return entry.suffix in (".py", ".sql") and (entry.name != "__init__.py" or entry.parent == SOURCE)


def _order(entry: Path) -> tuple[int, bool, str]:
    if entry.parent == SOURCE:
        return (ROOMS.index(entry.name) if entry.name in ROOMS else len(ROOMS), False, entry.name)
    return (0, entry.is_dir(), entry.name)


def _first_sentence(file: Path) -> str:
    if not file.exists():
        return ""
    text = file.read_text(encoding="utf-8")
    if file.suffix == ".sql":
        paragraph = text.partition("\n")[0].removeprefix("--").strip()
        if paragraph.startswith("name:"):
            return "Every query, by its name."
    else:
        paragraph = " ".join((ast.get_docstring(ast.parse(text)) or "").split("\n\n")[0].split())
    return re.split(r"(?<=[.!?]) (?=[A-Z`])", paragraph)[0]


def with_tree(page: str) -> str:
    """A page with the block below the mark `<!-- tree -->` made anew."""
    return re.sub(
        r"(<!-- tree -->\n```\n).*?(```\n)", lambda found: found[1] + tree() + found[2], page, flags=re.DOTALL
    )


if __name__ == "__main__":
    REFERENCE.write_text(reference(), encoding="utf-8")
    ARCHITECTURE.write_text(with_tree(ARCHITECTURE.read_text(encoding="utf-8")), encoding="utf-8")
