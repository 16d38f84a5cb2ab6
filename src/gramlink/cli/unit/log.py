"""`gramlink unit log`: who did what when."""

from gramlink.cli.options import AsJson
from gramlink.cli.speaker import Speaker
from gramlink.cli.unit.options import DataFolder


def log(*, data: DataFolder, as_json: AsJson = False) -> None:
    """Print who did what when, and see whether the log was tampered with.

    Example: gramlink unit log --data unit
    """
    from gramlink.errors import InvalidFile
    from gramlink.server import log as logbook
    from gramlink.server.unit import opened

    with opened(data) as unit, unit.store.read() as db:
        found = logbook.document(logbook.read(db))
    speaker = Speaker(as_json=as_json)
    for entry in found["entries"]:
        told = (entry["time"], entry["exchange"] or "-", entry["who"], entry["what"])
        speaker.say("  ".join([*told, entry["detail"]]).rstrip())
    speaker.summary(found)
    if not found["intact"]:
        raise InvalidFile(
            "the log was tampered with: its chain of hashes is broken",
            hint="compare it with a back-up of the data folder",
        )
    if found["entries"]:
        speaker.say(f"intact: {len(found['entries'])} entries, the last hash is "
                    f"{found['entries'][-1]['hash']}")  # fmt: skip
