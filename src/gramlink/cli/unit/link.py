"""`gramlink link`: bundles in files, linked."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from gramlink.cli.inputs import read_opened
from gramlink.cli.options import IdentityFile, Senders
from gramlink.cli.outputs import refuse_replacing, write_csv
from gramlink.cli.senders import KnownSenders
from gramlink.cli.speaker import Speaker
from gramlink.records.choices import RULES, listed

if TYPE_CHECKING:
    from gramlink.deciding.linkage import Linkage
    from gramlink.parties.linkage_unit import LinkageUnit

BundleFiles = Annotated[
    list[Path], typer.Argument(help="Files that `gramlink embed` wrote.", metavar="BUNDLE")
]


def link(
    *,
    bundle_files: BundleFiles,
    output: Annotated[Path, typer.Option("--output", "-o")] = Path("links.csv"),
    decide: Annotated[
        str,
        typer.Option(help=f"The rule for links: {listed(RULES)}; default: the schema's."),
    ] = "",
    details: Annotated[
        bool,
        typer.Option(
            "--details",
            help="Also write distances, or weights and levels; about ten can reveal a name.",
        ),
    ] = False,
    report: Annotated[
        Path | None, typer.Option(help="Also write an HTML page with charts, for the unit.")
    ] = None,
    identity_file: IdentityFile = None,
    senders: Senders = None,
    speaker: Speaker,
) -> None:
    """Link the bundles of two or more owners.

    Writes the linked pairs of pseudonyms or, for three or more owners, the clusters.

    Example: gramlink link hospital.bundle registry.bundle -o links.csv
    """
    from gramlink.bundles.bundle import Bundle
    from gramlink.deciding.rules import rule_named
    from gramlink.errors import InvalidParameter
    from gramlink.parties.admission import check_signed
    from gramlink.parties.answers import facts
    from gramlink.parties.linkage_unit import link_all

    if len(bundle_files) < 2:
        raise InvalidParameter(
            "linking needs at least two bundles",
            hint="to find duplicates within one file: `gramlink dedupe`",
        )
    if decide:
        rule_named(decide)  # refused before anything is read
    refuse_replacing(output, *bundle_files, identity_file)
    if report:
        refuse_replacing(report, output, *bundle_files, identity_file, option="--report")
    known, bundles = KnownSenders.of(senders), []
    for path in bundle_files:
        opened = read_opened(path, identity_file)
        bundles.append(Bundle.from_bytes(opened.data, path.name, opened.sender))
        if known.keys:
            check_signed(bundles[-1], known.keys)
    if report and len(bundles[0].settings["fields"]) == 1:
        raise InvalidParameter(
            "a report needs records of several fields",
            hint="it shows what each field tells; leave out --report",
        )
    with speaker.progress("matching") as progress:
        results, clusters = link_all(bundles, decide or None, progress)
    links = results[0][1].links
    if len(results) == 1:
        write_csv(output, (links if details else links.bare).to_polars())
        written = [f"{output}: {len(links):,} links"]
    else:
        write_csv(output, clusters.to_polars())
        written = [f"{output}: {len(clusters):,} clusters of {len(bundles)} owners' records"]
    for unit, linkage in results:
        pair = f"-{unit.left.owner}-{unit.right.owner}" if len(results) > 1 else ""
        written += _write_beside(output, pair, linkage, details=details)
        if report:
            page = report.with_stem(report.stem + pair)
            _write_page(page, unit, linkage)
            written.append(str(page))
    for unit, linkage in results:
        _show(speaker, unit, linkage)
    for what in written:
        speaker.say(f"wrote {what}")
    if not known.keys:
        speaker.say("who sent the bundles was not checked: `--from OWNER.recipient` does so")
    speaker.say("each owner maps its own pseudonyms back with `gramlink results`")
    total = sum(len(linkage.links) for _, linkage in results)
    speaker.summary(
        {"output": str(output), "links": total, "pairs": [facts(*one) for one in results]}
    )


def _write_page(path: Path, unit: "LinkageUnit", linkage: "Linkage") -> None:
    from gramlink.io.files import written_whole
    from gramlink.reports.linkage_page import linkage_page

    owners = {bundle.owner: f"{len(bundle.ids):,} records" for bundle in (unit.left, unit.right)}
    page = linkage_page("gramlink: a linkage", linkage, owners)
    with written_whole(path) as file:
        file.write(page.encode())


def _write_beside(output: Path, pair: str, linkage: "Linkage", *, details: bool) -> list[str]:
    """The possible links and, if there is one, the model, in files beside the links."""
    from gramlink.io.files import written_whole

    possible = output.with_name(f"{output.stem}{pair}-possible.csv")
    model = output.with_name(f"{output.stem}{pair}-model.json")
    links = linkage.possible
    write_csv(possible, (links if details else links.bare).to_polars())
    written = [f"{possible}: {len(links):,} possible links, for review"]
    if linkage.model is None:
        return written
    with written_whole(model) as file:
        file.write(linkage.model.to_json())
    return [*written, str(model)]


def _show(speaker: Speaker, unit: "LinkageUnit", linkage: "Linkage") -> None:
    from gramlink.reports.summary import estimate_lines, pass_lines, weight_lines

    speaker.say(
        f"{len(unit.left.ids):,} records of {unit.left.owner}, "
        f"{len(unit.right.ids):,} of {unit.right.owner}: {len(linkage.links):,} links, "
        f"{len(linkage.possible):,} possible ones"
    )
    weights = weight_lines(linkage.model) if linkage.model else ()
    for lines in filter(None, map(tuple, (pass_lines(linkage), weights, estimate_lines(linkage)))):
        speaker.say("")
        for line in lines:
            speaker.say(f"  {line}")
    speaker.say("")
