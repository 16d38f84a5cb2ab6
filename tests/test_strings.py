import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gramlink.errors import InvalidParameter
from gramlink.schema import CATCH_ALL
from gramlink.strings import Strings
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


def test_a_text_of_more_than_255_symbols_is_refused():
    assert len(Strings.of(["A" * 255], "AB*")) == 1
    with pytest.raises(InvalidParameter, match="255"):
        Strings.of(["A" * 256], "AB*")
