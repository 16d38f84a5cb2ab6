"""Rows: what an owner sends of its records under the veil.

The values of a key's components are hashed under the owners' secret; the exclusive or of these
hashes is the key's. From that follow the row's tag, and a seed. The seed gives a stream for each
field that the key does not fix: which parities the row shows, and the pads that hide them. A key
that is not there, or that occurs twice in the file, gets a row of random bytes instead.
"""

from dataclasses import dataclass
from hashlib import blake2b

import numpy as np
import numpy.typing as npt

from gramlink.encodings.encoding import Material
from gramlink.encodings.secret import Secret, scrambled
from gramlink.encodings.veil.keys import Component
from gramlink.encodings.veil.layout import Layout
from gramlink.encodings.veil.sketch import Scale, masks, parities
from gramlink.engines.local import in_order
from gramlink.io.files import digest
from gramlink.kernels.cells import BLOCKS
from gramlink.records.strings import Strings, distinct

Bytes = npt.NDArray[np.uint8]
Words = npt.NDArray[np.uint64]
Bools = npt.NDArray[np.bool_]
Numbers = npt.NDArray[np.int32]

CHUNK = 4096  # records
HASH = 16  # bytes


@dataclass(frozen=True, slots=True, eq=False)
class _Hashes:
    """The hash of each different value of a component, and which values have it."""

    words: Words
    there: Bools


@dataclass(frozen=True, slots=True, eq=False)
class Values:
    """One field of all records: its different values, hashed and sketched."""

    place: Numbers  # of each record's value, -1 if it is missing
    texts: Strings
    whole: _Hashes
    parities: Words


class Writer:
    """Writes the rows of an owner's records.

    Privacy: reads raw records and the owners' secret. What it writes is for the linkage unit.
    """

    def __init__(
        self, material: Material, secret: Secret, layout: Layout, scales: dict[str, Scale]
    ) -> None:
        self._layout, self._secret = layout, secret
        self._own = secret.private(material.owner, material.key)
        self._values = [self._valued(material, name, scales[name]) for name in layout.names]
        self._hashes = {
            one: [self._hashed(one, name) for name in one.fields]
            for key in layout.keys
            for one in key.components
        }
        self._fields = np.stack([one.place for one in self._values], axis=1)
        self._parities = np.concatenate([one.parities for one in self._values])
        self._starts = np.cumsum([0] + [len(one.parities) for one in self._values])

    def _valued(self, material: Material, name: str, scale: Scale) -> Values:
        strings, base, field = material.strings[name], material.bases[name], material.schema[name]
        texts, place = distinct(strings)
        drawn = masks(field, base, scale, self._secret)
        known = np.where(strings.missing, -1, place).astype(np.int32)
        whole = self._hash_of(texts, Component((name,)))
        return Values(known, texts, whole, parities(texts, field, base, drawn))

    def _hash_of(self, texts: Strings, component: Component) -> _Hashes:
        """Keyed hashes of a part of each text, under a key for this component alone."""
        # digests, since a field may be called "surname (first 3)"
        secret, cut = self._secret.key(f"component {digest(component.spelt)}"), component.cut
        found, there = bytearray(), np.ones(len(texts), bool)
        for row, text in enumerate(texts):
            part = cut(text)
            if part is None:
                there[row] = False
                found += bytes(HASH)
            else:
                found += blake2b(part.encode(), key=secret, digest_size=HASH).digest()
        words = np.frombuffer(bytes(found), "<u8").reshape(-1, 2).astype(np.uint64)
        return _Hashes(words, there)

    def _hashed(self, component: Component, name: str) -> _Hashes:
        values = self._values[self._layout.names.index(name)]
        if component == Component((name,)):
            return values.whole
        return self._hash_of(values.texts, component)

    def written(self) -> Bytes:
        """The bytes of all records, a row each; the same each time."""
        count = len(self._fields)
        sent = np.stack([self._sent(key) for key in range(len(self._layout.keys))], axis=1)
        result = np.empty((count, self._layout.width), np.uint8)

        def write(start: int) -> None:
            rows = slice(start, min(start + CHUNK, count))
            result[rows] = self._chunk(rows, sent[rows])

        for _ in in_order(write, range(0, count, CHUNK)):
            pass
        return result

    def _sent(self, key: int) -> Bools:
        """Which records have a key that no other record of the file has."""
        hashed, there = self._key(key, slice(None))
        tags = _tags(hashed, self._secret)
        known = np.sort(tags[there])
        twice = known[1:][known[1:] == known[:-1]]
        return there & ~np.isin(tags, twice)

    def _key(self, key: int, rows: slice) -> tuple[Words, Bools]:
        """The hash of a key of some records, and which of them have it."""
        about = digest(self._layout.keys[key].spelt).encode()
        constant = blake2b(about, key=self._secret.key("keys"), digest_size=HASH).digest()
        fields = self._fields[rows]
        words = np.tile(np.frombuffer(constant, "<u8").astype(np.uint64), (len(fields), 1))
        there = np.ones(len(fields), bool)
        for one in self._layout.keys[key].components:
            values = []
            for name, hashes in zip(one.fields, self._hashes[one], strict=True):
                place = fields[:, self._layout.names.index(name)]
                there &= (place >= 0) & hashes.there[place]
                words ^= hashes.words[place]
                values.append(hashes.words[place])
            if len(values) == 2:  # the same twice would cancel out
                there &= (values[0] != values[1]).any(axis=1)
        return words, there

    def _chunk(self, rows: slice, sent: Bools) -> Bytes:
        """The bytes of some records: random, with a row written over them for each key sent."""
        from gramlink.kernels.veil import write_rows

        layout, fields = self._layout, self._fields[rows]
        places = np.where(fields < 0, -1, fields + self._starts[:-1]).astype(np.int32)
        result = self._random(rows)
        for key, shown in enumerate(layout.shown):
            hashed, _ = self._key(key, rows)
            seeds = scrambled(hashed, self._secret.key("seeds"))
            streams = _streams(seeds, BLOCKS * len(shown), self._secret)
            equal = np.zeros((len(fields), len(shown)), np.uint8)
            for n, field in enumerate(shown.tolist()):
                values = seeds ^ self._values[field].whole.words[fields[:, field]]
                equal[:, n] = scrambled(values, self._secret.key("equal"))[:, 0] & np.uint64(255)
            write_rows(
                result, layout.starts[key], sent[:, key], _tags(hashed, self._secret), streams,
                equal, shown, places, self._parities,
            )  # fmt: skip
        return result

    def _random(self, rows: slice) -> Bytes:
        """Random bytes that are the same each time."""
        count, blocks = rows.stop - rows.start, -(-self._layout.width // 16)
        numbers = np.empty((count, blocks, 2), np.uint64)
        numbers[:, :, 0] = np.arange(rows.start, rows.stop)[:, None]
        numbers[:, :, 1] = np.arange(blocks)
        drawn = scrambled(numbers, self._own).view(np.uint8).reshape(count, -1)
        return drawn[:, : self._layout.width].copy()


def _tags(hashed: Words, secret: Secret) -> Words:
    return np.ascontiguousarray(scrambled(hashed, secret.key("tags"))[:, 0])


def _streams(seeds: Words, blocks: int, secret: Secret) -> Bytes:
    counted = np.repeat(seeds[:, None], blocks, axis=1)
    counted[:, :, 0] ^= np.arange(blocks, dtype=np.uint64)
    return scrambled(counted, secret.key("streams")).view(np.uint8).reshape(len(seeds), -1)
