"""`gramlink experiments`: the paper's figures, and ours."""

from pathlib import Path
from typing import Annotated

import typer

from gramlink.cli.options import Quiet
from gramlink.cli.speaker import Speaker


def experiments(
    *,
    only: Annotated[
        list[str] | None,
        typer.Option(help="An experiment to run, by name; may be repeated."),
    ] = None,
    quick: Annotated[
        bool, typer.Option("--quick", help="Fewer points and draws: minutes, not an hour.")
    ] = False,
    listed: Annotated[
        bool, typer.Option("--list", help="List the experiments and run none.")
    ] = False,
    out: Annotated[
        Path,
        typer.Option(
            help="The output folder; a run in the same one resumes where the last stopped."
        ),
    ] = Path("gramlink-experiments"),
    quiet: Quiet = False,
) -> None:
    """Reproduce the paper's figures beside the rivals', in a report.

    Measures what is missing from the folder, and writes the report, the data and the figures.

    Example: gramlink experiments --quick
    """
    from gramlink.errors import InvalidParameter
    from gramlink.lab.experiments import EXPERIMENTS
    from gramlink.lab.experiments.experiment import Scale
    from gramlink.lab.experiments.report.publication import publish
    from gramlink.lab.experiments.report.sections import Section
    from gramlink.lab.experiments.runs import is_complete, run
    from gramlink.reports.picture import check_matplotlib

    speaker = Speaker(quiet=quiet)
    unknown = [name for name in only or () if name not in EXPERIMENTS]
    if unknown:
        raise InvalidParameter(
            f"no experiment {unknown[0]!r}", hint="one of " + ", ".join(EXPERIMENTS)
        )
    chosen = [one for one in EXPERIMENTS.values() if not only or one.name in only]
    scale: Scale = "quick" if quick else "full"
    if listed:
        for one in chosen:
            points = sum(1 for _ in one.points(scale))
            typer.echo(f"{one.name:<17} {one.where:<27} {one.title} ({points:,} points)")
        return
    check_matplotlib()  # now, not after an hour
    try:
        with speaker.progress("measuring") as progress:
            run(chosen, scale, out, progress, speaker.say)
    except KeyboardInterrupt:
        speaker.say("stopped; run the same command again to resume")
        raise
    # the report covers all that the folder holds
    whole = [one for one in EXPERIMENTS.values() if is_complete(one, scale, out)]
    measured = run(whole, scale, out)
    publish([Section(one, measured[one.name]) for one in whole], scale, out, speaker.say)
