"""Proposal: a first linkage.toml from the names of a file's columns."""

import json
from collections.abc import Sequence

from gramlink.errors import InvalidRecords
from gramlink.schema import ALPHABET

# what people call them, the best to link on first
_IDS = ("id", "rec_id", "record_id", "unique_id", "person_id", "patient_id", "rowid", "key", "uid")
_FIELDS = ("surname", "last_name", "lastname", "family_name", "name", "full_name", "city", "suburb")

_TEXT = """\
# What both owners agree on before anything is read. All of this is public.
# Proposed from the columns of {file}; read it, change it, give a copy to the other owner.

id = {id}                  # your column of ids; the other owner's may differ
epsilon = 1                # the privacy cost of mining, per record; smaller is more private
edits = 1                  # typos that a match may have
threshold = "calibrated"   # or worst-case, paper, global, global-paper
recall = 0.99              # calibrated: the share of mistyped copies that must be found
errors = "uniform"         # the typos to expect; or keyboard
decide = "one-to-one"      # or best-per-left, all

[fields.{name}]
column = {column}          # your column; the other owner's may differ
alphabet = {alphabet}      # anything else counts as one catch-all symbol
length = 32                # longer values are cut
case = "upper"             # or lower, keep
accents = "strip"          # or keep
punctuation = "strip"      # or space, keep
whitespace = "collapse"    # or strip, keep
miner = "levelgram"        # or tree-linear, tree-exponential, tree-adaptive, tree-hybrid, fpm
size = 75                  # grams in the base
q_min = 1                  # symbols of the shortest gram
q_max = 3                  # and of the longest
height = 7                 # symbols of the longest prefix in a tree
"""


def propose(columns: Sequence[str], file: str, *, field: str = "", id_column: str = "") -> str:
    """The text of a linkage.toml, with a comment on every setting.

    >>> 'column = "last_name"' in propose(["id", "sex", "last_name"], "a.csv")
    True
    """
    chosen_id = _choose(columns, id_column, _IDS, "--id", file)
    rest = [column for column in columns if column != chosen_id]
    chosen = _choose(rest, field, _FIELDS, "--field", file)
    plain = "".join(c if c.isascii() and c.isalnum() else "_" for c in chosen).lower() or "field"
    return _TEXT.format(
        file=json.dumps(file)[1:-1],
        id=_quoted(chosen_id),
        name=plain,
        column=_quoted(chosen),
        alphabet=_quoted(ALPHABET),
    )


def _quoted(text: str) -> str:
    """A TOML string: JSON's, whose escapes of 😀 and of DEL TOML does not share."""
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")


def _choose(
    columns: Sequence[str], asked: str, known: Sequence[str], option: str, file: str
) -> str:
    listed = ", ".join(columns)
    if asked:
        if asked not in columns:
            raise InvalidRecords(f"{file} has no column {asked!r}", hint=f"it has {listed}")
        return asked
    by_plain = {column.lower().replace(" ", "_").replace("-", "_"): column for column in columns}
    for name in known:
        if name in by_plain:
            return by_plain[name]
    if not columns:
        raise InvalidRecords(f"{file} has too few columns", hint="it needs ids and a value")
    raise InvalidRecords(
        f"no column of {file} looks right for {option}", hint=f"say which with {option}: {listed}"
    )
