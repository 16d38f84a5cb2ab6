"""The pages, as a browser would ask for them."""

import pytest

from server.parties import Asker

OWN = {"Sec-Fetch-Site": "same-origin", "Accept": "text/html"}


@pytest.fixture
def browser(app):
    return Asker(app)


def sign_in(browser, token, says=303, **headers):
    return browser.ask(
        "POST", "/sign-in", data={"token": token}, headers={**OWN, **headers}, says=says
    )


def test_a_stranger_gets_the_way_in(browser):
    answer = browser.get("/", headers=OWN)
    assert 'name="token"' in answer.text
    assert answer.headers["content-type"] == "text/html; charset=utf-8"


def test_the_operator_signs_in_sees_all_and_signs_out(browser, operator, parties):
    del parties
    answer = sign_in(browser, f"  {operator.token}\n")
    cookie = answer.headers["set-cookie"]
    for part in ("gramlink=gl_", "HttpOnly", "SameSite=strict", "Max-Age=", "Path=/"):
        assert part in cookie
    assert "Secure" not in cookie
    assert answer.headers["location"] == "/"
    assert "stroke-2026" in browser.get("/", headers=OWN).text
    assert "hospital" in browser.get("/exchanges/stroke-2026", headers=OWN).text
    assert "made the exchange" in browser.get("/log", headers=OWN).text
    browser.ask("POST", "/sign-out", headers=OWN, says=303)
    assert 'name="token"' in browser.get("/", headers=OWN).text


def test_a_token_that_no_longer_holds_leads_to_the_way_in(browser, operator, hospital):
    sign_in(browser, hospital.token)
    operator.ask("DELETE", "tokens/hospital", says=204)
    assert "this token was revoked" in browser.get("/", headers=OWN).text


def test_a_cookie_is_for_encrypted_connections_only_where_there_are_any(app, operator):
    browser = Asker(app)
    url = "https://testserver/sign-in"
    answer = browser.client.post(url, data={"token": operator.token}, headers=OWN)
    assert "Secure" in answer.headers["set-cookie"]


def test_a_party_is_led_to_its_exchange(browser, hospital):
    sign_in(browser, hospital.token)
    assert browser.get("/", 303, headers=OWN).headers["location"] == "/exchanges/stroke-2026"
    assert "registry" in browser.get("/exchanges/stroke-2026", headers=OWN).text
    assert browser.get("/log", 403, headers=OWN).headers["content-type"].startswith("text/html")


@pytest.mark.parametrize("token", ["", "nonsense", "\0", "gl_00000000_" + "x" * 43, "é<script>"])
def test_a_token_that_does_not_hold(browser, token):
    answer = sign_in(browser, token, 401)
    assert "not a token" in answer.text
    assert "<script>" not in answer.text.replace('<script type="module"', "")
    assert "set-cookie" not in answer.headers


@pytest.mark.parametrize("content", [b"", b"\xff\xfe", b"&" * 4000, b"token=%ff%00", b"=" * 4000])
def test_a_form_that_is_none(browser, content):
    assert browser.ask("POST", "/sign-in", content=content).status_code in (401, 422)


def test_a_form_that_is_too_long(browser):
    browser.ask("POST", "/sign-in", content=b"x" * 5000, says=413)


def test_another_site_can_sign_nobody_in_or_out(browser, operator):
    for headers in ({"Sec-Fetch-Site": "cross-site"}, {"Origin": "https://evil.example"}):
        data = {"token": operator.token}
        browser.ask("POST", "/sign-in", data=data, headers=headers, says=403)
        browser.ask("POST", "/sign-out", headers=headers, says=403)
    browser.ask("POST", "/sign-out", says=403)


def test_pages_need_a_token(browser, operator):
    for path in ("/log", "/exchanges/stroke-2026"):
        page = browser.get(path, 401, headers=OWN).text
        assert "<html" in page
        assert 'name="token"' in page
        assert browser.get(path, 401).json()["error"]
    assert "<html" in operator.get("/exchanges/nonsense", 404, headers=OWN).text
    assert "<html" in operator.get("/nonsense", 404, headers=OWN).text


@pytest.mark.parametrize("name", ["style.css", "page.js"])
def test_the_files_that_pages_use(browser, name):
    kind = {"css": "text/css", "js": "text/javascript"}[name.rpartition(".")[2]]
    assert browser.get(f"/static/{name}").headers["content-type"].startswith(kind)


@pytest.mark.parametrize("name", ["", "x", "..%2fsite.py", "../site.py", "style.css/", "%00"])
def test_there_are_no_other_files(browser, name):
    browser.get(f"/static/{name}", 404)
