import math
from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gramlink.embedding.typos import MODELS
from gramlink.errors import InvalidParameter
from gramlink.lab.datasets import cities, corrupt, sample, surnames
from gramlink.records.fields import ALPHABET, CATCH_ALL
from gramlink.records.strings import Strings
from reference.edits import Random, levenshtein, random_edit, scramble, uniform
from strategies import AB, ABC, lists

SYMBOLS = ALPHABET + CATCH_ALL
NAMES = sample(surnames(), 2000, seed=5)
SEEDS = st.integers(0, 2**32)


def corrupted(texts, edits, symbols=SYMBOLS, **options):
    return list(corrupt(Strings.of(texts, symbols), edits, **options))


def operation(before, after):
    if len(before) == len(after):
        return "substitute"
    return "insert" if len(before) < len(after) else "delete"


@settings(deadline=None, max_examples=50)
@given(texts=lists(ABC), edits=st.integers(0, 4), seed=SEEDS, exactly=st.booleans())
def test_corruption_agrees_with_the_definition(texts, edits, seed, exactly):
    source = np.random.default_rng(seed)
    numbers = source.integers(edits if exactly else 0, edits + 1, len(texts)).tolist()
    start = int(source.integers(2**63))
    expected = []
    for row, (text, number) in enumerate(zip(texts, numbers, strict=True)):
        random = Random(scramble(start ^ scramble(row)))
        for _ in range(number if text else 0):
            text = random_edit(text, random, *uniform(ABC))
        expected.append(text)
    assert corrupted(texts, edits, ABC, seed=seed, exactly=exactly) == expected


@pytest.mark.parametrize("model", MODELS)
@settings(deadline=None, max_examples=50)
@given(texts=lists(AB), edits=st.integers(0, 3), seed=SEEDS, exactly=st.booleans())
def test_a_copy_is_within_the_edits_and_missing_only_where_the_text_is(
    model, texts, edits, seed, exactly
):
    copies = corrupted(texts, edits, AB, seed=seed, exactly=exactly, model=model)
    assert len(copies) == len(texts)
    for text, copy in zip(texts, copies, strict=True):
        assert levenshtein(text, copy) <= edits
        assert bool(copy) == bool(text)


def test_the_same_seed_makes_the_same_copies_and_another_makes_others():
    assert corrupted(NAMES, 2, seed=1) == corrupted(NAMES, 2, seed=1)
    assert corrupted(NAMES, 2, seed=1) != corrupted(NAMES, 2, seed=2)


def test_exactly_one_edit_changes_every_text():
    copies = corrupted(NAMES, 1, seed=3, exactly=True)
    assert all(levenshtein(*both) == 1 for both in zip(NAMES, copies, strict=True))


def test_up_to_one_edit_changes_about_half_of_the_texts():
    copies = corrupted(NAMES, 1, seed=3)
    changed = sum(name != copy for name, copy in zip(NAMES, copies, strict=True))
    assert abs(changed - len(NAMES) / 2) < 5 * math.sqrt(len(NAMES) / 4)


def test_up_to_two_edits_are_none_one_or_two_as_often():
    copies = corrupted(NAMES, 2, seed=4)
    distances = Counter(levenshtein(*both) for both in zip(NAMES, copies, strict=True))
    assert abs(distances[0] - len(NAMES) / 3) < 6 * math.sqrt(len(NAMES) * 2 / 9)
    assert distances.keys() == {0, 1, 2}


@pytest.mark.parametrize("model", MODELS)
def test_each_operation_is_as_likely(model):
    copies = corrupted(NAMES, 1, seed=6, exactly=True, model=model)
    found = Counter(operation(*both) for both in zip(NAMES, copies, strict=True))
    for count in found.values():
        assert abs(count - len(NAMES) / 3) < 5 * math.sqrt(len(NAMES) * 2 / 9)
    assert len(found) == 3


def test_each_place_and_each_symbol_is_as_likely():
    text = "ABCDEFGH"
    copies = corrupted([text] * 9000, 1, seed=7, exactly=True)
    same = [copy for copy in copies if len(copy) == len(text)]
    changed = [(i, copy[i]) for copy in same for i in range(len(text)) if copy[i] != text[i]]
    assert len(changed) == len(same)
    places = Counter(place for place, _ in changed)
    for place in range(len(text)):
        assert abs(places[place] - len(same) / 8) < 5 * math.sqrt(len(same) / 8)
    symbols = Counter(symbol for _, symbol in changed)
    assert symbols.keys() == set(ALPHABET)
    assert max(symbols[s] for s in "XYZ ") < 2 * min(symbols[s] for s in "XYZ ")


def test_insertions_reach_both_ends():
    copies = corrupted(["BBB"] * 500, 1, "ABC" + CATCH_ALL, seed=8, exactly=True)
    assert {"ABBB", "BABB", "BBAB", "BBBA", "BBBB"} <= set(copies)


def test_keyboard_typos_hit_neighbours_only():
    table = MODELS["keyboard"](SYMBOLS).substitutes
    near = {SYMBOLS[i]: {SYMBOLS[s] for s in row[1 : 1 + row[0]]} for i, row in enumerate(table)}
    copies = corrupted(NAMES, 1, seed=9, exactly=True, model="keyboard")
    for name, copy in zip(NAMES, copies, strict=True):
        if len(name) == len(copy):
            [(was, is_now)] = [pair for pair in zip(name, copy, strict=True) if len({*pair}) > 1]
            assert is_now in near[was]
        if len(name) < len(copy):
            ways = [i for i in range(len(copy)) if copy[:i] + copy[i + 1 :] == name]
            assert any(
                copy[i] in {beside, *near[beside]}
                for i in ways
                for beside in name[max(0, i - 1) :][:2]
            )


def test_a_text_of_one_symbol_is_not_emptied():
    copies = corrupted(["A"] * 300, 1, AB, seed=10, exactly=True)
    assert set(copies) == {"B", "AA", "AB", "BA"}


def test_the_longest_texts_can_be_corrupted():
    texts = ["AB" * 127 + "A"] * 50
    copies = corrupted(texts, 5, AB, seed=11, exactly=True)
    # what grows beyond 255 symbols is cut, which is an edit a symbol
    assert all(levenshtein("AB" * 127 + "A", copy) <= 10 for copy in copies[:5])
    assert all(250 <= len(copy) <= 255 for copy in copies)


@pytest.mark.parametrize("texts", [[], ["", ""]])
def test_no_texts_and_missing_texts_stay_what_they_are(texts):
    assert corrupted(texts, 2, seed=1, exactly=True) == texts


def test_a_negative_number_of_edits_is_refused():
    with pytest.raises(InvalidParameter, match="-1"):
        corrupted(["A"], -1, seed=1)


def test_an_error_model_that_does_not_exist_is_refused():
    with pytest.raises(InvalidParameter, match="'ocr'") as caught:
        corrupted(["A"], 1, seed=1, model="ocr")
    assert caught.value.hint == "one of uniform, keyboard"


@pytest.mark.parametrize("names", [surnames(), cities()], ids=["surnames", "cities"])
def test_the_bundled_names_are_distinct_and_normalised(names):
    assert len(set(names)) == len(names)
    assert all(name and set(name) <= set(ALPHABET) for name in names)
    assert all(name == " ".join(name.split()) for name in names)


def test_shorter_surnames_can_be_asked_for():
    assert len(surnames(1)) > len(surnames()) > len(surnames(10))
    assert min(map(len, surnames(6))) == 6


def test_a_sample_is_seeded_and_has_each_name_once():
    names = cities()
    assert sample(names, 50, seed=1) == sample(names, 50, seed=1)
    assert sample(names, 50, seed=1) != sample(names, 50, seed=2)
    assert len(set(sample(names, 5000, seed=1))) == 5000
    assert set(sample(names, 50, seed=1)) <= set(names)


@pytest.mark.parametrize("count", [0, -1, 5001])
def test_a_sample_of_more_than_there_is_is_refused(count):
    with pytest.raises(InvalidParameter, match="5000"):
        sample(cities(), count, seed=1)
