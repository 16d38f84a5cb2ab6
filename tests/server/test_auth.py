import pytest

from gramlink.server import auth
from gramlink.server.auth import Token, new_token
from server.parties import Asker, sql


def test_a_token_is_of_the_form_that_is_documented():
    token = new_token()
    prefix, name, secret = token.text.split("_", 2)
    assert (prefix, len(name), len(secret)) == ("gl", 8, 43)
    assert token.id == name


def test_a_token_does_not_show_its_secret():
    token = new_token()
    assert token.text not in repr(token)
    assert token.text not in token.digest


@pytest.mark.parametrize(
    "text",
    [
        *("", "gl_", "gl_0a1b2c3d_", "x" * 60),
        *("gl_0a1b2c3d_" + "x" * 42, "gl_0a1b2c3d_" + "x" * 44),
        "gl_0A1B2C3D_" + "x" * 43,
        "gl_0a1b2c3d_" + "x" * 42 + "é",
        "gl_0a1b2c3d_" + "x" * 43 + "\n",
    ],
)
def test_what_is_no_token_is_not_taken_for_one(text):
    assert Token.parsed(text) is None


def test_the_tables_do_not_hold_the_token(unit, operator):
    unit.store.close()
    for path in unit.folder.path.glob("unit.sqlite3*"):
        assert operator.token.encode() not in path.read_bytes()


def test_a_wrong_secret_is_refused_as_an_unknown_token_is(anybody, operator):
    for token in (
        "gl_00000000_" + "x" * 43,
        operator.token[:-1] + "!",
        operator.token[:12] + "x" * 43,
    ):
        answer = anybody.get("/api/token", 401, headers={"Authorization": f"Bearer {token}"})
        assert answer.json()["error"] == (
            "this is not a token of this linkage unit, or its exchange was deleted"
        )
        assert answer.headers["www-authenticate"] == "Bearer"


def test_no_token_at_all(anybody):
    assert "needs a token" in anybody.get("/api/token", 401).json()["error"]


@pytest.mark.parametrize(
    "header", ["Bearer", "Bearer ", "Basic eDp5", "bearer\t", "Bearer é x", ""]
)
def test_a_header_that_makes_no_sense(anybody, header):
    anybody.get("/api/token", 401, headers={"Authorization": header.encode()})


def test_a_token_says_whom_it_speaks_for(operator, hospital):
    assert operator.get("/api/token").json()["role"] == "operator"
    found = hospital.get("/api/token").json()
    assert (found["role"], found["exchange"], found["party"]) == (
        "party",
        "stroke-2026",
        "hospital",
    )


def test_an_expired_token_is_told_so_and_only_to_its_holder(unit, hospital, anybody):
    sql(unit, "UPDATE tokens SET expires = '2020-01-01T00:00:00Z' WHERE party IS NOT NULL")
    assert "expired at 2020" in hospital.get("/api/token", 401).json()["error"]
    other = {"Authorization": f"Bearer {hospital.token[:12]}{'x' * 43}"}
    assert "expired" not in anybody.get("/api/token", 401, headers=other).text


def test_a_revoked_token_no_longer_holds(operator, hospital):
    operator.ask("DELETE", "tokens/hospital", says=204)
    assert "revoked" in hospital.get("/api/token", 401).json()["error"]
    assert operator.view()["parties"][0]["token"]["revoked"]


def test_a_new_token_takes_the_place_of_the_old_one(operator, hospital, app):
    made = operator.ask("POST", "tokens", json={"party": "hospital", "days": 1}, says=201).json()
    assert Asker(app, made["token"]).get("/api/token").json()["expires"] == made["expires"]
    hospital.get("/api/token", 401)
    assert operator.view()["parties"][0]["token"] == {"expires": made["expires"], "revoked": None}


@pytest.mark.usefixtures("hospital")
def test_a_token_of_a_party_that_is_not_there(operator):
    operator.ask("POST", "tokens", json={"party": "clinic", "days": 1}, says=404)
    operator.ask("DELETE", "tokens/clinic", says=404)
    operator.ask("POST", "/api/exchanges/other/tokens", json={"party": "hospital"}, says=404)


def test_only_the_operator_gives_tokens(hospital):
    hospital.ask("POST", "tokens", json={"party": "hospital"}, says=403)
    hospital.ask("DELETE", "tokens/hospital", says=403)


def test_giving_a_token_revokes_the_operators_others(unit, operator):
    with unit.store.change() as db:
        auth.give(db, None, 1)
    operator.get("/api/token", 401)
