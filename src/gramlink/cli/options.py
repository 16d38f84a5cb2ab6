"""The options that several commands share, each defined once; some come in groups."""

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any
from unicodedata import normalize

import typer

if TYPE_CHECKING:
    from gramlink.records.reading import Records
    from gramlink.records.schema import Schema

LINKAGE = Path("linkage.toml")

Data = Annotated[Path, typer.Argument(help="The records, as CSV or Parquet.", metavar="DATA")]
SchemaFile = Annotated[Path, typer.Option("--schema", help="The schema the owners agreed on.")]
Separator = Annotated[str, typer.Option(help="The CSV separator, if not , ; tab or |.")]
Encoding = Annotated[str, typer.Option(help="The CSV encoding, if not UTF-8.")]
OwnerName = Annotated[str, typer.Option("--owner", help="This owner's name; default: DATA's.")]
KeyFile = Annotated[Path | None, typer.Option("--key", help="Default: OWNER.key.")]
IdentityFile = Annotated[
    Path | None, typer.Option("--identity", help="The identity file that opens a sealed file.")
]
OwnIdentityFile = Annotated[
    Path | None,
    typer.Option(
        "--identity", help="What signs the bundle and opens the answer; default: OWNER.identity."
    ),
]
SENDERS = typer.Option(
    "--from",
    help="An owner's recipient file, named OWNER.recipient, or a folder of them.",
)
Senders = Annotated[list[Path] | None, SENDERS]
LedgerFile = Annotated[
    Path | None, typer.Option("--ledger", help="Default: DATASET.ledger beside DATA.")
]
LedgerArgument = Annotated[
    Path,
    typer.Argument(
        help="The ledger that `gramlink mine`, `embed` and `exchange` keep.", metavar="FILE"
    ),
]
DataSet = Annotated[
    str,
    typer.Option(
        "--dataset",
        help="The data set the ledger tracks; default: DATA's name. All its exports share it.",
    ),
]
Epsilon = Annotated[str, typer.Option(help="What to spend, in the place of the schema's.")]
Insist = Annotated[
    bool,
    typer.Option("--insist", help="Allow an epsilon above 20, which protects nobody."),
]
Force = Annotated[bool, typer.Option("--force", help="Overwrite the output if it exists.")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Print errors only.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print the summary as JSON.")]


@dataclass(frozen=True, slots=True)
class Source:
    """Where records come from: a file, how to read it, and the schema."""

    data: Data
    schema_file: SchemaFile = LINKAGE
    separator: Separator = ""
    encoding: Encoding = ""

    @property
    def files(self) -> tuple[Path, Path]:
        """The files that are read, which no output may replace."""
        return self.data, self.schema_file

    def schema(self, **overrides: Any) -> "Schema":
        """The schema, with the settings that the command line overrides."""
        from gramlink.records.schema import checked_schema, load_schema

        schema = load_schema(self.schema_file)
        given = {key: value for key, value in overrides.items() if value}
        return checked_schema(**{**dict(schema), **given}) if given else schema

    def records(self, schema: "Schema") -> "Records":
        """The records in the file."""
        from gramlink.records.reading import read_records

        separator, encoding = self.separator or None, self.encoding or None
        return read_records(self.data, schema, separator=separator, encoding=encoding)


@dataclass(frozen=True, slots=True)
class OwnSource(Source):
    """Where an owner's records come from, and what the owner is called."""

    owner: OwnerName = ""

    @property
    def name(self) -> str:
        """The owner's name: as given, or that of the data file."""
        from gramlink.io.names import owner_name

        return owner_name(self.owner or normalize("NFC", self.data.stem))

    def ledger_file(self, given: Path | None, dataset: str) -> tuple[Path, str]:
        """The ledger of the data set, and what the data set is called.

        Renaming the owner gives no new budget: a data set is called as its file is.
        """
        from gramlink.io.names import dataset_name

        dataset = dataset_name(dataset or self.data.stem)
        return given or self.data.with_name(f"{dataset}.ledger"), dataset

    def key_file(self, given: Path | None) -> Path:
        """The file with the key of this owner's pseudonyms."""
        return given or Path(f"{self.name}.key")
