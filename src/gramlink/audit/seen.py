"""What the linkage unit sees of two owners' records, in the form that attacks read."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from gramlink.encodings.encoding import EncodedRecords
from gramlink.encodings.vectors import VectorRecords
from gramlink.encodings.veil.keys import Key
from gramlink.encodings.veil.shared import observed
from gramlink.encodings.veil.veiled import VeiledRecords
from gramlink.errors import InvalidParameter

Ints = npt.NDArray[np.int64]
Bools = npt.NDArray[np.bool_]
Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class Codes:
    """One field of one owner's records, where each value is shown by a code of its own.

    Row c of `features` is code c, `place` says which code each record has, -1 if none. `lengths`
    are those of a base's grams, if codes are counts of them.
    """

    features: npt.NDArray[np.float32]
    place: Ints
    lengths: tuple[int, ...] = ()

    @classmethod
    def of(cls, shown: npt.NDArray[Any], missing: Bools, lengths: tuple[int, ...] = ()) -> "Codes":
        """Codes as they are sent, a row for each record."""
        found, place = np.unique(shown, axis=0, return_inverse=True)
        return cls(found.astype(np.float32), np.where(missing, -1, place.ravel()), lengths)


@dataclass(frozen=True, slots=True, eq=False)
class Coded:
    """Records that can be compared with every other: a code for each value of each field."""

    fields: tuple[Codes, ...]

    def __len__(self) -> int:
        return len(self.fields[0].place)


@dataclass(frozen=True, slots=True, eq=False)
class Sharing:
    """The pairs of two owners' records that share a key, and what is seen of each field of them.

    Pair p is of records left[p] and right[p]. `keys[p, k]` says whether they share key k. In field
    f they are `equal`, or `apart[p, f]` of `drawn[p, f]` parities differ, or the value of one is
    `missing`. `unique` says that only keys are sent which nobody else in the same file has. Where
    the encoding shows distances as they are, `exact` has them, squared.
    """

    count: int  # of the left owner's records
    left: Ints
    right: Ints
    names: tuple[str, ...]
    layout: tuple[Key, ...]
    keys: Bools
    equal: Bools
    missing: Bools
    apart: Ints
    drawn: Ints
    unique: bool = True
    exact: Ints | None = None

    def __len__(self) -> int:
        return self.count

    def without_key(self, key: int) -> "Sharing":
        """What is left if this key were not sent."""
        kept = np.delete(np.arange(len(self.layout)), key)
        layout = tuple(self.layout[k] for k in kept)
        return replace(self, layout=layout, keys=self.keys[:, kept])._of(
            np.asarray(self.keys[:, kept].any(axis=1))
        )

    def without_field(self, field: int) -> "Sharing":
        """What is left if rows did not show this field; keys that it is in stay."""
        missing = self.missing.copy()
        missing[:, field] = True
        return replace(self, missing=missing, equal=self.equal & ~missing)

    def _of(self, rows: Bools) -> "Sharing":
        pairs = ("left", "right", "keys", "equal", "missing", "apart", "drawn", "exact")
        held = {name: getattr(self, name) for name in pairs}
        return replace(self, **{name: one[rows] for name, one in held.items() if one is not None})


Seen = Coded | Sharing


def seen(ours: EncodedRecords, theirs: EncodedRecords) -> Seen:
    """What the linkage unit sees of our records, given another owner's."""
    if isinstance(ours, VectorRecords):
        return Coded(
            tuple(
                Codes.of(one.vectors.counts, one.vectors.missing, one.vectors.lengths)
                for one in ours.fields.values()
            )
        )
    if isinstance(ours, VeiledRecords) and isinstance(theirs, VeiledRecords):
        found = observed(ours.rows, theirs.rows, ours.layout)
        return Sharing(
            len(ours),
            found.left,
            found.right,
            ours.layout.names,
            ours.layout.keys,
            found.keys,
            found.equal,
            found.missing,
            found.apart,
            found.drawn,
        )
    raise InvalidParameter(f"there is no attack on the {ours.name} encoding")
