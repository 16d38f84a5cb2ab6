"""What an owner is told of the duplicates in its own file."""

from typing import TYPE_CHECKING

from gramlink.cli.speaker import Speaker

if TYPE_CHECKING:
    from gramlink.records.reading import Records
    from gramlink.records.schema import Schema


def duplicates_seen(records: "Records", schema: "Schema", speaker: Speaker) -> tuple[str, ...]:
    """Warnings of likely duplicates, looked for unless nobody would hear of them."""
    from gramlink.parties.one_process import duplicates_warning

    if speaker.quiet and not speaker.as_json:
        return ()
    with speaker.progress("looking for duplicates"):
        return duplicates_warning(records, schema)
