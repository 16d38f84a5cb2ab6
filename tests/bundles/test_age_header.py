import pyrage
import pytest

from gramlink.bundles.age_header import HEADER, is_header
from gramlink.bundles.sealing import new_identity, seal, unseal
from gramlink.errors import InvalidFile
from reference.sealing import age_file

US = new_identity()
LINE = b"A" * 64 + b"\n"


def header_of(*stanzas):
    return age_file(b"grams", US.recipient.age, *stanzas)


ALLOWED = {
    "no other reader": (),
    "an empty body": (b"-> other\n\n",),
    "a short body": (b"-> other argument\nAAAA\n",),
    "a body of full lines that an empty one ends": (b"-> other\n" + LINE * 3 + b"\n",),
    "any symbols": (b"-> ~!joint-grease \\ =\nAAAA\n",),
    "many readers": (b"-> other\n\n",) * 50,
}
FORBIDDEN = {
    "no body": (b"-> other\n",),
    "no body before another": (b"-> other\n", b"-> another\n\n"),
    "a full line at the end": (b"-> other\n" + LINE,),
    "a full line before another": (b"-> other\n" + LINE, b"-> another\n\n"),
}


@pytest.mark.parametrize("stanzas", ALLOWED.values(), ids=ALLOWED)
def test_a_header_of_the_format_is_taken(stanzas):
    assert unseal(header_of(*stanzas), US, "x") == b"grams"


@pytest.mark.parametrize("stanzas", FORBIDDEN.values(), ids=FORBIDDEN)
def test_a_header_that_the_library_takes_and_the_format_forbids_is_refused(stanzas):
    sealed = header_of(*stanzas)
    assert pyrage.decrypt(sealed, [pyrage.x25519.Identity.from_str(US.secret)]) == b"grams"
    with pytest.raises(InvalidFile, match="was cut short or changed since it was sealed"):
        unseal(sealed, US, "x")


@pytest.mark.parametrize(
    "wrong",
    [
        b"",
        b"age-encryption.org/v2\n",
        HEADER,
        HEADER + b"--- " + b"A" * 43 + b"\n",
        HEADER + b"-> X25519 share\nkey\n--- " + b"A" * 43,
        HEADER + b"-> X25519 share\nkey\n--- " + b"A" * 44 + b"\n",
        HEADER + b"-> X25519  share\nkey\n--- " + b"A" * 43 + b"\n",
        HEADER + b"-> X25519 share\r\nkey\r\n--- " + b"A" * 43 + b"\n",
    ],
)
def test_what_is_not_a_whole_header_is_none(wrong):
    assert not is_header(wrong)


def test_a_header_of_megabytes_is_read_in_one_go():
    assert not is_header(HEADER + (b"-> other\n" + LINE * 10) * 3000)
    assert is_header(seal(b"", [US.recipient] * 1000))
