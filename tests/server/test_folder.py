"""What a server that was killed leaves behind, and what the next one makes of it."""


def test_what_was_half_written_is_removed_and_what_is_awaited_stays(unit, at_bundles, again):
    at_bundles[0].announce(bytes(100))
    at_bundles[0].patch(bytes(40))
    folder = unit.folder.of(1)
    kept = {path.name for path in folder.iterdir()}
    (folder / ".results-1.age.abcd1234.part").write_bytes(b"x")
    (folder / ".mined-1-2.age.abcd1234.part").write_bytes(b"x")
    (folder / "upload-2.part").write_bytes(b"x")
    (unit.folder.path / ".unit.identity.abcd1234.part").write_bytes(b"x")
    unit.folder.of(7).mkdir()
    (unit.folder.of(7) / "bundle-9.age").write_bytes(b"x")
    again()
    assert {path.name for path in folder.iterdir()} == kept
    assert "upload-1.part" in kept
    assert not unit.folder.of(7).exists()
    assert not list(unit.folder.path.glob(".*"))


def test_a_folder_that_a_power_cut_has_undone_is_made_again(unit, parties, again):
    del parties
    unit.folder.of(1).rmdir()
    again()
    assert unit.folder.of(1).is_dir()
