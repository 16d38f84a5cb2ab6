"""Field: what records are compared on, and its four kinds.

| kind | for | base | an edit |
|---|---|---|---|
| text | names, streets, places | mined, which costs ε | inserts, deletes or replaces a symbol |
| digits | postcodes, phones, numbers | all grams of 1 and 2 digits | as text |
| date | dates of birth | each digit in its place | replaces a digit |
| category | sex, state | each symbol in its place | replaces a symbol |

Only text is mined. The other bases are public and follow from the kind, so they cost
nothing.
"""

from fractions import Fraction
from itertools import product
from typing import Annotated, Any, Literal, Self

from pydantic import BaseModel, BeforeValidator, ConfigDict, PlainSerializer, model_validator
from pydantic import Field as Setting

from gramlink.errors import InvalidParameter
from gramlink.io.names import unreadable
from gramlink.privacy.numbers import fraction
from gramlink.records.choices import MINERS, one_of
from gramlink.records.dates import check_format
from gramlink.records.strings import LONGEST

DIGITS = "0123456789"
LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
ALPHABET = LETTERS + " "
CATCH_ALL = "\N{REPLACEMENT CHARACTER}"
MARKS = "\N{RIGHT TACK}\N{LEFT TACK}"  # the start and the end of a text, in its grams
FIRST_PLACE = 0xE000  # symbols that stand for a symbol in its place are of no script
MOST_SYMBOLS = 254  # beside the catch-all

MinerName = Annotated[str, one_of(MINERS)]
Kind = Literal["text", "digits", "date", "category"]

_SPELLING = ("alphabet", "length", "case", "accents", "punctuation", "whitespace")
_MINING = ("miner", "size", "q_min", "q_max", "height", "grams", "marks", "share")
# The owners need not agree on these: they describe the field in one owner's file.
OWN = ("column", "missing", "format", "codes")
_SETTINGS: dict[str, tuple[str, ...]] = {
    "text": (*_SPELLING, *_MINING, "nicknames"),
    "digits": ("length",),
    "date": ("format",),
    "category": ("codes", *_SPELLING),
}
_DEFAULTS: dict[str, dict[str, Any]] = {
    "text": {},
    "digits": {"alphabet": DIGITS, "length": 16, "whitespace": "strip", "q_max": 2},
    "date": {"alphabet": DIGITS, "length": 8, "punctuation": "keep"},
    "category": {"alphabet": LETTERS + DIGITS, "length": 4, "whitespace": "strip", "edits": 0},
}


def positive_share(value: object) -> Fraction:
    """A share above 0, as a fraction."""
    share = fraction(value)
    if share <= 0:
        raise InvalidParameter(f"a share must be above 0, not {value}")
    return share


Share = Annotated[Fraction, BeforeValidator(positive_share), PlainSerializer(str, return_type=str)]


class Frozen(BaseModel):
    """A value that is validated when it is created."""

    model_config = ConfigDict(
        frozen=True, extra="forbid", strict=True, arbitrary_types_allowed=True
    )


class Field(Frozen):
    """One field that records are compared on.

    >>> Field(name="surname").symbols
    'ABCDEFGHIJKLMNOPQRSTUVWXYZ �⊢⊣'
    >>> len(Field(name="born", kind="date").public_grams)
    80
    """

    name: str = Setting(min_length=1, max_length=100)
    kind: Kind = "text"
    column: str | tuple[str, ...] = ""  # the owner's own, or several that are joined
    missing: tuple[str, ...] = ()  # what stands for "not known" in the owner's file
    format: str = ""  # of dates in the owner's file; recognised if not stated
    codes: dict[str, str] = {}  # what the owner writes, and what it means
    edits: int | None = Setting(default=None, ge=0, le=5)
    alphabet: str = Setting(default=ALPHABET, min_length=1, max_length=MOST_SYMBOLS - len(MARKS))
    length: int = Setting(default=32, ge=1, le=LONGEST - len(MARKS))
    case: Literal["upper", "lower", "keep"] = "upper"
    accents: Literal["strip", "keep"] = "strip"
    punctuation: Literal["strip", "space", "keep"] = "strip"
    whitespace: Literal["collapse", "strip", "keep"] = "collapse"
    miner: MinerName = "levelgram"
    share: Share = Fraction(1)
    size: int = Setting(default=75, ge=1, le=1000)
    q_min: int = Setting(default=1, ge=1)
    q_max: int = Setting(default=3, ge=1, le=6)
    height: int = Setting(default=7, ge=1, le=32)
    marks: bool = False  # whether grams say where a text starts and ends; as the miner can
    nicknames: Literal["", "en", "de"] = ""  # the language whose nicknames are known
    grams: tuple[str, ...] = Setting(
        default=(), max_length=1000
    )  # the base itself, for miner = "public"

    @model_validator(mode="before")
    @classmethod
    def _of_its_kind(cls, given: Any) -> Any:
        kind = given.get("kind", "text") if isinstance(given, dict) else None
        if not isinstance(kind, str) or kind not in _SETTINGS:
            return given  # pydantic says what is wrong
        for setting in given:
            every = ("name", "kind", "column", "missing", "edits", *_SETTINGS[kind])
            if setting in cls.model_fields and setting not in every:
                raise ValueError(f"a {kind} field has no setting {setting}")
        miner = MINERS.get(str(given.get("miner", "levelgram")))
        marks = {"marks": miner.marks} if kind == "text" and miner else {}
        return {**_DEFAULTS[kind], **marks, **given}

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        fault = unreadable(self.name)
        if fault:
            raise ValueError(f"a field cannot be called this: {fault}")
        if self.q_min > self.q_max:
            raise ValueError(f"q_min = {self.q_min} is above q_max = {self.q_max}")
        if len(set(self.alphabet)) != len(self.alphabet):
            raise ValueError("the alphabet has a symbol twice")
        if CATCH_ALL in self.alphabet:
            raise ValueError(f"{CATCH_ALL} stands for symbols outside the alphabet")
        for mark in MARKS:
            if mark in self.alphabet:
                raise ValueError(f"{mark} marks the start or the end of a text")
        if self.placed and self.length * len(self.alphabet) > MOST_SYMBOLS:
            most = MOST_SYMBOLS // len(self.alphabet)
            raise ValueError(f"a category over this alphabet has a length of at most {most}")
        if self.marks and not MINERS[self.miner].marks:
            raise ValueError(f"{self.miner} does not mark where texts start and end")
        if self.miner == "tree-hybrid" and self.height <= self.q_max:
            raise ValueError("tree-hybrid needs a height above q_max")
        if self.kind == "text" and (self.miner == "public") != bool(self.grams):
            raise ValueError('`grams` must be given with miner = "public", and only then')
        for gram in self.grams:
            if not 1 <= len(gram) <= 6 or not set(gram) <= {*self.alphabet, *MARKS}:
                raise ValueError(f"gram {gram[:20]!r} must be 1 to 6 symbols of the alphabet")
        if len(set(self.grams)) < len(self.grams):
            raise ValueError("a gram is given twice")
        if self.format:
            check_format(self.format)
        if not all(self.columns):
            raise ValueError("`column` is empty, or contains an empty name")
        return self

    @property
    def placed(self) -> bool:
        """Whether a symbol counts together with its place."""
        return self.kind in ("date", "category")

    @property
    def marked(self) -> bool:
        """Whether some of its grams may say where a text starts or ends."""
        return self.marks or not set(MARKS).isdisjoint("".join(self.grams))

    @property
    def mined(self) -> bool:
        """Whether its base is mined; else it is public."""
        return self.kind == "text" and self.miner != "public"

    @property
    def reads_records(self) -> bool:
        """Whether its base is made from records, which costs epsilon."""
        return self.mined and MINERS[self.miner].reads_records

    @property
    def spelling(self) -> str:
        """The alphabet and, last, the catch-all."""
        return self.alphabet + CATCH_ALL

    @property
    def symbols(self) -> str:
        """The symbols that grams are made of: those of the spelling, each in its place if placed.

        Marks come last, so that a text has the same codes with marks and without.
        """
        if not self.placed:
            return self.spelling + (MARKS if self.marked else "")
        count = self.length * len(self.alphabet)
        return "".join(map(chr, range(FIRST_PLACE, FIRST_PLACE + count))) + CATCH_ALL

    @property
    def public_grams(self) -> tuple[str, ...]:
        """The base of a field that is not mined."""
        if self.placed:
            return tuple(self.symbols[:-1])
        if self.kind == "digits":
            lengths = range(self.q_min, self.q_max + 1)
            return tuple("".join(gram) for q in lengths for gram in product(DIGITS, repeat=q))
        return self.grams

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns this field is read from."""
        if isinstance(self.column, tuple):
            return self.column or ("",)
        return (self.column or self.name,)

    @property
    def source(self) -> str:
        """The columns this field is read from, as one name."""
        return "+".join(self.columns)

    @property
    def agreed(self) -> dict[str, Any]:
        """The settings that all owners must have in common."""
        kept = {"kind", "edits", *_SETTINGS[self.kind]} - set(OWN)
        if not self.nicknames:
            kept -= {"nicknames"}
        if self.kind == "text":
            kept -= {"grams"} if self.mined else set(_MINING) - {"miner", "grams"}
        return self.model_dump(mode="json", include=kept)
