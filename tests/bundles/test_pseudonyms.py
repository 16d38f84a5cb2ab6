import hashlib
import os
import stat

import pytest

from gramlink.bundles.pseudonyms import key_fingerprint, owner_key, pseudonyms
from gramlink.errors import InvalidFile
from systems import posix


def test_a_pseudonym_is_the_keyed_hash_of_the_id():
    key = bytes(range(32))
    whole = hashlib.blake2b("Größe 007".encode(), key=key, digest_size=16).hexdigest()
    assert pseudonyms(["Größe 007"], key) == (whole,)


def test_ids_that_look_like_the_same_number_have_different_pseudonyms():
    ids = ["7", "07", "007", "7.0", " 7"]
    assert len(set(pseudonyms(ids, b"k"))) == 5
    assert pseudonyms(ids, b"k") == pseudonyms(ids, b"k")
    assert not set(pseudonyms(ids, b"k")) & set(pseudonyms(ids, b"l"))


def test_a_fingerprint_tells_keys_apart_and_is_no_pseudonym():
    key, other = bytes(range(32)), bytes(range(1, 33))
    found = key_fingerprint(key)
    assert found == key_fingerprint(key) != key_fingerprint(other)
    assert found not in pseudonyms([""], key)[0]
    assert key.hex()[:4] not in found


@posix
def test_a_key_is_made_once_for_its_owner_alone_and_then_reused(tmp_path):
    path = tmp_path / "hospital.key"
    old = os.umask(0)
    try:
        key = owner_key(path)
    finally:
        os.umask(old)
    assert len(key) == 32
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    content = path.read_bytes()
    assert content.strip() == key.hex().encode()
    assert content.endswith(b"\n")
    assert owner_key(path) == key
    assert path.read_bytes() == content
    assert list(tmp_path.iterdir()) == [path]


def test_two_owners_have_different_keys(tmp_path):
    assert owner_key(tmp_path / "a.key") != owner_key(tmp_path / "b.key")


@pytest.mark.parametrize("end", ["", "\n", "\r\n", "\n\n", " "])
def test_the_end_of_the_line_is_not_part_of_the_key(tmp_path, end):
    path = tmp_path / "hospital.key"
    path.write_bytes(b"ab" * 32 + end.encode())
    assert owner_key(path) == b"\xab" * 32


@pytest.mark.parametrize(
    "content", [b"", b"ab" * 31, b"ab" * 33, b"xy" * 32, b"\xff" * 64, b"a" * 63, b"\x00" * 32]
)
def test_a_damaged_key_is_refused_and_left_alone(tmp_path, content):
    path = tmp_path / "hospital.key"
    path.write_bytes(content)
    with pytest.raises(InvalidFile, match=r"hospital\.key is not a gramlink key") as caught:
        owner_key(path)
    assert "mapped back" in caught.value.hint
    assert path.read_bytes() == content


def test_a_key_in_a_folder_that_does_not_exist_is_refused(tmp_path):
    with pytest.raises(InvalidFile, match="cannot be written: No such file"):
        owner_key(tmp_path / "nowhere" / "hospital.key")


def test_a_folder_is_not_a_key(tmp_path):
    with pytest.raises(InvalidFile, match="cannot be read"):
        owner_key(tmp_path)
