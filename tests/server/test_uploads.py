import asyncio
import errno
import json
import os

import pytest

from gramlink.server import uploads
from server.parties import sha256, sql

DATA = bytes(range(256)) * 40


@pytest.fixture
def hospital(at_bundles):
    return at_bundles[0]


@pytest.fixture
def part(unit):
    return unit.folder.part(1, 1)


@pytest.fixture
def bundle(unit):
    return unit.folder.bundle(1, 1)


def test_a_bundle_in_one_piece(hospital, bundle, part, log_of):
    assert hospital.upload(DATA) == len(DATA)
    assert bundle.read_bytes() == DATA
    assert not part.exists()
    found = hospital.me()["bundle"]
    assert (found["state"], found["bytes"]) == ("checking", len(DATA))
    assert found["sha256"] == sha256(DATA)
    assert ("hospital", "uploaded its bundle") in log_of()


def test_a_bundle_in_pieces_with_the_offset_that_is_shown(hospital, bundle):
    assert hospital.announce(DATA).json() == {"offset": 0}
    for start in range(0, len(DATA), 1000):
        piece = DATA[start : start + 1000]
        assert hospital.patch(piece, start).json() == {"offset": start + len(piece)}
        state = "checking" if start + 1000 >= len(DATA) else "uploading"
        assert hospital.me()["bundle"]["state"] == state
    assert bundle.read_bytes() == DATA


def test_an_upload_goes_on_where_it_was(hospital, bundle):
    hospital.announce(DATA)
    hospital.patch(DATA[:3000])
    assert hospital.me()["bundle"]["offset"] == 3000
    assert hospital.announce(DATA).json() == {"offset": 3000}
    assert hospital.upload(DATA) == len(DATA)
    assert bundle.read_bytes() == DATA


def test_another_file_starts_afresh(hospital, part):
    hospital.announce(DATA)
    hospital.patch(DATA[:3000])
    assert hospital.announce(DATA[::-1]).json() == {"offset": 0}
    assert not part.exists()
    assert hospital.upload(DATA[::-1]) == len(DATA)


@pytest.mark.parametrize("offset", [0, 999, 1001, 10**15])
def test_a_wrong_offset_is_told_the_right_one(hospital, part, offset):
    hospital.announce(DATA)
    hospital.patch(DATA[:1000])
    answer = hospital.patch(b"x", offset, 409).json()
    assert answer["offset"] == 1000
    assert part.read_bytes() == DATA[:1000]


@pytest.mark.parametrize("offset", ["", "-1", "x", "1.5", "9" * 5000, "1e3", "0x1", "%00"])
def test_an_offset_that_is_none(hospital, offset):
    hospital.announce(DATA)
    assert hospital.patch(b"x", offset, 422).json().keys() == {"error", "hint"}


def test_a_wrong_digest_removes_the_part(hospital, part, bundle):
    hospital.ask("POST", "upload", json={"size": len(DATA), "sha256": "0" * 64}, says=200)
    answer = hospital.patch(DATA, 0, 422)
    assert "sha256" in answer.json()["error"]
    assert not part.exists()
    assert not bundle.exists()
    assert hospital.upload(DATA) == len(DATA)


def test_more_than_was_announced_is_not_kept(hospital, part):
    hospital.announce(DATA)
    hospital.patch(DATA + b"x", 0, 413)
    hospital.patch(iter([DATA[:100], DATA[100:] + b"x"]), 0, 413)
    assert not part.exists() or part.stat().st_size <= len(DATA)


def test_what_was_uploaded_cannot_be_replaced(hospital):
    hospital.upload(DATA)
    assert hospital.announce(DATA).json() == {"offset": len(DATA)}
    assert hospital.patch(b"", len(DATA)).json() == {"offset": len(DATA)}
    hospital.announce(DATA[:-1], 409)
    assert hospital.patch(b"x", 0, 409).json()["offset"] == len(DATA)


def test_a_refused_bundle_can_be_replaced(hospital, unit, bundle):
    hospital.upload(DATA)
    sql(unit, "UPDATE parties SET state = 'refused', reason = 'it is bad' WHERE number = 1")
    assert hospital.me()["bundle"]["reason"] == "it is bad"
    assert hospital.announce(DATA).json() == {"offset": 0}
    assert not bundle.exists()
    assert hospital.upload(DATA) == len(DATA)
    assert hospital.me()["bundle"]["reason"] is None


def test_bundles_are_not_taken_before_their_stage(make):
    (one, _) = make("early", ("a", "b"))
    one.announce(DATA, 409)
    one.patch(DATA, 0, 409)


def test_a_patch_without_an_announcement(hospital):
    assert "announce" in hospital.patch(DATA, 0, 409).json()["error"]


@pytest.mark.parametrize(
    "asked",
    [
        {"size": 0, "sha256": "0" * 64},
        {"size": -1, "sha256": "0" * 64},
        {"size": 10**40, "sha256": "0" * 64},
        {"size": 1.0, "sha256": "0" * 64},
        {"size": True, "sha256": "0" * 64},
        {"size": "1", "sha256": "0" * 64},
        {"size": 1, "sha256": "0" * 63},
        {"size": 1, "sha256": "0" * 64 + "\n"},
        {"size": 1, "sha256": "G" * 64},
        {"size": 1, "sha256": "\ud800"},
        {"size": 1},
        [],
        None,
        7,
    ],
    ids=str,
)
def test_an_announcement_that_makes_no_sense(hospital, asked):
    hospital.ask("POST", "upload", content=json.dumps(asked).encode(), says=422)


def test_a_bundle_over_the_limit(hospital):
    asked = {"size": 10**6 + 1, "sha256": "0" * 64}
    assert "larger" in hospital.ask("POST", "upload", json=asked, says=413).json()["error"]


def test_a_disk_without_room_for_it(hospital, monkeypatch):
    monkeypatch.setattr("gramlink.server.folder.Folder.free", lambda _: uploads.SPARE)
    assert "no room" in hospital.announce(DATA, 413).json()["error"]


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EDQUOT, errno.EFBIG])
def test_a_disk_that_fills_up_leaves_no_part(hospital, part, monkeypatch, number):
    hospital.announce(DATA)
    hospital.patch(DATA[:100])

    def full(_):
        raise OSError(number, "full")

    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", full)
        assert "no room" in hospital.patch(DATA[100:], 100, 413).json()["error"]
    assert not part.exists()
    assert hospital.upload(DATA) == len(DATA)


def test_a_whole_part_that_was_not_renamed_when_the_server_was_killed(hospital, part, bundle):
    hospital.announce(DATA)
    hospital.patch(DATA[:-1])
    part.write_bytes(DATA)
    assert hospital.announce(DATA).json() == {"offset": len(DATA)}
    assert hospital.me()["bundle"]["state"] == "checking"
    assert bundle.read_bytes() == DATA


def test_a_whole_part_is_taken_in_by_an_empty_patch_too(hospital, part, bundle):
    hospital.announce(DATA)
    part.write_bytes(DATA)
    assert hospital.patch(b"", len(DATA)).json() == {"offset": len(DATA)}
    assert bundle.read_bytes() == DATA


@pytest.mark.parametrize("by", ["announcing", "patching"])
def test_a_renamed_part_that_the_tables_do_not_know_of(hospital, bundle, by):
    hospital.announce(DATA)
    bundle.write_bytes(DATA)
    assert hospital.me()["bundle"]["offset"] == len(DATA)
    if by == "announcing":
        hospital.announce(DATA)
    else:
        hospital.patch(b"", len(DATA))
    assert hospital.me()["bundle"]["state"] == "checking"


def test_a_whole_part_of_other_bytes_is_removed(hospital, part):
    hospital.announce(DATA)
    part.write_bytes(DATA[::-1])
    hospital.announce(DATA, 422)
    assert not part.exists()
    assert hospital.upload(DATA) == len(DATA)


@pytest.mark.parametrize("patience", [1])
def test_a_client_that_goes_silent_keeps_what_came(hospital, part):
    hospital.announce(DATA)

    sent = [{"type": "http.request", "body": DATA[:500], "more_body": True}]

    async def receive():
        if not sent:
            await asyncio.sleep(60)
        return sent.pop()

    status = asyncio.run(answered(hospital.client.app, hospital, receive))
    assert status == 408
    assert part.read_bytes() == DATA[:500]


def test_a_connection_that_breaks_keeps_what_came(hospital, part):
    hospital.announce(DATA)
    sent = [
        {"type": "http.disconnect"},
        {"type": "http.request", "body": DATA[:700], "more_body": True},
    ]

    async def receive():
        return sent.pop()

    asyncio.run(answered(hospital.client.app, hospital, receive))
    assert part.read_bytes() == DATA[:700]
    assert hospital.upload(DATA) == len(DATA)


def test_the_second_of_two_patches_at_once_is_refused(hospital, bundle):
    hospital.announce(DATA)

    async def both():
        begun, go_on, app = asyncio.Event(), asyncio.Event(), hospital.client.app

        async def slowly():
            begun.set()
            await asyncio.wait_for(go_on.wait(), 60)
            return {"type": "http.request", "body": DATA, "more_body": False}

        async def at_once():
            return {"type": "http.request", "body": DATA, "more_body": False}

        first = asyncio.create_task(answered(app, hospital, slowly))
        await asyncio.wait_for(begun.wait(), 60)
        second = await answered(app, hospital, at_once)
        go_on.set()
        return await first, second

    assert asyncio.run(both()) == (200, 409)
    assert bundle.read_bytes() == DATA


async def answered(app, who, receive, offset=0):
    """The status of a PATCH whose body comes as `receive` gives it."""
    statuses = []

    async def send(message):
        if message["type"] == "http.response.start":
            statuses.append(message["status"])

    scope = {
        "type": "http",
        "asgi": {"version": "3.0", "spec_version": "2.3"},
        "http_version": "1.1",
        "method": "PATCH",
        "scheme": "http",
        "path": f"{who.path}/upload",
        "raw_path": f"{who.path}/upload".encode(),
        "query_string": f"offset={offset}".encode(),
        "root_path": "",
        "headers": [(b"authorization", f"Bearer {who.token}".encode())],
        "client": ("127.0.0.1", 1),
        "server": ("127.0.0.1", 80),
        "state": {},
    }
    await app(scope, receive, send)
    return statuses[0] if statuses else None


def test_an_upload_into_an_exchange_that_is_deleted_meanwhile(hospital, operator, unit):
    hospital.announce(DATA)

    async def deleted_meanwhile():
        sent = [DATA[500:], DATA[:500]]

        async def receive():
            if len(sent) == 1:
                await asyncio.to_thread(operator.ask, "DELETE", says=204)
            return {"type": "http.request", "body": sent.pop(), "more_body": bool(sent)}

        return await answered(hospital.client.app, hospital, receive)

    assert asyncio.run(deleted_meanwhile()) == 404
    assert not unit.folder.of(1).exists()
