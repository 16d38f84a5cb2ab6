import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from gramlink.cli import app

COMMANDS = [command.name for command in app.registered_commands]
GROUPS = [group.name for group in app.registered_groups]
README = Path(__file__).parents[2] / "README.md"
HEAVY = ("numba", "opendp", "polars", "numpy", "matplotlib", "pydantic", "rich.console")


def test_help_lists_every_command(run):
    listed = run("--help").out.partition("Commands:")[2]
    assert re.findall(r"^  ([a-z]+) ", listed, re.MULTILINE) == [*COMMANDS, *GROUPS]


def test_no_command_at_all_shows_the_help(run):
    result = run(ok=False)
    assert "Usage: gramlink" in result.out + result.err


@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize("width", ["80", "20", "200"])
def test_a_command_helps_with_an_example_that_can_be_copied(run, monkeypatch, command, width):
    monkeypatch.setenv("COLUMNS", width)
    lines = [line.strip() for line in run(command, "--help").out.splitlines()]
    example = lines[lines.index("Example:") + 1]
    assert example.startswith(f"gramlink {command} ")


@pytest.mark.parametrize("command", COMMANDS)
def test_the_options_in_an_example_exist(run, command):
    out = run(command, "--help").out
    example, _, options = out.partition("Example:")[2].partition("Options:")
    for option in re.findall(r" (--?[a-z]+)", example):
        assert re.search(rf"(^|, | ){option}\b", options)


def test_nothing_heavy_is_imported_before_a_command_runs():
    code = f"import sys, gramlink.cli; print([m for m in {HEAVY} if m in sys.modules])"
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert found.stdout.strip() == "[]"


def test_the_readme_names_commands_that_exist_and_leaves_none_out():
    block = re.findall(r"^ {4}gramlink ([a-z]+) ", README.read_text("utf-8"), re.MULTILINE)
    assert set(block) <= {*COMMANDS, *GROUPS}
    assert {*COMMANDS, *GROUPS} - set(block) <= {"demo"}


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
