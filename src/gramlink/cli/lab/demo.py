"""`gramlink demo`: the whole method on bundled data."""

from pathlib import Path
from typing import Annotated

import typer

from gramlink.cli.speaker import Speaker
from gramlink.records.choices import ENCODINGS, MINERS, POLICIES, RULES, VECTORS, listed


def demo(
    *,
    persons: Annotated[
        bool, typer.Option("--persons", help="Link generated persons with eight fields each.")
    ] = False,
    data: Annotated[str, typer.Option(help="Without --persons: surnames or cities.")] = "surnames",
    count: Annotated[
        int | None,
        typer.Option(
            "--count",
            "-n",
            help="Records per owner, up to 149,910 surnames; default: 5,000, or 10,000 persons.",
        ),
    ] = None,
    edits: Annotated[
        int | None,
        typer.Option(
            help="Typos made in each copy, and allowed in a match; default: 1, or 2 for persons."
        ),
    ] = None,
    epsilon: Annotated[str, typer.Option(help="Each owner's privacy cost.")] = "1",
    size: Annotated[
        int | None,
        typer.Option(
            "--size", "-k", help="Grams in a mined base; default: 1,000, or 75 for persons."
        ),
    ] = None,
    miner: Annotated[
        str, typer.Option(help=f"The miner: {listed(one for one in MINERS if one != 'public')}.")
    ] = "levelgram",
    threshold: Annotated[
        str, typer.Option(help=f"How thresholds are set: {listed(POLICIES)}.")
    ] = "calibrated",
    decide: Annotated[
        str, typer.Option(help=f"The rule for links: {listed(RULES)}.")
    ] = "one-to-one",
    encoding: Annotated[
        str,
        typer.Option(
            help=f"What the linkage unit gets: {listed(ENCODINGS)}; default: veiled for persons, "
            "vectors for names, as one field cannot be veiled."
        ),
    ] = "",
    errors: Annotated[
        str, typer.Option(help="How typos are made: uniform or keyboard.")
    ] = "uniform",
    seed: Annotated[
        int, typer.Option(min=0, help="Seeds the data; the noise cannot be seeded.")
    ] = 1,
    output: Annotated[
        Path, typer.Option("--output", "-o", help="The folder for all files.")
    ] = Path("gramlink-demo"),
    speaker: Speaker,
) -> None:
    """Run the whole method on bundled data, and write a report.

    Three parties link a list of names with a mistyped copy, or two files of persons, step by step.

    Example: gramlink demo --persons
    """
    from gramlink.errors import GramlinkError
    from gramlink.io.files import written_whole
    from gramlink.lab.demo import Choices, NamesDemo, PersonsDemo
    from gramlink.privacy.numbers import positive_epsilon

    if count is None:
        count = 10_000 if persons else 5000
    if edits is None:
        edits = 2 if persons else 1
    if size is None:
        size = 75 if persons else 1000
    choices = Choices(
        data, count, edits, positive_epsilon(epsilon), size, miner, threshold, decide, errors,
        seed, output, encoding or ("veiled" if persons else VECTORS),
    )  # fmt: skip
    stage = (PersonsDemo if persons else NamesDemo)(choices, speaker.say, speaker.progress)
    write_report = stage.run()
    speaker.say("")
    if miner == "exact":
        speaker.say("No privacy: the exact miner shows grams as they are, for experiments only.")
    else:
        speaker.say("Protected by ε: the grams, which the owners show each other.")
    if choices.encoding == VECTORS:
        speaker.say("Not protected by ε: the vectors; the linkage unit is trusted not to attack")
        speaker.say("them, and gets no base.")
    else:
        speaker.say("Hidden by the owners' secret: the records, from a linkage unit that follows")
        speaker.say("the protocol and does not work together with an owner.")
    speaker.say("")
    try:
        page = write_report()
    except GramlinkError as error:
        speaker.say(f"no report: {error} ({error.hint})")
    else:
        with written_whole(output / "report.html") as file:
            file.write(page.encode())
        speaker.say(f"report: {output / 'report.html'}; everything that was sent is beside it")
    speaker.say(f"took {stage.seconds:.0f} s")
    speaker.summary(stage.facts)
