"""Whatever stands in a file or its name, a terminal shows it and does not act on it."""

import json
import shutil
import sys
from dataclasses import replace
from io import StringIO

import pytest

from gramlink.bundles.bundle import Bundle
from gramlink.cli.speaker import Speaker, confirmed
from gramlink.exchange.file_drop import Received
from gramlink.exchange.receipts import Receipts

NAUGHTY = {
    "clears the screen": "\x1b[2J\x1b[H",
    "sets the title": "\x1b]0;you\x07",
    "an eight-bit escape": "\x9b31m",
    "goes back": "clinic\r\x08\x08\x08\x08\x08\x08mallory",
    "a line more": "clinic\ngramlink: everything is fine",
    "another kind of line": "clinic\u2028gramlink: fine\u2029\x85",
    "turns the line round": "\u202egnp.exe\u2066",
    "nothing to see": "\u200b\u2060\ufeff\u00ad",
    "nothing at all": "\x00",
    "half a character": "\ud800",
    "private": "\ue000\U000f0000",
    "a tag": "\U000e0041\U000e007f",
    "a link": "\x1b]8;;http://evil.example\x1b\\here\x1b]8;;\x1b\\",
    "markup": "[red]x[/red] [/] [link=http://evil.example]",
    "far too long": "A\t" * 5000,
}
texts = pytest.mark.parametrize("text", NAUGHTY.values(), ids=NAUGHTY)


@pytest.fixture
def shown(run):
    """Run a command on naughty files; what it prints is safe, and errors are in one line."""

    def runner(*args):
        result = run(*args, ok=False)
        assert result.code in (0, 1), result
        for line in (result.out + result.err).split("\n"):
            assert line.isprintable(), line
            assert len(line) < 2100, line
        assert len(result.err.splitlines()) <= 2, result.err
        return result

    return runner


def document(path, **changes):
    content = json.loads(path.read_bytes())
    return json.dumps(content | changes).encode()


@texts
def test_in_files_of_another_owner(shown, done, text):
    mined, bundle = done / "registry.mined.json", done / "registry.bundle"
    content = json.loads(mined.read_bytes())
    settings, theirs = content["settings"], done / "theirs"
    surname = settings["fields"]["surname"]
    for changes in (
        {"owner": text},
        {"epsilon": text},
        {"settings": settings | {"decide": text}},
        {"settings": settings | {text: 1}},
        {"fields": {text: {"grams": {text: 1}}}},
        {"fields": {"surname": {"grams": {text: 1}}}},
        {"fields": {"surname": {"grams": {"A": 1}, "tree": {text: 1}}}},
    ):
        theirs.write_bytes(document(mined, **changes))
        for command in (("merge", "hospital.mined.json", "theirs"), ("inspect", "theirs")):
            assert shown(*command).code == 1
    for changes in (
        {text: text},
        {"settings": settings | {"fields": {text: surname}}, "fields": {text: {"grams": {"A": 1}}}},
    ):
        theirs.write_bytes(document(mined, **changes))
        shown("inspect", "theirs")
    projection = done / "projection.json"
    for changes in ({"owners": [text, "hospital"]}, {"bases": {"surname": [text]}}):
        theirs.write_bytes(document(projection, **changes))
        assert shown("embed", "hospital.csv", "--projection", "theirs").code == 1
    told = replace(Bundle.from_bytes(bundle.read_bytes(), "x"), owner=text, created=text)
    try:
        theirs.write_bytes(told.to_bytes())
    except UnicodeEncodeError:  # no file holds half a character
        return
    assert shown("link", "hospital.bundle", "theirs").code == 1
    assert shown("inspect", "theirs").code == 1


@texts
def test_in_the_names_of_files(shown, done, text):
    name = f"{text[:20]}.csv"
    try:
        shutil.copy(done / "hospital.csv", done / name)
        shutil.copy(done / "hospital.mined.json", done / f"{name}.json")
        (done / name).with_suffix(".toml").write_bytes(
            f"x = 1\n[{text[:20]}]".encode("utf-8", "replace")
        )
    except (OSError, ValueError):  # no file has this name
        return
    shown("check", name)
    shown("mine", name)
    shown("inspect", name)
    shown("merge", f"{name}.json", f"{name}.json")
    shown("mine", "hospital.csv", "--schema", f"{name[:-4]}.toml", "--owner", "x")


@texts
def test_in_a_receipt_and_in_a_question(tmp_path, capsys, monkeypatch, text):
    refused = Received("x", "0" * 64, {}, refused=f"{text} is no good")
    Receipts(tmp_path).tell("x", refused.receipt)
    lines = (tmp_path / "x.receipt.txt").read_bytes().decode().split("\n")
    assert all(line.isprintable() for line in lines)
    assert len(lines) == 3
    monkeypatch.setattr(sys, "stdin", StringIO("no\n"))
    assert not confirmed(text)
    assert all(line.isprintable() for line in capsys.readouterr().err.split("\n"))


@texts
def test_in_a_progress_bar(monkeypatch, text):
    """A unit says what it is doing, and rich reads its own markup into that."""

    class Terminal(StringIO):
        def isatty(self):
            return True

    monkeypatch.setattr(sys, "stderr", Terminal())
    monkeypatch.setenv("TERM", "xterm")
    with Speaker().progress(text) as progress:
        progress(1, 2)
    for trick in ("\x1b[2J", "\x1b]", "\u202e", "\x07", "\x9b", "\x1b]8"):
        assert trick not in sys.stderr.getvalue() or trick not in text


def test_a_program_gets_all_of_it_escaped(run, done):
    path = done / "registry.mined.json"
    path.write_bytes(document(path, owner="病院"))
    told = run("inspect", "registry.mined.json", "--json").out
    assert told.isascii()
    assert json.loads(told)["owner"] == "病院"
