"""`gramlink embed`: the bundle for the linkage unit."""

import secrets
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from gramlink.cli.contributions import ContributionFiles
from gramlink.cli.duplicates import duplicates_seen
from gramlink.cli.options import DataSet, KeyFile, LedgerFile, OwnIdentityFile, OwnSource, Senders
from gramlink.cli.outputs import refuse_replacing
from gramlink.cli.preview import say_who_can_read, show_bundle
from gramlink.cli.senders import KnownSenders
from gramlink.cli.speaker import Speaker

if TYPE_CHECKING:
    from gramlink.bundles.bundle import Bundle
    from gramlink.privacy.ledger import Ledger


def embed(
    *,
    projection_file: Annotated[
        Path, typer.Option("--projection", help="The file that `gramlink merge` wrote.")
    ] = Path("projection.json"),
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", help="Default: OWNER.bundle; sealed: OWNER.bundle.age."),
    ] = None,
    key_file: KeyFile = None,
    to: Annotated[
        Path | None, typer.Option(help="The linkage unit's recipient file, to seal the bundle to.")
    ] = None,
    identity_file: OwnIdentityFile = None,
    exchange: Annotated[str, typer.Option(help="The name of the exchange, if it has one.")] = "",
    contribution: Annotated[
        list[Path] | None,
        typer.Option(
            help="A file with an owner's contribution, if the encoding needs them; name those of "
            "all. Default: EXCHANGE-OWNER.contribution, or OWNER.mined.json.age."
        ),
    ] = None,
    senders: Senders = None,
    ledger_file: LedgerFile = None,
    dataset: DataSet = "",
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Show exactly what would be sent; write nothing.")
    ] = False,
    source: OwnSource,
    speaker: Speaker,
) -> None:
    """Encode the records, bundled for the linkage unit.

    Writes the bundle, under pseudonyms that only OWNER.key can map back. Records first in the
    ledger what the bundle shows, and refuses what the ledger does not permit. Warns if records look
    like one person twice.

    Example: gramlink embed hospital.csv --projection projection.json -o hospital.bundle
    """
    from gramlink.bundles.pseudonyms import owner_key
    from gramlink.bundles.sealing import read_identity, read_recipient, seal, signed
    from gramlink.bundles.secrecy import secrecy_warnings
    from gramlink.embedding.projection import Projection
    from gramlink.io.files import moment, read_bytes, written_whole
    from gramlink.io.names import exchange_name
    from gramlink.parties.one_process import new_secret
    from gramlink.parties.owner import Owner
    from gramlink.privacy.ledger import Ledger

    owner = source.name
    key_file = source.key_file(key_file)
    output = output or Path(f"{owner}.bundle.age" if to else f"{owner}.bundle")
    own_identity = Path(f"{owner}.identity")
    identity_file = identity_file or (own_identity if to or own_identity.exists() else None)
    ledger_file, dataset = source.ledger_file(ledger_file, dataset)
    inputs = (*source.files, projection_file, key_file, identity_file, to, ledger_file)
    refuse_replacing(output, *inputs)
    unit = read_recipient(to) if to else None
    identity = read_identity(identity_file) if identity_file else None
    reply = identity.recipient if identity and to else None
    exchange = exchange and exchange_name(exchange)
    schema = source.schema()
    projection = Projection.from_json(read_bytes(projection_file), projection_file.name)
    records = source.records(schema)
    files = ContributionFiles.of(contribution, exchange, projection.owners, schema)
    refuse_replacing(output, *files.files)
    unknown = dry_run and not files.complete
    known = KnownSenders.of(senders)
    secret = (
        new_secret(projection, schema, exchange)
        if unknown
        else files.secret(identity_file, projection, exchange, schema, known)
    )
    own = files.own(owner) if secret and not unknown else None

    def embedded(key: bytes, ledger: "Ledger | None" = None) -> "Bundle":
        party = Owner(owner, records, schema, key)
        return party.embed(
            projection,
            ledger=ledger,
            unit=unit,
            exchange=exchange,
            reply=reply,
            created=moment(),
            secret=secret,
            contribution=own if ledger else None,
        )

    # make a key file only when a bundle is written; until then, pseudonyms are made up
    made_up = secrets.token_bytes(32)
    Owner(owner, records, schema, made_up).check(projection)
    if dry_run:
        bundle = embedded(owner_key(key_file) if key_file.exists() else made_up)
        known.tell(speaker)
        show_bundle(bundle, speaker, made_up=not key_file.exists(), unknown=unknown)
        return
    ledger, new = Ledger(ledger_file, dataset, schema.epsilon), not ledger_file.exists()
    ledger.check_copy(owner, Path(), projection_file.parent)
    if not key_file.exists():  # what is refused makes no key file either
        ledger.check(Owner(owner, records, schema, made_up).exposure(unit, exchange))
    with written_whole(output, mode=0o600) as file:
        bundle = embedded(owner_key(key_file), ledger)
        packed = bundle.to_bytes()
        sent = signed(packed, identity, unit) if identity else packed
        file.write(seal(sent, [unit]) if unit else sent)
    same = len(records) - len(bundle.ids)
    known.tell(speaker)
    speaker.say(f"wrote {output}: {len(bundle.ids):,} records, {len(packed):,} bytes")
    speaker.say(f"projection {projection.fingerprint}: must be the same for all owners")
    if same:
        speaker.say(f"{same:,} records repeat another in all fields, and are not sent again")
    say_who_can_read(speaker, identity, unit)
    speaker.say(f"recorded in {ledger_file}: `gramlink ledger {ledger_file}` says what adds up")
    if new:
        speaker.say(f"{ledger_file} is new: name another with --ledger if this data set has one")
    speaker.say("for the linkage unit only; `--dry-run` shows what is in it")
    speaker.say(f"keep {key_file} safe: it maps the links back to your ids")
    # last, as nothing has to wait for it
    warnings = [*secrecy_warnings(schema), *duplicates_seen(records, schema, speaker)]
    for warning in warnings:
        speaker.warn(warning)
    speaker.summary(
        {"output": str(output), "rows": len(bundle.ids), "bytes": len(packed), "warnings": warnings}
    )
