from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gramlink import kernels
from gramlink.kernels import edits, lookup, occurrences
from gramlink.records.strings import Strings
from reference import edits as definition
from strategies import AB, WIDE, lists

KEYS = st.integers(0, 2**62 + 6)


def check(keys, others):
    table = lookup.make_table(np.array(keys, np.int64))
    assert [lookup.find(table, key) for key in keys] == list(range(len(keys)))
    assert all(lookup.find(table, key) == lookup.ABSENT for key in others if key not in set(keys))
    assert (table[:, 1] != lookup.ABSENT).sum() == len(keys)
    return table


@settings(deadline=None)
@given(keys=st.lists(KEYS, unique=True, max_size=60), others=st.lists(KEYS))
def test_the_table_finds_exactly_what_was_put_in(keys, others):
    check(keys, others)


def test_the_table_finds_a_thousand_keys_and_nothing_near_them():
    keys = [8 * number + 3 for number in range(1000)]
    table = check(keys, [key + step for key in keys for step in (-1, 1)])
    assert len(table) >= 4000


def test_keys_that_begin_in_the_same_place_are_told_apart():
    same = [key for key in range(20_000) if lookup.place(key, 64) == 63][:40]
    assert len(same) == 40
    # the last place of the table: the search goes on at its start
    assert all(lookup.place(key, 64) == 63 for key in same)
    check(same[:16], same[16:])


def test_an_empty_table_finds_nothing():
    check([], range(20))


@settings(deadline=None)
@given(texts=lists(AB), q=st.integers(1, 6))
def test_distinct_grams_are_the_set_of_grams_in_order(texts, q):
    strings = Strings.of(texts, AB)
    grams, begins = occurrences.distinct_grams(strings.codes, strings.offsets, q, len(AB))

    def number(gram):
        return sum(AB.index(s) * len(AB) ** i for i, s in enumerate(reversed(gram)))

    expected = [
        sorted({number(text[i : i + q]) for i in range(len(text) - q + 1)}) for text in texts
    ]
    found = [grams[a:b].tolist() for a, b in pairwise(begins)]
    assert found == expected
    assert len(grams) == begins[-1]


def test_distinct_grams_of_255_different_symbols_are_all_of_them():
    strings = Strings.of([WIDE], WIDE)
    grams, begins = occurrences.distinct_grams(strings.codes, strings.offsets, 6, 255)
    assert len(set(grams.tolist())) == begins[-1] == 250
    assert grams.min() > 0
    assert grams.max() < 255**6


@settings(deadline=None)
@given(state=st.integers(0, 2**64 - 1), bound=st.integers(1, 1000))
def test_the_generator_is_splitmix64(state, bound):
    scrambled = int(edits.scramble(np.uint64(state)))
    assert scrambled == definition.scramble(state)
    assert edits.below(np.uint64(scrambled), bound) == (scrambled >> 32) * bound >> 32


def test_the_generator_gives_the_published_numbers():
    # the first outputs of splitmix64 from seed 1234567, as at Rosetta Code
    state, found = 1234567, []
    for _ in range(3):
        state = (state + definition.GOLDEN) % definition.WORD
        found.append(definition.scramble(state))
    assert found == [6457827717110365317, 3203168211198807973, 9817491932198370423]


@settings(deadline=None)
@given(codes=st.binary(max_size=20), seed=st.integers(0, 2**63 - 1))
def test_a_text_has_the_same_seed_wherever_it_is_computed(codes, seed):
    found = edits.seed_of(np.frombuffer(codes, np.uint8), seed)
    assert int(found) == definition.seed_of(codes, seed)


def test_the_first_compilation_is_announced_once(monkeypatch):
    monkeypatch.setattr(kernels, "_announce", None)
    told = []
    kernels.compilation_starts()
    kernels.on_first_compilation(lambda: told.append("compiling"))
    assert told == []
    kernels.compilation_starts()
    kernels.compilation_starts()
    assert told == ["compiling"]


@pytest.mark.parametrize("size", [16, 64, 4096])
def test_a_search_begins_inside_the_table(size):
    keys = [0, 1, 7, 8, 2**59, 2**62 + 6, *range(1000)]
    places = {int(lookup.place(key, size)) for key in keys}
    assert min(places) >= 0
    assert max(places) < size
