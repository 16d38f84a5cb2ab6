"""JSON that is no JSON, or says something else than it seems to, at every place of our files."""

import copy
import json
import tomllib
from decimal import Decimal
from fractions import Fraction
from itertools import islice

import pytest

from gramlink.embedding.projection import Projection, agree
from gramlink.errors import GramlinkError
from gramlink.io.text import one_line
from gramlink.mining.mined import Mined
from gramlink.parties.contribution import Contribution
from gramlink.parties.handover import Handover
from gramlink.privacy.exposure import Disclosure, Exposure
from gramlink.privacy.ledger import Ledger
from gramlink.privacy.lines import parsed
from gramlink.records.schema import schema_from
from hostile.attacking import NAMES, SCHEMA, owner

MARK = "\N{BLACK SQUARE}"
PLACES = 60  # of one file; the rest are more of the same
JUNK = {
    "nothing": b"",
    "a bracket": b"[",
    "half a text": b'"half',
    "half an escape": rb'"\u00"',
    "an escape of no letter": rb'"\q"',
    "half a character": rb'"\ud800"',
    "the second half first": rb'"\udc00\ud800"',
    "a zero byte": b"\0",
    "bytes that are no text": b'"\xff\xfe\xc0\xaf"',
    "a byte order mark within": b'\xef\xbb\xbf"x"',
    "a line end in a text": b'"a\nb"',
    "a number without end": b"1e999",
    "a number of many digits": b"9" * 5000,
    "the smallest number": b"-1e-999",
    "minus nothing": b"-",
    "a number in hexadecimal": b"0x1",
    "a zero too many": b"01",
    "no number": b"NaN",
    "a comma too many": b"[1,]",
    "two values": b"1 2",
    "a comment": b"/**/1",
    "a key twice": b'{"a": 1, "a": 1}',
    "a key that is no text": b"{1: 1}",
    "depth": b"[" * 50_000,
    "depth that ends": b"[" * 50_000 + b"]" * 50_000,
    "depth in tables": b'{"a":' * 50_000,
}
OTHERS = {
    "true": b"true",
    "one, as a fraction": b"1.0",
    "null": b"null",
    "letters": b'"ab"',
    "no letters": b'""',
    "a list": b'[["a", 1]]',
    "an empty list": b"[]",
    "a table": b'{"a": 1}',
    "an empty table": b"{}",
    "below nothing": b"-1",
}

# numbers that may be written in more than one way, what is None at times, and what nothing reads
FREE = {"accept", "review", "recall", "epsilon", "allowance", "draws", "parameters", "salt"}


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """A sound file of each kind, as lines, and what reads them."""
    schema = schema_from(tomllib.loads(SCHEMA, parse_float=Decimal), "linkage.toml")
    mined = [owner(name).mine(None) for name in NAMES]
    contribution = Contribution.new("hospital", "stroke", schema)
    path = tmp_path_factory.mktemp("ledger") / "hospital.ledger"
    ledger = Ledger.create(path, "hospital", Fraction(2))
    charge = ledger.charge(Fraction(1, 10), "mine", {"size": 20})
    ledger.released(charge, "0" * 64)
    ledger.allow(Fraction(3))
    ledger.limit_exposures(4)
    shown = Disclosure(16, {"surname": 672})
    ledger.expose(Exposure("stroke", "age1unit", "veiled", 9, shown, "0f3e", "ab" * 32))
    return {
        "mined": ([mined[0].to_json()], lambda data: Mined.from_json(data, "x")),
        "projection": ([agree(*mined).to_json()], lambda data: Projection.from_json(data, "x")),
        "contribution": (
            [contribution.to_json()],
            lambda data: Contribution.from_json(data, "x"),
        ),
        "handover": (
            [Handover.of(mined[0], contribution).to_json()],
            lambda data: Handover.from_json(data, "x", with_secret=True),
        ),
        "ledger": (path.read_bytes().splitlines(), lambda data: parsed(data, "x")),
    }


kinds = pytest.mark.parametrize(
    "kind", ["mined", "projection", "contribution", "handover", "ledger"]
)


def places(value, path=()):
    """The places in a document, the outer ones first."""
    found = [path] if path else []
    if isinstance(value, dict | list):
        inner = value.items() if isinstance(value, dict) else enumerate(value)
        found += [one for key, part in inner for one in places(part, (*path, key))]
    return sorted(found, key=len)[:PLACES]


def changed(document, path, junk):
    """The document, as bytes, with something else at this place."""
    document = part = copy.deepcopy(document)
    for key in path[:-1]:
        part = part[key]
    part[path[-1]] = MARK
    return json.dumps(document, ensure_ascii=False).encode().replace(f'"{MARK}"'.encode(), junk)


def with_junk(lines, junk):
    """The file up to each line, with junk at each place of that line."""
    for number, line in enumerate(lines):
        document = json.loads(line)
        for path in places(document):
            spoilt = changed(document, path, junk)
            yield (number, *path), b"\n".join([*lines[:number], spoilt]) + b"\n"


def outcome(read, data):
    """What is wrong with it, in one line, or nothing; any other exception is a fault of ours."""
    try:
        read(data)
    except GramlinkError as error:
        said = str(error)
        assert said
        assert len(one_line(said)) < 2100
        assert one_line(said).isprintable()
        return said
    return ""


@kinds
def test_what_is_no_json_is_refused_wherever_it_stands(files, kind):
    lines, read = files[kind]
    assert not outcome(read, b"\n".join(lines))
    for name, junk in JUNK.items():
        assert outcome(read, junk), name
        if name in ("half a character", "the second half first", "the smallest number"):
            continue  # which are JSON, so that they are for the next test
        few = 3 if len(junk) > 10**4 else None
        for place, data in islice(with_junk(lines, junk), few):
            assert outcome(read, data), (name, place)


@kinds
def test_what_is_of_another_type_is_read_as_what_it_is_or_refused(files, kind):
    """To Python, `true` is 1, a text is a list of letters, and a list can be shown as text."""
    lines, read = files[kind]
    for junk in (*OTHERS.values(), JUNK["half a character"], JUNK["the smallest number"]):
        for place, data in with_junk(lines, junk):
            said = outcome(read, data)
            number, *path = place
            was = json.loads(lines[number])
            for key in path:
                was = was[key]
            if not said and not set(path) & FREE:
                assert type(json.loads(junk)) is type(was), (place, junk)


def test_true_is_no_share():
    with pytest.raises(GramlinkError, match="accept"):
        schema_from({"fields": {"surname": {}}, "accept": True}, "linkage.toml")
