"""Checks before a part begins: of the folder, the exchange's schema and the ledger."""

from fractions import Fraction
from pathlib import Path

from gramlink.bundles.sealing import (
    Identity,
    new_identity,
    read_identity,
    write_identity,
    write_recipient,
)
from gramlink.bundles.secrecy import check_secrecy
from gramlink.errors import BudgetExceeded, InvalidLedger, InvalidParameter, Mismatch
from gramlink.exchange.client import Client
from gramlink.exchange.folder import (
    BUNDLE,
    EXCHANGE,
    IDENTITY,
    MINED,
    MINING,
    RECIPIENT,
    SCHEMA,
    Folder,
)
from gramlink.exchange.part import Part
from gramlink.exchange.status import Place
from gramlink.exchange.terms import schema_code
from gramlink.io.files import read_bytes, same_code
from gramlink.mining.mined import Mined
from gramlink.privacy.budget import shown
from gramlink.privacy.ledger import Ledger
from gramlink.records.schema import Schema, differences, load_schema


def settle(folder: Folder, place: Place) -> None:
    """Note which exchange a folder belongs to, or check that it belongs to this one."""
    now = {"exchange": place.exchange, "party": place.party, "unit's key": place.unit.key}
    before = folder.noted(EXCHANGE)
    if before is None:
        folder.note(EXCHANGE, now)
        return
    for what, found in now.items():
        if before.get(what) != found:
            raise Mismatch(
                f"the {what} of {folder.path} is {before.get(what)}, not {found}",
                hint="use --folder to name another folder; if the unit's key changed, ask why",
            )


def agreed_schema(
    client: Client, folder: Folder, place: Place, own: Path | None, approved: str
) -> Schema:
    """The schema of the exchange, with this owner's columns if it has a schema of its own.

    `approved` is the code of the only schema that will do, if there is one.
    """
    fetched = client.schema(place.exchange)
    if not folder.has(SCHEMA):
        folder.write(SCHEMA, fetched)
    if folder.read(SCHEMA) != fetched:
        raise Mismatch(
            f"{folder / SCHEMA} is not, or is no longer, the schema of the exchange",
            hint="do not edit it; use --schema to name a copy with your own columns",
        )
    schema = load_schema(folder / SCHEMA)
    check_secrecy(schema.agreed)
    if own:
        if own.resolve() == (folder / SCHEMA).resolve():
            raise InvalidParameter(
                f"{own} is the schema that the linkage unit sent, not your own",
                hint="read it, and name a copy of it; or name its code with --approve",
            )
        ours = load_schema(own)
        different = differences(schema.agreed, ours.agreed)
        if different:
            raise Mismatch(
                f"the schema of the exchange and {own} differ in {'; '.join(different)}",
                hint=f"start from {folder / SCHEMA}, and change only columns and formats",
            )
        schema = ours
    if approved and not same_code(approved, schema_code(schema)):
        raise Mismatch(
            f"the code of {own or 'the schema of the exchange'} is {schema_code(schema)}, "
            "not the one that you approved",
            hint=f"see what differs in {own or folder / SCHEMA}; approve it only if you mean it",
        )
    return schema


def own_ledger(path: Path, dataset: str, schema: Schema, own: Path | None) -> Ledger:
    """The ledger of the data set; a new one takes its allowance from its owner's schema only."""
    if not path.exists() and not own:
        raise InvalidLedger(
            f"{path} does not exist, and the linkage unit's schema may not say what it allows",
            hint="`gramlink ledger new DATA --allowance E` makes one; or name a schema that is "
            "yours with --schema",
        )
    return Ledger(path, dataset, schema.epsilon)


def own_identity(folder: Folder, place: Place) -> Identity:
    """The exchange's keys, made on first use."""
    if not folder.has(IDENTITY):
        write_identity(folder / IDENTITY, new_identity(), place.party)
    identity = read_identity(folder / IDENTITY)
    if not folder.has(RECIPIENT):
        write_recipient(folder / RECIPIENT, identity.recipient, place.party)
    return identity


def use_again(folder: Folder, place: Place, source: Path, schema: Schema) -> None:
    """Reuse what was mined and paid for before, instead of mining.

    Privacy: reusing a release costs nothing more.
    """
    if noted := folder.noted(MINING):
        if "again" not in noted:
            raise InvalidParameter(
                f"the exchange in {folder.path} mines anew already, and cannot reuse {source}",
                hint="leave out --mined; `gramlink ledger` says whether it was paid for",
            )
        return
    mined = Mined.from_json(read_bytes(source), str(source))
    different = differences(mined.settings, schema.agreed)
    if mined.owner != place.party or different:
        raise Mismatch(
            f"{source} was mined by {mined.owner}"
            + (f", and differs from the exchange in {'; '.join(different)}" if different else ""),
            hint=f"name a file that {place.party} mined with the settings of this exchange",
        )
    folder.write(MINED, mined.to_json())
    folder.note(MINING, {"again": mined.digest})


def check_ledger(folder: Folder, place: Place, ledger: Ledger, schema: Schema) -> None:
    """Refuse what the ledger cannot pay for, or has paid for already, before anyone has to wait."""
    if folder.has(MINING):
        return
    ledger.check_copy(place.party, folder.path)
    state, purpose = ledger.state, purpose_of(place, "")
    for release in state.releases:
        if {key: release.parameters.get(key) for key in purpose} | {"nonce": ""} == purpose:
            raise Mismatch(
                f"{ledger.path.name} has already paid for this exchange, from another folder",
                hint="use --folder to name that folder, and resume there",
            )
    cost = sum(schema.costs.values(), Fraction(0))
    if cost > state.left:
        raise BudgetExceeded(
            f"taking part costs epsilon {shown(cost)}, only {shown(state.left)} is left "
            f"in {ledger.path.name}",
            hint=f"`gramlink ledger {ledger.path.name} --allow {shown(state.spent + cost)}` allows "
            "it; --epsilon spends less; --mined FILE reuses what was paid for",
        )


def check_exposure(part: Part, ledger: Ledger) -> None:
    """Refuse what the ledger does not permit to be shown, before anything is spent on it."""
    if not part.folder.has(BUNDLE):
        ledger.check(part.owner.exposure(part.place.unit, part.place.exchange))


def purpose_of(place: Place, nonce: str) -> dict[str, str]:
    """The ledger's note of what something was mined for."""
    return {"exchange": place.exchange, "unit": place.unit.key, "nonce": nonce}
