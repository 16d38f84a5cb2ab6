"""What a linkage unit sees of records as Bloom filters, for attacks to be compared on them."""

import numpy as np

from gramlink.audit.seen import Coded, Codes
from gramlink.lab.rivals.bloom import encode
from gramlink.records.reading import Records
from gramlink.records.strings import distinct


def filtered(records: Records, secret: bytes) -> Coded:
    """The Bloom filter of each value, field by field, as clkhash makes them.

    >>> from gramlink.records.strings import Strings
    >>> names = Strings.of(["ANNA", "", "ANNA"], "AN*")
    >>> shown = filtered(Records("", ("1", "2", "3"), {"name": names}, ()), b"secret")
    >>> shown.fields[0].place.tolist(), shown.fields[0].features.sum(axis=1).tolist()
    ([0, -1, 0], [97.0, 0.0])

    Privacy: as `encode`.
    """
    fields = []
    for column in records.columns.values():
        texts, place = distinct(column)
        bits = np.unpackbits(encode(texts, secret).words.view(np.uint8), axis=1)
        fields.append(Codes(bits.astype(np.float32), np.where(column.missing, -1, place)))
    return Coded(tuple(fields))
