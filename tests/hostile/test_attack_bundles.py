"""Bundles that are forged, swapped, damaged or made to explode: refused, and it is said why.

Those of a hospital alone are handed in by the fixture `reason`.
"""

import json
import os
import zipfile
from dataclasses import replace

import numpy as np
import polars as pl
import pytest

from gramlink.bundles.bundle import RECORDS
from gramlink.bundles.sealing import new_identity, seal
from gramlink.embedding.thresholds import highest
from gramlink.embedding.vectors import Encoded, Vectors
from gramlink.encodings.vectors import VectorRecords
from gramlink.parties.owner import Owner
from gramlink.records.reading import read_records
from hostile.attacking import (
    LARGEST,
    SCHEMA,
    embedded,
    forged,
    identity_of,
    owner,
    projection,
    sha256,
    unlike,
)
from hostile.lying_parquet import claiming, repeated, run_lengths


@pytest.fixture(autouse=True)
def afterwards(request):
    """The server that was attacked is sound."""
    if "reason" not in request.fixturenames:
        request.getfixturevalue("sound")


def forging(forge):
    """What the hospital hands in, made of its own bundle."""

    def mark(test):
        test.forge = forge
        return test

    return mark


def said(before, after):
    """Change the text of a manifest, where it has it."""

    def change(text):
        assert before in text
        return text.replace(before, after, 1)

    return lambda bundle: forged(bundle, text=change)


def limits(value):
    """The bundle with another threshold in its first row."""

    def change(bundle):
        field = bundle.records.fields["surname"]
        thresholds = field.thresholds.copy()
        thresholds[0, -1] = value(field) if callable(value) else value
        changed = Encoded(field.vectors, thresholds)
        return replace(bundle, records=VectorRecords({"surname": changed})).to_bytes()

    return change


# somebody else's, or for something else


def test_a_party_that_sends_another_partys_bundle_is_refused(two):
    hospital, registry = two
    hospital.upload(registry.sealed())
    state, reason = hospital.verdict()
    assert state == "refused"
    assert "the bundle's owner is registry, not hospital" in reason
    assert registry.state == "none"


@forging(lambda bundle: replace(bundle, exchange="another").to_bytes())
def test_another_exchanges_bundle_is_refused(reason):
    assert "the bundle's exchange is another, not exchange-" in reason


@forging(lambda bundle: replace(bundle, owners=("hospital", "registry", "spy")).to_bytes())
def test_a_bundle_for_more_owners_is_refused(reason):
    assert "owners" in reason
    assert "spy" in reason


@forging(lambda bundle: replace(bundle, reply=new_identity().recipient).to_bytes())
def test_a_bundle_that_asks_for_its_results_elsewhere_is_refused(reason):
    assert "key to reply to" in reason


@forging(
    lambda bundle: replace(
        embedded("hospital", SCHEMA.replace("20", "19") + "edits = 2\n"),
        exchange=bundle.exchange,
        reply=bundle.reply,
    ).to_bytes()
)
def test_a_bundle_of_another_schema_is_refused_and_each_setting_named(reason):
    assert "differ in" in reason
    assert "fields.surname.size: 19 and 20" in reason
    assert "fields.surname.edits: 2 and None" in reason


def test_bundles_of_two_projections_are_told_apart(two):
    hospital, registry = two
    hospital.upload()
    assert hospital.verdict() == ("accepted", None)
    other = registry.bundle(which=1)
    assert other.projection != hospital.bundle().projection
    registry.upload(registry.sealed(other.to_bytes()))
    state, reason = registry.verdict()
    assert state == "refused"
    assert "embedded with different projections" in reason
    registry.upload()
    assert registry.outcome() == ("done", None)


def test_bundles_of_other_dimensions_under_one_projection_are_not_linked(two):
    """Forged: the digest says that the grams are the same, and their number that they are not."""
    hospital, registry = two
    hospital.upload()
    bundle = registry.bundle()
    vectors = bundle.records.fields["surname"].vectors
    fewer = Vectors(vectors.counts[:, 1:], vectors.lengths[1:], vectors.missing)
    registry.upload(
        registry.sealed(
            replace(bundle, records=VectorRecords({"surname": Encoded(fewer)})).to_bytes()
        )
    )
    state, reason = registry.verdict()
    if state == "accepted":
        state, reason = registry.outcome()
    assert state in ("refused", "failed")
    assert "encoded their records differently" in reason


def test_a_left_owner_without_thresholds_may_try_again(two):
    """It is the bundle that is wrong, which is seen without the other one."""
    hospital, _ = two
    bundle = hospital.bundle()
    without = Encoded(bundle.records.fields["surname"].vectors)
    hospital.upload(
        hospital.sealed(replace(bundle, records=VectorRecords({"surname": without})).to_bytes())
    )
    state, reason = hospital.verdict()
    assert state == "refused"
    assert "thresholds" in reason


@forging(said('"version": 1', '"version": 2'))
def test_another_version_of_the_format_is_refused(reason):
    assert "has format version 2, but this gramlink reads 1" in reason


# numbers that are none, or are too large


@forging(said(f'"rows": {len(embedded("hospital").ids)}', '"rows": NaN'))
def test_nan_in_a_manifest_is_refused(reason):
    assert "NaN is not a number" in reason


@forging(said('"accept": 0.5', '"accept": Infinity'))
def test_infinity_in_a_manifest_is_refused(reason):
    assert "Infinity is not a number" in reason


@forging(said('"accept": 0.5', '"accept": 1e999'))
def test_a_number_that_becomes_infinity_is_refused(reason):
    assert "1e999 is not a number" in reason


def negative(bundle):
    rows = bundle.rows()
    width = len(bundle.records.fields["surname"].vectors.lengths)
    kind = pl.Array(pl.Int8, width)
    counts = pl.Series("surname.counts", [[-1] * width] * len(rows), dtype=kind)
    records = rows.with_columns(counts)
    return forged(bundle, records=_parquet(records))


def _parquet(frame):
    import io

    written = io.BytesIO()
    frame.write_parquet(written)
    return written.getvalue()


@forging(negative)
def test_negative_counts_are_refused(reason):
    assert "its columns are not those of a bundle" in reason


@forging(limits(-1))
def test_a_negative_threshold_is_refused(reason):
    assert "a threshold is not 0 for no edits, or falls as edits increase" in reason


@forging(limits(lambda field: highest(1, field.vectors.lengths) + 1))
def test_a_threshold_above_what_edits_can_make_is_refused(reason):
    assert "a threshold of surname is higher than 1 edits can make it" in reason


@forging(limits(2**63 - 1))
def test_the_highest_threshold_there_can_be_is_refused(reason):
    assert "a threshold of surname is higher" in reason


@forging(lambda bundle: forged(bundle, rows=-5))
def test_a_negative_number_of_rows_is_refused(reason):
    assert "rows, not -5" in reason


@forging(lambda bundle: forged(bundle, rows=10**400))
def test_more_rows_than_any_number_can_count_are_refused(reason):
    assert "more rows than its size allows" in reason


@forging(
    lambda bundle: forged(
        bundle, text=lambda text: text.replace('"rows": ', f'"rows": {"9" * 5000}')
    )
)
def test_a_number_of_thousands_of_digits_is_refused(reason):
    assert "is damaged or not a bundle file" in reason


@forging(lambda bundle: forged(bundle, epsilon="1e1000000"))
def test_an_epsilon_of_a_million_digits_is_refused(reason):
    """One of a thousand million would keep the unit busy for days."""
    assert "is damaged" in reason


@forging(lambda bundle: forged(bundle, epsilon="-3"))
def test_a_negative_epsilon_is_refused(reason):
    assert "is damaged" in reason


@forging(lambda bundle: forged(bundle, shape={"surname": [1] * 10**5}))
def test_a_hundred_thousand_grams_are_refused(reason):
    assert "gram lengths are not up to 1,000" in reason


# no rows, and rows that are all the same


def none_of(bundle):
    field = bundle.records.fields["surname"]
    vectors = Vectors(field.vectors.counts[:0], field.vectors.lengths, np.zeros(0, np.bool_))
    empty = {"surname": Encoded(vectors, field.thresholds[:0])}
    return replace(bundle, ids=(), records=VectorRecords(empty)).to_bytes()


@forging(none_of)
def test_a_bundle_without_rows_is_refused(reason):
    assert "the bundle has no rows" in reason


def test_records_that_are_all_the_same_are_one_row(two):
    hospital, registry = two
    known = owner("hospital")
    frame = pl.DataFrame({"id": [f"{n}" for n in range(1000)], "surname": ["Miller"] * 1000})
    same = Owner("hospital", read_records(frame, known.schema), known.schema, known.key)
    bundle = same.embed(projection(SCHEMA, 0), exchange=hospital.exchange, reply=hospital.recipient)
    assert len(bundle.ids) == 1
    hospital.upload(hospital.sealed(bundle.to_bytes()))
    assert hospital.verdict() == ("accepted", None)
    registry.upload()
    assert registry.outcome() == ("done", None)
    assert hospital.me()["bundle"]["rows"] == 1


def test_rows_that_are_all_the_same_under_different_ids_are_not_linked(two):
    """Forged, as an honest owner has one such row. Nothing says which belong together."""
    for party in two:
        party.upload(party.sealed(unlike(party.bundle(), 2000).to_bytes()))
    assert two[0].outcome() == ("done", None)
    assert {name: len(one) for name, one in two[0].results().tables.items()} == {
        "links": 0, "possible": 0,
    }  # fmt: skip


# archives and tables that grow when they are read


def bomb(bundle):
    """Hundreds of times larger than itself."""
    zeros = bytes(30 * 2**20)
    parts = {RECORDS: sha256(zeros)}
    data = forged(bundle, records=zeros, compression=zipfile.ZIP_DEFLATED, parts=parts)
    assert len(data) < LARGEST / 10
    return data


@forging(bomb)
def test_an_archive_that_is_a_bomb_is_refused(reason):
    assert "a part is compressed" in reason


def overlapping(bundle):
    """A zip file whose members are the same bytes, and together larger than the file."""
    data = bytearray(forged(bundle, files=lambda files: {**files, "x": b"", "y": b""}))
    first = data.find(b"PK\x01\x02", data.find(b"PK\x01\x02") + 4)
    place = first
    while (place := data.find(b"PK\x01\x02", place + 4)) >= 0:
        data[place + 16 : place + 28] = data[first + 16 : first + 28]
        data[place + 42 : place + 46] = data[first + 42 : first + 46]
    return bytes(data)


@forging(overlapping)
def test_an_archive_whose_parts_overlap_is_refused(reason):
    assert "is damaged or not a bundle" in reason


ROWS = 3 * 10**9


@forging(lambda bundle: forged(bundle, records=claiming(_parquet(bundle.rows()), ROWS), rows=ROWS))
def test_a_table_that_claims_billions_of_rows_is_refused(reason):
    assert "it claims more rows than its size allows" in reason


@forging(lambda bundle: forged(bundle, records=claiming(_parquet(bundle.rows()), ROWS)))
def test_a_table_that_claims_billions_of_rows_beside_an_honest_manifest_is_refused(reason):
    assert "3,000,000,000 rows" in reason


def claimed(bundle):
    return forged(bundle, records=claiming(_parquet(bundle.rows()), 60_000), rows=60_000)


@forging(claimed)
def test_a_table_that_has_fewer_rows_than_it_claims_is_refused(reason):
    assert "is damaged or not a bundle" in reason


def giant(bundle):
    """Fifty columns of 65,000 rows of a thousand counts, all of them the same few bytes."""
    names = [f"field{n}" for n in range(50)]
    # ids would take room, and are looked at last
    records = run_lengths(["0" * 32] * 65_000, "surname.counts", 1000)
    records = repeated(records, "surname.counts", [f"{name}.counts" for name in names], 1000)
    assert len(records) < 10**5
    one = bundle.settings["fields"]["surname"]
    settings = {**bundle.settings, "fields": dict.fromkeys(names, one)}
    lengths = {"shape": dict.fromkeys(names, [1] * 1000)}
    return forged(bundle, records=records, rows=65_000, settings=settings, **lengths)


@forging(giant)
def test_a_table_of_giant_runs_is_refused_within_the_limit_of_memory(reason):
    """It is 3 GB in a few bytes. A worker that dies of it is nobody else's harm."""
    assert "memory" in reason or "is damaged" in reason


# names that are paths, and manifests that are traps


@forging(
    lambda bundle: forged(bundle, files=lambda files: {**files, "../../../../tmp/attacked": b"x"})
)
def test_a_part_by_a_path_is_refused(reason):
    assert "its parts are not those that its manifest lists" in reason
    assert not os.path.exists("/tmp/attacked")  # noqa: PTH110


def named_path(bundle):
    part = {RECORDS: sha256(_parquet(bundle.rows())), "../../unit.identity": sha256(b"x")}
    return forged(bundle, files=lambda files: {**files, "../../unit.identity": b"x"}, parts=part)


@forging(named_path)
def test_a_part_by_a_path_that_the_manifest_names_is_refused(sound, reason):
    assert "damaged" in reason
    assert b"AGE-SECRET-KEY" in (sound.data / "unit.identity").read_bytes()


@forging(lambda bundle: forged(bundle, owner="../../x"))
def test_an_owner_that_is_a_path_is_refused(reason):
    assert "cannot be the name of an owner" in reason


@forging(lambda bundle: forged(bundle, exchange="../1"))
def test_an_exchange_that_is_a_path_is_refused(reason):
    assert "cannot be the name of an exchange" in reason


@forging(said('"reply"', '"x": ' + "[" * 10**5 + "]" * 10**5 + ', "reply"'))
def test_a_manifest_that_is_deep_is_refused(reason):
    assert "is damaged or not a bundle" in reason


@forging(lambda bundle: forged(bundle, settings={**bundle.settings, "x": deep(850)}))
def test_settings_that_are_as_deep_as_can_be_read_are_refused(reason):
    assert "unexpected" not in reason


def deep(levels):
    return json.loads("[" * levels + "]" * levels)


@forging(said('"owner"', '"owner": "registry", "owner"'))
def test_a_manifest_that_says_a_thing_twice_is_refused(reason):
    assert "it says 'owner' twice" in reason


@forging(said('"created": "2026', '"created": "\\u001b[2J\\u202e'))
def test_a_text_that_writes_to_the_terminal_is_refused(reason):
    assert "a value in its manifest must be text of at most 200 printable characters" in reason
    assert reason.isprintable()


# what cannot be opened


def test_a_sealed_file_with_one_other_byte_is_refused(server):
    """In its head, in its middle and at its end, of three parties at once."""
    hospitals = [server.at_bundles()[0] for _ in range(3)]
    for hospital, place in zip(hospitals, (60, 2000, -1), strict=True):
        data = bytearray(hospital.sealed())
        data[place] ^= 1
        hospital.upload(bytes(data))
    for hospital in hospitals:
        state, reason = hospital.verdict()
        assert state == "refused"
        assert "changed since it was sealed" in reason or "another key" in reason


def test_what_is_sealed_to_another_or_not_at_all_is_refused(server):
    hospitals = [server.at_bundles()[0] for _ in range(2)]
    bundle = hospitals[0].bundle().to_bytes()
    hospitals[0].upload(seal(bundle, [identity_of("registry").recipient]))
    hospitals[1].upload(bundle)
    assert "is sealed to another key" in hospitals[0].verdict()[1]
    assert "is not a sealed file" in hospitals[1].verdict()[1]


def test_a_party_that_was_refused_has_no_results_and_may_send_another(two):
    hospital, registry = two
    hospital.upload(b"x" * 100)
    registry.upload()
    assert hospital.verdict()[0] == "refused"
    assert registry.verdict()[0] == "accepted"
    for party in two:
        assert party.ask("GET", "results", 404).json()["error"] == "the results are not ready yet"
    hospital.upload()
    assert hospital.outcome() == ("done", None)


def test_after_all_these_bundles_the_next_exchange_works(server):
    server.works()
