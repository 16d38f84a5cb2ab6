"""Strings: a column of normalised text as small integers, the form that kernels read."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from gramlink.errors import InvalidParameter

LONGEST = 255  # so that a gram's count fits in a byte


@dataclass(frozen=True, slots=True, eq=False)
class Strings:
    """Texts over a public set of symbols, one after the other in one array.

    `codes[offsets[i]:offsets[i + 1]]` are the symbols of text `i`, each an index into
    `symbols`, whose last one but for marks is the catch-all. An empty text is a missing value.

    >>> names = Strings.of(["MARY", "", "ÅSE"], "AEMRSY*")
    >>> list(names), names.missing.tolist()
    (['MARY', '', '*SE'], [False, True, False])

    Privacy: as sensitive as the records themselves.
    """

    codes: npt.NDArray[np.uint8]
    offsets: npt.NDArray[np.int64]
    symbols: str

    @classmethod
    def of(cls, texts: Iterable[str], symbols: str) -> "Strings":
        """Code texts that are normalised already; what is not a symbol becomes the catch-all."""
        if not 2 <= len(symbols) <= 255:
            raise InvalidParameter(f"an alphabet has 1 to 254 symbols, not {len(symbols) - 1}")
        texts = list(texts)
        lengths = np.fromiter(map(len, texts), np.int64, len(texts))
        if lengths.max(initial=0) > LONGEST:
            raise InvalidParameter(f"a text has at most {LONGEST} symbols")
        offsets = np.concatenate([[0], np.cumsum(lengths)])
        points = np.frombuffer("".join(texts).encode("utf-32-le", "surrogatepass"), np.uint32)
        table = np.frombuffer(symbols.encode("utf-32-le"), np.uint32)
        size = int(table.max()) + 1
        code_of = np.full(size + 1, len(symbols) - 1, np.uint8)  # the last is for all above
        code_of[table] = np.arange(len(symbols))
        codes = code_of[np.minimum(points, size)]
        return cls(codes, offsets, symbols)

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def __getitem__(self, index: int) -> str:
        codes = self.codes[self.offsets[index] : self.offsets[index + 1]]
        return "".join(self.symbols[code] for code in codes)

    def __iter__(self) -> Iterator[str]:
        text = np.frombuffer(self.symbols.encode("utf-32-le"), np.uint32)[self.codes]
        whole = text.tobytes().decode("utf-32-le")
        ends = self.offsets.tolist()
        return (whole[a:b] for a, b in pairwise(ends))

    @property
    def lengths(self) -> npt.NDArray[np.int64]:
        """The number of symbols of each text."""
        return np.diff(self.offsets)

    @property
    def missing(self) -> npt.NDArray[np.bool_]:
        """True where there is no value."""
        empty: npt.NDArray[np.bool_] = self.lengths == 0
        return empty

    def take(self, rows: npt.NDArray[np.int64]) -> "Strings":
        """The texts of these rows, in this order."""
        lengths = self.lengths[rows]
        offsets = np.zeros(len(rows) + 1, np.int64)
        np.cumsum(lengths, out=offsets[1:])
        source = np.repeat(self.offsets[rows] - offsets[:-1], lengths) + np.arange(offsets[-1])
        return Strings(self.codes[source], offsets, self.symbols)

    def marked(self, marks: str) -> "Strings":
        """The texts between two marks, which come last among the symbols; a missing one stays so.

        >>> names = Strings.of(["MARY", ""], "AMRY*").marked("<>")
        >>> list(names), names.symbols
        (['<MARY>', ''], 'AMRY*<>')
        """
        first = len(self.symbols)
        lengths = self.lengths
        wide = np.where(lengths > 0, lengths + 2, 0)
        offsets = np.concatenate([[0], np.cumsum(wide)])
        codes = np.empty(offsets[-1], np.uint8)
        known = lengths > 0
        codes[offsets[:-1][known]], codes[offsets[1:][known] - 1] = first, first + 1
        shifts = 2 * np.cumsum(known) - 1  # of a text: two marks for each before it, and its own
        codes[np.arange(len(self.codes)) + np.repeat(shifts, lengths)] = self.codes
        return Strings(codes, offsets, self.symbols + marks)

    def placed(self, symbols: str) -> "Strings":
        """The texts with each symbol counted together with its place, for placed fields.

        >>> list(Strings.of(["BA", "B?"], "AB*").placed("abcd*"))
        ['bc', 'b*']
        """
        size = len(self.symbols) - 1
        places = np.arange(len(self.codes)) - np.repeat(self.offsets[:-1], self.lengths)
        codes = np.where(self.codes == size, len(symbols) - 1, places * size + self.codes)
        return Strings(codes.astype(np.uint8), self.offsets, symbols)


def distinct(strings: Strings) -> tuple[Strings, npt.NDArray[np.int64]]:
    """The different texts in the order they appear, and the place of each text among them.

    >>> texts, place = distinct(Strings.of(["B", "A", "B"], "AB*"))
    >>> list(texts), place.tolist()
    (['B', 'A'], [0, 1, 0])
    """
    from gramlink.kernels.interning import intern_rows

    lengths = strings.lengths
    padded = np.zeros((len(strings), max(1, int(lengths.max(initial=0)))), np.uint8)
    padded[np.arange(padded.shape[1]) < lengths[:, None]] = strings.codes + 1
    place, rows = intern_rows(padded)
    return strings.take(rows), place


def kinds(columns: Iterable[Strings]) -> npt.NDArray[np.int64]:
    """For each row the number of its kind: rows of one kind are the same in all columns.

    >>> one, other = Strings.of(["B", "A", "B"], "AB*"), Strings.of(["A", "", "A"], "AB*")
    >>> kinds([one, other]).tolist()
    [0, 1, 0]
    """
    from gramlink.kernels.interning import intern_rows

    places = [distinct(column)[1].astype(np.int32) for column in columns]
    return intern_rows(np.stack(places, axis=1).view(np.uint8))[0]
