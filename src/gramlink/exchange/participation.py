"""An owner's whole part in an exchange, which can be stopped and resumed at any point."""

import hashlib
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

from gramlink.bundles.pseudonyms import owner_key
from gramlink.errors import InvalidFile, InvalidParameter, InvalidRecords
from gramlink.exchange import entry, steps
from gramlink.exchange.client import Client
from gramlink.exchange.collection import collect, summary
from gramlink.exchange.consent import agree_to, served_keys
from gramlink.exchange.folder import (
    CONTRIBUTION,
    DONE,
    IDENTITY,
    KEY,
    MINED,
    RESULTS,
    SCHEMA,
    Folder,
    taken,
)
from gramlink.exchange.part import Part, Voice
from gramlink.exchange.status import place_of
from gramlink.exchange.terms import Terms, schema_code
from gramlink.io.names import dataset_name
from gramlink.parties.audited import audited
from gramlink.parties.contribution import erase
from gramlink.parties.owner import Owner
from gramlink.privacy.ledger import Ledger
from gramlink.records.reading import Records, read_records
from gramlink.records.schema import Schema, checked_schema


@dataclass(frozen=True, slots=True)
class Choices:
    """What an owner brings to an exchange, and how it takes part.

    Consent is the owner's: it can be given beforehand only to a schema that is the owner's own, or
    that it has approved, and to an epsilon that it names.
    """

    data: Path
    folder: Path | None = None  # none: EXCHANGE-PARTY
    schema: Path | None = None  # none: that of the exchange
    epsilon: str = ""
    mined: Path | None = None  # paid for already, for another exchange with the same settings
    ledger: Path | None = None  # none: DATASET.ledger beside the data
    dataset: str = ""
    peers: tuple[Path, ...] = ()
    separator: str = ""
    encoding: str = ""
    output: Path | None = None
    approved: str = ""  # the code of the schema that this owner has seen and agrees to
    keys_code: str = ""  # as another owner read it out
    beforehand: bool = False  # whether to agree without being asked
    insists: bool = False  # on an epsilon that hardly protects anybody

    def check(self) -> None:
        """Refuse to take from the linkage unit what is for the owner to say."""
        own = self.schema or self.approved
        if self.beforehand and not own:
            raise InvalidParameter(
                "agreeing beforehand needs a schema that you know: the linkage unit's could name "
                "any columns and settings",
                hint="name your own with --schema, or the code of one you have read with --approve",
            )
        if self.beforehand and not (self.epsilon or self.mined):
            raise InvalidParameter(
                "agreeing beforehand needs the epsilon that you are willing to spend",
                hint="name it with --epsilon; with --mined nothing is spent",
            )
        if self.peers and not (own or self.keys_code):
            raise InvalidParameter(
                "--peer checks the other owners' keys, but not that they have the same schema",
                hint="name your own with --schema, or the code of one you have read with "
                "--approve; or compare the keys code (--keys-code)",
            )


def take_part(client: Client, choices: Choices, voice: Voice) -> dict[str, Any]:
    """Do what is left to do, and return the outcome.

    Privacy: asks for consent before it spends or sends anything. Epsilon is charged once per
    exchange, however often this is stopped and started.
    """
    if choices.folder and (choices.folder / DONE).is_file():
        return _finished(Folder(choices.folder), voice)
    place = place_of(client)
    path = choices.folder or Path(f"{place.exchange}-{place.party}")
    if not (path / DONE).is_file():
        choices.check()
    with taken(path) as folder:
        if folder.has(DONE):
            return _finished(folder, voice)
        if choices.output and choices.output.exists() and not folder.has(RESULTS):
            raise InvalidFile(f"{choices.output} exists already", hint="name another output")
        entry.settle(folder, place)
        agreed = entry.agreed_schema(client, folder, place, choices.schema, choices.approved)
        schema = agreed
        if choices.epsilon:
            schema = checked_schema(**{**dict(agreed), "epsilon": choices.epsilon})
        records = _read(choices, schema, folder)
        voice.say(f"{choices.data}: {len(records):,} records")
        for problem in records.problems:
            voice.say(f"  {problem}")
        dataset = dataset_name(choices.dataset or choices.data.stem)
        path = choices.ledger or choices.data.with_name(f"{dataset}.ledger")
        ledger = entry.own_ledger(path, dataset, schema, choices.schema)
        if choices.mined:
            entry.use_again(folder, place, choices.mined, schema)
        entry.check_ledger(folder, place, ledger, schema)
        part = Part(
            client,
            place,
            folder,
            voice,
            Owner(place.party, records, schema, owner_key(folder / KEY), choices.insists),
            entry.own_identity(folder, place),
        )
        if not steps.is_paid_for(part):
            part.owner.check_price()  # before anyone has to wait
        entry.check_exposure(part, ledger)
        return _go(part, ledger, choices, schema_code(agreed))


def _read(choices: Choices, schema: Schema, folder: Folder) -> Records:
    separator, encoding = choices.separator or None, choices.encoding or None
    try:
        return read_records(choices.data, schema, separator=separator, encoding=encoding)
    except InvalidRecords as error:
        if "linkage.toml" not in error.hint or choices.schema:
            raise
        hint = (
            f"copy {folder / SCHEMA}, set `id` or `column` in the copy, and name it with --schema"
        )
        raise InvalidRecords(str(error), hint=hint) from error


def _go(part: Part, ledger: Ledger, choices: Choices, approved: str) -> dict[str, Any]:
    status = steps.join(part)
    keys = served_keys(part, status, choices.peers)
    with choices.data.open("rb") as file:
        data = hashlib.file_digest(file, "sha256").hexdigest()
    free = steps.is_paid_for(part)
    cost = Fraction(0) if free else sum(part.owner.schema.costs.values(), Fraction(0))
    terms = Terms(
        part.place,
        keys,
        part.owner.schema,
        approved,
        {party.name: party.returns for party in status.parties},
        cost,
        ledger,
        data,
        audited(choices.data, part.owner.schema),
        pinned=bool(choices.peers),
    )
    agree_to(part, terms, beforehand=choices.beforehand, typed=choices.keys_code)
    handed = steps.share(part, steps.mine(part, ledger), keys)
    projection, secret = steps.gather(part, handed, keys)
    steps.embed(part, projection, secret, ledger)
    steps.send(part)
    steps.await_results(part)
    done = collect(part, projection, terms.returns[part.owner.name], choices.output)
    _forget(part.folder)
    for line in summary(done):
        part.voice.say(line)
    part.voice.say(f"keep {ledger.path} with the data")
    part.voice.say(f"keep {part.folder / MINED}: it is paid for, and --mined reuses it")
    part.voice.say(f"keep {part.folder / KEY} if others will send you data under your pseudonyms")
    part.voice.say(f"{part.folder.path} is not for others to read")
    return done


def _forget(folder: Folder) -> None:
    """Erase the owners' secret of an exchange that is over, and the key that could open it.

    With these and a bundle, records could be read.
    """
    if folder.has(CONTRIBUTION):
        others = sorted(folder.path.glob("mined-[0-9]*.json"))
        erase(*others, folder / IDENTITY, folder / CONTRIBUTION)  # the last says that it is to do


def _finished(folder: Folder, voice: Voice) -> dict[str, Any]:
    _forget(folder)
    done = folder.noted(DONE) or {}
    voice.say(f"this exchange is finished; see {folder.path}")
    return done
