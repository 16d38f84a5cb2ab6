"""Makes the files of this folder: `python tests/golden/make.py`.

They were made once, and are read by tests/test_format.py in every version since. The formats
that are sealed are different each time they are made, and noise is too: so what is mined has its
counts written out here, and a new file is for a new version of the format only, beside the old.
"""

import json
from fractions import Fraction
from pathlib import Path

import numpy as np
import polars as pl

from gramlink.bundles.bundle import Bundle
from gramlink.bundles.results import Results
from gramlink.bundles.sealing import (
    Identity,
    Recipient,
    seal_from,
    signed,
    write_identity,
    write_recipient,
)
from gramlink.embedding.projection import Projection, agree
from gramlink.embedding.vectors import Encoded, Vectors
from gramlink.encodings.vectors import VectorRecords
from gramlink.mining.estimates import Estimates
from gramlink.mining.mined import Mined
from gramlink.mining.prefixes import Tree
from gramlink.parties.owner import for_the_unit
from gramlink.records.schema import Schema, schema_from

FOLDER = Path(__file__).parent
# for tests only, and known to all
SECRET = "AGE-SECRET-KEY-1QKNE35LYRA6TME8GVD7UM7JLN82XCSNS9Q3XDXA9MS8MDMZC84WQ0Q3E9M"
OTHER_SECRET = "AGE-SECRET-KEY-1DFHP87W7Y0YTDKLUW3SJP3AQKR7F5C54ZF4LWKCW8Z4NUZPEWJCQSYJG6E"
CREATED = "2026-03-14T15:09:26Z"
DOCUMENT = {
    "edits": 1,
    "fields": {
        "surname": {"size": 3, "miner": "tree-linear", "alphabet": "ABELMR"},
        "born": {"kind": "date", "edits": 2},
    },
}
COUNTS = {
    "hospital": {"E": 12.5, "L": 9.0, "ER": 0.0009765625},
    "registry": {"E": 10.0, "ER": 3.5, "M": 1.25},
}
TREES = {
    "hospital": {"E": 12, "L": 9, "ER": 3},
    "registry": {"E": 10, "M": 1, "ER": 3},
}
EPSILON = {"hospital": Fraction(1, 3), "registry": Fraction(2)}
IDS = ("00112233445566778899aabbccddeeff", "7f" * 16, "ff" * 16)
OTHER_IDS = ("0a" * 16, "1b" * 16, "2c" * 16)


def identity() -> Identity:
    """The identity that the sealed files are for."""
    return Identity(SECRET)


def schema() -> Schema:
    """What the owners agreed on."""
    return schema_from({**DOCUMENT, "fields": dict(DOCUMENT["fields"])}, "golden")


def mined(owner: str) -> Mined:
    """What an owner showed the others."""
    counts = COUNTS[owner]
    found = Estimates(tuple(counts), tuple(map(Fraction, counts.values())), Tree(TREES[owner]))
    return Mined(owner, schema().agreed, EPSILON[owner], {"surname": found})


def projection() -> Projection:
    """What they made of it."""
    return agree(mined("hospital"), mined("registry"))


def bundle() -> Bundle:
    """What the left owner sent: the second record has no surname, the third no date."""
    shared = projection()
    surname, born = (shared.bases[name].lengths for name in ("surname", "born"))
    names = np.zeros((3, len(surname)), np.uint8)
    names[0], names[2] = [1, 2, 3][: len(surname)], [0, 255, 1][: len(surname)]
    dates = np.zeros((3, len(born)), np.uint8)
    dates[:2, :8] = 1
    step = Vectors(names, surname, np.zeros(3, bool)).scale ** 2
    return Bundle(
        owner="hospital",
        settings=for_the_unit(schema()),
        projection=shared.digest,
        ids=IDS,
        records=VectorRecords(
            {
                "surname": Encoded(
                    Vectors(names, surname, np.array([False, True, False])),
                    np.array([[0, 3 * step], [0, 0], [0, 5 * step]]),
                ),
                "born": Encoded(
                    Vectors(dates, born, np.array([False, False, True])),
                    np.array([[0, 2, 4]] * 3),
                ),
            }
        ),
        owners=shared.owners,
        epsilon=EPSILON["hospital"],
        exchange="stroke-2026",
        reply=identity().recipient,
        created=CREATED,
    )


def results() -> Results:
    """What came back to it, with weights."""
    pairs = pl.DataFrame({"id_left": IDS[:2], "id_right": OTHER_IDS[:2]})
    return Results(
        owner="hospital",
        owners=("hospital", "registry"),
        projection=projection().digest,
        returns="weights",
        counts=(
            {"left": "hospital", "right": "registry", "links": 2, "possible": 1,
             "precision": 0.975, "recall": None},
        ),
        tables={
            "links": pairs.with_columns(
                match_weight=pl.Series([12.5, 7.125]),
                match_probability=pl.Series([0.999, 0.951]),
                level_surname=pl.Series(["equal", "missing"]),
                level_born=pl.Series(["equal", "1 edit"]),
            ),
            "possible": pl.DataFrame(
                {"id_left": [IDS[2]], "id_right": [OTHER_IDS[2]], "match_weight": [-0.5],
                 "match_probability": [0.25], "level_surname": ["1 edit"],
                 "level_born": ["missing"]}
            ),
        },
        exchange="stroke-2026",
        created=CREATED,
    )  # fmt: skip


def clusters() -> Results:
    """What comes back to one of three owners."""
    return Results(
        owner="hospital",
        owners=("hospital", "office", "registry"),
        projection=projection().digest,
        returns="links",
        counts=(),
        tables={
            "clusters": pl.DataFrame(
                {"cluster": [1, 1, 1, 2, 2],
                 "owner": ["hospital", "office", "registry", "hospital", "registry"],
                 "id": [IDS[0], "3d" * 16, OTHER_IDS[0], IDS[1], OTHER_IDS[1]]}
            ),
            "possible": pl.DataFrame(
                {"id_left": [IDS[2]], "id_right": [OTHER_IDS[2]],
                 "owner_left": ["hospital"], "owner_right": ["registry"]}
            ),
        },
        exchange="stroke-2026",
        created=CREATED,
    )  # fmt: skip


def signatures() -> list[dict[str, str]]:
    """What two parties send each other, themselves and anybody, with its signature."""
    first, second = Identity(SECRET), Identity(OTHER_SECRET)
    cases: dict[str, tuple[Identity, Recipient | None, bytes]] = {
        "there": (first, second.recipient, b"grams"),
        "and back": (second, first.recipient, b"grams"),
        "to anybody": (first, None, b"grams"),
        "nothing": (first, second.recipient, b""),
        "to oneself": (first, first.recipient, b"grams"),
        "a line end and bytes": (first, second.recipient, b"\n\x00\xff"),
    }
    return [
        {
            "what": what,
            "sender_identity": sender.secret,
            "sender_recipient": sender.recipient.key,
            "reader_recipient": reader.key if reader else "",
            "content": content.hex(),
            "signature": _first_line(signed(content, sender, reader)).split()[-1],
        }
        for what, (sender, reader, content) in cases.items()
    ]


def _first_line(data: bytes) -> str:
    return data.partition(b"\n")[0].decode()


def unsealed() -> dict[str, bytes]:
    """The files that are the same each time they are made."""
    return {
        "hospital.mined.json": mined("hospital").to_json(),
        "registry.mined.json": mined("registry").to_json(),
        "projection.json": projection().to_json(),
        "hospital.bundle": bundle().to_bytes(),
        "hospital.results": results().to_bytes(),
        "clusters.results": clusters().to_bytes(),
    }


def main() -> None:
    """Write all that is not there yet."""
    write_identity(FOLDER / "unit.identity", identity(), "unit")
    write_recipient(FOLDER / "unit.recipient", identity().recipient, "unit")
    (FOLDER / "signatures.json").write_text(json.dumps(signatures(), indent=1) + "\n")
    for name, data in unsealed().items():
        (FOLDER / name).write_bytes(data)
        sealed = FOLDER / f"{name}.age"
        if name in ("hospital.bundle", "hospital.results") and not sealed.exists():
            sealed.write_bytes(seal_from(data, identity(), identity().recipient))


if __name__ == "__main__":
    main()
