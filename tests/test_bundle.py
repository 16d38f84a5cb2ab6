import hashlib
import io
import json
import zipfile
from contextlib import suppress

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings

from gramlink.base import Base
from gramlink.bundle import MANIFEST, RECORDS, Bundle
from gramlink.embedding import Vectors, embed
from gramlink.errors import InvalidFile
from gramlink.strings import Strings
from strategies import AB, bases, lists

LENGTHS = (1, 1, 2, 3)
SETTINGS = {"decide": "one-to-one", "edits": 1, "fields": {"surname": {"size": 4}}}


def bundle(rows=6, thresholds=True):
    source = np.random.default_rng(rows)
    missing = np.arange(rows) % 3 == 1
    counts = source.integers(0, 5, (rows, len(LENGTHS))).astype(np.uint8)
    counts[missing] = 0
    ids = tuple(f"{n:032x}" for n in source.permutation(rows) + 10**9)
    limits = source.integers(0, 9, rows) * 36 if thresholds else None
    vectors = Vectors(counts, LENGTHS, missing)
    return Bundle("hospital", SETTINGS, "c0ffee" * 10, ids, vectors, limits)


def packed(rows=None, parts=(MANIFEST, RECORDS), digests=None, compression=0, **manifest):
    """A bundle as somebody might make it by hand, with a digest that is right if not given."""
    records = io.BytesIO()
    (bundle().rows() if rows is None else rows).write_parquet(records)
    data = records.getvalue()
    digests = {RECORDS: hashlib.sha256(data).hexdigest()} if digests is None else digests
    content = {"gramlink": "bundle", "version": 1, **bundle().manifest, "parts": digests}
    content = {key: value for key, value in (content | manifest).items() if value != "(none)"}
    files = {MANIFEST: json.dumps(content).encode(), RECORDS: data}
    archived = io.BytesIO()
    with zipfile.ZipFile(archived, "w", compression) as archive:
        for part in parts:
            archive.writestr(part, files[part])
    return archived.getvalue()


def contents(one):
    """All that a bundle holds, by id."""
    limits = [None] * len(one.ids) if one.thresholds is None else one.thresholds.tolist()
    rows = zip(one.vectors.counts.tolist(), one.vectors.missing.tolist(), limits, strict=True)
    return {
        "rows": dict(zip(one.ids, rows, strict=True)),
        "rest": (one.owner, one.settings, one.projection, one.vectors.lengths),
    }


@pytest.mark.parametrize("thresholds", [True, False])
@pytest.mark.parametrize("rows", [0, 1, 6, 50])
def test_a_bundle_comes_back_as_it_was_sent(rows, thresholds):
    sent = bundle(rows, thresholds)
    got = Bundle.from_bytes(sent.to_bytes(), "x.bundle")
    assert contents(got) == contents(sent)
    assert got.vectors.counts.dtype == np.uint8
    assert got.vectors.counts.shape == (rows, len(LENGTHS))
    assert (got.thresholds is None) == (not thresholds)
    if thresholds:
        assert got.thresholds.dtype == np.int64
    assert got.to_bytes() == sent.to_bytes()


@settings(deadline=None, max_examples=30)
@given(texts=lists(AB), grams=bases(AB))
def test_any_vectors_come_back(texts, grams):
    vectors = embed(Strings.of(texts, AB), Base(grams))
    ids = tuple(f"{n:03d}" for n in range(len(texts)))
    packed = Bundle("a", {"decide": "all"}, "p", ids, vectors).to_bytes()
    got = Bundle.from_bytes(packed, "x.bundle")
    assert got.ids == ids
    assert np.array_equal(got.vectors.counts, vectors.counts)
    assert np.array_equal(got.vectors.missing, vectors.missing)
    assert got.vectors.lengths == vectors.lengths


def test_rows_are_ordered_by_pseudonym_and_missing_values_are_null():
    sent = bundle(30)
    rows = sent.rows()
    assert rows["id"].to_list() == sorted(sent.ids) != list(sent.ids)
    assert Bundle.from_bytes(sent.to_bytes(), "x").ids == tuple(sorted(sent.ids))
    missing = {one for one, gone in zip(sent.ids, sent.vectors.missing, strict=True) if gone}
    assert set(rows.filter(pl.col("counts").is_null())["id"]) == missing


def test_the_order_of_the_records_leaves_no_trace():
    one = bundle(20)
    order = np.random.default_rng(1).permutation(20)
    vectors = Vectors(one.vectors.counts[order], LENGTHS, one.vectors.missing[order])
    ids = tuple(one.ids[row] for row in order)
    other = Bundle(one.owner, SETTINGS, one.projection, ids, vectors, one.thresholds[order])
    assert other.to_bytes() == one.to_bytes()


def test_a_person_can_read_the_manifest():
    with zipfile.ZipFile(io.BytesIO(bundle().to_bytes())) as archive:
        assert archive.namelist() == [MANIFEST, RECORDS]
        manifest = json.loads(archive.read(MANIFEST))
        records = archive.read(RECORDS)
    assert manifest.pop("parts") == {RECORDS: hashlib.sha256(records).hexdigest()}
    assert manifest == {
        "gramlink": "bundle",
        "version": 1,
        "encoding": "vectors",
        "owner": "hospital",
        "projection": "c0ffee" * 10,
        "rows": 6,
        "gram lengths": list(LENGTHS),
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


def array(values, width=4, kind=pl.UInt8):
    return pl.Series("counts", values, dtype=pl.Array(kind, width))


ROWS = bundle().rows()
HOSTILE = {
    "nothing": b"",
    "not a zip": b"id,counts\n1,2\n",
    "only a manifest": packed(parts=[MANIFEST]),
    "only records": packed(parts=[RECORDS]),
    "an empty zip": packed(parts=[]),
    "another digest": packed(digests={RECORDS: "0" * 64}),
    "another kind": packed(gramlink="projection"),
    "no digests": packed(digests={}),
    "no encoding": packed(encoding="(none)"),
    "another encoding": packed(encoding="clk"),
    "another version": packed(version=2),
    "no owner": packed(owner="(none)"),
    "no projection": packed(projection="(none)"),
    "no settings": packed(settings="(none)"),
    "settings that are a list": packed(settings=[]),
    "settings that are nothing": packed(settings=None),
    "settings that do not say how to decide": packed(settings={}),
    "no lengths": packed(**{"gram lengths": []}),
    "lengths of 0": packed(**{"gram lengths": [0, 1, 2, 3]}),
    "lengths of 99": packed(**{"gram lengths": [1, 1, 2, 99]}),
    "lengths that are negative": packed(**{"gram lengths": [-1, 1, 2, 3]}),
    "lengths that are text": packed(**{"gram lengths": ["a", 1, 2, 3]}),
    "lengths without end": packed(**{"gram lengths": [float("inf"), 1, 2, 3]}),
    "lengths that are one number": packed(**{"gram lengths": 4}),
    "too few lengths": packed(**{"gram lengths": [1, 1, 2]}),
    "negative thresholds": packed(ROWS.with_columns(threshold=pl.lit(-1, pl.Int64))),
    "null thresholds": packed(ROWS.with_columns(threshold=pl.lit(None, pl.Int64))),
    "one null threshold": packed(
        ROWS.with_columns(threshold=pl.Series([1, 2, None, 4, 5, 6], dtype=pl.Int64))
    ),
    "fractional thresholds": packed(ROWS.with_columns(threshold=pl.lit(1.5))),
    "thresholds that are text": packed(ROWS.with_columns(threshold=pl.lit("1"))),
    "thresholds that are true": packed(ROWS.with_columns(threshold=pl.lit(True))),
    "thresholds that are lists": packed(ROWS.with_columns(threshold=pl.lit([1]))),
    "wider counts": packed(ROWS.with_columns(array([[1] * 5] * 6, 5))),
    "counts of another type": packed(ROWS.with_columns(array([[1] * 4] * 6, kind=pl.Int32))),
    "counts of no fixed width": packed(ROWS.with_columns(counts=pl.lit([1, 1, 1, 1]))),
    "counts that are half null": packed(ROWS.with_columns(array([[1, None, 2, 3]] * 6))),
    "no counts": packed(ROWS.drop("counts")),
    "no ids": packed(ROWS.drop("id")),
    "null ids": packed(ROWS.with_columns(id=pl.lit(None, pl.String))),
    "the same id twice": packed(ROWS.with_columns(id=pl.lit("x"))),
    "ids that are numbers": packed(ROWS.with_columns(id=pl.int_range(6))),
    "another column": packed(ROWS.with_columns(surname=pl.lit("MILLER"))),
    "fewer rows than it says": packed(ROWS.head(5)),
    "more rows than it says": packed(pl.concat([ROWS, ROWS.with_columns(id="x" + pl.col("id"))])),
}


@pytest.mark.parametrize("data", HOSTILE.values(), ids=HOSTILE)
def test_a_hostile_bundle_is_refused(data):
    with pytest.raises(InvalidFile, match=r"^x\.bundle"):
        Bundle.from_bytes(data, "x.bundle")


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
