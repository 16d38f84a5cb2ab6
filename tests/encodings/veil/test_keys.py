import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gramlink.encodings.veil.keys import MOST_KEYS, PARTS, Component, Key, read_keys
from gramlink.encodings.veil.layout import spelt
from reference import veil as definition
from veiling import FIELDS, KEYS, NAMES, VALUES, Party

WORDS = st.sampled_from([*NAMES, *PARTS, "either way round", "height", ""])
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | WORDS | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(WORDS, inner, max_size=3),
    max_leaves=12,
)
NEARLY = st.lists(st.lists(st.lists(WORDS, max_size=3), max_size=3), max_size=3)


@settings(max_examples=400)
@given(spelt_keys=JSON | NEARLY | st.lists(JSON, max_size=2))
def test_keys_are_read_or_refused_whatever_a_manifest_says(spelt_keys):
    try:
        keys = read_keys(spelt_keys, FIELDS)
    except ValueError:
        return
    assert spelt(keys) == spelt_keys


def test_keys_are_read_as_they_were_spelt():
    keys = read_keys(KEYS, FIELDS)
    assert spelt(keys) == KEYS
    assert str(keys[1]) == "given_name and surname (either way round), born (year and month)"
    assert keys[0].fixed == {"surname", "born"}
    assert keys[1].fixed == frozenset()
    assert keys[2].fixed == {"sex"}
    assert keys[1].fields == ("given_name", "surname", "born")


@pytest.mark.parametrize(
    ("refused", "why"),
    [
        ([], "does not have 1 to 64 keys"),
        ([[["sex", "whole"]]] * (MOST_KEYS + 1), "does not have 1 to 64 keys"),
        ([[]], "empty"),
        ([[["sex", "whole"], ["sex", "whole"]]], "a field twice"),
        ([[["given_name", "surname", "either way round"], ["surname", "whole"]]], "a field twice"),
        ([[["sex", "whole"]], [["sex", "whole"]]], "there twice"),
        ([[["height", "whole"]]], "its settings do not have"),
        ([[["whole"]]], "its settings do not have"),
        ([[["sex", "born", "whole"]]], "two fields in one place"),
        ([[["sex", "either way round"]]], "two fields in one place"),
        ([[["sex", "born", "surname", "either way round"]]], "two fields in one place"),
        ([[["born", "first 3"]]], "a part that its field does not have"),
        ([[["surname", "second 3"]]], "a part that its field does not have"),
    ],
)
def test_keys_that_cannot_be_are_refused(refused, why):
    with pytest.raises(ValueError, match=why):
        read_keys(refused, FIELDS)


@settings(max_examples=200)
@given(text=st.text(" ABC01\ufffd", max_size=9), part=st.sampled_from(sorted(PARTS)))
def test_parts_are_those_of_the_definition(text, part):
    if PARTS[part].kinds != ("date",):
        assert PARTS[part].cut(text) == definition.part_of(text, part)


@pytest.mark.parametrize("date", [*VALUES["born"], "1", "19800230"])
def test_parts_of_dates_are_those_of_the_definition(date):
    value = Party("clinic", b"", (("", "", date, "", ""),)).plain[0]["born"]
    for part, of in PARTS.items():
        if "date" in of.kinds:
            assert of.cut(value) == definition.part_of(value, part)


def test_month_and_day_are_the_same_either_way_round():
    one, other, third = (
        Party("clinic", b"", (("", "", date, "", ""),)).plain[0]["born"]
        for date in ("19800412", "19801204", "19800411")
    )
    cut = PARTS["day and month either way round"].cut
    assert cut(one) == cut(other) == "19800412"
    assert cut(third) != cut(one)


def test_what_it_is_called_does_not_tell_parts_from_fields_but_what_is_spelt_does():
    part, whole = Component(("surname",), "first 3"), Component(("surname (first 3)",))
    assert str(part) == str(whole)
    assert part.spelt != whole.spelt
    assert Key((part,)).spelt != Key((whole,)).spelt
