import pytest
from hypothesis import given
from hypothesis import strategies as st

from gramlink.records.levels import EQUAL, Levels


def test_levels_are_named():
    assert Levels(0).names == ("equal", "farther", "missing")
    assert Levels(1).names == ("equal", "within 1", "farther", "missing")


def test_two_fields_that_are_swapped_have_a_level_for_it_and_one_of_them_speaks():
    one, other = Levels(1, "surname"), Levels(1, "given_name", leads=False)
    assert one.names == other.names == ("equal", "within 1", "farther", "swapped", "missing")
    assert one.swapped == other.swapped == one.names.index("swapped")
    assert [of.names[: of.speaking][-1] for of in (one, other)] == ["swapped", "farther"]
    assert Levels(1).swapped is None
    assert Levels.named(list(other.names), "given_name", leads=False) == other


def test_nicknames_have_a_level_before_that_of_swapped_fields():
    levels = Levels(1, "surname", nicknames=True)
    assert levels.names[levels.nickname] == "nickname"
    assert levels.names[levels.swapped] == "swapped"
    assert levels.names[levels.missing] == "missing"
    assert levels.speaking == levels.missing
    silent = Levels(1, "surname", leads=False, nicknames=True)
    assert silent.names[: silent.speaking][-1] == "nickname"
    assert Levels.named(list(silent.names), "surname", leads=False) == silent


@given(edits=st.integers(0, 5))
def test_a_code_is_a_place_among_the_names(edits):
    levels = Levels(edits)
    assert len(levels.names) == len(levels)
    assert levels.names[EQUAL] == "equal"
    assert levels.names[levels.farther] == "farther"
    assert levels.names[levels.missing] == "missing"
    assert [levels.names[e] for e in range(1, edits + 1)] == [
        f"within {e}" for e in range(1, edits + 1)
    ]


@given(edits=st.integers(0, 5))
def test_levels_are_known_by_their_names(edits):
    assert Levels.named(list(Levels(edits).names)) == Levels(edits)


@pytest.mark.parametrize(
    "names", [[], ["equal"], ["equal", "missing", "farther"], "abc", [1, 2, 3]]
)
def test_other_names_are_refused(names):
    with pytest.raises(ValueError, match="not the levels of a field"):
        Levels.named(names)
