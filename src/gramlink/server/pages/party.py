"""A party's own part of an exchange: what to do next, and the forms to do it with."""

from shlex import quote as shell
from urllib.parse import quote

from gramlink.server.pages.markup import View, code, live, several, shown_if, text

FILE = "data.csv"


def what_next(view: View, me: View) -> str:
    """What to do in the present state, as markup."""
    stage, state = view["stage"], me["bundle"]["state"]
    others = [one for one in view["parties"] if one["name"] != me["name"]]
    if stage == "failed":
        why = f": {text(view['reason'])}" if view["reason"] else ""
        return (
            f'<p class="error">The linkage failed{why}.</p><p>There is nothing to do here; the'
            " operator will make a new exchange.</p>"
        )
    if stage == "done":
        if me["results"]["fetched"]:
            return "<p>You have fetched your results. There is nothing more to do here.</p>"
        return '<p>Your results are ready: <a href="#results">fetch them</a>.</p>'
    if not me["recipient"]:
        return (
            "<p>Give the unit your key, so that others can seal files to you:"
            ' <a href="#key">your key</a>.</p>' + _COMMAND_LINE
        )
    if stage == "joining":
        waits = [one["name"] for one in others if not one["recipient"]]
        return f"<p>Your key is known. Waiting for the key of {several(waits)}.</p>"
    mine = [one["name"] for one in others if one["name"] not in me["mined_sent_to"]]
    if stage == "mined" and mine:
        return (
            f"<p>Send what you mined, sealed, to {several(mine)}:"
            ' <a href="#mined">what you mined</a>.</p>'
        )
    if stage == "mined":
        waits = [one["name"] for one in others if len(one["mined_sent_to"]) < len(others)]
        return f"<p>What you mined is sent. Waiting for what {several(waits)} mined.</p>"
    if stage == "linking":
        return "<p>All bundles are accepted, and are being linked. There is nothing to do.</p>"
    return _about_bundle(me["bundle"], state, [one["name"] for one in _late(others)])


def _late(others: list[View]) -> list[View]:
    return [one for one in others if one["bundle"]["state"] != "accepted"]


def _about_bundle(bundle: View, state: str, waits: list[str]) -> str:
    if state == "refused":
        return (
            f'<p class="error">Your bundle was refused: {text(bundle["reason"] or "")}</p>'
            '<p>Make it again and <a href="#bundle">send it again</a>.</p>'
        )
    if state == "uploading":
        # how much has arrived is said elsewhere: this is read out whenever it changes
        return (
            "<p>Some of your bundle has arrived. If this page was closed or the line broke,"
            ' <a href="#bundle">choose the same file again</a>: it goes on where it stopped.</p>'
        )
    if state == "checking":
        return "<p>Your bundle has arrived and is being checked. There is nothing to do.</p>"
    if state == "accepted":
        late = f" Waiting for {several(waits)}." if waits else ""
        return f"<p>Your bundle is accepted.{late} There is nothing to do.</p>"
    return '<p>Make your bundle and <a href="#bundle">send it</a>.</p>'


def part_of(view: View, me: View) -> str:
    """The party's forms, in the order it needs them; those not needed now are hidden."""
    path = f"/api/exchanges/{quote(view['name'], safe='')}"
    stage, state = view["stage"], me["bundle"]["state"]
    others = [one for one in view["parties"] if one["name"] != me["name"]]
    sends = stage == "bundles" and state in ("none", "uploading", "refused")
    return "".join(
        (
            _section("key", "Your key", stage == "joining", _key(me, path)),
            _section("mined", "What you mined", stage == "mined", _mined(me, others, path)),
            _section("bundle", "Your bundle", sends, _bundle(view, me, others, path)),
            _section("results", "Your results", me["results"]["ready"], _results(me, path)),
        )
    )


def _section(name: str, title: str, needed: bool, content: str) -> str:
    return (
        f'<section id="{name}" class="box" {shown_if(needed)} aria-labelledby="{name}-title">'
        f'<h2 id="{name}-title">{title}</h2>{content}</section>'
    )


def _key(me: View, path: str) -> str:
    name = me["name"]
    return (
        "<p>Make a pair of files where your data are. The identity stays with you; the recipient is"
        " for all to know.</p>"
        + code(f"gramlink keys new {shell(name)}")
        + f'<form data-put="{path}/recipient" data-kind="recipient">'
        + _file_field("recipient", f"{name}.recipient, as a file", ".recipient,text/plain")
        + '<p><label for="recipient-text">or its text</label><input id="recipient-text" name="text"'
        ' autocomplete="off" spellcheck="false" placeholder="age1…"></p>'
        + _send("Give this key")
        + "</form>"
    )


def _mined(me: View, others: list[View], path: str) -> str:
    name = me["name"]
    forms = "".join(
        f'<form data-put="{path}/mined/{quote(one["name"], safe="")}" data-kind="sealed">'
        + _file_field(f"mined-{place}", f"What you mined, sealed to {one['name']}", ".age")
        + _send(f"Send to {one['name']}")
        + "</form>"
        for place, one in enumerate(others)
    )
    return (
        f'<ol class="steps"><li><p>Fetch <a href="{path}/schema" download="linkage.toml">'
        "linkage.toml</a> and mine your grams; this spends ε, which the ledger keeps.</p>"
        + code(f"gramlink mine {FILE} --owner {shell(name)}")
        + "</li><li><p>Save the key of each other party. Compare its fingerprint with that party"
        " by telephone: whoever could change this page could put a key of its own here.</p>"
        + live("keys", _keys(others))
        + "<p>Seal what you mined to each.</p>"
        + "".join(code(_sealing(name, one["name"])) for one in others)
        + f"</li><li><p>Send each sealed file. The unit cannot open it.</p>{forms}</li></ol>"
    )


def _sealing(name: str, other: str) -> str:
    return (
        f"gramlink seal {shell(f'{name}.mined.json')} --to {shell(f'{other}.recipient')}"
        f" --identity {shell(f'{name}.identity')}"
        f" -o {shell(f'{name}-to-{other}.age')}"
    )


def _keys(others: list[View]) -> str:
    return "".join(
        f'<p><button type="button" class="quiet" id="key-{place}"'
        f' data-save="# recipient of {text(one["name"])}: for all to know&#10;'
        f'{text(one["recipient"])}&#10;" data-file="{text(one["name"])}.recipient">'
        f"Save {text(one['name'])}.recipient</button></p>"
        for place, one in enumerate(others)
        if one["recipient"]
    )


def _bundle(view: View, me: View, others: list[View], path: str) -> str:
    name = me["name"]
    received = [f"{one['name']}-to-{name}.age" for one in others]
    merging = " ".join(map(shell, [f"{name}.mined.json", *received]))
    return (
        '<ol class="steps"><li><p>Fetch what the other parties mined, sealed to you.</p>'
        + live("fetch-mined", _fetch(others, name, path))
        + "</li><li><p>Merge it with yours, and compare the fingerprint that this prints with the"
        " other parties.</p>"
        + code(f"gramlink merge {merging} --identity {shell(f'{name}.identity')}")
        + "</li><li><p>Save the unit's key, and make the bundle, sealed to it.</p>"
        '<p><button type="button" class="quiet" data-save-unit>Save unit.recipient</button></p>'
        "<p>Its fingerprint is <code data-unit-fingerprint>…</code>; compare it with the operator"
        " by telephone.</p>"
        + code(
            f"gramlink embed {FILE} --owner {shell(name)} --exchange {shell(view['name'])}"
            " --to unit.recipient"
        )
        + "</li><li><p>Send the bundle. If the line breaks, choose the same file again: it goes on"
        f' where it stopped.</p><form id="upload" data-upload="{path}/upload">'
        + _file_field("bundle-file", f"{name}.bundle.age", ".age")
        + '<p class="buttons"><button>Send the bundle</button> <button type="button" class="quiet"'
        ' id="upload-cancel" hidden>Cancel</button></p>'
        '<p id="upload-said"></p>'
        '<progress id="upload-progress" aria-label="Sent of the bundle" max="1" value="0" hidden>'
        '</progress><p class="error" data-said role="alert" hidden></p></form></li></ol>'
    )


def _fetch(others: list[View], name: str, path: str) -> str:
    return "".join(
        f'<p><a id="fetch-{place}" href="{path}/mined/{quote(one["name"], safe="")}"'
        f' download="{text(one["name"])}-to-{text(name)}.age">Fetch what'
        f" {text(one['name'])} mined</a></p>"
        for place, one in enumerate(others)
        if name in one["mined_sent_to"]
    )


def _results(me: View, path: str) -> str:
    name = me["name"]
    return (
        f'<p><a id="fetch-results" class="button" href="{path}/results"'
        f' download="{text(name)}.results.age">Fetch {text(name)}.results.age</a></p>'
        "<p>They are sealed to your key. Open them where your data are:</p>"
        + code(
            f"gramlink results {shell(f'{name}.results.age')} {FILE} --owner {shell(name)}"
            f" --identity {shell(f'{name}.identity')}"
        )
    )


def _file_field(name: str, label: str, accept: str) -> str:
    return (
        f'<p><label for="{name}">{text(label)}</label>'
        f'<input id="{name}" name="file" type="file" accept="{accept}"></p>'
    )


def _send(label: str) -> str:
    return (
        f"<p><button>{text(label)}</button></p>"
        '<p role="status" data-done></p><p class="error" data-said role="alert" hidden></p>'
    )


_COMMAND_LINE = """<p>If you have gramlink on a machine that reaches this unit, one command does
your whole part: <code>gramlink exchange URL --token-file F data.csv</code>. Without it, follow the
steps on this page, and make the files on a machine of your own.</p>"""
