"""Small files of several fields, ready to be veiled: by the product, and by the definition."""

from dataclasses import dataclass

from hypothesis import strategies as st

from gramlink.embedding.base import Base
from gramlink.encodings.encoding import Material
from gramlink.encodings.secret import Secret
from gramlink.encodings.veil.keys import read_keys
from gramlink.encodings.veil.layout import Layout
from gramlink.encodings.veil.rows import Writer
from gramlink.encodings.veil.sketch import Scale
from gramlink.encodings.veil.veiled import VeiledRecords
from gramlink.records.fields import Field
from gramlink.records.schema import Schema
from gramlink.records.strings import Strings
from reference import veil as definition

FIELDS = (
    Field(name="given_name"),
    Field(name="surname", edits=1),
    Field(name="born", kind="date"),
    Field(name="postcode", kind="digits", length=5),
    Field(name="sex", kind="category", length=1),
)
SCHEMA = Schema(fields=FIELDS, encoding="veiled", edits=2)
NAMES = tuple(field.name for field in FIELDS)
TEXT_BASE = ("A", "E", "N", "AN", "NN", "MA", "ANN", "⊢M")
BASES = {
    field.name: Base(TEXT_BASE if field.kind == "text" else field.public_grams) for field in FIELDS
}
SCALES = {
    "given_name": Scale(0.02, (0, 12_000, 20_000)),
    "surname": Scale(0.015, (0, 14_000)),
    "born": Scale(0.25, (0, 13_000, 21_000)),
    "postcode": Scale(0.05, (0, 13_000, 21_000)),
    "sex": Scale(0.5, (0,)),
}
DEFINED = tuple(
    definition.Field(field.name, field.kind, BASES[field.name].grams, SCALES[field.name].steepness)
    for field in FIELDS
)
KEYS = [
    [["surname", "whole"], ["born", "whole"]],
    [["given_name", "surname", "either way round"], ["born", "year and month"]],
    [["surname", "first 3"], ["sex", "whole"]],
    [["given_name", "initial"], ["postcode", "sorted"], ["born", "month and day"]],
    [["born", "day and month either way round"], ["surname", "last 3"]],
    [["postcode", "last 4"], ["born", "year and day"]],
    [["sex", "whole"]],
    [["given_name", "surname", "either way round"]],
    [[name, "whole"] for name in NAMES],
]
VALUES = {
    "given_name": ["ANNA", "ANN", "MARIANNE", "MA\ufffd", "MILLER", "", "E"],
    "surname": ["MILLER", "MEIER", "DE LA MAR", "MA", "ANNA", "", "NANNINANN"],
    "born": ["19800214", "19800412", "19810214", "2001\ufffd101", "", "19790131"],
    "postcode": ["12345", "12354", "1234", "00000", ""],
    "sex": ["F", "M", "", "F"],
}
SECRET = Secret(bytes(range(32)))


@dataclass(frozen=True)
class Party:
    """An owner with records: a text for each field, "" if it is missing."""

    name: str
    key: bytes
    records: tuple[tuple[str, ...], ...]

    @property
    def strings(self):
        """The columns as kernels read them."""
        columns = zip(*self.records, strict=True) if self.records else [()] * len(FIELDS)
        return {
            field.name: placed(field, Strings.of(column, field.spelling))
            for field, column in zip(FIELDS, columns, strict=True)
        }

    @property
    def plain(self):
        """The records as the definition reads them."""
        columns = {name: list(column) for name, column in self.strings.items()}
        return [{name: columns[name][row] for name in NAMES} for row in range(len(self.records))]

    @property
    def material(self):
        """What the encoding is made from."""
        return Material(self.name, self.strings, BASES, SCHEMA, True, self.key, SECRET)


def placed(field, strings):
    """Symbols of dates and categories count with their places."""
    return strings.placed(field.symbols) if field.placed else strings


def layout_of(keys):
    """The layout of keys as they stand in a manifest."""
    return Layout(NAMES, read_keys(keys, FIELDS))


def veiled(party, keys, secret=SECRET):
    """What an owner sends."""
    layout = layout_of(keys)
    rows = Writer(party.material, secret, layout, SCALES).written()
    cut_offs = tuple(SCALES[name].cut_offs for name in NAMES)
    return VeiledRecords(rows, layout, cut_offs, FIELDS, secret.check)


def by_definition(party, keys, secret=SECRET):
    """What an owner sends by the definition."""
    own = definition.private(secret.root, party.name, party.key)
    return definition.sent(secret.root, own, party.plain, DEFINED, keys)


RECORDS = st.lists(st.tuples(*(st.sampled_from(VALUES[name]) for name in NAMES)), max_size=6).map(
    tuple
)
SOME_KEYS = st.lists(st.sampled_from(KEYS), min_size=1, max_size=3, unique_by=str)


def parties(count):
    """Owners with records of their own, some of which are the same."""
    return st.tuples(
        *(
            st.builds(Party, st.just(name), st.binary(min_size=1, max_size=32), RECORDS)
            for name in ("clinic", "office", "school")[:count]
        )
    )
