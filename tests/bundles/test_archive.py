import hashlib
import io
import json
import struct
import zipfile
from contextlib import suppress

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gramlink.bundles.archive import MANIFEST, MOST_PARTS, pack, unpack
from gramlink.errors import InvalidFile

FRAMES = {
    "one.parquet": pl.DataFrame({"id": ["a", "b", None], "n": [1.5, None, 2.5]}),
    "two.parquet": pl.DataFrame({"id": []}, schema={"id": pl.String}),
}
CONTENT = {"owner": "Hôpital", "rows": 3, "nested": {"b": [1, None]}}
GOOD = pack("bundle", CONTENT, FRAMES)


def members(data=GOOD):
    """The files in an archive."""
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def made(files, compression=zipfile.ZIP_STORED):
    """An archive as somebody might make it by hand, of names and bytes in any order."""
    archived = io.BytesIO()
    with zipfile.ZipFile(archived, "w", compression) as archive:
        for name, data in files:
            archive.writestr(zipfile.ZipInfo(name), data, compression)
    return archived.getvalue()


def with_manifest(text, parts=None):
    """An archive with this for a manifest."""
    files = members() if parts is None else {MANIFEST: b"", **parts}
    files[MANIFEST] = text.encode() if isinstance(text, str) else text
    return made(files.items())


def told(**changes):
    """The manifest as text, with some of it changed."""
    return json.dumps(json.loads(members()[MANIFEST]) | changes)


def digests(**parts):
    """What a manifest says of such parts."""
    return {name: hashlib.sha256(data).hexdigest() for name, data in parts.items()}


SAID = {**CONTENT, "parts": digests(**{name: members()[name] for name in FRAMES})}


def refused(data, why=""):
    with pytest.raises(InvalidFile) as caught:
        unpack("bundle", data, "x.bundle")
    assert str(caught.value).startswith("x.bundle ")
    assert why in str(caught.value)
    assert caught.value.hint
    return caught.value


def test_an_archive_behind_something_else_is_refused():
    """As a signed one whose signature nobody checked; zipfile would find it there."""
    refused(b"gramlink signed by nobody\n" + GOOD, "it is not a zip file")


def test_what_is_packed_comes_back():
    archive = unpack("bundle", GOOD, "x.bundle")
    assert archive.manifest == SAID
    assert list(archive.parts) == list(FRAMES)
    for name, frame in FRAMES.items():
        assert archive.columns(name) == tuple(frame.columns)
        assert archive.frame(name, frame.schema, len(frame)).equals(frame)


def test_an_archive_without_parts_comes_back():
    archive = unpack("results", pack("results", {"a": 1}, {}), "x")
    assert (archive.manifest, archive.parts) == ({"a": 1, "parts": {}}, {})


def test_the_same_content_is_the_same_file():
    assert pack("bundle", CONTENT, FRAMES) == GOOD


def test_the_manifest_comes_first_and_nothing_is_compressed():
    with zipfile.ZipFile(io.BytesIO(GOOD)) as archive:
        assert archive.namelist() == [MANIFEST, *FRAMES]
        assert {one.compress_type for one in archive.infolist()} == {zipfile.ZIP_STORED}
        assert {one.date_time for one in archive.infolist()} == {(1980, 1, 1, 0, 0, 0)}
    files = members()
    manifest = json.loads(files.pop(MANIFEST))
    assert manifest.pop("parts") == digests(**files)
    assert manifest == {"gramlink": "bundle", "version": 1, **CONTENT}


@settings(deadline=None, max_examples=30)
@given(
    rows=st.lists(
        st.tuples(st.text(max_size=5) | st.none(), st.floats(allow_nan=False)), max_size=5
    ),
    content=st.dictionaries(
        st.sampled_from(["a", "rows", "é", "\n", "parts", "x" * 50]),
        st.none() | st.integers() | st.text() | st.floats(allow_nan=False, allow_infinity=False),
        max_size=3,
    ),
)
def test_any_table_and_any_content_come_back(rows, content):
    content.pop("parts", None)
    frame = pl.DataFrame(rows, schema={"a": pl.String, "b": pl.Float64}, orient="row")
    archive = unpack("bundle", pack("bundle", content, {"p": frame}), "x")
    assert {**archive.manifest, "parts": None} == {**content, "parts": None}
    assert archive.frame("p", frame.schema, len(rows)).equals(frame)


def test_the_hand_made_archive_is_a_good_one():
    archive = unpack("bundle", made(members().items()), "x.bundle")
    assert archive.manifest == SAID


@pytest.mark.parametrize("end", [*range(0, len(GOOD), 97), len(GOOD) - 1])
def test_an_archive_that_was_cut_is_refused(end):
    refused(GOOD[:end])


@pytest.mark.parametrize("bit", [1, 16, 128])
def test_a_changed_byte_is_noticed_or_changes_nothing(bit):
    for place in range(0, len(GOOD), 3):
        damaged = bytearray(GOOD)
        damaged[place] ^= bit
        with suppress(InvalidFile):
            archive = unpack("bundle", bytes(damaged), "x.bundle")
            assert archive.manifest == SAID
            assert archive.parts == unpack("bundle", GOOD, "x").parts


def fields_of_zip(data):
    """Where the numbers that a zip file says of its members and of itself stand."""
    places = []
    for mark, offsets in (
        (b"PK\x03\x04", (6, 8, 14, 18, 22, 26, 28)),
        (b"PK\x01\x02", (8, 10, 16, 20, 24, 28, 30, 32, 42)),
        (b"PK\x05\x06", (8, 10, 12, 16, 20)),
    ):
        start = data.find(mark)
        while start >= 0:
            places += [start + offset for offset in offsets]
            start = data.find(mark, start + 4)
    return places


PLACES = fields_of_zip(GOOD)


@settings(deadline=None, max_examples=400)
@given(
    lies=st.lists(
        st.tuples(
            st.sampled_from(PLACES),
            st.sampled_from([0, 1, 8, 99, len(GOOD), 2**16 - 1, 2**31, 2**32 - 1]),
            st.booleans(),
        ),
        min_size=1,
        max_size=3,
    )
)
def test_whatever_a_zip_file_says_of_itself_no_other_error_comes_of_it(lies):
    data = bytearray(GOOD)
    for place, value, wide in lies:
        kind = "<I" if wide and place + 4 <= len(data) else "<H"
        struct.pack_into(kind, data, place, value % 2 ** (32 if kind == "<I" else 16))
    with suppress(InvalidFile):
        archive = unpack("bundle", bytes(data), "x.bundle")
        assert archive.manifest == SAID
        assert {MANIFEST, *archive.parts} == members().keys()


@settings(deadline=None, max_examples=100)
@given(data=st.binary(max_size=300), start=st.sampled_from([b"", b"PK\x03\x04", b"PK\x05\x06"]))
def test_bytes_of_any_kind_are_refused(data, start):
    refused(start + data)


# parts


def test_a_part_that_is_in_it_twice_is_refused():
    files = [*members().items()]
    with pytest.warns(UserWarning, match="Duplicate name"):
        data = made([*files, ("one.parquet", b"another")])
    refused(data, "it has the same part twice")
    with pytest.warns(UserWarning, match="Duplicate name"):
        data = made([(MANIFEST, b"{}"), *files])
    refused(data, "it has the same part twice")


@pytest.mark.parametrize("name", ["../x", "/etc/x", "..\\x", "C:\\x", "a/b", "", "x\x1b[2J"])
def test_a_part_by_a_path_that_the_manifest_does_not_name_is_refused(name):
    refused(
        made([*members().items(), (name, b"x")]), "its parts are not those that its manifest lists"
    )


@pytest.mark.parametrize("name", ["../x", "/etc/passwd", "a/../../x"])
def test_a_part_by_a_path_is_written_nowhere(name, tmp_path, monkeypatch):
    """If the manifest names it, it is bytes in memory, for whoever reads that kind to refuse."""
    folder = tmp_path / "a" / "b"
    folder.mkdir(parents=True)
    monkeypatch.chdir(folder)
    parts = {name: b"x"}
    with suppress(InvalidFile):
        found = unpack("bundle", with_manifest(told(parts=digests(**parts)), parts), "x.bundle")
        assert found.parts == parts
    assert [path for path in tmp_path.rglob("*") if path.is_file()] == []


@pytest.mark.parametrize("compression", [zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
def test_a_compressed_part_is_refused(compression):
    refused(made(members().items(), compression), "a part is compressed")


def test_a_bomb_is_not_set_off():
    parts = {"one.parquet": bytes(50 * 2**20)}
    files = {MANIFEST: told(parts=digests(**parts)).encode(), **parts}
    data = made(files.items(), zipfile.ZIP_DEFLATED)
    assert len(data) < 2**20
    refused(data, "a part is compressed")


def test_parts_that_lie_about_their_size_are_refused():
    data = bytearray(GOOD)
    place = data.find(b"PK\x01\x02", data.find(b"PK\x01\x02") + 4)
    struct.pack_into("<II", data, place + 20, 2**31, 2**31)
    refused(bytes(data), "its parts are larger than the whole file")


def test_parts_that_lie_in_each_other_are_refused_or_as_their_digests_say():
    """Two names for the same bytes are no harm; that many of them are no more than the file."""
    part = b"x" * 5000
    names = [f"p{n}" for n in range(MOST_PARTS - 1)]
    files = {MANIFEST: told(parts=digests(**dict.fromkeys(names, part))).encode(), names[0]: part}
    data = bytearray(made([*files.items(), *((name, b"") for name in names[1:])]))
    first = data.find(b"PK\x01\x02", data.find(b"PK\x01\x02") + 4)
    place = first
    while (place := data.find(b"PK\x01\x02", place + 4)) >= 0:
        data[place + 16 : place + 28] = data[first + 16 : first + 28]  # checksum and sizes
        data[place + 42 : place + 46] = data[first + 42 : first + 46]  # where it starts
    refused(bytes(data))


def test_sixteen_members_are_enough():
    parts = {f"p{n}": b"x" for n in range(MOST_PARTS - 1)}
    good = with_manifest(told(parts=digests(**parts)), parts)
    assert unpack("bundle", good, "x.bundle").parts == parts
    parts["one more"] = b"x"
    refused(with_manifest(told(parts=digests(**parts)), parts), "too many")


def test_the_digest_of_every_part_is_checked():
    for name in FRAMES:
        wrong = json.loads(members()[MANIFEST])["parts"] | {name: "0" * 64}
        refused(with_manifest(told(parts=wrong)), f"{name} was changed")


def test_a_part_more_or_less_than_the_manifest_says_is_refused():
    why = "its parts are not those that its manifest lists"
    files = members()
    refused(made([(MANIFEST, files[MANIFEST]), ("one.parquet", files["one.parquet"])]), why)
    refused(made([*files.items(), ("three.parquet", b"")]), why)
    refused(with_manifest(told(parts={})), why)


def test_an_encrypted_part_is_refused():
    data = bytearray(GOOD)
    for mark, offset in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        start = data.find(mark)
        while start >= 0:
            data[start + offset] |= 1
            start = data.find(mark, start + 4)
    refused(bytes(data), "encrypted")


# the manifest


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "damaged or not a bundle file"),
        ("{", "damaged or not a bundle file"),
        ("[]", "is not a bundle file"),
        ("null", "is not a bundle file"),
        ("{}", "is not a bundle file"),
        (b"\xff\xfe\xfd", "damaged or not a bundle file"),
        (told(x=float("nan")), "NaN is not a number"),
        (told(x=float("inf")), "Infinity is not a number"),
        (told(x=-float("inf")), "-Infinity is not a number"),
        (told().replace('"rows"', '"owner"'), "it says 'owner' twice"),
        (told().replace('"b"', '"b": 1, "b"'), "it says 'b' twice"),
        (told().replace('"nested"', '"parts"'), "it says 'parts' twice"),
        (told(x=1).replace('"x": 1', '"x": ' + "[" * 10**5), "damaged or not a bundle file"),
        (told(x=1).replace('"x": 1', '"x": ' + '{"a":' * 10**5), "damaged or not a bundle file"),
        (told(x=1).replace('"x": 1', '"x": ' + "1" * 5000), "damaged or not a bundle file"),
        (told(gramlink="results"), "not a bundle file but a results file"),
        (told(gramlink=["bundle"]), "not a bundle file but a"),
        (told(version=2), "has format version 2, but this gramlink reads 1"),
        (told(version=None), "has format version None"),
        (told(parts=None), "damaged"),
        (told(parts=5), "damaged"),
        (told(parts="abc"), "damaged"),
        (told(parts=[1, 2]), "damaged"),
        (told(parts=["ab", "cd"]), "its parts are not a table"),
        (told(parts=dict.fromkeys(FRAMES)), "was changed"),
        (told(parts={name: [1] for name in FRAMES}), "was changed"),
        (told(parts={**digests(**members()), MANIFEST: "0" * 64}), "manifest.json was changed"),
        (json.dumps({"gramlink": "bundle", "version": 1}), "it has no 'parts'"),
    ],
)
def test_a_manifest_that_makes_no_sense_is_refused(text, why):
    refused(with_manifest(text), why)


def test_a_manifest_of_more_than_a_megabyte_is_not_read():
    refused(with_manifest(told(x="a" * 2**20)), "its manifest is too large")


def test_no_manifest_is_no_archive():
    refused(made([("one.parquet", b"x")]), "manifest.json")
    refused(made([]), "manifest.json")


@pytest.mark.parametrize("depth", [10, 100, 900, 950, 980, 990, 1000, 1100])
def test_a_manifest_of_any_depth_is_read_or_refused(depth):
    text = told(x=1).replace('"x": 1', '"x": ' + "[" * depth + "]" * depth)
    with suppress(InvalidFile):
        assert unpack("bundle", with_manifest(text), "x").manifest.keys() == {*SAID, "x"}


# tables


def opened(parts):
    return unpack("bundle", with_manifest(told(parts=digests(**parts)), parts), "x.bundle")


def parquet(frame):
    written = io.BytesIO()
    frame.write_parquet(written)
    return written.getvalue()


FRAME = FRAMES["one.parquet"]


@pytest.mark.parametrize(
    ("columns", "rows", "why"),
    [
        ({"id": pl.String}, 3, "its columns are not those of a bundle"),
        ({"id": pl.String, "n": pl.Float32}, 3, "its columns are not"),
        ({"id": pl.String, "n": pl.Float64, "x": pl.Int8}, 3, "its columns are not"),
        (FRAME.schema, 2, "it has 3 rows, not 2"),
        (FRAME.schema, -1, "it has 3 rows, not -1"),
        (FRAME.schema, None, "x.bundle is damaged"),
        (FRAME.schema, "3", "x.bundle is damaged"),
        (FRAME.schema, [3], "x.bundle is damaged"),
    ],
)
def test_a_table_of_other_columns_or_rows_is_refused(columns, rows, why):
    with pytest.raises(InvalidFile) as caught:
        unpack("bundle", GOOD, "x.bundle").frame("one.parquet", columns, rows)
    assert why in str(caught.value)


def test_a_part_that_is_not_there_is_named():
    with pytest.raises(InvalidFile, match=r"it has no 'three\.parquet'"):
        unpack("bundle", GOOD, "x.bundle").columns("three.parquet")


@pytest.mark.parametrize(
    "junk", [b"", b"PAR1", b"PAR1 this is not parquet PAR1", b"PAR1" + bytes(4) + b"PAR1"]
)
def test_a_part_that_is_not_parquet_is_refused(junk):
    archive = opened({"one.parquet": junk})
    with pytest.raises(InvalidFile, match="damaged or not a bundle"):
        archive.columns("one.parquet")
    with pytest.raises(InvalidFile, match="damaged or not a bundle"):
        archive.frame("one.parquet", FRAME.schema, 3)


def test_a_table_that_was_cut_before_it_was_packed_is_refused():
    """Its digest is right: whoever wrote it wrote it so.

    Bytes that were changed at random are not tried here: some take the process down.
    """
    good = parquet(FRAME)
    for end in range(0, len(good), 11):
        archive = opened({"one.parquet": good[:end]})
        with pytest.raises(InvalidFile, match="damaged or not a bundle"):
            archive.frame("one.parquet", FRAME.schema, 3)
