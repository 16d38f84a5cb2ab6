"""Run the whole method on bundled data, as three parties, and write a report.

Example: gramlink demo --count 5000 --edits 2 --epsilon 0.5
"""

from pathlib import Path
from typing import Annotated

import typer

from gramlink.cli.common import Quiet, Speaker


def demo(
    data: Annotated[str, typer.Option(help="surnames or cities.")] = "surnames",
    count: Annotated[
        int, typer.Option("--count", "-n", help="Records of each owner, up to 149,910 surnames.")
    ] = 5000,
    edits: Annotated[int, typer.Option(help="Up to so many typos in each copy.")] = 1,
    epsilon: Annotated[str, typer.Option(help="The privacy cost of each owner.")] = "1",
    size: Annotated[int, typer.Option("--size", "-k", help="Grams in the base.")] = 75,
    miner: Annotated[
        str, typer.Option(help="levelgram, tree-linear, ..., fpm, random or exact.")
    ] = "levelgram",
    threshold: Annotated[
        str, typer.Option(help="calibrated, worst-case, paper, global or global-paper.")
    ] = "calibrated",
    decide: Annotated[str, typer.Option(help="one-to-one, best-per-left or all.")] = "one-to-one",
    errors: Annotated[str, typer.Option(help="The typos' model: uniform or keyboard.")] = "uniform",
    seed: Annotated[int, typer.Option(min=0, help="Of the data; the noise cannot be seeded.")] = 1,
    output: Annotated[Path, typer.Option("--output", "-o", help="A folder for all files.")] = Path(
        "gramlink-demo"
    ),
    quiet: Quiet = False,
) -> None:
    """Link a list of names with a mistyped copy of it, and print what each party does."""
    from gramlink.demo import Choices, Demo
    from gramlink.errors import GramlinkError
    from gramlink.evaluation.report import write_report
    from gramlink.files import written_whole
    from gramlink.schema import positive_epsilon

    speaker = Speaker(quiet=quiet, as_json=False)
    choices = Choices(
        data, count, edits, positive_epsilon(epsilon), size, miner, threshold, decide, errors,
        seed, output,
    )  # fmt: skip
    story = Demo(choices, speaker.say, speaker.progress).run()
    speaker.say("")
    if miner == "exact":
        speaker.say("No privacy: the exact miner shows grams as they are, for experiments only.")
    else:
        speaker.say("Protected by ε: what the owners show each other, the grams.")
    speaker.say("Not protected by ε: the vectors; the linkage unit is trusted not to attack them,")
    speaker.say("and gets no base.")
    speaker.say("")
    try:
        page = write_report(story)
    except GramlinkError as error:
        speaker.say(f"no report: {error} ({error.hint})")
    else:
        with written_whole(output / "report.html") as file:
            file.write(page.encode())
        speaker.say(f"report: {output / 'report.html'}, and all that was sent beside it")
    speaker.say(f"took {story.seconds:.0f} s")
