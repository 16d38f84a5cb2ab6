"""Tokens that do not hold, and requests that a token does not allow."""

import base64

import pytest

from gramlink.bundles.sealing import seal
from hostile.attacking import assert_refused, head, identity_of

pytestmark = pytest.mark.usefixtures("sound")


def everything(party):
    """All that a party may ask of its exchange."""
    sealed = seal(b"grams", [identity_of("registry").recipient])
    return [
        ("GET", party.path, {}),
        ("GET", f"{party.path}/schema", {}),
        ("PUT", f"{party.path}/recipient", {"content": party.recipient.key}),
        ("PUT", f"{party.path}/mined/registry", {"content": sealed}),
        ("GET", f"{party.path}/mined/registry", {}),
        ("POST", f"{party.path}/upload", {"json": {"size": 1, "sha256": "0" * 64}}),
        ("PATCH", f"{party.path}/upload?offset=0", {"content": b"x"}),
        ("GET", f"{party.path}/results", {}),
    ]


def refuse_everything(server, party, token, status, *words):
    with server.untouched():
        for method, path, options in everything(party):
            answer = server.ask(method, path, token=token, **options)
            assert_refused(answer, status, *words)
            assert status != 401 or answer.headers["www-authenticate"] == "Bearer"


def test_without_a_token_nothing_is_done(server, pair):
    refuse_everything(server, pair[0], None, 401, "needs a token")


@pytest.mark.parametrize(
    "change",
    [
        lambda token: token[:-1] + ("A" if token[-1] != "A" else "B"),
        lambda token: token[:-1],
        lambda token: token + "A",
        lambda token: token.upper(),
        lambda token: token[:12] + "x" * 43,
        lambda token: "gl_00000000_" + token[12:],
        lambda token: token + "\xe9",
        lambda _: "' OR 1=1 --",
    ],
)
def test_with_a_wrong_token_nothing_is_done(server, pair, change):
    wrong = change(pair[0].token).encode("latin-1").decode("latin-1")
    with server.untouched():
        for method, path, options in everything(pair[0])[:6]:
            headers = [(b"Authorization", b"Bearer " + wrong.encode("latin-1"))]
            answer = server.client.request(method, path, headers=headers, **options)
            assert_refused(answer, 401, "not a token of this linkage unit")


def test_with_an_expired_token_nothing_is_done_and_it_says_so(server):
    hospital, _ = server.exchange()
    server.tables(
        "UPDATE tokens SET expires = '2020-01-01T00:00:00Z' WHERE party = ?", hospital.number
    )
    refuse_everything(server, hospital, hospital.token, 401, "expired at 2020-01-01")


def test_with_a_revoked_token_nothing_is_done_and_it_says_so(server):
    hospital, _ = server.exchange()
    server.ask("DELETE", f"{hospital.path}/tokens/hospital", 204)
    refuse_everything(server, hospital, hospital.token, 401, "was revoked")


def test_a_token_that_was_replaced_is_revoked(server):
    hospital, _ = server.exchange()
    asked = {"party": "hospital", "days": 1}
    made = server.ask("POST", f"{hospital.path}/tokens", 201, json=asked).json()["token"]
    server.secrets.add(made)
    refuse_everything(server, hospital, hospital.token, 401, "was revoked")
    server.ask("GET", hospital.path, 200, token=made)


def test_another_partys_token_acts_for_that_party_alone(server, two):
    """What the registry sends counts as the registry's, and it sees little of the hospital."""
    hospital, registry = two
    hospital.upload()
    assert hospital.verdict() == ("accepted", None)
    assert registry.state == "none"
    seen = next(one for one in registry.view()["parties"] if one["name"] == "hospital")
    hidden = {key: value for key, value in seen["bundle"].items() if key != "state"}
    assert set(hidden.values()) == {None}
    assert "token" not in seen
    before = server.files()
    mined = registry.ask("GET", "mined/hospital", 200).content
    assert mined != hospital.ask("GET", "mined/registry", 200).content
    assert_refused(registry.ask("GET", "mined/registry"), 404, "has not yet sent what it mined")
    sealed = seal(b"others", [registry.recipient])
    assert_refused(registry.ask("PUT", "mined/registry", content=sealed), 422, "send to itself")
    assert_refused(registry.ask("GET", "results"), 404, "not ready")
    assert server.files() == before


def test_another_exchanges_token_does_not_even_learn_that_this_one_is_there(server, pair):
    other = server.exchange()[0]
    refuse_everything(server, pair[0], other.token, 404, "no such exchange")
    nowhere = server.ask("GET", "/api/exchanges/nowhere", token=other.token)
    somewhere = server.ask("GET", pair[0].path, token=other.token)
    assert nowhere.json() == somewhere.json()


def test_what_is_for_the_operator_is_refused_to_a_party(server, pair):
    hospital = pair[0]
    new = {"name": "mine", "schema": "[fields.x]", "parties": ["a", "b"]}
    with server.untouched():
        for method, path, options in [
            ("GET", "/api/log", {}),
            ("GET", "/api/exchanges", {}),
            ("POST", "/api/exchanges", {"json": new}),
            ("DELETE", hospital.path, {}),
            ("POST", f"{hospital.path}/tokens", {"json": {"party": "registry", "days": 1}}),
            ("DELETE", f"{hospital.path}/tokens/registry", {}),
            ("GET", "/log", {}),
        ]:
            answer = server.ask(method, path, token=hospital.token, **options)
            assert_refused(answer, 403, "for the operator")


def test_what_is_for_a_party_is_refused_to_the_operator(server, pair):
    """Or whoever runs the unit could put its own bundle in the place of a party's."""
    with server.untouched():
        for method, path, options in everything(pair[0])[2:]:
            assert_refused(server.ask(method, path, **options), 403, "for a party")


@pytest.mark.parametrize("name", ["token", "access_token", "bearer", "Authorization", "gramlink"])
def test_a_token_in_the_address_is_not_accepted(server, pair, name):
    token = pair[0].token
    with server.untouched():
        answer = server.ask("GET", f"{pair[0].path}?{name}={token}", token=None)
        assert_refused(answer, 401, "needs a token")
        answer = server.ask("GET", f"{pair[0].path}/{token}", token=None)
        assert_refused(answer, 404)
    assert token not in server.said()


def test_a_token_as_a_password_is_not_accepted(server, pair):
    secret = base64.b64encode(f"{pair[0].token}:".encode()).decode()
    headers = {"Authorization": f"Basic {secret}"}
    assert_refused(server.ask("GET", pair[0].path, token=None, headers=headers), 401)


def test_the_second_of_two_tokens_is_not_looked_at(server, pair):
    lines = (f"Authorization: Bearer {pair[0].token}", "Connection: close")
    assert server.raw(head("GET", pair[0].path, "gl_no", *lines)).startswith(b"HTTP/1.1 401")


@pytest.mark.parametrize(
    "headers",
    [{}, {"Origin": "https://evil.example"}, {"Sec-Fetch-Site": "cross-site"}, {"Origin": "null"}],
    ids=str,
)
def test_another_sites_page_cannot_act_with_the_operators_cookie(server, pair, headers):
    cookie = {"Cookie": f"gramlink={server.token}", **headers}
    with server.untouched():
        for method, path in (("DELETE", pair[0].path), ("POST", f"{pair[0].path}/tokens")):
            answer = server.ask(method, path, token=None, headers=cookie)
            assert_refused(answer, 403, "own page")
        if headers:
            form = {"token": server.token}
            answer = server.ask("POST", "/sign-in", token=None, headers=headers, data=form)
            assert_refused(answer, 403, "own page")
            assert "set-cookie" not in answer.headers


def test_the_cookie_is_not_for_scripts_nor_for_other_sites(server):
    form = {"token": server.token}
    answer = server.ask("POST", "/sign-in", 303, token=None, data=form)
    told = answer.headers["set-cookie"].lower()
    assert "httponly" in told
    assert "samesite=strict" in told
    server.client.cookies.clear()


def test_the_unit_does_not_take_its_own_key_for_a_partys_however_it_is_written(server):
    """A party that gives it, by mistake or not, has the others seal what they mined to the unit."""
    hospital, _ = server.exchange()
    with server.untouched():
        known, own = server.recipient, hospital.recipient
        mixed = (f"{known.age}+ed25519:{own.signs}", f"{own.age}+ed25519:{known.signs}")
        for key in (known.key, known.key.upper(), *mixed):
            answer = hospital.ask("PUT", "recipient", content=key)
            assert_refused(answer, 422)


def test_a_key_that_nobody_can_seal_to_is_no_recipient(server):
    """Curve25519 has points of which all secrets are zero; sealing to one is a panic."""
    hospital, _ = server.exchange()
    with server.untouched():
        for key in (
            "age1qqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqq5cu47z",
            "age1qyqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqj7vrya",
        ):
            content = f"{key}+ed25519:{hospital.recipient.signs}"
            assert_refused(hospital.ask("PUT", "recipient", content=content), 422)


def test_a_key_that_anybody_can_sign_with_is_no_recipient(server):
    """Ed25519 has such points, too: one signature holds for one message in eight, or for all."""
    hospital, _ = server.exchange()
    age = hospital.recipient.age
    with server.untouched():
        for signs in ("00" * 32, "01" + "00" * 31, "ec" + "ff" * 30 + "7f", ""):
            content = f"{age}+ed25519:{signs}" if signs else age
            assert_refused(hospital.ask("PUT", "recipient", content=content), 422)


def test_after_all_these_tokens_the_next_exchange_works(server):
    server.works()
