import polars as pl
import pytest

from gramlink.baselines.edit_distance import within_edits
from gramlink.datasets import corrupt, sample, surnames
from gramlink.errors import InvalidRecords, InvalidSchema
from gramlink.evaluation import score
from gramlink.linking import link
from gramlink.links import decide
from gramlink.schema import ALPHABET, CATCH_ALL, Field, Schema
from gramlink.strings import Strings
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
    assert set(links.squared) == {0}
    assert {(one, "x" + one) for one in LEFT["id"]} <= pairs(links)


def test_mined_grams_link_too():
    schema = Schema(fields=(Field(name="surname", miner="exact"),))
    assert score(pairs(link(LEFT, RIGHT, schema)), TRUTH).f1 > 0.9


def test_a_schema_or_a_column_that_is_not_there_is_refused(tmp_path):
    with pytest.raises(InvalidSchema, match="cannot be read"):
        link(LEFT, RIGHT, tmp_path / "linkage.toml")
    with pytest.raises(InvalidRecords, match="surname"):
        link(LEFT.drop("surname"), RIGHT, SCHEMA)
