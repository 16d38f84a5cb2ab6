"""The owners' secret: the same for all who contributed, and for nothing else."""

import hashlib
import hmac
import json

import pytest

from gramlink.encodings.secret import SIZE, Secret
from gramlink.errors import InvalidParameter

CONTRIBUTIONS = {"clinic": bytes(range(32)), "office": bytes(range(32, 64))}


def made(contributions=CONTRIBUTIONS, exchange="stroke", schema="5f0c"):
    return Secret.of(contributions, exchange=exchange, schema=schema)


def test_it_is_hkdf_as_written_down():
    """RFC 5869 by hand: extract with a salt of zeros, then one block of expand."""

    def expanded(key, about):
        return hmac.digest(key, about + b"\x01", "sha256")

    told = ["gramlink/secret/v1", "stroke", ["clinic", "office"], "5f0c"]
    about = hashlib.sha256(json.dumps(told, separators=(",", ":")).encode()).hexdigest().encode()
    root = expanded(hmac.digest(bytes(32), bytes(range(64)), "sha256"), about)
    assert made().root == root
    assert made().key("tags") == expanded(root, b"gramlink/secret/v1 tags")


def test_the_order_of_owners_does_not_matter():
    assert made(dict(reversed(CONTRIBUTIONS.items()))) == made()


@pytest.mark.parametrize(
    "other",
    [
        {"exchange": "heart"},
        {"schema": "5f0d"},
        {"contributions": {**CONTRIBUTIONS, "office": bytes(32)}},
        {"contributions": {"clinic": CONTRIBUTIONS["office"], "office": CONTRIBUTIONS["clinic"]}},
        {"contributions": {"clinic": CONTRIBUTIONS["clinic"], "city": CONTRIBUTIONS["office"]}},
        {"contributions": {**CONTRIBUTIONS, "school": bytes(32)}},
    ],
    ids=str,
)
def test_it_is_another_secret_if_anything_differs(other):
    assert made(**other).check != made().check


def test_it_is_not_shown():
    assert made().root.hex() not in repr(made()).lower()
    assert repr(made()) == "Secret()"


def test_a_secret_of_one_owner_or_of_too_few_bytes_is_refused():
    with pytest.raises(InvalidParameter, match="at least two owners"):
        made({"clinic": bytes(SIZE)})
    with pytest.raises(InvalidParameter, match="contributes 32 bytes"):
        made({**CONTRIBUTIONS, "office": b"short"})
