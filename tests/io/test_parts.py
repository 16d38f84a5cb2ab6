import os
import subprocess
import sys

import pytest

from gramlink.errors import InvalidFile
from gramlink.io.files import written_whole
from gramlink.io.parts import is_being_written, left_behind, new_part, remove_left_behind

WRITER = """
import sys
from pathlib import Path
from gramlink.io.files import written_whole

with written_whole(Path(sys.argv[1]), room=2**20) as file:
    file.write(b"half")
    file.flush()
    print("writing", flush=True)
    sys.stdin.readline()
"""


@pytest.fixture
def target(tmp_path):
    return tmp_path / "mined.json"


@pytest.fixture
def writer(target):
    """Another process that writes the file until it is sent a line."""
    process = subprocess.Popen(
        [sys.executable, "-c", WRITER, str(target)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdout.readline() == "writing\n"
    yield process
    process.kill()
    process.communicate()


def parts(target):
    return sorted(target.parent.glob(".*.part"))


def write(target, content=b"whole"):
    with written_whole(target) as file:
        file.write(content)


def test_a_killed_writers_part_is_removed_by_the_next_and_a_living_ones_is_not(target, writer):
    [living] = parts(target)
    write(target)
    assert (parts(target), left_behind(target), is_being_written(target)) == ([living], (), True)
    writer.kill()
    writer.wait()
    assert (left_behind(target), is_being_written(target)) == ((living,), False)
    write(target, b"again")
    assert (parts(target), target.read_bytes()) == ([], b"again")


def test_parts_of_other_files_and_files_that_look_like_parts_are_left_alone(target):
    kept = [
        ".other.json.0123abcd.part",
        ".mined.json.0123abcd.par",
        ".mined.json.0123ABCD.part",
        ".mined.json.0123abcde.part",
        ".mined.json.fetched.part",
        "mined.json.0123abcd.part",
        ".mined.json.lock",
        ".mined_json.0123abcd.part",
    ]
    for name in kept:
        target.with_name(name).write_bytes(b"x")
    target.with_name(".mined.json.0123abcd.part").mkdir()
    target.with_name(".mined.json.89abcdef.part").write_bytes(b"x")
    write(target)
    left = {path.name for path in target.parent.iterdir()}
    assert left == {*kept, "mined.json", ".mined.json.0123abcd.part"}


@pytest.mark.skipif(sys.platform == "win32", reason="needs links")
def test_a_link_that_looks_like_a_part_leads_nowhere(target, tmp_path):
    other = tmp_path / "precious"
    other.write_bytes(b"kept")
    link = target.with_name(".mined.json.0123abcd.part")
    link.symlink_to(other)
    write(target)
    assert (link.is_symlink(), other.read_bytes()) == (True, b"kept")


def test_a_name_with_odd_symbols_finds_its_own_parts_only(tmp_path):
    target = tmp_path / "a.*[b]+.json"
    target.with_name(".aXX[b]+.json.0123abcd.part").write_bytes(b"x")
    target.with_name(".a.*[b]+.json.0123abcd.part").write_bytes(b"x")
    remove_left_behind(target)
    assert [path.name for path in tmp_path.iterdir()] == [".aXX[b]+.json.0123abcd.part"]


def test_a_part_that_was_taken_for_left_behind_while_it_was_made_is_made_anew(target, monkeypatch):
    taken = []

    def lock(handle):
        if not taken:
            taken.extend(parts(target))
            taken[0].unlink()  # by another process, before this one had locked it
        os.fstat(handle)

    monkeypatch.setattr("gramlink.io.parts.lock", lock)
    path, handle = new_part(target, 0o600)
    os.close(handle)
    assert taken
    assert parts(target) == [path] != taken


def test_where_nothing_can_be_locked_files_are_written_and_no_part_is_removed(target, monkeypatch):
    other = target.with_name(".mined.json.0123abcd.part")
    other.write_bytes(b"perhaps somebody's")

    def locked(*_, **__):
        raise OSError

    monkeypatch.setattr("gramlink.io.parts.lock", locked)
    write(target)
    assert (target.read_bytes(), parts(target)) == (b"whole", [other])


def test_a_new_file_takes_nobodys_place(target):
    with written_whole(target, new=True) as file:
        file.write(b"first")
    with (
        pytest.raises(InvalidFile, match="cannot be written: File exists"),
        written_whole(target, new=True),
    ):
        pytest.fail("it was opened")
    assert target.read_bytes() == b"first"


@pytest.mark.parametrize("links", [True, False], ids=["links", "no links"])
def test_of_two_new_files_at_once_the_first_stays(target, monkeypatch, links):
    def unlinkable(*_):
        raise PermissionError(1, "Operation not permitted")

    if not links:
        monkeypatch.setattr("os.link", unlinkable)

    def write_two():
        with written_whole(target, new=True) as file:
            file.write(b"second")
            with written_whole(target, new=True) as other:
                other.write(b"first")

    with pytest.raises(InvalidFile, match="File exists"):
        write_two()
    assert (target.read_bytes(), parts(target)) == (b"first", [])


@pytest.mark.parametrize("error", [KeyboardInterrupt, RuntimeError])
def test_what_may_have_been_told_before_the_file_appeared_is_left_for_the_next_run(target, error):
    def told():
        raise error

    with pytest.raises(error), written_whole(target, room=100, before=told) as file:
        file.write(b"whole")
    [part] = left_behind(target)
    assert (part.read_bytes(), target.exists()) == (b"whole", False)


def test_it_is_told_when_all_is_on_disk_and_the_file_is_not_there(target):
    seen = []

    def told():
        seen.extend([target.exists(), *(part.read_bytes() for part in parts(target))])

    with written_whole(target, room=100, before=told) as file:
        file.write(b"whole")
        assert not seen
    assert seen == [False, b"whole"]
    assert (target.read_bytes(), parts(target)) == (b"whole", [])
