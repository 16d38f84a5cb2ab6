import hashlib
import json
import stat
import traceback
from pathlib import Path

import pyrage
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gramlink.bundles.sealing import (
    HEADER,
    Identity,
    Recipient,
    is_sealed,
    new_identity,
    read_identity,
    read_recipient,
    seal,
    seal_from,
    unseal,
    unseal_from,
    write_identity,
    write_recipient,
)
from gramlink.errors import InvalidFile
from reference import sealing as reference
from systems import posix

OURS, THEIRS = new_identity(), new_identity()
DATA = b"MILLER,1980-01-31\n" * 20
SEALED = seal(DATA, [OURS.recipient])
VECTORS = json.loads(Path(__file__).parents[1].joinpath("golden", "sender-mark.json").read_text())


def refused(data, identity=OURS):
    """What is said of a file that cannot be opened: neither a secret nor anything of its data."""
    with pytest.raises(InvalidFile) as caught:
        unseal(data, identity, "x.age")
    told = "".join(traceback.format_exception(caught.value)) + caught.value.hint
    assert not any(secret in told for secret in (OURS.secret, THEIRS.secret, "MILLER"))
    assert str(caught.value).startswith("x.age ")
    assert caught.value.hint
    return str(caught.value)


@settings(deadline=None, max_examples=50)
@given(data=st.binary(max_size=300), size=st.sampled_from([0, 2**16 - 1, 2**16, 2**16 + 1]))
def test_what_is_sealed_is_opened_by_its_reader_alone(data, size):
    data += bytes(size)
    sealed = seal(data, [OURS.recipient])
    assert unseal(sealed, OURS, "x") == data
    assert is_sealed(sealed)
    assert refused(sealed, THEIRS) == "x.age is sealed to another key"


def test_each_of_several_readers_can_open_it():
    sealed = seal(DATA, [OURS.recipient, THEIRS.recipient])
    assert unseal(sealed, OURS, "x") == unseal(sealed, THEIRS, "x") == DATA
    refused(sealed, new_identity())


def test_nothing_of_the_data_shows_and_no_two_sealings_are_the_same():
    assert b"MILLER" not in SEALED
    assert seal(DATA, [OURS.recipient]) != SEALED


def test_the_format_is_that_of_age():
    """What `age` reads and writes: checked with the library that sealing is built on, bare."""
    assert SEALED.startswith(b"age-encryption.org/v1\n-> X25519 ")
    identity = pyrage.x25519.Identity.from_str(OURS.secret)
    assert pyrage.decrypt(SEALED, [identity]) == DATA
    theirs = pyrage.encrypt(DATA, [pyrage.x25519.Recipient.from_str(OURS.recipient.key)])
    assert unseal(theirs, OURS, "x") == DATA


def test_the_hint_of_a_wrong_key_names_the_right_one():
    with pytest.raises(InvalidFile) as caught:
        unseal(SEALED, THEIRS, "x.age")
    assert THEIRS.recipient.fingerprint in caught.value.hint


@pytest.mark.parametrize("bit", [1, 32, 128])
def test_a_byte_that_was_changed_anywhere_is_noticed(bit):
    for place in range(len(SEALED)):
        changed = bytearray(SEALED)
        changed[place] ^= bit
        refused(bytes(changed))


def test_a_file_that_was_cut_or_has_more_behind_it_is_refused():
    for end in range(len(SEALED)):
        refused(SEALED[:end])
    refused(SEALED + b"x")
    refused(SEALED + SEALED)


def test_pieces_of_a_large_file_cannot_be_left_out_or_exchanged():
    sealed = seal(bytes(range(256)) * 1024, [OURS.recipient])  # four pieces of 64 KiB
    piece = 2**16 + 16
    start = len(sealed) - 4 * piece
    pieces = [sealed[place : place + piece] for place in range(start, len(sealed), piece)]
    for order in ([0, 1, 2], [1, 0, 2, 3], [0, 1, 3], [0, 0, 1, 2, 3], [0, 1, 2, 3, 3], [3]):
        refused(sealed[:start] + b"".join(pieces[place] for place in order))
    assert len(unseal(sealed[:start] + b"".join(pieces), OURS, "x")) == 2**18


@pytest.mark.parametrize(
    "data", [b"", b"id,surname\n", HEADER[:-1], b"PK\x03\x04", b"AGE" + HEADER]
)
def test_what_is_not_sealed_is_said_to_be_not(data):
    assert not is_sealed(data)
    assert refused(data) == "x.age is not a sealed file"


@settings(deadline=None, max_examples=100)
@given(data=st.binary(max_size=200), line=st.sampled_from([b"", b"-> X25519 ", b"--- ", b"-> "]))
def test_whatever_follows_the_first_line_no_other_error_comes_of_it(data, line):
    refused(HEADER + line + data)


def test_a_file_sealed_with_a_passphrase_is_not_for_a_key():
    body = b"-> scrypt AAAAAAAAAAAAAAAAAAAAAA 10\n" + b"A" * 43 + b"\n--- " + b"A" * 43 + b"\n"
    refused(HEADER + body + bytes(100))


# keys


def test_an_identity_does_not_show_its_secret():
    for text in (repr(OURS), str(OURS), f"{OURS}", repr([OURS]), repr({"a": OURS})):
        assert OURS.secret not in text
        assert "SECRET" not in text


def test_every_identity_is_another():
    assert len({new_identity().secret for _ in range(20)}) == 20


def test_a_fingerprint_is_the_start_of_a_digest_of_the_key():
    digest = hashlib.sha256(OURS.recipient.key.encode()).hexdigest()
    assert OURS.recipient.fingerprint.replace(" ", "") == digest[:20]
    assert OURS.recipient.fingerprint != THEIRS.recipient.fingerprint


WRONG_RECIPIENTS = [
    "", "age1", "age1nobody", OURS.secret, OURS.recipient.key[:-1], OURS.recipient.key + "q",
    OURS.recipient.key + "\n", " " + OURS.recipient.key, "age1pq", "ssh-ed25519 AAAA", "\x00",
    OURS.recipient.key.replace("age1", "age2"), "é" * 62,
]  # fmt: skip


@pytest.mark.parametrize("key", WRONG_RECIPIENTS, ids=range(len(WRONG_RECIPIENTS)))
def test_what_is_no_recipient_cannot_be_one(key):
    with pytest.raises(InvalidFile, match=r"^this is not an age recipient$") as caught:
        Recipient(key)
    assert "gramlink keys new" in caught.value.hint


WRONG_IDENTITIES = [
    "", "AGE-SECRET-KEY-1", OURS.recipient.key, OURS.secret[:-1], OURS.secret + "\n",
    OURS.secret[:-1] + ("Q" if OURS.secret[-1] != "Q" else "P"), OURS.secret * 2,
]  # fmt: skip


@pytest.mark.parametrize("number", range(len(WRONG_IDENTITIES)))
def test_what_is_no_identity_is_refused_without_showing_it(number):
    with pytest.raises(InvalidFile, match=r"^this is not an age identity$") as caught:
        Identity(WRONG_IDENTITIES[number])
    told = "".join(traceback.format_exception(caught.value)) + caught.value.hint
    assert OURS.secret[:-1] not in told


# files


@pytest.fixture
def path(tmp_path):
    return tmp_path / "hospital.identity"


def test_keys_come_back_from_their_files(path):
    write_identity(path, OURS, "hospital")
    assert read_identity(path) == OURS
    write_recipient(path, OURS.recipient, "hospital")
    assert read_recipient(path) == OURS.recipient


@posix
def test_an_identity_is_for_its_owner_to_read_alone(path):
    write_identity(path, OURS, "hospital")
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert list(path.parent.iterdir()) == [path]


def test_a_recipients_file_holds_no_secret(path):
    write_recipient(path, OURS.recipient, "hospital")
    text = path.read_text()
    assert "SECRET" not in text
    assert text == f"# recipient of hospital: anyone may know it\n{OURS.recipient.key}\n"


def test_an_identitys_file_is_one_of_ages(path):
    write_identity(path, OURS, "St. Mary's")
    lines = path.read_text().splitlines()
    assert lines[1:] == [f"# public key: {OURS.recipient.key}", OURS.secret]
    assert lines[0].startswith("# ")


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r", ""])
def test_a_file_of_age_keygen_can_be_read(path, end):
    lines = ["# created: 2026-03-14T15:09:26+01:00", f"# public key: {OURS.recipient.key}", ""]
    path.write_bytes(((end or "\n").join([*lines, OURS.secret]) + end).encode())
    assert read_identity(path) == OURS
    path.write_bytes(f"#a comment{end or chr(10)}  {OURS.recipient.key} {end}".encode())
    assert read_recipient(path) == OURS.recipient


@pytest.mark.parametrize(
    "content",
    [
        b"", b"# only a comment\n", b"\xff\xfe\x00", f"{OURS.secret}\n{THEIRS.secret}\n".encode(),
        f"{OURS.recipient.key}\n{OURS.secret}".encode(), f"{OURS.secret} # mine".encode(),
        b"id,surname\n1,MILLER\n", OURS.secret.encode("utf-16"),
    ],
    ids=["nothing", "comment", "bytes", "two", "both", "comment behind", "data", "utf-16"],
)  # fmt: skip
@pytest.mark.parametrize("read", [read_identity, read_recipient])
def test_a_file_without_just_one_key_is_refused_and_not_shown(path, read, content):
    path.write_bytes(content)
    with pytest.raises(InvalidFile, match=r"has no (identity|recipient)|not an age") as caught:
        read(path)
    told = str(caught.value) + caught.value.hint
    assert not any(one in told for one in (OURS.secret, THEIRS.secret, "MILLER"))


def test_the_one_is_not_the_other(path):
    write_identity(path, OURS, "hospital")
    with pytest.raises(InvalidFile, match="not an age recipient") as caught:
        read_recipient(path)
    assert OURS.secret not in str(caught.value) + caught.value.hint
    write_recipient(path, OURS.recipient, "hospital")
    with pytest.raises(InvalidFile, match="not an age identity"):
        read_identity(path)


def test_a_file_that_is_not_there_is_named(path):
    for read in (read_identity, read_recipient):
        with pytest.raises(InvalidFile, match=r"hospital\.identity cannot be read"):
            read(path)


@given(data=st.binary(max_size=200))
def test_a_reader_can_tell_whom_a_file_is_from(data):
    sealed = seal_from(data, OURS, THEIRS.recipient)
    assert unseal_from(sealed, THEIRS, "x") == (data, OURS.recipient)


def test_a_file_that_does_not_say_whom_it_is_from_is_opened_all_the_same():
    assert unseal_from(seal(b"MILLER", [OURS.recipient]), OURS, "x") == (b"MILLER", None)


def test_nobody_can_pass_for_another_to_a_reader():
    mallory = new_identity()
    marked = unseal(seal_from(b"grams", OURS, THEIRS.recipient), THEIRS, "x")
    forged = [
        marked.replace(b"grams", b"other"),
        unseal(seal_from(b"grams", mallory, THEIRS.recipient), THEIRS, "x").replace(
            mallory.recipient.key.encode(), OURS.recipient.key.encode()
        ),
        unseal(seal_from(b"grams", OURS, mallory.recipient), mallory, "x"),  # was for another
        unseal(seal_from(b"grams", THEIRS, OURS.recipient), OURS, "x"),  # was the reader's own
        marked.partition(b"\n")[0],
        b"gramlink from " + OURS.recipient.key.encode() + b" \ngrams",
    ]
    for one in forged:
        with pytest.raises(InvalidFile, match="does not come from the sender it names"):
            unseal_from(seal(one, [THEIRS.recipient]), THEIRS, "x")
    with pytest.raises(InvalidFile, match="not an age recipient"):
        unseal_from(seal(b"gramlink from nobody x\n", [THEIRS.recipient]), THEIRS, "x")


def mark_of(sealed, reader):
    """The mark on the first line of what was sealed."""
    return unseal(sealed, reader, "x").partition(b"\n")[0].rpartition(b" ")[2].decode()


@settings(deadline=None, max_examples=20)
@given(data=st.binary(max_size=200))
def test_a_mark_agrees_with_its_definition_at_both_ends(data):
    mark = mark_of(seal_from(data, OURS, THEIRS.recipient), THEIRS)
    assert mark == reference.mark(data, OURS.secret, THEIRS.recipient.key, sending=True)
    assert mark == reference.mark(data, THEIRS.secret, OURS.recipient.key, sending=False)
    back = mark_of(seal_from(data, THEIRS, OURS.recipient), OURS)
    assert back != mark  # what is sent back has another key


@pytest.mark.parametrize("vector", VECTORS, ids=[one["what"] for one in VECTORS])
def test_the_test_vectors_hold_in_code_and_definition(vector):
    sender, reader = Identity(vector["sender_identity"]), Identity(vector["reader_identity"])
    assert sender.recipient.key == vector["sender_recipient"]
    assert reader.recipient.key == vector["reader_recipient"]
    content = bytes.fromhex(vector["content"])
    marked = f"gramlink from {sender.recipient.key} {vector['mark']}\n".encode() + content
    assert unseal(seal_from(content, sender, reader.recipient), reader, "x") == marked
    assert unseal_from(seal(marked, [reader.recipient]), reader, "x") == (content, sender.recipient)
    mark = reference.mark(content, sender.secret, reader.recipient.key, sending=True)
    assert mark == vector["mark"]


def test_the_definition_has_the_test_vectors_of_its_standards():
    assert reference.hkdf(  # RFC 5869, appendix A.1
        b"\x0b" * 22, bytes(range(13)), bytes(range(0xF0, 0xFA)), 42
    ).hex() == (
        "3cb25f25faacd57a90434f64d0362f2a2d2d0a90cf1a5a4c5db02d56ecc4c5bf34007208d5b887185865"
    )
    assert (
        reference.x25519(  # RFC 7748, section 5.2
            bytes.fromhex("a546e36bf0527c9d3b16154b82465edd62144c0ac1fc5a18506a2244ba449ac4"),
            bytes.fromhex("e6db6867583030db3594c1a424b15f7c726624ec26b3353b10a903a6d0ab1c4c"),
        ).hex()
        == "c3da55379de9c6908e94ea4df28d084f32eccf03491c71f754b4075577a28552"
    )
    raw = reference.raw(OURS.recipient.key)
    assert reference.age_key("age", raw) == OURS.recipient.key


LOW_ORDER = [
    0, 1, reference.PRIME - 1, reference.PRIME, reference.PRIME + 1,
    325606250916557431795983626356110631294008115727848805560023387167927233504,
    39382357235489614581723060781553021112529911719440698176882885853963445705823,
]  # fmt: skip


@pytest.mark.parametrize("top_bit", [0, 1])
@pytest.mark.parametrize("point", LOW_ORDER, ids=range(len(LOW_ORDER)))
def test_a_point_that_gives_everybody_the_same_secret_is_no_recipient(point, top_bit):
    raw = (point | top_bit << 255).to_bytes(32, "little")
    assert reference.x25519(reference.raw(OURS.secret), raw) == bytes(32)
    key = reference.age_key("age", raw)
    with pytest.raises(InvalidFile, match="nothing can be sealed to this age recipient") as caught:
        Recipient(key)
    assert "gramlink keys new" in caught.value.hint
    forged = seal(f"gramlink from {key} {'0' * 64}\ngrams".encode(), [OURS.recipient])
    with pytest.raises(InvalidFile, match="nothing can be sealed to this age recipient"):
        unseal_from(forged, OURS, "x")


def test_the_description_of_the_format_shows_the_first_test_vector():
    page = Path(__file__).parents[2].joinpath("docs", "format.md").read_text("utf-8")
    assert bytes.fromhex(VECTORS[0]["content"]) == b"grams"
    for part in ("sender_identity", "reader_identity", "mark"):
        assert f"`{VECTORS[0][part]}`" in page
