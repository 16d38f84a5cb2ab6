import html.parser
import io
import json
import os
import re
import sys
from contextlib import redirect_stdout
from pathlib import Path

import pytest

from cli.owners import contents
from gramlink import cli
from gramlink.records.schema import load_schema

FILES = {
    "linkage.toml",
    "truth.csv",
    "projection.json",
    "report.html",
    *(
        f"{owner}.{kind}"
        for owner in ("hospital", "registry")
        for kind in ("csv", "key", "ledger", "mined.json", "bundle")
    ),
    "links-for-hospital.csv",
    "links-for-registry.csv",
}
QUICK = ["demo", "-n", "200", "--epsilon", "20", "-k", "40", "-o", "here"]


class Page(html.parser.HTMLParser):
    """The tags of a page, and all that it would load."""

    def __init__(self, text):
        super().__init__()
        self.tags, self.loaded = [], []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.loaded += [
            value
            for name, value in attrs
            if name in ("src", "href", "xlink:href", "srcset", "data", "action")
        ]


@pytest.fixture(scope="session")
def shown(tmp_path_factory):
    """A folder of the demo, and what it printed."""
    folder = tmp_path_factory.mktemp("demo")
    out = io.StringIO()
    with pytest.MonkeyPatch.context() as patch, redirect_stdout(out):
        patch.chdir(folder)
        patch.setattr(sys, "argv", ["gramlink", *QUICK])
        with pytest.raises(SystemExit) as end:
            cli.main()
        assert not end.value.code
    return folder / "here", out.getvalue()


def test_the_demo_prints_who_sends_what_and_how_good_it_is(shown):
    _, out = shown
    rows = re.findall(
        r"^   (\S.*?)  +(\d+) +([01]\.\d{4}) +([01]\.\d{4}) +([01]\.\d{4})$", out, re.M
    )
    assert [row[0].partition(":")[0].partition(" on ")[0] for row in rows] == [
        "gramlink",
        "the paper's rule",
        "edit distance",
    ]
    assert float(rows[0][-1]) > 0.8
    assert "hospital -> registry" in out
    assert "registry -> linkage unit" in out
    assert "N = 200, k = 40, ε = 20 per owner, edits <= 1" in out
    assert "not covered by ε" in out


def test_the_demo_writes_every_file_that_was_sent(shown):
    folder, _ = shown
    assert {path.name for path in folder.iterdir()} == FILES | {".gramlink-demo"}
    assert not list(folder.rglob("*.part"))


def test_the_report_has_three_pictures_and_needs_no_network(shown):
    page = (shown[0] / "report.html").read_text("utf-8")
    parsed = Page(page)
    assert parsed.tags.count("svg") == 3
    assert [one for one in parsed.loaded if not one.startswith("#")] == []
    assert not {"script", "link", "img", "iframe"} & set(parsed.tags)
    outside = re.findall(r'(\S*)="https?://', page)
    assert {name.partition(":")[0] for name in outside} <= {"xmlns", "rdf"}
    assert not re.search(r"@import|url\((?!#)", page)
    for name in ("hospital.mined.json", "registry.bundle", "links-for-registry.csv"):
        assert name in page


def test_the_files_of_the_demo_can_be_used_by_hand(shown, run, monkeypatch):
    monkeypatch.chdir(shown[0])
    assert load_schema(Path("linkage.toml")).fields[0].size == 40
    assert "nothing to report" in run("check", "hospital.csv").out
    merged = run("merge", "registry.mined.json", "hospital.mined.json", "-o", "../again.json").out
    assert "name: 40 grams, mined" in merged
    assert Path("../again.json").read_bytes() == Path("projection.json").read_bytes()
    state = json.loads(run("ledger", "registry.ledger", "--json").out)
    assert (state["spent"], state["left"]) == ("20", "0")


def test_the_demo_can_be_run_again_in_its_folder(run, folder):
    run(*QUICK)
    first = contents(folder / "here")
    out = run(*QUICK, "--data", "cities", "--edits", "0").out
    assert "200 cities" in out
    second = contents(folder / "here")
    assert first.keys() == second.keys()
    assert first["hospital.key"] != second["hospital.key"]
    assert len(json.loads(run("ledger", "here/hospital.ledger", "--json").out)["releases"]) == 1


def test_the_demo_never_replaces_files_that_are_not_its_own(refused, done):
    refused("demo", "-n", "200", "-o", ".", says="holds files that are not from a demo")
    assert (done / "hospital.ledger").is_file()


def test_the_demo_says_when_there_is_no_privacy(run, folder):
    out = run(*QUICK, "--miner", "exact").out
    assert "No privacy" in out
    assert "Protected by ε: the grams" not in out
    assert "N = 200, k = 40, no privacy" in out
    assert not (folder / "here" / "hospital.ledger").exists()
    assert not list((folder / "here").glob("*.bundle"))  # the unit could know the grams
    assert "no privacy" in (folder / "here" / "report.html").read_text("utf-8")


@pytest.mark.parametrize(
    ("options", "says"),
    [
        (["--data", "nonsense"], ["no list 'nonsense'", "surnames, cities"]),
        (["--count", "0"], "149910 names to take from, not 0"),
        (["--count", "149911"], "149910 names to take from, not 149911"),
        (["--count", "-5"], "not -5"),
        (["--data", "cities", "-n", "5001"], "5000 names to take from, not 5001"),
        (["--edits", "-1"], "edits"),
        (["--edits", "6"], "edits"),
        (["--epsilon", "0"], "epsilon must be above 0"),
        (["--epsilon", "nan"], "nan is not a number"),
        (["--size", "0"], "size"),
        (["--miner", "magic"], "miner"),
        (["--miner", 'x"\n[fields.y]'], "miner"),
        (["--miner", "public"], "public"),
        (["--threshold", "high"], "threshold"),
        (["--decide", "best"], "decide"),
        (["--errors", "none"], "errors"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_a_demo_that_makes_no_sense_leaves_no_folder(refused, folder, options, says):
    refused("demo", "-o", "deep/down", *options, says=says, hint=False)
    assert not (folder / "deep").exists()


@pytest.mark.parametrize("output", ["hospital.csv", "hospital.csv/x", "/proc/nowhere"])
def test_a_demo_where_no_folder_can_be(refused, output):
    refused("demo", "-n", "200", "-o", output, says=output, hint=False)


def test_without_matplotlib_the_demo_says_so_and_succeeds(run, folder, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    out = run(*QUICK).out
    assert "no report: the report needs matplotlib (pip install 'gramlink[report]')" in out
    assert "took" in out
    assert {path.name for path in (folder / "here").iterdir()} == (FILES | {".gramlink-demo"}) - {
        "report.html"
    }


def test_a_quiet_demo_says_nothing(run):
    assert run(*QUICK, "--quiet").out == ""


@pytest.mark.parametrize("call", [1, 7, 12])
def test_a_demo_that_is_interrupted_leaves_no_half_file(run, folder, monkeypatch, call):
    calls, sync = [], os.fsync

    def interrupted(handle):
        calls.append(handle)
        if len(calls) == call:
            raise KeyboardInterrupt
        sync(handle)

    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", interrupted)
        result = run(*QUICK, ok=False)
    assert len(calls) >= call
    assert result.code not in (0, None)
    assert "Traceback" not in result.err
    assert not list(folder.rglob("*.part"))
    assert not (folder / "here" / "report.html").exists()
    run(*QUICK)  # and it can be run again


def test_the_demo_of_persons_shows_weights_and_estimates_that_come_true(tmp_path, capsys):
    folder = tmp_path / "here"
    sys.argv = ["gramlink", "demo", "--persons", "-n", "1500", "-o", str(folder)]
    with pytest.raises(SystemExit) as end:
        cli.main()
    assert not end.value.code
    out = capsys.readouterr().out
    precision, recall, f1 = map(
        float,
        re.search(r"8 fields, one-to-one +[\d,]+ +([\d.]+) +([\d.]+) +([\d.]+)", out).groups(),
    )
    estimated = re.search(r"estimated precision ([\d.]+), recall ([\d.]+)", out).groups()
    assert f1 > 0.98
    assert abs(precision - float(estimated[0])) < 0.02
    assert abs(recall - float(estimated[1])) < 0.02
    for field in ("given_name", "date_of_birth", "phone"):
        assert re.search(rf"^ +{field} +\+\d", out, re.MULTILINE), field
    assert {"linkage.toml", "truth.csv", "model.json", "hospital.bundle"} <= {
        path.name for path in folder.iterdir()
    }
    page = Page((folder / "report.html").read_text("utf-8"))
    assert page.tags.count("svg") == 2
    assert not [one for one in page.loaded if not one.startswith("#")]


def test_the_demo_of_persons_says_as_json_what_the_unit_could_name(run, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    told = json.loads(run("demo", "--persons", "-n", "500", "--epsilon", "20", "--json").out)
    assert (told["encoding"], told["records"]) == ("veiled", 500)
    assert told["f1"] > 0.95
    assert told["named"].keys() == {"veiled", "vectors"}
    assert told["named"]["vectors"] > 0.9
    assert told["named"]["veiled"] < 0.05
    assert load_schema(Path("gramlink-demo/linkage.toml")).encoding == "veiled"
