"""Bundles of persons of several fields: of two owners, and of three."""

import csv
import html.parser
import json
import re
import shutil
import sys

import polars as pl
import pytest

from cli.owners import contents
from gramlink import cli
from gramlink.bundles.bundle import Bundle
from gramlink.lab.datasets import persons
from gramlink.matching import chance

TOML = """\
epsilon = 20

[fields.given_name]
size = 40

[fields.surname]
size = 40

[fields.sex]
kind = "category"
length = 1

[fields.date_of_birth]
kind = "date"

[fields.postcode]
kind = "digits"

[fields.phone]
kind = "digits"
"""
THREE = ("clinic", "hospital", "registry")
BUNDLES = [f"{name}.bundle" for name in THREE]


def write_files(folder):
    """Three owners: the first two of `persons`, and a third that has every other of the first."""
    two = persons(300, overlap=0.6, seed=4)
    third = two.left[::2].with_columns(id=pl.col("id").str.replace("A", "C"))
    for name, frame in zip(THREE, (two.left, two.right, third), strict=True):
        frame.write_csv(folder / f"{name}.csv")
    two.truth.write_csv(folder / "truth.csv")
    (folder / "linkage.toml").write_text(TOML)


def quietly(patch, line):
    patch.setattr(sys, "argv", ["gramlink", *line.split(), "--quiet"])
    with pytest.raises(SystemExit) as end:
        cli.main()
    assert not end.value.code, line


@pytest.fixture(scope="session")
def embedded(tmp_path_factory):
    """A folder with the bundles of three owners."""
    folder = tmp_path_factory.mktemp("three")
    write_files(folder)
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        for name in THREE:
            quietly(patch, f"mine {name}.csv")
        quietly(patch, "merge " + " ".join(f"{name}.mined.json" for name in THREE))
        for name in THREE:
            quietly(patch, f"embed {name}.csv")
    return folder


@pytest.fixture
def three(embedded, folder, monkeypatch):
    """The working folder, with the bundles of three owners."""
    monkeypatch.setattr(chance, "RANDOM_PAIRS", 100_000)
    for path in folder.iterdir():
        path.unlink()
    shutil.copytree(embedded, folder, dirs_exist_ok=True)
    return folder


def rows(path):
    with path.open(newline="") as file:
        return list(csv.DictReader(file))


class Page(html.parser.HTMLParser):
    """All that a page would load."""

    def __init__(self, text):
        super().__init__()
        self.open, self.loaded = [], []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag, attrs):
        if tag != "meta":
            self.open.append(tag)
        names = ("src", "href", "xlink:href", "srcset", "data", "action")
        self.loaded += [value for name, value in attrs if name in names]

    def handle_endtag(self, tag):
        assert self.open.pop() == tag


def test_links_come_without_weights_or_levels(run, three):
    said = run("link", *BUNDLES[:2]).out
    assert (three / "links.csv").read_text().splitlines()[0] == "id_left,id_right"
    assert (three / "links-possible.csv").read_text().splitlines()[0] == "id_left,id_right"
    assert "estimated precision" in said
    assert "wrote links-model.json" in said
    assert len(rows(three / "links.csv")) > 150


def test_with_details_they_have_weights_and_levels(run, three):
    run("link", *BUNDLES[:2])
    bare = [(one["id_left"], one["id_right"]) for one in rows(three / "links.csv")]
    run("link", *BUNDLES[:2], "--details")
    detailed = rows(three / "links.csv")
    assert [(one["id_left"], one["id_right"]) for one in detailed] == bare
    levels = [f"level_{name}" for name in ("given_name", "surname", "sex")]
    assert list(detailed[0])[:7] == [
        "id_left", "id_right", "match_weight", "match_probability", *levels,
    ]  # fmt: skip
    assert all(0.5 <= float(one["match_probability"]) <= 1 for one in detailed)
    header = (three / "links-possible.csv").read_text().splitlines()[0]
    assert header == ",".join(detailed[0])


def test_possible_links_are_of_other_records_than_the_links(run, three):
    run("link", *BUNDLES[:2])
    linked, possible = rows(three / "links.csv"), rows(three / "links-possible.csv")
    for side in ("id_left", "id_right"):
        assert not {one[side] for one in linked} & {one[side] for one in possible}


def test_the_model_beside_the_links_is_of_these_fields_and_holds_no_record(run, three):
    run("link", *BUNDLES[:2], "-o", "found.csv")
    text = (three / "found-model.json").read_text()
    model = json.loads(text)
    assert list(model["levels"]) == [
        "given_name", "surname", "sex", "date_of_birth", "postcode", "phone",
    ]  # fmt: skip
    for path in BUNDLES[:2]:
        bundle = Bundle.from_bytes((three / path).read_bytes(), path)
        assert not any(one in text for one in bundle.ids)
    assert {path.name for path in three.glob("found*")} == {
        "found.csv", "found-possible.csv", "found-model.json",
    }  # fmt: skip


def test_the_summary_as_json_has_passes_weights_and_estimates(run, three):
    summary = json.loads(run("link", *BUNDLES[:2], "--json").out)
    (pair,) = summary["pairs"]
    assert (pair["left"], pair["right"]) == ("clinic", "hospital")
    assert pair["links"] == summary["links"] == len(rows(three / "links.csv"))
    assert 0.9 < pair["precision"] <= 1
    assert pair["weights"]["surname"]["equal"] > 0 > pair["weights"]["surname"]["farther"]
    assert sum(one["added"] for one in pair["passes"]) > 0
    assert pair["warnings"] == []


def test_the_report_is_a_page_that_loads_nothing(run, three):
    run("link", *BUNDLES[:2], "--report", "page.html")
    page = (three / "page.html").read_text()
    parsed = Page(page)
    assert not parsed.open
    assert not [one for one in parsed.loaded if not one.startswith("#")]
    assert not re.findall(r"<script|<link|<img|@import|url\((?!#)", page)
    assert "estimated recall" in page
    for path in BUNDLES[:2]:
        bundle = Bundle.from_bytes((three / path).read_bytes(), path)
        assert not any(one in page for one in bundle.ids)


def test_the_order_of_the_bundles_does_not_matter(run, three):
    run("link", *BUNDLES[:2])
    before = contents(three)
    run("link", *BUNDLES[1::-1])
    assert contents(three) == before


def test_a_report_about_one_field_is_refused_before_anything_is_written(done, refused):  # noqa: ARG001
    refused(
        "link", "hospital.bundle", "registry.bundle", "--report", "page.html", "-o", "new.csv",
        says="needs records of several fields",
    )  # fmt: skip


def test_one_bundle_is_not_linked(three, refused):  # noqa: ARG001
    refused("link", BUNDLES[0], says=["at least two bundles", "gramlink dedupe"])


def test_a_bundle_is_not_replaced_by_the_links(three, refused):  # noqa: ARG001
    refused("link", *BUNDLES[:2], "-o", BUNDLES[0], says="would replace")


def test_a_bundle_is_not_replaced_by_the_report(three, refused):  # noqa: ARG001
    refused("link", *BUNDLES[:2], "--report", BUNDLES[0], says="would replace")


def test_the_report_and_the_links_are_not_the_same_file(three, refused):  # noqa: ARG001
    refused("link", *BUNDLES[:2], "-o", "x.html", "--report", "x.html", says="x.html")


# three


def test_three_bundles_make_clusters_and_files_for_each_two(run, three):
    before = set(contents(three))
    said = run("link", *BUNDLES, "--report", "page.html").out
    pairs = ("clinic-hospital", "clinic-registry", "hospital-registry")
    assert set(contents(three)) - before == {
        "links.csv",
        *(f"links-{pair}-possible.csv" for pair in pairs),
        *(f"links-{pair}-model.json" for pair in pairs),
        *(f"page-{pair}.html" for pair in pairs),
    }
    found = pl.read_csv(three / "links.csv", infer_schema=False)
    assert found.columns == ["cluster", "owner", "id"]
    assert set(found["owner"]) == set(THREE)
    per_owner = found.group_by("cluster", "owner").len()
    assert per_owner["len"].max() == 1
    assert f"{found['cluster'].n_unique()} clusters of 3 owners' records" in said.replace(",", "")


def test_every_owner_maps_its_part_of_the_clusters_back(run, three):
    run("link", *BUNDLES)
    for name in THREE:
        run("results", "links.csv", f"{name}.csv")
    mapped = {name: pl.read_csv(three / f"{name}-links.csv", infer_schema=False) for name in THREE}
    own = {
        name: dict(frame.filter(pl.col("owner") == name).select("id", "cluster").iter_rows())
        for name, frame in mapped.items()
    }
    for name in THREE:
        ids = set(pl.read_csv(three / f"{name}.csv", infer_schema=False)["id"])
        assert set(own[name]) <= ids
    # the third owner's records are copies of the first one's
    same = sum(own["clinic"].get(one.replace("C", "A")) == place
               for one, place in own["registry"].items())  # fmt: skip
    assert same > 0.97 * 150


def test_the_summary_of_three_has_the_links_of_each_two(run, three):
    summary = json.loads(run("link", *BUNDLES, "--json").out)
    assert [(pair["left"], pair["right"]) for pair in summary["pairs"]] == [
        ("clinic", "hospital"), ("clinic", "registry"), ("hospital", "registry"),
    ]  # fmt: skip
    assert (three / "links.csv").exists()


def test_the_same_owner_twice_is_refused(three, refused):  # noqa: ARG001
    refused(
        "link",
        BUNDLES[0],
        BUNDLES[1],
        BUNDLES[0],
        says="there are two bundles from clinic",
        hint=False,
    )
