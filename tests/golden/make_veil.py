"""Makes veil.json of this folder: `python tests/golden/make_veil.py`.

It has all that three owners' rows follow from, and the rows: who writes the veil anew, in any
language, can compare with it. It was made once, and a new file is for a new version of the rows
only. The keys are for tests only.
"""

import json
from pathlib import Path
from typing import Any

from gramlink.embedding.base import Base
from gramlink.encodings.encoding import Material
from gramlink.encodings.secret import Secret
from gramlink.encodings.veil.sketch import scales
from gramlink.encodings.veil.veiled import VeiledRecords
from gramlink.records.schema import Schema, schema_from
from gramlink.records.strings import Strings

FILE = Path(__file__).parent / "veil.json"
CONTRIBUTIONS = {"clinic": bytes(range(32)), "office": b"o" * 32, "school": bytes(32)}
EXCHANGE, AGREED = "stroke-2026", "5f0c"
# names and lengths of which nothing is known, so that the cut-offs follow from the bases alone
DOCUMENT = {
    "edits": 1,
    "encoding": "veiled",
    "passes": [{"colour": 0, "born": 0}, {"plant": 0, "code": 0}, {"born": 0}, {"class": 0}],
    "fields": {
        "colour": {"length": 4, "miner": "public", "grams": ["A", "E", "AR", "MAR"]},
        "plant": {"length": 4, "miner": "public", "grams": ["O", "\u22a2O", "AK", "AK\u22a3"]},
        "born": {"kind": "date", "edits": 2},
        "code": {"kind": "digits", "length": 4},
        "class": {"kind": "category", "length": 1},
    },
}
RECORDS = {
    "clinic": [
        ["AMAR", "OAK", "19800214", "1234", "A"],
        ["MARE", "OOAK", "19991231", "", "B"],
        ["AMAR", "OAK", "19800214", "4321", "B"],
        ["", "", "19700101", "0000", ""],
    ],
    "office": [
        ["AMAR", "OAKS", "19800214", "1234", "A"],
        ["MORE", "OOAK", "19991231", "9", "C"],
        ["E\ufffdE", "", "", "0000", "D"],
    ],
    "school": [
        ["MARE", "", "19991231", "", "A"],
        ["", "OAK", "19700101", "4321", "C"],
    ],
}


def schema() -> Schema:
    """What the owners agreed on."""
    return schema_from(json.loads(json.dumps(DOCUMENT)), "golden")


def secret() -> Secret:
    """What they share."""
    return Secret.of(CONTRIBUTIONS, exchange=EXCHANGE, schema=AGREED)


def bases() -> dict[str, Base]:
    """What records are projected on: stated grams, and those that follow from a field's kind."""
    return {field.name: Base(field.public_grams) for field in schema().fields}


def veiled(owner: str, key: bytes, records: list[list[str]]) -> VeiledRecords:
    """What an owner sends."""
    agreed = schema()
    strings = {}
    for field, column in zip(agreed.fields, zip(*records, strict=True), strict=True):
        texts = Strings.of(column, field.spelling)
        strings[field.name] = texts.placed(field.symbols) if field.placed else texts
    return VeiledRecords.of(Material(owner, strings, bases(), agreed, True, key, secret()))


def document() -> dict[str, Any]:
    """What the file holds."""
    found = []
    for owner, records in RECORDS.items():
        key = owner.encode() * 4
        sent = veiled(owner, key, records)
        found.append(
            {
                "owner": owner,
                "key": key.hex(),
                "private": secret().private(owner, key).hex(),
                "records": records,
                "rows": [row.tobytes().hex() for row in sent.rows],
            }
        )
    return {
        "secret": secret().root.hex(),
        "bases": {field.name: list(field.grams) for field in schema().fields if field.grams},
        "steepness": {name: scale.steepness for name, scale in scales(schema(), bases()).items()},
        "shape": veiled("clinic", b"", RECORDS["clinic"]).shape,
        "owners": found,
    }


def main() -> None:
    """Write the file again; it is the same each time."""
    FILE.write_text(json.dumps(document(), indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
