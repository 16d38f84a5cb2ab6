"""A ledger whose last line was cut short, at any byte: it counts, or nothing can be spent."""

from fractions import Fraction

import pytest

from gramlink.errors import InvalidLedger, InvalidParameter
from gramlink.privacy.exposure import UNSEALED, Disclosure, Exposure, counted
from gramlink.privacy.ledger import Ledger
from gramlink.privacy.tears import loss
from noise import silent

TENTH, HALF = Fraction(1, 10), Fraction(1, 2)


@pytest.fixture
def path(tmp_path):
    return tmp_path / "hospital.ledger"


@pytest.fixture
def ledger(path):
    return Ledger(path, "hospital", Fraction(1), draw=silent)


def exposure(digest):
    shown = Disclosure(16, {"surname": 672})
    return Exposure("stroke", "age1unit", "veiled", 9, shown, "0f3e", digest)


def tears(path, *changes):
    """Every state of a ledger whose last line was cut short, and what it was before that line."""
    first = path.read_bytes() if path.exists() else None
    for change in changes:
        if first is None:
            Ledger.create(path, "hospital", Fraction(1))
        else:
            path.write_bytes(first)
        kept = path.read_bytes()
        change()
        whole = path.read_bytes()
        for length in range(len(kept) + 1, len(whole) - 1):
            path.write_bytes(whole[:length])
            yield whole[:length], kept
        path.unlink()
        if first is None:
            continue
        path.write_bytes(first)


def refuses_all(ledger, path):
    """Nothing can be spent, shown or changed, and the file stays as it is."""
    before = path.read_bytes()
    for change in (
        lambda: ledger.charge(Fraction(0), "mine", {}),
        lambda: ledger.expose(exposure("third")),
        lambda: ledger.check(exposure("third")),
        lambda: ledger.allow(Fraction(2)),
        lambda: ledger.unreleased({}),
        lambda: Ledger.open(path),
    ):
        with pytest.raises(InvalidLedger, match="was cut short, and what it") as refused:
            change()
        assert "gramlink ledger repair" in refused.value.hint
    assert path.read_bytes() == before


def test_an_exposure_cut_short_at_any_byte_counts_or_nothing_can_be_shown(ledger, path):
    for torn, kept in tears(path, lambda: ledger.expose(exposure("second"))):
        if b'"exposure",' not in torn[len(kept) :]:
            refuses_all(ledger, path)
            continue
        ledger.expose(exposure("third"))
        assert path.read_bytes().startswith(torn + b"\n")
        unit = "age1unit" if b'"age1unit",' in torn else UNSEALED
        assert [one.unit for one in ledger.state.exposures] == [unit, "age1unit"]
        assert counted(ledger.state.exposures, "age1unit") == 2


def test_a_limit_or_an_allowance_cut_short_counts_where_it_is_lower(ledger, path):
    for torn, kept in tears(path, lambda: ledger.limit_exposures(2), lambda: ledger.allow(HALF)):
        entry = torn[len(kept) :]
        if b'"exposures": 2,' in entry:
            assert ledger.state.most_exposures == 2
        elif b'"allowance": "1/2",' in entry:
            assert ledger.state.allowance == HALF
        else:
            refuses_all(ledger, path)
    for torn, _ in tears(
        path, lambda: ledger.limit_exposures(20), lambda: ledger.allow(Fraction(2))
    ):
        if b'"exposures": 20,' in torn or b'"allowance": "2",' in torn:
            assert (ledger.state.most_exposures, ledger.state.allowance) == (10, 1)


def test_a_charge_cut_short_at_any_byte_is_spent_or_nothing_can_be(ledger, path):
    ledger.charge(TENTH, "first", {})
    for torn, kept in tears(path, lambda: ledger.charge(2 * TENTH, "second", {"of": {"size": 75}})):
        if b'"1/5",' not in torn[len(kept) :]:
            refuses_all(ledger, path)
            continue
        assert (ledger.state.spent, path.read_bytes()) == (3 * TENTH, torn)
        assert ledger.charge(3 * TENTH, "third", {}).number == 3
        assert path.read_bytes().startswith(torn + b"\n")
        state = Ledger.open(path).state
        assert (state.spent, state.entries) == (6 * TENTH, 3)
        what = [release.what for release in state.releases]
        assert what == ["first", "a line that was cut short", "third"]


def test_no_charge_is_drawn_for_again_whose_release_was_cut_short(ledger, path):
    charge = ledger.charge(TENTH, "first", {"for": "a"})
    for torn, kept in tears(path, lambda: ledger.released(charge, "8a5c")):
        if b'"release",' in torn[len(kept) :]:
            assert ledger.unreleased({"for": "a"}) is None
            assert ledger.charge(TENTH, "second", {}).number == 3
            assert ledger.unreleased({"for": "a"}) is None
            with pytest.raises(InvalidLedger, match="not a charge that is waiting"):
                ledger.released(charge, "8a5c")
        else:
            refuses_all(ledger, path)


def test_what_a_torn_line_counts_as_is_the_same_at_every_look(ledger, path):
    ledger.charge(TENTH, "first", {})
    path.write_bytes(path.read_bytes()[:-90])
    assert ledger.state == ledger.state
    assert ledger.state.head == Ledger.open(path).state.head


@pytest.mark.parametrize("left", [0, 1, 9, 26, 41])
def test_a_line_of_which_too_little_is_left_is_settled_by_its_owner(ledger, path, left):
    ledger.charge(TENTH, "first", {"for": "a"})
    kept = path.read_bytes()
    ledger.charge(2 * TENTH, "second", {})
    line = path.read_bytes()[len(kept) :]
    torn = kept + (line[:left] or b"\x00\x00")
    path.write_bytes(torn)
    with pytest.raises(InvalidParameter, match="does not say what it cost"):
        Ledger.repair(path)
    assert path.read_bytes() == torn
    state = Ledger.repair(path, 2 * TENTH).state
    assert (state.spent, state.entries) == (3 * TENTH, 2)
    assert state.exposures_left("age1unit") == 9  # it may have been a bundle
    assert ledger.unreleased({"for": "a"}) is None  # or a release
    assert ledger.charge(TENTH, "third", {}).number == 3
    with pytest.raises(InvalidLedger, match="no line that was cut short"):
        Ledger.repair(path, TENTH)


def test_a_torn_line_costs_no_less_than_it_says(ledger, path):
    ledger.charge(HALF, "first", {})
    path.write_bytes(path.read_bytes()[:-90])
    assert Ledger.repair(path, TENTH).state.spent == HALF


def test_a_last_line_that_was_spoilt_is_settled_by_its_owner_only(ledger, path):
    ledger.charge(TENTH, "first", {})
    path.write_bytes(path.read_bytes()[:-9] + b"\x00\n")
    refuses_all(ledger, path)
    assert Ledger.repair(path, Fraction(1)).state.left == 0


@pytest.mark.parametrize("says", [None, Fraction(0)])
@pytest.mark.parametrize("end", [b"", b"\n"])
def test_no_charge_hides_behind_another_line_that_cannot_be_read(ledger, path, says, end):
    first = ledger.charge(TENTH, "first", {})
    kept = path.read_bytes()
    ledger.released(first, "8a5c")
    ledger.charge(HALF, "second", {})
    release, charge = path.read_bytes()[len(kept) :].splitlines()
    path.write_bytes(kept + release[:-9] + b"\n" + charge[:-9] + end)
    if says is None and end:
        with pytest.raises(InvalidParameter, match="does not say what it cost"):
            Ledger.repair(path)
        return
    assert Ledger.repair(path, says).state.spent == TENTH + HALF


def test_a_line_torn_while_a_torn_one_was_settled_is_settled_by_its_owner(ledger, path):
    ledger.charge(TENTH, "first", {})
    torn = path.read_bytes()[:-90]
    path.write_bytes(torn)
    ledger.charge(TENTH, "second", {})
    path.write_bytes(path.read_bytes()[: len(torn) + 30])
    refuses_all(ledger, path)
    assert Ledger.repair(path, TENTH).state.spent == TENTH
    ledger.charge(TENTH, "third", {})
    assert Ledger.open(path).state.spent == 2 * TENTH


@pytest.mark.parametrize(
    ("line", "found"),
    [
        (b"", None),
        (b"{", None),
        (b'{"entry": 7', None),
        (b"\x00" * 40, None),
        (b"\xff\xfe", None),
        (b"[" * 100_000, None),
        (b'{"entry": 7, "kind": "charge"', None),
        (b'{"entry": 7, "kind": "charge", "epsilon": 1, "what"', None),
        (b'{"entry": 7, "kind": "charge", "epsilon": "1/2"', None),
        (b'{"entry": 7, "kind": "charge", "epsilon": "1/2", ', {"epsilon": "1/2"}),
        (b'{"entry": 7, "kind": "charge", "epsilon": "1", "epsilon": "0", "a', None),
        (b'{"entry": 7, "kind": "refund", "epsilon": "1", ', None),
        (b'{"entry": 7, "kind": "limit", "exposures": 2', None),
        (b'{"entry": 7, "kind": "release", "of": ', {"epsilon": "0"}),
        (b'{"entry": 7, "kind": "exposure", ', {"epsilon": "0", "unit": UNSEALED}),
    ],
)
def test_only_what_is_whole_in_a_torn_line_is_believed(line, found):
    assert loss(line) == found
