"""Makes clk.json of this folder: `python tests/golden/make_clk.py`, where clkhash is installed.

clkhash 0.18.3 needs an older `cryptography` than gramlink does, so it has an environment of its
own, and tests/test_bloom.py compares with what it wrote. The secret is for tests only.
"""

import base64
import json
from collections.abc import Sequence
from pathlib import Path

FILE = Path(__file__).parent / "clk.json"
SECRET = "a secret of both owners"
SALT, INFO = b"gramlink baseline", b"gramlink clk"
NAMES = [
    "SMITH", "JOHNSON", "WILLIAMS", "BROWN", "JONES", "GARCIA", "MILLER", "DAVIS", "RODRIGUEZ",
    "MARTINEZ", "HERNANDEZ", "LOPEZ", "GONZALEZ", "WILSON", "ANDERSON", "THOMAS", "TAYLOR",
    "MOORE", "JACKSON", "MARTIN", "LEE", "PEREZ", "THOMPSON", "WHITE", "HARRIS", "SANCHEZ",
    "CLARK", "RAMIREZ", "LEWIS", "ROBINSON", "WALKER", "YOUNG", "ALLEN", "KING", "WRIGHT",
    "SCOTT", "TORRES", "NGUYEN", "HILL", "FLORES", "SMITHE", "SMYTH", "LI", "O",
]  # fmt: skip
OTHERS = [
    "NEW YORK CITY", "ST LOUIS", "LA", "A", "AA", "AAAA", "AAAAAAAAAAAA", "ABABABAB", " ", "A B",
    " LEADING", "1984", "00000", "90210", "12 HIGH STREET", "ÅSE", "MÜLLER", "\ufffdAN", "",
    "LLANFAIRPWLLGWYNGYLLGOGERYCHWYRNDROBWLLLLANTYSILIOGOGOGOCH",
]  # fmt: skip
# q, bits for each gram, bits of a filter, and of which texts
SETTINGS = [
    (2, 20, 1024, NAMES + OTHERS),
    (2, 30, 1024, OTHERS[:6]),
    (1, 33, 1024, OTHERS[:6]),  # one hash has 32 places
    (3, 100, 512, OTHERS[:6]),
    (2, 1, 4096, OTHERS[:6]),
]


def filters(texts: Sequence[str], q: int, bits_each: int, bits: int) -> dict[str, str]:
    """What clkhash makes of each text, in hexadecimal; the first bit is a byte's highest."""
    from clkhash import clk, schema

    kdf = {
        "type": "HKDF",
        "hash": "SHA256",
        "keySize": 64,
        "salt": base64.b64encode(SALT).decode(),
        "info": base64.b64encode(INFO).decode(),
    }
    hashing = {
        "hash": {"type": "blakeHash"},
        "comparison": {"type": "ngram", "n": q},
        "strategy": {"bitsPerToken": bits_each},
    }
    feature = {"identifier": "name", "format": {"type": "string"}, "hashing": hashing}
    agreed = schema.from_json_dict(
        {"version": 3, "clkConfig": {"l": bits, "kdf": kdf}, "features": [feature]}
    )
    made = clk.generate_clks([[text] for text in texts], agreed, SECRET, max_workers=1)
    return {text: one.tobytes().hex() for text, one in zip(texts, made, strict=True)}


def main() -> None:
    """Write the file again; it is the same each time."""
    cases = [
        {"q": q, "bits_each": each, "bits": bits, "filters": filters(texts, q, each, bits)}
        for q, each, bits, texts in SETTINGS
    ]
    FILE.write_text(json.dumps(cases, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
