import pytest

from gramlink.io.files import to_json
from gramlink.privacy.stamp import Stamp, stamped

HEAD, NONCE = "ab" * 32, "0123456789abcdef" * 2


def test_a_stamp_is_known_by_its_own_ledger_only_and_only_whole():
    stamp = Stamp.of(HEAD, NONCE)
    assert Stamp.read(stamp.told) == stamp
    assert stamp.is_of(NONCE)
    assert not stamp.is_of(NONCE[::-1])
    assert not Stamp("cd" * 32, stamp.mark).is_of(NONCE)
    assert stamp == Stamp.of(HEAD, NONCE) != Stamp.of("cd" * 32, NONCE)


def test_the_mark_is_as_documented():
    """Made with `printf %s HEAD | openssl dgst -sha256 -hmac NONCE`."""
    assert Stamp.of(HEAD, NONCE).mark == (
        "b9e3febe7ff3ce56fe33c9f4343fd597f6e644d8e7a1ae8043eb95b66e57ac46"
    )


@pytest.mark.parametrize(
    "told", [{}, {"head": HEAD}, {"head": HEAD, "mark": HEAD[1:]}, {"head": 7, "mark": HEAD},
             {"head": HEAD.upper(), "mark": HEAD}, {"head": HEAD + "\n", "mark": HEAD}]
)  # fmt: skip
def test_what_is_not_two_digests_is_no_stamp(told):
    with pytest.raises((ValueError, KeyError)):
        Stamp.read(told)


def test_stamps_are_found_in_mined_files_wherever_an_owner_keeps_them(tmp_path, monkeypatch):
    def mined(path, **content):
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(to_json("mined", {"owner": "clinic", **content}))

    stamp = Stamp.of(HEAD, NONCE)
    mined(tmp_path / "clinic.mined.json", ledger=stamp.told)
    mined(tmp_path / "stroke-clinic" / "mined.json", ledger=stamp.told)
    mined(tmp_path / "grams", ledger=stamp.told)
    mined(tmp_path / "sent to registry.json", ledger=stamp.told)
    mined(tmp_path / ".clinic.mined.json.0123abcd.part", ledger=stamp.told)  # nobody has it
    mined(tmp_path / "old" / "clinic.mined.json", ledger=stamp.told)  # too far
    mined(tmp_path / "free.mined.json")
    mined(tmp_path / "odd.mined.json", ledger=[stamp.told])
    (tmp_path / "empty.mined.json").write_bytes(b"")
    (tmp_path / "large.mined.json").write_bytes(b"x" * 100)
    (tmp_path / "dir.mined.json").mkdir()
    monkeypatch.setattr("gramlink.privacy.stamp.MOST_BYTES", 10**4)
    places = [tmp_path, tmp_path / "grams", tmp_path / "nowhere", tmp_path]
    found = list(stamped(places))
    assert {one.path.relative_to(tmp_path).as_posix() for one in found} == {
        "clinic.mined.json",
        "grams",
        "sent to registry.json",
        "stroke-clinic/mined.json",
    }
    assert {(one.owner, one.stamp) for one in found} == {("clinic", stamp)}
    assert len(found) == 4
    monkeypatch.setattr("gramlink.privacy.stamp.MOST_BYTES", 10)
    assert not list(stamped(places))
