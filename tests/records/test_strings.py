import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gramlink.errors import InvalidParameter
from gramlink.records.fields import CATCH_ALL, Field
from gramlink.records.strings import Strings, distinct, kinds
from strategies import ABC, WIDE


def as_coded(text, symbols):
    return "".join(s if s in symbols else symbols[-1] for s in text)


@settings(deadline=None)
@given(texts=st.lists(st.text(st.one_of(st.sampled_from(ABC), st.characters()))))
def test_texts_come_back_with_the_catch_all_for_other_symbols(texts):
    strings = Strings.of(texts, ABC)
    expected = [as_coded(text, ABC) for text in texts]
    assert list(strings) == expected
    assert [strings[i] for i in range(len(strings))] == expected
    assert strings.lengths.tolist() == [len(text) for text in texts]
    assert strings.missing.tolist() == [text == "" for text in texts]


@given(symbols=st.permutations("AÅZ\U0001f600b0 "), texts=st.lists(st.text("AÅZ\U0001f600b0 xß")))
def test_the_order_of_the_symbols_does_not_matter(symbols, texts):
    symbols = "".join(symbols) + CATCH_ALL
    strings = Strings.of(texts, symbols)
    assert list(strings) == [as_coded(text, symbols) for text in texts]
    assert [symbols[code] for code in strings.codes] == list("".join(strings))


def test_a_lone_surrogate_is_a_symbol_outside_the_alphabet():
    assert list(Strings.of(["A\ud800B"], "AB*")) == ["A*B"]


def test_all_254_symbols_and_the_catch_all_have_codes_of_their_own():
    strings = Strings.of([WIDE, "?"], WIDE)
    assert strings.codes.tolist() == [*range(255), 254]
    assert list(strings) == [WIDE, CATCH_ALL]


@pytest.mark.parametrize("symbols", ["", "A", WIDE + "A"])
def test_an_alphabet_of_no_or_of_more_than_254_symbols_is_refused(symbols):
    with pytest.raises(InvalidParameter, match="1 to 254 symbols"):
        Strings.of(["A"], symbols)


def test_there_may_be_no_text_at_all():
    strings = Strings.of([], ABC)
    assert len(strings) == 0
    assert list(strings) == []
    assert strings.missing.tolist() == []
    assert strings.lengths.tolist() == []


@given(data=st.data(), texts=st.lists(st.text(ABC), min_size=1))
def test_rows_are_taken_in_the_order_asked_for(data, texts):
    rows = data.draw(st.lists(st.integers(0, len(texts) - 1)))
    taken = Strings.of(texts, ABC).take(np.array(rows, np.int64))
    assert list(taken) == [texts[row] for row in rows]
    assert taken.offsets[0] == 0
    assert len(taken.codes) == taken.offsets[-1]


@settings(deadline=None)
@given(texts=st.lists(st.text(ABC, max_size=6), max_size=30))
def test_distinct_texts_come_in_the_order_they_appear_in(texts):
    strings = Strings.of(texts, ABC)
    different, place = distinct(strings)
    assert list(different) == list(dict.fromkeys(texts))
    assert [different[p] for p in place] == texts
    assert list(strings) == texts


def test_texts_that_differ_in_their_length_alone_are_different():
    # the first symbol has the code 0, as has what fills up a row
    texts = ["", "A", "AA", "AAA", "A", "", "A" * 255, "A" * 254]
    different, place = distinct(Strings.of(texts, ABC))
    assert list(different) == ["", "A", "AA", "AAA", "A" * 255, "A" * 254]
    assert place.tolist() == [0, 1, 2, 3, 1, 0, 4, 5]


def test_all_255_symbols_make_different_texts():
    different, place = distinct(Strings.of(WIDE, WIDE))
    assert "".join(different) == WIDE
    assert place.tolist() == list(range(255))


def test_of_no_texts_none_are_distinct():
    different, place = distinct(Strings.of([], ABC))
    assert (len(different), place.tolist()) == (0, [])


@settings(deadline=None)
@given(texts=st.lists(st.text("01?", max_size=4), max_size=10))
def test_a_placed_symbol_says_what_it_is_and_where(texts):
    symbols = "abcdefgh" + CATCH_ALL  # 0 and 1 in the first place, in the second, and so on
    placed = Strings.of(texts, "01" + CATCH_ALL).placed(symbols)
    expected = [
        "".join(
            CATCH_ALL if symbol == "?" else symbols[2 * place + int(symbol)]
            for place, symbol in enumerate(text)
        )
        for text in texts
    ]
    assert list(placed) == expected
    assert placed.symbols == symbols
    assert placed.missing.tolist() == [not text for text in texts]


@pytest.mark.parametrize(
    "field",
    [
        Field(name="born", kind="date"),
        Field(name="sex", kind="category"),
        Field(name="x", kind="category", alphabet=WIDE[:252], length=1),
        Field(name="x", kind="category", alphabet="AB", length=127),
    ],
    ids=lambda field: f"{len(field.alphabet)} x {field.length}",
)
def test_the_symbols_of_a_field_are_enough_for_every_symbol_in_every_place(field):
    texts = [symbol * field.length for symbol in field.spelling]
    placed = Strings.of(texts, field.spelling).placed(field.symbols)
    *known, unknown = placed
    assert unknown == CATCH_ALL * field.length
    assert sorted("".join(known)) == sorted(field.symbols[:-1])
    by_place = ["".join(column) for column in zip(*known, strict=True)]
    assert "".join(by_place) + CATCH_ALL == field.symbols


def test_a_text_of_more_than_255_symbols_is_refused():
    assert len(Strings.of(["A" * 255], "AB*")) == 1
    with pytest.raises(InvalidParameter, match="255"):
        Strings.of(["A" * 256], "AB*")


COLUMNS = st.integers(0, 30).flatmap(
    lambda rows: st.lists(
        st.lists(st.text("AB", max_size=2), min_size=rows, max_size=rows), min_size=1, max_size=5
    )
)


@settings(deadline=None)
@given(columns=COLUMNS)
def test_rows_are_of_one_kind_if_and_only_if_they_are_the_same_in_all_columns(columns):
    found = kinds(Strings.of(column, ABC) for column in columns).tolist()
    rows = list(zip(*columns, strict=True))
    number = {row: place for place, row in enumerate(dict.fromkeys(rows))}
    assert found == [number[row] for row in rows]  # numbered as they appear


@settings(deadline=None)
@given(columns=COLUMNS, order=st.randoms(use_true_random=False))
def test_which_rows_are_of_one_kind_depends_on_no_order(columns, order):
    def groups(columns, rows):
        found = {}
        for row, kind in zip(rows, kinds(Strings.of(c, ABC) for c in columns), strict=True):
            found.setdefault(int(kind), set()).add(row)
        return sorted(map(sorted, found.values()))

    rows = list(range(len(columns[0])))
    turned = order.sample(rows, len(rows))
    expected = groups(columns, rows)
    assert groups([[column[row] for row in turned] for column in columns], turned) == expected
    assert groups(columns[::-1], rows) == expected


def test_values_that_move_from_one_column_to_the_next_make_another_kind():
    one, other = ["AB", "A", "", "AB"], ["", "B", "AB", ""]
    found = kinds([Strings.of(one, ABC), Strings.of(other, ABC)])
    assert found.tolist() == [0, 1, 2, 0]


def test_columns_of_many_different_values_make_kinds_too():
    values = [f"{n:x}" for n in range(70_000)]
    columns = [
        Strings.of(values, "0123456789abcdef*"),
        Strings.of(values[::-1], "0123456789abcdef*"),
    ]
    twice = [column.take(np.tile(np.arange(70_000), 2)) for column in columns]
    assert kinds(twice).tolist() == [*range(70_000)] * 2


def test_of_no_rows_there_is_no_kind():
    empty = Strings.of([], ABC)
    assert kinds([empty]).tolist() == kinds([empty, empty]).tolist() == []
