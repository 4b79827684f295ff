"""Exit codes, help, and what a program gets: told in one place, and true."""

from __future__ import annotations

import inspect
import subprocess
import sys

import pytest
from typer.testing import CliRunner

from nodestep import errors
from nodestep.cli.app import COMMANDS, application
from nodestep.cli.exits import EXIT_OF, MEANING, Exit, exit_of, exit_of_run

from .driving import REFUND, environment

ALL = [kind for _, kind in inspect.getmembers(errors, inspect.isclass) if issubclass(kind, errors.NodestepError)]


@pytest.mark.parametrize("kind", ALL, ids=lambda kind: kind.__name__)
def test_every_error_has_a_code_of_its_own(kind):
    assert EXIT_OF[kind] in MEANING
    assert EXIT_OF[kind] is not Exit.DONE


def test_an_error_that_is_not_ours_is_a_failure():
    assert exit_of(ValueError()) is Exit.FAILED


@pytest.mark.parametrize(
    "error", [errors.ResumeError("x"), errors.GraphConfigError("x"), errors.UnknownThreadError("x")]
)
def test_what_a_node_raises_says_nothing_of_the_command(error):
    assert exit_of_run(error) is Exit.FAILED


@pytest.mark.parametrize("arguments", [[], *([name] for name in COMMANDS)])
def test_every_help_tells_the_exit_codes(nodestep, arguments):
    ended = nodestep(*arguments, "--help")
    assert ended.code == 0
    for code, meaning in MEANING.items():
        assert f"{code.value} {meaning}" in ended.told


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_has_json_and_tells_every_option(name):
    from typer.main import get_command

    command = get_command(application()).commands[name]  # type: ignore[attr-defined]
    options = {option for parameter in command.params for option in parameter.opts}
    assert "--json" in options
    assert command.help
    for parameter in command.params:
        assert parameter.help, f"{name} does not tell what {parameter.name} is"


@pytest.mark.parametrize(
    ("arguments", "word"),
    [
        ([], "Missing command"),
        (["nowhere"], "No such command"),
        (["pending", "--nowhere"], "No such option"),
        (["audit", "--thread", "t"], "The thread stands without an option there: nodestep audit ID."),
        (["answer"], "Missing argument"),
        (["pending", "--limit", "x"], "--limit"),
        (["draw", REFUND, "--format", "x"], "mermaid"),
    ],
)
def test_a_command_line_that_cannot_be_read_is_a_usage_error(nodestep, arguments, word):
    ended = nodestep(*arguments)
    assert ended.code == 2
    assert "Traceback" not in ended.told
    if arguments:
        assert ended.err.startswith("error: ")
        assert word in ended.told
        assert "--help tells more" in ended.told
        as_json = nodestep(*arguments, "--json")
        assert (as_json.code, as_json.json["error"]["type"], as_json.err) == (2, "Usage", "")


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (["pending"], 2),
        (["pending", "--store", "none.db"], 7),
        (["answer", "t", "v", "--store", "none.db"], 7),
        (["run", "nowhere.py"], 2),
        (["draw", "nowhere"], 2),
        (["run", REFUND], 2),
        (["demo", "--store", "."], 2),
        (["show", "t", "--store", "none.db"], 7),
        (["threads", "--store", "none.db"], 7),
        (["history", "t", "--store", "none.db"], 7),
        (["diff", "t", "1-1", "--store", "none.db"], 7),
        (["fork", "t", "--from", "1-1", "--store", "none.db"], 7),
        (["edit", REFUND, "t", "--set", "{}", "--store", "none.db"], 7),
        (["cancel", "t", "--store", "none.db"], 7),
        (["delete", "t", "--yes", "--store", "none.db"], 7),
        (["prune", "t", "--keep", "1", "--yes", "--store", "none.db"], 7),
        (["audit", "--store", "none.db"], 7),
    ],
)
def test_an_error_is_one_json_document_too(nodestep, arguments, code):
    ended = nodestep(*arguments, "--json")
    assert ended.json["error"]["type"] in {2: ["Usage", "GraphConfigError"], 7: ["Unknown"]}[code]
    assert (ended.code, ended.err) == (code, "")
    assert ended.json["error"]["exit_code"] == code
    assert ended.json["error"]["message"]
    assert ended.out.isascii()


def test_the_app_runs_under_a_test_runner_of_typer(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))
    runner, app = CliRunner(), application()
    paused = runner.invoke(app, ["run", REFUND, "--store", "a.db", "--thread", "t", "--input", "-"], input="{}")
    assert paused.exit_code == 3
    assert "asks review:approve (pause 1)" in paused.output
    answered = runner.invoke(app, ["answer", "--store", "a.db", "--pause", "1", "t", "-"], input="yes\n")
    assert answered.exit_code == 0
    done = runner.invoke(app, ["run", REFUND, "--store", "a.db", "--thread", "t", "--json"])
    assert done.exit_code == 0
    assert '"answer": "yes"' in done.stdout


def test_the_version_is_told(nodestep):
    import nodestep as package

    assert nodestep("--version").out == f"nodestep {package.__version__}\n"


def python(code, **env):
    return subprocess.run(
        [sys.executable, "-c", code], env=environment(**env), capture_output=True, text=True, timeout=60, check=False
    )


def test_without_the_extra_one_line_says_what_to_install():
    hide = (
        "import sys, importlib.util as u; find = u.find_spec\n"
        "u.find_spec = lambda name, *more: None if name in ('typer', 'rich') else find(name, *more)\n"
        "sys.modules['typer'] = sys.modules['rich'] = None\n"
        "from nodestep.cli import main; sys.exit(main())"
    )
    ended = python(hide)
    assert (ended.returncode, ended.stdout) == (2, "")
    assert ended.stderr.count("\n") == 1
    assert "pip install 'nodestep[cli]'" in ended.stderr


@pytest.mark.parametrize("module", ["nodestep.runtime", "nodestep.flow", "nodestep.graph", "asyncio", "rich"])
def test_commands_on_a_store_load_nothing_that_runs_graphs(nodestep, asks, tmp_path, module):
    asks()
    code = f"import sys; from nodestep.cli.app import run; run(sys.argv[1:]); assert {module!r} not in sys.modules"
    for arguments in (
        ["pending"],
        ["threads"],
        ["show", "refund-1"],
        ["history", "refund-1"],
        ["diff", "refund-1", "1-1"],
        ["fork", "refund-1", "--from", "1-1"],
        ["answer", "refund-1", "yes", "--pause", "1"],
        ["audit"],
        ["cancel", "refund-1", "--branch", "fork-1"],
        ["prune", "refund-1", "--keep", "1", "--yes"],
        ["delete", "refund-1", "--yes"],
    ):
        ended = subprocess.run(
            [sys.executable, "-c", code, *arguments, "--store", "a.db"],
            cwd=tmp_path,
            env=environment(),
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
        assert ended.returncode == 0, ended.stderr


def test_a_terminal_of_few_characters_gets_the_rest_written_out(tmp_path):
    code = "import sys; from nodestep.cli.app import run; sys.exit(run(sys.argv[1:]))"
    ended = subprocess.run(
        [sys.executable, "-c", code, "draw", REFUND],
        env=environment(PYTHONIOENCODING="ascii"),
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert ended.returncode == 0, ended.stderr
    assert r"\u2500\u2500>" in ended.stdout


def test_a_command_that_takes_no_thread_gives_no_advice_about_one(nodestep):
    ended = nodestep("draw", REFUND, "--thread", "t")
    assert ended.code == 2
    assert "The thread stands" not in ended.told
