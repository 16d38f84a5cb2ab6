import errno
import json
import os
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gramlink.errors import InvalidFile, Mismatch
from gramlink.io.files import (
    digest,
    fingerprint,
    from_json,
    moment,
    plain_json,
    read_bytes,
    to_json,
    written_whole,
)


@pytest.fixture
def path(tmp_path):
    return tmp_path / "mined.json"


def write(path, content, then=None, room=0):
    """Write a file whole, or be interrupted."""
    with written_whole(path, room=room) as file:
        file.write(content)
        if then:
            raise then


def full(*_):
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def test_a_file_appears_with_all_that_was_written_and_nothing_beside_it(path):
    with written_whole(path) as file:
        file.write(b"all ")
        assert not path.exists()
        file.write(b"of it")
    assert path.read_bytes() == b"all of it"
    assert list(path.parent.iterdir()) == [path]


def test_a_file_is_replaced_whole(path):
    path.write_bytes(b"a longer content than the new one")
    with written_whole(path) as file:
        file.write(b"new")
        assert path.read_bytes() == b"a longer content than the new one"
    assert path.read_bytes() == b"new"


@pytest.mark.parametrize("error", [RuntimeError, KeyboardInterrupt, Mismatch])
def test_after_an_exception_nothing_is_left_behind(path, error):
    with pytest.raises(error):
        write(path, b"half", then=error("stop"))
    assert list(path.parent.iterdir()) == []


def test_after_an_exception_the_old_content_is_kept(path):
    path.write_bytes(b"old")
    with pytest.raises(RuntimeError):
        write(path, b"half", then=RuntimeError())
    assert path.read_bytes() == b"old"
    assert list(path.parent.iterdir()) == [path]


@pytest.mark.parametrize("step", ["os.fsync", "pathlib.Path.replace"])
def test_a_disk_that_fills_up_keeps_the_old_content(path, monkeypatch, step):
    path.write_bytes(b"old")
    monkeypatch.setattr(step, full)
    with pytest.raises(InvalidFile, match="cannot be written: No space left") as caught:
        write(path, b"new")
    assert "room" in caught.value.hint
    assert path.read_bytes() == b"old"
    assert list(path.parent.iterdir()) == [path]


def test_the_content_is_on_disk_before_the_file_has_its_name(path, monkeypatch):
    steps = []
    sync, replace = os.fsync, Path.replace
    monkeypatch.setattr(os, "fsync", lambda handle: steps.append("sync") or sync(handle))
    monkeypatch.setattr(Path, "replace", lambda *names: steps.append("name") or replace(*names))
    with written_whole(path) as file:
        file.write(b"content")
    assert steps[:2] == ["sync", "name"]


@pytest.mark.parametrize("room", [0, 3, 7, 1000])
def test_room_that_was_asked_for_is_not_part_of_the_content(path, room):
    write(path, b"content", room=room)
    assert path.read_bytes() == b"content"
    assert list(path.parent.iterdir()) == [path]


def test_a_disk_without_the_room_is_noticed_before_anything_is_done(path, monkeypatch):
    monkeypatch.setattr("os.fsync", full)
    with pytest.raises(InvalidFile, match="No space left"):
        write(path, b"content", then=AssertionError("entered"), room=1000)
    assert list(path.parent.iterdir()) == []


def test_a_folder_that_does_not_exist_is_refused_before_anything_is_done(tmp_path):
    # the exception for the block to raise is not seen: the block is not entered
    with pytest.raises(InvalidFile, match="cannot be written: No such file"):
        write(tmp_path / "nowhere" / "mined.json", b"content", then=AssertionError("entered"))


def test_a_file_in_the_place_of_the_folder_is_refused(path):
    path.write_bytes(b"")
    with pytest.raises(InvalidFile, match="cannot be written"):
        write(path / "x.json", b"content")


def test_a_folder_in_the_place_of_the_file_is_refused_and_nothing_left_behind(path):
    path.mkdir()
    with pytest.raises(InvalidFile, match="cannot be written"):
        write(path, b"content")
    assert list(path.parent.iterdir()) == [path]


def test_a_folder_that_may_not_be_written_to_is_refused(path, monkeypatch):
    really = os.open

    def denied(name, flags, *rest, **options):  # file modes do not bind whoever is root
        if flags & os.O_CREAT:
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))
        return really(name, flags, *rest, **options)

    monkeypatch.setattr(os, "open", denied)
    with pytest.raises(InvalidFile, match="cannot be written: Permission denied"):
        write(path, b"content")


def test_a_file_that_is_not_there_cannot_be_read(path):
    with pytest.raises(InvalidFile, match=r"mined.json cannot be read: No such file"):
        read_bytes(path)
    with pytest.raises(InvalidFile, match="cannot be read"):
        read_bytes(path.parent)


def test_a_moment_is_in_universal_time_and_to_the_second():
    told = datetime.strptime(moment(), "%Y-%m-%dT%H:%M:%SZ").replace(tzinfo=UTC)
    assert timedelta(0) <= datetime.now(UTC) - told < timedelta(seconds=10)
    assert len(moment()) == 20


def test_a_fingerprint_is_the_first_80_bits_of_a_digest():
    assert fingerprint("0123456789abcdef" * 4) == "0123 4567 89ab cdef 0123"
    assert fingerprint(digest("a")).replace(" ", "") == digest("a")[:20]


CONTENT = {"owner": "Hôpital", "counts": [1, 2.5, None], "nested": {"b": 1, "a": 2}}


def test_json_comes_back_as_it_was_written_and_says_what_it_is():
    data = to_json("mined", CONTENT)
    assert from_json("mined", data, "x.json") == CONTENT
    assert data == to_json("mined", CONTENT)
    assert json.loads(data)["gramlink"] == "mined"
    assert "Hôpital".encode() in data
    assert data.endswith(b"}\n")


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"{",
        b"not json",
        to_json("mined", CONTENT)[:-3],
        b"\xff\xfe{}",
        b"[" * 100_000,
        b'{"gramlink": "mined", "version": ' + b"1" * 5000 + b"}",
    ],
    ids=["empty", "brace", "text", "cut", "bytes", "deep", "long number"],
)
def test_what_is_not_json_is_refused(data):
    with pytest.raises(InvalidFile, match=r"^x\.json is damaged or not a mined file"):
        from_json("mined", data, "x.json")


def test_another_kind_of_file_is_named():
    with pytest.raises(InvalidFile, match=r"x\.json is not a mined file but a projection file"):
        from_json("mined", to_json("projection", {}), "x.json")


@pytest.mark.parametrize("data", [b"{}", b"[]", b"3", b"null", b'"mined"', b'{"kind": "mined"}'])
def test_json_that_is_not_ours_is_refused(data):
    with pytest.raises(InvalidFile, match=r"x\.json is not a mined file$"):
        from_json("mined", data, "x.json")


@pytest.mark.parametrize("version", ["2", "null", '"1"', "[]"])
def test_another_version_is_refused(version):
    data = f'{{"gramlink": "mined", "version": {version}}}'.encode()
    with pytest.raises(InvalidFile, match=r"has format version .*, but this gramlink reads 1"):
        from_json("mined", data, "x.json")


def test_a_digest_does_not_depend_on_the_order_of_keys_and_does_on_everything_else():
    assert digest(CONTENT) == digest(dict(reversed(CONTENT.items())))
    assert digest(CONTENT) != digest({**CONTENT, "owner": "Hopital"})
    assert digest([1, 2]) != digest([2, 1])
    assert digest({"a": 1}) != digest({"a": "1"})
    # the same on every machine: SHA-256 of {"a":[1,"é"]}
    assert digest({"a": [1, "é"]}) == (
        "5db14a2cddc92d31365806bb5d82ed2bc436bf6960d10cd4654140f7bdadce1c"
    )


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=10,
)  # fmt: skip


@given(JSON)
def test_plain_json_is_json(value):
    text = json.dumps(value)
    assert plain_json(text) == plain_json(text.encode()) == value


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ('{"a": 1, "a": 1}', "it says 'a' twice"),
        ('{"a": 1, "\\u0061": 2}', "it says 'a' twice"),
        ('[{"b": {"c": 1, "d": 2, "c": 3}}]', "it says 'c' twice"),
        ('{"": 1, "": 2}', "it says '' twice"),
        ("NaN", "NaN is not a number"),
        ('{"a": [Infinity]}', "Infinity is not a number"),
        ('{"a": -Infinity}', "-Infinity is not a number"),
        ("", "Expecting value"),
        ("{} {}", "Extra data"),
        ("{'a': 1}", "Expecting property name"),
        ("01", "Extra data"),
    ],
)
def test_json_that_could_be_read_in_two_ways_is_refused(text, why):
    for data in (text, text.encode()):
        with pytest.raises(ValueError, match=why):
            plain_json(data)


def test_the_same_name_in_two_tables_is_said_once_in_each():
    assert plain_json('{"a": {"a": {"a": 1}}, "b": {"a": 2}}')["b"] == {"a": 2}


def test_a_long_name_that_is_said_twice_is_not_shown_in_full():
    name = "x" * 10_000
    with pytest.raises(ValueError, match="twice") as caught:
        plain_json(f'{{"{name}": 1, "{name}": 2}}')
    assert len(str(caught.value)) < 200


def test_a_file_of_ours_that_says_something_twice_is_refused():
    data = to_json("mined", CONTENT).replace(b'"counts"', b'"owner"')
    with pytest.raises(InvalidFile, match=r"^x\.json is damaged or not a mined file: it says"):
        from_json("mined", data, "x.json")
