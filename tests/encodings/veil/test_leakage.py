"""What the linkage unit may learn, clause by clause of the statement in docs/veil.md."""

import math
from dataclasses import replace
from itertools import combinations

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings

from gramlink.embedding.projection import agree
from gramlink.encodings.secret import Secret
from gramlink.encodings.veil import rows as rows_module
from gramlink.encodings.veil.rows import Writer
from gramlink.encodings.veil.veiled import VeiledRecords
from gramlink.engines.local import using_threads
from gramlink.errors import GramlinkError
from gramlink.kernels.cells import CELL, SKETCH, TAG
from gramlink.lab.datasets import persons
from gramlink.parties.owner import Owner
from gramlink.records.fields import Field
from gramlink.records.reading import read_records
from gramlink.records.schema import Schema
from veiling import (
    KEYS,
    NAMES,
    SCALES,
    SCHEMA,
    SECRET,
    SOME_KEYS,
    Party,
    layout_of,
    parties,
    veiled,
)

OTHER_SECRET = Secret(bytes(32))
BORN = [["born", "whole"]]
SURNAME = NAMES.index("surname")
MANY = 1600


def people(name, count=MANY, seed=1, missing=0.1):
    """An owner with many records, of which some have values in common, and some miss them."""
    source = np.random.default_rng(seed)
    letters, numbers = np.array(list("AEIMNRS")), np.array(list("0123456789"))

    def text(symbols, length):
        return "".join(source.choice(symbols, length))

    records = []
    for row in range(count):
        record = [
            text(letters, 4),
            text(letters, int(source.integers(2, 7))),
            f"{row:08d}",  # nobody is born on the same day
            text(numbers, 5),
            text(np.array(list("FM")), 1),
        ]
        gone = source.random(len(record)) < missing
        records.append(tuple("" if no else one for no, one in zip(gone, record, strict=True)))
    return Party(name, name.encode() * 4, tuple(records))


def uniform(values, size=256):
    """Whether values below `size` are as evenly spread as chance would have it: chi-squared."""
    counts = np.bincount(np.asarray(values).ravel(), minlength=size)
    expected = counts.sum() / size
    assert expected > 5
    chi = ((counts - expected) ** 2 / expected).sum()
    return abs(chi - (size - 1)) < 5 * math.sqrt(2 * (size - 1))


def cells_of(records, key):
    """The rows of one key: tags, and the cells that follow."""
    layout = records.layout
    part = records.rows[:, layout.starts[key] : layout.starts[key + 1]]
    return part[:, :TAG], part[:, TAG:].reshape(len(part), -1, CELL)


def sent(party, keys):
    """Which rows stand for a key."""
    writer = Writer(party.material, SECRET, layout_of(keys), SCALES)
    return np.stack([writer._sent(key) for key in range(len(keys))], axis=1)


# 1. Of a row whose tag no other owner has, nothing.


def test_rows_that_are_not_shared_are_uniform():
    party = people("clinic")
    records, which = veiled(party, KEYS), sent(party, KEYS)
    missing = np.array([[not value for value in record] for record in party.records])
    bodies, dummies, gaps = [], [], []
    for key, fields in enumerate(records.layout.shown):
        tags, cells = cells_of(records, key)
        here, gone = which[:, key], missing[:, fields]
        bodies += [tags[here].ravel(), cells[here][~gone[here]].ravel()]
        gaps.append(cells[here][gone[here]].ravel())
        dummies += [tags[~here].ravel(), cells[~here].ravel()]
    for parts in (bodies, gaps, dummies):
        found = np.concatenate(parts)
        assert len(found) > 15_000
        assert uniform(found)
        assert uniform(found[1::2].astype(int) ^ found[: len(found) // 2 * 2 : 2])


def test_each_place_of_a_cell_is_uniform():
    records = veiled(people("clinic", missing=0), [BORN])
    _, cells = cells_of(records, 0)
    for place in range(CELL):
        for field in range(cells.shape[1]):
            assert uniform(cells[:, field, place] >> 4, 16)
            assert uniform(cells[:, field, place] & 15, 16)


def test_the_cells_of_a_row_have_nothing_in_common():
    """Even if everybody has the same values, but for the key."""
    party = Party("clinic", b"key", tuple(filled(["MILLER"] * MANY)))
    _, cells = cells_of(veiled(party, [BORN]), 0)
    for one, other in combinations(range(cells.shape[1]), 2):
        assert uniform(cells[:, one] ^ cells[:, other])


# 2. Of two rows with different tags, nothing, even if their records are the same.


@pytest.mark.parametrize("within", [True, False], ids=["one owner", "two owners"])
def test_equal_values_under_different_tags_agree_by_chance_only(within):
    same = ("ANNA", "MILLER", "", "12345", "F")
    days = [f"{number:08d}" for number in range(2 * MANY)]

    def party(name, some):
        return Party(name, b"key", tuple((*same[:2], day, *same[3:]) for day in some))

    one = cells_of(veiled(party("clinic", days[:MANY]), [BORN]), 0)[1]
    if within:
        one, other = one[::2], one[1::2]
    else:
        other = cells_of(veiled(party("office", days[MANY:]), [BORN]), 0)[1]
    assert uniform(one ^ other)
    assert uniform((one - other).view(np.uint8))


# 3. The same number of rows and bytes for every record, whatever it has.


@settings(max_examples=30)
@given(owners=parties(1), keys=SOME_KEYS)
def test_every_record_has_as_many_bytes(owners, keys):
    records = veiled(owners[0], keys)
    width = sum(
        8
        + 9
        * (len(NAMES) - len({name for *names, part in key for name in names if part == "whole"}))
        for key in keys
    )
    assert records.rows.shape == (len(owners[0].records), width)
    assert set(records.columns()["rows"].bin.size()) <= {width}
    assert records.rows.dtype == np.uint8


# 4. No tag occurs twice in what one owner sends.


@settings(max_examples=30)
@given(owners=parties(1), keys=SOME_KEYS)
def test_no_owner_sends_a_tag_twice(owners, keys):
    records = veiled(owners[0], keys)
    assert not records.layout.repeated(records.rows)


def test_a_tag_that_is_repeated_is_refused():
    records = veiled(people("clinic", 10), KEYS)
    for start in records.layout.starts[:-1]:
        rows = records.rows.copy()
        rows[7, start : start + TAG] = rows[2, start : start + TAG]
        with pytest.raises(ValueError, match="the same tag"):
            read(replace(records, rows=rows))


def read(records):
    return VeiledRecords.read(pl.DataFrame(records.columns()), records.shape, SCHEMA)


# 5. Encoding again shows nothing that was not shown before.


@settings(max_examples=15)
@given(owners=parties(1), keys=SOME_KEYS)
def test_encoding_twice_gives_the_same_bytes(owners, keys):
    assert veiled(owners[0], keys).rows.tobytes() == veiled(owners[0], keys).rows.tobytes()


def test_the_threads_and_the_parts_they_take_make_no_difference(monkeypatch):
    party = people("clinic", 100)
    once = veiled(party, KEYS).rows
    monkeypatch.setattr(rows_module, "CHUNK", 7)
    for threads in (1, 3):
        with using_threads(threads):
            assert (veiled(party, KEYS).rows == once).all()


# 6. Nothing that two exchanges have in common.


def test_no_tag_and_no_row_is_common_to_two_exchanges():
    party = people("clinic")
    one, other = veiled(party, KEYS), veiled(party, KEYS, OTHER_SECRET)
    for key in range(len(KEYS)):
        tags = [set(one.layout.tags(side.rows, key).tolist()) for side in (one, other)]
        assert not tags[0] & tags[1]
    assert uniform(one.rows ^ other.rows)
    assert one.check != other.check
    assert len(one.compare(other).shared) == 0


def test_owners_with_the_same_key_have_nothing_in_common_where_nothing_is_sent():
    none = (("",) * len(NAMES),) * 400
    one, other = (veiled(Party(name, b"key", none), KEYS) for name in ("clinic", "office"))
    assert uniform(one.rows ^ other.rows)
    assert len(one.compare(other).shared) == 0


# 7. Of owners who share a tag: equal or not, how many draws differ, who of them knows a field.


def sharing(records_of_each):
    """The cells of rows under one shared tag each, of owners with as many records."""
    names = ("clinic", "office", "school")
    return [
        cells_of(veiled(Party(name, name.encode() * 4, tuple(records)), [BORN]), 0)[1]
        for name, records in zip(names, records_of_each, strict=False)
    ]


def filled(surnames):
    """Records that share a day of birth with those of other owners in the same place."""
    return [("ANNA", one, f"{row:08d}", "12345", "F") for row, one in enumerate(surnames)]


@pytest.mark.parametrize("pattern", range(8), ids=lambda pattern: f"{pattern:03b}")
def test_of_a_missing_field_only_those_who_know_it_are_alike(pattern):
    known = [bool(pattern >> owner & 1) for owner in range(3)]
    cells = sharing([filled(["MILLER" if one else ""] * 4096) for one in known])
    marks = [one[:, SURNAME, SKETCH + 1] for one in cells]
    whole = [one[:, SURNAME] for one in cells]
    for i, j in ((0, 1), (0, 2), (1, 2)):
        if known[i] and known[j]:
            assert (whole[i] == whole[j]).all()
        else:  # one of them or both, it cannot be told
            assert uniform(marks[i] ^ marks[j])
            assert uniform(whole[i] ^ whole[j])
    # and what two differences have to do with each other does not tell who knows it alone
    if sum(known) <= 1:
        differences = (marks[0] ^ marks[1]).astype(int) >> 4, (marks[0] ^ marks[2]).astype(int) >> 4
        assert uniform(16 * differences[0] + differences[1])


def test_the_cell_of_a_missing_value_depends_on_nothing_but_its_place():
    """It is what would stand there if the record had no value at all."""
    (gone,) = sharing([filled([""] * 50)])
    (empty,) = sharing([[("",) * len(NAMES)] * 50])
    assert (gone[:, SURNAME] == empty[:, SURNAME]).all()


def test_values_that_differ_show_a_number_of_draws_and_nothing_else():
    """Each bit differs with the share of parities that do, and which do tells nothing."""
    one, other = sharing([filled(["MILLER"] * 4096), filled(["MEIER"] * 4096)])
    writer = Writer(
        Party("clinic", b"key", tuple(filled(["MILLER", "MEIER"]))).material,
        SECRET, layout_of([BORN]), SCALES,
    )  # fmt: skip
    parities = writer._values[SURNAME].parities
    apart = int(np.bitwise_count(parities[0] ^ parities[1]).sum())
    assert 0 < apart < 128
    bits = np.unpackbits((one ^ other)[:, SURNAME, :SKETCH], axis=1)
    share, error = apart / 256, math.sqrt(apart / 256 / 4096)
    assert bits.mean(axis=0) == pytest.approx(np.full(bits.shape[1], share), abs=5 * error)
    assert bits.mean() == pytest.approx(share, abs=5 * math.sqrt(share * (1 - share) / bits.size))
    together = np.corrcoef(bits, rowvar=False) - np.eye(bits.shape[1])
    assert abs(together).max() < 6 / math.sqrt(4096)
    assert uniform((one ^ other)[:, SURNAME, SKETCH])
    assert (one[:, SURNAME, SKETCH + 1] == other[:, SURNAME, SKETCH + 1]).all()


def test_keys_draw_parities_independently():
    keys = [BORN, [["born", "whole"], ["sex", "whole"]]]
    sides = [
        veiled(Party(name, b"key", tuple(filled([surname] * 4096))), keys)
        for name, surname in (("clinic", "MILLER"), ("office", "MEIER"))
    ]
    found = []
    for key in range(2):
        one, other = (cells_of(side, key)[1][:, SURNAME] for side in sides)
        found.append(np.bitwise_count(one ^ other)[:, :SKETCH].sum(axis=1))
    assert abs(np.corrcoef(*found)[0, 1]) < 5 / math.sqrt(4096)


def test_three_owners_are_alike_where_their_values_are():
    surnames = ["MILLER", "MILLER", "MEIER"]
    cells = sharing([filled([one] * 2048) for one in surnames])
    sketches = [one[:, SURNAME] for one in cells]
    assert (sketches[0] == sketches[1]).all()
    assert uniform((sketches[0] ^ sketches[2])[:, SKETCH])


# 8. Not the secret, nor anything that it follows from.


def test_no_key_is_in_anything_that_is_shown():
    contributions = {"clinic": b"c" * 16 + bytes(range(16)), "office": bytes(range(100, 132))}
    secret = Secret.of(contributions, exchange="stroke", schema="5f0c")
    party = people("clinic", 50)
    records = veiled(party, KEYS, secret)
    purposes = ["tags", "seeds", "streams", "equal", "keys", "private", "parities surname"]
    hidden = [secret.root, *contributions.values(), *map(secret.key, purposes)]
    hidden += [party.key, secret.private("clinic", party.key)]
    material = replace(party.material, secret=secret)
    texts = [repr(one) for one in (secret, material, records, records.compare(records))]
    texts += [repr(Writer(material, secret, records.layout, SCALES)), str(records.shape)]
    with pytest.raises(GramlinkError) as refused:
        Secret.of({**contributions, "office": contributions["office"][1:]}, exchange="", schema="")
    texts.append(str(refused.value))
    whole = records.rows.tobytes()
    for one in hidden:
        for part in (one, one[:16], one[16:]):
            assert part not in whole
            assert not any(part.hex() in text or repr(part)[2:-1] in text for text in texts)
    assert secret.check in str(records.shape)  # which tells nothing about the keys


def test_no_key_is_in_a_bundle():
    owners, projection = two_owners()
    sent = owners[0].embed(projection, secret=SECRET)
    whole = sent.to_bytes() + repr((sent, sent.manifest, owners[0])).encode()
    hidden = [SECRET.root, SECRET.key("tags"), SECRET.private("clinic", owners[0].key)]
    for one in (*hidden, owners[0].key):
        assert one not in whole
        assert one.hex().encode() not in whole


# 9. Nothing of the order of the file.


def two_owners():
    """The first with two files, of which one has the same records in another order."""
    fields = (
        Field(name="given_name", miner="public", grams=("A", "E", "AN")),
        Field(name="surname", miner="public", grams=("A", "E", "ER")),
        Field(name="date_of_birth", kind="date"),
    )
    schema = Schema(fields=fields, encoding="veiled", passes=({"surname": 0, "date_of_birth": 0},))
    people = persons(200, overlap=0.5, seed=3)
    files = people.left, people.left.sample(fraction=1, shuffle=True, seed=1)
    owners = [Owner("clinic", read_records(file, schema), schema, b"key" * 11) for file in files]
    other = Owner("office", read_records(people.right, schema), schema, b"other")
    return owners, agree(owners[0].mine(None), other.mine(None))


def test_what_is_sent_does_not_depend_on_the_order_of_the_file():
    owners, projection = two_owners()
    one, again = (owner.embed(projection, secret=SECRET) for owner in owners)
    assert one.to_bytes() == again.to_bytes()
