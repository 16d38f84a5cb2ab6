"""What the veil sends and what the linkage unit makes of it, byte by byte; see docs/veil.md.

A record maps the names of its fields to normalised texts, "" if the value is missing. A key is a
list of components, as in a manifest: the names of one or two fields, and a part.
"""

import hashlib
import hmac
import json
import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache

from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes

from reference.embedding import occurrences, scale

Record = Mapping[str, str]
Component = Sequence[str]
Key = Sequence[Component]

PARITIES, DRAWS = 256, 56
TAG, SKETCH, CELL = 8, 7, 9
BLOCKS = 5
CAPS = {"text": {1: 3, 2: 2}, "digits": {1: 4, 2: 2}}
EITHER = "either way round"


@dataclass(frozen=True)
class Field:
    """A field, its base, and how soon its parities differ."""

    name: str
    kind: str
    base: tuple[str, ...]
    steepness: float


def derived(root: bytes, purpose: str) -> bytes:
    """HKDF's expansion to one block."""
    about = f"gramlink/secret/v1 {purpose}".encode()
    return hmac.digest(root, about + b"\x01", "sha256")


def private(root: bytes, owner: str, owner_key: bytes) -> bytes:
    """HKDF of the owner's key, with a salt that follows from the secret."""
    extracted = hmac.digest(derived(root, "private"), owner_key, "sha256")
    return derived(extracted, f"private {owner}")


def aes(key: bytes, block: bytes) -> bytes:
    """One block of AES-128."""
    assert len(block) == 16
    return Cipher(algorithms.AES(key[:16]), modes.ECB()).encryptor().update(block)


def numbers(one: int, other: int) -> bytes:
    """Two numbers as a block."""
    return one.to_bytes(8, "little") + other.to_bytes(8, "little")


def xor(one: bytes, other: bytes) -> bytes:
    """The exclusive or of two blocks."""
    return bytes(a ^ b for a, b in zip(one, other, strict=True))


def told(spelt: object) -> str:
    """The digest of what stands in a manifest."""
    text = json.dumps(spelt, separators=(",", ":"), ensure_ascii=False)
    return hashlib.sha256(text.encode()).hexdigest()


def part_of(value: str, part: str) -> str | None:
    """A part of a value, or None if it has none."""
    if not value:
        return None
    if part in ("whole", EITHER):
        return value
    if part in ("year and month", "month and day", "year and day") or part.startswith("day and"):
        digits = [ord(symbol) - 0xE000 for symbol in value]
        if len(digits) != 8 or not all(0 <= digit < 80 for digit in digits):
            return None
        date = "".join(str(digit % 10) for digit in digits)
        year, month, day = date[:4], date[4:6], date[6:]
        return {
            "year and month": year + month,
            "month and day": month + day,
            "year and day": year + day,
            "day and month either way round": year + min(month, day) + max(month, day),
        }[part]
    value = value.replace(" ", "")
    if part == "sorted":
        return "".join(sorted(value)) or None
    if part == "initial":
        return value[:1] or None
    end, count = part.split()
    if len(value) < int(count):
        return None
    return value[: int(count)] if end == "first" else value[-int(count) :]


def hashed(root: bytes, component: Component, part: str) -> bytes:
    """The keyed hash of a part of a value, under a key for its component."""
    key = derived(root, f"component {told(component)}")
    return hashlib.blake2b(part.encode(), key=key, digest_size=16).digest()


def key_of(root: bytes, key: Key, record: Record) -> bytes | None:
    """z: the hash of what a record has of a key, or None if it has not all of it."""
    constant = told(key).encode()
    z = hashlib.blake2b(constant, key=derived(root, "keys"), digest_size=16).digest()
    for component in key:
        *names, part = component
        parts = [part_of(record[name], part) for name in names]
        if None in parts or (part == EITHER and parts[0] == parts[1]):
            return None
        for one in parts:
            z = xor(z, hashed(root, component, one))
    return z


def tag_of(root: bytes, z: bytes) -> bytes:
    """What two rows have in common if their records share a key."""
    return aes(derived(root, "tags"), z)[:TAG]


def seed_of(root: bytes, z: bytes) -> bytes:
    """What the row's streams follow from."""
    return aes(derived(root, "seeds"), z)


def stream_of(root: bytes, seed: bytes, place: int) -> bytes:
    """The stream of the field in this place of a row."""
    key, first = derived(root, "streams"), BLOCKS * place
    return b"".join(aes(key, xor(seed, numbers(j, 0))) for j in range(first, first + BLOCKS))


@cache
def masks(root: bytes, field: Field) -> list[list[bool]]:
    """For each bit of a value's counts in unary, gram by gram, which parities it enters."""
    key, unit = derived(root, f"parities {field.name}"), scale(field.base)
    found: list[list[bool]] = []
    for gram in field.base:
        share = (1 - math.exp(-field.steepness * (unit // len(gram)) ** 2)) / 2
        for _ in range(cap(field, gram)):
            bit, words = len(found), []
            for block in range(PARITIES // 4):
                drawn = aes(key, numbers(bit, block))
                words += [int.from_bytes(drawn[at : at + 4], "little") for at in range(0, 16, 4)]
            found.append([word < round(share * 2**32) for word in words])
    return found


def cap(field: Field, gram: str) -> int:
    """How often a gram counts."""
    return CAPS.get(field.kind, {}).get(len(gram), 1)


def parities(root: bytes, field: Field, value: str) -> list[int]:
    """The parities of a value."""
    result, first, drawn = [0] * PARITIES, 0, masks(root, field)
    for gram in field.base:
        for bit in range(first, first + min(occurrences(value, gram), cap(field, gram))):
            result = [one ^ entered for one, entered in zip(result, drawn[bit], strict=True)]
        first += cap(field, gram)
    return result


def cell(root: bytes, field: Field, value: str, seed: bytes, place: int) -> bytes:
    """The cell of a value: its sketch, an equality byte and a byte that says it is there."""
    stream, every = stream_of(root, seed, place), parities(root, field, value)
    bits = [every[draw] for draw in stream[:DRAWS]]
    sketch = bytes(
        sum(bit << n for n, bit in enumerate(bits[at : at + 8])) for at in range(0, DRAWS, 8)
    )
    whole = hashed(root, [field.name, "whole"], value)
    equal = aes(derived(root, "equal"), xor(seed, whole))[:1]
    return xor(sketch + equal + b"\0", stream[DRAWS : DRAWS + CELL])


def shown(key: Key, fields: Sequence[Field]) -> list[Field]:
    """The fields that a row of a key shows: those that it does not fix."""
    fixed = {name for *names, part in key for name in names if part == "whole"}
    return [field for field in fields if field.name not in fixed]


def sent(
    root: bytes, own: bytes, records: Sequence[Record], fields: Sequence[Field], keys: Sequence[Key]
) -> list[bytes]:
    """What an owner sends of its records; `own` is its private key."""
    found = [[key_of(root, key, record) for key in keys] for record in records]
    tags = [[z and tag_of(root, z) for z in row] for row in found]
    often = [Counter(row[k] for row in tags) for k in range(len(keys))]
    result = []
    for number, record in enumerate(records):
        whole = b""
        for k, key in enumerate(keys):
            cells = shown(key, fields)
            row = _random(own, number, len(whole), TAG + CELL * len(cells))
            z, tag = found[number][k], tags[number][k]
            if z and often[k][tag] == 1:
                seed, rest = seed_of(root, z), row[TAG:]
                row = tag
                for n, field in enumerate(cells):
                    value = record[field.name]
                    random = rest[CELL * n : CELL * (n + 1)]
                    row += cell(root, field, value, seed, n) if value else random
            whole += row
        result.append(whole)
    return result


def _random(own: bytes, number: int, start: int, count: int) -> bytes:
    """Bytes of a record that stand for nothing."""
    blocks = range(start // 16, (start + count - 1) // 16 + 1)
    drawn = b"".join(aes(own, numbers(number, block)) for block in blocks)
    return drawn[start % 16 : start % 16 + count]


def compared(
    left: Sequence[bytes],
    right: Sequence[bytes],
    fields: Sequence[Field],
    keys: Sequence[Key],
    cut_offs: Mapping[str, Sequence[int]],
) -> dict[tuple[int, int], tuple[list[int], list[bool]]]:
    """The level of each field, and which keys they share, of all pairs that share a key."""
    starts, width = [], 0
    for key in keys:
        starts.append(width)
        width += TAG + CELL * len(shown(key, fields))
    found = {}
    for i, one in enumerate(left):
        for j, other in enumerate(right):
            same = [one[at : at + TAG] == other[at : at + TAG] for at in starts]
            if any(same):
                rows = [(keys[k], starts[k] + TAG) for k, shares in enumerate(same) if shares]
                levels = [
                    _level(field, one, other, rows, fields, cut_offs[field.name])
                    for field in fields
                ]
                found[i, j] = levels, same
    return found


def _level(
    field: Field,
    one: bytes,
    other: bytes,
    rows: Sequence[tuple[Key, int]],
    fields: Sequence[Field],
    cut_offs: Sequence[int],
) -> int:
    """The level of a field in the rows that two records share, of which cells begin there."""
    apart, cells, equal, known = 0, 0, True, True
    for key, start in rows:
        if field not in shown(key, fields):
            return 0
        at = start + CELL * shown(key, fields).index(field)
        difference = xor(one[at : at + CELL], other[at : at + CELL])
        apart += sum(byte.bit_count() for byte in difference[:SKETCH])
        equal &= difference[SKETCH] == 0
        known &= difference[SKETCH + 1] == 0
        cells += 1
    edits = len(cut_offs) - 1
    if apart == 0 and equal and known:
        return 0
    if not known:
        return edits + 2
    drawn = DRAWS * cells
    near = [e for e in range(1, edits + 1) if 2**16 * apart <= cut_offs[e] * drawn]
    return min(near, default=edits + 1)
