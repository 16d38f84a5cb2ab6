"""`gramlink unit log`: who did what when."""

from gramlink.cli.options import AsJson
from gramlink.cli.speaker import Speaker
from gramlink.cli.unit.options import DataFolder


def log(*, data: DataFolder, as_json: AsJson = False) -> None:
    """Print who did what when, and check whether the log was tampered with.

    Example: gramlink unit log --data unit
    """
    from gramlink.errors import InvalidFile
    from gramlink.server import views
    from gramlink.server.unit import opened

    with opened(data) as unit, unit.store.read() as db:
        found = views.of_log(db)
    speaker = Speaker(as_json=as_json)
    for entry in found.entries:
        told = (entry.time, entry.exchange or "-", entry.who, entry.what, entry.detail)
        speaker.say("  ".join(told).rstrip())
    speaker.summary(found.model_dump(mode="json"))
    if not found.intact:
        raise InvalidFile(
            "the log was tampered with: its chain of hashes is broken",
            hint="compare it with a back-up of the data folder",
        )
    if found.entries:
        count, last = len(found.entries), found.entries[-1]
        speaker.say(f"intact: {count} entries, the last hash is {last.hash}")
