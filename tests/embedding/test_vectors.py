from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gramlink.embedding.base import Base
from gramlink.embedding.vectors import Vectors, embed
from gramlink.errors import InvalidBase
from gramlink.records.fields import MARKS
from gramlink.records.strings import Strings
from reference import embedding
from strategies import AB, ABC, WIDE_TEXT, bases, lists


def check(texts, grams, symbols):
    vectors = embed(Strings.of(texts, symbols), Base(grams))
    assert vectors.counts.dtype == np.uint8
    assert vectors.counts.tolist() == [
        [embedding.occurrences(text, gram) for gram in grams] for text in texts
    ]
    assert vectors.missing.tolist() == [not text for text in texts]
    assert vectors.lengths == tuple(map(len, grams))
    assert vectors.scale == embedding.scale(grams)
    assert vectors.coordinates.tolist() == [embedding.scaled(text, grams) for text in texts]
    papers = [[Fraction(x, vectors.scale) for x in row] for row in vectors.coordinates.tolist()]
    assert papers == [embedding.coordinates(text, grams) for text in texts]


@settings(deadline=None, max_examples=50)
@given(texts=lists(AB), grams=bases(AB))
def test_the_kernel_agrees_with_the_definition(texts, grams):
    check(texts, grams, AB)


@settings(deadline=None, max_examples=30)
@given(data=st.data(), grams=bases(WIDE_TEXT))
def test_the_kernel_agrees_with_the_definition_for_253_symbols(data, grams):
    pieces = st.lists(st.one_of(st.sampled_from(grams), st.sampled_from(WIDE_TEXT)), max_size=6)
    texts = st.lists(
        pieces.map(lambda some: "".join(some).translate(dict.fromkeys(map(ord, MARKS)))), max_size=5
    )
    check(data.draw(texts), grams, WIDE_TEXT)


@settings(deadline=None, max_examples=20)
@given(text=st.text(AB, min_size=200, max_size=255), grams=bases(AB))
def test_the_kernel_agrees_with_the_definition_for_long_texts(text, grams):
    check([text, text[::-1]], grams, AB)


def test_255_times_the_same_symbol_is_counted_in_full():
    grams = tuple("A" * q for q in range(1, 7))
    vectors = embed(Strings.of(["A" * 255], AB), Base(grams))
    assert vectors.counts.tolist() == [[255, 254, 253, 252, 251, 250]]
    assert vectors.coordinates.tolist() == [
        [255 * 60, 254 * 30, 253 * 20, 252 * 15, 251 * 12, 2500]
    ]


def test_the_catch_all_can_be_part_of_a_gram():
    vectors = embed(Strings.of(["AÄB", "ÄÖ"], AB), Base((AB[-1], "A" + AB[-1], AB[-1] * 2)))
    assert vectors.counts.tolist() == [[1, 1, 0], [2, 0, 1]]


def test_a_base_of_a_thousand_grams_counts_each():
    grams = tuple(a + b + c for a in WIDE_TEXT[:10] for b in WIDE_TEXT[:10] for c in WIDE_TEXT[:10])
    vectors = embed(Strings.of(grams, WIDE_TEXT), Base(grams))
    assert np.array_equal(vectors.counts, np.eye(1000, dtype=np.uint8))


def test_grams_of_the_same_number_and_other_lengths_are_different_grams():
    # A is symbol 0: A, AA and AAA all spell the number 0
    check(["A", "AA", "AAA", "BA"], ("AAA", "A"), AB)


def test_a_base_with_a_symbol_outside_the_alphabet_is_refused():
    with pytest.raises(InvalidBase, match="'XY'"):
        embed(Strings.of(["A"], ABC), Base(("A", "XY")))


def test_no_records_have_no_vectors():
    vectors = embed(Strings.of([], AB), Base(("A", "AB")))
    assert len(vectors) == 0
    assert vectors.counts.shape == (0, 2)
    assert vectors.coordinates.shape == (0, 2)


def test_coordinates_of_255_at_the_largest_scale_fit():
    vectors = Vectors(np.full((1, 6), 255, np.uint8), (1, 2, 3, 4, 5, 6), np.array([False]))
    assert vectors.coordinates.tolist() == [[255 * 60 // q for q in range(1, 7)]]
