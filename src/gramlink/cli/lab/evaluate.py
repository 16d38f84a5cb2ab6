"""`gramlink evaluate`: links compared with the truth."""

from pathlib import Path
from typing import Annotated

import typer

from gramlink.cli.inputs import read_links
from gramlink.cli.options import AsJson
from gramlink.cli.speaker import Speaker

LinksFile = Annotated[
    Path, typer.Argument(help="A CSV file with id_left and id_right.", metavar="LINKS")
]
TruthFile = Annotated[
    Path, typer.Argument(help="The true pairs, in the same form.", metavar="TRUTH")
]


def evaluate(*, links_file: LinksFile, truth_file: TruthFile, as_json: AsJson = False) -> None:
    """Compare links with the truth, where it is known.

    Prints precision, recall and F1. The links must have the ids of both owners: map
    pseudonyms back first.

    Example: gramlink evaluate both.csv truth.csv
    """
    from gramlink.errors import Mismatch
    from gramlink.lab.scores import score

    speaker = Speaker(as_json=as_json)
    links, truth = read_links(links_file), read_links(truth_file)
    for side, ours, known in (
        ("left", links.left, truth.left),
        ("right", links.right, truth.right),
    ):
        if ours and known and set(ours).isdisjoint(known):
            raise Mismatch(
                f"{links_file.name} and {truth_file.name} have no {side} id in common",
                hint="map pseudonyms back first, with `gramlink results` at both owners in turn",
            )
    scores = score(
        zip(links.left, links.right, strict=True), zip(truth.left, truth.right, strict=True)
    )
    speaker.say(f"{scores.correct:,} of {scores.links:,} links are true")
    speaker.say(f"{scores.correct:,} of {scores.truth:,} true pairs are linked")
    speaker.say(f"precision {scores.precision:.4f}")
    speaker.say(f"recall    {scores.recall:.4f}")
    speaker.say(f"F1        {scores.f1:.4f}")
    speaker.summary(
        {
            "links": scores.links,
            "truth": scores.truth,
            "correct": scores.correct,
            "precision": scores.precision,
            "recall": scores.recall,
            "f1": scores.f1,
        }
    )
