import os
import re
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path

import pytest

from gramlink import cli
from gramlink.cli import PANELS, app
from gramlink.cli.help import name_of

GROUPS = {name_of(one.typer_instance): one.typer_instance for one in app.registered_groups}
COMMANDS = [
    *(command.name for command in app.registered_commands),
    *(f"{name} {one.name}" for name, group in GROUPS.items() for one in group.registered_commands),
]
ENTRIES = [name_of(entry) for entries in PANELS.values() for entry in entries]
README = Path(__file__).parents[2] / "README.md"
HEAVY = ("numba", "opendp", "polars", "numpy", "matplotlib", "pydantic", "rich.console")


def test_help_lists_every_command_under_who_uses_it(run):
    owners, unit, trial = re.split(r"^(?:For|To) .*:$", run("--help").out, flags=re.M)[1:]
    listed = [re.findall(r"^  ([a-z]+) ", part, re.M) for part in (owners, unit, trial)]
    assert [*listed[0], *listed[1], *listed[2]] == ENTRIES
    assert {"init", "mine", "exchange"} <= set(listed[0])
    assert listed[1:] == [["unit", "link", "explain"], ["demo", "evaluate", "experiments"]]


def test_every_command_is_listed(run):
    assert sorted(ENTRIES) == sorted({name.split()[0] for name in COMMANDS})
    for name, group in GROUPS.items():
        listed = re.findall(r"^  ([a-z]+) ", run(name, "--help").out, re.M)
        assert sorted(listed) == sorted(one.name for one in group.registered_commands)


@pytest.mark.parametrize("group", [[], *([name] for name in GROUPS)], ids=str)
@pytest.mark.parametrize("width", ["60", "80", "100", "200"])
def test_what_is_said_of_a_command_is_a_whole_sentence(run, monkeypatch, width, group):
    monkeypatch.setenv("COLUMNS", width)
    out = run(*group, "--help").out
    assert "..." not in out.replace("[ARGS]...", "")
    assert max(map(len, out.splitlines())) <= int(width)
    commands = out.partition("Show this message and exit.")[2].partition("  Start with")[0]
    said = re.split(r"^(?:  [a-z]+ |\S.*:$)", commands, flags=re.M)
    assert all(" ".join(text.split()).endswith(".") for text in said if text.strip())


def test_the_version_is_that_of_the_package(run):
    assert run("--version").out == f"gramlink {version('gramlink')}\n"


@pytest.mark.parametrize("name", ["serve", "exchanges"])
def test_what_the_unit_does_is_no_command_of_its_own(run, name):
    result = run(name, ok=False)
    assert result.code == 2
    assert f"No such command '{name}'" in result.err


def test_a_mistyped_command_is_guessed(run):
    assert "Did you mean 'unit'?" in run("unti", ok=False).err
    assert "Did you mean 'serve'?" in run("unit", "sevre", ok=False).err


def test_a_command_module_is_short():
    root = Path(cli.__file__).parent
    long = {path for path in root.rglob("*.py") if len(path.read_text("utf-8").splitlines()) > 150}
    assert long == set()


def test_no_command_at_all_shows_the_help(run):
    result = run(ok=False)
    assert "Usage: gramlink" in result.out + result.err


@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize("width", ["80", "20", "200"])
def test_a_command_helps_with_an_example_that_can_be_copied(run, monkeypatch, command, width):
    monkeypatch.setenv("COLUMNS", width)
    lines = [line.strip() for line in run(*command.split(), "--help").out.splitlines()]
    example = lines[lines.index("Example:") + 1]
    assert example.startswith(f"gramlink {command} ")


@pytest.mark.parametrize("command", COMMANDS)
def test_the_options_in_an_example_exist(run, command):
    out = run(*command.split(), "--help").out
    example, _, options = out.partition("Example:")[2].partition("Options:")
    for option in re.findall(r" (--?[a-z]+)", example):
        assert re.search(rf"(^|, | ){option}\b", options)


def test_nothing_heavy_is_imported_before_a_command_runs():
    code = f"import sys, gramlink.cli; print([m for m in {HEAVY} if m in sys.modules])"
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert found.stdout.strip() == "[]"


def test_the_readme_names_commands_that_exist_and_leaves_none_out():
    found = re.findall(r"^ {4}gramlink ([a-z]+) ([a-z]+)?", README.read_text("utf-8"), re.MULTILINE)
    named = {f"{one} {two}" if one in GROUPS else one for one, two in found}
    assert named <= set(COMMANDS)
    assert set(ENTRIES) - {name.split()[0] for name in named} <= {"demo"}


def test_the_options_that_the_readme_gives_exist(run):
    for line in re.findall(r"^ {4}(gramlink .*?) *(?:#.*)?$", README.read_text("utf-8"), re.M):
        _, *words = line.split()
        command, rest = (words[:2], words[2:]) if words[0] in GROUPS else (words[:1], words[1:])
        helped = run(*command, "--help").out
        for option in (word for word in rest if word.startswith("-")):
            assert re.search(rf"(^|, | ){option}\b", helped, re.M), line


@pytest.mark.parametrize(
    "args",
    [
        ["nonsense"],
        ["mine"],
        ["mine", "hospital.csv", "--nonsense"],
        ["link"],
        ["link", "one.bundle", "--distances"],
        ["merge"],
        ["explain", "model.json", "one.bundle", "other.bundle", "7eb5"],
        ["dedupe"],
        ["dedupe", "one.csv", "other.csv"],
        ["demo", "--count", "many"],
        ["demo", "--seed", "-1"],
        ["mine", "hospital.csv", "--epsilon"],
    ],
    ids=" ".join,
)
def test_a_misspelt_command_line_is_refused_by_code_2(run, args):
    result = run(*args, ok=False)
    assert result.code == 2
    assert "Error: " in result.err
    assert "Traceback" not in result.err


def test_the_installed_command_answers():
    found = subprocess.run(
        [sys.executable, "-c", "from gramlink.cli import main; main()", "merge", "--help"],
        capture_output=True,
        text=True,
        env={**os.environ, "COLUMNS": "80"},
        check=True,
    )
    assert "Merge what the owners mined" in found.stdout
    assert found.stderr == ""
