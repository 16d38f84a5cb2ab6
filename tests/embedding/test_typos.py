import numpy as np
import pytest

from gramlink.embedding.typos import MODELS, keyboard, uniform
from gramlink.records.fields import ALPHABET, CATCH_ALL
from reference import edits as definition
from strategies import AB, ABC, WIDE

SYMBOLS = ALPHABET + CATCH_ALL
ROWS = ("QWERTYUIOP", "ASDFGHJKL", "ZXCVBNM")


def choices(table, symbols):
    return {symbols[i]: [symbols[s] for s in row[1 : 1 + row[0]]] for i, row in enumerate(table)}


def beside(one, other):
    """Whether a key stands beside, above or below another."""
    (row, place), (its_row, its_place) = (
        next((y, keys.index(letter)) for y, keys in enumerate(ROWS) if letter in keys)
        for letter in (one, other)
    )
    return abs(row - its_row) + abs(place - its_place) == 1


@pytest.mark.parametrize("symbols", [AB, ABC, SYMBOLS, WIDE])
def test_uniform_typos_are_all_others_of_the_alphabet(symbols):
    typos = uniform(symbols)
    substitutes, insertions = definition.uniform(symbols)
    assert choices(typos.substitutes, symbols) == substitutes
    assert choices(typos.insertions, symbols) == insertions


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("symbols", [AB, SYMBOLS, SYMBOLS.lower(), "0123456789" + CATCH_ALL, WIDE])
def test_no_symbol_turns_into_itself_or_the_catch_all_and_each_into_something(model, symbols):
    typos = MODELS[model](symbols)
    for symbol, others in choices(typos.substitutes, symbols).items():
        assert others
        assert not {symbol, CATCH_ALL} & set(others)
        assert len(set(others)) == len(others)
    for others in choices(typos.insertions, symbols).values():
        assert others
        assert CATCH_ALL not in others
        assert len(set(others)) == len(others)


def test_every_letter_turns_into_the_letters_that_touch_it():
    substitutes = choices(keyboard(SYMBOLS).substitutes, SYMBOLS)
    letters = ALPHABET.strip()
    for letter in letters:
        touching = {other for other in letters if beside(letter, other)}
        assert touching
        assert touching <= set(substitutes[letter])
        # the rest look alike: few
        assert len(set(substitutes[letter]) - touching) <= 3


def test_keyboard_insertions_repeat_the_symbol_or_hit_its_neighbours():
    typos = keyboard(SYMBOLS)
    substitutes = choices(typos.substitutes, SYMBOLS)
    for letter, inserted in choices(typos.insertions, SYMBOLS).items():
        if letter.isalpha():
            assert set(inserted) == {letter, *substitutes[letter]}


@pytest.mark.parametrize("symbol", [" ", CATCH_ALL])
def test_a_symbol_without_neighbours_turns_into_any_other(symbol):
    typos = keyboard(SYMBOLS)
    assert choices(typos.substitutes, SYMBOLS)[symbol] == [s for s in ALPHABET if s != symbol]
    assert choices(typos.insertions, SYMBOLS)[symbol] == list(ALPHABET)


def test_small_letters_have_small_neighbours():
    upper, lower = keyboard(SYMBOLS), keyboard(SYMBOLS.lower())
    assert np.array_equal(upper.substitutes, lower.substitutes)
    assert np.array_equal(upper.insertions, lower.insertions)


def test_a_letter_whose_neighbours_are_not_in_the_alphabet_turns_into_any_other():
    assert choices(keyboard("QZ" + CATCH_ALL).substitutes, "QZ" + CATCH_ALL)["Q"] == ["Z"]


@pytest.mark.parametrize("model", MODELS)
def test_the_only_symbol_of_an_alphabet_turns_into_the_catch_all(model):
    assert MODELS[model]("A" + CATCH_ALL).substitutes[0, :2].tolist() == [1, 1]
