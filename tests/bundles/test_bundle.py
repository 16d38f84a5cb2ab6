import hashlib
import io
import json
import math
import zipfile
from contextlib import suppress
from fractions import Fraction

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gramlink.bundles.archive import MANIFEST
from gramlink.bundles.bundle import RECORDS, Bundle
from gramlink.bundles.sealing import Recipient
from gramlink.embedding.base import Base
from gramlink.embedding.thresholds import highest
from gramlink.embedding.vectors import Encoded, Vectors, embed
from gramlink.encodings.vectors import VectorRecords
from gramlink.errors import InvalidFile, InvalidSchema
from gramlink.io.files import digest
from gramlink.records.strings import Strings
from strategies import AB, bases, lists

LENGTHS = {"surname": (1, 1, 2, 3), "born": (1,) * 6, "sex": (1, 1)}
EDITS = {"surname": 1, "born": 2, "sex": 0}  # of the surname, those of the schema
READER = Recipient(
    "age1zvkyg2lqzraa2lnjvqej32nkuu0ues2s82hzrye869xeexvn73equnujwj"
    "+ed25519:d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a"
)
MINED = {"kind": "text", "miner": "levelgram"}
SETTINGS = {
    "decide": "one-to-one",
    "accept": 0.5,
    "review": 0.1,
    "passes": [{"surname": 1, "born": 0}],
    "edits": 1,
    "fields": {
        "surname": {**MINED, "size": 4, "edits": None},
        "born": {"kind": "date", "edits": 2},
        "sex": {"kind": "category", "edits": 0},
    },
}


def settings_of(*names):
    """The settings of a bundle of some of the fields."""
    told = {"fields": {name: SETTINGS["fields"][name] for name in names}, "passes": []}
    return {**SETTINGS, **told} if names != tuple(LENGTHS) else SETTINGS


def encoded(name, rows, source, thresholds):
    lengths, edits = LENGTHS[name], EDITS[name]
    missing = np.arange(rows) % 3 == len(name) % 3
    counts = source.integers(0, 5, (rows, len(lengths))).astype(np.uint8)
    counts[missing] = 0
    steps = source.integers(0, 9, (rows, edits)) * math.lcm(*lengths) ** 2
    limits = np.cumsum(np.hstack([np.zeros((rows, 1), np.int64), steps]), axis=1)
    return Encoded(Vectors(counts, lengths, missing), limits if thresholds else None)


def bundle(rows=6, thresholds=True, names=tuple(LENGTHS), unique=True, **about):
    source = np.random.default_rng(rows)
    ids = tuple(f"{n:032x}" for n in source.permutation(rows) + 10**9)
    fields = {name: encoded(name, rows, source, thresholds) for name in names}
    records = VectorRecords(fields)
    return Bundle("hospital", settings_of(*names), "c0ffee" * 10, ids, records, unique, **about)


def packed(table=None, /, members=(MANIFEST, RECORDS), digests=None, compression=0, **manifest):
    """A bundle as somebody might make it by hand, with digests that are right if not given."""
    records = io.BytesIO()
    (bundle().rows() if table is None else table).write_parquet(records)
    data = records.getvalue()
    digests = {RECORDS: hashlib.sha256(data).hexdigest()} if digests is None else digests
    content = {"gramlink": "bundle", "version": 1, **bundle().manifest, "parts": digests}
    if "settings" in manifest:
        content["schema"] = digest(manifest["settings"])
    content = {key: value for key, value in (content | manifest).items() if value != "(none)"}
    files = {MANIFEST: json.dumps(content).encode(), RECORDS: data}
    archived = io.BytesIO()
    with zipfile.ZipFile(archived, "w", compression) as archive:
        for part in members:
            archive.writestr(part, files[part])
    return archived.getvalue()


def contents(one):
    """All that a bundle holds, by id."""
    fields = {}
    for name, (vectors, limits) in {
        name: (field.vectors, field.thresholds) for name, field in one.records.fields.items()
    }.items():
        limits = [None] * len(one.ids) if limits is None else limits.tolist()
        rows = zip(vectors.counts.tolist(), vectors.missing.tolist(), limits, strict=True)
        fields[name] = (vectors.lengths, dict(zip(one.ids, rows, strict=True)))
    return {
        "fields": list(fields.items()),  # in their order
        "rest": (one.owner, one.settings, one.projection, one.unique, one.records.leads),
        "for": (one.owners, one.epsilon, one.exchange, one.reply, one.created),
    }


@pytest.mark.parametrize("thresholds", [True, False])
@pytest.mark.parametrize("rows", [0, 1, 6, 50])
@pytest.mark.parametrize("names", [("surname",), ("sex", "surname"), tuple(LENGTHS)], ids=len)
def test_a_bundle_comes_back_as_it_was_sent(rows, thresholds, names):
    sent = bundle(rows, thresholds, names)
    got = Bundle.from_bytes(sent.to_bytes(), "x.bundle")
    assert contents(got) == contents(sent)
    assert got.records.leads == thresholds
    for name in names:
        field = got.records.fields[name]
        assert field.vectors.counts.dtype == np.uint8
        assert field.vectors.counts.shape == (rows, len(LENGTHS[name]))
        assert (field.thresholds is None) == (not thresholds)
        if thresholds:
            assert field.thresholds.dtype == np.int64
            assert field.thresholds.shape == (rows, EDITS[name] + 1)
    assert got.to_bytes() == sent.to_bytes()


@pytest.mark.parametrize("unique", [True, False])
def test_an_owner_says_whether_somebody_may_be_in_it_twice(unique):
    sent = bundle(unique=unique)
    assert sent.manifest["unique"] is unique
    assert Bundle.from_bytes(sent.to_bytes(), "x.bundle").unique is unique


@pytest.mark.parametrize(
    "about",
    [
        {"owners": ("hospital", "registry")},
        {"owners": ("St. Mary's", "hospital", "病院")},
        {"epsilon": Fraction(1, 3)},
        {"epsilon": Fraction(0)},
        {"exchange": "stroke-2026"},
        {"reply": READER},
        {"created": "2026-03-14T15:09:26Z"},
    ],
    ids=str,
)
def test_what_a_bundle_is_for_comes_back_with_it(about):
    sent = bundle(**about)
    got = Bundle.from_bytes(sent.to_bytes(), "x.bundle")
    assert contents(got) == contents(sent) != contents(bundle())
    assert got.to_bytes() == sent.to_bytes()


@settings(deadline=None, max_examples=30)
@given(texts=lists(AB), grams=bases(AB), others=bases(AB))
def test_any_vectors_come_back(texts, grams, others):
    strings = Strings.of(texts, AB)
    ids = tuple(f"{n:032x}" for n in range(len(texts)))
    fields = {name: Encoded(embed(strings, Base(g))) for name, g in (("a", grams), ("b", others))}
    about = {**SETTINGS, "passes": [], "fields": {name: {**MINED, "edits": 0} for name in fields}}
    packed = Bundle("a", about, "p", ids, VectorRecords(fields)).to_bytes()
    got = Bundle.from_bytes(packed, "x.bundle")
    assert got.ids == ids
    for name, sent in fields.items():
        vectors = got.records.fields[name].vectors
        assert np.array_equal(vectors.counts, sent.vectors.counts)
        assert np.array_equal(vectors.missing, sent.vectors.missing)
        assert vectors.lengths == sent.vectors.lengths


@pytest.mark.parametrize("name", ["id", "a.counts", "a.thresholds", "Straße 🏠", "x" * 100])
def test_a_field_may_have_any_name(name):
    field = encoded("born", 4, np.random.default_rng(1), thresholds=True)
    told = {name: {**MINED, "edits": None}, "a": {"kind": "date", "edits": 2}}
    about = {**SETTINGS, "passes": [], "edits": 2, "fields": told}
    sent = Bundle(
        "a", about, "p", tuple(one * 32 for one in "1234"), VectorRecords({name: field, "a": field})
    )
    assert contents(Bundle.from_bytes(sent.to_bytes(), "x.bundle")) == contents(sent)


def test_rows_are_ordered_by_pseudonym_and_missing_values_are_null():
    sent = bundle(30)
    rows = sent.rows()
    assert rows["id"].to_list() == sorted(sent.ids) != list(sent.ids)
    assert Bundle.from_bytes(sent.to_bytes(), "x").ids == tuple(sorted(sent.ids))
    for name, field in sent.records.fields.items():
        missing = {one for one, gone in zip(sent.ids, field.vectors.missing, strict=True) if gone}
        assert set(rows.filter(pl.col(f"{name}.counts").is_null())["id"]) == missing


def test_each_field_has_a_column_of_counts_and_the_left_owners_one_of_thresholds():
    counts = [f"{name}.counts" for name in LENGTHS]
    assert bundle(thresholds=False).rows().columns == ["id", *counts]
    limits = [f"{name}.thresholds" for name in LENGTHS]
    both = [column for pair in zip(counts, limits, strict=True) for column in pair]
    rows = bundle().rows()
    assert rows.columns == ["id", *both]
    for name, lengths in LENGTHS.items():
        assert rows[f"{name}.counts"].dtype == pl.Array(pl.UInt8, len(lengths))
        assert rows[f"{name}.thresholds"].dtype == pl.Array(pl.Int64, EDITS[name] + 1)


def test_the_order_of_the_records_leaves_no_trace():
    one = bundle(20)
    order = np.random.default_rng(1).permutation(20)
    fields = {
        name: Encoded(
            Vectors(field.vectors.counts[order], LENGTHS[name], field.vectors.missing[order]),
            field.thresholds[order],
        )
        for name, field in one.records.fields.items()
    }
    ids = tuple(one.ids[row] for row in order)
    other = Bundle(one.owner, SETTINGS, one.projection, ids, VectorRecords(fields))
    assert other.to_bytes() == one.to_bytes()


def test_a_digest_is_of_what_is_shown_and_not_of_when():
    def received(**about):
        return Bundle.from_bytes(bundle(**about).to_bytes(), "x").digest

    sent = received(created="2026-01-31T00:00:00Z")
    assert received(created="2027-01-31T00:00:00Z", exchange="stroke") == sent
    others = [received(rows=7), received(thresholds=False), received(names=("surname",))]
    assert len({sent, *others}) == 4


def test_a_person_can_read_the_manifest():
    sent = bundle(
        owners=("hospital", "registry"),
        epsilon=Fraction(1, 3),
        exchange="stroke-2026",
        reply=READER,
        created="2026-03-14T15:09:26Z",
    )
    with zipfile.ZipFile(io.BytesIO(sent.to_bytes())) as archive:
        assert archive.namelist() == [MANIFEST, RECORDS]
        manifest = json.loads(archive.read(MANIFEST))
        records = archive.read(RECORDS)
    assert manifest.pop("parts") == {RECORDS: hashlib.sha256(records).hexdigest()}
    assert manifest == {
        "gramlink": "bundle",
        "version": 1,
        "encoding": "vectors",
        "exchange": "stroke-2026",
        "owner": "hospital",
        "owners": ["hospital", "registry"],
        "created": "2026-03-14T15:09:26Z",
        "epsilon": "1/3",
        "schema": digest(SETTINGS),
        "projection": "c0ffee" * 10,
        "reply": READER.key,
        "rows": 6,
        "unique": True,
        "shape": {name: list(lengths) for name, lengths in LENGTHS.items()},
        "settings": SETTINGS,
    }


def test_a_changed_byte_anywhere_is_noticed_or_changes_nothing():
    """Some bytes of a zip file, such as times, say nothing of its content."""
    data = bundle(3).to_bytes()
    unchanged = 0
    for place in range(len(data)):
        for bit in (1, 8, 64):
            damaged = bytearray(data)
            damaged[place] ^= bit
            with suppress(InvalidFile):
                assert Bundle.from_bytes(bytes(damaged), "x.bundle").to_bytes() == data
                unchanged += 1
    assert unchanged < 3 * len(data) / 10


def test_a_bundle_that_was_cut_anywhere_is_refused():
    data = bundle().to_bytes()
    for end in [*range(0, len(data), 7), len(data) - 1]:
        with pytest.raises(InvalidFile, match=r"^x\.bundle is damaged or not a bundle"):
            Bundle.from_bytes(data[:end], "x.bundle")


def test_the_hand_made_bundle_is_a_good_one():
    got = Bundle.from_bytes(packed(compression=zipfile.ZIP_STORED), "x.bundle")
    assert contents(got) == contents(bundle())


def test_a_part_that_would_grow_when_read_is_refused():
    with pytest.raises(InvalidFile, match="compressed"):
        Bundle.from_bytes(packed(compression=zipfile.ZIP_DEFLATED), "x.bundle")


def array(values, width=4, kind=pl.UInt8, name="surname.counts"):
    return pl.Series(name, values, dtype=pl.Array(kind, width))


def limits(values, width=2, kind=pl.Int64):
    """The thresholds of the surname, for each of the six rows."""
    return ROWS.with_columns(array(values, width, kind, "surname.thresholds"))


def lengths(**changed):
    """The gram lengths of a manifest; None leaves a field out."""
    told = {name: list(numbers) for name, numbers in LENGTHS.items()} | changed
    return {"shape": {name: one for name, one in told.items() if one != "(none)"}}


def fields(**changed):
    """The settings of a manifest, with the settings of some fields changed."""
    return {"settings": {**SETTINGS, "fields": {**SETTINGS["fields"], **changed}}}


def named(*ids):
    """The rows under these ids, as many of them as there are rows."""
    return ROWS.with_columns(id=pl.Series((ids * 6)[:6], dtype=pl.String))


ROWS = bundle().rows()
IDS = tuple(ROWS["id"])
RIGHT = bundle(thresholds=False).rows()
ZERO = [[0, 36]] * 6
HOSTILE = {
    "nothing": (b"", "not a zip"),
    "not a zip": (b"id,counts\n1,2\n", "not a zip"),
    "only a manifest": (
        packed(members=[MANIFEST]),
        "its parts are not those that its manifest lists",
    ),
    "only records": (packed(members=[RECORDS]), MANIFEST),
    "an empty zip": (packed(members=[]), MANIFEST),
    "another digest": (packed(digests={RECORDS: "0" * 64}), "records.parquet was changed"),
    "another kind": (packed(gramlink="projection"), "not a bundle file but a projection file"),
    "no digests": (packed(digests={}), "its parts are not those that its manifest lists"),
    "no encoding": (packed(encoding="(none)"), "encoding"),
    "another encoding": (packed(encoding="clk"), "its encoding is 'clk', not vectors"),
    "another version": (packed(version=2), "version"),
    "no owner": (packed(owner="(none)"), "owner"),
    "no projection": (packed(projection="(none)"), "projection"),
    "no number of rows": (packed(rows="(none)"), "rows"),
    "no settings": (packed(settings="(none)"), "settings"),
    "settings that are a list": (packed(settings=[]), "settings"),
    "settings that are nothing": (packed(settings=None), "settings"),
    "settings without fields": (packed(settings={"decide": "all"}), "fields"),
    "settings whose fields are a list": (packed(settings={**SETTINGS, "fields": ["surname"]}), ""),
    "settings that do not say how to decide": (
        packed(settings={k: v for k, v in SETTINGS.items() if k != "decide"}),
        "its settings do not say how to decide",
    ),
    "settings that decide by dice": (
        packed(settings={**SETTINGS, "decide": "dice"}),
        "its settings do not say how to decide",
    ),
    "settings that decide by a list": (packed(settings={**SETTINGS, "decide": []}), ""),
    "settings of more fields": (
        packed(**fields(city={"kind": "date", "edits": 1})),
        "not those of its settings",
    ),
    "settings of fewer fields": (
        packed(settings=settings_of("surname", "sex")),
        "its fields are not those of its settings",
    ),
    "settings of no fields": (
        packed(settings=settings_of(), shape={}),
        "at least 1 item",
    ),
    "settings of 51 fields": (
        packed(
            settings={
                **SETTINGS,
                "fields": {f"f{n}": {"kind": "text", "edits": 0} for n in range(51)},
            },
            shape={f"f{n}": [1] for n in range(51)},
        ),
        "at most 50",
    ),
    "a field without edits": (packed(**fields(born={"kind": "date"})), "edits"),
    "a field that is no table": (packed(**fields(born=[])), ""),
    "edits that are text": (packed(**fields(born={"kind": "date", "edits": "2"})), ""),
    "edits that are a fraction": (packed(**fields(born={"kind": "date", "edits": 1.5})), ""),
    "edits below 0": (packed(**fields(born={"kind": "date", "edits": -3})), ""),
    "more edits than thresholds": (
        packed(**fields(born={"kind": "date", "edits": 3})),
        "its columns are not",
    ),
    "edits without end": (packed(**fields(born={"kind": "date", "edits": 10**12})), ""),
    "edits of all fields that are text": (packed(settings={**SETTINGS, "edits": "1"}), ""),
    "edits of all fields that are not there": (
        packed(settings={k: v for k, v in SETTINGS.items() if k != "edits"}),
        "edits",
    ),
    "nothing on whether records are unique": (packed(unique="(none)"), "unique"),
    "records that are perhaps unique": (
        packed(unique="perhaps"),
        "it does not say whether its records are unique",
    ),
    "records that are 1 unique": (packed(unique=1), "whether its records are unique"),
    "no table of lengths": (packed(shape=list(LENGTHS["surname"])), ""),
    "lengths that are one number": (packed(shape=4), ""),
    "lengths of fewer fields": (packed(**lengths(sex="(none)")), "not those of its settings"),
    "lengths of another field": (
        packed(**lengths(sex="(none)", city=[1, 1])),
        "its fields are not those of its settings",
    ),
    "no lengths": (packed(**lengths(surname=[])), "numbers from 1 to 6"),
    "lengths of 0": (packed(**lengths(surname=[0, 1, 2, 3])), "numbers from 1 to 6"),
    "lengths of 99": (packed(**lengths(surname=[1, 1, 2, 99])), "numbers from 1 to 6"),
    "lengths that are negative": (packed(**lengths(surname=[-1, 1, 2, 3])), "from 1 to 6"),
    "lengths that are text": (packed(**lengths(surname=["a", 1, 2, 3])), "numbers from 1 to 6"),
    "lengths without end": (packed(**lengths(surname=[float("inf"), 1, 2, 3])), "Infinity"),
    "lengths that are fractions": (packed(**lengths(surname=[1.0, 1, 2, 3])), "from 1 to 6"),
    "lengths of a field that are one number": (packed(**lengths(surname=4)), ""),
    "lengths of a field that are nothing": (packed(**lengths(surname=None)), ""),
    "1,001 lengths": (packed(**lengths(surname=[1] * 1001)), "up to 1,000 numbers"),
    "too few lengths": (packed(**lengths(surname=[1, 1, 2])), "its columns are not"),
    "too few lengths of the last field": (packed(**lengths(sex=[1])), "its columns are not"),
    "negative thresholds": (packed(limits([[0, -36]] * 6)), "or falls"),
    "a threshold that falls": (
        packed(
            ROWS.with_columns(
                array([[0, 36, 72]] * 5 + [[0, 72, 36]], 3, pl.Int64, "born.thresholds")
            )
        ),
        "a threshold is not 0 for no edits, or falls as edits increase",
    ),
    "thresholds for no edits": (packed(limits([[0, 36]] * 5 + [[1, 36]])), "not 0 for no edits"),
    "null thresholds": (packed(limits([None] * 6)), "a threshold is missing"),
    "one null threshold": (packed(limits([*ZERO[:5], None])), "a threshold is missing"),
    "half a null threshold": (packed(limits([*ZERO[:5], [0, None]])), "a threshold is missing"),
    "fractional thresholds": (packed(limits([[0, 1.5]] * 6, kind=pl.Float64)), "its columns"),
    "thresholds of 32 bits": (packed(limits(ZERO, kind=pl.Int32)), "its columns are not"),
    "thresholds that are text": (
        packed(ROWS.with_columns(pl.lit("1").alias("surname.thresholds"))),
        "its columns are not",
    ),
    "thresholds that are true": (
        packed(ROWS.with_columns(pl.lit(value=True).alias("surname.thresholds"))),
        "its columns are not",
    ),
    "thresholds that are lists": (
        packed(ROWS.with_columns(pl.lit([0, 1]).alias("surname.thresholds"))),
        "its columns are not",
    ),
    "one threshold a record": (
        packed(ROWS.with_columns(pl.lit(36, pl.Int64).alias("surname.thresholds"))),
        "its columns are not",
    ),
    "thresholds for fewer edits": (packed(limits([[0]] * 6, 1)), "its columns are not"),
    "thresholds for more edits": (packed(limits([[0, 1, 2]] * 6, 3)), "its columns are not"),
    "thresholds of some fields": (packed(ROWS.drop("sex.thresholds")), "its columns are not"),
    "thresholds of no field": (
        packed(RIGHT.with_columns(pl.lit(0, pl.Int64).alias("city.thresholds"))),
        "its columns are not",
    ),
    "wider counts": (packed(ROWS.with_columns(array([[1] * 5] * 6, 5))), "its columns are not"),
    "counts of another type": (
        packed(ROWS.with_columns(array([[1] * 4] * 6, kind=pl.Int32))),
        "its columns are not",
    ),
    "counts of no fixed width": (
        packed(ROWS.with_columns(pl.lit([1, 1, 1, 1]).alias("surname.counts"))),
        "its columns are not",
    ),
    "counts that are half null": (
        packed(ROWS.with_columns(array([[1, None, 2, 3]] * 6))),
        "a count is missing within a row",
    ),
    "a count that is null": (
        packed(ROWS.with_columns(array([[1, 1]] * 5 + [[None, 1]], 2, name="sex.counts"))),
        "a count is missing within a row",
    ),
    "no counts": (packed(ROWS.drop("surname.counts")), "its columns are not"),
    "no counts of the last field": (packed(RIGHT.drop("sex.counts")), "its columns are not"),
    "no ids": (packed(ROWS.drop("id")), "its columns are not"),
    "null ids": (packed(named(None)), "its ids are not distinct pseudonyms"),
    "one null id": (packed(named(None, *IDS)), "its ids are not distinct pseudonyms"),
    "the same id twice": (packed(named(*IDS[:5], IDS[0])), "its ids are not distinct"),
    "ids that are formulas": (packed(named("=cmd|'/c calc'!A0", *IDS)), "its ids are not"),
    "ids with a formula after a line end": (packed(named(IDS[0] + "\n=1+1", *IDS)), "its ids"),
    "ids with a line end": (packed(named(IDS[0] + "\n", *IDS[1:])), "its ids are not"),
    "ids in capitals": (packed(named(*(one.upper() + "A" for one in IDS))), "its ids are not"),
    "an id in capitals": (packed(named("A" * 32, *IDS)), "its ids are not distinct pseudonyms"),
    "an id of digits of other scripts": (packed(named("٣" * 32, *IDS)), "its ids are not"),
    "an id that is too short": (packed(named(IDS[0][1:], *IDS[1:])), "its ids are not"),
    "an id that is too long": (packed(named(IDS[0] + "0", *IDS[1:])), "its ids are not"),
    "an empty id": (packed(named("", *IDS)), "its ids are not distinct pseudonyms"),
    "ids that are numbers": (packed(ROWS.with_columns(id=pl.int_range(6))), "its columns are not"),
    "another column": (packed(ROWS.with_columns(surname=pl.lit("MILLER"))), "its columns are not"),
    "fewer rows than it says": (packed(ROWS.head(5)), "it has 5 rows, not 6"),
    "more rows than it says": (packed(pl.concat([ROWS, ROWS])), "it has 12 rows, not 6"),
    "more rows than its size allows": (packed(rows=10**6), "more rows than its size allows"),
    "rows without end": (packed(rows=10**30), "more rows than its size allows"),
    "rows below 0": (packed(rows=-6), "it has 6 rows, not -6"),
    "rows that are a fraction": (packed(rows=6.0), "more rows than its size allows"),
    "rows that are text": (packed(rows="6"), "more rows than its size allows"),
    "rows that are nothing": (packed(rows=None), "more rows than its size allows"),
    "a threshold above what its edits can make": (
        packed(limits([*ZERO[:5], [0, highest(1, LENGTHS["surname"]) + 1]])),
        "a threshold of surname is higher than 1 edits can make it",
    ),
    "thresholds without end": (packed(limits([[0, 2**63 - 1]] * 6)), "is higher than 1 edits"),
    "an exchange that is a path": (packed(exchange="../stroke"), "the name of an exchange"),
    "an exchange in capitals": (packed(exchange="Stroke"), "the name of an exchange"),
    "an exchange with a line end": (packed(exchange="stroke\n"), "the name of an exchange"),
    "an exchange that starts with a hyphen": (packed(exchange="-rf"), "the name of an exchange"),
    "an exchange that is nothing": (packed(exchange=None), "the name of an exchange"),
    "an exchange that is 0": (packed(exchange=0), "the name of an exchange"),
    "no exchange": (packed(exchange="(none)"), "exchange"),
    "no owners": (packed(owners="(none)"), "owners"),
    "owners that are one number": (packed(owners=2), "its owners are not a list"),
    "owners that are letters": (packed(owners="ab"), "its owners are not a list"),
    "owners that are paths": (packed(owners=["../a", "b"]), "the name of an owner"),
    "owners that are numbers": (packed(owners=[1, 2]), "the name of an owner"),
    "an owner that is a path": (packed(owner="a/b"), "the name of an owner"),
    "an owner that writes to the terminal": (packed(owner="\x1b[2J"), "the name of an owner"),
    "a reply to two": (packed(reply=[READER.key] * 2), "a value in its manifest must be text"),
    "no reply": (packed(reply="(none)"), "reply"),
    "the digest of another schema": (packed(schema="0" * 64), "do not match its schema's digest"),
    "a schema that is nothing": (packed(schema=None), "do not match its schema's digest"),
    "no schema": (packed(schema="(none)"), "schema"),
    "an epsilon of 1/0": (packed(epsilon="1/0"), "damaged"),
    "an epsilon that is no number": (packed(epsilon="NaN"), "damaged"),
    "an epsilon without end": (packed(epsilon="inf"), "damaged"),
    "an epsilon that is words": (packed(epsilon="one half"), "damaged"),
    "an epsilon that is a list": (packed(epsilon=[1]), "not a number of a sensible size"),
    "an epsilon of many digits": (packed(epsilon="1" * 201), "not a number of a sensible size"),
    "no epsilon": (packed(epsilon="(none)"), "epsilon"),
    "a time that is a number": (packed(created=0), "a value in its manifest must be text"),
    "a time that writes to the terminal": (
        packed(created="\x1b[2J"),
        "a value in its manifest must be text",
    ),
    "a time without end": (packed(created="2" * 201), "must be text of at most 200"),
    "no time": (packed(created="(none)"), "created"),
    "a projection that is a number": (packed(projection=5), "a value in its manifest must be text"),
    "a projection of two lines": (
        packed(projection="a\nb"),
        "a value in its manifest must be text",
    ),
}


# what the linkage unit decides by, when there are several fields
UNDECIDED = {
    "no accept": {"accept": "(none)"},
    "accept that is text": {"accept": "0.5"},
    "accept that is nothing": {"accept": None},
    "no review": {"review": "(none)"},
    "review that is a list": {"review": []},
    "no passes": {"passes": "(none)"},
    "passes that are one number": {"passes": 1},
    "passes that are numbers": {"passes": [1]},
    "a pass of no field": {"passes": [{}]},
    "a pass of another field": {"passes": [{"city": 0}]},
    "a pass of too many edits": {"passes": [{"born": 3}]},
    "a pass of edits below 0": {"passes": [{"born": -1}]},
    "a pass of edits that are text": {"passes": [{"born": "1"}]},
}


@pytest.mark.parametrize("changes", UNDECIDED.values(), ids=UNDECIDED)
def test_a_bundle_that_could_not_be_decided_on_is_refused(changes):
    told = {key: value for key, value in {**SETTINGS, **changes}.items() if value != "(none)"}
    with pytest.raises(InvalidFile, match=r"^x\.bundle"):
        Bundle.from_bytes(packed(settings=told), "x.bundle")


WRONG_REPLIES = ["age1nobody", "AGE-SECRET-KEY-1", "", READER.key + "\n", READER.key[:-1]]


@pytest.mark.parametrize("reply", WRONG_REPLIES)
def test_a_reply_to_what_is_no_recipient_is_refused(reply):
    with pytest.raises(InvalidFile, match=r"^x\.bundle"):
        Bundle.from_bytes(packed(reply=reply), "x.bundle")


@pytest.mark.parametrize("epsilon", ["1e1000000", "1e-1000000", "-1", "-1/2"])
def test_an_epsilon_of_no_sensible_size_is_refused(epsilon):
    """With a few digits more, whoever reads it as a fraction would be at it for days."""
    with pytest.raises(InvalidFile, match=r"^x\.bundle"):
        Bundle.from_bytes(packed(epsilon=epsilon), "x.bundle")


def test_a_part_that_a_bundle_does_not_have_is_refused():
    with zipfile.ZipFile(io.BytesIO(packed())) as archive:
        manifest, records = (archive.read(name) for name in (MANIFEST, RECORDS))
    content = json.loads(manifest)
    content["parts"]["../names.csv"] = hashlib.sha256(b"MILLER").hexdigest()
    archived = io.BytesIO()
    with zipfile.ZipFile(archived, "w") as archive:
        archive.writestr(MANIFEST, json.dumps(content))
        archive.writestr(RECORDS, records)
        archive.writestr("../names.csv", b"MILLER")
    with pytest.raises(InvalidFile, match=r"^x\.bundle"):
        Bundle.from_bytes(archived.getvalue(), "x.bundle")


@settings(deadline=None, max_examples=40)
@given(data=st.data(), rows=st.integers(1, 5), edits=st.integers(0, 5))
def test_thresholds_up_to_the_highest_are_taken_and_none_above(data, rows, edits):
    lengths = tuple(data.draw(st.lists(st.integers(1, 6), min_size=1, max_size=6)))
    most = [highest(e, lengths) for e in range(edits + 1)]
    vectors = Vectors(np.zeros((rows, len(lengths)), np.uint8), lengths, np.zeros(rows, bool))
    about = {**SETTINGS, "passes": [], "fields": {"a": {**MINED, "edits": edits}}}
    ids = tuple(f"{n:032x}" for n in range(rows))

    def sent(limits):
        return Bundle(
            "a", about, "p", ids, VectorRecords({"a": Encoded(vectors, limits)})
        ).to_bytes()

    limits = np.tile(np.array(most, np.int64), (rows, 1))
    got = Bundle.from_bytes(sent(limits), "x.bundle")
    assert got.records.fields["a"].thresholds.tolist() == limits.tolist()
    limits[data.draw(st.integers(0, rows - 1)), data.draw(st.integers(0, edits)) :] += 1
    with pytest.raises(InvalidFile, match="a threshold"):
        Bundle.from_bytes(sent(limits), "x.bundle")


@pytest.mark.parametrize(("data", "why"), HOSTILE.values(), ids=HOSTILE)
def test_a_hostile_bundle_is_refused(data, why):
    with pytest.raises(InvalidFile, match=r"^x\.bundle") as caught:
        Bundle.from_bytes(data, "x.bundle")
    assert why in str(caught.value)
    assert caught.value.hint


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text("a1.", max_size=3),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from([*LENGTHS, "edits", "fields", "x"]), inner, max_size=3)
    ),
    max_leaves=6,
)
PATHS = [
    ("rows",), ("unique",), ("shape",), ("shape", "born"), ("settings",),
    ("settings", "fields"), ("settings", "fields", "born"), ("settings", "edits"),
    ("settings", "decide"), ("settings", "fields", "born", "edits"), ("parts",), ("owner",),
    ("owners",), ("exchange",), ("schema",), ("epsilon",), ("reply",), ("created",),
]  # fmt: skip


@settings(deadline=None, max_examples=300)
@given(path=st.sampled_from(PATHS), value=JSON)
def test_whatever_stands_in_a_manifest_no_other_error_comes_of_it(path, value):
    content = {"settings": json.loads(json.dumps(SETTINGS)), **lengths()}
    content |= {"rows": 6, "unique": True, "owner": "a", "parts": None}
    place = content
    for key in path[:-1]:
        place = place[key]
    place[path[-1]] = value
    if path != ("parts",):
        del content["parts"]
    with suppress(InvalidFile, InvalidSchema):
        Bundle.from_bytes(packed(**content), "x.bundle")


def test_records_that_are_not_parquet_are_refused():
    junk = b"PAR1 this is not parquet PAR1"
    content = {
        "gramlink": "bundle",
        "version": 1,
        **bundle().manifest,
        "parts": {RECORDS: hashlib.sha256(junk).hexdigest()},
    }
    archived = io.BytesIO()
    with zipfile.ZipFile(archived, "w") as archive:
        archive.writestr(MANIFEST, json.dumps(content))
        archive.writestr(RECORDS, junk)
    with pytest.raises(InvalidFile, match="damaged"):
        Bundle.from_bytes(archived.getvalue(), "x.bundle")


def test_a_manifest_of_more_than_a_megabyte_is_not_read():
    with pytest.raises(InvalidFile, match="manifest is too large"):
        Bundle.from_bytes(packed(owner="a" * 2**20), "x.bundle")


def test_another_file_of_ours_is_named():
    with pytest.raises(InvalidFile, match="not a bundle file but a projection file"):
        Bundle.from_bytes(packed(gramlink="projection"), "x.bundle")
