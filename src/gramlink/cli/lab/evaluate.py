"""Compare links, mapped back to the ids of both owners, with the truth, where it is known.

Example: gramlink evaluate both.csv truth.csv
"""

from pathlib import Path
from typing import Annotated

import typer

from gramlink.cli.common import AsJson, Speaker, read_links

PairsFile = Annotated[Path, typer.Argument(help="A CSV file with id_left and id_right.")]


def evaluate(links_file: PairsFile, truth_file: PairsFile, as_json: AsJson = False) -> None:
    """Print precision, recall and F1."""
    from gramlink.errors import Mismatch
    from gramlink.lab.scores import score

    speaker = Speaker(quiet=False, as_json=as_json)
    links, truth = read_links(links_file), read_links(truth_file)
    for side, ours, known in (
        ("left", links.left, truth.left),
        ("right", links.right, truth.right),
    ):
        if ours and known and set(ours).isdisjoint(known):
            raise Mismatch(
                f"no {side} id of {links_file.name} is a {side} id of {truth_file.name}",
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
