"""Models: what the interface takes and gives, as `/openapi.json` describes it."""

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

Returned = Literal["links", "weights", "counts"]
Digest = Annotated[str, Field(pattern="^[0-9a-f]{64}$", description="SHA-256, in hexadecimal.")]
Name = Annotated[str, Field(min_length=1, max_length=100)]
_SHA256 = "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"
_TOKEN = "gl_0a1b2c3d_" + "x" * 43  # what one looks like


class _Taken(BaseModel):
    """What a client sends: nothing but what is described."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)


class NewExchange(_Taken):
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
    text: str = Field(alias="schema", max_length=2**18, description="The text of linkage.toml.")
    parties: list[Name] = Field(min_length=2, max_length=20)
    returns: dict[str, Returned] = Field(default={}, max_length=20)
    token_days: int = Field(default=90, ge=1, le=3650)


class NewToken(_Taken):
    """A token to be made in the place of a party's old one."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"party": "hospital", "days": 90}]})

    party: Name
    days: int = Field(default=90, ge=1, le=3650)


class NewUpload(_Taken):
    """A bundle to be uploaded, or to go on with."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"size": 123456, "sha256": _SHA256}]})

    size: int = Field(ge=1, le=2**62)
    sha256: Digest


class Problem(BaseModel):
    """What went wrong, and what to do about it."""

    model_config = ConfigDict(
        extra="allow",
        json_schema_extra={
            "examples": [{"error": "there is no such exchange", "hint": "check the name"}]
        },
    )

    error: str
    hint: str


class UnitInfo(BaseModel):
    """The unit, its key and its limits."""

    gramlink: str = Field(examples=["0.1.0"])
    recipient: str = Field(description="What bundles are sealed to.", examples=["age1..."])
    fingerprint: str = Field(examples=["0123 4567 89ab cdef 0123"])
    limits: dict[str, int] = Field(examples=[{"bundle bytes": 2**32, "base bytes": 2**26}])


class TokenInfo(BaseModel):
    """Whom a token speaks for."""

    role: Literal["operator", "party"]
    exchange: str | None = Field(examples=["stroke-2026"])
    party: str | None = Field(examples=["hospital"])
    expires: str = Field(examples=["2026-12-31T12:00:00Z"])


class MadeExchange(BaseModel):
    """An exchange that was made; the tokens are shown this once."""

    name: str = Field(examples=["stroke-2026"])
    tokens: dict[str, str] = Field(examples=[{"hospital": _TOKEN}])


class MadeToken(BaseModel):
    """A token that was made, shown this once."""

    token: str = Field(examples=[_TOKEN])
    expires: str = Field(examples=["2026-12-31T12:00:00Z"])


class BundleInfo(BaseModel):
    """A party's bundle; of another party, the state alone."""

    state: Literal["none", "uploading", "checking", "accepted", "refused"]
    reason: str | None
    rows: int | None
    epsilon: str | None
    created: str | None
    bytes: int | None
    sha256: str | None
    offset: int | None
    size: int | None


class ResultsInfo(BaseModel):
    """A party's results; of another party, whether they are ready."""

    ready: bool
    bytes: int | None
    sha256: str | None
    fetched: str | None


class PartyToken(BaseModel):
    """A party's latest token; for the operator only."""

    expires: str
    revoked: str | None


class PartyInfo(BaseModel):
    """A party of an exchange."""

    name: str
    returns: Returned
    recipient: str | None
    bases: list[str] = Field(description="Whom it has sent its sealed base to.")
    bundle: BundleInfo
    results: ResultsInfo
    token: PartyToken | None = None


class Progress(BaseModel):
    """How far a running job is."""

    step: str | None
    done: int
    total: int


class ExchangeInfo(BaseModel):
    """An exchange, as the token may see it."""

    name: str
    created: str
    stage: Literal["joining", "bases", "bundles", "linking", "done", "failed"]
    reason: str | None
    parties: list[PartyInfo]
    progress: Progress
    summary: dict[str, Any] | None
    erase: str | None = Field(description="When the files will be deleted.")
    erased: str | None


class Offset(BaseModel):
    """How much of an upload is there."""

    offset: int = Field(examples=[65536])


class LogEntry(BaseModel):
    """Who did what when."""

    number: int
    time: str
    who: str
    what: str
    exchange: str | None
    detail: str
    hash: str


class LogInfo(BaseModel):
    """The log, and whether its chain of hashes is whole."""

    entries: list[LogEntry]
    intact: bool
