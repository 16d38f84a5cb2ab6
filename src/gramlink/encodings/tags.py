"""Tags: keyed hashes by which the linkage unit sees what gram counts do not show.

Two records have two values the other way round if the tags of both values, whichever comes first,
are the same; two names are nicknames of each other if the tags of their groups are. The key follows
from what the owners mined, as does the order of public grams: all owners have it, and the linkage
unit does not.
"""

from collections.abc import Mapping

import numpy as np
import numpy.typing as npt

from gramlink.embedding.base import Base
from gramlink.encodings.secret import scrambled
from gramlink.io.files import digest
from gramlink.records.nicknames import NO_GROUP, groups_of
from gramlink.records.schema import Schema
from gramlink.records.strings import Strings, distinct

Words = npt.NDArray[np.uint64]

NONE = 0  # the tag of a record that misses a value, or whose name is in no group
NICKNAMES = 2**32  # beside the number of a group, where a swap has a hash


def tag_key(schema: Schema, bases: Mapping[str, Base]) -> bytes:
    """The key of all tags, from the mined bases."""
    mined = {field.name: bases[field.name].grams for field in schema.fields if field.mined}
    return bytes.fromhex(digest({"tags of": mined}))


def swap_tags(one: Strings, other: Strings, key: bytes) -> Words:
    """A tag of each record's two values, the same for the same two in any order.

    >>> names, surnames = (Strings.of([a, b, ""], "ABC*") for a, b in (("A", "BC"), ("BC", "A")))
    >>> first, second, third = swap_tags(names, surnames, bytes(32)).tolist()
    >>> first == second, third
    (True, 0)

    Privacy: for the linkage unit. Who lacks the key sees which records have the same two values,
    either way round, and of these already knew which have them in the same order.
    """
    ours, theirs = _hashes(one, key[:16]), _hashes(other, key[:16])
    blocks = np.stack([np.minimum(ours, theirs), np.maximum(ours, theirs)], axis=1)
    return _tags(blocks, one.missing | other.missing, key)


def nickname_tags(strings: Strings, language: str, key: bytes) -> Words:
    """A tag of each name's group of nicknames; 0 if it has none.

    >>> names = Strings.of(["LIZ", "BETTY", "TOM", "SMITH"], "BEHILMOSTYZ*")
    >>> liz, betty, tom, smith = nickname_tags(names, "en", bytes(32)).tolist()
    >>> liz == betty != tom, smith
    (True, 0)

    Privacy: for the linkage unit. Who lacks the key sees which names are of one group, and which
    are of none.
    """
    numbers = groups_of(strings, language)
    blocks = np.stack([numbers, np.full_like(numbers, NICKNAMES)], axis=1).astype(np.uint64)
    return _tags(blocks, numbers == NO_GROUP, key)


def _tags(blocks: Words, missing: npt.NDArray[np.bool_], key: bytes) -> Words:
    found = np.maximum(scrambled(blocks, key[16:])[:, 0], 1)
    found[missing] = NONE
    return np.asarray(found, np.uint64)


def _hashes(strings: Strings, key: bytes) -> Words:
    """A keyed hash of each text."""
    from hashlib import blake2b

    texts, place = distinct(strings)
    found = [blake2b(text.encode(), key=key, digest_size=8).digest() for text in texts]
    return np.frombuffer(b"".join(found), "<u8")[place].astype(np.uint64)
