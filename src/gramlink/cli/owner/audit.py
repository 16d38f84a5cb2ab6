"""`gramlink audit`: attack one's own records before anything is sent."""

from collections.abc import Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from gramlink.cli.options import Force, Source
from gramlink.cli.outputs import refuse_overwriting, refuse_replacing
from gramlink.cli.speaker import Speaker

if TYPE_CHECKING:
    from gramlink.audit.audit import Audit
    from gramlink.audit.situation import Situation

FILTERS, KEY = "Bloom filters", b"audit"


def audit(
    *,
    source: Source,
    other: Annotated[
        Path | None,
        typer.Argument(
            help="The other owner's records; made up if not given.",
            metavar="OTHER_DATA",
            show_default=False,
        ),
    ] = None,
    register: Annotated[
        Path | None,
        typer.Option(
            help="Persons whom an attacker knows, with the schema's columns; default: the persons "
            "themselves, as they are in DATA."
        ),
    ] = None,
    exchanges: Annotated[
        int, typer.Option(min=1, max=20, help="How often the same records are exchanged.")
    ] = 3,
    report: Annotated[Path | None, typer.Option(help="Also write it as an HTML page.")] = None,
    force: Force = False,
    speaker: Speaker,
) -> None:
    """Attack your own records as a linkage unit could, before you send them.

    Encodes the records as vectors, under the veil and as Bloom filters, and counts how many of
    them known attacks name with the help of a register. Nothing leaves the process, so nothing is
    spent. That the attacks fail is not a proof.

    Example: gramlink audit hospital.csv --report audit.html
    """
    from gramlink.audit.audit import audit as attacked
    from gramlink.audit.situation import refuse_one_field, situation
    from gramlink.io.files import written_whole
    from gramlink.lab.rivals.filtered import filtered
    from gramlink.parties.audited import Audited
    from gramlink.records.reading import read_records
    from gramlink.reports.audit_page import audit_page

    inputs = [*source.files, *(one for one in (other, register) if one)]
    if report:
        refuse_replacing(report, *inputs)
        refuse_overwriting(report, force=force, hint="name another file, or add --force")
    schema = source.schema()
    refuse_one_field(schema)
    ours = source.records(schema)
    theirs, listed = (read_records(one, schema) if one else None for one in (other, register))
    speaker.say("encoding and attacking the records; nothing leaves this process ...")
    found = situation(ours, schema, theirs, listed)
    filters = {FILTERS: filtered(found.case.ours, KEY)}
    with speaker.progress("attacking") as progress:
        result = attacked(
            found.case, found.registers, filters, exchanges=exchanges, progress=progress
        )
    facts = _facts(result, found, schema.encoding, exchanges)
    with ExitStack() as files:
        if report:
            page = files.enter_context(written_whole(report))
            page.write(audit_page(source.data.stem, facts).encode(errors="replace"))
    _say(facts, speaker)
    if worst := result.worst(schema.encoding):
        named = Audited.of(source.data, schema.encoding, result.records, worst.claims.named)
        speaker.say(f"kept in {named.keep(source.data)}: `gramlink exchange` shows it")
    if report:
        speaker.say(f"wrote {report}: for a browser")
    speaker.summary({**facts, "report": report and str(report)})


def _facts(result: "Audit", found: "Situation", encoding: str, exchanges: int) -> dict[str, Any]:
    """What was found, as JSON."""
    from gramlink.audit.advice import NO_PROOF, advice
    from gramlink.audit.audit import ATTACKS, FEW, repeated

    attacks = [*ATTACKS, *([repeated(found.case, exchanges)] if exchanges > 1 else [])]
    said = [*found.said]
    if result.records > FEW:
        said.append(f"of vectors and filters, {FEW} records are attacked, chosen at random")
    return {
        "records": result.records,
        "encoding": encoding,
        "attacks": [one.facts for one in result.outcomes],
        "drivers": [{"without": one.what, "named": one.left, "of": one.of}
                    for one in result.drivers],
        "made_up": said,
        "advice": advice(result, encoding),
        "about": {one.name: one.about for one in attacks},
        "no_proof": NO_PROOF,
    }  # fmt: skip


def _say(facts: Mapping[str, Any], speaker: Speaker) -> None:
    """The same for a person."""
    for line in facts["made_up"]:
        speaker.say(f"  {line}")
    registers = sorted({one["register"] for one in facts["attacks"]}, reverse=True)
    rows: dict[tuple[str, str], dict[float, float]] = {}
    for one in facts["attacks"]:
        name = f"{one['encoding']} (control)" if one["control"] else one["encoding"]
        rows.setdefault((name, one["attack"]), {})[one["register"]] = one["named"]
    widths = [max(len(kind[place]) for kind in rows) for place in (0, 1)]
    speaker.say("")
    speaker.say("named, of the records whose persons are in a register that covers")
    head = "".join(f"{one:>9.0%}" for one in registers)
    speaker.say(f"  {'':{widths[0]}}  {'':{widths[1]}}{head}")
    for (name, attack), shares in rows.items():
        cells = "".join(
            f"{shares[one]:>9.2%}" if one in shares else f"{'–':>9}" for one in registers
        )
        speaker.say(f"  {name:{widths[0]}}  {attack:{widths[1]}}{cells}")
    speaker.say("")
    _say_veiled(facts, speaker)
    for line in facts["advice"]:
        speaker.say(f"  {line}")
    speaker.say(facts["no_proof"])


def _say_veiled(facts: Mapping[str, Any], speaker: Speaker) -> None:
    """How well the veil hides, and what names those whom it does not hide."""
    from gramlink.reports.audit_page import CROWDS

    veiled = [one for one in facts["attacks"] if one["encoding"] == "veiled"]
    worst = max(veiled, key=lambda one: one["named"])
    crowds = zip(CROWDS, worst["anonymity"], strict=True)
    speaker.say(f"under the veil, by {worst['attack']}, so many persons are as likely as the right")
    speaker.say("one: " + "; ".join(f"{name}: {count:,}" for name, count in crowds) + " records")
    for one in facts["drivers"][:3]:
        speaker.say(f"  without {one['without']}, {one['named']} of {one['of']} are still named")
