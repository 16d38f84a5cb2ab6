import io
import re
import ssl
import time

import httpx
import pytest

from fake_unit import TOKEN, reply
from gramlink.bundles.sealing import new_identity
from gramlink.errors import GramlinkError, InvalidFile, InvalidParameter, Refused, Unanswered
from gramlink.exchange import client as module
from gramlink.exchange import connection
from gramlink.exchange.client import Client
from gramlink.exchange.connection import checked_url, read_token
from gramlink.exchange.wire import Limits, UnitInfo

URL = "http://localhost:8440"


class Script:
    """Answers in turn, the last one for ever; an exception is raised."""

    def __init__(self, *answers):
        self.answers, self.requests, self.pauses, self.said = list(answers), [], [], []
        self.now = 0.0

    def handle(self, request):
        request.read()
        self.requests.append(request)
        answer = self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]
        answer = answer(request) if callable(answer) else answer
        if isinstance(answer, Exception):
            raise answer
        status, content, *headers = answer
        return reply(status, content, **(headers[0] if headers else {}))

    def pause(self, seconds):
        self.pauses.append(seconds)
        self.now += seconds

    def client(self, monkeypatch=None, **options):
        if monkeypatch:
            monkeypatch.setattr(time, "monotonic", lambda: self.now)
        transport = httpx.MockTransport(self.handle)
        options = {"say": self.said.append, "pause": self.pause, **options}
        return Client(URL, TOKEN, transport=transport, **options)


KEY = new_identity().recipient
FINE = (
    200,
    UnitInfo(
        gramlink="0.1.0",
        recipient=KEY,
        fingerprint=KEY.fingerprint,
        limits=Limits(bundle_bytes=2**32, mined_bytes=2**26),
    )
    .model_dump_json()
    .encode(),
)
SHA256 = "0" * 64


@pytest.mark.parametrize(
    "trouble",
    [
        httpx.ConnectError("refused"),
        httpx.ReadTimeout("slow"),
        httpx.RemoteProtocolError("cut off"),
        *((status, b"") for status in (408, 429, 502, 503, 504)),
    ],
    ids=str,
)
def test_what_may_go_away_is_tried_again_and_said_once(trouble, monkeypatch):
    script = Script(trouble, trouble, trouble, FINE)
    assert script.client(monkeypatch).unit().recipient == KEY
    (said,) = script.said
    assert said.startswith("the linkage unit does not answer (")
    assert said.endswith("); trying for 600 more seconds")
    assert script.pauses == [0.2, 0.4, 0.8]


def test_pauses_grow_to_five_seconds_until_patience_ends(monkeypatch):
    script = Script(httpx.ConnectError("refused"))
    with pytest.raises(Unanswered, match="has not answered for 30 seconds: refused") as error:
        script.client(monkeypatch, patience=30).unit()
    assert "again" in error.value.hint
    assert max(script.pauses) == 5
    assert sum(script.pauses) == pytest.approx(30)


def test_it_is_said_every_minute_how_long_was_waited_and_will_be(monkeypatch):
    script = Script(httpx.ConnectError("refused"))
    with pytest.raises(Unanswered):
        script.client(monkeypatch, patience=150).unit()
    first, *more = script.said
    assert first == "the linkage unit does not answer (refused); trying for 150 more seconds"
    says = r"has not answered for (\d+) seconds \(refused\); trying for (\d+) more seconds"
    waited = [tuple(map(int, re.search(says, one).groups())) for one in more]
    assert [before + after for before, after in waited] == [150, 150]
    assert [before // 60 for before, _ in waited] == [1, 2]


def test_patience_is_counted_from_the_last_answer(monkeypatch):
    script = Script(httpx.ConnectError("refused"), httpx.ConnectError("refused"), FINE)
    script.answers = [script.answers[0]] * 8 + [FINE]
    client = script.client(monkeypatch, patience=30)
    client.unit()
    script.now += 1000
    script.answers = [httpx.ConnectError("refused")] * 8 + [FINE]
    client.unit()


@pytest.mark.parametrize("status", [400, 403, 404, 409, 410, 413, 422, 500])
def test_a_refusal_is_an_error_in_the_units_words(status):
    script = Script((status, b'{"error": "there is no room", "hint": "make room"}'))
    with pytest.raises(Refused, match="the linkage unit says: there is no room") as error:
        script.client().token()
    assert (error.value.hint, error.value.status) == ("make room", status)
    assert len(script.requests) == 1


def test_a_refused_token_hints_at_its_file_and_is_never_shown():
    script = Script((401, b'{"error": "the token has expired", "hint": "?"}'))
    with pytest.raises(Refused, match="has expired") as error:
        script.client().token()
    assert "token file" in error.value.hint
    assert TOKEN not in str(error.value) + error.value.hint
    assert script.requests[0].headers["Authorization"] == f"Bearer {TOKEN}"


@pytest.mark.parametrize("words", [b"", b"<html>", b"[]", b'{"error": 5}', b'{"error": null}'])
def test_a_refusal_without_words_is_an_error_all_the_same(words):
    with pytest.raises(Refused, match="the linkage unit says: "):
        Script((404, words)).client().token()


def test_a_redirect_is_not_followed():
    script = Script((307, b"", {"Location": "https://elsewhere.example"}))
    with pytest.raises(Refused, match="elsewhere, and redirects are not followed"):
        script.client().token()
    assert len(script.requests) == 1


@pytest.mark.parametrize(
    "content", [b"", b"hello", b"[1]", b"\xff", b"[" * 10**5, b'{"a": 1, "a": 2}', b'{"a": NaN}']
)
def test_an_answer_that_is_no_json_object_is_refused(content):
    says = "does not answer like a linkage unit: it is not a JSON object"
    with pytest.raises(InvalidFile, match=says):
        Script((200, content)).client().unit()


def test_answers_are_bounded_before_they_are_kept(monkeypatch):
    monkeypatch.setattr(module, "MOST_MINED", 1000)
    monkeypatch.setattr(module, "MOST_RESULTS", 1000)
    assert Script((200, bytes(1000))).client().mined("x", "registry") == bytes(1000)
    large, kept = Script((200, bytes(1001))).client(), io.BytesIO()
    with pytest.raises(InvalidFile, match="larger than 1,000 bytes"):
        large.mined("x", "registry")
    with pytest.raises(InvalidFile, match="larger than 1,000 bytes"):
        large.results("x", kept)
    assert len(kept.getvalue()) <= 1000
    with pytest.raises(InvalidFile, match="larger than 1,048,576 bytes"):
        Script((200, bytes(2**20 + 1))).client().schema("x")
    with pytest.raises(InvalidFile, match="larger than 1,048,576 bytes"):
        Script((404, bytes(2**20 + 1))).client().schema("x")


def test_results_that_were_cut_off_are_fetched_anew():
    kept = io.BytesIO(b"what was there before, and is longer")

    def cut(_):
        kept.write(b"half")
        return httpx.ReadError("cut off")

    Script(cut, (200, b"whole")).client().results("x", kept)
    assert kept.getvalue() == b"whole"


def test_names_are_quoted_in_paths():
    script = Script((204, b""))
    script.client().put_mined("stroke-2026", "St. Mary's?/&#", b"sealed")
    expected = b"/api/exchanges/stroke-2026/mined/St.%20Mary%27s%3F%2F%26%23"
    assert script.requests[0].url.raw_path == expected


class Part:
    """The upload of a unit that may fail in any request."""

    def __init__(self, size, trouble=lambda _: None):
        self.kept, self.size, self.trouble, self.count = b"", size, trouble, 0

    def __call__(self, request):
        self.count += 1
        trouble = self.trouble(self, request) if self.trouble else None
        if trouble is not None:
            return trouble
        if request.method == "PATCH":
            if int(request.url.params["offset"]) != len(self.kept):
                return 409, b'{"error": "wrong offset", "offset": 0}'
            self.kept += request.content
        return 200, b'{"offset": %d}' % len(self.kept)


def upload(unit, data, **options):
    script, seen = Script(unit), []
    client = script.client(**options)
    client.upload("x", io.BytesIO(data), len(data), SHA256, lambda *done: seen.append(done))
    return script, seen


@pytest.fixture
def small_pieces(monkeypatch):
    monkeypatch.setattr(module, "PIECE", 10)


@pytest.mark.usefixtures("small_pieces")
@pytest.mark.parametrize("size", [1, 9, 10, 11, 95])
def test_a_bundle_goes_in_pieces_with_progress(size):
    data = bytes(range(size))
    unit = Part(size, None)
    _, seen = upload(unit, data)
    assert unit.kept == data
    assert seen == [*((done, size) for done in range(0, size, 10)), (size, size)]


@pytest.mark.usefixtures("small_pieces")
def test_an_upload_goes_on_from_where_the_unit_has_it():
    unit = Part(50, None)
    unit.kept = bytes(range(37))
    script, seen = upload(unit, bytes(range(50)))
    assert unit.kept == bytes(range(50))
    assert seen[0] == (37, 50)
    assert [request.method for request in script.requests] == ["POST", "PATCH", "PATCH"]


@pytest.mark.usefixtures("small_pieces")
def test_an_upload_that_is_whole_is_not_sent_again():
    unit = Part(50, None)
    unit.kept = bytes(50)
    script, _ = upload(unit, bytes(50))
    assert [request.method for request in script.requests] == ["POST"]


def before(unit, _):
    """The connection breaks before anything has come."""
    return httpx.ReadError("cut off") if unit.count % 3 == 0 else None


def halfway(unit, request):
    """The connection breaks when half of the piece has come."""
    if unit.count % 3 or request.method != "PATCH":
        return None
    if int(request.url.params["offset"]) == len(unit.kept):
        unit.kept += request.content[: len(request.content) // 2]
    return httpx.WriteError("cut off")


def afterwards(unit, request):
    """All has come, and the answer is lost."""
    if unit.count % 3 or request.method != "PATCH":
        return None
    if int(request.url.params["offset"]) == len(unit.kept):
        unit.kept += request.content
    return httpx.ReadError("cut off")


def silent(unit, _):
    """The unit has waited too long for the rest."""
    return (408, b"") if unit.count % 3 == 0 else None


@pytest.mark.usefixtures("small_pieces")
@pytest.mark.parametrize("trouble", [before, halfway, afterwards, silent])
@pytest.mark.parametrize("size", [10, 95, 100])
def test_a_broken_upload_asks_where_to_go_on(trouble, size):
    data = bytes(range(size))
    unit = Part(size, trouble)
    upload(unit, data)
    assert unit.kept == data


@pytest.mark.usefixtures("small_pieces")
def test_another_upload_of_ours_that_is_still_under_way_is_waited_for():
    busy = [(409, b'{"error": "the same is being sent already"}')] * 3

    def once_busy(unit, _):
        return busy.pop() if busy and unit.count > 2 else None

    unit = Part(50, once_busy)
    upload(unit, bytes(range(50)))
    assert unit.kept == bytes(range(50))


@pytest.mark.parametrize(
    "answer",
    [b"{}", b'{"offset": -1}', b'{"offset": 51}', b'{"offset": "0"}', b'{"offset": true}'],
)
def test_an_offset_that_cannot_be_is_refused(answer):
    with pytest.raises(InvalidFile, match="does not answer like a linkage unit: offset: "):
        upload(lambda _: (200, answer), bytes(50))


def test_a_unit_that_takes_nothing_exhausts_patience(monkeypatch):
    script = Script((200, b'{"offset": 0}'))
    with pytest.raises(Unanswered, match="accepts no more of the bundle"):
        script.client(monkeypatch, patience=20).upload("x", io.BytesIO(bytes(50)), 50, SHA256)


def test_another_bundle_than_the_one_sent_before_is_an_error():
    script = Script((409, b'{"error": "another bundle was uploaded", "hint": ""}'))
    with pytest.raises(Refused, match="another bundle was uploaded"):
        script.client().upload("x", io.BytesIO(bytes(50)), 50, SHA256)


@pytest.mark.parametrize(
    "url",
    [
        "https://unit.example",
        "https://unit.example:8440/linkage/",
        "http://localhost:8440",
        "http://127.0.0.1",
        "http://127.8.9.1:80",
        "http://[::1]:8440",
    ],
)
def test_addresses_a_token_can_go_to(url):
    assert checked_url(url, insecure=False) == url.rstrip("/")


@pytest.mark.parametrize(
    "url",
    [
        "",
        "unit.example",
        "unit.example:8440",
        "ftp://unit.example",
        "https://",
        "https://user:secret@unit.example",
        "https://@unit.example",
        "https://unit.example?x=1",
        "https://unit.example#x",
        "https://unit.example:port",
        "https://unit.example:99999",
        "https://unit example",
        "https://unit.example\n",
        "https://[::1",
        "https://ünit.example",
    ],
)
def test_what_is_no_address_is_refused(url):
    with pytest.raises(InvalidParameter, match="must be like https://"):
        checked_url(url, insecure=True)


@pytest.mark.parametrize(
    "url", ["http://unit.example", "http://10.0.0.1", "http://localhost.example", "http://0.0.0.0"]
)
def test_without_tls_only_this_machine_is_spoken_to(url):
    with pytest.raises(InvalidParameter, match="without TLS") as error:
        checked_url(url, insecure=False)
    assert "--insecure" in error.value.hint
    assert checked_url(url, insecure=True) == url


def test_a_token_is_one_line_of_a_file(tmp_path):
    path = tmp_path / "token"
    path.write_text(f"{TOKEN}\r\n")
    assert read_token(path) == TOKEN


@pytest.mark.parametrize("content", [b"", b"\n", b"two words", b"a\nb", b"\xff", b"x" * 1001])
def test_what_is_no_token_is_refused_without_showing_it(tmp_path, content):
    path = tmp_path / "token"
    path.write_bytes(content)
    with pytest.raises(InvalidFile, match="token holds no token"):
        read_token(path)
    with pytest.raises(InvalidFile, match="cannot be read"):
        read_token(tmp_path / "missing")


def test_an_authority_that_is_none_is_refused(tmp_path):
    path = tmp_path / "authority.pem"
    for content in (None, b"", b"hello"):
        if content is not None:
            path.write_bytes(content)
        with pytest.raises(InvalidFile, match=r"authority\.pem is not a certificate"):
            Client("https://unit.example", authority=path)


@pytest.mark.parametrize(
    ("reason", "says"),
    [
        (ssl.SSLCertVerificationError(1, "CERTIFICATE_VERIFY_FAILED"), "is not trusted"),
        (ssl.SSLError(1, "[SSL: WRONG_VERSION_NUMBER] wrong version number"), "speak TLS"),
    ],
)
def test_a_wrong_certificate_is_not_tried_again(reason, says):
    if isinstance(reason, ssl.SSLCertVerificationError):
        reason.verify_message = "self-signed certificate"
    else:
        reason.reason = "WRONG_VERSION_NUMBER"
    error = httpx.ConnectError("failed")
    error.__cause__ = reason
    script = Script(error)
    with pytest.raises(Refused, match=says):
        script.client().unit()
    assert len(script.requests) == 1


def test_every_error_of_the_connection_is_one_of_ours():
    assert issubclass(Refused, GramlinkError)
    assert issubclass(Unanswered, GramlinkError)
    assert not issubclass(connection.Later, GramlinkError)
