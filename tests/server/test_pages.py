"""The pages as text: what they say, what they keep to themselves, and that they are whole."""

import json
import re
import shlex
import shutil
from html.parser import HTMLParser
from itertools import product
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from typer.testing import CliRunner

from gramlink.bundles.bundle import Bundle
from gramlink.bundles.sealing import new_identity, seal_from, unseal_from, write_recipient
from gramlink.cli import app
from gramlink.exchange.values import read
from gramlink.exchange.wire import ExchangeInfo, ExchangeList, LogInfo, TokenInfo, UnitInfo
from gramlink.parties.answers import answer
from gramlink.server import pages

KEYS = [new_identity().recipient for _ in range(3)]
STATIC = Path(pages.__file__).parent.parent / "static"
OPERATOR = {"role": "operator", "exchange": None, "party": None, "expires": "2030-01-01T00:00:00Z"}
UNIT = {
    "gramlink": "0.1.0",
    "recipient": KEYS[2].key,
    "fingerprint": KEYS[2].fingerprint,
    "limits": {"bundle_bytes": 2**32, "mined_bytes": 2**24},
}
HISTOGRAM = [[-6, 90_000], [-5, 800], [3, 1], [8, 400], [9, 40]]
PAIR = {
    "left": "hospital",
    "right": "registry",
    "links": 4321,
    "possible": 17,
    "precision": 0.9987,
    "recall": 0.9612,
    "rows": {"hospital": 5000, "registry": 5000},
    "weights": {},
    "histogram": HISTOGRAM,
    "passes": [{"pass": {"surname": 1, "born": 0}, "found": 5000, "added": 4000}],
    "warnings": ["sex says next to nothing"],
}
STAGES = ("joining", "mined", "bundles", "linking", "done", "failed")
STATES = ("none", "uploading", "checking", "accepted", "refused")


def viewer_of(name):
    return {"role": "party", "exchange": "heart", "party": name, "expires": "2030-01-01T00:00:00Z"}


def bundle(state="none", **known):
    hidden = ("reason", "rows", "epsilon", "created", "bytes", "sha256", "size")
    return {"state": state, **dict.fromkeys(hidden), "offset": 0, **known}


def party(name, **known):
    return {
        "name": name,
        "returns": "links",
        "recipient": None,
        "mined_sent_to": [],
        "bundle": bundle(),
        "results": {"ready": False, "bytes": None, "sha256": None, "fetched": None},
        "token": {"expires": "2030-01-01T00:00:00Z", "revoked": None},
        **known,
    }


def view(stage="joining", names=("hospital", "registry"), state="none", **known):
    """An exchange that has come as far as its stage."""
    far = STAGES.index(stage)
    ended = {"ready": True, "bytes": 900, "sha256": "ab" * 32, "fetched": None}
    parties = [
        party(
            name,
            recipient=KEYS[place % 3].key if far > 0 else None,
            mined_sent_to=[other for other in names if other != name] if far > 1 else [],
            bundle=bundle(state if far == 2 else "accepted" if far > 2 else "none"),
            **({"results": ended} if stage == "done" else {}),
        )
        for place, name in enumerate(names)
    ]
    return {
        "name": "heart",
        "created": "2026-11-16T16:45:12Z",
        "stage": stage,
        "reason": "the worker was stopped by signal 9" if stage == "failed" else None,
        "parties": parties,
        "progress": {"step": None, "done": 0, "total": 0},
        "summary": {"pairs": [PAIR], "clusters": 4321} if stage == "done" else None,
        "erase": "2026-12-16T16:45:12Z" if far > 3 else None,
        "erased": None,
        **known,
    }


def as_seen_by_a_party(seen):
    numbers = {key: PAIR[key] for key in ("links", "possible", "precision", "recall")}
    parties = [
        {key: value for key, value in one.items() if key != "token"} for one in seen["parties"]
    ]
    return {**seen, "parties": parties, "summary": numbers if seen["summary"] else None}


def exchange_page(seen, viewer):
    return pages.exchange_page(told(ExchangeInfo, seen), told(TokenInfo, viewer))


def glance(seen):
    """What a list says of an exchange."""
    parties = [
        {
            "name": one["name"],
            "joined": one["recipient"] is not None,
            "mined_sent": len(one["mined_sent_to"]),
            "bundle": one["bundle"]["state"],
            "withdrawn": bool(one["bundle"].get("withdrawn")),
            "results": "ready" if one["results"]["ready"] else "none",
        }
        for one in seen["parties"]
    ]
    kept = ("name", "created", "stage", "reason", "erase", "erased")
    return {"parties": parties, **{key: seen[key] for key in kept}}


def operator_home(seen, total=None, after=None):
    found = {"exchanges": list(map(glance, seen)), "total": total or len(seen), "next": after}
    listed = told(ExchangeList, found)
    return pages.operator_home(listed, told(UnitInfo, UNIT), told(TokenInfo, OPERATOR))


def log_page(entries, intact=True):
    log = told(LogInfo, {"entries": entries, "intact": intact})
    return pages.log_page(log, told(TokenInfo, OPERATOR))


def told(model, content):
    return read(model, json.dumps(content).encode())


ENTRY = {
    "number": 1,
    "time": "2026-11-16T16:45:12Z",
    "who": "operator",
    "what": "made the exchange",
    "exchange": "heart",
    "detail": "",
    "hash": "0123456789abcdef" * 4,
}


def every_page():
    yield "sign in", pages.sign_in()
    yield "sign in again", pages.sign_in("this token has expired")
    yield "problem", pages.problem_page(404, "there is no such exchange", "check the name")
    yield "empty log", log_page([])
    yield "log", log_page([ENTRY, {**ENTRY, "exchange": None}], intact=False)
    yield "empty home", operator_home([])
    yield "home", operator_home([view(stage) for stage in STAGES])
    for stage, state in product(STAGES, STATES):
        three = view(stage, ("hospital", "registry", "office"), state)
        for seen in (view(stage, state=state), three):
            yield f"{stage} {state} operator", exchange_page(seen, OPERATOR)
            own = as_seen_by_a_party(seen)
            yield f"{stage} {state} party", exchange_page(own, viewer_of("hospital"))


class Parsed(HTMLParser):
    """The elements of a page with their attributes, which must be closed in order."""

    VOID = frozenset(("meta", "link", "input", "br"))

    def __init__(self, page):
        super().__init__()
        self.elements, self.within, self.open, self.said = [], [], [], []
        self.feed(page)
        self.close()
        assert not self.open

    def handle_starttag(self, tag, attrs):
        self.elements.append((tag, dict(attrs)))
        self.within.append([one for one, _ in self.open])
        assert len(dict(attrs)) == len(attrs), f"an attribute twice in {tag}"
        self.live = any("data-live" in one for _, one in self.open)
        if self.live:
            assert tag not in ("form", "input", "select", "textarea"), "a form would be lost"
        if tag not in self.VOID:
            self.open.append((tag, dict(attrs)))

    def handle_startendtag(self, tag, attrs):
        self.elements.append((tag, dict(attrs)))

    def handle_endtag(self, tag):
        assert self.open.pop()[0] == tag

    def handle_data(self, data):
        self.said.append(data)

    @property
    def commands(self):
        return [one["data-copy"] for one in self.all("button") if one.get("data-copy")]

    @property
    def text(self):
        return re.sub(r"\s+", " ", "".join(self.said))

    def all(self, tag):
        return [attrs for one, attrs in self.elements if one == tag]


def test_every_page_is_whole_and_can_be_used_without_seeing_it():
    for name, page in every_page():
        parsed = Parsed(page)
        assert page.startswith('<!doctype html>\n<html lang="en">'), name
        assert len(parsed.all("title")) >= 1
        assert len(parsed.all("h1")) == 1, name
        assert {"name": "viewport", "content": "width=device-width, initial-scale=1"} in parsed.all(
            "meta"
        )
        ids = [attrs["id"] for _, attrs in parsed.elements if "id" in attrs]
        assert len(ids) == len(set(ids)), (name, ids)
        labelled = {attrs.get("for") for attrs in parsed.all("label")}
        for tag in ("input", "select", "textarea"):
            for attrs in parsed.all(tag):
                # those of the template stand within their labels
                assert attrs.get("id") in labelled or attrs["name"] in ("party", "returns"), name
        for _, attrs in parsed.elements:
            for kind in ("for", "aria-labelledby", "aria-describedby"):
                assert set(attrs.get(kind, "").split()) <= set(ids), (name, attrs)
            if attrs.get("href", "").startswith("#"):
                assert attrs["href"][1:] in ids, (name, attrs)


def test_no_page_has_a_script_or_style_of_its_own_or_a_file_from_elsewhere():
    for name, page in every_page():
        for tag, attrs in Parsed(page).elements:
            assert tag != "style", name
            assert "style" not in attrs, (name, tag)
            assert not [key for key in attrs if key.startswith("on")], (name, tag)
            if tag == "script":
                assert attrs == {"type": "module", "src": "/static/page.js"}
            for key in ("href", "src", "action"):
                place = attrs.get(key, "/")
                assert place.startswith(("/", "#", "data:,")), (name, place)
                assert not place.startswith("//")


@pytest.mark.parametrize("file", sorted(STATIC.iterdir()), ids=lambda file: file.name)
def test_no_static_file_names_another_host(file):
    content = file.read_text("utf-8")
    assert not re.findall(r"https?:|url\(|@import|//[a-z0-9-]+\.[a-z]", content)
    assert not re.search(r"innerHTML = |insertAdjacentHTML|document.write", content)
    assert "eval(" not in content


WORDS = st.text(st.characters(codec="utf-8", exclude_categories=("C", "Z")), min_size=1).map(
    lambda text: text[:90].replace("/", "-").replace("\\", "-") + "<i>'\"&amp;"
)
NAMES = st.text("bdi&'`;#=()", min_size=1, max_size=90).map(lambda text: f"i{text}&lt;i&gt;'")


@given(NAMES, WORDS, st.sampled_from(STAGES), st.sampled_from(STATES))
@settings(max_examples=60, deadline=None)
def test_names_and_words_are_shown_as_they_are_and_never_become_markup(name, words, stage, state):
    seen = view(stage, (name, "registry"), state)
    seen["parties"][0]["bundle"]["reason"] = words
    if seen["summary"]:
        pair = {**PAIR, "left": name, "warnings": [words]}
        seen["summary"] = {"pairs": [pair], "clusters": 4321}
    for page, shown in (
        (exchange_page(seen, OPERATOR), name),
        (exchange_page(as_seen_by_a_party(seen), viewer_of(name)), name),
        (exchange_page(as_seen_by_a_party(seen), viewer_of("registry")), name),
        (operator_home([seen]), name),
        (log_page([{**ENTRY, "who": words, "detail": words}]), words),
        (pages.sign_in(words), words),
        (pages.problem_page(400, words, words), words),
    ):
        parsed = Parsed(page)
        assert not parsed.all("i")
        assert re.sub(r"\s+", " ", shown) in parsed.text


@pytest.mark.parametrize("stage", STAGES)
def test_the_present_stage_is_marked_and_no_other(stage):
    theirs = as_seen_by_a_party(view(stage))
    for seen, viewer in ((view(stage), OPERATOR), (theirs, viewer_of("hospital"))):
        page = exchange_page(seen, viewer)
        marked = re.findall(r'<li class="([a-z ]*)" aria-current="step">', page)
        assert marked == [f"now {stage}"]
        assert f'data-stage="{stage}"' in page


def test_an_exchange_that_failed_ticks_only_the_stages_it_came_through():
    seen = view("failed")
    assert exchange_page(seen, OPERATOR).count('class="past') == 3
    seen["parties"][0]["bundle"]["state"] = "checking"
    assert exchange_page(seen, OPERATOR).count('class="past') == 2
    assert "stopped by signal 9" in exchange_page(seen, OPERATOR)


@pytest.mark.parametrize(
    ("stage", "state", "says", "forms"),
    [
        ("joining", "none", "Give the unit your key", {"key"}),
        ("mined", "none", "Send what you mined, sealed, to registry", {"mined"}),
        ("bundles", "none", "Make your bundle and", {"bundle"}),
        ("bundles", "uploading", "choose the same file again", {"bundle"}),
        ("bundles", "checking", "is being checked", {"withdraw"}),
        ("bundles", "accepted", "Your bundle is accepted. Waiting for registry.", {"withdraw"}),
        ("bundles", "refused", "Your bundle was refused: it is for another exchange", {"bundle"}),
        ("linking", "none", "are being linked", set()),
        ("done", "none", "Your results are ready", {"results"}),
        ("failed", "none", "The linkage failed", set()),
    ],
)
def test_a_party_is_told_what_to_do_next_and_sees_only_the_forms_for_it(stage, state, says, forms):
    seen = view(stage)
    seen["parties"][0]["bundle"] = bundle(
        state, reason="it is for another exchange", offset=2**20, size=2**22
    )
    parsed = Parsed(exchange_page(as_seen_by_a_party(seen), viewer_of("hospital")))
    assert says in parsed.text
    sections = [attrs for tag, attrs in parsed.elements if "data-shown" in attrs]
    assert {one["id"] for one in sections if "hidden" not in one} == forms


def test_a_party_who_has_done_its_part_is_told_whom_it_waits_for():
    seen = as_seen_by_a_party(view("joining"))
    seen["parties"][0]["recipient"] = KEYS[0].key
    page = exchange_page(seen, viewer_of("hospital"))
    assert "Your key is known. Waiting for the key of registry." in page
    seen = as_seen_by_a_party(view("mined", ("hospital", "registry", "office")))
    seen["parties"][0]["mined_sent_to"] = ["registry", "office"]
    page = exchange_page(seen, viewer_of("hospital"))
    assert "What you mined is sent. Waiting for what registry and office mined." in page
    seen = as_seen_by_a_party(view("done"))
    seen["parties"][0]["results"]["fetched"] = "2026-12-01T00:00:00Z"
    assert "nothing more to do" in exchange_page(seen, viewer_of("hospital"))


@pytest.mark.parametrize("stage", STAGES)
def test_a_party_gets_none_of_the_operators_means(stage):
    page = exchange_page(as_seen_by_a_party(view(stage)), viewer_of("hospital"))
    for means in ("data-revoke", "data-new-token", "delete-dialog", "/log", "tokens-shown", "<svg"):
        assert means not in page
    assert 'href="/api/exchanges/heart/results"' in page


def test_the_commands_of_a_party_survive_a_shell():
    seen = as_seen_by_a_party(view("bundles", ("St. Mary's", "registry")))
    parsed = Parsed(exchange_page(seen, viewer_of("St. Mary's")))
    assert """gramlink keys new 'St. Mary'"'"'s'""" in parsed.text
    assert "--exchange heart --to unit.recipient" in parsed.text
    assert "registry-to-St. Mary" in parsed.text


def test_the_commands_that_a_party_is_shown_do_its_whole_part(tmp_path, monkeypatch):
    names = ("St. Mary's", "registry")
    unit = new_identity()
    shown, folders = {}, {}
    for name in names:
        page = exchange_page(as_seen_by_a_party(view("done", names)), viewer_of(name))
        shown[name] = [shlex.split(line) for line in Parsed(page).commands]
        folders[name] = folder = tmp_path / name
        folder.mkdir()
        (folder / "linkage.toml").write_text("epsilon = 20\n[fields.surname]\nsize = 20\n")
        (folder / "data.csv").write_text("id,surname\n1,SMITH\n2,MILLER\n3,BROWN\n")
        write_recipient(folder / "unit.recipient", unit.recipient, "the unit")

    def step(command, *patterns):
        """Let each party run it, and bring what it wrote to the other, as the unit does."""
        for name, other in (names, names[::-1]):
            monkeypatch.chdir(folders[name])
            for _, *args in (line for line in shown[name] if line[1] == command):
                ran = CliRunner().invoke(app, [*args, "--quiet"])
                assert not ran.exception, (args, ran.exception)
            for pattern in patterns:
                file = pattern.format(name=name, other=other)
                shutil.copy(folders[name] / file, folders[other] / file)

    step("keys", "{name}.recipient")
    step("mine")
    step("seal", "{name}-to-{other}.age")
    step("merge")
    step("embed")
    sent = [(folders[name] / f"{name}.bundle.age").read_bytes() for name in names]
    bundles = [Bundle.from_bytes(unseal_from(data, unit, "x")[0], "bundle") for data in sent]
    assert {bundle.exchange for bundle in bundles} == {"heart"}
    answers = answer(bundles, dict.fromkeys(names, "links"))
    for name, bundle in zip(names, bundles, strict=True):
        sealed = seal_from(answers.results[name].to_bytes(), unit, bundle.reply)
        (folders[name] / f"{name}.results.age").write_bytes(sealed)
    step("results")
    assert all((folders[name] / f"{name}-links.csv").exists() for name in names)


def test_the_operator_sees_each_partys_state():
    seen = view("bundles")
    seen["parties"][0]["bundle"] = bundle("accepted", rows=102_400, epsilon="1/10", bytes=2**22)
    seen["parties"][1]["bundle"] = bundle("refused", reason="the bundle has no rows")
    text = Parsed(exchange_page(seen, OPERATOR)).text
    assert KEYS[0].fingerprint in text
    assert "102,400 records, ε 0.1, 4.0 MiB" in text
    assert "bundle refused" in text
    assert "the bundle has no rows" in text
    assert "Waiting for the bundles of registry." in text
    assert "1 of 1: to registry" in text


@pytest.mark.parametrize("returns", ["links", "weights", "counts"])
def test_who_sees_what_is_said_for_each_party_and_the_unit(returns):
    seen = view("bundles")
    seen["parties"][1]["returns"] = returns
    text = Parsed(exchange_page(seen, OPERATOR)).text
    words = {"links": "links", "weights": "links with weights", "counts": "counts only"}[returns]
    assert f"registry {words} " in text
    assert "this unit bundles the names of the parties" in text


def test_progress_is_a_bar_with_its_step():
    seen = view("linking", progress={"step": "matching", "done": 420, "total": 1000})
    page = exchange_page(seen, OPERATOR)
    assert "Matching: 420 of 1,000 (42%)" in page
    assert 'max="1000" value="420"' in page
    seen["progress"] = {"step": "reading", "done": 0, "total": 0}
    assert '<progress aria-labelledby="step"></progress>' in exchange_page(seen, OPERATOR)
    assert "<progress aria-labelledby" not in exchange_page(view("linking"), OPERATOR)


def test_the_outcome_has_links_estimates_and_warnings():
    text = Parsed(exchange_page(view("done"), OPERATOR)).text
    for said in ("4,321", "17", "0.9987", "0.9612", "sex says next to nothing", "surname within 1"):
        assert said in text
    assert "will be erased on 2026-12-16" in text
    own = Parsed(exchange_page(as_seen_by_a_party(view("done")), viewer_of("registry"))).text
    assert "4,321" in own
    assert "surname within 1" not in own


def test_records_of_one_field_have_an_outcome_without_estimates():
    bare = {**PAIR, "precision": None, "recall": None, "histogram": [], "passes": []}
    seen = view("done", summary={"pairs": [bare], "clusters": 1})
    page = exchange_page(seen, OPERATOR)
    assert "4,321" in page
    assert "<svg" not in page


def test_many_pairs_are_folded_away():
    seen = view("done", summary={"pairs": [PAIR] * 6, "clusters": 12})
    page = exchange_page(seen, OPERATOR)
    assert page.count("<svg") == 6
    assert 'id="pair-5"' in page
    assert "12 clusters" in page


def test_the_log_is_shown_newest_first_and_says_whether_it_is_whole():
    entries = [{**ENTRY, "number": number, "what": f"step {number}"} for number in (1, 2)]
    page = log_page(entries)
    assert page.index("step 2") < page.index("step 1")
    assert "The chain is intact" in page
    assert ">0123456789ab<" in page
    assert "The chain is broken" in log_page(entries, intact=False)


def test_the_first_page_says_what_to_do_when_there_is_no_exchange():
    assert "There is no exchange yet" in operator_home([])
    assert KEYS[2].fingerprint in operator_home([])


def test_the_first_page_shows_each_exchange_at_a_glance():
    text = Parsed(operator_home([view("bundles", state="refused"), view("done")])).text
    assert "hospital: bundle refused" in text
    assert "registry: results are ready" in text


def test_the_first_page_leads_to_older_exchanges():
    page = operator_home([view()], total=12_345, after="heart")
    assert "1 of 12,345 exchanges" in Parsed(page).text
    assert 'href="/?after=heart"' in page
    assert "/?after" not in operator_home([view()], total=2)
    assert "There are no older exchanges" in operator_home([], total=2)


def colours(css, scheme):
    blocks = re.findall(r":root \{([^}]*)\}", css)
    return dict(re.findall(r"--([a-z-]+): (#[0-9a-f]{6})", blocks[scheme == "dark"]))


def contrast(one, other):
    def brightness(colour):
        parts = [int(colour[place : place + 2], 16) / 255 for place in (1, 3, 5)]
        linear = [p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts]
        return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]

    dark, light = sorted((brightness(one), brightness(other)))
    return (light + 0.05) / (dark + 0.05)


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_text_stands_out_from_its_ground_as_wcag_aa_asks(scheme):
    known = colours((STATIC / "style.css").read_text("utf-8"), scheme)
    for ink, ground in product(
        ("ink", "soft", "blue", "green", "red", "amber"), ("paper", "raised")
    ):
        assert contrast(known[ink], known[ground]) >= 4.5, (ink, ground)
    assert contrast(known["on-blue"], known["blue"]) >= 4.5
    assert contrast(known["on-red"], known["red"]) >= 4.5
    for edge in ("edge", "focus"):
        assert contrast(known[edge], known["paper"]) >= 3
