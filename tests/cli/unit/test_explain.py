import csv
import json
import shutil
import sys

import pytest

from cli.owners import edit
from cli.test_several_owners import BUNDLES, embedded  # noqa: F401
from gramlink import cli
from gramlink.bundles.bundle import Bundle


def ids(folder, place):
    path = folder / BUNDLES[place]
    return Bundle.from_bytes(path.read_bytes(), path.name).ids


@pytest.fixture(scope="module")
def done_once(embedded, tmp_path_factory):  # noqa: F811
    """A folder with a model and links, made once."""
    folder = tmp_path_factory.mktemp("explained")
    shutil.copytree(embedded, folder, dirs_exist_ok=True)
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        patch.setattr(sys, "argv", ["gramlink", "link", *BUNDLES[:2], "--details", "--quiet"])
        with pytest.raises(SystemExit):
            cli.main()
    return folder


@pytest.fixture
def linked(done_once, folder):
    """The working folder, with bundles, links and their model."""
    for path in folder.iterdir():
        path.unlink()
    shutil.copytree(done_once, folder, dirs_exist_ok=True)
    return folder


def links(folder):
    with (folder / "links.csv").open(newline="") as file:
        return list(csv.DictReader(file))


def explain(*pseudonyms):
    return ["explain", "links-model.json", *BUNDLES[:2], *pseudonyms]


def test_a_linked_pair_is_explained_as_it_was_weighed(run, linked):
    for one in links(linked)[::40]:
        told = json.loads(run(*explain(one["id_left"], one["id_right"]), "--json").out)
        assert told["weight"] == pytest.approx(float(one["match_weight"]), abs=0.001)
        assert told["probability"] == pytest.approx(float(one["match_probability"]), abs=1e-5)
        for reason in told["reasons"]:
            assert reason["level"] == one[f"level_{reason['field']}"]
        total = (
            told["together"]
            + told["related"]
            + sum(r["weight"] + r["rarity"] for r in told["reasons"])
        )
        assert total == pytest.approx(told["weight"])


def test_it_is_printed_a_line_for_each_field(run, linked):
    one = links(linked)[0]
    lines = run(*explain(one["id_left"], one["id_right"])).out.splitlines()
    assert lines[0].startswith("probably one person, with a probability of ")
    assert float(lines[0].split()[7]) > 0.9
    steps = lines[lines.index("") + 2 :]
    assert [line.split()[0] for line in steps] == [
        "given_name", "surname", "sex", "date_of_birth", "postcode", "phone",
        "together", "relatives", "prior", "rivals", "log", "match", "probability",
    ]  # fmt: skip


def test_a_pair_that_is_not_linked_is_explained_too(run, linked):
    one, other = links(linked)[:2]
    told = json.loads(run(*explain(one["id_left"], other["id_right"]), "--json").out)
    assert told["probability"] < 0.5
    assert told["weight"] < float(one["match_weight"])


def test_the_start_of_a_pseudonym_is_enough(run, linked):
    one = links(linked)[0]
    whole = run(*explain(one["id_left"], one["id_right"])).out
    assert run(*explain(one["id_left"][:10], one["id_right"][:10])).out == whole


def test_the_order_of_the_bundles_does_not_matter(run, linked):
    one = links(linked)[0]
    whole = run(*explain(one["id_left"], one["id_right"])).out
    pair = (one["id_left"], one["id_right"])
    assert run("explain", "links-model.json", *BUNDLES[1::-1], *pair).out == whole


def test_an_unknown_pseudonym_is_refused(linked, refused):
    left, right = ids(linked, 0)[0], ids(linked, 1)[0]
    refused(*explain("nobody", right), says=["no record of clinic", "'nobody'"])
    refused(*explain(left, "nobody"), says=["no record of hospital", "'nobody'"])


def test_pseudonyms_in_the_other_order_are_refused_with_whose_comes_first(linked, refused):
    left, right = ids(linked, 0)[0], ids(linked, 1)[0]
    refused(*explain(right, left), says=["no record of clinic", "the owner whose name sorts first"])


def test_a_start_that_several_have_is_refused(linked, refused):
    left, right = ids(linked, 0)[0], ids(linked, 1)[0]
    many = sum(one.startswith(left[0]) for one in ids(linked, 0))
    assert many > 1
    refused(*explain(left[0], right), says=f"{many} records of clinic have a pseudonym")
    refused(*explain(left, right[0]), says="records of hospital have a pseudonym")


def test_the_hint_says_what_to_do_about_a_start_that_several_have(linked, refused):
    left, right = ids(linked, 0)[0], ids(linked, 1)[0]
    refused(*explain(left[0], right), says="give more of the pseudonym")
    refused(*explain(left, right[0]), says="give more of the pseudonym")


def test_a_model_of_other_fields_is_refused(linked, refused):
    text = (linked / "links-model.json").read_text().replace('"phone"', '"telephone"')
    (linked / "links-model.json").write_text(text)
    left, right = ids(linked, 0)[0], ids(linked, 1)[0]
    refused(*explain(left, right), says=["has other fields than the bundles", "use the model"])


def test_a_damaged_model_and_other_files_are_refused(linked, refused):
    left, right = ids(linked, 0)[0], ids(linked, 1)[0]
    refused(
        "explain", "projection.json", *BUNDLES[:2], left, right,
        says="projection.json is not a model file but a projection file",
    )  # fmt: skip
    refused("explain", "nothing.json", *BUNDLES[:2], left, right, says="cannot be read", hint=False)
    edit(linked / "links-model.json", '"pairs"', '"couples"')
    refused(*explain(left, right), says=["links-model.json is damaged", "link again"])
