"""docs/veil.md has every key and every constant that the code has."""

import re
from pathlib import Path

from gramlink.encodings import secret as secret_module
from gramlink.encodings.secret import Secret
from gramlink.encodings.veil import sketch
from gramlink.kernels import cells
from veiling import KEYS, Party, veiled

PAGE = Path(__file__).parents[3].joinpath("docs", "veil.md").read_text("utf-8")
PARTY = Party("clinic", b"key", (("ANNA", "MILLER", "19800214", "12345", "F"),))


def test_every_key_that_is_derived_is_in_the_table(monkeypatch):
    derive, purposes = Secret.key, set()

    def noted(secret, purpose):
        purposes.add(purpose)
        return derive(secret, purpose)

    monkeypatch.setattr(Secret, "key", noted)
    assert veiled(PARTY, KEYS).shape["check"]
    listed = set(re.findall(r"^\| `([a-z]+) ?`", PAGE, re.MULTILINE))
    assert {purpose.partition(" ")[0] for purpose in purposes} == listed
    assert secret_module._VERSION in PAGE


def test_the_lengths_are_those_of_the_rows():
    assert cells.TAG == 8
    assert f"8 + {cells.CELL}n" in PAGE
    assert f"the {cells.DRAWS} draws" in PAGE
    assert f"is the {cells.STREAM} bytes" in PAGE
    assert f"0–{cells.SKETCH - 1} | sketch" in PAGE
    assert f"{cells.DRAWS + cells.CELL}–{cells.STREAM - 1} | not used" in PAGE


def test_the_constants_are_those_of_the_sketches():
    assert f"{sketch.PARITIES} parities" in PAGE
    assert f"λ = {sketch.STEEP} /" in PAGE
    text, digits = sketch.CAPS["text"], sketch.CAPS["digits"]
    caps = f"{text[1]} for grams of one symbol and {text[2]} for two in text, {digits[1]} and"
    assert f"{caps} {digits[2]} in digits" in " ".join(PAGE.split())
    assert f"in {sketch.UNIT:,}ths" in PAGE
