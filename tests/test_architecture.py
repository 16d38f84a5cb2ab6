"""docs/architecture.md names what is there. Its pictures are looked at in test_docs."""

import re
import sys
from pathlib import Path
from xml.etree import ElementTree

import pytest

ROOT = Path(__file__).parent.parent
PAGE = (ROOT / "docs" / "architecture.md").read_text("utf-8")
PICTURES = sorted((ROOT / "docs" / "architecture").glob("*.svg"))


def section(title):
    return PAGE.partition(f"## {title}\n")[2].partition("\n## ")[0]


def rows(text):
    return [line.split(" | ", 1) for line in text.splitlines() if line.startswith("| ")][1:]


@pytest.fixture
def packages(monkeypatch):
    monkeypatch.syspath_prepend(ROOT)
    from docs.architecture import packages

    yield packages
    for name in [name for name in sys.modules if name.partition(".")[0] == "docs"]:
        del sys.modules[name]


def test_every_package_has_a_row_and_a_layer(packages):
    layers = {name for layer in packages.layers() for name in layer}
    assert layers == {first.strip("| `") for first, _ in rows(section("Packages"))}
    folder = ROOT / "src" / "gramlink"
    there = {path.stem for path in folder.iterdir() if path.is_dir() or path.suffix == ".py"}
    assert layers == there - {"__init__", "__pycache__"}


def test_the_sentence_of_the_method_names_its_packages(packages):
    sentence = re.search(r"^    (records → .*)$", PAGE, re.MULTILINE)[1].split(" → ")
    assert tuple(sentence) == packages.METHOD
    assert set(sentence) < {name for layer in packages.layers() for name in layer}


def test_every_file_of_the_walk_table_is_there():
    walk = rows(section("Where to change what"))
    assert len(walk) == 14
    named = {path for _, files in walk for path in re.findall(r"`([a-z_]+/[a-z_/.]*)`", files)}
    assert len(named) > 20
    missing = {path for path in named if not (ROOT / "src" / "gramlink" / path).exists()}
    assert not missing


@pytest.mark.parametrize("path", PICTURES, ids=lambda path: path.stem)
def test_a_picture_is_whole_in_itself_and_fits_its_frame(path):
    picture = ElementTree.parse(path).getroot()
    width, height = float(picture.get("width")), float(picture.get("height"))
    words = picture.findall(".//{http://www.w3.org/2000/svg}text")
    assert len(words) > 20
    for one in words:
        assert 0 < float(one.get("x")) < width
        assert 0 < float(one.get("y")) < height
    text = path.read_text("utf-8")
    assert "prefers-color-scheme: dark" in text
    assert not re.search(r"url\(|href|@import|<script|<image", text)
