"""Parquet files from strangers, and broken ones of an owner's own: one line, and little memory.

The library that reads them breaks off at some, and prints pages when it does.
"""

import io
import random
import subprocess
import sys
from contextlib import suppress

import polars as pl
import pytest

from gramlink.bundles.archive import Archive
from gramlink.bundles.results import Results
from gramlink.errors import InvalidFile, InvalidRecords
from gramlink.records.proposal import read_sample
from gramlink.records.tables import header, read_table
from hostile.lying_parquet import claiming, one_text, unknown_time_zone


@pytest.fixture
def silent(capfd):
    """Nothing is printed, whatever a library has to say."""
    yield
    assert capfd.readouterr() == ("", "")


def refused(read, path):
    with pytest.raises(InvalidRecords) as caught:
        read(path)
    assert str(caught.value).startswith(path.name)
    assert "\n" not in str(caught.value)
    assert caught.value.hint
    return str(caught.value)


@pytest.mark.usefixtures("silent")
@pytest.mark.parametrize("read", [read_table, read_sample])
def test_a_column_that_a_library_breaks_off_at_is_one_line(read, tmp_path):
    path = tmp_path / "x.parquet"
    path.write_bytes(unknown_time_zone())
    assert header(path) == ("id", "surname")
    assert "is damaged, or not a table" in refused(read, path)


@pytest.mark.usefixtures("silent")
def test_a_few_kilobytes_that_stand_for_gigabytes_are_refused(tmp_path):
    path = tmp_path / "x.parquet"
    path.write_bytes(claiming(one_text(1000, 4), 30_000_000))
    assert "bytes and claims to hold" in refused(read_table, path)
    path.write_bytes(one_text(500_000, 3000))
    assert path.stat().st_size < 4000
    assert "1,500,500,000 bytes of text" in refused(read_table, path)
    sample = read_sample(path)  # the start of it is small
    assert sample.columns["surname"].len() == 10_000


ROWS = pl.DataFrame({name: [f"{n:032x}" for n in range(40)] for name in ("id_left", "id_right")})


def table(frame=ROWS):
    written = io.BytesIO()
    frame.write_parquet(written, statistics=False, compression="uncompressed")
    return written.getvalue()


@pytest.mark.usefixtures("silent")
def test_whatever_byte_is_changed_in_a_part_it_is_read_or_refused_in_silence():
    """Some of these abort the process that reads them, and some make the library break off."""
    good, drawn = table(), random.Random(5)
    for _ in range(150):
        data = bytearray(good)
        data[drawn.randrange(4, len(data))] ^= 1 << drawn.randrange(8)
        archive = Archive("results", "x.results", {}, {"p": bytes(data)})
        with suppress(InvalidFile):
            assert archive.frame("p", dict(ROWS.schema), len(ROWS)).shape == ROWS.shape


def test_a_word_that_stands_in_every_row_of_results_is_refused():
    words = ["a" * 10**6] * 400
    ids = {name: [f"{n:032x}" for n in range(400)] for name in ("id_left", "id_right")}
    forged = Results(
        "hospital", ("hospital", "registry"), "0" * 64, "weights", (),
        {"links": pl.DataFrame({**ids, "level_surname": words})},
    ).to_bytes()  # fmt: skip
    assert len(forged) < 10**6
    with pytest.raises(InvalidFile, match="400,025,600 bytes of text"):
        Results.from_bytes(forged, "x.results")


# as a user would see it


MAIN = """
import resource, sys
resource.setrlimit(resource.RLIMIT_DATA, (8 * 10**8, 8 * 10**8))
from gramlink.cli import main
main()
"""


def gramlink(folder, *args):
    """What a command prints that has 800 MB of memory, with all that it starts."""
    command = [sys.executable, "-c", MAIN, *args]
    process = subprocess.run(command, cwd=folder, capture_output=True, text=True)
    return process.returncode, process.stdout, process.stderr.splitlines()


@pytest.mark.skipif(sys.platform != "linux", reason="limits memory as Linux does")
def test_commands_say_what_is_wrong_in_two_lines_and_take_little_memory(tmp_path):
    (tmp_path / "linkage.toml").write_text("[fields.surname]\n")
    (tmp_path / "zone.parquet").write_bytes(unknown_time_zone())
    (tmp_path / "large.parquet").write_bytes(one_text(500_000, 3000))
    before = sorted(tmp_path.iterdir())
    for data, why in (("zone.parquet", "not a table"), ("large.parquet", "bytes of text")):
        code, out, lines = gramlink(tmp_path, "mine", data)
        assert (code, out) == (1, "")
        assert [line.split()[1] for line in lines] == ["error:", "hint:"]
        assert data in lines[0]
        assert why in lines[0]
        assert sorted(tmp_path.iterdir()) == before
