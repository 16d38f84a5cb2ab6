"""The documentation says what the code does today."""

import re
import sys
from pathlib import Path

import pytest

from cli.owners import typed
from systems import posix

ROOT = Path(__file__).parent.parent
PAGES = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")])


def test_pages_are_what_the_code_and_the_data_say():
    sys.path.insert(0, str(ROOT))
    try:
        from docs.__main__ import PAGES
    finally:
        sys.path.remove(str(ROOT))
    assert len(PAGES) == 4
    for target, made in PAGES.items():
        assert target.read_text("utf-8") == made(), "run `make docs`"


@posix
def test_every_command_of_the_tutorial_works(tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    text = (ROOT / "docs" / "tutorial.md").read_text("utf-8")
    blocks = re.findall(r"```console\n(.*?)```", text, re.DOTALL)
    lines = [line[2:] for block in blocks for line in block.splitlines()]
    assert len(lines) > 10
    printed = ""
    for line in lines:
        printed = typed(capsys, monkeypatch, line)
    f1 = float(re.search(r"F1 +([\d.]+)", printed)[1])
    assert f1 > 0.9


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_link_leads_somewhere(page):
    for target in re.findall(r"\]\(([^)#]+)\)", page.read_text("utf-8")):
        if not target.startswith("https://"):
            assert (page.parent / target).exists(), target


def test_the_readme_opens_with_the_two_commands_and_what_is_protected():
    first_screen = (ROOT / "README.md").read_text("utf-8").splitlines()[:32]
    text = "\n".join(first_screen)
    for phrase in ("make demo", "make test", "What it protects", "What it does not protect"):
        assert phrase in text


def test_every_test_that_the_table_of_attackers_links_to_is_there():
    table = (ROOT / "SECURITY.md").read_text("utf-8")
    shown = re.findall(r"\[([a-z0-9 ]+)\]\((tests/[^)]+\.py)\)", table)
    assert len(shown) > 30
    for sentence, file in shown:
        name = f"def test_{sentence.replace(' ', '_')}("
        assert name in (ROOT / file).read_text("utf-8"), f"{file} has no {name}"
    rows = [
        line for line in table.splitlines() if line.startswith("| ") and "**nothing**" not in line
    ]
    assert all("](tests/" in row for row in rows[1:])
