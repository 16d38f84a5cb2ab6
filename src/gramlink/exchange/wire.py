"""What goes over the wire between a linkage unit and its clients, described once.

The unit builds these values, its pages show them, clients parse answers into them, and
`/openapi.json` is made from them. What a unit says comes from another party: types are strict,
names and keys are checked, and texts and numbers are bounded. Keys that this version does not
know are ignored in what a unit says, as a newer unit may say more; in what a client sends, they
are refused.
"""

from typing import Annotated, Literal, Self

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, model_validator

from gramlink.bundles.results import Returns
from gramlink.exchange.values import (
    Count,
    Days,
    Digest,
    ExchangeName,
    Key,
    Name,
    OwnerName,
    Time,
    Words,
)
from gramlink.io.names import alike
from gramlink.records.choices import VECTORS

FEWEST_PARTIES, MOST_PARTIES = 2, 20
LONGEST_SCHEMA = 2**18  # characters

Stage = Literal["joining", "mined", "bundles", "linking", "done", "failed"]
BundleState = Literal["none", "uploading", "checking", "accepted", "refused"]
Role = Literal["operator", "party"]

_SHA256 = "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"
_TOKEN = "gl_0a1b2c3d_" + "x" * 43  # what a token looks like


class _Asked(BaseModel):
    """What a client sends: only the keys described."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)


class _Told(BaseModel):
    """What a unit says."""

    model_config = ConfigDict(strict=True, frozen=True)


class NewExchange(_Asked):
    """An exchange to be made."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {
                    "name": "stroke-2026",
                    "schema": "[fields.surname]\n",
                    "parties": ["hospital", "registry"],
                    "returns": {"hospital": "weights"},
                    "token_days": 90,
                }
            ]
        }
    )

    name: str = Field(pattern="^[a-z0-9][a-z0-9-]{0,63}$")
    text: str = Field(
        alias="schema", max_length=LONGEST_SCHEMA, description="The text of linkage.toml."
    )
    parties: list[Name] = Field(min_length=FEWEST_PARTIES, max_length=MOST_PARTIES)
    returns: dict[str, Returns] = Field(default={}, max_length=MOST_PARTIES)
    token_days: Days = 90


class NewToken(_Asked):
    """A token to be made in place of a party's old one."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"party": "hospital", "days": 90}]})

    party: Name
    days: Days = 90


class NewUpload(_Asked):
    """A bundle to upload, or whose upload to resume."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"size": 123456, "sha256": _SHA256}]})

    size: int = Field(ge=1, le=2**62)
    sha256: Digest


class Problem(_Told):
    """What went wrong, and what to do about it."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [{"error": "there is no such exchange", "hint": "check the name"}]
        }
    )

    error: Words
    hint: Words = ""
    offset: Count | None = Field(None, description="For an upload: where to resume.")


class Limits(_Told):
    """The most bytes that the unit accepts at once."""

    bundle_bytes: Count = Field(examples=[2**32])
    mined_bytes: Count = Field(examples=[2**26])


class UnitInfo(_Told):
    """The unit, its key and its limits."""

    gramlink: Words = Field(examples=["0.1.0"])
    recipient: Key = Field(description="What bundles are sealed to.")
    fingerprint: Words = Field(examples=["0123 4567 89ab cdef 0123"])
    limits: Limits


class TokenInfo(_Told):
    """Whose token it is."""

    role: Role
    exchange: ExchangeName | None = Field(examples=["stroke-2026"])
    party: OwnerName | None = Field(examples=["hospital"])
    expires: Time


class MadeExchange(_Told):
    """An exchange that was made; the tokens are shown this once."""

    name: ExchangeName = Field(examples=["stroke-2026"])
    tokens: dict[str, str] = Field(examples=[{"hospital": _TOKEN}])


class MadeToken(_Told):
    """A token that was made, shown this once."""

    token: str = Field(examples=[_TOKEN])
    expires: Time


class BundleInfo(_Told):
    """A party's bundle; for another party, only its state."""

    state: BundleState
    reason: Words | None
    rows: Count | None
    epsilon: Words | None
    created: Words | None
    bytes: Count | None
    sha256: Digest | None
    offset: Count | None
    size: Count | None
    withdrawn: Time | None = Field(
        None, description="When it was withdrawn, if no other was announced since."
    )


class ResultsInfo(_Told):
    """A party's results; for another party, only whether they are ready."""

    ready: bool
    bytes: Count | None
    sha256: Digest | None
    fetched: Time | None


class PartyToken(_Told):
    """A party's latest token; for the operator only."""

    expires: Time
    revoked: Time | None


class PartyInfo(_Told):
    """A party of an exchange."""

    name: OwnerName
    returns: Returns
    recipient: Key | None
    mined_sent_to: tuple[OwnerName, ...] = Field(
        max_length=MOST_PARTIES,
        description="The parties it has left what it mined for, sealed.",
    )
    bundle: BundleInfo
    results: ResultsInfo
    token: PartyToken | None = None


class Progress(_Told):
    """How far a running job has come."""

    step: Annotated[str, AfterValidator(lambda text: text[:100])] | None
    done: Count
    total: Count


class PassFound(_Told):
    """What one pass found: the fields in which records agreed, each with its number of edits."""

    edits: dict[str, int] = Field(alias="pass")
    label: Words = Field("", description="What it is called, where the fields do not say it all.")
    found: Count
    added: Count = Field(description="How many of them no earlier pass found.")


class PairSummary(_Told):
    """What came of the bundles of two parties."""

    left: OwnerName
    right: OwnerName
    links: Count
    possible: Count
    precision: float | None
    recall: float | None
    rows: dict[str, Count]
    passes: tuple[PassFound, ...]
    weights: dict[str, dict[str, float]] = Field(description="For each field, by level, in bits.")
    histogram: tuple[tuple[int, int], ...] = Field(
        description="How many candidate pairs have each match weight, in whole bits."
    )
    warnings: tuple[Words, ...]


class Summary(_Told):
    """What came of an exchange; for the operator only."""

    pairs: tuple[PairSummary, ...]
    clusters: Count


class PartySummary(_Told):
    """What came of an exchange for one party: the numbers of its own pairs, added up."""

    links: Count
    possible: Count
    precision: float | None
    recall: float | None


class ExchangeInfo(_Told):
    """An exchange, as the token may see it."""

    name: ExchangeName
    created: Time
    stage: Stage
    encoding: Words = Field(VECTORS, description="What the unit gets of each record.")
    reason: Words | None
    parties: tuple[PartyInfo, ...] = Field(min_length=FEWEST_PARTIES, max_length=MOST_PARTIES)
    progress: Progress
    summary: Summary | PartySummary | None
    erase: Time | None = Field(description="When the files will be deleted.")
    erased: Time | None

    @model_validator(mode="after")
    def _each_party_once(self) -> Self:
        if same := alike(self.names):
            raise ValueError(f"{' and '.join(same)} look like the same name of a party")
        return self

    def __getitem__(self, name: str) -> PartyInfo:
        return {party.name: party for party in self.parties}[name]

    @property
    def names(self) -> tuple[str, ...]:
        """The parties' names, in their order."""
        return tuple(party.name for party in self.parties)


class PartyGlance(_Told):
    """How far a party has come, in a list of exchanges."""

    name: OwnerName
    joined: bool
    mined_sent: Count = Field(description="To how many others it has sent what it mined.")
    bundle: BundleState
    withdrawn: bool
    results: Literal["none", "ready", "fetched"]


class ExchangeGlance(_Told):
    """An exchange in a list."""

    name: ExchangeName
    created: Time
    stage: Stage
    reason: Words | None
    parties: tuple[PartyGlance, ...]
    erase: Time | None
    erased: Time | None


class ExchangeList(_Told):
    """A page of the list of exchanges, latest first; for the operator only."""

    exchanges: tuple[ExchangeGlance, ...]
    total: Count = Field(description="How many exchanges there are in all.")
    next: ExchangeName | None = Field(
        description="Where the next page starts: ask for those after this one.",
        examples=["stroke-2026"],
    )


class Offset(_Told):
    """How much of an upload has arrived."""

    offset: Count = Field(examples=[65536])


class LogEntry(_Told):
    """Who did what when; unchecked, so that a log that was tampered with can still be shown."""

    number: int
    time: str
    who: str
    what: str
    exchange: str | None
    detail: str
    hash: str


class LogInfo(_Told):
    """The log, and whether its chain of hashes is whole."""

    entries: tuple[LogEntry, ...]
    intact: bool
