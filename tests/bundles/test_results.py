import hashlib
import io
import json
import zipfile
from contextlib import suppress

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gramlink.bundles.archive import MANIFEST, pack
from gramlink.bundles.results import Results
from gramlink.errors import InvalidFile

IDS = [f"{n:032x}" for n in range(1, 7)]
BARE = pl.DataFrame({"id_left": IDS[:2], "id_right": IDS[2:4]})
DETAILS = BARE.with_columns(
    match_weight=pl.Series([7.5, -1.25]),
    match_probability=pl.Series([0.999, 0.5]),
    level_surname=pl.Series(["equal", "1 edit"]),
)
NONE = DETAILS.clear()
OWNERS = {"owner_left": ["a", "b"], "owner_right": ["b", "c"]}
CLUSTERS = pl.DataFrame(
    {"cluster": [1, 1, 1, 2, 2], "owner": ["a", "b", "c", "a", "c"], "id": IDS[:5]}
)
COUNT = {"left": "a", "right": "b", "links": 2, "possible": 0, "precision": 0.75, "recall": None}
CASES = {
    "links": ("links", {"links": BARE, "possible": BARE.clear()}),
    "links of one field": ("links", {"links": BARE}),
    "no links": ("links", {"links": BARE.clear()}),
    "weights": ("weights", {"links": DETAILS, "possible": NONE}),
    "distances": ("weights", {"links": BARE.with_columns(distance=pl.Series([0.0, 1.5]))}),
    "counts": ("counts", {}),
    "clusters": (
        "links",
        {"clusters": CLUSTERS, "possible": BARE.hstack(pl.DataFrame(OWNERS))},
    ),
    "clusters with weights": (
        "weights",
        {"clusters": CLUSTERS, "possible": DETAILS.hstack(pl.DataFrame(OWNERS))},
    ),
    "no clusters": ("links", {"clusters": CLUSTERS.clear(), "possible": BARE.clear()}),
}


def results(returns="links", tables=None, **about):
    content = {"owner": "a", "owners": ("a", "b", "c"), "projection": "c0ffee", "counts": (COUNT,)}
    tables = {"links": BARE} if tables is None else tables
    return Results(returns=returns, tables=tables, **{**content, **about})


def contents(one):
    """All that results hold."""
    about = (one.owner, one.owners, one.projection, one.returns, one.counts)
    tables = {name: (dict(table.schema), table.rows()) for name, table in one.tables.items()}
    return about, tables, one.exchange, one.created


@pytest.mark.parametrize(("returns", "tables"), CASES.values(), ids=CASES)
def test_results_come_back_as_they_were_sent(returns, tables):
    sent = results(returns, tables)
    got = Results.from_bytes(sent.to_bytes(), "x.results")
    assert contents(got) == contents(sent)
    assert got.to_bytes() == sent.to_bytes()


@pytest.mark.parametrize(
    "about",
    [
        {"exchange": "stroke-2026"},
        {"created": "2026-03-14T15:09:26Z"},
        {"owner": "St. Mary's", "owners": ("St. Mary's", "b", "病院")},
        {"counts": ()},
        {"counts": (COUNT, {**COUNT, "right": "c", "precision": None, "recall": 1.0})},
    ],
    ids=str,
)
def test_what_results_are_of_comes_back_with_them(about):
    sent = results(**about)
    assert contents(Results.from_bytes(sent.to_bytes(), "x")) == contents(sent)
    assert contents(sent) != contents(results())


@settings(deadline=None, max_examples=40)
@given(
    pairs=st.lists(st.tuples(st.sampled_from(IDS), st.sampled_from(IDS), st.floats(-50, 50))),
    counts=st.tuples(st.integers(0, 10**12), st.integers(0, 10**12)),
    shares=st.tuples(*[st.none() | st.floats(0, 1)] * 2),
)
def test_any_links_and_counts_come_back(pairs, counts, shares):
    columns = {"id_left": pl.String, "id_right": pl.String, "match_weight": pl.Float64}
    table = pl.DataFrame(pairs, schema=columns, orient="row")
    count = dict(zip(COUNT, ("a", "b", *counts, *shares), strict=True))
    sent = results("weights", {"links": table}, counts=(count,))
    assert contents(Results.from_bytes(sent.to_bytes(), "x")) == contents(sent)


def test_a_person_can_read_the_manifest():
    sent = results(*CASES["weights"], exchange="stroke", created="2026-03-14T15:09:26Z")
    with zipfile.ZipFile(io.BytesIO(sent.to_bytes())) as archive:
        assert archive.namelist() == [MANIFEST, "links.parquet", "possible.parquet"]
        manifest = json.loads(archive.read(MANIFEST))
    assert manifest.pop("parts").keys() == {"links.parquet", "possible.parquet"}
    assert manifest == {
        "gramlink": "results",
        "version": 1,
        "exchange": "stroke",
        "owner": "a",
        "owners": ["a", "b", "c"],
        "created": "2026-03-14T15:09:26Z",
        "projection": "c0ffee",
        "returns": "weights",
        "counts": [COUNT],
        "rows": {"links": 2, "possible": 0},
    }


def test_counts_only_are_a_manifest_only():
    with zipfile.ZipFile(io.BytesIO(results("counts", {}).to_bytes())) as archive:
        assert archive.namelist() == [MANIFEST]


# hostile ones


def packed(tables=None, **manifest):
    """Results as somebody might make them by hand, with the right digests."""
    tables = {"links": BARE} if tables is None else tables
    with zipfile.ZipFile(io.BytesIO(results(tables=tables).to_bytes())) as archive:
        content = json.loads(archive.read(MANIFEST))
    content |= manifest
    content = {key: value for key, value in content.items() if value != "(none)"}
    for key in ("gramlink", "version", "parts"):
        content.pop(key)
    return pack("results", content, {f"{name}.parquet": one for name, one in tables.items()})


def count(**changes):
    told = {key: value for key, value in {**COUNT, **changes}.items() if value != "(none)"}
    return packed(counts=[told])


HOSTILE = {
    "nothing": b"",
    "not a zip": b"id_left,id_right\n",
    "no owner": packed(owner="(none)"),
    "no owners": packed(owners="(none)"),
    "owners that are a number": packed(owners=5),
    "no projection": packed(projection="(none)"),
    "no returns": packed(returns="(none)"),
    "returns of everything": packed(returns="everything"),
    "returns that are a list": packed(returns=["links"]),
    "returns that are nothing": packed(returns=None),
    "no counts": packed(counts="(none)"),
    "counts that are a number": packed(counts=5),
    "counts that are a table": packed(counts={"a": 1}),
    "counts that are numbers": packed(counts=[5]),
    "counts that are texts": packed(counts=["abc"]),
    "a count of true": count(links=True),
    "a count below 0": count(possible=-1),
    "half a link": count(links=0.5),
    "a share above all": count(recall=1.5),
    "a share of nothing at all": count(precision="nan"),
    "a time that a terminal would act on": packed(created="\x1b[2J"),
    "a projection that a terminal would act on": packed(projection="\u202e"),
    "a projection that is no text": packed(projection=["c0ffee"]),
    "a count without a side": count(left="(none)"),
    "a count without links": count(links="(none)"),
    "a count without recall": count(recall="(none)"),
    "a count of words": count(links="many"),
    "a count of nothing": count(possible=None),
    "a count of a list": count(possible=[]),
    "a share of words": count(precision="high"),
    "a share of a list": count(recall=[1]),
    "no rows": packed(rows="(none)"),
    "rows that are a number": packed(rows=5),
    "rows that are nothing": packed(rows=None),
    "rows of another table": packed(rows={"clusters": 2}),
    "rows of a table more": packed(rows={"links": 2, "possible": 0}),
    "rows of no table": packed(rows={}),
    "more rows than there are": packed(rows={"links": 3}),
    "rows below 0": packed(rows={"links": -2}),
    "rows that are text": packed(rows={"links": "2"}),
    "no exchange": packed(exchange="(none)"),
    "no time": packed(created="(none)"),
    "a table of another name": packed({"secrets": BARE}),
    "a table by a path": packed({"../links": BARE}),
    "no left ids": packed({"links": BARE.drop("id_left")}),
    "ids that are numbers": packed({"links": BARE.with_columns(id_left=pl.int_range(2))}),
    "clusters without owners": packed({"clusters": CLUSTERS.drop("owner")}),
    "clusters that are text": packed({"clusters": CLUSTERS.cast({"cluster": pl.String})}),
    "pairs in the place of clusters": packed({"clusters": BARE}),
    "a column of lists": packed({"links": BARE.with_columns(x=pl.Series([[1], [2]]))}),
    "a column of bytes": packed({"links": BARE.with_columns(x=pl.Series([b"a", b"b"]))}),
    "a column of whole numbers": packed({"links": BARE.with_columns(x=pl.Series([1, 2]))}),
}


@pytest.mark.parametrize("data", HOSTILE.values(), ids=HOSTILE)
def test_hostile_results_are_refused(data):
    with pytest.raises(InvalidFile, match=r"^x\.results is damaged or not a results") as caught:
        Results.from_bytes(data, "x.results")
    assert caught.value.hint


UNNAMED = {
    "an owner that is a path": packed(owner="a/b"),
    "owners that are paths": packed(owners=["../a", "b"]),
    "a count of a path": count(left="../a"),
    "an exchange that is a path": packed(exchange="../a"),
    "an exchange that is nothing": packed(exchange=None),
}


@pytest.mark.parametrize("data", UNNAMED.values(), ids=UNNAMED)
def test_results_with_names_that_no_file_could_have_are_refused(data):
    with pytest.raises(InvalidFile, match=r"^x\.results is damaged or not a results"):
        Results.from_bytes(data, "x.results")


FORMULA = "=cmd|'/c calc'!A0"
NO_PSEUDONYMS = {
    "a formula": BARE.with_columns(id_right=pl.lit(FORMULA)),
    "a null": BARE.with_columns(id_right=pl.lit(None, pl.String)),
    "capitals": BARE.with_columns(id_left=pl.lit("A" * 32)),
}


@pytest.mark.parametrize("table", NO_PSEUDONYMS.values(), ids=NO_PSEUDONYMS)
def test_ids_that_are_no_pseudonyms_are_refused(table):
    """Owners open what comes of them with a spreadsheet."""
    with pytest.raises(InvalidFile, match=r"^x\.results"):
        Results.from_bytes(packed({"links": table}), "x.results")


def test_another_file_of_ours_is_named():
    with pytest.raises(InvalidFile, match="not a results file but a bundle file"):
        Results.from_bytes(pack("bundle", {}, {}), "x.results")


def test_a_table_that_was_changed_is_noticed():
    data = results().to_bytes()
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        files = {name: archive.read(name) for name in archive.namelist()}
    other = results(tables={"links": BARE.reverse()})
    with zipfile.ZipFile(io.BytesIO(other.to_bytes())) as archive:
        files["links.parquet"] = archive.read("links.parquet")
    changed = io.BytesIO()
    with zipfile.ZipFile(changed, "w") as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    with pytest.raises(InvalidFile, match=r"links\.parquet was changed"):
        Results.from_bytes(changed.getvalue(), "x.results")


def test_a_changed_byte_anywhere_is_noticed_or_changes_nothing():
    data = results().to_bytes()
    for place in range(0, len(data), 5):
        damaged = bytearray(data)
        damaged[place] ^= 4
        with suppress(InvalidFile):
            assert Results.from_bytes(bytes(damaged), "x").to_bytes() == data


def test_results_that_were_cut_anywhere_are_refused():
    data = results().to_bytes()
    for end in [*range(0, len(data), 53), len(data) - 1]:
        with pytest.raises(InvalidFile, match=r"^x\.results is damaged or not a results"):
            Results.from_bytes(data[:end], "x.results")


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text("a1.", max_size=3)
    | st.floats(allow_nan=False, allow_infinity=False),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from([*COUNT, *CASES]), inner, max_size=6)
    ),
    max_leaves=6,
)  # fmt: skip


@settings(deadline=None, max_examples=200)
@given(
    key=st.sampled_from(["owner", "owners", "returns", "counts", "rows", "exchange", "created"]),
    value=JSON,
)
def test_whatever_stands_in_a_manifest_no_other_error_comes_of_it(key, value):
    with suppress(InvalidFile):
        Results.from_bytes(packed(**{key: value}), "x.results")


def test_the_same_results_are_the_same_bytes():
    one, other = (results(*CASES["clusters with weights"]).to_bytes() for _ in range(2))
    assert hashlib.sha256(one).digest() == hashlib.sha256(other).digest()


@pytest.mark.parametrize(
    ("table", "why"),
    [
        (BARE.with_columns(cluster=pl.lit("=1+1")), "have a column 'cluster'"),
        (BARE.with_columns(level_surname=pl.lit("=1+1")), "in level_surname is not as we write it"),
        (BARE.with_columns(owner_left=pl.lit("=1+1")), "in owner_left is not as we write it"),
        (BARE.with_columns(owner_left=pl.lit(1.5)), "its columns are not those of a results"),
        (BARE.with_columns(**{"=1+1": pl.lit(1.5)}), "have a column '=1\\+1'"),
    ],
)
def test_nothing_in_a_table_means_something_to_a_spreadsheet(table, why):
    with pytest.raises(InvalidFile, match=why):
        Results.from_bytes(packed({"links": table}), "x.results")


def test_more_rows_than_anybody_has_are_not_read():
    with pytest.raises(InvalidFile, match="it claims 1000000000 rows of links"):
        Results.from_bytes(packed({"links": BARE}, rows={"links": 10**9}), "x.results")
