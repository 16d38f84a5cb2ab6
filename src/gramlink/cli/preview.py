"""What a bundle shows, and to whom."""

from typing import TYPE_CHECKING

from gramlink.cli.speaker import Speaker

if TYPE_CHECKING:
    from gramlink.bundles.bundle import Bundle
    from gramlink.bundles.sealing import Identity, Recipient

BYTES_SHOWN = 24


def show_bundle(bundle: "Bundle", speaker: Speaker, *, made_up: bool, unknown: bool) -> None:
    """Show what would be sent: all of the manifest, and the first rows.

    Pseudonyms may be made up, and so may the owners' secret where it is unknown.
    """
    import io
    import json
    import zipfile

    from gramlink.bundles.archive import MANIFEST

    packed, rows = bundle.to_bytes(), bundle.rows()
    manifest = zipfile.ZipFile(io.BytesIO(packed)).read(MANIFEST).decode()
    speaker.say(f"To the linkage unit, {len(packed):,} bytes:")
    speaker.say()
    speaker.say(MANIFEST)
    for line in manifest.splitlines():
        speaker.say(f"  {line}")
    speaker.say()
    speaker.say(f"records.parquet, {len(rows):,} rows, the first 5 of them:")
    for row in rows.head(5).iter_rows(named=True):
        speaker.say(f"  { {name: _shown(value) for name, value in row.items()} }")
    speaker.say()
    speaker.say("It contains no id, value, gram or base. What the linkage unit could still")
    speaker.say("infer is in docs/what-each-party-learns.md.")
    if made_up:
        speaker.say("The pseudonyms shown are made up, since there is no key file yet.")
    if unknown:
        speaker.say("So is the owners' secret, since their contributions are not all here yet.")
    speaker.say("Nothing was written.")
    content = {"manifest": json.loads(manifest), "rows": len(rows), "bytes": len(packed)}
    speaker.summary(content)


def say_who_can_read(
    speaker: Speaker, signed: "Identity | None", sealed: "Recipient | None"
) -> None:
    """Say with which key a bundle was signed, and to which it was sealed."""
    if signed:
        speaker.say(f"signed with the key {signed.recipient.fingerprint}")
    speaker.say(
        f"sealed to the linkage unit's key {sealed.fingerprint}"
        if sealed
        else "not sealed: add `--to` so that only the linkage unit can open it"
    )


def _shown(value: object) -> object:
    """A value as a dry run shows it: of bytes, the first."""
    if not isinstance(value, bytes):
        return value
    return f"{value[:BYTES_SHOWN].hex()}... ({len(value):,} bytes)"
