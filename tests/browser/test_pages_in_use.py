"""The pages as the operator and the parties use them, in a browser."""

import hashlib
import secrets
from urllib.parse import urlsplit

import pytest

from browser.serving import TOML
from gramlink.bundles.sealing import (
    new_identity,
    seal_from,
    unseal_from,
    write_identity,
    write_recipient,
)

LINKED = 60_000  # milliseconds: kernels may have to be compiled first


def test_the_operator_signs_in_with_the_keyboard_alone(visit, server):
    page = visit.open("/")
    page.keyboard.insert_text(server.token)  # the field has the focus
    page.keyboard.press("Enter")
    page.wait_for_selector("h1:text-is('Exchanges')")
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.textContent") == "Skip to the content"
    assert page.locator(".skip").bounding_box()["x"] >= 0
    page.keyboard.press("Enter")
    page.wait_for_url("**/#main")
    page.wait_for_function("document.activeElement.id === 'main'")
    visited = set()
    while page.evaluate("document.activeElement.textContent") != "Make the exchange":
        page.keyboard.press("Tab")
        visited.add(page.evaluate("document.activeElement.id || document.activeElement.name"))
        outline = page.evaluate("getComputedStyle(document.activeElement).outlineStyle")
        assert outline != "none", page.evaluate("document.activeElement.outerHTML")
    assert {"name", "schema-file", "schema", "party", "returns", "add-party", "days"} <= visited
    page.get_by_role("button", name="Sign out").press("Enter")
    page.wait_for_selector("#token")


def test_a_wrong_token_is_refused_in_words(visit):
    visit.expect("401")
    page = visit.open("/")
    page.get_by_label("Token").fill("gl_00000000_" + "x" * 43)
    page.get_by_role("button", name="Sign in").click()
    page.wait_for_selector("[role=alert]")
    assert page.get_by_role("alert").inner_text()
    assert page.get_by_label("Token").input_value() == ""


def test_an_exchange_is_made_and_its_tokens_are_shown_once(visit, server, tmp_path):
    page = visit.open("/", server.token, permissions=["clipboard-read", "clipboard-write"])
    (tmp_path / "linkage.toml").write_text(TOML)
    page.get_by_label("Name", exact=True).fill("made-here")
    page.get_by_label("linkage.toml, as a file").set_input_files(tmp_path / "linkage.toml")
    page.wait_for_selector("#schema:valid")  # it is required, and has the file's text now
    assert page.get_by_label("or as text").input_value() == TOML
    page.get_by_label("Name of party 1").fill("St. Mary's")
    page.get_by_label("Name of party 2").fill("registry")
    page.get_by_role("button", name="Add a party").press("Enter")
    page.keyboard.insert_text("office")  # the focus is in the new row
    page.get_by_label("What party 3 gets").select_option("counts only")
    page.get_by_role("button", name="Make the exchange").click()
    page.wait_for_selector("#tokens li")
    assert page.evaluate("document.activeElement.id") == "tokens-title"
    tokens = page.locator("#tokens [data-token]").all_inner_texts()
    assert len(set(tokens)) == 3
    page.get_by_role("button", name="Copy the token of registry").click()
    page.wait_for_selector("#status:text-is('Copied.')")
    assert page.evaluate("navigator.clipboard.readText()") == tokens[1]
    with page.expect_download() as download:
        page.get_by_role("button", name="Save the token of St. Mary's as a file").click()
    assert download.value.path().read_text() == tokens[0] + "\n"
    command = page.locator("[data-command]").inner_text()
    options = "--token-file PARTY.token data.csv --schema linkage.toml"
    assert command == f"gramlink exchange {server.url} {options}"
    page.wait_for_selector("#exchanges a:text-is('made-here')")  # without a reload
    page.reload()
    assert not [token for token in tokens if token in page.content()]
    seen = server.call("GET", "/api/exchanges/made-here", tokens[2])
    assert [one["returns"] for one in seen["parties"]] == ["links", "links", "counts"]
    assert server.call("GET", "/api/exchanges/made-here/schema").decode() == TOML


def test_an_exchange_that_cannot_be_made_says_why_and_keeps_what_was_typed(visit, server):
    visit.expect("422")
    page = visit.open("/", server.token)
    page.get_by_label("Name", exact=True).fill("cannot-be")
    page.get_by_label("or as text").fill("[fields.surname]\nminer = 'exact'\n")
    page.get_by_label("Name of party 1").fill("hospital")
    page.get_by_label("Name of party 2").fill("registry")
    page.get_by_role("button", name="Make the exchange").press("Enter")
    said = page.locator("#new-exchange [data-said]")
    said.wait_for()
    assert "miner" in said.inner_text()
    assert page.get_by_label("Name", exact=True).input_value() == "cannot-be"
    assert page.evaluate("document.activeElement.textContent") == "Make the exchange"


def test_a_party_with_only_a_browser_joins_and_exchanges_what_was_mined(visit, server, tmp_path):
    made = server.make("by-browser")
    made.join("registry")
    page = visit.open("/", made.tokens["hospital"])
    page.wait_for_url(f"**{made.page}")
    identity = new_identity()
    write_identity(tmp_path / "hospital.identity", identity, "hospital")
    write_recipient(tmp_path / "hospital.recipient", identity.recipient, "hospital")
    field = page.get_by_label("hospital.recipient, as a file")
    sent = []
    page.on("request", lambda request: sent.append(request.method))
    field.set_input_files(tmp_path / "hospital.identity")
    page.get_by_role("button", name="Give this key").click()
    page.wait_for_selector("#key [data-said]:has-text('It was not sent')")
    assert "PUT" not in sent
    field.set_input_files(tmp_path / "hospital.recipient")
    page.get_by_role("button", name="Give this key").click()
    page.wait_for_selector("#mined:not([hidden])")
    assert identity.recipient.fingerprint in page.locator("#state").inner_text()
    with page.expect_download() as saved:
        page.get_by_role("button", name="Save registry.recipient").click()
    assert made.identities["registry"].recipient.key in saved.value.path().read_text()
    made.identities["hospital"] = identity
    theirs = made.send_mined("registry", "hospital")
    (tmp_path / "mined.age").write_bytes(b"age-encryption.org/v1\n" + bytes(64))
    page.get_by_label("What you mined, sealed to registry").set_input_files(tmp_path / "mined.age")
    page.get_by_role("button", name="Send to registry").click()
    page.wait_for_selector("#bundle:not([hidden])")
    with page.expect_download() as fetched:
        page.get_by_role("link", name="Fetch what registry mined").click()
    assert fetched.value.path().read_bytes() == theirs
    with page.expect_download() as saved:
        page.get_by_role("button", name="Save unit.recipient").click()
    assert made.unit_key().key in saved.value.path().read_text()
    assert page.locator("[data-unit-fingerprint]").inner_text() == made.unit_key().fingerprint


def test_an_upload_goes_on_after_a_reload_and_a_refused_bundle_shows_its_reason(
    visit, server, tmp_path
):
    visit.expect("ERR_FAILED")
    made = server.make("resumed").at_bundles()
    bundle = tmp_path / "hospital.bundle.age"
    bundle.write_bytes(secrets.token_bytes(9 * 2**20 + 17))
    page = visit.open(made.page, made.tokens["hospital"])

    def first_only(route):
        if route.request.url.endswith("offset=0"):
            route.continue_()
        else:
            route.abort()

    page.route("**/upload?offset=*", first_only)
    page.get_by_label("hospital.bundle.age").set_input_files(bundle)
    page.get_by_role("button", name="Send the bundle").click()
    page.wait_for_selector("#upload-said:has-text('4.0 of 9.0 MiB')")
    assert page.get_by_role("button", name="Cancel").is_visible()
    page.wait_for_selector("#state:has-text('4.0 MiB of 9.0 MiB')")
    page.reload()
    page.unroute("**/upload?offset=*")
    assert "choose the same file again" in page.locator("#next").inner_text()
    later = []
    page.on("request", lambda request: later.append((request.method, request.url)))
    page.get_by_label("hospital.bundle.age").set_input_files(bundle)
    page.get_by_role("button", name="Send the bundle").click()
    page.wait_for_selector("#next:has-text('Your bundle was refused')", timeout=LINKED)
    patches = [urlsplit(url).query for method, url in later if method == "PATCH"]
    assert patches == [f"offset={4 * 2**20}", f"offset={8 * 2**20}"]
    known = made.view()["parties"][0]["bundle"]
    assert known["sha256"] == hashlib.sha256(bundle.read_bytes()).hexdigest()
    assert known["reason"]
    assert known["reason"] in page.locator("#next").inner_text()
    assert page.get_by_label("hospital.bundle.age").is_visible()  # to send another one
    operator = visit.open(made.page, server.token)
    assert known["reason"] in operator.locator("#state").inner_text()


def test_an_upload_can_be_cancelled_and_rides_out_a_broken_line(visit, server, tmp_path):
    visit.expect("ERR_FAILED")
    made = server.make("cancelled").at_bundles()
    bundle = tmp_path / "registry.bundle.age"
    bundle.write_bytes(secrets.token_bytes(5 * 2**20))
    page = visit.open(made.page, made.tokens["registry"])
    page.route("**/upload?offset=*", lambda route: route.abort())
    page.get_by_label("registry.bundle.age").set_input_files(bundle)
    page.get_by_role("button", name="Send the bundle").click()
    page.wait_for_selector("#upload-said:has-text('Sending')")
    page.get_by_role("button", name="Cancel").click()
    page.wait_for_selector("#upload [data-said]:text-is('Cancelled.')")
    assert page.evaluate("document.activeElement.textContent") == "Send the bundle"
    page.unroute("**/upload?offset=*")
    broken = []

    def once(route):
        broken.append(route)
        route.abort() if len(broken) == 1 else route.continue_()

    page.route("**/upload?offset=*", once)
    page.get_by_role("button", name="Send the bundle").press("Enter")
    # it is hidden only until the unit, which may be quick, has found that this is no bundle
    page.wait_for_selector("#next:has-text('Your bundle was refused')", timeout=LINKED)
    assert len(broken) == 3


def test_what_is_typed_keeps_its_focus_while_the_page_changes(visit, server):
    made = server.make("live")
    page = visit.open(made.page, made.tokens["hospital"])
    page.locator("summary, #recipient-text").first.focus()
    page.keyboard.insert_text("age1half")
    made.join("registry")
    known = made.identities["registry"].recipient.fingerprint
    page.wait_for_selector(f"#state:has-text('{known}')")
    assert page.evaluate("document.activeElement.id") == "recipient-text"
    assert page.locator("#recipient-text").input_value() == "age1half"
    made.join("hospital")
    page.wait_for_selector("#stages [aria-current]:has-text('Mining')")


def test_a_token_is_revoked_and_replaced_after_a_question(visit, server):
    visit.expect("401")
    made = server.make("tokens")
    party = visit.open(made.page, made.tokens["hospital"])
    page = visit.open(made.page, server.token)
    page.get_by_role("button", name="Revoke the token of hospital").click()
    assert page.evaluate("document.activeElement.textContent") == "Cancel"
    page.keyboard.press("Escape")
    assert made.view()["parties"][0]["token"]["revoked"] is None
    page.get_by_role("button", name="Revoke the token of hospital").press("Enter")
    page.get_by_role("button", name="Revoke", exact=True).press("Enter")
    page.wait_for_selector("#token-0:has-text('revoked')")
    party.wait_for_selector("#status:has-text('no longer signed in')")
    page.get_by_role("button", name="New token for hospital").click()
    page.get_by_role("button", name="Make a new token").click()
    page.wait_for_selector("#tokens li")
    token = page.locator("#tokens [data-token]").inner_text()
    assert server.call("GET", "/api/token", token)["party"] == "hospital"
    page.wait_for_selector("#token-0:has-text('until')")


def test_an_exchange_is_deleted_only_when_its_name_is_typed(visit, server):
    made = server.make("deleted")
    page = visit.open(made.page, server.token)
    page.get_by_role("button", name="Delete this exchange").press("Enter")
    yes = page.get_by_role("button", name="Delete for good")
    assert yes.is_disabled()
    page.keyboard.insert_text("deletet")
    page.keyboard.press("Enter")
    assert yes.is_disabled()
    page.get_by_role("button", name="Cancel").click()
    assert made.view()["stage"] == "joining"
    page.get_by_role("button", name="Delete this exchange").press("Enter")
    page.keyboard.insert_text("deleted")
    page.keyboard.press("Enter")
    page.wait_for_selector("h1:text-is('Exchanges')")
    assert page.locator("a:text-is('deleted')").count() == 0
    page.goto("/log")
    assert "deleted" in page.locator("tbody tr").first.inner_text()
    assert "The chain is intact" in page.content()


@pytest.fixture(scope="module")
def linked(server, tmp_path_factory):
    """An exchange of two owners whose bundles were linked."""
    from gramlink.embedding.projection import agree
    from gramlink.lab.datasets.persons import persons
    from gramlink.parties.owner import Owner
    from gramlink.records.reading import read_records
    from gramlink.records.schema import load_schema

    folder = tmp_path_factory.mktemp("owners")
    (folder / "linkage.toml").write_text(TOML)
    schema = load_schema(folder / "linkage.toml")
    people = persons(150, overlap=1, seed=4)
    owners = {}
    for name, frame in (("hospital", people.left), ("registry", people.right)):
        frame.rename({"date_of_birth": "born"}).write_csv(folder / f"{name}.csv")
        records = read_records(folder / f"{name}.csv", schema)
        owners[name] = Owner(name, records, schema, secrets.token_bytes(32))
    projection = agree(*(owner.mine(None) for owner in owners.values()))
    made = server.make("linked", returns={"registry": "counts"}).at_bundles()
    for name, owner in owners.items():
        reply = made.identities[name].recipient
        bundle = owner.embed(projection, exchange="linked", reply=reply)
        made.upload(name, seal_from(bundle.to_bytes(), made.identities[name], made.unit_key()))
    return made


def test_a_linkage_is_seen_to_its_end_and_its_results_are_fetched(visit, server, linked):
    from gramlink.bundles.results import Results

    operator = visit.open(linked.page, server.token)
    page = visit.open(linked.page, linked.tokens["hospital"])
    page.wait_for_selector("#results:not([hidden])", timeout=LINKED)
    assert "Your results are ready" in page.locator("#next").inner_text()
    with page.expect_download() as download:
        page.get_by_role("link", name="Fetch hospital.results.age").click()
    sealed = download.value.path().read_bytes()
    opened, _ = unseal_from(sealed, linked.identities["hospital"], "results")
    results = Results.from_bytes(opened, "results")
    assert results.owner == "hospital"
    page.wait_for_selector("#next:has-text('You have fetched your results')")
    operator.wait_for_selector("#outcome svg", timeout=LINKED)
    summary = linked.view()["summary"]["pairs"][0]
    assert f"{summary['links']:,}" in operator.locator("#outcome table").first.inner_text()
    assert operator.locator("#outcome rect").count() == len(summary["histogram"])
    assert "pairs from" in operator.locator("#outcome svg desc").text_content()
    assert operator.locator("#stages [aria-current]").inner_text().startswith("Done")
    assert page.locator("svg").count() == 0
    assert results.counts[0]["links"] == summary["links"]


WIDTH = "[document.documentElement.scrollWidth, innerWidth]"


def test_no_page_scrolls_sideways_on_a_phone_in_light_or_dark(visit, server):
    visit.expect("404", "401")
    made = server.make("phone", parties=("A" * 60 + " & Sons", "registry")).at_bundles()
    phone = {"width": 390, "height": 800}
    for token, paths in (
        (None, ("/", "/exchanges/none")),
        (server.token, ("/", "/log", made.page, "/exchanges/none")),
        *((token, (made.page,)) for token in made.tokens.values()),
    ):
        page = visit.open("/", token, viewport=phone)
        for path in paths:
            page.goto(path)
            wide, seen = page.evaluate(WIDTH)
            assert wide <= seen == 390, path
        grounds = []
        for scheme in ("light", "dark"):
            page.emulate_media(color_scheme=scheme)
            grounds.append(page.evaluate("getComputedStyle(document.body).backgroundColor"))
        assert grounds == ["rgb(255, 255, 255)", "rgb(20, 24, 30)"]


def test_the_page_of_a_long_list_of_parties_fits_a_phone_and_prints(visit, server):
    parties = tuple(f"hospital of the {number}th district" for number in range(6))
    made = server.make("many", parties=parties).join()
    page = visit.open(made.page, server.token, viewport={"width": 390, "height": 800})
    wide, seen = page.evaluate(WIDTH)
    assert wide <= seen
    page.emulate_media(media="print")
    assert not page.get_by_role("button", name="Sign out").is_visible()
    assert page.locator("#state table").is_visible()


def test_sha256_agrees_with_the_vectors_and_with_hashlib(visit):
    page = visit.open("/")
    lengths = [*range(130), 1000, 2**16 + 3]
    texts = ["", "abc", "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq"]
    found = page.evaluate(
        """async ([lengths, texts]) => {
          const { Sha256, digest } = await import("/static/sha256.js");
          const bytes = (count) => Uint8Array.from({ length: count }, (_, i) => (i * 7 + 3) % 251);
          const pieces = (all, step) => {
            const hash = new Sha256();
            for (let i = 0; i < all.length; i += step) hash.update(all.subarray(i, i + step));
            return hash.hex();
          };
          const million = new Sha256();
          const some = new TextEncoder().encode("a".repeat(1000));
          for (let i = 0; i < 1000; i++) million.update(some);
          return {
            texts: texts.map((text) => new Sha256().update(new TextEncoder().encode(text)).hex()),
            million: million.hex(),
            whole: lengths.map((count) => new Sha256().update(bytes(count)).hex()),
            pieces: lengths.map((count) => pieces(bytes(count), 1 + (count % 67))),
            file: await digest(new Blob([bytes(70000)]), 4096),
          };
        }""",
        [lengths, texts],
    )
    data = {count: bytes((i * 7 + 3) % 251 for i in range(count)) for count in [*lengths, 70000]}
    assert found["texts"] == [hashlib.sha256(text.encode()).hexdigest() for text in texts]
    assert found["texts"][1].startswith("ba7816bf8f01cfea")  # FIPS 180-4's own example
    assert found["million"] == hashlib.sha256(b"a" * 10**6).hexdigest()
    for kind in ("whole", "pieces"):
        assert found[kind] == [hashlib.sha256(data[count]).hexdigest() for count in lengths]
    assert found["file"] == hashlib.sha256(data[70000]).hexdigest()


def test_the_length_of_a_large_file_is_counted_in_full(visit):
    page = visit.open("/")
    lengths = [0, 55, 56, 63, 64, 2**29 - 1, 2**29, 2**31, 2**32 + 5, 5 * 2**32 + 2**31 + 9]
    found = page.evaluate(
        """async (lengths) => {
          const { padding } = await import("/static/sha256.js");
          return lengths.map((length) => [...padding(length)]);
        }""",
        lengths,
    )
    for length, padding in zip(lengths, found, strict=True):
        assert (length + len(padding)) % 64 == 0
        assert 9 <= len(padding) < 73
        zeros = bytes(len(padding) - 9)
        assert bytes(padding) == b"\x80" + zeros + (8 * length).to_bytes(8, "big")
