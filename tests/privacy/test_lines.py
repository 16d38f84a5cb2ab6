from fractions import Fraction

import hypothesis.strategies as st
import pytest
from hypothesis import given

from gramlink.errors import BudgetExceeded, ExposureExceeded, InvalidLedger
from gramlink.privacy.entries import State, applied
from gramlink.privacy.lines import entry_line, header, parsed

OPENING = header(State("hospital", Fraction(10))) + b"\n"
NEW, _ = parsed(OPENING, "x")
CHARGE = "charge", {"epsilon": "1/3", "what": "mine", "parameters": {}}
ENTRIES = st.lists(
    st.sampled_from(
        [CHARGE, ("release", {"of": 1, "digest": "8a5c"}), ("allow", {"allowance": "20"}),
         ("limit", {"exposures": 3}),
         *(("exposure", {"unit": "age1unit", "exchange": "stroke", "encoding": "veiled",
            "records": 9, "rows": 16, "draws": {"surname": 672}, "key": "0f3e",
            "digest": digest}) for digest in ("8a5c", "77aa", "77ab"))]
    ),
    max_size=12,
)  # fmt: skip


@given(entries=ENTRIES, lines_end=st.booleans())
def test_the_lines_add_up_to_the_state_after_each_entry(entries, lines_end):
    state, data = NEW, OPENING
    for kind, told in [CHARGE, *entries]:
        line = entry_line(state, kind, told)
        try:
            after = applied(state, line, "x")
        except (InvalidLedger, ExposureExceeded):  # a second release of a charge, or one too many
            continue
        data += parsed(data, "x")[1] + line + b"\n"
        state = after
        assert parsed(data, "x") == (state, b"")
        if not lines_end:
            data = data.rstrip(b"\n")  # as an editor leaves it
            assert parsed(data, "x") == (state, b"\n")
    assert state.spent == Fraction(1, 3) * len(state.releases)
    assert len({one.digest for one in state.exposures}) == len(state.exposures)


@given(entries=ENTRIES, cut=st.integers(1, 400))
def test_however_much_is_cut_off_the_last_line_never_counts_for_less(entries, cut):
    state, data = NEW, OPENING
    for kind, told in [CHARGE, *entries]:
        line = entry_line(state, kind, told)
        try:
            after = applied(state, line, "x")
        except (InvalidLedger, ExposureExceeded):
            continue
        try:
            torn, _ = parsed(data + line[: min(cut, len(line) - 1)], "x")
        except InvalidLedger:
            pass
        else:
            assert torn.spent >= after.spent
            assert torn.left <= after.left or kind == "allow"
            assert torn.exposures_left("age1unit") <= after.exposures_left("age1unit")
            assert not any(one.digest is None and not one.lost for one in torn.releases)
        state, data = after, data + line + b"\n"


def test_an_entry_out_of_its_turn_is_damage():
    line = entry_line(NEW, *CHARGE).replace(b'"entry": 1', b'"entry": 2')
    with pytest.raises(InvalidLedger, match="entry 1 is missing"):
        applied(NEW, line, "x")


def test_a_state_does_not_change_when_an_entry_is_refused():
    with pytest.raises(BudgetExceeded, match="only 10 is left in x"):
        applied(NEW, entry_line(NEW, "charge", {**CHARGE[1], "epsilon": "11"}), "x")
    assert parsed(OPENING, "x") == (NEW, b"")


def test_the_same_charge_never_has_the_same_line_as_its_hash_is_published():
    assert entry_line(NEW, *CHARGE) != entry_line(NEW, *CHARGE)
    assert header(NEW) != header(NEW)
