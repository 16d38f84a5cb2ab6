import json

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from golden import make_clk
from gramlink.errors import InvalidParameter, Mismatch
from gramlink.lab.datasets import corrupt, sample, surnames
from gramlink.lab.rivals import bloom
from gramlink.lab.rivals.bloom import MISSING, Filters, encode
from gramlink.lab.rivals.rival import ONE
from gramlink.records.fields import ALPHABET, CATCH_ALL, LETTERS
from gramlink.records.strings import Strings
from reference import bloom as reference
from strategies import AB, lists

SECRET = b"a secret"
KEY = reference.derived(SECRET, bloom.SALT, bloom.INFO, 64)
CASES = json.loads(make_clk.FILE.read_text(encoding="utf-8"))

shapes = st.fixed_dictionaries(
    {
        "q": st.integers(1, 3),
        "bits_each": st.sampled_from([1, 2, 9, 32, 33]),
        "bits": st.sampled_from([64, 128, 256]),
    }
)
SEEDS = st.tuples(st.integers(0, 99), st.integers(100, 199))


def coded(texts):
    symbols = "".join(sorted({*"".join(texts), "A"} - {CATCH_ALL})) + CATCH_ALL
    return Strings.of(texts, symbols)


def sets(filters):
    bits = np.unpackbits(filters.words.view(np.uint8), axis=1, bitorder="little")
    return [set(np.flatnonzero(row).tolist()) for row in bits]


def listing(pairs):
    columns = (pairs.left, pairs.right, pairs.squared)
    return list(zip(*(column.tolist() for column in columns), strict=True))


def random_filters(count, words, density, seed):
    source = np.random.default_rng(seed)
    bits = source.random((count, words * 64)) < density
    made = np.packbits(bits, axis=1, bitorder="little").view(np.uint64)
    return Filters(made, bits.sum(axis=1))


def hexadecimal(filters):
    """As clkhash writes a filter: the first bit is a byte's highest."""
    bits = np.unpackbits(filters.words.view(np.uint8), axis=1, bitorder="little")
    return [bytes(row).hex() for row in np.packbits(bits, axis=1)]


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case['q']}-{case['bits_each']}")
def test_filters_are_those_of_clkhash(case):
    expected = case["filters"]
    shape = {name: case[name] for name in ("q", "bits_each", "bits")}
    made = encode(coded(list(expected)), make_clk.SECRET.encode(), **shape)
    assert dict(zip(expected, hexadecimal(made), strict=True)) == expected


def test_filters_are_those_of_clkhash_where_it_is_installed():
    pytest.importorskip("clkhash")
    names = sample(surnames(), 500, seed=1)
    made = encode(coded(names), make_clk.SECRET.encode())
    expected = make_clk.filters(names, 2, 20, 1024)
    assert dict(zip(names, hexadecimal(made), strict=True)) == expected


@settings(deadline=None, max_examples=30)
@given(texts=lists(AB, max_size=4), shape=shapes)
def test_a_filter_is_what_the_definition_says(texts, shape):
    filters = encode(Strings.of(texts, AB), SECRET, **shape)
    assert sets(filters) == [reference.ones(text, KEY, **shape) for text in texts]
    assert filters.ones.tolist() == [len(ones) for ones in sets(filters)]
    assert len(filters) == len(texts)
    assert filters.bytes_each == shape["bits"] / 8


@settings(deadline=None, max_examples=100)
@given(left=lists(AB), right=lists(AB), shape=shapes, within=st.integers(-1, ONE + 1))
def test_pairs_that_are_near_agree_with_the_definition(left, right, shape, within):
    one, other = (encode(Strings.of(texts, AB), SECRET, **shape) for texts in (left, right))
    expected = reference.near(sets(one), sets(other), within)
    assert listing(one.near(other, within)) == expected


@settings(deadline=None, max_examples=50)
@given(words=st.sampled_from([1, 2, 4, 16]), density=st.floats(0.01, 1), data=st.data())
def test_the_distance_of_a_pair_is_within_itself_and_no_less(words, density, data):
    one, other = (random_filters(6, words, density, seed) for seed in data.draw(SEEDS))
    far = data.draw(st.sampled_from(one.between(other).tolist()))
    assume(far != MISSING)
    for within in (far, far - 1):
        expected = reference.near(sets(one), sets(other), within)
        assert listing(one.near(other, within)) == expected


@settings(deadline=None, max_examples=50)
@given(pairs=st.lists(st.tuples(st.text(AB, max_size=6), st.text(AB, max_size=6)), max_size=6))
def test_distances_of_rows_agree_with_the_definition(pairs):
    one, other = (encode(Strings.of([pair[side] for pair in pairs], AB), SECRET) for side in (0, 1))
    expected = [
        reference.distance(a, b) if a and b else MISSING
        for a, b in zip(sets(one), sets(other), strict=True)
    ]
    assert one.between(other).tolist() == expected == other.between(one).tolist()


@pytest.fixture(scope="module")
def names():
    """Names, and more than a tile of them with typos, some missing; and all distances."""
    listed = Strings.of([*sample(surnames(), 2300, seed=1), *[""] * 20], LETTERS + CATCH_ALL)
    left = encode(listed.take(np.arange(0, 2320, 8)), SECRET)
    right = encode(corrupt(listed, 2, seed=2), SECRET)
    both = left.ones[:, None] + right.ones
    common = np.bitwise_count(left.words[:, None] & right.words).sum(axis=2, dtype=np.int64)
    far = (both - 2 * common) * ONE // np.maximum(both, 1)
    far[(left.ones == 0)[:, None] | (right.ones == 0)] = MISSING
    return left, right, far


@pytest.mark.parametrize(
    ("dice", "length"),
    [(0.9, None), (0.9, 1), (0.6, None), (0.6, 7), (0.6, 16), (0.3, None), (0.3, 3), (0, None)],
)
def test_whatever_the_length_of_folds_all_pairs_of_names_are_found(
    names, dice, length, monkeypatch
):
    left, right, far = names
    if length:
        monkeypatch.setattr(bloom, "_fold_length", lambda *_: length)
    within = int((1 - dice) * ONE)
    rows, columns = np.nonzero(far <= within)
    order = np.lexsort((columns, far[rows, columns], rows))
    pairs = left.near(right, within)
    assert len(pairs) >= 100
    assert np.array_equal(pairs.left, rows[order])
    assert np.array_equal(pairs.right, columns[order])
    assert np.array_equal(pairs.squared, far[rows, columns][order])


@given(words=st.sampled_from([1, 2, 4, 16]), length=st.integers(1, 16), seed=st.integers(0, 99))
def test_folds_differ_in_no_more_bits_than_filters(words, length, seed):
    one, other = (random_filters(5, words, 0.2, seed + side) for side in (0, 100))
    folded = [bloom._folded(side.words, min(length, words)) for side in (one, other)]
    bound = np.bitwise_count(folded[0] ^ folded[1]).sum(axis=1)
    assert np.all(bound <= np.bitwise_count(one.words ^ other.words).sum(axis=1))


def test_as_many_pairs_as_allowed_are_listed_and_one_more_is_refused(names):
    left, right, _ = names
    count = len(left.near(right, ONE // 2))
    assert len(left.near(right, ONE // 2, most=count)) == count
    with pytest.raises(InvalidParameter, match="pairs are near"):
        left.near(right, ONE // 2, most=count - 1)


def test_a_search_ends_soon_after_there_are_too_many_pairs(monkeypatch):
    from gramlink.lab.rivals.kernels.bloom import TILE

    filters = random_filters(100_000, 1, 0.5, seed=1)
    monkeypatch.setattr(bloom, "listed", lambda block, _, most: block(0, 256, most)[1])
    assert 10 < len(filters.near(filters, ONE, most=10)) <= 10 + TILE


def test_a_space_in_a_text_is_as_one_beside_it():
    one, other = (encode(Strings.of([text], ALPHABET + CATCH_ALL), SECRET) for text in ("A", " A "))
    assert sets(one)[0] < sets(other)[0]
    assert sets(one) == sets(encode(Strings.of(["A"], LETTERS + CATCH_ALL), SECRET))


def test_another_secret_gives_other_filters():
    texts = Strings.of(["SMITH"], LETTERS + CATCH_ALL)
    one, other = encode(texts, SECRET), encode(texts, SECRET + b"!")
    assert len(sets(one)[0] & sets(other)[0]) < len(sets(one)[0]) / 2


@pytest.mark.parametrize(("left", "right"), [([], []), (["A"], []), ([], ["A"]), ([""], [""])])
def test_without_records_or_values_there_are_no_pairs(left, right):
    one, other = (encode(Strings.of(texts, AB), SECRET) for texts in (left, right))
    assert listing(one.near(other, ONE)) == []


def test_filters_of_different_lengths_cannot_be_compared():
    one, other = (encode(Strings.of(["A"], AB), SECRET, bits=bits) for bits in (512, 1024))
    for compare in (one.between, lambda side: one.near(side, ONE)):
        with pytest.raises(Mismatch, match="different lengths"):
            compare(other)


@pytest.mark.parametrize(
    "wrong", [{"q": 0}, {"q": 8}, {"bits_each": 0}, {"bits": 32}, {"bits": 1000}, {"bits": 2**17}]
)
def test_what_clkhash_could_not_make_is_refused(wrong):
    with pytest.raises(InvalidParameter):
        encode(Strings.of(["A"], AB), SECRET, **wrong)
