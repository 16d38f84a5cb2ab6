"""FEBRL's data set 4: invented persons of Australia; its terms are in data/README.md."""

from importlib import resources

import polars as pl

from gramlink.lab.datasets.persons import Persons


def febrl4() -> Persons:
    """5,000 invented persons, and a corrupted copy of each, long used by researchers.

    All cells are text, as in the files except for surrounding blanks; empty
    ones are null. The first column, `rec_id`, is the id: `rec-7-org` is `rec-7-dup-0`.

    >>> febrl = febrl4()
    >>> febrl.truth.row(0)
    ('rec-1070-org', 'rec-1070-dup-0')

    Privacy: no real person's data.
    """
    left, right = _read("febrl4a.csv.gz"), _read("febrl4b.csv.gz")
    number = pl.col("rec_id").str.extract(r"^rec-(\d+)-").alias("number")
    truth = left.select(number, id_left="rec_id").join(
        right.select(number, id_right="rec_id"), on="number", maintain_order="left"
    )
    return Persons(left, right, truth.select("id_left", "id_right"))


def _read(file: str) -> pl.DataFrame:
    packed = (resources.files(__package__) / "data" / file).read_bytes()
    table = pl.read_csv(packed, infer_schema=False)
    cells = pl.all().str.strip_chars()
    return table.rename(str.strip).select(pl.when(cells != "").then(cells))
