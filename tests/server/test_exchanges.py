import json
from urllib.parse import quote

import pytest

from gramlink.bundles.sealing import new_identity, seal, unseal
from server.parties import EXCHANGE, NAMES, SCHEMA, Asker, identity_of, sql

PLAN = {"name": "one", "schema": SCHEMA, "parties": ["a", "b"]}


@pytest.mark.parametrize(
    ("changed", "says"),
    [
        ({"name": ""}, "name"),
        ({"name": "-x"}, "name"),
        ({"name": "X"}, "name"),
        ({"name": "x" * 65}, "name"),
        ({"name": "a/b"}, "name"),
        ({"name": "../x"}, "name"),
        ({"name": "x\n"}, "name"),
        ({"name": 7}, "name"),
        ({"parties": ["a"]}, "parties"),
        ({"parties": []}, "parties"),
        ({"parties": "ab"}, "parties"),
        ({"parties": [f"p{i}" for i in range(21)]}, "parties"),
        ({"parties": ["a", "a"]}, "look like the same name of a party"),
        ({"parties": ["a", "A"]}, "look like the same name of a party"),
        ({"parties": ["caf\u00e9", "cafe\u0301"]}, "some of its characters are not the usual ones"),
        ({"parties": ["a", ""]}, "parties"),
        ({"parties": ["a", " b"]}, "cannot be the name"),
        ({"parties": ["a", "x/y"]}, "cannot be the name"),
        ({"parties": ["a", "x\\y"]}, "cannot be the name"),
        ({"parties": ["a", ".."]}, "cannot be the name"),
        ({"parties": ["a", "Operator"]}, "the linkage unit's log uses it for the operator"),
        ({"parties": ["unit", "a"]}, "the linkage unit's log uses it for the unit itself"),
        ({"parties": ["a", "x\0y"]}, "cannot be the name"),
        ({"parties": ["a", "\ud800"]}, "parties"),
        ({"parties": ["a", "x" * 101]}, "parties"),
        ({"returns": {"c": "links"}}, "not one of them"),
        ({"returns": {"\ud800": "links"}}, "not one of them"),
        ({"returns": {"a": "everything"}}, "returns"),
        ({"token_days": 0}, "token_days"),
        ({"token_days": 10**30}, "token_days"),
        ({"token_days": 1.5}, "token_days"),
        ({"token_days": True}, "token_days"),
        ({"schema": ""}, "no field"),
        ({"schema": "[fields"}, "not a schema in TOML"),
        ({"schema": "x = [" + "[" * 5000}, "linkage.toml"),
        ({"schema": "\ud800"}, "schema"),
        ({"schema": "\0"}, "linkage.toml"),
        ({"schema": "recall = 1" + "0" * 400 + "\n[fields.x]"}, "linkage.toml"),
        ({"schema": "edits = 1" + "0" * 5000 + "\n[fields.x]"}, "linkage.toml"),
        ({"schema": "epsilon = 1e999999999\n[fields.x]"}, "not a number"),
        ({"schema": "epsilon = 2020-01-01\n[fields.x]"}, "not a number"),
        ({"schema": "epsilon = 20.01\n[fields.x]"}, "protects nobody: more than 20 is refused"),
        ({"schema": '[fields.x]\nminer = "exact"\n'}, "could know"),
        ({"schema": '[fields.x]\nminer = "random"\n'}, "could know"),
        ({"schema": '[fields.x]\nminer = "public"\ngrams = ["A"]\n'}, "could know"),
        ({"schema": "#" * 2**18 + "\n[fields.x]"}, "schema"),
        ({"other": 1}, "other"),
        ({"\ud800": 1}, "string"),
    ],
    ids=lambda value: None if isinstance(value, str) else json.dumps(value)[:40],
)
def test_an_exchange_that_makes_no_sense_is_refused(operator, changed, says):
    content = json.dumps({**PLAN, **changed}).encode()
    answer = operator.ask("POST", "/api/exchanges", content=content, says=422).json()
    assert answer.keys() == {"error", "hint"}
    assert says.lower() in answer["error"].lower()
    assert operator.get("/api/exchanges").json()["exchanges"] == []


@pytest.mark.parametrize("part", ["name", "schema", "parties"])
def test_what_an_exchange_cannot_do_without(operator, part):
    asked = {key: value for key, value in PLAN.items() if key != part}
    answer = operator.ask("POST", "/api/exchanges", json=asked, says=422)
    assert answer.json()["error"] == f"{part}: Field required"


def test_fields_of_other_kinds_may_be_public(operator):
    text = '[fields.name]\n[fields.born]\nkind = "date"\n[fields.zip]\nkind = "digits"\n'
    operator.ask("POST", "/api/exchanges", json={**PLAN, "schema": text}, says=201)


def test_only_the_operator_makes_lists_and_deletes_exchanges(hospital, anybody):
    for one, status in ((hospital, 403), (anybody, 401)):
        one.ask("POST", "/api/exchanges", json=PLAN, says=status)
        one.get("/api/exchanges", status)
        one.ask("DELETE", says=status)


def test_a_name_is_never_used_again(make, operator):
    make()
    asked = {**PLAN, "name": EXCHANGE}
    operator.ask("POST", "/api/exchanges", json=asked, says=409)
    operator.ask("DELETE", says=204)
    operator.ask("POST", "/api/exchanges", json=asked, says=409)


def test_the_schema_comes_back_as_it_was_given(make):
    text = "# Übereinkunft\r\n[fields.surname]\n\n"
    (hospital, _) = make(schema=text)
    answer = hospital.get("schema")
    assert answer.content == text.encode()
    assert answer.headers["content-type"] == "text/plain; charset=utf-8"


def test_a_party_of_any_printable_name_takes_part(make):
    odd = ["St. Mary's", "Zürich&x=1#y", "100% sure", "病院 &lt;b"]
    parties = make(parties=odd)
    for one in parties:
        recipient = new_identity().recipient.key
        one.ask("PUT", "recipient", content=recipient, says=204)
    sealed = seal(b"x", [new_identity().recipient])
    parties[0].ask("PUT", f"mined/{quote(odd[1], safe='')}", content=sealed, says=204)
    parties[0].ask("PUT", f"mined/{quote(odd[2], safe='')}", content=sealed, says=204)
    fetched = parties[1].get(f"mined/{quote(odd[0], safe='')}")
    assert fetched.content == sealed
    assert parties[0].view()["parties"][0]["mined_sent_to"] == odd[1:3]


def test_a_token_of_another_exchange_learns_nothing(make):
    (hospital, _), (stranger, _) = make(), make("other")
    for path in ("", "schema", "results", "mined/registry"):
        answers = [stranger.get(f"{hospital.path}/{path}".rstrip("/"), 404)]
        answers.append(stranger.get(f"/api/exchanges/nonsense/{path}".rstrip("/"), 404))
        assert answers[0].json() == answers[1].json()


@pytest.mark.usefixtures("hospital")
def test_the_operator_has_no_part_of_a_partys(operator):
    operator.get("results", 403)
    operator.ask("PUT", "recipient", content="age1", says=403)
    operator.ask("POST", "upload", json={"size": 1, "sha256": "0" * 64}, says=403)
    operator.get("/api/exchanges/nonsense/results", 404)


def test_stages_follow_each_other(hospital, registry, operator):
    def stage():
        return operator.view()["stage"]

    assert stage() == "joining"
    hospital.join()
    assert stage() == "joining"
    registry.join()
    assert stage() == "mined"
    hospital.send_mined("registry")
    assert stage() == "mined"
    registry.send_mined("hospital")
    assert stage() == "bundles"


def test_a_recipient_may_change_until_something_is_sealed_to_it(hospital, registry):
    hospital.ask("PUT", "recipient", content=new_identity().recipient.key, says=204)
    hospital.join()
    hospital.join()
    registry.join()
    registry.send_mined("hospital")
    hospital.join()
    other = new_identity().recipient.key
    answer = hospital.ask("PUT", "recipient", content=other, says=409).json()
    assert "sealed to another" in answer["error"]


@pytest.mark.parametrize("content", [b"", b"age1", b"ssh-rsa AAAA", b"\xff\0", b"x" * 1024])
def test_what_is_no_recipient(hospital, content):
    hospital.ask("PUT", "recipient", content=content, says=422)
    assert hospital.me()["recipient"] is None


def test_the_units_own_recipient_is_refused(hospital, anybody):
    key = anybody.get("/api/unit").json()["recipient"]
    answer = hospital.ask("PUT", "recipient", content=key, says=422)
    assert "must not see" in answer.json()["error"]


def test_a_recipient_with_a_line_end_is_taken(hospital):
    key = identity_of("hospital").recipient.key
    hospital.ask("PUT", "recipient", content=f"{key}\r\n", says=204)
    assert hospital.me()["recipient"] == key


def test_what_was_mined_reaches_the_party_it_is_for(hospital, registry):
    hospital.join()
    registry.join()
    sealed = hospital.send_mined("registry")
    answer = registry.get("mined/hospital")
    assert unseal(answer.content, identity_of("registry"), "mined") == b"grams"
    assert answer.content == sealed
    assert answer.headers["content-type"] == "application/octet-stream"
    hospital.get("mined/registry", 404)
    hospital.get("mined/hospital", 404)
    hospital.get("mined/nobody", 404)


def test_the_same_file_again_is_fine_and_another_is_not(hospital, registry, unit):
    hospital.join()
    registry.join()
    sealed = hospital.send_mined("registry")
    hospital.send_mined("registry", content=sealed)
    hospital.send_mined("registry", 409, content=sealed + b"x")
    assert registry.get("mined/hospital").content == sealed
    assert [path.name for path in unit.folder.of(1).iterdir()] == ["mined-1-2.age"]


def test_what_was_mined_and_cannot_be_sent(hospital, registry, unit):
    hospital.join()
    hospital.send_mined("registry", 409)
    registry.join()
    hospital.send_mined("hospital", 422)
    hospital.send_mined("registry", 422, content=b"grams in clear")
    hospital.send_mined("registry", 422, content=b"age-encryption.org/v1")
    hospital.send_mined("registry", 413, content=b"age-encryption.org/v1\n" + bytes(10**5))
    sealed = seal(b"x", [new_identity().recipient])
    hospital.ask("PUT", "mined/nobody", content=sealed, says=404)
    hospital.ask("PUT", "mined/..%2F..%2Fx", content=sealed, says=404)
    assert list(unit.folder.of(1).iterdir()) == []


def test_a_party_sees_little_of_the_others(at_bundles):
    hospital, registry = at_bundles
    registry.upload(b"nonsense")
    other = next(one for one in hospital.view()["parties"] if one["name"] == "registry")
    assert other["bundle"].pop("state") == "checking"
    assert set(other["bundle"].values()) == {None}
    assert other["results"] == {"ready": False, "bytes": None, "sha256": None, "fetched": None}
    assert "token" not in other
    assert "token" not in hospital.me()
    assert registry.me()["bundle"]["bytes"] == 8


def test_deleting_leaves_nothing_but_a_name_and_a_log(at_bundles, operator, unit):
    hospital, _ = at_bundles
    hospital.announce(bytes(100))
    hospital.patch(bytes(50))
    operator.ask("DELETE", says=204)
    assert not unit.folder.of(1).exists()
    operator.get(says=404)
    operator.ask("DELETE", says=404)
    hospital.get(says=401)
    for table in ("parties", "mined", "jobs"):
        assert sql(unit, f"SELECT * FROM {table}") == []
    assert sql(unit, "SELECT schema FROM exchanges")[0]["schema"] == ""
    assert len(sql(unit, "SELECT * FROM tokens")) == 1


def test_results_are_not_there_before_they_are(hospital):
    answer = hospital.get("results", 404).json()
    assert answer["hint"]


def test_the_unit_says_what_it_is_to_everybody(anybody, unit):
    found = anybody.get("/api/unit").json()
    assert found["recipient"] == unit.recipient.key
    assert found["limits"] == {"bundle_bytes": 10**6, "mined_bytes": 10**5}


def test_exchanges_are_listed_the_latest_first(make, operator):
    make("a")
    make("b")
    assert names_in(operator.get("/api/exchanges").json()) == ["b", "a"]


def names_in(listed):
    return [one["name"] for one in listed["exchanges"]]


def test_exchanges_are_listed_in_pages(make, operator):
    for name in "abcde":
        make(name)
    operator.ask("DELETE", "/api/exchanges/c", says=204)
    first = operator.get("/api/exchanges?most=2").json()
    assert (names_in(first), first["total"], first["next"]) == (["e", "d"], 4, "d")
    last = operator.get("/api/exchanges?most=2&after=d").json()
    assert (names_in(last), last["total"], last["next"]) == (["b", "a"], 4, None)
    assert names_in(operator.get("/api/exchanges?after=a").json()) == []
    operator.get("/api/exchanges?after=c", 404)
    for wrong in ("most=0", "most=1001", f"after={'x' * 101}"):
        operator.get(f"/api/exchanges?{wrong}", 422)
    operator.get("/?after=d", 200, headers={"Cookie": f"gramlink={operator.token}"})


def test_a_list_says_of_each_exchange_what_the_exchange_says_of_itself(
    make, operator, unit, at_bundles
):
    """The list is one query of its own; both say the same at every stage."""

    def agree():
        seen = operator.view()
        (listed,) = (
            one
            for one in operator.get("/api/exchanges").json()["exchanges"]
            if one["name"] == seen["name"]
        )
        for key in ("name", "created", "stage", "reason", "erase", "erased"):
            assert listed[key] == seen[key]
        for short, party in zip(listed["parties"], seen["parties"], strict=True):
            assert short["name"] == party["name"]
            assert short["joined"] == (party["recipient"] is not None)
            assert short["mined_sent"] == len(party["mined_sent_to"])
            assert short["bundle"] == party["bundle"]["state"]
            assert short["withdrawn"] == (party["bundle"]["withdrawn"] is not None)
            done = party["results"]
            kind = "fetched" if done["fetched"] else "ready" if done["ready"] else "none"
            assert short["results"] == kind
        return listed["stage"]

    make("joining")
    stages = [agree()]
    at_bundles[0].announce(bytes(100))
    stages.append(agree())
    sql(unit, "UPDATE parties SET state = 'accepted' WHERE exchange = 1")
    stages.append(agree())
    sql(unit, "UPDATE exchanges SET ended = '2026-01-01T00:00:00Z' WHERE number = 1")
    given = "results_bytes = 9, results_sha256 = ?, fetched = 'x'"
    sql(unit, f"UPDATE parties SET {given} WHERE number = 1", "ab" * 32)
    stages.append(agree())
    sql(unit, "UPDATE exchanges SET failed = 'why', erased = 'x' WHERE number = 1")
    stages.append(agree())
    assert stages == ["bundles", "bundles", "linking", "done", "failed"]


def test_a_page_of_ten_thousand_exchanges_takes_a_few_queries(unit, operator):
    """Counted in steps of SQLite's machine, which no load of this machine changes."""
    with unit.store.change() as db:
        for number in range(10_000):
            exchange = db.exchanges.add(f"x{number}", SCHEMA, "2026-01-01T00:00:00Z")
            for name in NAMES:
                db.parties.add(exchange, name, "links")
    steps, statements = [], []
    unit.store._reading.set_progress_handler(lambda: steps.append(1), 1000)
    unit.store._reading.set_trace_callback(statements.append)
    listed = operator.get("/api/exchanges?after=x5000").json()
    unit.store._reading.set_progress_handler(None, 0)
    assert names_in(listed)[0] == "x4999"
    assert listed["total"] == 10_000
    assert len(steps) < 100
    assert len([one for one in statements if one.startswith(("SELECT", "WITH"))]) < 8


def test_parties_are_the_ones_that_were_named(make):
    parties = make(parties=NAMES, returns={"hospital": "weights"})
    found = parties[0].view()["parties"]
    assert [(one["name"], one["returns"]) for one in found] == [
        ("hospital", "weights"),
        ("registry", "links"),
    ]


def test_an_asker_without_an_exchange_is_nobody(app):
    Asker(app, "gl_00000000_" + "x" * 43).get(says=401)
