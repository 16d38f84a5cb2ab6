"""What a unit may say, and what is refused of it: its answers are another party's text."""

import json
from copy import deepcopy

import pytest

from gramlink.bundles.sealing import new_identity
from gramlink.exchange.values import LONGEST_WORDS, read
from gramlink.exchange.wire import (
    ExchangeInfo,
    NewUpload,
    Offset,
    PartySummary,
    Problem,
    Summary,
    TokenInfo,
    UnitInfo,
)

KEYS = [new_identity().recipient.key for _ in range(2)]
BUNDLE = dict.fromkeys(
    ("reason", "rows", "epsilon", "created", "bytes", "sha256", "offset", "size")
)
RESULTS = {"ready": False, "bytes": None, "sha256": None, "fetched": None}
TOTALS = {"links": 3, "possible": 0, "precision": 0.5, "recall": None}
PAIR = {
    "left": "hospital",
    "right": "registry",
    **TOTALS,
    "rows": {"hospital": 30, "registry": 30},
    "passes": [{"pass": {"surname": 1}, "label": "", "found": 5, "added": 5}],
    "weights": {"surname": {"equal": 8.5}},
    "histogram": [[-6, 90], [8, 4]],
    "warnings": ["sex says next to nothing"],
}
EXCHANGE = {
    "name": "stroke-2026",
    "created": "2026-01-01T00:00:00Z",
    "stage": "bundles",
    "reason": None,
    "parties": [
        {
            "name": name,
            "returns": "links",
            "recipient": key,
            "mined_sent_to": [],
            "bundle": {"state": "none", **BUNDLE},
            "results": RESULTS,
        }
        for name, key in zip(("hospital", "registry"), KEYS, strict=True)
    ],
    "progress": {"step": "matching", "done": 1, "total": 2},
    "summary": None,
    "erase": None,
    "erased": None,
}


def said(content, *path_and_value):
    """An answer as bytes, with something else at one place."""
    content = deepcopy(content)
    if path_and_value:
        *path, last, value = path_and_value
        place = content
        for step in path:
            place = place[step]
        place[last] = value
    return json.dumps(content).encode()


def test_an_exchange_is_read_and_its_parties_found_by_name():
    status = read(ExchangeInfo, said(EXCHANGE))
    assert status.names == ("hospital", "registry")
    assert status["registry"].recipient.key == KEYS[1]
    assert status == read(ExchangeInfo, status.model_dump_json().encode())


@pytest.mark.parametrize(
    ("summary", "kind"),
    [({"pairs": [PAIR], "clusters": 3}, Summary), (TOTALS, PartySummary)],
)
def test_what_came_of_it_is_said_differently_to_the_operator_and_a_party(summary, kind):
    status = read(ExchangeInfo, said(EXCHANGE, "summary", summary))
    assert type(status.summary) is kind
    assert json.loads(status.summary.model_dump_json(by_alias=True)) == summary


@pytest.mark.parametrize(
    "path",
    [(), ("parties", 0), ("parties", 0, "bundle"), ("parties", 1, "results"), ("progress",)],
    ids=str,
)
def test_what_a_newer_unit_says_besides_is_ignored(path):
    assert read(ExchangeInfo, said(EXCHANGE, *path, "news", {"a": [1]})) == read(
        ExchangeInfo, said(EXCHANGE)
    )


@pytest.mark.parametrize(
    ("path", "value"),
    [
        (("name",), "Stroke"),
        (("name",), None),
        (("stage",), "bases"),
        (("stage",), 5),
        (("created",), 5),
        (("created",), "2" * 101),
        (("reason",), 5),
        (("reason",), ["bad"]),
        (("summary",), {"links": 3}),
        (("summary",), {**TOTALS, "links": "3"}),
        (("summary",), {**TOTALS, "precision": "high"}),
        (("erase",), 20260101),
        (("parties",), {}),
        (("parties",), None),
        (("parties",), EXCHANGE["parties"][:1]),
        (("parties",), EXCHANGE["parties"] * 2),
        (("parties",), [{**EXCHANGE["parties"][0], "name": f"p{n}"} for n in range(21)]),
        (("parties", 0), "hospital"),
        (("parties", 0, "name"), "registry"),
        (("parties", 0, "name"), "a/b"),
        (("parties", 0, "name"), "a\nb"),
        (("parties", 0, "name"), "x" * 101),
        (("parties", 0, "name"), ""),
        (("parties", 0, "returns"), "everything"),
        (("parties", 0, "recipient"), "age1nonsense"),
        (("parties", 0, "recipient"), KEYS[0].upper()),
        (("parties", 0, "recipient"), 5),
        (("parties", 0, "mined_sent_to"), "registry"),
        (("parties", 0, "mined_sent_to"), [5]),
        (("parties", 0, "mined_sent_to"), ["../x"]),
        (("parties", 0, "mined_sent_to"), ["registry"] * 21),
        (("parties", 0, "bundle"), None),
        (("parties", 0, "bundle", "state"), "lost"),
        (("parties", 0, "bundle", "rows"), -1),
        (("parties", 0, "bundle", "rows"), 2**63),
        (("parties", 0, "bundle", "rows"), True),
        (("parties", 0, "bundle", "rows"), 1.0),
        (("parties", 0, "bundle", "rows"), "1"),
        (("parties", 0, "bundle", "sha256"), "AB" * 32),
        (("parties", 0, "results", "ready"), 1),
        (("parties", 0, "results", "ready"), "true"),
        (("progress",), None),
        (("progress", "done"), -1),
        (("progress", "total"), "many"),
        (("progress", "step"), 5),
    ],
    # keys are new in each process, so values cannot tell tests apart
    ids=lambda value: ".".join(map(str, value)) if isinstance(value, tuple) else "",
)
def test_an_exchange_that_cannot_be_is_refused_in_one_line(path, value):
    with pytest.raises(ValueError, match=rf"^{path[0]}|look like the same name") as error:
        read(ExchangeInfo, said(EXCHANGE, *path, value))
    assert str(error.value).isprintable()


def leaves(content, path=()):
    for key in content:
        yield (*path, key)
        if isinstance(content[key], dict):
            yield from leaves(content[key], (*path, key))


PARTY = (("parties", 0, *path) for path in leaves(EXCHANGE["parties"][0]))


@pytest.mark.parametrize("path", [*leaves(EXCHANGE), *PARTY], ids=str)
def test_nothing_may_be_left_out(path):
    content = deepcopy(EXCHANGE)
    place = content
    for step in path[:-1]:
        place = place[step]
    del place[path[-1]]
    with pytest.raises(ValueError, match="Field required"):
        read(ExchangeInfo, json.dumps(content).encode())


def test_long_words_are_cut_short():
    status = read(ExchangeInfo, said(EXCHANGE, "reason", "x" * 10**5))
    assert status.reason == "x" * LONGEST_WORDS
    status = read(ExchangeInfo, said(EXCHANGE, "progress", "step", "x" * 10**5))
    assert status.progress.step == "x" * 100
    assert len(read(Problem, said({"error": "x" * 10**5})).error) == LONGEST_WORDS


def test_a_complaint_does_not_bring_control_characters_to_a_terminal():
    pair = {**PAIR, "rows": {"\x1b[2J\n": -1}}
    with pytest.raises(ValueError, match="rows") as error:
        read(ExchangeInfo, said(EXCHANGE, "summary", {"pairs": [pair], "clusters": 0}))
    assert str(error.value).isprintable()


@pytest.mark.parametrize(
    "data",
    [
        *(b"", b"[]", b"5", b"\xff", b"[" * 10**5),
        *(b'{"offset": 1, "offset": 1}', b'{"offset": NaN}'),
        '{"offset": 1}'.encode("utf-16"),
        b'{"offset": 1, "x": ' + b"[" * 500 + b"]" * 500 + b"}",
    ],
    ids=lambda data: repr(data[:20]),
)
def test_what_is_not_plain_json_is_refused(data):
    with pytest.raises(ValueError, match=r"not a JSON object|Invalid JSON"):
        read(Offset, data)


@pytest.mark.parametrize(
    ("model", "content"),
    [
        (TokenInfo, {"role": "god", "exchange": None, "party": None, "expires": ""}),
        (TokenInfo, {"role": "party", "exchange": "../x", "party": "a", "expires": ""}),
        (TokenInfo, {"role": "party", "exchange": "x", "party": "../a", "expires": ""}),
        (UnitInfo, {"gramlink": "1", "recipient": "age1", "fingerprint": "", "limits": {}}),
        (Offset, {"offset": -1}),
        (Offset, {"offset": True}),
        (Problem, {"error": 5}),
        (NewUpload, {"size": 1, "sha256": "0" * 64, "more": 1}),
    ],
    ids=str,
)
def test_other_answers_that_cannot_be_are_refused(model, content):
    with pytest.raises(ValueError, match=": "):
        read(model, said(content))
