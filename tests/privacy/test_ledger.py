import errno
import hashlib
import json
import os
import random
import re
import subprocess
import sys
import time
from fractions import Fraction
from pathlib import Path

import pytest

import gramlink.io.journal
import gramlink.privacy.ledger
from gramlink.errors import BudgetExceeded, ExposureExceeded, InvalidLedger, InvalidParameter
from gramlink.privacy.exposure import UNSEALED, Disclosure, Exposure
from gramlink.privacy.ledger import Ledger
from gramlink.privacy.noise import Draw
from noise import silent
from systems import posix

TENTH, HALF = Fraction(1, 10), Fraction(1, 2)

CHARGER = """
import sys
from fractions import Fraction
from pathlib import Path
from gramlink.errors import BudgetExceeded
from gramlink.privacy.ledger import Ledger

ledger = Ledger(Path(sys.argv[1]), "hospital", Fraction(sys.argv[2]))
print("ready", flush=True)
sys.stdin.readline()
for _ in range(int(sys.argv[3])):
    try:
        charge = ledger.charge(Fraction(1, 100), "mine", {})
    except BudgetExceeded:
        continue
    print(charge.number, flush=True)
"""

EXPOSER = """
import sys
from fractions import Fraction
from pathlib import Path
from secrets import token_hex
from gramlink.errors import ExposureExceeded
from gramlink.privacy.exposure import Disclosure, Exposure
from gramlink.privacy.ledger import Ledger

ledger = Ledger(Path(sys.argv[1]), "hospital", Fraction(sys.argv[2]))
print("ready", flush=True)
sys.stdin.readline()
for _ in range(int(sys.argv[3])):
    shown = Disclosure(16, {"surname": 672})
    exposure = Exposure("stroke", "age1unit", "veiled", 9, shown, "0f3e", token_hex(8))
    try:
        ledger.expose(exposure)
    except ExposureExceeded:
        continue
    print(exposure.digest, flush=True)
"""


@pytest.fixture
def path(tmp_path):
    return tmp_path / "hospital.ledger"


@pytest.fixture
def ledger(path):
    return Ledger(path, "hospital", Fraction(1), draw=silent)


def lines(path):
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()]


def charger(path, allowance, times, program=CHARGER):
    """A process that charges, or shows, as often as it is told, once it is sent a line."""
    process = subprocess.Popen(
        [sys.executable, "-c", program, str(path), str(allowance), str(times)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdout.readline() == "ready\n"
    return process


def test_the_file_reads_as_documented(ledger, path):
    charge = ledger.charge(TENTH, "mine surname", {"size": 75, "epsilon": TENTH})
    ledger.released(charge, "8a5c")
    ledger.allow(Fraction(2))
    header, charged, released, allowed = lines(path)
    for text, digits in ((header.pop("nonce"), 32), (charged.pop("salt"), 32)):
        assert re.fullmatch(f"[0-9a-f]{{{digits}}}", text)
    assert header == {
        "gramlink": "ledger",
        "version": 1,
        "dataset": "hospital",
        "allowance": "1",
        "exposures": 10,
    }
    for entry, before in zip(
        (charged, released, allowed), path.read_bytes().split(b"\n"), strict=False
    ):
        time.strptime(entry.pop("time"), "%Y-%m-%dT%H:%M:%SZ")
        assert entry.pop("after") == hashlib.sha256(before).hexdigest()
    assert charged == {
        "entry": 1,
        "kind": "charge",
        "what": "mine surname",
        "epsilon": "1/10",
        "parameters": {"size": 75, "epsilon": "1/10"},
    }
    assert released == {"entry": 2, "kind": "release", "of": 1, "digest": "8a5c"}
    assert allowed == {"entry": 3, "kind": "allow", "allowance": "2"}
    assert path.read_bytes().endswith(b"\n")


def test_the_state_tells_releases_from_interruptions(ledger):
    first = ledger.charge(TENTH, "mine surname", {"size": 75})
    second = ledger.charge(2 * TENTH, "mine city", {})
    ledger.released(second, "8a5c")
    state = ledger.state
    assert [release.digest for release in state.releases] == [None, "8a5c"]
    assert [release.number for release in state.releases] == [first.number, second.number]
    assert state.releases[0].parameters == {"size": 75}
    assert (state.spent, state.left) == (3 * TENTH, 7 * TENTH)


def test_three_thirds_are_allowed_and_the_least_bit_more_is_refused(ledger, path):
    for _ in range(3):
        ledger.charge(Fraction(1, 3), "mine", {})
    before = path.read_bytes()
    message = f"this release costs epsilon 1/{10**30}, only 0 is left in hospital.ledger"
    with pytest.raises(BudgetExceeded) as refused:
        ledger.charge(Fraction(1, 10**30), "mine", {})
    assert str(refused.value) == message
    assert refused.value.hint
    assert path.read_bytes() == before


def test_a_refused_first_charge_leaves_no_file(ledger, path):
    with pytest.raises(BudgetExceeded, match=r"costs epsilon 1\.5, only 1 is left"):
        ledger.charge(Fraction(3, 2), "mine", {})
    assert not path.exists()


def test_a_release_that_costs_nothing_is_recorded_and_buys_no_noise(ledger):
    charge = ledger.charge(Fraction(0), "public base", {})
    with pytest.raises(BudgetExceeded):
        charge.budget.laplace([1], sensitivity=1, epsilon=TENTH)
    assert ledger.state.spent == 0
    assert len(ledger.state.releases) == 1


def test_a_negative_cost_pays_nothing_back(ledger):
    ledger.charge(TENTH, "mine", {})
    with pytest.raises(InvalidParameter):
        ledger.charge(-TENTH, "mine", {})
    assert ledger.state.spent == TENTH


def test_the_charge_is_on_disk_before_any_noise_is_drawn(path):
    seen = []

    class Reader(Draw):
        def __call__(self, values, scale):  # noqa: ARG002
            seen.extend(lines(path)[1:])
            return values

    ledger = Ledger(path, "hospital", Fraction(1), draw=Reader())
    charge = ledger.charge(TENTH, "mine", {})
    charge.budget.laplace([1], sensitivity=1, epsilon=TENTH)
    assert [entry["epsilon"] for entry in seen] == ["1/10"]


def test_the_file_and_its_folder_are_synced_before_the_charge_returns(ledger, path, monkeypatch):
    synced = []
    fsync = os.fsync

    def watched(handle):
        synced.append((os.fstat(handle).st_ino, path.stat().st_size if path.exists() else 0))
        fsync(handle)

    monkeypatch.setattr(os, "fsync", watched)
    ledger.charge(TENTH, "mine", {})
    assert {inode for inode, _ in synced} == {path.stat().st_ino, path.parent.stat().st_ino}
    assert synced[-1] == (path.stat().st_ino, path.stat().st_size)
    assert len(synced) == 3  # the first line, the folder, the charge


def test_an_existing_ledger_keeps_its_own_allowance(ledger, path):
    ledger.charge(TENTH, "mine", {})
    assert Ledger(path, "hospital", Fraction(100)).state.allowance == 1
    with pytest.raises(BudgetExceeded):
        Ledger(path, "hospital", Fraction(100)).charge(Fraction(1), "mine", {})


DRAWN = Disclosure(rows=16, draws={"surname": 672})


def exposure(digest="8a5c", unit="age1unit", shown=DRAWN, exchange="stroke"):
    return Exposure(exchange, unit, "veiled", 9, shown, "0f3e", digest)


def test_an_exposure_reads_as_documented(ledger, path):
    ledger.expose(exposure())
    ledger.limit_exposures(20)
    _, shown, limit = lines(path)
    for entry in (shown, limit):
        time.strptime(entry.pop("time"), "%Y-%m-%dT%H:%M:%SZ")
        assert len(entry.pop("after")) == 64
    assert shown == {
        "entry": 1,
        "kind": "exposure",
        "exchange": "stroke",
        "unit": "age1unit",
        "encoding": "veiled",
        "records": 9,
        "rows": 16,
        "draws": {"surname": 672},
        "key": "0f3e",
        "digest": "8a5c",
    }
    assert limit == {"entry": 2, "kind": "limit", "exposures": 20}
    [read] = ledger.state.exposures
    assert read.content == exposure().content
    assert ledger.state.most_exposures == 20


def test_exposures_cost_no_epsilon_and_charges_show_nothing(ledger):
    ledger.expose(exposure())
    ledger.charge(TENTH, "mine", {})
    state = ledger.state
    assert (state.spent, len(state.releases), len(state.exposures)) == (TENTH, 1, 1)


def test_the_same_bundle_sent_again_changes_not_a_byte(ledger, path):
    ledger.expose(exposure())
    before = path.read_bytes()
    ledger.expose(exposure())
    assert path.read_bytes() == before


def test_ten_exposures_are_permitted_and_the_eleventh_is_refused(ledger, path):
    for number in range(10):
        ledger.check(exposure(""))
        ledger.expose(exposure(f"{number}", exchange=f"number-{number}"))
    before = path.read_bytes()
    for call in (ledger.check, ledger.expose):
        with pytest.raises(ExposureExceeded) as refused:
            call(exposure("10", exchange="number-10"))
        assert "data set hospital was shown 10 times to the linkage unit with the key" in str(
            refused.value
        )
        assert "hospital.ledger permits 10" in str(refused.value)
        assert "--exposures 11" in refused.value.hint
    assert path.read_bytes() == before


def test_at_the_limit_other_units_everything_and_repetitions_are_still_permitted(ledger):
    ledger.limit_exposures(1)
    ledger.expose(exposure())
    ledger.expose(exposure("77", unit="age1other"))
    ledger.expose(exposure("78", shown=Disclosure(1, None)))
    ledger.check(exposure(""))  # it may be the same again
    ledger.expose(exposure())
    with pytest.raises(ExposureExceeded):
        ledger.expose(exposure("79"))
    with pytest.raises(ExposureExceeded, match="whoever has the files, which are not sealed"):
        ledger.expose(exposure("80", unit=UNSEALED))
    assert len(ledger.state.exposures) == 3


def test_the_limit_on_exposures_goes_up_and_down_on_the_record(ledger, path):
    ledger.expose(exposure("1"))
    ledger.limit_exposures(0)
    with pytest.raises(ExposureExceeded):
        ledger.expose(exposure("2"))
    ledger.limit_exposures(2)
    ledger.expose(exposure("2"))
    with pytest.raises(ExposureExceeded):
        ledger.expose(exposure("3"))
    assert [entry["kind"] for entry in lines(path)[1:]] == [
        "exposure", "limit", "limit", "exposure"
    ]  # fmt: skip


@pytest.mark.parametrize("most", [-1, True, 1.5, "many"])
def test_a_limit_is_a_number_of_things(ledger, path, most):
    with pytest.raises(InvalidParameter, match="not a whole number"):
        ledger.limit_exposures(most)
    assert not path.exists()


def test_a_bundle_that_nobody_can_recognise_again_is_not_recorded(ledger, path):
    with pytest.raises(InvalidParameter, match="which bundle"):
        ledger.expose(exposure(""))
    assert not path.exists()


def test_eight_processes_together_show_no_more_than_is_permitted(ledger, path):
    ledger.limit_exposures(20)
    processes = [charger(path, 1, 10, EXPOSER) for _ in range(8)]
    told = 0
    for process in processes:
        process.stdin.write("go\n")
        process.stdin.flush()
    for process in processes:
        told += len(process.communicate()[0].split())
    assert told == 20 == len(ledger.state.exposures)


def test_processes_that_show_the_same_at_once_are_counted_once(ledger, path):
    ledger.limit_exposures(1)
    processes = [charger(path, 1, 10, EXPOSER.replace("token_hex(8)", "__name__")) for _ in "12345"]
    for process in processes:
        process.stdin.write("go\n")
        process.stdin.flush()
    for process in processes:
        assert len(process.communicate()[0].split()) == 10  # none is refused
    assert len(ledger.state.exposures) == 1


def test_a_killed_process_never_showed_what_is_not_recorded(ledger, path):
    ledger.limit_exposures(10**6)
    acknowledged = 0
    chance = random.Random(3)
    for _ in range(5):
        process = charger(path, 1, 10**6, EXPOSER)
        process.stdin.write("go\n")
        process.stdin.flush()
        for _ in range(chance.randint(2, 20)):
            acknowledged += len(process.stdout.readline().splitlines())
        process.kill()
        acknowledged += len((process.stdout.read() + process.communicate()[0]).splitlines())
        assert len(ledger.state.exposures) >= acknowledged
    ledger.expose(exposure("after all"))
    assert ledger.state.exposures[-1].digest == "after all"


def test_another_data_set_cannot_use_the_ledger(path):
    Ledger(path, "registry", Fraction(1)).charge(TENTH, "mine", {})
    with pytest.raises(InvalidLedger) as refused:
        Ledger(path, "hospital", Fraction(1))
    assert str(refused.value) == (
        "hospital.ledger is the ledger of data set 'registry', not 'hospital'"
    )


def test_a_ledger_that_became_another_data_sets_meanwhile_is_refused(ledger, path):
    Ledger(path, "registry", Fraction(1)).charge(TENTH, "mine", {})
    with pytest.raises(InvalidLedger, match="registry"):
        ledger.charge(TENTH, "mine", {})


def test_any_ledger_can_be_opened_to_be_shown(ledger, path):
    ledger.charge(TENTH, "mine", {})
    assert Ledger.open(path).state == ledger.state


def test_a_ledger_that_does_not_exist_cannot_be_shown(path):
    with pytest.raises(InvalidLedger, match="does not exist"):
        Ledger.open(path)
    assert not path.exists()


def test_the_allowance_goes_up_and_down_to_what_is_spent(ledger, path):
    ledger.charge(Fraction(1), "mine", {})
    ledger.allow(Fraction(3, 2))
    ledger.charge(Fraction(1, 4), "mine", {})
    ledger.allow(Fraction(5, 4))
    before = path.read_bytes()
    with pytest.raises(BudgetExceeded, match=r"1\.25 is already spent"):
        ledger.allow(Fraction(5, 4) - Fraction(1, 10**30))
    with pytest.raises(BudgetExceeded):
        ledger.charge(Fraction(1, 10**30), "mine", {})
    assert path.read_bytes() == before


def test_a_charge_is_released_once(ledger, path):
    charge = ledger.charge(TENTH, "mine", {})
    ledger.released(charge, "8a5c")
    before = path.read_bytes()
    with pytest.raises(InvalidLedger, match="entry 1"):
        ledger.released(charge, "ffff")
    assert path.read_bytes() == before


@pytest.mark.parametrize("name", ["Krankenhaus Süd", 'a "b"\n{c}', "\u2028", "\udc80"])
def test_any_name_survives_the_file(path, name):
    Ledger(path, name, Fraction(1)).charge(TENTH, name, {name: name})
    release = Ledger(path, name, Fraction(1)).state.releases[0]
    assert (release.what, release.parameters) == (name, {name: name})
    assert path.read_bytes().count(b"\n") == 2


def test_eight_processes_together_spend_no_more_than_is_allowed(path):
    processes = [charger(path, 1, 50) for _ in range(8)]
    for process in processes:
        process.stdin.write("go\n")
        process.stdin.flush()
    numbers = [int(number) for process in processes for number in process.communicate()[0].split()]
    assert sorted(numbers) == list(range(1, 101))
    assert Ledger.open(path).state.left == 0


def test_a_killed_process_never_spent_what_is_not_recorded(path):
    chance = random.Random(3)
    acknowledged = 0
    for _ in range(5):
        process = charger(path, 10**6, 10**6)
        process.stdin.write("go\n")
        process.stdin.flush()
        for _ in range(chance.randint(2, 20)):
            acknowledged += len(process.stdout.readline().splitlines())
        time.sleep(chance.uniform(0, 0.01))
        process.kill()
        acknowledged += len((process.stdout.read() + process.communicate()[0]).splitlines())
        recorded = len(Ledger.open(path).state.releases) if acknowledged else 0
        assert recorded >= acknowledged
    assert acknowledged >= 10
    assert Ledger(path, "hospital", Fraction(1)).charge(TENTH, "mine", {}).number == recorded + 1


def test_a_charge_that_lacks_only_the_end_of_its_line_counts(ledger, path):
    ledger.charge(TENTH, "first", {})
    path.write_bytes(path.read_bytes().removesuffix(b"\n"))
    assert ledger.state.spent == TENTH
    ledger.charge(TENTH, "second", {})
    assert [release.what for release in ledger.state.releases] == ["first", "second"]
    assert len(lines(path)) == 3


def test_a_ledger_cut_short_in_its_first_line_or_emptied_is_no_new_one(ledger, path):
    ledger.charge(TENTH, "first", {})
    first, _ = path.read_bytes().split(b"\n", 1)
    for length in range(len(first)):
        path.write_bytes(first[:length])
        with pytest.raises(
            InvalidLedger, match=r"hospital\.ledger is (empty|cut short)"
        ) as refused:
            ledger.charge(TENTH, "mine", {})
        assert "it may have been emptied" in refused.value.hint
        for opening in (Ledger.open, lambda at: Ledger(at, "hospital", Fraction(1))):
            with pytest.raises(InvalidLedger):
                opening(path)
        assert path.read_bytes() == first[:length]


def test_a_ledger_is_whole_or_not_there_wherever_its_making_ends(path, monkeypatch):
    class Crash(BaseException):
        pass

    def crash(*_, **__):
        raise Crash

    for where in ("os.fsync", "os.link", "gramlink.io.files.sync_folder"):
        with monkeypatch.context() as patch:
            patch.setattr(where, crash)
            with pytest.raises(Crash):
                Ledger.create(path, "hospital", Fraction(1))
        assert path.exists() == (where == "gramlink.io.files.sync_folder")
        assert Ledger(path, "hospital", Fraction(1)).charge(TENTH, "mine", {}).number == 1
        assert list(path.parent.iterdir()) == [path]
        path.unlink()


def test_a_ledger_is_made_with_what_it_allows(path):
    ledger = Ledger.create(path, "hospital", Fraction(3), exposures=2)
    state = Ledger.open(path).state
    assert state == ledger.state
    assert (state.dataset, state.allowance, state.most_exposures) == ("hospital", 3, 2)
    assert (state.spent, state.entries, len(lines(path))) == (0, 0, 1)
    assert path.stat().st_mode & 0o777 == 0o600


def test_a_ledger_is_not_made_in_the_place_of_another(path):
    Ledger.create(path, "hospital", Fraction(1))
    before = path.read_bytes()
    with pytest.raises(InvalidLedger, match="exists already") as refused:
        Ledger.create(path, "hospital", Fraction(5))
    assert "--allow" in refused.value.hint
    assert path.read_bytes() == before


def test_two_ledgers_of_one_data_set_do_not_know_each_others_charges(tmp_path):
    one, other = (Ledger(tmp_path / name, "hospital", Fraction(1)) for name in ("one", "other"))
    stamp = one.charge(TENTH, "mine", {}).stamp
    other.charge(TENTH, "mine", {})
    assert stamp.is_of(one.state.nonce)
    assert not stamp.is_of(other.state.nonce)


@pytest.mark.parametrize("content", [b"a,b", b"a,b\n1,2\n", b'{"gramlink": "mined"}\n'])
def test_a_file_that_is_no_ledger_is_left_alone(path, content):
    path.write_bytes(content)
    with pytest.raises(InvalidLedger, match="not a ledger"):
        Ledger(path, "hospital", Fraction(1))
    assert path.read_bytes() == content


EXPOSURE = {
    "kind": "exposure", "time": "", "exchange": "stroke", "unit": "age1unit",
    "encoding": "veiled", "records": 9, "rows": 16, "draws": {"surname": 672}, "key": "0f3e",
    "digest": "8a5c",
}  # fmt: skip
LIMIT = {"kind": "limit", "time": "", "exposures": 1}
HEADER = {
    "gramlink": "ledger", "version": 1, "dataset": "hospital", "allowance": "1", "exposures": 10,
    "nonce": "0123456789abcdef" * 2,
}  # fmt: skip
CHARGE = {"kind": "charge", "time": "", "what": "", "epsilon": "1/2", "parameters": {}}
ONE, TWO, THREE = ({"entry": number, **CHARGE} for number in (1, 2, 3))
RELEASE = {"entry": 2, "kind": "release", "time": "", "of": 1, "digest": ""}
ALLOW = {"entry": 2, "kind": "allow", "time": "", "allowance": "1/4"}
SPOILT = {
    "an entry is missing": [HEADER, TWO],
    "an entry is doubled": [HEADER, ONE, ONE],
    "entries are swapped": [HEADER, TWO, ONE],
    "more is spent than allowed": [HEADER, ONE, TWO, THREE],
    "less is allowed than spent": [HEADER, ONE, ALLOW],
    "a cost is negative": [HEADER, {**ONE, "epsilon": "-1"}],
    "a cost is no number": [HEADER, {**ONE, "epsilon": "much"}],
    "a cost is missing": [HEADER, {"entry": 1, "kind": "charge"}],
    "parameters are no object": [HEADER, {**ONE, "parameters": 7}],
    "a release is of nothing": [HEADER, ONE, {**RELEASE, "of": 7}],
    "a release is doubled": [HEADER, ONE, RELEASE, {**RELEASE, "entry": 3}],
    "an exposure is of no bundle": [HEADER, {"entry": 1, **EXPOSURE, "digest": ""}],
    "an exposure is to nobody": [HEADER, {"entry": 1, **EXPOSURE, "unit": None}],
    "draws are no numbers": [HEADER, {"entry": 1, **EXPOSURE, "draws": {"surname": "many"}}],
    "an exposure lacks its rows": [
        HEADER,
        {"entry": 1, **{name: value for name, value in EXPOSURE.items() if name != "rows"}},
    ],
    "more is shown than permitted": [
        HEADER,
        {"entry": 1, **LIMIT},
        {"entry": 2, **EXPOSURE},
        {"entry": 3, **EXPOSURE, "digest": "77aa"},
    ],
    "a limit is negative": [HEADER, {"entry": 1, **LIMIT, "exposures": -1}],
    "a limit is no number": [HEADER, {"entry": 1, **LIMIT, "exposures": "many"}],
    "a kind is unknown": [HEADER, {**ONE, "kind": "refund"}],
    "a line is no object": [HEADER, ONE, [1]],
    "a line is empty": [HEADER, ONE, ""],
    "the allowance is no number": [{**HEADER, "allowance": None}, ONE],
    "the allowance is missing": [{k: v for k, v in HEADER.items() if k != "allowance"}, ONE],
    "the limit on exposures is missing": [{k: v for k, v in HEADER.items() if k != "exposures"}],
    "the nonce is no nonce": [{**HEADER, "nonce": "7"}, ONE],
    "a line says it was cut short and none was": [
        HEADER,
        {"entry": 1, "kind": "torn", "epsilon": "0", "of": "8a5c"},
    ],
    "the version is another": [{**HEADER, "version": 2}, ONE],
    "there is no header": [ONE],
}


def write(path, entries):
    """A ledger of these entries, each of which follows from the one before."""
    written = []
    for entry in entries:
        if written and isinstance(entry, dict):
            entry = {**entry, "after": hashlib.sha256(written[-1].encode()).hexdigest()}
        written.append(json.dumps(entry) if entry else "")
    path.write_text("".join(f"{line}\n" for line in written), "utf-8")


def test_a_ledger_with_nothing_wrong_is_read(path):
    write(path, [HEADER, ONE, RELEASE, THREE])
    assert Ledger(path, "hospital", Fraction(1)).state.left == 0


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (b'"epsilon": "1/10"', b'"epsilon": "1/99"'),
        (b'"digest": "8a5c"', b'"digest": "8a5d"'),
        (b'"allowance": "1"', b'"allowance": "9"'),
        (b'"exposures": 10', b'"exposures": 99'),
        (b'"what": "mine"', b'"what":  "mine"'),
        (b"Z", b"z"),
    ],
)
def test_a_line_that_was_changed_is_noticed_by_the_next(ledger, path, old, new):
    ledger.released(ledger.charge(TENTH, "mine", {}), "8a5c")
    ledger.charge(TENTH, "mine", {})
    content = path.read_bytes()
    assert old in content
    path.write_bytes(content.replace(old, new, 1))
    before = path.read_bytes()
    for use in (lambda: ledger.charge(TENTH, "mine", {}), lambda: Ledger.open(path)):
        with pytest.raises(InvalidLedger, match=r"is damaged at line \d: it does not follow"):
            use()
    assert path.read_bytes() == before


def test_a_line_that_was_left_out_or_put_in_is_noticed(ledger, path):
    for _ in "1234":
        ledger.charge(TENTH, "mine", {})
    whole = path.read_bytes().splitlines(keepends=True)
    renumbered = [line.replace(b'"entry": 4', b'"entry": 3') for line in whole]
    for spoilt in (whole[:2] + whole[3:], [*renumbered[:3], renumbered[4]], whole[:2] + whole[1:]):
        path.write_bytes(b"".join(spoilt))
        with pytest.raises(InvalidLedger, match="is damaged at line"):
            ledger.charge(TENTH, "mine", {})


@pytest.mark.parametrize("end", [b"\n", b""])
def test_a_charge_that_names_two_costs_is_damage_and_not_the_last_of_them(ledger, path, end):
    ledger.charge(HALF, "mine", {})
    content = path.read_bytes().replace(b'"epsilon": "1/2"', b'"epsilon": "1/2", "epsilon": "0"')
    path.write_bytes(content.rstrip() + end)
    with pytest.raises(InvalidLedger, match="damaged at line 2: it says 'epsilon' twice"):
        ledger.charge(TENTH, "mine", {})
    assert path.read_bytes() == content.rstrip() + end


def test_a_clock_that_was_set_back_changes_nothing(ledger, path, monkeypatch):
    for at in ("2027-01-01T00:00:00Z", "1970-01-01T00:00:00Z", "2026-06-01T00:00:00Z"):
        monkeypatch.setattr("gramlink.privacy.lines.moment", lambda at=at: at)
        charge = ledger.charge(TENTH, "mine", {"at": at})
        assert ledger.unreleased({"at": at}).number == charge.number
        ledger.released(charge, at)
        ledger.expose(exposure(at))
    assert [one.digest for one in ledger.state.releases] == [one.time for one in
                                                             ledger.state.releases]  # fmt: skip
    assert Ledger.open(path).state.spent == 3 * TENTH


def test_a_file_that_takes_the_ledgers_place_while_it_is_waited_for_is_refused(
    ledger, path, monkeypatch
):
    ledger.charge(TENTH, "mine", {})
    older, lock = path.read_bytes(), gramlink.io.journal.lock

    def replaced(handle):
        lock(handle)
        path.with_name("older").write_bytes(older)
        path.with_name("older").replace(path)

    monkeypatch.setattr("gramlink.io.journal.lock", replaced)
    with pytest.raises(InvalidLedger, match="another file took its place meanwhile; nothing was"):
        ledger.charge(TENTH, "mine", {})
    assert path.read_bytes() == older


def test_a_ledger_that_vanishes_is_not_begun_anew(ledger, path, monkeypatch):
    ledger.charge(TENTH, "mine", {})

    def vanish(*given):
        path.unlink()
        return made(*given)

    made = gramlink.privacy.ledger.entry_line
    monkeypatch.setattr("gramlink.privacy.ledger.entry_line", vanish)
    with pytest.raises(InvalidLedger, match=r"No such file.*nothing was spent"):
        ledger.charge(TENTH, "mine", {})
    assert not path.exists()


@pytest.mark.parametrize("kind", SPOILT)
def test_nothing_can_be_spent_from_a_ledger_where(ledger, path, kind):
    write(path, SPOILT[kind])
    before = path.read_bytes()
    with pytest.raises(InvalidLedger, match=r"hospital\.ledger"):
        ledger.charge(Fraction(0), "mine", {})
    assert path.read_bytes() == before


def test_a_corrupted_line_in_the_middle_is_named_and_never_repaired(ledger, path):
    for _ in range(3):
        ledger.charge(TENTH, "mine", {})
    whole = path.read_bytes()
    start = whole.index(b"\n", whole.index(b"\n") + 1) + 1
    for spoil in (b"\x00", b"}", b"\n", b"\xff"):
        damaged = whole[: start + 9] + spoil + whole[start + 10 :]
        path.write_bytes(damaged)
        with pytest.raises(InvalidLedger, match=r"hospital\.ledger is damaged at line 3"):
            ledger.charge(TENTH, "mine", {})
        assert path.read_bytes() == damaged


@pytest.mark.parametrize("call", ["write", "fsync"])
def test_a_full_disk_spends_nothing_and_leaves_the_ledger_as_it_was(
    ledger, path, monkeypatch, call
):
    ledger.charge(TENTH, "mine", {})
    before = path.read_bytes()
    write_once = os.write

    def full(handle, text=b""):
        if text:
            write_once(handle, text[:5])
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with monkeypatch.context() as patch:
        patch.setattr(os, call, full)
        with pytest.raises(InvalidLedger, match="No space left on device; nothing was spent"):
            ledger.charge(TENTH, "mine", {})
    assert path.read_bytes() == before
    assert ledger.charge(TENTH, "mine", {}).number == 2


@pytest.mark.skipif(sys.platform == "win32", reason="needs a limit on the size of files")
def test_a_write_that_the_system_cuts_short_spends_nothing(ledger, path):
    ledger.charge(TENTH, "mine", {})
    before = path.read_bytes()
    limit = f"import resource as r; r.setrlimit(r.RLIMIT_FSIZE, ({len(before) + 10},) * 2)\n"
    process = subprocess.run(
        [sys.executable, "-c", limit + CHARGER, str(path), "1", "1"],
        input="go\n",
        capture_output=True,
        text=True,
        check=False,
    )
    assert process.stdout == "ready\n"
    assert "nothing was spent" in process.stderr
    assert path.read_bytes() == before


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="has no /dev/full")
def test_a_device_is_no_place_for_a_ledger():
    with pytest.raises(InvalidLedger, match="is not a file"):
        Ledger(Path("/dev/full"), "hospital", Fraction(1))


def test_a_folder_is_no_ledger(tmp_path):
    with pytest.raises(InvalidLedger, match="is not a file"):
        Ledger(tmp_path, "hospital", Fraction(1))


def test_a_folder_that_does_not_exist_holds_no_ledger(tmp_path):
    ledger = Ledger(tmp_path / "no" / "hospital.ledger", "hospital", Fraction(1))
    with pytest.raises(InvalidLedger, match=r"cannot be written: No such file.*nothing was spent"):
        ledger.charge(TENTH, "mine", {})


@pytest.mark.skipif(not hasattr(os, "geteuid") or not os.geteuid(), reason="root may write all")
def test_a_folder_that_may_not_be_written_holds_no_ledger(tmp_path):
    ledger = Ledger(tmp_path / "hospital.ledger", "hospital", Fraction(1))
    tmp_path.chmod(0o500)
    try:
        with pytest.raises(InvalidLedger, match="Permission denied; nothing was spent"):
            ledger.charge(TENTH, "mine", {})
    finally:
        tmp_path.chmod(0o700)


# charges that nothing came of


def test_a_charge_that_nothing_came_of_is_found_by_its_parameters(ledger, path):
    assert ledger.unreleased({"for": "a"}) is None
    assert not path.exists()
    charge = ledger.charge(TENTH, "mine", {"for": "a", "shares": {"surname": "1/10"}})
    assert ledger.unreleased({"for": "a"}) is None
    assert ledger.unreleased({"for": "b", "shares": {"surname": "1/10"}}) is None
    found = ledger.unreleased({"shares": {"surname": "1/10"}, "for": "a"})
    assert found.number == charge.number
    ledger.released(found, "8a5c")
    assert ledger.state.releases[0].digest == "8a5c"
    assert ledger.unreleased({"for": "a", "shares": {"surname": "1/10"}}) is None


def test_a_charge_found_again_buys_what_it_paid_for_and_costs_nothing_more(ledger, path):
    ledger.charge(Fraction(1, 3), "mine", {"for": "a"})
    before = path.read_bytes()
    budget = Ledger.open(path).unreleased({"for": "a"}).budget
    assert path.read_bytes() == before
    budget.laplace([1], sensitivity=1, epsilon=Fraction(1, 3))
    with pytest.raises(BudgetExceeded):
        budget.laplace([1], sensitivity=1, epsilon=Fraction(1, 10**6))


def test_the_first_of_two_charges_that_nothing_came_of_is_found_first(ledger):
    numbers = [ledger.charge(TENTH, "mine", {}).number for _ in range(3)]
    found = []
    while charge := ledger.unreleased({}):
        found.append(charge.number)
        ledger.released(charge, "8a5c")
    assert found == numbers
    assert ledger.state.spent == 3 * TENTH


@pytest.mark.parametrize("name", ["Hôpital", "a\nb", "\ud800", "😀", ""])
def test_a_charge_is_found_by_parameters_of_any_text(path, ledger, name):
    charge = ledger.charge(TENTH, "mine", {"owner": name})
    assert Ledger.open(path).unreleased({"owner": name}).number == charge.number


def test_in_a_damaged_ledger_no_charge_is_found(ledger, path):
    ledger.charge(TENTH, "mine", {})
    path.write_bytes(path.read_bytes().replace(b'"entry": 1', b'"entry": 2'))
    with pytest.raises(InvalidLedger, match="damaged"):
        ledger.unreleased({})


@posix
def test_what_a_kill_left_while_the_ledger_was_made_is_deleted(tmp_path):
    ledger = Ledger(tmp_path / "hospital.ledger", "hospital", Fraction(1))
    ledger.charge(TENTH, "mine", {})
    left = tmp_path / ".hospital.ledger.0123abcd.part"
    left.hardlink_to(ledger.path)  # as before the first of its two names is deleted
    ledger.charge(TENTH, "mine", {})
    assert not left.exists()
    assert ledger.state.spent == 2 * TENTH
