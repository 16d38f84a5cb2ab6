import json
import os
import sys
from fractions import Fraction
from functools import partial

import httpx
import pytest

import gramlink.exchange.client
from cli.owners import contents
from fake_unit import COUNT, EXCHANGE, TOKEN, VEILED, FakeUnit, records_of, reply, schema_of
from gramlink.bundles.sealing import Recipient, write_recipient
from gramlink.exchange.status import Place
from gramlink.exchange.terms import keys_code
from gramlink.privacy.ledger import Ledger
from systems import posix

BARE = ("exchange", "http://localhost", "hospital.csv", "--token-file", "token")
ASK = (*BARE, "--schema", "own.toml")
YES = ("--yes", "--epsilon", "20")
GRAMLINK = [sys.executable, "-c", "from gramlink.cli import main; main()"]


@pytest.fixture
def unit(folder, monkeypatch):
    """A unit in this process, whoever asks for whichever address."""
    return served(FakeUnit(), folder, monkeypatch)


@pytest.fixture
def veiled(folder, monkeypatch):
    """The same for an exchange whose owners need a secret."""
    return served(FakeUnit(schema=VEILED), folder, monkeypatch)


def served(unit, folder, monkeypatch):
    records_of("hospital", unit.agreed).write_csv(folder / "hospital.csv")
    (folder / "own.toml").write_text(unit.agreed)
    token = folder / "token"
    token.write_text(f"{TOKEN}\n")
    token.chmod(0o600)
    asked = partial(gramlink.exchange.client.Client, transport=unit.transport, pause=lambda _: None)
    monkeypatch.setattr(gramlink.exchange.client, "Client", asked)
    monkeypatch.setattr(os, "fsync", lambda _: None)  # no test cuts the power
    return unit


def test_a_whole_part_in_one_command(run, unit, folder):
    out = run(*ASK, *YES).out
    for phrase in (
        f"hospital.csv: {COUNT} records",
        "keys code: ",
        "spent epsilon 20; 0 is left in hospital.ledger",
        "fingerprint of the projection: ",
        f"wrote {EXCHANGE}-hospital/links.csv: ",
        "hospital and registry: ",
        "keep hospital.ledger",
    ):
        assert phrase in out
    assert TOKEN not in out
    assert "epsilon 20 of 20 spent" in run("ledger", "hospital.ledger").out
    before = contents(folder)
    assert "this exchange is finished" in run(*ASK, *YES).out
    assert contents(folder) == before
    assert unit.failed == ""


def test_a_program_gets_the_summary_and_nothing_else(run, unit):
    found = json.loads(run(*ASK, *YES, "--json", "-o", "found.csv").out)
    assert found["written"] == {"links": "found.csv", "possible": "found-possible.csv"}
    assert found["counts"][0]["right"] == "registry"
    assert "hospital" in unit.bundles
    assert json.loads(run(*ASK, "--json").out) == found
    assert run(*ASK, "--quiet").out == ""


def test_nothing_is_spent_unless_somebody_agrees(run, unit, folder, monkeypatch):
    for options in ([], ["--quiet"], ["--json"]):
        result = run(*ASK, *options, ok=False)
        assert result.code == 1
        assert "nobody is there to agree" in result.err
        assert "--yes --schema FILE --epsilon E" in result.err
    monkeypatch.setattr("sys.stdin.isatty", lambda: True, raising=False)
    monkeypatch.setattr("sys.stdout.isatty", lambda: True, raising=False)
    monkeypatch.setattr("typer.confirm", lambda *_, **__: False)
    assert "you did not agree; nothing was spent" in run(*ASK, ok=False).err
    assert not (folder / "hospital.ledger").exists()
    assert ("hospital", "registry") not in unit.mined
    monkeypatch.setattr("typer.confirm", lambda *_, **__: True)
    run(*ASK)
    assert (folder / "hospital.ledger").exists()


def code_of(unit):
    return keys_code(
        Place(EXCHANGE, "hospital", unit.identity.recipient),
        {name: Recipient(key) for name, key in unit.recipients.items()},
        schema_of(unit.agreed),
        dict.fromkeys(unit.parties, unit.returns),
    )


def test_agreeing_in_advance_does_not_compare_the_keys(run, veiled, folder):
    result = run(*ASK, *YES, ok=False)
    assert result.code == 1
    error, hint = result.err.splitlines()
    assert error == (
        "gramlink: error: encoding = 'veiled' needs the other owners' keys to be checked"
    )
    assert "--peer" in hint
    assert "--keys-code" in hint
    assert f"keys code: {code_of(veiled)}" in result.out
    assert not (folder / "hospital.ledger").exists()
    assert ("hospital", "registry") not in veiled.mined
    wrong = run(*ASK, *YES, "--keys-code", code_of(veiled)[:-1] + "x", ok=False)
    assert "the keys code that you typed is not ours; nothing was spent" in wrong.err
    assert ("hospital", "registry") not in veiled.mined
    out = run(*ASK, *YES, "--keys-code", code_of(veiled).upper()).out
    assert f"wrote {EXCHANGE}-hospital/links.csv: " in out
    assert not (folder / f"{EXCHANGE}-hospital" / "contribution.json").exists()


def test_the_keys_code_is_asked_for_where_somebody_can_type_it(run, veiled, monkeypatch):
    asked = []

    def prompt(what, **_):
        asked.append(what)
        return code_of(veiled)

    monkeypatch.setattr("sys.stdin.isatty", lambda: True, raising=False)
    monkeypatch.setattr("sys.stdout.isatty", lambda: True, raising=False)
    monkeypatch.setattr("typer.prompt", prompt)
    run(*ASK, *YES)
    assert asked == ["The keys code, as another owner reads it to you"]
    assert veiled.bundles.keys() == {"hospital", "registry"}


def test_keys_that_the_owners_gave_each_other_need_no_code(run, veiled, folder):
    write_recipient(folder / "registry.recipient", veiled.peers[0].identity.recipient, "registry")
    run(*ASK, *YES, "--peer", "registry.recipient")
    assert veiled.bundles.keys() == {"hospital", "registry"}


def test_a_stopped_command_says_how_to_go_on(run, unit):
    def stop(request):
        if "/upload" in request.url.path:
            raise KeyboardInterrupt

    unit.trouble = stop
    result = run(*ASK, *YES, ok=False)
    assert result.code == 130
    assert result.err == "stopped; run the same command again to resume\n"
    unit.trouble = lambda _: None
    assert "spent" not in run(*ASK).out.partition("keys code")[2]


def test_the_units_words_are_one_line_whatever_they_are(run, unit):
    words = json.dumps({"error": "no\x1b[2J\nroom " + "x" * 2000, "hint": "wait\r\nor not"})
    unit.trouble = lambda _: reply(413, words.encode())
    result = run(*ASK, *YES, ok=False)
    assert result.code == 1
    error, hint = result.err.splitlines()
    assert error.startswith("gramlink: error: the linkage unit says: no?[2J room xxx")
    assert error.endswith("x ...")
    assert hint == "gramlink: hint: wait or not"


@pytest.mark.usefixtures("unit")
@pytest.mark.parametrize(
    ("args", "says"),
    [
        (["http://unit.example"], "without TLS"),
        (["unit.example"], "must be like https://"),
        (["https://unit.example", "--authority", "linkage.toml"], "is not a certificate"),
        (["http://localhost", "--token-file", "missing"], "missing cannot be read"),
        (["http://localhost", "-o", "hospital.csv"], "would replace hospital.csv"),
        (["http://localhost", "-o", "token"], "would replace token"),
    ],
)
def test_what_cannot_be_is_refused_and_changes_nothing(refused, args, says):
    url, *options = args
    refused("exchange", url, *ASK[2:], *options, *YES, says=says)


def test_a_network_that_is_trusted_needs_no_tls(run, unit):
    run("exchange", "http://unit.example", *ASK[2:], *YES, "--insecure")
    assert unit.bundles.keys() == {"hospital", "registry"}


@posix
@pytest.mark.usefixtures("unit")
def test_a_wrong_token_is_hinted_at_and_never_shown(run, folder):
    secret = TOKEN[:-1] + "y"
    (folder / "token").write_text(secret)
    (folder / "token").chmod(0o644)
    result = run(*ASK, *YES, ok=False)
    assert result.code == 1
    assert "the token has expired" in result.err
    assert "check the token file" in result.err
    assert "others on this machine can read token" in result.out
    assert secret not in result.out + result.err


def test_a_unit_that_does_not_answer_is_given_up_when_patience_ends(run, unit):
    def down(_):
        raise httpx.ConnectError("Connection refused")

    unit.trouble = down
    result = run(*ASK, *YES, "--patience", "0", ok=False)
    assert "has not answered for 0 seconds: Connection refused" in result.err
    assert "run the same command again" in result.err


def test_more_than_the_ledger_has_is_refused_by_code_3(run, unit):
    run("mine", "hospital.csv", "-q")
    result = run(*ASK, *YES, ok=False)
    assert result.code == 3
    assert "costs epsilon 20, only 0 is left" in result.err
    assert not unit.recipients.keys() & {"hospital"}


def test_a_bundle_that_was_withdrawn_is_sent_again_as_it_was(run, unit):
    """Another bundle would show the unit more than the one that it has seen."""
    sent = []

    def withdrawn_meanwhile(request):
        if request.method == "PATCH":
            sent.append(request.content)
        if request.method == "GET" and request.url.path.endswith(EXCHANGE) and unit.part:
            assert unit.asked.count(f"DELETE /api/exchanges/{EXCHANGE}/bundle") == 0
            said = run("withdraw", "http://localhost", "--token-file", "token").out
            assert f"the bundle of hospital for {EXCHANGE} is withdrawn and erased" in said

    unit.trouble = withdrawn_meanwhile
    err = run(*ASK, *YES, ok=False).err
    assert "the linkage unit has no bundle of ours any more: it was withdrawn" in err
    unit.trouble = lambda request: (
        sent.append(request.content) if request.method == "PATCH" else None
    )
    assert "wrote" in run(*ASK, *YES).out
    assert len(sent) == 2
    assert sent[0] == sent[1]


def test_an_owner_is_told_until_when_an_exchange_is_open(run, unit):
    unit.erase = "2027-02-18T00:00:00Z"
    assert "keeps this exchange open until 2027-02-18, and then erases it" in run(*ASK, *YES).out


@pytest.mark.usefixtures("unit")
def test_agreeing_beforehand_needs_what_the_owner_knows(refused):
    refused(*BARE, "--yes", says=["needs a schema that you know", "--schema", "--approve"])
    refused(*ASK, "--yes", says=["needs the epsilon that you are willing to spend", "--epsilon"])


def test_a_schema_from_elsewhere_is_approved_by_the_code_that_check_prints(run, unit, folder):
    wrong = run(*BARE, *YES, "--approve", "1234", ok=False)
    assert "not the one that you approved" in wrong.err
    received = f"{EXCHANGE}-hospital/linkage.toml"
    code = json.loads(run("check", "hospital.csv", "--schema", received, "--json").out)["codes"]
    assert (
        f"schema code: {code['schema']}" in run("check", "hospital.csv", "--schema", received).out
    )
    no_ledger = run(*BARE, *YES, "--approve", code["schema"], ok=False)
    assert "hospital.ledger does not exist" in no_ledger.err
    assert "gramlink ledger new" in no_ledger.err
    assert not (folder / "hospital.ledger").exists()
    assert not unit.recipients.keys() & {"hospital"}
    Ledger(folder / "hospital.ledger", "hospital", Fraction(20)).allow(Fraction(20))
    run(*BARE, *YES, "--approve", code["schema"])
    assert "hospital" in unit.bundles


@pytest.mark.usefixtures("unit")
def test_without_a_word_the_terms_are_kept_and_errors_shown(run, folder):
    said = run(*BARE, "--quiet", *YES, ok=False)
    assert said.out == ""
    assert "needs a schema that you know" in said.err
    said = run(*ASK, "--quiet", *YES)
    assert (said.out, said.err) == ("", "")
    terms = (folder / f"{EXCHANGE}-hospital" / "terms.txt").read_text()
    assert "epsilon 20 of the 20 left in hospital.ledger" in terms
    assert "column surname as surname" in terms


def test_more_than_twenty_must_be_insisted_on(run, unit, folder):
    said = run(*ASK, "--yes", "--epsilon", "21", ok=False)
    assert "epsilon 21 protects nobody" in said.err
    assert "--insist" in said.err
    assert not (folder / "hospital.ledger").exists()
    assert not unit.recipients.keys() & {"hospital"}
    assert "spent epsilon 21" in run(*ASK, "--yes", "--epsilon", "21", "--insist").out
