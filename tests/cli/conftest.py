"""Commands in a folder of their own, which has the files of two owners."""

import shutil
import sys

import pytest

from cli.owners import command, contents, write_csvs, write_people
from gramlink import cli


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """The working folder, with both owners' files."""
    write_csvs(tmp_path)
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def run(folder, capsys, monkeypatch):  # noqa: ARG001
    """Run a command that must succeed, unless `ok` is false."""

    def runner(*args, ok=True):
        result = command(capsys, monkeypatch, args)
        if ok:
            assert (result.code, result.err) == (0, ""), result
        return result

    return runner


@pytest.fixture
def refused(folder, run):
    """Run a command that must fail in a line and a hint, and change nothing at all."""

    def runner(*args, says, code=1, hint=True):
        before = contents(folder)
        result = run(*args, ok=False)
        assert result.code == code, result
        lines = result.err.splitlines()
        assert lines[0].startswith("gramlink: error: "), result
        assert [line[:16] for line in lines[1:]] in ([], ["gramlink: hint: "]), result
        assert len(lines) == 2 or not hint, result
        for said in [says] if isinstance(says, str) else says:
            assert said in result.err
        assert result.out == ""
        assert contents(folder) == before
        return result

    return runner


@pytest.fixture(scope="session")
def finished(tmp_path_factory):
    """A folder in which every command has been run."""
    folder = tmp_path_factory.mktemp("finished")
    write_csvs(folder)
    commands = [
        "mine hospital.csv",
        "mine registry.csv",
        "merge hospital.mined.json registry.mined.json",
        "embed hospital.csv",
        "embed registry.csv",
        "link hospital.bundle registry.bundle",
        "results links.csv hospital.csv",
        "results links.csv registry.csv",
        "results hospital-links.csv registry.csv -o both.csv",
    ]
    run_quietly(folder, commands)
    return folder


def run_quietly(folder, commands):
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        for line in commands:
            patch.setattr(sys, "argv", ["gramlink", *line.split(), "--quiet"])
            with pytest.raises(SystemExit) as end:
                cli.main()
            assert not end.value.code, line


@pytest.fixture
def done(finished, folder):
    """The working folder, with everything in it that the commands write."""
    shutil.copytree(finished, folder, dirs_exist_ok=True)
    return folder


@pytest.fixture(scope="session")
def finished_people(tmp_path_factory):
    """A folder in which three owners' files of several fields were linked."""
    folder = tmp_path_factory.mktemp("people")
    write_people(folder)
    owners = ("clinic", "office", "police")
    bundles = [f"{owner}.bundle" for owner in owners]
    run_quietly(
        folder,
        [
            *(f"mine {owner}.csv --schema {owner}.toml" for owner in owners),
            "merge " + " ".join(f"{owner}.mined.json" for owner in owners),
            *(f"embed {owner}.csv --schema {owner}.toml" for owner in owners),
            "link clinic.bundle office.bundle",
            f"link {' '.join(bundles)} -o clusters.csv",
        ],
    )
    return folder


@pytest.fixture
def linked_people(finished_people, folder):
    """The working folder, with everything in it that linking several fields writes."""
    shutil.copytree(finished_people, folder, dirs_exist_ok=True)
    return folder
