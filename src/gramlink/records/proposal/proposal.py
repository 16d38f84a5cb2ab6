"""Proposal: the text of a first linkage.toml.

linkage.toml is shared and public. It reveals the names of a file's columns, what kind
of thing each holds, how dates and categories are written, which of the usual placeholders
occur, and why columns are left out. Lengths and the like are the same for everybody, or one
of a few that are: taken from the data, they would leak.
"""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass

from gramlink.errors import InvalidSchema
from gramlink.io.text import printable
from gramlink.records.choices import ENCODINGS
from gramlink.records.csv import short
from gramlink.records.fields import ALPHABET, DIGITS, LETTERS, Field
from gramlink.records.proposal.guess import SEX_CODES, Guess
from gramlink.records.schema import Schema

_HEAD = """\
# How to link the records of two owners, proposed by `gramlink init` from the columns of
# {file}
#
# Everything here is public: column names and settings, and nothing from any record.
# Read it, change it, look at every line marked "check:", and agree on it with the other
# owner. Both must use the same settings, except for those marked "yours".

"""
_ONE = """\
edits = 1                  # typos that a match may have
threshold = "calibrated"   # or worst-case, paper, global, global-paper
recall = 0.99              # calibrated: the share of mistyped copies that must be found
errors = "uniform"         # the typos to expect; or keyboard
decide = "one-to-one"      # or best-per-left, best-per-right, all
accept = 0.5               # pairs that match with at least this probability become links
review = 0.1               # pairs with at least this probability go to a person for review
"""
_SEVERAL = """\
edits = 2                  # a field is equal, within 1 typo, within 2 typos, or it differs
threshold = "calibrated"   # or worst-case, paper, global, global-paper
recall = 0.99              # calibrated: the share of mistyped values that must be recognised
errors = "uniform"         # the typos to expect; or keyboard
decide = "one-to-one"      # or best-per-left, best-per-right, all
accept = 0.5               # pairs that match with at least this probability become links
review = 0.1               # pairs with at least this probability go to a person for review
"""
_VEILED = {
    True: """\
encoding = "veiled"        # the linkage unit cannot read records; or vectors, which it can
""",
    False: """\
encoding = "vectors"       # "veiled" would need a field that differs within a household
""",
}
_KINDS = """\
# The fields, each of a kind:
#   text      names, streets, places. Their frequent grams are mined, and epsilon is split
#             between the text fields in proportion to their `share`: 2 for names of
#             persons, 0.5 for places and groups, 1 for others. It follows from what a
#             column is called and not from your data, so it reveals nothing.
#   digits    postcodes, phones, numbers. These cost no epsilon, like the kinds below.
#   date      days, in the file's own format.
#   category  one of a few values, which are equal or not; only the first `length`
#             symbols count.
# These are yours: `column`, what the field is called in your file; `missing`, what stands
# for "not known" there; `format`, how dates are written; and `codes`, what your codes mean.
# Values longer than `length` are cut. Symbols outside `alphabet` count as one.
# The `length` of a category is a standard one: 1 for letters, 4 for abbreviations, or as many
# as a field can have for words. `codes` lists all usual words, whether or not they occur.
"""
TEXT_SETTINGS = """\
case = "upper"             # or lower, keep
accents = "strip"          # or keep
punctuation = "strip"      # or space, keep
whitespace = "collapse"    # or strip, keep
miner = "levelgram"        # or tree-linear, tree-exponential, tree-adaptive, tree-hybrid, fpm
size = 75                  # grams in the base
q_min = 1                  # symbols of the shortest gram
q_max = 3                  # and of the longest
marks = true               # grams say where a text starts and ends; not in a tree, nor in fpm
height = 7                 # symbols of the longest prefix in a tree
"""
GIVEN = "given_name"
SWAPS = ((GIVEN, "surname"), ("address_1", "address_2"))  # texts that people swap
ALONE = 1000  # grams for a text that is the only field: as many as the records make known
_USUAL_ALPHABETS = {"text": ALPHABET, "category": LETTERS + DIGITS}


@dataclass(frozen=True, slots=True)
class ProposedField:
    """A field, the columns it is read from, and how."""

    name: str
    columns: tuple[str, ...]
    guess: Guess


@dataclass(frozen=True, slots=True)
class Proposal:
    """A schema for one file, and why some of its columns are not in it.

    Privacy: public, as the schema is.
    """

    file: str
    id: str
    fields: tuple[ProposedField, ...]
    left_out: Mapping[str, str]

    @property
    def veiled(self) -> bool:
        """Whether the veiled encoding can link records of these fields."""
        fields = tuple(Field(name=one.name, kind=one.guess.kind) for one in self.fields)
        try:
            ENCODINGS["veiled"].value.check_schema(Schema(fields=fields))
        except InvalidSchema:
            return False
        return True

    @property
    def swaps(self) -> tuple[tuple[str, str], ...]:
        """The fields whose values people swap."""
        texts = {field.name for field in self.fields if field.guess.kind == "text"}
        return tuple(pair for pair in SWAPS if texts.issuperset(pair))

    @property
    def text(self) -> str:
        """What goes into linkage.toml.

        >>> field = ProposedField("surname", ("last name",), Guess("text", ALPHABET, 32))
        >>> 'column = "last name"' in Proposal("a.csv", "id", (field,), {}).text
        True
        """
        parts = [
            _HEAD.format(file=shown(self.file)),
            _setting("id", self.id, "yours: the id column"),
            "unique = true              # yours: nobody is in your file twice\n",
            "epsilon = 1                # yours: the privacy cost of mining; smaller is safer\n",
            _ONE if len(self.fields) == 1 else _SEVERAL + _VEILED[self.veiled],
            _setting("swaps", self.swaps, "people swap these") if self.swaps else "",
            "\n" + _KINDS,
            *("\n" + _field_text(field, alone=len(self.fields) == 1) for field in self.fields),
        ]
        if self.left_out:
            parts.append("\n# Columns left out; to use one after all, add a field for it:\n")
            parts += [f"#   {shown(column)}: {why}\n" for column, why in self.left_out.items()]
        if any(field.guess.kind == "text" for field in self.fields):
            parts.append("\n# Every text field also has these settings, unless it states others:\n")
            parts += [f"#   {line}\n" for line in TEXT_SETTINGS.splitlines()]
        return "".join(parts)


def shown(text: str) -> str:
    """A name made fit for a comment: one readable line."""
    return printable(short(text))


def _field_text(field: ProposedField, *, alone: bool) -> str:
    guess, lines = field.guess, [f"# check: {check}\n" for check in field.guess.checks]
    lines += [f"[fields.{_key(field.name)}]\n", _setting("kind", guess.kind)]
    lines.append(_setting("column", field.columns[0] if len(field.columns) == 1 else field.columns))
    if guess.format:
        lines.append(_setting("format", guess.format))
    if guess.missing:
        lines.append(_setting("missing", guess.missing))
    if guess.codes:
        codes = ", ".join(f"{_toml(word)} = {_toml(code)}" for word, code in guess.codes)
        lines.append(f"codes = {{ {codes} }}\n")
    if SEX_CODES in guess.checks:
        lines.append('# codes = { "1" = "M", "2" = "F" }\n')
    if guess.alphabet not in ("", _USUAL_ALPHABETS.get(guess.kind)):
        lines.append(_setting("alphabet", guess.alphabet))
    if guess.length:
        lines.append(_setting("length", guess.length))
    if guess.kind == "text":
        lines.append(_setting("share", guess.share))
        if field.name == GIVEN:
            lines.append('# nicknames = "en"         # or de; with vectors: nicknames, too\n')
        if alone:
            lines.append(_setting("size", ALONE, "as many grams as the records make known"))
    return "".join(lines)


def _setting(name: str, value: object, comment: str = "") -> str:
    line = f"{name} = {_toml(value)}"
    return f"{line:<26} # {comment}\n" if comment else f"{line}\n"


def _toml(value: object) -> str:
    if isinstance(value, tuple):
        return f"[{', '.join(map(_toml, value))}]"
    # JSON's strings are valid in TOML, except for its escapes of 😀 and for DEL
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")


def _key(name: str) -> str:
    return name if re.fullmatch(r"[A-Za-z0-9_-]+", name) else _toml(name)
