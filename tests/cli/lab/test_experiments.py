import sys

import pytest


def test_the_list_names_every_experiment_and_where_it_stands_in_the_paper(run):
    from gramlink.lab.experiments import EXPERIMENTS

    lines = run("experiments", "--list").out.splitlines()
    assert [line.split()[0] for line in lines] == list(EXPERIMENTS)
    assert "Figure 4 (UtilPTree), left" in lines[1]


def test_an_experiment_that_does_not_exist_is_refused_before_anything_is_written(refused):
    refused("experiments", "--only", "nonsense", says=["no experiment 'nonsense'", "mining-size"])


def test_a_run_leaves_a_report_and_data(run, folder):
    run("experiments", "--quick", "--only", "datasets", "--out", "here")
    here = folder / "here"
    written = {str(path.relative_to(here)) for path in here.rglob("*") if path.is_file()}
    assert written == {
        "report.html",
        "reproduced.md",
        "data/datasets.csv",
        "data/datasets.parquet",
        "points/datasets.jsonl",
    }
    assert "149,910" in (here / "report.html").read_text("utf-8")


@pytest.mark.parametrize("place", ["file", "file/below"])
def test_a_folder_that_cannot_be_made_is_an_error(refused, folder, place):
    (folder / "file").write_text("", "utf-8")
    refused("experiments", "--only", "datasets", "--out", place, says="file", hint=False)


def test_without_matplotlib_nothing_is_measured(refused, folder, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    refused("experiments", "--only", "datasets", "--out", "here", says="matplotlib")
    assert not (folder / "here").exists()


def test_a_report_is_about_all_that_its_folder_holds(run, folder):
    for name in ("printed", "datasets"):
        run("experiments", "--quick", "--only", name, "--out", "here")
    text = (folder / "here" / "report.html").read_text("utf-8")
    assert text.index("Table 2: the lists") < text.index("Sections 4 and 5: five errors")
    assert "gramlink experiments --quick --only datasets --only printed" in text
