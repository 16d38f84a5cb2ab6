"""Hashed gram sets: which grams a text has, each as a keyed hash, compared by Jaccard."""

import hmac
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from gramlink.lab.rivals.padding import padded_grams, spelt
from gramlink.lab.rivals.rival import ONE, listed
from gramlink.matching.pairs import Pairs
from gramlink.records.strings import Strings

if TYPE_CHECKING:
    from gramlink.lab.rivals.kernels.overlap import Bags

Ints = npt.NDArray[np.int64]

PAD = "\uffff"  # before and after a text; not a character, so in no alphabet
BEYOND = 2 * ONE  # a missing value's distance: larger than any
HASH = 8  # bytes of a gram's hash


@dataclass(frozen=True, slots=True, eq=False)
class GramSets:
    """The hashes of each text's grams, ascending: text i has ids[offsets[i]:offsets[i + 1]].

    Distances are 1 minus the Jaccard similarity, in units of 1 / ONE, rounded down.
    """

    offsets: Ints
    ids: npt.NDArray[np.uint64]

    def __len__(self) -> int:
        return len(self.offsets) - 1

    @property
    def bytes_each(self) -> float:
        """8 bytes for each gram."""
        return HASH * len(self.ids) / max(1, len(self))

    def between(self, other: "GramSets") -> Ints:
        """The distance in each row; `BEYOND` where a value is missing."""
        from gramlink.lab.rivals.kernels.overlap import row_by_row

        left, right, _ = _numbered(self, other)
        return _distances(left.squares, right.squares, row_by_row(left, right))

    def near(self, other: "GramSets", within: int, most: int) -> Pairs:
        """All pairs at most `within` apart, in the order of `match`; more than `most` fail."""
        from gramlink.lab.rivals.kernels.overlap import Bar, make_index, near

        left, right, grams = _numbered(self, other)
        index = make_index(right, grams)
        # (a + b - 2c) * ONE // (a + b - c) <= within, without the division
        more = min(max(within, -1), ONE) + 1
        bar = Bar(ONE - more, 2 * ONE - more, 0)

        def block(start: int, stop: int, room: int) -> tuple[Ints, Ints, Ints]:
            counts, places, shared = near(left, index, bar, start, stop, room)
            own = np.repeat(left.squares[start:stop], counts)
            return counts, places, _distances(own, right.squares[places], shared)

        return listed(block, len(self), most)


def encode(strings: Strings, secret: bytes, *, q: int = 2) -> GramSets:
    """Each text's set of grams of q symbols, as hashes with the owners' secret.

    q - 1 pads are put before and after a text, so that each end has grams of its own. A hash is
    8 bytes of HMAC-SHA-256.

    >>> one, other = (encode(Strings.of([n], "AN*"), b"secret") for n in ("ANNA", "ANN"))
    >>> one.between(other).tolist() == [ONE // 2]  # 3 of 6 grams are shared
    True

    Privacy: equal grams have equal hashes, so hashes give away how often each gram occurs and
    which occur together. With a list of names at hand, these frequencies identify the grams,
    and the grams the names; the secret does not prevent that.
    """
    owners, grams = padded_grams(strings, q)
    distinct, places = np.unique(grams, return_inverse=True)
    hashes = _hashes(spelt(distinct, strings.symbols + PAD, q), secret)
    ids, ranks = np.unique(hashes, return_inverse=True)
    held = np.sort(owners * len(ids) + ranks[places])
    held = held[np.diff(held, prepend=-1) > 0]
    offsets = np.searchsorted(held, np.arange(len(strings) + 1) * len(ids))
    return GramSets(offsets, ids[held % max(1, len(ids))])


def _hashes(texts: list[str], secret: bytes) -> npt.NDArray[np.uint64]:
    digests = (hmac.digest(secret, text.encode(), "sha256")[:HASH] for text in texts)
    return np.frombuffer(b"".join(digests), ">u8").astype(np.uint64)


def _numbered(left: GramSets, right: GramSets) -> tuple["Bags", "Bags", int]:
    """Both sides with a small number for each hash, and how many hashes there are."""
    from gramlink.lab.rivals.kernels.overlap import make_bags

    ids = np.union1d(left.ids, right.ids)
    one, other = (
        make_bags(side.offsets, np.searchsorted(ids, side.ids), np.ones(len(side.ids), np.int32))
        for side in (left, right)
    )
    return one, other, len(ids)


def _distances(left: Ints, right: Ints, shared: Ints) -> Ints:
    """From the sizes of two sets and what they share; a set without grams is a missing value."""
    either = left + right - shared
    far = (either - shared) * ONE // np.maximum(either, 1)
    return np.where((left > 0) & (right > 0), far, BEYOND)
