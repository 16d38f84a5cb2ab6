from fractions import Fraction

import hypothesis.strategies as st
import pytest
from hypothesis import given

from gramlink.errors import BudgetExceeded, ExposureExceeded, InvalidLedger
from gramlink.privacy.entries import State, appended, applied, numbered, parsed

NEW = State("hospital", Fraction(10))
TIME = "2026-03-14T15:09:26Z"
CHARGE = {"kind": "charge", "time": TIME, "what": "mine", "epsilon": "1/3", "parameters": {}}
ENTRIES = st.lists(
    st.sampled_from(
        [CHARGE, {"kind": "release", "time": TIME, "of": 1, "digest": "8a5c"},
         {"kind": "allow", "time": TIME, "allowance": "20"},
         {"kind": "limit", "time": TIME, "exposures": 3},
         *({"kind": "exposure", "time": TIME, "exchange": "stroke", "unit": "age1unit",
            "encoding": "veiled", "records": 9, "rows": 16, "draws": {"surname": 672},
            "key": "0f3e", "digest": digest} for digest in ("8a5c", "77aa", "77ab"))]
    ),
    max_size=12,
)  # fmt: skip


@given(entries=ENTRIES, lines_end=st.booleans())
def test_the_lines_add_up_to_the_state_after_each_entry(entries, lines_end):
    state, data = NEW, b""
    for entry in [CHARGE, *entries]:
        entry = numbered(entry, state)
        try:
            after = applied(state, entry, "x")
        except (InvalidLedger, ExposureExceeded):  # a second release of a charge, or one too many
            continue
        data += appended(entry, data, state)
        state = after
        assert parsed(data, "x") == (state, len(data))
        if not lines_end:
            data = data.rstrip(b"\n")  # as an editor leaves it
    assert state.spent == Fraction(1, 3) * len(state.releases)
    assert len({one.digest for one in state.exposures}) == len(state.exposures)


@given(cut=st.integers(1, 200))
def test_a_last_line_that_was_cut_off_counts_for_nothing(cut):
    entry = numbered(CHARGE, NEW)
    data = appended(entry, b"", NEW)
    state = applied(NEW, entry, "x")
    line = appended(numbered(CHARGE, state), data, state)
    assert parsed(data + line[: min(cut, len(line) - 2)], "x") == (state, len(data))


def test_an_entry_out_of_its_turn_is_damage():
    with pytest.raises(InvalidLedger, match="entry 1 is missing"):
        applied(NEW, {**CHARGE, "entry": 2}, "x")


def test_a_state_does_not_change_when_an_entry_is_refused():
    with pytest.raises(BudgetExceeded, match="only 10 is left in x"):
        applied(NEW, {**numbered(CHARGE, NEW), "epsilon": "11"}, "x")
    assert State("hospital", Fraction(10)) == NEW
