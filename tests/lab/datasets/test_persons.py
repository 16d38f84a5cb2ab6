import hashlib
import math
import re
from dataclasses import FrozenInstanceError
from datetime import date

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gramlink.errors import InvalidParameter
from gramlink.lab.datasets import persons
from gramlink.lab.datasets.frequencies import Frequencies
from gramlink.lab.datasets.given_names import NAMES, NICKNAMES
from gramlink.lab.datasets.households import population
from gramlink.lab.datasets.places import homes
from gramlink.lab.datasets.recording_errors import MISSING, TYPOS, misrecord
from gramlink.lab.datasets.typing_errors import misdate, mistype
from reference.edits import levenshtein

FIELDS = ["given_name", "surname", "sex", "date_of_birth", "street", "city", "postcode", "phone"]
SEEDS = st.integers(0, 2**32)
COUNT = 40_000
LIMITS = date(1900, 1, 1), date(2024, 12, 31)


def source(seed=1):
    return np.random.default_rng(seed)


PEOPLE = population(COUNT, source())
RECORDED = misrecord(PEOPLE, 1.0, source(2))
BORN = PEOPLE["date_of_birth"].str.to_date("%Y-%m-%d")
OF_AGE = PEOPLE["date_of_birth"] <= "2007-01-01"


def near(hits, rate, spread=5):
    """Whether as many of the hits are true as the rate says, but for chance."""
    hits = hits.drop_nulls()
    return abs(hits.mean() - rate) < spread * math.sqrt(rate * (1 - rate) / len(hits))


def paired(two):
    """The true pairs: each person's left record and right record."""
    left, right = two.truth.join(two.left, left_on="id_left", right_on="id"), two.right
    return left.join(right, left_on="id_right", right_on="id", suffix="_right")


def digest(two):
    text = two.left.write_csv() + two.right.write_csv() + two.truth.write_csv()
    return hashlib.sha256(text.encode()).hexdigest()


# two files and the truth


@settings(deadline=None, max_examples=25)
@given(
    count=st.integers(1, 60),
    overlap=st.floats(0, 1),
    seed=SEEDS,
    errors=st.sampled_from([0, 0.5, 1.0, 8]),
)
def test_the_files_and_the_truth_are_what_was_asked_for(count, overlap, seed, errors):
    two = persons(count, overlap=overlap, seed=seed, errors=errors)
    for file, letter in ((two.left, "A"), (two.right, "B")):
        assert file.columns == ["id", *FIELDS]
        assert set(file.dtypes) == {pl.String}
        assert file["id"].to_list() == [f"{letter}{row:07}" for row in range(1, count + 1)]
        assert not any((file[column] == "").any() for column in FIELDS)
    assert two.truth.columns == ["id_left", "id_right"]
    assert len(two.truth) == round(count * overlap)
    assert two.truth["id_left"].n_unique() == two.truth["id_right"].n_unique() == len(two.truth)
    assert len(paired(two)) == len(two.truth)


@settings(deadline=None, max_examples=15)
@given(count=st.integers(1, 200), overlap=st.floats(0, 1), seed=SEEDS)
def test_without_errors_a_persons_two_records_are_the_same(count, overlap, seed):
    two = persons(count, overlap=overlap, seed=seed, errors=0)
    pairs = paired(two)
    for column in FIELDS:
        assert pairs[column].null_count() == 0
        assert (pairs[column] == pairs[column + "_right"]).all()


@pytest.mark.parametrize("overlap", [0, 1])
def test_the_files_can_share_nobody_or_everybody(overlap):
    two = persons(500, overlap=overlap, seed=3, errors=0)
    same = two.left.join(two.right, on=FIELDS)
    assert len(same) == len(two.truth) == 500 * overlap


def test_two_files_of_one_person_can_be_made():
    two = persons(1, overlap=1, seed=4)
    assert two.truth.rows() == [("A0000001", "B0000001")]
    assert persons(1, overlap=0, seed=4).truth.is_empty()


def test_the_values_are_frozen():
    two = persons(1, seed=1)
    with pytest.raises(FrozenInstanceError):
        two.left = two.right


def test_the_same_arguments_make_the_same_files_and_others_make_others():
    files = {
        digest(persons(300, overlap=overlap, seed=seed, errors=errors))
        for overlap, seed, errors in [(0.5, 1, 1), (0.4, 1, 1), (0.5, 2, 1), (0.5, 1, 2)]
        for _ in range(2)
    }
    assert len(files) == 4


def test_the_files_are_the_same_on_every_machine():
    # if this fails, published figures on generated persons no longer hold
    assert digest(persons(1000, seed=1)) == (
        "9346fe62285e4ba203759988d40c02b3284e78faff2d3136ac6a068ca9e43d96"
    )


def test_ids_and_rows_say_nothing_about_who_is_who():
    count, both = 4000, 2000
    truth = persons(count, overlap=0.5, seed=5).truth
    left, right = (truth[name].str.slice(1).cast(pl.Int64).to_numpy() for name in truth.columns)
    assert abs(np.corrcoef(left, right)[0, 1]) < 5 / math.sqrt(both)
    assert (left == right).sum() < 10
    for rows in (left, right):  # nor is a row of either file the likelier to have a partner
        assert abs(rows.mean() - count / 2) < 5 * count / math.sqrt(12 * both)


def test_households_are_spread_over_the_files():
    left = persons(2000, seed=6, errors=0).left["street"].to_numpy()
    assert (left[1:] == left[:-1]).sum() < 10


@pytest.mark.parametrize(
    ("wrong", "says"),
    [
        ({"count": 0}, "not 0"),
        ({"count": -5}, "not -5"),
        ({"count": 10_000_000}, "10000000"),
        ({"overlap": -0.1}, "-0.1"),
        ({"overlap": 1.1}, "1.1"),
        ({"overlap": math.nan}, "nan"),
        ({"errors": -1}, "-1"),
        ({"errors": 9}, "between 0 and 8"),
        ({"errors": math.nan}, "nan"),
        ({"seed": -1}, "-1"),
    ],
)
def test_what_makes_no_sense_is_refused_with_a_hint(wrong, says):
    asked = {"count": 10, "seed": 1} | wrong
    with pytest.raises(InvalidParameter, match=says) as caught:
        persons(asked.pop("count"), **asked)
    assert caught.value.hint


# the population


def test_values_look_as_they_should():
    patterns = {
        "given_name": "[A-Z]+",
        "surname": "[A-Z]+",
        "sex": "[FM]",
        "date_of_birth": r"\d{4}-\d\d-\d\d",
        "street": r"[1-9]\d{0,3} [A-Z0-9]+( [A-Z]+){1,2}",
        "city": "[A-Z]+( [A-Z]+)*",
        "postcode": r"\d{5}",
        "phone": r"[2-9]\d{9}",
    }
    for column, pattern in patterns.items():
        assert PEOPLE[column].str.contains(f"^{pattern}$").all(), column
    assert BORN.null_count() == 0
    assert PEOPLE["street"].str.replace(r"^\d+ ", "").n_unique() > 1000


def test_households_share_their_address_and_mostly_their_surname_and_phone():
    home = PEOPLE.group_by("household").agg(pl.all().n_unique(), pl.len())
    assert (home.select("street", "city", "postcode") == 1).to_numpy().all()
    assert set(home["len"]) == {1, 2, 3, 4, 5, 6}
    assert 2.3 < home["len"].mean() < 2.55
    assert (home["surname"] <= 2).all()
    families = home.filter(pl.col("len") > 1)["surname"]
    assert near(families == 2, 0.8 * 0.2)  # couples one of whom kept another surname
    landline = (
        PEOPLE.filter(~pl.col("mobile")).group_by("household").agg(pl.col("phone").n_unique())
    )
    assert (landline["phone"] == 1).all()
    assert near(PEOPLE.filter(OF_AGE)["mobile"], 0.5)
    assert not PEOPLE.filter(~OF_AGE)["mobile"].any()


def test_children_are_younger_than_their_parents_and_have_names_of_their_own():
    homes = PEOPLE.with_columns(born=BORN).group_by("household", maintain_order=True)
    twins = 0
    for _, members in homes:
        born = members["born"].to_list()
        oldest, others = born[0], members[1:]
        if len(others) < 2:
            continue
        children = others[1:]  # the second may be a partner
        assert all((child - oldest).days >= 18 * 366 for child in children["born"])
        assert (oldest - min(born)).days < 10 * 365
        assert children["born"].is_sorted()
        assert children["given_name"].n_unique() == len(children)
        twins += children["born"].n_unique() < len(children)
    assert 5 < twins < 200


def test_ages_are_those_of_a_country():
    age = (2024 - BORN.dt.year()).to_numpy()
    assert age.min() == 0
    assert age.max() < 110
    assert 0.2 < (age < 18).mean() < 0.28
    assert 0.12 < (age >= 65).mean() < 0.2
    assert 0.48 < (PEOPLE["sex"] == "F").mean() < 0.54


def test_a_postcode_has_one_city_and_large_cities_have_many():
    found = homes(100_000, source(7))
    codes = found.group_by("city").agg(pl.col("postcode").n_unique())
    codes = dict(codes.iter_rows())
    assert (found.group_by("postcode").agg(pl.col("city").n_unique())["city"] == 1).all()
    assert codes["CHICAGO"] > 5 * codes["OMAHA"] > 5
    areas = found.group_by("city").agg(pl.col("phone").str.slice(0, 3).n_unique())
    assert (areas["phone"] == 1).all()


def test_surnames_and_cities_are_as_frequent_as_in_the_lists():
    one_each = PEOPLE.group_by("household").first()
    assert near(one_each["surname"] == "SMITH", 2376206 / 242114001)
    assert near(one_each["city"] == "CHICAGO", 2664452 / 222641171)


def test_given_names_follow_sex_and_generation():
    old = PEOPLE.filter(BORN.dt.year() < 1950)
    young = PEOPLE.filter(BORN.dt.year() >= 2000)
    assert {"BETTY", "HAROLD"} < set(old["given_name"])
    assert not {"BETTY", "HAROLD"} & set(young["given_name"])
    assert set(PEOPLE.filter(pl.col("given_name") == "BARBARA")["sex"]) == {"F"}
    counts = PEOPLE["given_name"].value_counts(sort=True)["count"]
    assert len(counts) > 400
    assert counts[0] > 20 * counts[-50]


def test_the_names_are_distinct_and_nicknames_belong_to_names():
    assert NAMES.n_unique() == len(NAMES)
    assert set(NICKNAMES) <= set(NAMES)
    for name, short in NICKNAMES.items():
        assert short
        assert name not in short
        assert all(re.fullmatch("[A-Z]+", nickname) for nickname in short)


def test_a_draw_is_by_frequency_and_never_of_what_nobody_holds():
    letters = Frequencies.of(["A", "B", "C", "D"], [0, 3, 0, 1])
    drawn = letters.draw(10_000, source(8))
    assert set(drawn) == {1, 3}
    assert near(pl.Series(drawn == 1), 0.75)
    assert letters.counts.tolist() == [0, 3, 0, 1]


# errors


@pytest.mark.parametrize("column", MISSING)
def test_as_many_values_are_missing_as_documented(column):
    assert near(RECORDED[column].is_null(), MISSING[column])


def test_as_many_names_are_mistyped_as_documented():
    men = PEOPLE["sex"] == "M"
    changed = PEOPLE["surname"] != RECORDED["surname"]
    assert near(changed.filter(men), TYPOS["surname"])
    assert near(changed.filter(~men & ~OF_AGE), TYPOS["surname"])
    assert near(changed.filter(~men & OF_AGE), 1 - 0.97 * 0.98)
    for name, typed in zip(
        PEOPLE["surname"].filter(men & changed),
        RECORDED["surname"].filter(men & changed),
        strict=True,
    ):
        assert 1 <= levenshtein(name, typed) <= 4  # two edits, a transposition counts twice


def test_as_many_go_by_a_nickname_as_documented():
    whole = PEOPLE["given_name"].is_in(list(NICKNAMES))
    pairs = pl.DataFrame([PEOPLE["given_name"], RECORDED["given_name"].alias("recorded")])
    called = [recorded in NICKNAMES[name] for name, recorded in pairs.filter(whole).iter_rows()]
    assert near(pl.Series(called), 0.03 * 0.97)
    changed = (pairs["given_name"] != pairs["recorded"]).filter(~whole)
    assert near(changed, TYPOS["given_name"])


def test_as_many_dates_are_wrong_as_documented_and_all_are_dates():
    true, recorded = PEOPLE["date_of_birth"], RECORDED["date_of_birth"]
    dates = recorded.str.to_date("%Y-%m-%d", strict=False)
    assert dates.null_count() == recorded.null_count()
    assert dates.max().year == 2024
    swapped = true.str.slice(0, 5) + true.str.slice(8, 2) + "-" + true.str.slice(5, 2)
    can = (true.str.slice(8, 2) <= "12") & (swapped != true)
    assert near((recorded == swapped).filter(can), 0.008 * 0.985)
    wrong = (recorded != true).filter(~can)
    assert near(wrong, 0.015)


def test_as_many_households_move_as_documented_and_all_together():
    moved = (PEOPLE["postcode"] != RECORDED["postcode"]) & (PEOPLE["city"] != RECORDED["city"])
    assert near(moved, 0.06, spread=10)  # households, of which there are fewer than persons
    among = PEOPLE.with_columns(RECORDED["phone"].alias("now"), moved=moved).filter("moved")
    kept = (among["phone"] == among["now"]).filter(among["mobile"])
    assert near(kept, 0.95 * 0.98)
    changed = (among["phone"] != among["now"]).filter(~among["mobile"])
    assert changed.mean() > 0.98  # but for mistyped cities and postcodes of who stayed
    whole = among.join(PEOPLE.group_by("household").len(), on="household")
    assert whole.group_by("household").agg(pl.len() == pl.col("len").first())["len"].mean() > 0.8


def test_as_many_addresses_phones_and_sexes_are_wrong_as_documented():
    stayed = PEOPLE["city"] == RECORDED["city"]
    for column in ("street", "postcode"):
        assert near((PEOPLE[column] != RECORDED[column]).filter(stayed), TYPOS[column], spread=8)
    phone = (PEOPLE["phone"] != RECORDED["phone"]).filter(stayed)
    assert near(phone, 1 - 0.95 * 0.98, spread=8)
    assert near(PEOPLE["sex"] != RECORDED["sex"], 0.003)


def test_more_errors_are_more_errors():
    changed = [
        (misrecord(PEOPLE, errors, source(9))["street"].is_null()).mean() for errors in (0.5, 4)
    ]
    assert changed == pytest.approx([0.015, 0.12], rel=0.2)


def test_recording_leaves_the_population_as_it_was():
    before = PEOPLE.clone()
    misrecord(PEOPLE, 8, source(10))
    assert PEOPLE.equals(before)


# typos


def one_edit(before, after):
    swaps = (
        before[:i] + before[i + 1] + before[i] + before[i + 2 :] for i in range(len(before) - 1)
    )
    return levenshtein(before, after) == 1 or after in swaps


@settings(deadline=None, max_examples=100)
@given(texts=st.lists(st.text("ABC12", min_size=1, max_size=6), max_size=8), seed=SEEDS)
def test_a_typo_is_one_edit_that_shows(texts, seed):
    typed = mistype(pl.Series(texts, dtype=pl.String), source(seed)).to_list()
    assert len(typed) == len(texts)
    for before, after in zip(texts, typed, strict=True):
        assert after
        assert after != before
        assert one_edit(before, after)


@settings(deadline=None, max_examples=50)
@given(
    texts=st.lists(st.lists(st.text("AB1", min_size=1, max_size=2), min_size=1).map(" ".join)),
    seed=SEEDS,
)
def test_a_typo_leaves_no_blanks_at_the_ends(texts, seed):
    for after in mistype(pl.Series(texts, dtype=pl.String), source(seed)):
        assert after
        assert after == after.strip()


def test_every_edit_and_every_place_is_hit_and_digits_stay_digits():
    typed = set(mistype(pl.Series(["123"] * 5000), source(11)))
    assert {"23", "13", "12", "213", "132"} < typed
    assert {f"{d}123" for d in "0123456789"} | {f"123{d}" for d in "0123456789"} < typed
    assert {f"{d}23" for d in "023456789"} | {f"12{d}" for d in "012456789"} < typed
    assert all(text.isdecimal() for text in typed)
    lengths = pl.Series(list(map(len, mistype(pl.Series(["123456789"] * 6000), source(12)))))
    assert near(lengths == 8, 0.25)
    assert near(lengths == 10, 0.25)


@settings(deadline=None, max_examples=50)
@given(dates=st.lists(st.dates(*LIMITS), max_size=8), seed=SEEDS)
def test_a_wrong_digit_makes_another_date_within_the_limits(dates, seed):
    wrong = misdate(
        pl.Series([day.isoformat() for day in dates], dtype=pl.String), *LIMITS, source(seed)
    )
    for day, text in zip(dates, wrong, strict=True):
        assert sum(a != b for a, b in zip(day.isoformat(), text, strict=True)) == 1
        assert LIMITS[0] <= date.fromisoformat(text) <= LIMITS[1]
