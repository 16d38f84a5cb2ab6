"""Requests that nobody would make in good faith: each is refused in our words, and never by 500."""

import json
import sqlite3

import pytest

from gramlink.server import exchanges
from server.parties import Asker

POSTS = ["/api/exchanges", "/api/exchanges/stroke-2026/tokens", "/api/exchanges/stroke-2026/upload"]


@pytest.fixture
def who(operator, hospital):
    """Who may ask for what."""
    return lambda path: hospital if path.endswith("upload") else operator


@pytest.mark.parametrize("path", POSTS)
@pytest.mark.parametrize(
    ("body", "status"),
    [
        (b"", 400),
        (b"{", 400),
        (b"\xff\xfe", 400),
        (b'{"a": 1}'.decode().encode("utf-16"), 400),
        (b"[" * 10**5, 400),
        (b'{"a":' * 10**5, 400),
        (b'{"size": 1, "size": 1}', 400),
        (b'{"size": NaN}', 400),
        (b'{"size": -Infinity}', 400),
        (b'{"size": ' + b"9" * 10**5 + b"}", 400),
        (b'{"size": 1e999}', 400),
        (b'{"name": "\\ud800", "party": "\\ud800", "sha256": "\\ud800"}', 422),
        (b'{"\\ud800": {"\\udfff": 1}}', 422),
        (b'{"name": "\\u0000", "party": "\\u0000", "sha256": "\\u0000"}', 422),
        (b"null", 422),
        (b'"x"', 422),
        (b"[]", 422),
        (b" " * (2**20 + 1), 413),
    ],
    ids=lambda value: None if isinstance(value, int) else repr(value[:25]),
)
def test_bodies_that_are_not_what_they_should_be(who, path, body, status):
    answer = who(path).ask("POST", path, content=body, says=status)
    assert answer.json().keys() == {"error", "hint"}


@pytest.mark.parametrize("path", POSTS)
def test_a_body_without_a_length_is_bounded_too(who, path):
    sent = []

    def endless():
        for _ in range(1000):
            sent.append(1)
            yield bytes(2**16)

    who(path).ask("POST", path, content=endless(), says=413)


@pytest.mark.parametrize("length", ["5", "-1", "x", "9" * 100, "1e3", "²"])
def test_a_length_that_is_not_true_is_not_believed(hospital, length):
    headers = {"Content-Length": length.encode()}
    answer = hospital.ask("PUT", "recipient", content=b"x" * 5000, headers=headers, says=413)
    assert "1,024" in answer.json()["error"]


@pytest.mark.parametrize("path", ["/api", "/api/", "/api/nonsense", "/api/exchanges/", "/nonsense"])
@pytest.mark.parametrize("method", ["GET", "POST", "HEAD", "OPTIONS", "TRACE", "BREW"])
def test_addresses_where_nothing_is(operator, path, method):
    answer = operator.ask(method, path)
    assert answer.status_code in (404, 405)
    assert method == "HEAD" or answer.json().keys() == {"error", "hint"}


@pytest.mark.parametrize("path", ["/api/unit", "/api/exchanges", "/openapi.json", "/", "/static/x"])
@pytest.mark.parametrize("method", ["DELETE", "PUT", "PATCH", "OPTIONS", "TRACE", "BREW"])
def test_methods_that_an_address_has_not(operator, path, method):
    answer = operator.ask(method, path, says=405)
    assert answer.headers["allow"]
    assert answer.json()["hint"]


@pytest.mark.parametrize(
    "name", ["%00", "..", "%2e%2e", "%2F", "x" * 5000, "%ff", "%ED%A0%80", "'--"]
)
@pytest.mark.parametrize("rest", ["", "/schema", "/results", "/mined/registry", "/upload"])
def test_names_of_exchanges_that_are_tricks(hospital, operator, name, rest):
    for one in (operator, hospital):
        answer = one.ask("GET", f"/api/exchanges/{name}{rest}")
        assert 400 <= answer.status_code < 500


@pytest.mark.parametrize("name", ["%00", "%2e%2e%2fx", "x" * 5000, "%ff", "%ED%A0%80", "' OR 1"])
def test_names_of_parties_that_are_tricks(at_bundles, operator, name):
    sealed = b"age-encryption.org/v1\nx"
    for answer in (
        at_bundles[0].ask("PUT", f"mined/{name}", content=sealed),
        at_bundles[0].ask("GET", f"mined/{name}"),
        operator.ask("DELETE", f"tokens/{name}"),
    ):
        assert answer.status_code in (404, 405)


@pytest.mark.parametrize("path", ["/", "/api/unit", "/api/token", "/nonsense", "/static/style.css"])
def test_every_answer_has_the_headers_that_protect_browsers(anybody, path):
    headers = anybody.ask("GET", path).headers
    policy = headers["content-security-policy"]
    for rule in ("default-src 'none'", "script-src 'self'", "frame-ancestors 'none'"):
        assert rule in policy
    assert headers["x-content-type-options"] == "nosniff"
    assert headers["referrer-policy"] == "same-origin"
    assert headers["cache-control"] == ("no-cache" if "static" in path else "no-store")


def test_what_nobody_foresaw_is_answered_and_not_quoted(operator, monkeypatch, capsys):
    def broken(*_):
        raise ValueError("MILLER")

    monkeypatch.setattr("gramlink.server.views.of_page", broken)
    answer = operator.get("/api/exchanges", 500)
    assert answer.json()["error"] == "something went wrong in the linkage unit"
    assert answer.headers["x-content-type-options"] == "nosniff"
    err = capsys.readouterr().err
    assert "unexpected ValueError in test_guard.py" in err
    assert "MILLER" not in err + answer.text


class Full(sqlite3.OperationalError):
    sqlite_errorname = "SQLITE_FULL"


def test_tables_that_are_full_say_so(operator, hospital, monkeypatch):
    def full(*_):
        raise Full("database or disk is full")

    monkeypatch.setattr(exchanges, "create", full)
    monkeypatch.setattr(exchanges, "join", full)
    asked = {"name": "x", "schema": "[fields.x]", "parties": ["a", "b"]}
    answer = operator.ask("POST", "/api/exchanges", json=asked, says=413)
    assert "no room" in answer.json()["error"]
    hospital.join(413)


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({}, 403),
        ({"Origin": "https://evil.example"}, 403),
        ({"Origin": "null"}, 403),
        ({"Origin": "http://[bad"}, 403),
        ({"Origin": "http://testserver.evil.example"}, 403),
        ({"Origin": "http://testserver"}, 204),
        ({"Sec-Fetch-Site": "cross-site", "Origin": "http://testserver"}, 403),
        ({"Sec-Fetch-Site": "same-site"}, 403),
        ({"Sec-Fetch-Site": "none"}, 403),
        ({"Sec-Fetch-Site": "same-origin"}, 204),
    ],
    ids=str,
)
def test_a_cookie_counts_for_changes_from_our_own_page_only(
    app, operator, parties, headers, status
):
    del parties
    browser = Asker(app)
    cookie = {"Cookie": f"gramlink={operator.token}"}
    browser.get("/api/exchanges", headers=cookie)
    browser.ask("DELETE", headers={**cookie, **headers}, says=status)


def test_a_token_in_the_header_counts_whatever_page_asks(operator, parties):
    del parties
    operator.ask("DELETE", headers={"Origin": "https://evil.example"}, says=204)


def test_the_description_has_no_page_and_describes_each_refusal(anybody):
    anybody.get("/docs", 404)
    anybody.get("/redoc", 404)
    described = anybody.get("/openapi.json").json()
    assert json.dumps(described)
    for path, methods in described["paths"].items():
        assert path.startswith("/api/")
        for method, operation in methods.items():
            statuses = set(operation["responses"])
            assert path == "/api/unit" or "401" in statuses
            assert "HTTPValidationError" not in json.dumps(operation)
            assert method == "get" or path == "/api/unit" or operation["security"]
            if method in ("post", "put", "patch"):
                assert {"400", "413", "422"} <= statuses
                assert operation["requestBody"]["content"]
