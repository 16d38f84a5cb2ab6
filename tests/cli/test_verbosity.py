"""The log: what is in it, and what never is."""

import logging
import re

import polars as pl
import pytest

from cli.owners import SEVERAL, people
from fake_unit import COUNT, EXCHANGE, TOKEN, FakeUnit, records_of
from gramlink.bundles.bundle import Bundle
from gramlink.exchange import client
from gramlink.mining.mined import Mined

MARK = "qx"
OWNERS = ("qxclinic", "qxoffice")
NO_NAMES = '{{ male = "M", female = "F" }}'
STEPS = ("read", "mine", "write", "merge", "embed", "compare", "link")


@pytest.fixture(autouse=True)
def quiet_again():
    """Let what one test logs not reach the next."""
    logger = logging.getLogger("gramlink")
    before = logger.handlers, logger.level
    yield
    logger.handlers, logger.level = before


@pytest.fixture
def logged(run):
    """Run a command that must succeed, and have its log."""

    def runner(*args):
        result = run(*args, ok=False)
        assert result.code == 0, result
        return result.err

    return runner


@pytest.fixture
def marked(folder):
    """Two owners' files, in which every name, cell, id and column has a mark in it."""
    two = people()
    toml = SEVERAL.replace(NO_NAMES, '{{ "qxm" = "M", "qxf" = "F" }}').replace("postcode", "qxcode")
    for owner, table in zip(OWNERS, (two.left, two.right), strict=True):
        texts = ("id", "given_name", "surname", "sex")
        table.select(
            *((pl.lit(MARK) + pl.col(name)).alias(name) for name in texts),
            "date_of_birth",
            pl.col("postcode").alias("qxcode"),
        ).write_csv(folder / f"{owner}.csv")
    toml = toml.format(given="given_name", born='"date_of_birth"')
    (folder / "linkage.toml").write_text(toml)
    return folder


def secrets_of(folder):
    """What no log may have in it besides marks: dates, postcodes, pseudonyms, grams and keys."""
    found = set()
    for owner in OWNERS:
        table = pl.read_csv(folder / f"{owner}.csv", infer_schema=False)
        found |= set(table["date_of_birth"]) | set(table["qxcode"])
        found |= set(Bundle.from_bytes((folder / f"{owner}.bundle").read_bytes(), owner).ids)
        mined = Mined.from_json((folder / f"{owner}.mined.json").read_bytes(), owner)
        grams = {gram for field in mined.fields.values() for gram in field.grams}
        found |= {gram for gram in grams if len(gram) > 2}
        found.add((folder / f"{owner}.key").read_bytes().hex())
    return {one for one in found if one}


def test_a_whole_pipeline_logs_its_steps_and_never_content(logged, marked):
    log = "".join(
        logged("-vv", *line.split())
        for line in (
            *(f"check {owner}.csv" for owner in OWNERS),
            *(f"mine {owner}.csv" for owner in OWNERS),
            "merge qxclinic.mined.json qxoffice.mined.json",
            *(f"embed {owner}.csv" for owner in OWNERS),
            "link qxclinic.bundle qxoffice.bundle --report qxreport.html",
            "results links.csv qxclinic.csv",
            "dedupe qxclinic.csv",
            "inspect qxclinic.bundle",
        )
    )
    for step in STEPS:
        assert re.search(rf"INFO gramlink: {step}: .*\d\.\d{{3}} s$|gramlink: {step}: ", log, re.M)
    assert re.search(r"compare: passes [1-9]\d*, pairs [1-9][\d,]*, ", log)
    times = r"^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d,\d{3} "  # which could look like a date of birth
    log = re.sub(times, "", log, flags=re.M)
    assert set(re.findall(r"^\w+ \w+", log, re.M)) == {"DEBUG gramlink", "INFO gramlink"}
    assert MARK not in log.lower()
    for secret in secrets_of(marked):
        assert not re.search(rf"\b{re.escape(secret)}\b", log), secret


def test_an_exchange_logs_its_steps_and_never_content(logged, folder, monkeypatch):
    unit = FakeUnit()
    made = client.Client
    monkeypatch.setattr(
        client, "Client", lambda *args, **options: made(*args, **options, transport=unit.transport)
    )
    records = records_of("hospital")
    records.write_csv(folder / "hospital.csv")
    (folder / "token").write_text(f"{TOKEN}\n")
    (folder / "token").chmod(0o600)
    args = ("exchange", "http://localhost", "hospital.csv", "--token-file", "token")
    (folder / "own.toml").write_text(unit.schema)
    log = logged("-vv", *args, "--yes", "--schema", "own.toml", "--epsilon", "20")
    assert f"read: records {COUNT}, fields 1, " in log
    for step in ("join", "mine", "share", "gather", "embed", "send", "await results"):
        assert re.search(rf"exchange, {step}: \d\.\d{{3}} s$", log, re.M)
    assert re.search(r"ask: sent \d+, status 200$", log, re.M)
    for secret in ("hospital", "registry", "localhost", EXCHANGE, TOKEN, *records["id"]):
        assert secret not in log
    words = set(re.findall(r"[a-z]+", log.lower()))
    assert words.isdisjoint(name.lower() for name in records["surname"])


def test_one_v_logs_steps_and_two_log_more(logged):
    assert "DEBUG" not in logged("-v", "mine", "hospital.csv")
    assert "DEBUG" in logged("--verbose", "-v", "mine", "registry.csv")


@pytest.mark.parametrize(
    ("level", "option", "levels"),
    [
        ("debug", [], {"DEBUG", "INFO"}),
        ("INFO", [], {"INFO"}),
        ("warning", [], set()),
        ("warning", ["-v"], {"INFO"}),
        ("debug", ["-v"], {"DEBUG", "INFO"}),
        ("", [], set()),
    ],
)
def test_the_level_may_be_in_the_environment(logged, monkeypatch, level, option, levels):
    monkeypatch.setenv("GRAMLINK_LOG", level)
    assert set(re.findall(r"[A-Z]{4,}", logged(*option, "mine", "hospital.csv"))) == levels


def test_an_unknown_level_is_refused(refused, monkeypatch):
    monkeypatch.setenv("GRAMLINK_LOG", "loud")
    refused("mine", "hospital.csv", says=["GRAMLINK_LOG=loud", "debug, info, warning"])


def test_nothing_is_logged_unless_asked(run):
    assert run("mine", "hospital.csv").err == ""
