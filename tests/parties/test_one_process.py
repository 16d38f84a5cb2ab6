from dataclasses import replace

import numpy as np
import polars as pl
import pytest

from gramlink.deciding.links import decide
from gramlink.errors import InvalidParameter, InvalidRecords, InvalidSchema
from gramlink.lab.datasets import corrupt, sample, surnames
from gramlink.lab.datasets.persons import persons
from gramlink.lab.rivals.edit_distance import within_edits
from gramlink.lab.scores import score
from gramlink.matching import chance
from gramlink.parties import one_process
from gramlink.parties.one_process import (
    deduplicate,
    duplicates_warning,
    likely_duplicates,
    link,
)
from gramlink.records.fields import ALPHABET, CATCH_ALL, Field
from gramlink.records.reading import read_records
from gramlink.records.schema import Schema
from gramlink.records.strings import Strings
from strategies import frequent_grams

COUNT = 300
NAMES = sample(surnames(), COUNT, seed=7)
TEXTS = Strings.of(NAMES, ALPHABET + CATCH_ALL)
COPIES = tuple(corrupt(TEXTS, 1, seed=8))
GRAMS = frequent_grams(surnames()[:5000])  # of a public list, not of the records
SCHEMA = Schema(fields=(Field(name="surname", miner="public", grams=GRAMS),))

LEFT = pl.DataFrame({"id": [f"{n:05d}" for n in range(COUNT)], "surname": NAMES})
RIGHT = pl.DataFrame({"id": [f"{n:04d}b" for n in range(COUNT)], "surname": COPIES})
RIGHT = RIGHT.sample(fraction=1, shuffle=True, seed=9)
TRUTH = {(f"{n:05d}", f"{n:04d}b") for n in range(COUNT)}


@pytest.fixture(autouse=True)
def quickly(monkeypatch):
    """As many random pairs as small files need."""
    monkeypatch.setattr(chance, "RANDOM_PAIRS", 100_000)


def pairs(links):
    return set(zip(links.left, links.right, strict=True))


@pytest.fixture(scope="module")
def links():
    return link(LEFT, RIGHT, SCHEMA)


def test_300_surnames_with_up_to_1_edit_are_linked_well(links):
    scores = score(pairs(links), TRUTH)
    assert scores.f1 > 0.95
    # and not better than edit distance on the plain text, which privacy is measured against
    plain = decide(
        within_edits(TEXTS, Strings.of(COPIES, TEXTS.symbols), 1),
        sorted(LEFT["id"]),
        sorted(RIGHT["id"]),
        "one-to-one",
    )
    assert scores.f1 <= score(pairs(plain), TRUTH).f1 + 0.01


def test_ids_keep_their_leading_zeros_and_each_is_linked_once(links):
    assert "00000" in LEFT["id"]
    assert set(links.left) <= set(LEFT["id"])
    assert set(links.right) <= set(RIGHT["id"])
    assert len(set(links.left)) == len(set(links.right)) == len(links)


def test_links_come_with_their_distances(links):
    assert links.details.columns == ["distance", "match_probability"]
    assert links.details.height == len(links)
    assert links.details["distance"].min() == 0
    assert links.to_polars().columns == ["id_left", "id_right", *links.details.columns]


def test_files_link_as_frames_do(tmp_path, links):
    LEFT.write_csv(tmp_path / "left.csv")
    RIGHT.write_parquet(tmp_path / "right.parquet")
    listed = ", ".join(f'"{gram}"' for gram in GRAMS)
    toml = tmp_path / "linkage.toml"
    toml.write_text(f'[fields.surname]\nminer = "public"\ngrams = [{listed}]\n')
    assert pairs(link(tmp_path / "left.csv", tmp_path / "right.parquet", toml)) == pairs(links)
    found = link(str(tmp_path / "left.csv"), str(tmp_path / "right.parquet"), str(toml))
    assert pairs(found) == pairs(links)


def test_pandas_frames_link_as_polars_frames_do(links):
    assert pairs(link(LEFT.to_pandas(), RIGHT.to_pandas(), SCHEMA)) == pairs(links)


def test_the_order_of_the_rows_does_not_matter(links):
    turned = link(LEFT.reverse(), RIGHT.sort("surname"), SCHEMA)
    assert pairs(turned) == pairs(links)


def test_without_edits_only_equal_vectors_are_linked():
    schema = SCHEMA.model_copy(update={"edits": 0, "decide": "all"})
    links = link(LEFT, LEFT.with_columns(id="x" + pl.col("id")), schema)
    assert set(links.details["distance"]) == {0}
    assert {(one, "x" + one) for one in LEFT["id"]} <= pairs(links)


def test_mined_grams_link_too():
    schema = Schema(fields=(Field(name="surname", miner="exact"),))
    assert score(pairs(link(LEFT, RIGHT, schema)), TRUTH).f1 > 0.9


def test_a_schema_or_a_column_that_is_not_there_is_refused(tmp_path):
    with pytest.raises(InvalidSchema, match="cannot be read"):
        link(LEFT, RIGHT, tmp_path / "linkage.toml")
    with pytest.raises(InvalidRecords, match="surname"):
        link(LEFT.drop("surname"), RIGHT, SCHEMA)


# several fields

PEOPLE = persons(400, overlap=0.5, seed=5)
PERSON = Schema(
    fields=(
        Field(name="given", column="given_name", miner="public", grams=GRAMS),
        Field(name="surname", miner="public", grams=GRAMS),
        Field(name="born", column="date_of_birth", kind="date"),
        Field(name="sex", kind="category"),
        Field(name="postcode", kind="digits"),
    )
)
SAME = set(PEOPLE.truth.rows())


@pytest.fixture(scope="module")
def person_links():
    return link(PEOPLE.left, PEOPLE.right, PERSON)


def test_persons_are_linked_better_by_several_fields_than_by_one(person_links):
    together = score(pairs(person_links), SAME)
    assert together.f1 > 0.95
    one = Schema(fields=(PERSON["surname"],))
    assert score(pairs(link(PEOPLE.left, PEOPLE.right, one)), SAME).f1 < together.f1 - 0.2


def test_links_of_several_fields_come_with_weights_and_levels(person_links):
    details = person_links.details
    assert details.columns == ["match_weight", "match_probability"] + [
        f"level_{field.name}" for field in PERSON.fields
    ]
    assert details.height == len(person_links)
    assert details["match_probability"].is_between(PERSON.accept, 1).all()
    assert details["level_born"][details["match_weight"].arg_max()] == "equal"


def test_the_order_of_the_rows_hardly_matters_to_several_fields(person_links):
    turned = link(PEOPLE.left.reverse(), PEOPLE.right.sort("surname", "id"), PERSON)
    # the model is fitted to pairs at random, which are others then
    assert len(pairs(turned) ^ pairs(person_links)) <= 0.05 * len(person_links)


def test_the_format_of_dates_is_recognised_in_each_file_on_its_own(person_links):
    day = pl.col("date_of_birth").str.to_date()
    right = PEOPLE.right.with_columns(date_of_birth=day.dt.strftime("%d.%m.%Y"))
    assert pairs(link(PEOPLE.left, right, PERSON)) == pairs(person_links)


def test_a_stricter_schema_accepts_fewer_links(person_links):
    strict = PERSON.model_copy(update={"accept": 0.999})
    found = link(PEOPLE.left, PEOPLE.right, strict)
    assert pairs(found) <= pairs(person_links)
    assert len(found) < len(person_links)


# duplicates within one file


def twice(count=150):
    """A file in which some persons stand a second time, with errors."""
    people = persons(count, overlap=1, seed=6)
    some = people.truth.head(count // 3)
    again = people.right.filter(pl.col("id").is_in(some["id_right"].implode()))
    return pl.concat([people.left, again]), set(some.rows())


def test_duplicates_are_found_and_nothing_is_spent():
    frame, truth = twice()
    mined = PERSON.model_copy(
        update={"fields": tuple(Field(name=f.name, column=f.column, kind=f.kind)
                                for f in PERSON.fields)}
    )  # fmt: skip
    found = deduplicate(read_records(frame, mined), mined)
    unordered = {tuple(sorted(pair)) for pair in pairs(found.links)}
    scores = score(unordered, truth)
    assert scores.f1 > 0.9
    assert len(unordered) == len(found.links)  # each pair once, in one order
    assert found.model is not None
    assert found.precision > 0.8


@pytest.mark.parametrize("duplicates", [0, 5])
def test_members_of_a_household_are_no_duplicates(duplicates):
    people = persons(1000, overlap=1, seed=4)
    some = people.truth.head(duplicates)
    again = people.right.filter(pl.col("id").is_in(some["id_right"].implode()))
    frame = pl.concat([people.left, again])
    found = deduplicate(read_records(frame, PERSON), PERSON).links
    assert len(found) <= 2 * duplicates + 5


def test_no_record_is_a_duplicate_of_itself():
    frame, _ = twice()
    found = deduplicate(read_records(frame, PERSON), PERSON)
    both = [*pairs(found.links), *pairs(found.possible)]
    assert all(one != other for one, other in both)


def test_duplicates_are_not_looked_for_in_one_field():
    with pytest.raises(InvalidParameter, match="records with several fields") as caught:
        deduplicate(read_records(LEFT, SCHEMA), SCHEMA)
    assert "date of birth" in caught.value.hint


# small and odd files

MILLER, ANDERS = ("Miller", "1980-01-31", "M"), ("Anders", "1981-02-28", "F")
NOBODY, UNBORN = (None, None, None), ("Miller", None, "M")
ODD = {
    "the same person in both": ([MILLER], [MILLER]),
    "two different persons": ([MILLER], [ANDERS]),
    "nothing known": ([NOBODY], [NOBODY]),
    "nothing known in one": ([MILLER], [NOBODY]),
    "two persons in both": ([MILLER, ANDERS], [ANDERS, MILLER]),
    "everybody is the same": ([MILLER] * 50, [MILLER] * 50),
    "a field that is missing everywhere": ([UNBORN] * 5, [(*ANDERS[:1], None, "F")] * 5),
    "some of everything": ([MILLER, ANDERS, NOBODY], [MILLER, ANDERS, NOBODY]),
}
TINY = Schema(
    fields=(
        Field(name="surname", miner="public", grams=GRAMS),
        Field(name="born", kind="date"),
        Field(name="sex", kind="category"),
    )
)


def tiny(people, letter):
    ids = [f"{letter}{n}" for n in range(len(people))]
    columns = zip(*people, strict=True)
    names = ("surname", "born", "sex")
    cells = {n: pl.Series(c, dtype=pl.String) for n, c in zip(names, columns, strict=True)}
    return pl.DataFrame({"id": ids, **cells})


@pytest.mark.parametrize("people", ODD.values(), ids=ODD)
@pytest.mark.parametrize("passes", [(), ({"surname": 1},)], ids=["chosen", "stated"])
@pytest.mark.parametrize("rule", ["one-to-one", "all"])
def test_small_and_odd_files_are_linked_without_ado(people, passes, rule):
    schema = TINY.model_copy(update={"passes": passes, "decide": rule})
    left, right = (tiny(side, letter) for side, letter in zip(people, "ab", strict=True))
    found = link(left, right, schema)
    assert set(found.left) <= set(left["id"])
    assert set(found.right) <= set(right["id"])
    assert found.details["match_probability"].is_between(0.5, 1).all()
    assert found.details["match_weight"].is_finite().all()


@pytest.mark.parametrize("people", [left for left, _ in ODD.values()], ids=ODD)
@pytest.mark.parametrize("passes", [(), ({"surname": 1},)], ids=["chosen", "stated"])
def test_duplicates_are_looked_for_in_small_and_odd_files_without_ado(people, passes):
    schema = TINY.model_copy(update={"passes": passes})
    frame = tiny(people, "a")
    found = deduplicate(read_records(frame, schema), schema)
    assert all(one != other for one, other in pairs(found.links))
    if len(people) == 1:
        assert len(found.links) == len(found.possible) == 0


LISTED = Schema(
    fields=(
        Field(name="given_name"),
        Field(name="surname"),
        Field(name="date_of_birth", kind="date"),
        Field(name="postcode", kind="digits"),
    )
)


def file_of(twice, count=600):
    """Records, of which so many are there twice, the second time as another clerk wrote them."""
    both = persons(count, overlap=1.0, seed=5)
    again = both.truth.head(twice)["id_right"].implode()
    frame = pl.concat([both.left, both.right.filter(pl.col("id").is_in(again))])
    return read_records(frame, LISTED)


@pytest.mark.parametrize("twice", [0, 20, 120])
def test_an_owner_learns_how_many_records_are_of_one_person(twice):
    assert likely_duplicates(file_of(twice), LISTED) == pytest.approx(twice, abs=2 + 0.1 * twice)


def test_of_a_large_file_a_part_tells(monkeypatch):
    monkeypatch.setattr(one_process, "ENOUGH_RECORDS", 500)
    records = file_of(120)
    found = likely_duplicates(records, LISTED)
    assert found == pytest.approx(120, rel=0.4)
    order = np.random.default_rng(1).permutation(len(records))
    columns = {name: column.take(order) for name, column in records.columns.items()}
    ids = tuple(records.ids[row] for row in order)
    shuffled = replace(records, ids=ids, columns=columns)
    assert likely_duplicates(shuffled, LISTED) == pytest.approx(found)


def test_a_warning_says_so_and_what_it_does():
    (said,) = duplicates_warning(file_of(120), LISTED)
    assert said.startswith("about 1")
    assert "look like one person twice, though `unique` in linkage.toml says otherwise; " in said
    (said,) = duplicates_warning(file_of(120), LISTED.model_copy(update={"unique": False}))
    assert "person twice; one-to-one links one of the two at most, and whoever has two" in said
    assert duplicates_warning(file_of(0), LISTED) == ()
    assert duplicates_warning(read_records(LEFT, SCHEMA), SCHEMA) == ()
