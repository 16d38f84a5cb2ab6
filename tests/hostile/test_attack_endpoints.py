"""Nonsense for every endpoint that the unit describes: a refusal in one line, and nothing changed.

Which there are, and what they take, is read from the unit's own description, so that a new
endpoint is attacked from its first day.
"""

import random
from urllib.parse import quote

import pytest

from hostile.attacking import assert_refused
from hostile.test_attack_json import JUNK, OTHERS

pytestmark = pytest.mark.usefixtures("sound")

_drawn = random.Random(17)
BODIES = [
    *JUNK.values(),
    *OTHERS.values(),
    b"PK\3\4" + _drawn.randbytes(300),
    b"PAR1" + _drawn.randbytes(300) + b"PAR1",
    b"age-encryption.org/v1\r\n-> X25519 x\n",
    b"-----BEGIN AGE ENCRYPTED FILE-----\n",
    b"\xff\xfe" + "id,surname\n1,MÜLLER\n".encode("utf-16-le"),
    b"--x\r\nContent-Disposition: form-data; name=token\r\n\r\nx\r\n--x--",
    b"token=" + b"%00" * 500,
    _drawn.randbytes(900),
]
WORDS = [
    b"\0", b"\xff\xc0\xaf", b"\x1b]0;x\x07", b"\xe2\x80\xae\xe2\x80\x8b", b"' OR 1=1 --", b"%s%n",
    b"<svg onload=x>", b"${x}{{7*7}}", b"-1", b"9" * 5000, b"1e999", b"NaN", b"x" * 3000,
    "\U000e0041ǅﷺ".encode(), b"a\r\nX-Made: up", b"../" * 20, b"=cmd|x", b"con", b" ",
]  # fmt: skip


@pytest.fixture(scope="module")
def endpoints(server):
    """Each method and path, with what it says of itself."""
    paths = server.ask("GET", "/openapi.json", 200).json()["paths"]
    found = [(verb, path, told) for path, verbs in paths.items() for verb, told in verbs.items()]
    assert len(found) > 12
    return found


def refused(answer):
    """It may not be the fault of the unit, nor anything but a line."""
    assert 400 <= answer.status_code < 500, (answer.status_code, answer.text)
    told = answer.json()
    assert told["error"]
    for line in (told["error"], told["hint"]):
        assert line.isprintable()
        assert len(line) < 1100


def test_nonsense_as_a_body(server, pair, endpoints):
    hospital = pair[0]
    taking = [one for one in endpoints if "requestBody" in one[2]]
    assert len(taking) >= 6
    with server.untouched():
        for method, path, told in taking:
            address = path.format(name=hospital.exchange, party="registry")
            token = server.token if path.endswith(("/exchanges", "/tokens")) else hospital.token
            query = {one["name"]: 0 for one in told.get("parameters", ()) if one["in"] == "query"}
            for body in BODIES:
                refused(server.ask(method, address, token=token, params=query, content=body))


def test_nonsense_as_part_of_an_address(server, pair, endpoints):
    hospital = pair[0]
    with server.untouched():
        for method, path, told in endpoints:
            for one in told.get("parameters", []):
                if one["in"] not in ("path", "query"):
                    continue
                for word in WORDS:
                    known = {"name": hospital.exchange, "party": "registry"}
                    query = {one["name"]: word} if one["in"] == "query" else {}
                    if one["in"] == "path":
                        known[one["name"]] = quote(word, safe="")
                    rest = "&".join(f"{key}={quote(value)}" for key, value in query.items())
                    for token in (hospital.token, server.token):
                        answer = server.ask(method, f"{path.format(**known)}?{rest}", token=token)
                        refused(answer)


@pytest.mark.parametrize(
    "header", ["Authorization: ", "Authorization: Bearer ", "Cookie: gramlink="]
)
def test_nonsense_in_a_header_that_says_who_asks(server, pair, header):
    start = f"PUT {pair[0].path}/recipient HTTP/1.1\r\nHost: x\r\nConnection: close\r\n{header}"
    with server.untouched():
        for word in WORDS:
            answer = server.raw(start.encode() + word + b"\r\nContent-Length: 1\r\n\r\nx")
            assert answer[:12] in (b"HTTP/1.1 400", b"HTTP/1.1 401", b"HTTP/1.1 403"), word
            assert b"Made" not in answer


def test_nonsense_to_sign_in_with(server):
    with server.untouched():
        for body in BODIES:
            answer = server.ask("POST", "/sign-in", token=None, content=body)
            assert answer.status_code in (401, 413), body[:50]
            assert "set-cookie" not in answer.headers
        answer = server.ask("POST", "/sign-in", token=None, content=b"token=" + b"x" * 4096)
        assert_refused(answer, 413, "larger than the 4,096 bytes")
