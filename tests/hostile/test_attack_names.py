"""Names and JSON that are tricks."""

import json
from urllib.parse import quote

import pytest

from gramlink.bundles.sealing import seal
from hostile.attacking import NAMES, SCHEMA, assert_refused

pytestmark = pytest.mark.usefixtures("sound")

TRICKS = ["\u202eyrtsiger", "a\u200bb", "\x1b[2J", "rеgistry", "ﬁ", "A\u030a", "ｘ", "con", "a:b"]
PATHS = ["..", "../x", "../../etc/passwd", "..\\x", "/etc/x", "a/b", ".", "x\0y", "", " ", "x\n"]


@pytest.mark.parametrize("name", [*PATHS, "X", "-rf", "é", "x" * 65, "CON.", "%2e%2e", "ａ"])
def test_an_exchange_with_a_name_that_is_a_trick_is_not_made(server, name):
    asked = {"name": name, "schema": SCHEMA, "parties": list(NAMES)}
    with server.untouched():
        assert_refused(server.ask("POST", "/api/exchanges", json=asked), 422)


@pytest.mark.parametrize("name", [*PATHS, "x" * 101, *TRICKS])
def test_a_party_with_a_name_that_is_a_trick_is_not_made(server, name):
    asked = {"name": "tricks", "schema": SCHEMA, "parties": ["hospital", name]}
    with server.untouched():
        assert_refused(server.ask("POST", "/api/exchanges", json=asked), 422)


@pytest.mark.parametrize(
    "names",
    [
        ("Hospital", "hospital"),
        ("hospital", "hospita1"),
        ("ß", "ss"),
        ("coco", "сосо"),
        ("St. Mary's", "St. Mary’s"),
    ],
)
def test_parties_whose_names_look_the_same_are_not_told_apart(server, names):
    asked = {"name": "tricks", "schema": SCHEMA, "parties": list(names)}
    with server.untouched():
        answer = server.ask("POST", "/api/exchanges", json=asked)
        assert_refused(answer, 422, "look like the same name of a party")


@pytest.mark.parametrize("name", ["operator", "unit", "Operator"])
def test_no_party_has_a_name_that_the_log_has_for_another(server, name):
    """Or what the party does is in the log as what the operator, or the unit, has done."""
    asked = {"name": f"as-{name.lower()}", "schema": SCHEMA, "parties": ["hospital", name]}
    with server.untouched():
        assert_refused(server.ask("POST", "/api/exchanges", json=asked), 422)


def test_parties_with_names_of_all_kinds_can_be_asked_for(server):
    names = [
        "St. Mary's",
        "Hôpital 100 % #&+;",
        "病院",
        "' onmouseover='alert(1)' x='",
    ]
    parties = server.at_bundles(names)
    assert [one["name"] for one in parties[0].view()["parties"]] == names
    assert parties[0].view()["stage"] == "bundles"
    page = server.ask("GET", f"/exchanges/{parties[0].exchange}", 200).text
    assert "' onmouseover" not in page
    for one in names:
        server.ask("DELETE", f"{parties[0].path}/tokens/{quote(one, safe='')}", 204)


@pytest.mark.parametrize(
    "trick",
    ["..%2f..%2funit.identity", "%2e%2e%2f%2e%2e%2foperator.token", "..", "%2e%2e/unit", "%00",
     "%ff", "..%5cunit.identity", "....//unit.identity", "%252e%252e%252f", "1", "hospital%00"],
)  # fmt: skip
def test_a_path_in_an_address_leads_nowhere(server, pair, trick):
    hospital = pair[0]
    sealed = seal(b"x", [hospital.recipient])
    with server.untouched():
        for method, path, content in [
            ("GET", f"/api/exchanges/{trick}", None),
            ("GET", f"/api/exchanges/{trick}/schema", None),
            ("GET", f"/api/exchanges/{trick}/results", None),
            ("GET", f"{hospital.path}/mined/{trick}", None),
            ("PUT", f"{hospital.path}/mined/{trick}", sealed),
            ("GET", f"/static/{trick}", None),
            ("GET", f"/static/../{trick}", None),
        ]:
            for token in (server.token, hospital.token):
                answer = server.raw_request(method, path, token, content)
                assert 400 <= answer.status < 500, (path, answer.status)
                for secret in (b"AGE-SECRET-KEY", server.token.encode()):
                    assert secret not in answer.body


@pytest.mark.parametrize(
    ("body", "status", "word"),
    [
        (b"[" * 10**5, 400, "not JSON"),
        (b'{"a":' * 10**5, 400, "not JSON"),
        (b'{"size": [' * 900 + b"]}" * 900, 400, "not JSON"),
        (b'{"size": 5, "size": 6, "sha256": "' + b"0" * 64 + b'"}', 400, "has a key twice"),
        (b'{"size": NaN, "sha256": "' + b"0" * 64 + b'"}', 400, "not JSON"),
        (b'{"size": Infinity, "sha256": "' + b"0" * 64 + b'"}', 400, "not JSON"),
        (b'{"size": 1e999, "sha256": "' + b"0" * 64 + b'"}', 400, "not JSON"),
        (b'{"size": -1, "sha256": "' + b"0" * 64 + b'"}', 422, "size"),
        (b'{"size": 0, "sha256": "' + b"0" * 64 + b'"}', 422, "size"),
        (b'{"size": ' + b"9" * 10**4 + b', "sha256": "' + b"0" * 64 + b'"}', 400, "not JSON"),
        (b'{"size": 9999999999999999999999, "sha256": "' + b"0" * 64 + b'"}', 422, "size"),
        (b'{"size": true, "sha256": "' + b"0" * 64 + b'"}', 422, "size"),
        (b'{"size": 5, "sha256": "' + b"0" * 63 + b'\\n"}', 422, "sha256"),
        (b'{"size": 5, "sha256": "../x"}', 422, "sha256"),
        (b"\xff\xfe{", 400, "not JSON"),
    ],
    ids=lambda value: str(value)[:30],
)  # fmt: skip
def test_json_that_is_a_trap_is_refused(server, pair, body, status, word):
    with server.untouched():
        assert_refused(pair[0].ask("POST", "upload", content=body), status, word)


@pytest.mark.parametrize(
    "schema",
    [
        "",
        "[fields.x]\nsize = 999999999999",
        "edits = -1\n[fields.x]",
        "epsilon = nan\n[fields.x]",
        "epsilon = 1e999999999\n[fields.x]",
        "epsilon = 1e-999999999\n[fields.x]",
        "accept = inf\n[fields.x]",
        "x = " + "[" * 5000 + "]" * 5000,
        "[fields.x]\n[fields.x]",
        "".join(f"[fields.f{n}]\n" for n in range(51)),
        "a" + ".a" * 5_000 + " = 1",
        '[fields.x]\nminer = "public"\ngrams = ["A"]',
    ],
    ids=lambda text: text[:25],
)
def test_a_schema_that_is_a_trap_is_refused(server, schema):
    asked = {"name": "traps", "schema": schema, "parties": list(NAMES)}
    with server.untouched():
        answer = server.ask("POST", "/api/exchanges", content=json.dumps(asked))
        assert_refused(answer, 422, "")
        assert answer.json()["error"]


def test_a_changed_log_is_noticed(start):
    server = start()
    server.exchange()
    assert server.log()["intact"]
    server.tables("UPDATE log SET who = 'registry' WHERE number = 2")
    assert not server.log()["intact"]
    server.tables("UPDATE log SET who = 'operator' WHERE number = 2")
    assert server.log()["intact"]
    server.tables("DELETE FROM log WHERE number = 1")
    assert not server.log()["intact"]
