"""Files of earlier versions, in tests/golden, are read as they always were."""

import io
import json
import zipfile
from fractions import Fraction
from pathlib import Path

import polars as pl
import pytest

from golden import make
from gramlink.bundles.archive import MANIFEST
from gramlink.bundles.bundle import Bundle
from gramlink.bundles.results import Results
from gramlink.bundles.sealing import is_sealed, read_identity, read_recipient, seal, unseal_from
from gramlink.embedding.projection import Projection, agree
from gramlink.mining.mined import Mined

GOLDEN = Path(__file__).parents[1] / "golden"
KEY = (
    "age1euyhktn6lvd9q2trpw067n2rrr3vwnretxfzwe9nvpskpkfqwu0qjm9d97"
    "+ed25519:97e14d61dc11e36adbc3af124bfdbfea11995fc1e293522d248903b02b062844"
)
PROJECTION = "aede42487090363a1dc2b4ac1aed325ce31f1b435f1387b2c6fcb95431147bd5"
ONE, TWO, THREE = "00112233445566778899aabbccddeeff", "7f" * 16, "ff" * 16
OTHERS = ["0a" * 16, "1b" * 16, "2c" * 16]
FINGERPRINT = "1956 477f 759f 7aac 8b20"
BORN = "\ue01b\ue000\ue013\ue049\ue019\ue007\ue010\ue02a"
SURNAME = {
    "kind": "text", "edits": None, "alphabet": "ABELMR", "length": 32, "case": "upper",
    "accents": "strip", "punctuation": "strip", "whitespace": "collapse",
    "miner": "tree-linear", "share": "1", "size": 3, "q_min": 1, "q_max": 3, "height": 7,
    "marks": False,
}  # fmt: skip
SETTINGS = {
    "edits": 1, "threshold": "calibrated", "recall": 0.99, "errors": "uniform", "passes": [],
    "encoding": "vectors", "decide": "one-to-one", "accept": 0.5, "review": 0.1,
    "fields": {"surname": SURNAME, "born": {"kind": "date", "edits": 2}},
}  # fmt: skip


def golden(name):
    return (GOLDEN / name).read_bytes()


def opened(name):
    identity = read_identity(GOLDEN / "unit.identity")
    content, sender = unseal_from(golden(name), identity, name)
    assert sender == identity.recipient
    return content


def test_every_golden_file_is_here():
    others = {"make.py", "make_clk.py", "clk.json", "make_veil.py", "veil.json"}  # see these
    names = {path.name for path in GOLDEN.iterdir() if path.is_file()} - others
    assert names == {
        *make.unsealed(), "unit.identity", "unit.recipient", "hospital.bundle.age",
        "hospital.results.age", "signatures.json",
    }  # fmt: skip


def test_an_identity_and_its_recipient():
    identity = read_identity(GOLDEN / "unit.identity")
    assert identity.recipient == read_recipient(GOLDEN / "unit.recipient")
    assert identity.recipient.key == KEY
    assert identity.recipient.fingerprint == FINGERPRINT
    assert identity == make.identity()


@pytest.mark.parametrize("name", ["hospital.bundle", "hospital.results"])
def test_what_was_sealed_is_opened(name):
    sealed = golden(f"{name}.age")
    assert is_sealed(sealed)
    assert sealed.startswith(b"age-encryption.org/v1\n-> X25519 ")
    assert opened(f"{name}.age") == golden(name)
    again = seal(golden(name), [read_recipient(GOLDEN / "unit.recipient")])
    assert unseal_from(again, read_identity(GOLDEN / "unit.identity"), name)[0] == golden(name)


def test_what_was_mined():
    mined = Mined.from_json(golden("hospital.mined.json"), "hospital.mined.json")
    assert (mined.owner, mined.epsilon) == ("hospital", Fraction(1, 3))
    assert mined.settings == SETTINGS
    found = mined.fields["surname"]
    assert found.grams == ("E", "L", "ER")
    assert found.counts == (Fraction(25, 2), Fraction(9), Fraction(1, 1024))
    assert found.tree.counts == {"E": 12, "L": 9, "ER": 3}
    other = Mined.from_json(golden("registry.mined.json"), "registry.mined.json")
    assert other.epsilon == 2
    assert other.fields["surname"].counts == (10, Fraction(7, 2), Fraction(5, 4))
    assert other.fields["surname"].tree.counts == {"E": 10, "M": 1, "ER": 3}
    assert agree(mined, other).digest == PROJECTION


def test_a_projection():
    projection = Projection.from_json(golden("projection.json"), "projection.json")
    assert projection.owners == ("hospital", "registry")
    assert projection.epsilon == {"hospital": Fraction(1, 3), "registry": 2}
    assert projection.settings == SETTINGS
    assert projection.bases["surname"].grams == ("E", "L", "ER")
    assert len(projection.bases["born"].grams) == 80
    assert projection.digest == PROJECTION
    assert projection.fingerprint == "aede 4248 7090 363a 1dc2"
    # the secret order of a public base is the same in every version, else vectors differ
    assert "".join(projection.bases["born"].grams[:8]) == BORN


@pytest.mark.parametrize("read", [golden, lambda name: opened(f"{name}.age")])
def test_a_bundle(read):
    bundle = Bundle.from_bytes(read("hospital.bundle"), "hospital.bundle")
    assert (bundle.owner, bundle.owners) == ("hospital", ("hospital", "registry"))
    assert (bundle.exchange, bundle.created) == ("stroke-2026", "2026-03-14T15:09:26Z")
    assert (bundle.epsilon, bundle.reply.key) == (Fraction(1, 3), KEY)
    assert (bundle.projection, bundle.unique) == (PROJECTION, True)
    assert bundle.settings == SETTINGS
    assert bundle.ids == (ONE, TWO, THREE)
    assert list(bundle.records.fields) == ["surname", "born"]
    surname, born = bundle.records.fields.values()
    assert surname.vectors.lengths == (1, 1, 2)
    assert surname.vectors.counts.tolist() == [[1, 2, 3], [0, 0, 0], [0, 255, 1]]
    assert surname.vectors.missing.tolist() == [False, True, False]
    assert surname.thresholds.tolist() == [[0, 12], [0, 0], [0, 20]]
    assert born.vectors.lengths == (1,) * 80
    assert born.vectors.counts.tolist() == [[1] * 8 + [0] * 72] * 2 + [[0] * 80]
    assert born.vectors.missing.tolist() == [False, False, True]
    assert born.thresholds.tolist() == [[0, 2, 4]] * 3


@pytest.mark.parametrize("read", [golden, lambda name: opened(f"{name}.age")])
def test_results_of_two_owners(read):
    results = Results.from_bytes(read("hospital.results"), "hospital.results")
    assert (results.owner, results.owners) == ("hospital", ("hospital", "registry"))
    assert (results.exchange, results.created) == ("stroke-2026", "2026-03-14T15:09:26Z")
    assert (results.projection, results.returns) == (PROJECTION, "weights")
    assert results.counts == (
        {
            "left": "hospital", "right": "registry", "links": 2, "possible": 1,
            "precision": 0.975, "recall": None,
        },
    )  # fmt: skip
    columns = ["id_left", "id_right", "match_weight", "match_probability", "level_surname"]
    assert results.tables.keys() == {"links", "possible"}
    assert results.tables["links"].columns == [*columns, "level_born"]
    assert results.tables["links"].rows() == [
        (ONE, OTHERS[0], 12.5, 0.999, "equal", "equal"),
        (TWO, OTHERS[1], 7.125, 0.951, "missing", "1 edit"),
    ]
    assert results.tables["possible"].columns == [*columns, "level_born"]
    assert results.tables["possible"].rows() == [
        (THREE, OTHERS[2], -0.5, 0.25, "1 edit", "missing")
    ]


def test_results_of_three_owners():
    results = Results.from_bytes(golden("clusters.results"), "clusters.results")
    assert results.owners == ("hospital", "office", "registry")
    assert (results.returns, results.counts) == ("links", ())
    assert results.tables["clusters"].columns == ["cluster", "owner", "id"]
    assert results.tables["clusters"].rows() == [
        (1, "hospital", ONE),
        (1, "office", "3d" * 16),
        (1, "registry", OTHERS[0]),
        (2, "hospital", TWO),
        (2, "registry", OTHERS[1]),
    ]
    assert results.tables["possible"].rows(named=True) == [
        {
            "id_left": THREE, "id_right": OTHERS[2],
            "owner_left": "hospital", "owner_right": "registry",
        }
    ]  # fmt: skip


READERS = {
    ".mined.json": lambda data: Mined.from_json(data, "x").to_json(),
    "projection.json": lambda data: Projection.from_json(data, "x").to_json(),
    ".bundle": lambda data: Bundle.from_bytes(data, "x").to_bytes(),
    ".results": lambda data: Results.from_bytes(data, "x").to_bytes(),
}


def unpacked(data):
    """What an archive holds, but for the version of Polars that is in its Parquet files."""
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        names = archive.namelist()
        manifest = json.loads(archive.read(MANIFEST))
        tables = {name: pl.read_parquet(io.BytesIO(archive.read(name))) for name in names[1:]}
    assert manifest.pop("parts").keys() == tables.keys()
    # as text: the order counts
    about = {name: (str(dict(one.schema)), one.rows()) for name, one in tables.items()}
    return names, json.dumps(manifest), about


@pytest.mark.parametrize("name", make.unsealed())
def test_what_was_read_is_written_as_it_was(name):
    [write] = [read for end, read in READERS.items() if name.endswith(end)]
    for written in (write(golden(name)), make.unsealed()[name]):
        if name.endswith(".json") or pl.__version__.encode() in golden(name):
            assert written == golden(name)
        else:
            assert unpacked(written) == unpacked(golden(name))


@pytest.mark.parametrize("name", [name for name in make.unsealed() if "json" not in name])
def test_an_archive_is_as_its_description_says(name):
    names, manifest, _ = unpacked(golden(name))
    assert names[0] == MANIFEST
    assert {"gramlink", "version"} < json.loads(manifest).keys()
    with zipfile.ZipFile(io.BytesIO(golden(name))) as archive:
        assert {one.compress_type for one in archive.infolist()} == {zipfile.ZIP_STORED}
        assert {one.date_time[:3] for one in archive.infolist()} == {(1980, 1, 1)}
