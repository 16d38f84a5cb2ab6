"""The veil's kernels, against their definitions; encodings/veil tests what they make together."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from gramlink.kernels import cells, veil

SEEDS = st.integers(0, 2**32)


@settings(max_examples=40)
@given(seed=SEEDS, rows=st.integers(0, 5), grams=st.integers(1, 6))
def test_parities_are_those_of_the_bits_that_counts_set(seed, rows, grams):
    source = np.random.default_rng(seed)
    caps = source.integers(1, 5, grams)
    starts = np.concatenate([[0], np.cumsum(caps)[:-1]])
    masks = source.integers(0, 2**64, (int(caps.sum()), 4), np.uint64)
    counts = source.integers(0, 8, (rows, grams)).astype(np.uint8)
    found = veil.parities_of(counts, caps, starts, masks)
    for row, one in zip(counts.tolist(), found, strict=True):
        expected = np.zeros(4, np.uint64)
        for count, cap, start in zip(row, caps.tolist(), starts.tolist(), strict=True):
            for bit in range(start, start + min(count, cap)):
                expected ^= masks[bit]
        assert one.tolist() == expected.tolist()


@settings(max_examples=40)
@given(seed=SEEDS, rows=st.integers(0, 4), shown=st.integers(0, 3), at=st.integers(0, 20))
def test_rows_are_written_where_they_are_sent_and_nowhere_else(seed, rows, shown, at):
    source = np.random.default_rng(seed)
    width = cells.TAG + shown * cells.CELL

    def bytes_of(*shape):
        return source.integers(0, 256, shape).astype(np.uint8)

    before = bytes_of(rows, at + width + 5)
    sent, tags = source.random(rows) < 0.7, source.integers(0, 2**64, rows, np.uint64)
    streams, equal = bytes_of(rows, shown * cells.STREAM), bytes_of(rows, shown)
    fields = np.sort(source.permutation(4)[:shown])
    values = source.integers(-1, 6, (rows, 4)).astype(np.int32)
    parities = source.integers(0, 2**64, (6, 4), np.uint64)
    after = before.copy()
    veil.write_rows(after, at, sent, tags, streams, equal, fields, values, parities)
    expected = before.copy()
    for i in np.flatnonzero(sent):
        expected[i, at : at + cells.TAG] = np.frombuffer(tags[i].astype("<u8").tobytes(), np.uint8)
        for n, field in enumerate(fields.tolist()):
            if values[i, field] < 0:
                continue
            stream = streams[i, n * cells.STREAM : (n + 1) * cells.STREAM]
            every = np.unpackbits(
                parities[values[i, field]].astype("<u8").view(np.uint8), bitorder="little"
            )
            drawn = np.packbits(every[stream[: cells.DRAWS]], bitorder="little")
            plain = np.concatenate([drawn, [equal[i, n], 0]]).astype(np.uint8)
            start = at + cells.TAG + n * cells.CELL
            pad = stream[cells.DRAWS : cells.DRAWS + cells.CELL]
            expected[i, start : start + cells.CELL] = plain ^ pad
    assert after.tolist() == expected.tolist()


def shared(left, right, edits=2):
    """The level of one field, of which both sides sent these cells in rows they share."""
    rows = len(left)
    one, other = (np.array(side, np.uint8).reshape(1, -1) for side in (left, right))
    at = np.arange(rows) * cells.CELL - cells.TAG
    none = np.zeros(rows, np.int64)
    found = veil.levels_of_shared(
        one, other, none, none, np.arange(rows), np.array([0, rows]), at,
        np.tile([0, -1], (rows, 1)), np.array([[0, 10_000, 20_000]]), np.array([edits]),
    )  # fmt: skip
    return int(found[0, 0])


def cell(bits, equal=0, missing=0):
    """A cell that differs from nothing in so many bits."""
    whole = [1] * bits + [0] * (cells.DRAWS - bits)
    return [*np.packbits(whole).tolist(), equal, missing]


def test_a_field_is_as_near_as_the_bits_that_differ_in_all_rows():
    none = cell(0)
    assert shared([none], [none]) == 0
    assert shared([none], [cell(8)]) == 1  # 8 of 56 are 9,362 in 65,536
    assert shared([none], [cell(9)]) == 2
    assert shared([none], [cell(17)]) == 2
    assert shared([none], [cell(18)]) == 3
    assert shared([none] * 2, [cell(18), cell(10)]) == 2
    assert shared([none], [cell(9)], edits=1) == 2  # which is farther


def test_values_are_equal_only_if_every_equality_byte_says_so():
    none = cell(0)
    assert shared([none], [cell(0, equal=7)]) == 1
    assert shared([none] * 3, [none, cell(0, equal=1), none]) == 1


def test_a_value_is_missing_if_any_row_says_so():
    none = cell(0)
    assert shared([none], [cell(0, missing=200)]) == 4
    assert shared([none] * 2, [none, cell(30, 5, missing=1)]) == 4
