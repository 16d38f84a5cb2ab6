import hashlib
import json
import stat
import traceback
from pathlib import Path

import pyrage
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gramlink.bundles.age_header import HEADER
from gramlink.bundles.sealing import (
    Identity,
    Recipient,
    is_sealed,
    new_identity,
    read_identity,
    read_recipient,
    read_senders,
    seal,
    seal_from,
    signed,
    unseal,
    unseal_from,
    verified,
    write_identity,
    write_recipient,
)
from gramlink.errors import InvalidFile
from reference import sealing as reference
from systems import posix

OURS, THEIRS = new_identity(), new_identity()
DATA = b"MILLER,1980-01-31\n" * 20
SEALED = seal(DATA, [OURS.recipient])
VECTORS = json.loads(Path(__file__).parents[1].joinpath("golden", "signatures.json").read_text())


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
    theirs = pyrage.encrypt(DATA, [pyrage.x25519.Recipient.from_str(OURS.recipient.age)])
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
    "", "age1", "age1nobody", OURS.secret, OURS.recipient.age[:-1], OURS.recipient.age + "q",
    OURS.recipient.age + "\n", " " + OURS.recipient.key, "age1pq", "ssh-ed25519 AAAA", "\x00",
    OURS.recipient.key.replace("age1", "age2"), "é" * 62, f"+ed25519:{OURS.recipient.signs}",
    OURS.recipient.key.replace("+", ""), OURS.recipient.key.replace("+ed25519", " +ed25519"),
]  # fmt: skip


@pytest.mark.parametrize("key", WRONG_RECIPIENTS, ids=range(len(WRONG_RECIPIENTS)))
def test_what_is_no_recipient_cannot_be_one(key):
    with pytest.raises(InvalidFile, match=r"^this is not an age recipient$") as caught:
        Recipient(key)
    assert "gramlink keys new" in caught.value.hint


P = reference.PRIME
NO_SIGNERS = {
    "too short": "3a" * 31,
    "too long": "3a" * 33,
    "in capitals": OURS.recipient.signs.upper(),
    "a line end": OURS.recipient.signs + "\n",
    "two": f"{OURS.recipient.signs}+ed25519:{OURS.recipient.signs}",
    "spaces": " ".join(OURS.recipient.signs),
    "no digits": "é" * 64,
    "not on the curve": (2).to_bytes(32, "little").hex(),
    **{  # whose signatures anybody can make, or that are written in a second way
        f"y = {number}, {sign}": (y | sign << 255).to_bytes(32, "little").hex()
        for sign in (0, 1)
        for number, y in enumerate(
            (0, 1, P - 1, P, P + 1, P + 3, reference.EIGHTH, P - reference.EIGHTH, 2**255 - 1)
        )
    },
}


@pytest.mark.parametrize("signs", NO_SIGNERS.values(), ids=NO_SIGNERS)
def test_a_key_that_nobody_or_anybody_can_sign_with_is_refused(signs):
    with pytest.raises(InvalidFile, match=r"^this is not an Ed25519 public key$") as caught:
        Recipient(f"{OURS.recipient.age}+ed25519:{signs}")
    assert "gramlink keys new" in caught.value.hint


def test_a_recipient_without_a_key_to_sign_with_is_refused():
    with pytest.raises(InvalidFile, match="has no key to check signatures with") as caught:
        Recipient(OURS.recipient.age)
    assert "gramlink keys new" in caught.value.hint


def test_keys_overlap_if_either_is_the_same():
    one, other = OURS.recipient, THEIRS.recipient
    assert one.overlaps(one)
    assert not one.overlaps(other)
    assert one.overlaps(Recipient(f"{one.age}+ed25519:{other.signs}"))
    assert one.overlaps(Recipient(f"{other.age}+ed25519:{one.signs}"))


def test_senders_are_called_as_their_files_are(tmp_path):
    third = new_identity()
    for name, who in (("one/hospital", OURS), ("two/hospital", THEIRS), ("two/St. Mary's", third)):
        path = tmp_path / f"{name}.recipient"
        path.parent.mkdir(exist_ok=True)
        write_recipient(path, who.recipient, "somebody")
    assert read_senders([tmp_path / "one" / "hospital.recipient", tmp_path / "two"]) == {
        "hospital": {OURS.recipient, THEIRS.recipient},
        "St. Mary's": {third.recipient},
    }
    assert read_senders([]) == {}


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


# who signed it


@settings(deadline=None, max_examples=30)
@given(data=st.binary(max_size=200))
def test_a_reader_can_tell_whom_a_file_is_from(data):
    sealed = seal_from(data, OURS, THEIRS.recipient)
    assert unseal_from(sealed, THEIRS, "x") == (data, OURS.recipient)
    for reader in (None, THEIRS.recipient):
        assert verified(signed(data, OURS), "x", reader) == (data, OURS.recipient)


def test_a_file_that_does_not_say_whom_it_is_from_is_opened_all_the_same():
    assert unseal_from(seal(b"MILLER", [OURS.recipient]), OURS, "x") == (b"MILLER", None)
    assert verified(b"MILLER", "x") == (b"MILLER", None)


def test_nobody_can_pass_for_another_to_a_reader():
    mallory = new_identity()
    good = signed(b"grams", OURS, THEIRS.recipient)
    ours, theirs = OURS.recipient.key.encode(), mallory.recipient.key.encode()
    forged = {
        "other data": good.replace(b"grams", b"other"),
        "more data": good + b"x",
        "signed by another": signed(b"grams", mallory, THEIRS.recipient).replace(theirs, ours),
        "for another reader": signed(b"grams", OURS, mallory.recipient),
        "the reader's own": signed(b"grams", THEIRS, OURS.recipient),
        "no data": good.partition(b"\n")[0] + b"\n",
        "no signature": b"gramlink signed " + ours + b" \ngrams",
        "in capitals": good.replace(line_of(good)[2], line_of(good)[2].upper()),
        "something behind": good.replace(b"\ngrams", b" \ngrams"),
    }
    for what, one in forged.items():
        with pytest.raises(InvalidFile, match="does not come from the sender it names"):
            unseal_from(seal(one, [THEIRS.recipient]), THEIRS, what)
    for one in (b"gramlink signed nobody x\n", b"gramlink signed ", good.partition(b"\n")[0]):
        with pytest.raises(InvalidFile, match=r"does not say who signed it|does not come from"):
            unseal_from(seal(one, [THEIRS.recipient]), THEIRS, "x")


def test_what_is_signed_for_one_reader_is_not_for_anybody():
    with pytest.raises(InvalidFile, match="was made for another reader"):
        verified(signed(b"grams", OURS, THEIRS.recipient), "x")


@pytest.mark.parametrize("bit", [1, 128])
def test_a_byte_that_was_changed_anywhere_in_what_is_signed_is_noticed(bit):
    """Without the seal: whoever could open it, such as the reader, could have changed it."""
    good = signed(b"grams", OURS)
    for place in range(len(good)):
        changed = bytearray(good)
        changed[place] ^= bit
        try:
            _, sender = verified(bytes(changed), "x")
        except InvalidFile:
            continue
        assert sender is None  # the line is not even taken for one


def line_of(data):
    """The words of the first line of what was signed."""
    return data.partition(b"\n")[0].removeprefix(b"gramlink ").split(b" ")


@settings(deadline=None, max_examples=10)
@given(data=st.binary(max_size=200))
def test_a_signature_agrees_with_its_definition(data):
    for reader in (THEIRS.recipient, None):
        _, sender, made = line_of(signed(data, OURS, reader))
        said = reference.statement(data, sender.decode(), reader.key if reader else "")
        assert bytes.fromhex(made.decode()) == reference.signature(said, OURS.secret)


@pytest.mark.parametrize("vector", VECTORS, ids=[one["what"] for one in VECTORS])
def test_the_test_vectors_hold_in_code_and_definition(vector):
    sender = Identity(vector["sender_identity"])
    reader = Recipient(vector["reader_recipient"]) if vector["reader_recipient"] else None
    assert sender.recipient.key == vector["sender_recipient"]
    assert sender.recipient.signs == reference.signing_key(sender.secret)[2].hex()
    content = bytes.fromhex(vector["content"])
    line = f"gramlink signed {sender.recipient.key} {vector['signature']}\n".encode()
    assert signed(content, sender, reader) == line + content
    assert verified(line + content, "x", reader) == (content, sender.recipient)
    said = reference.statement(content, sender.recipient.key, vector["reader_recipient"])
    assert reference.signature(said, sender.secret).hex() == vector["signature"]


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
    raw = reference.raw(OURS.recipient.age)
    assert reference.age_key("age", raw) == OURS.recipient.age


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
    key = f"{reference.age_key('age', raw)}+ed25519:{OURS.recipient.signs}"
    no_recipient = "nothing can be sealed to this age recipient|not the one way to write"
    with pytest.raises(InvalidFile, match=no_recipient) as caught:
        Recipient(key)
    assert "gramlink keys new" in caught.value.hint


def whole(number):
    """A recipient with this point, and a key to check signatures with."""
    key = reference.age_key("age", number.to_bytes(32, "little"))
    return f"{key}+ed25519:{OURS.recipient.signs}"


def second_names():
    """Other ways to write our point and small ones: with the top bit, or the prime more."""
    ours = int.from_bytes(reference.raw(OURS.recipient.age), "little")
    small = [2, 3, 9, 18]
    return [ours | 1 << 255, *(n + reference.PRIME for n in small), *(n | 1 << 255 for n in small)]


@pytest.mark.parametrize("number", second_names(), ids=range(9))
def test_a_second_way_to_write_a_key_is_refused(number):
    with pytest.raises(InvalidFile, match="not the one way to write") as caught:
        Recipient(whole(number))
    assert "gramlink keys new" in caught.value.hint


@pytest.mark.parametrize("number", [2, 9, reference.PRIME - 2])
def test_the_first_way_to_write_a_key_is_taken_up_to_the_prime(number):
    assert Recipient(whole(number)).key == whole(number)


def test_the_description_of_the_format_shows_the_first_test_vector():
    page = Path(__file__).parents[2].joinpath("docs", "format.md").read_text("utf-8")
    assert bytes.fromhex(VECTORS[0]["content"]) == b"grams"
    for part in ("sender_identity", "reader_recipient", "signature"):
        assert f"`{VECTORS[0][part]}`" in page
