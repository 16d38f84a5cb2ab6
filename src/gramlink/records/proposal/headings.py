"""Headings: what the name of a column says about it.

The lists here are public knowledge: what data managers call their columns. No file is read.
"""

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass

from gramlink.io.names import unreadable

# Meanings that give two owners' columns the same field name, and what they are called.
_CANONICAL = {
    "given_name": "givenname givennames firstname firstnames forename forenames fname vorname "
    "prenom",
    "middle_name": "middlename secondname mname",
    "surname": "surname lastname familyname lname nachname familienname",
    "date_of_birth": "dateofbirth dob birthdate birthday birthdt geburtsdatum datenaissance",
    "date_of_death": "dateofdeath dod deathdate",
    "sex": "sex gender sexcode gendercode geschlecht sexe",
    "street": "street streetname strasse",
    "street_number": "streetnumber streetno streetnr streetnum housenumber houseno housenr hausnummer",  # noqa: E501
    "city": "city cityname town townname municipality ort ville",
    "postcode": "postcode postalcode zip zipcode plz postleitzahl codepostal",
    "state": "state statecode stateabbrev province bundesland",
    "country": "country countrycode land pays",
    "phone": "phone telephone phonenumber telephonenumber phoneno tel telefon",
    "email": "email emailaddress mail",
    "marital_status": "maritalstatus marital civilstatus maritalstat familienstand",
}
# Meanings whose columns keep their own names, since two need not hold the same thing.
_KEPT = {
    "name": "name fullname personname patientname",
    "address": "address addr addressline adresse anschrift",
    "place": "suburb district county village birthplace placeofbirth locality region",
    "number": "ssn socsec socsecid socsecno socialsecuritynumber socialsecurityno sin nino "
    "nhsnumber nhsno medicare medicareno medicarenumber nationalid passport passportno "
    "mobile mobilephone cellphone cell fax homephone workphone unit unitnumber flat",
    "group": "title salutation race ethnicity ethnicgroup ethnic religion language bloodgroup",
}
_MEANINGS = {
    synonym: meaning
    for meaning, synonyms in (*_CANONICAL.items(), *_KEPT.items())
    for synonym in synonyms.split()
}
# How much of epsilon a text of a meaning gets: names tell most, places have few values.
_SHARES = {
    **dict.fromkeys(("given_name", "surname", "name"), 2),
    **dict.fromkeys(("city", "place", "state", "country", "sex", "marital_status", "group"), 0.5),
}
_USUAL_SHARE = 1
_PARTS_OF_BIRTH = (
    [
        "birthyear",
        "yearofbirth",
        "yob",
        "dobyear",
        "dobyyyy",
        "birthyyyy",
        "birthyr",
        "by",
        "geburtsjahr",
    ],
    [
        "birthmonth",
        "monthofbirth",
        "mob",
        "dobmonth",
        "dobmm",
        "birthmm",
        "birthmon",
        "bm",
        "geburtsmonat",
    ],
    ["birthday", "dayofbirth", "dobday", "dobdd", "birthdd", "bd", "geburtstag"],
)
# best first
_IDS = [
    "id",
    "recid",
    "recordid",
    "uniqueid",
    "personid",
    "patientid",
    "clientid",
    "customerid",
    "memberid",
    "subjectid",
    "participantid",
    "studyid",
    "caseid",
    "rowid",
    "uid",
    "uuid",
    "guid",
    "identifier",
    "pk",
    "key",
    "mrn",
]
_ID_WORDS = {
    "id", "ids", "uid", "uuid", "guid", "key", "pk", "identifier", "index", "row", "mrn", "cluster",
}  # fmt: skip
_DATE_WORDS = {"date", "dob", "born", "dt"}
_ADDRESS_WORDS = {"address", "addr", "street", "road", "strasse", "adresse", "house", "email"}
_STAMP_WORDS = {
    "created", "updated", "modified", "changed", "inserted", "entered", "exported", "export",
    "extract", "extracted", "extraction", "loaded", "load", "imported", "import", "timestamp",
    "processed", "snapshot", "version",
}  # fmt: skip
_AGES = {"age", "ageyears", "ageinyears", "alter"}
_TEXT_WORDS = {
    "note", "notes", "comment", "comments", "remark", "remarks", "description", "memo",
    "narrative", "freetext", "details",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Heading:
    """The name of a column, and what it tells.

    `name` is the heading in plain words, `canonical` the name that every owner's column of
    this meaning gets, and `meaning` one of the words above; the last two are "" if not known.

    >>> heading_of("First Name")
    Heading(column='First Name', name='first_name', canonical='given_name', meaning='given_name')
    """

    column: str
    name: str
    canonical: str
    meaning: str

    def _has(self, words: set[str]) -> bool:
        return not words.isdisjoint(self.name.split("_"))

    @property
    def of_ids(self) -> bool:
        """Whether columns of record ids are called this."""
        return not self.meaning and (self._has(_ID_WORDS) or squeezed(self.name) in _IDS)

    @property
    def of_dates(self) -> bool:
        """Whether columns of dates are called this."""
        return self.meaning.startswith("date_of") or (not self.meaning and self._has(_DATE_WORDS))

    @property
    def of_groups(self) -> bool:
        """Whether columns of categories are called this."""
        return self.meaning in ("sex", "state", "country", "marital_status", "group")

    @property
    def of_addresses(self) -> bool:
        """Whether columns of texts with house numbers are called this."""
        return self.meaning in ("address", "street") or self._has(_ADDRESS_WORDS)

    @property
    def share(self) -> float:
        """What a text field of this name gets of epsilon, next to the others.

        >>> [heading_of(name).share for name in ("last name", "street", "town")]
        [2, 1, 0.5]
        """
        return _SHARES.get(self.meaning, _USUAL_SHARE)

    @property
    def of_birth(self) -> bool:
        """Whether columns of a part of the date of birth are called this."""
        return any(squeezed(self.column) in names for names in _PARTS_OF_BIRTH)

    @property
    def of_ages(self) -> bool:
        """Whether columns of ages are called this."""
        return squeezed(self.column) in _AGES

    @property
    def of_stamps(self) -> bool:
        """Whether it describes an export rather than a person."""
        return not self.meaning and self._has(_STAMP_WORDS)

    @property
    def of_free_text(self) -> bool:
        """Whether columns of free text, unfit to be compared, are called this."""
        return not self.meaning and self._has(_TEXT_WORDS)


def heading_of(column: str) -> Heading:
    """What the name of a column says."""
    name, key = plain(column), squeezed(column)
    meaning = _MEANINGS.get(key, "")
    canonical = meaning if meaning in _CANONICAL else ""
    return Heading(column, name, canonical, meaning or _MEANINGS.get(key.rstrip("0123456789"), ""))


def plain(column: str) -> str:
    """A name in lower case, with underscores for anything but letters and digits.

    >>> plain("DateOfBirth"), plain(" Straße (1)"), plain("?")
    ('date_of_birth', 'straße_1', 'field')
    """
    text = unicodedata.normalize("NFKC", column)
    text = re.sub(r"(?<=[a-z])(?=[A-Z])", "_", text).lower()
    words = "".join(symbol if symbol.isalnum() else " " for symbol in text).split()
    name = "_".join(words)[:60].strip("_")
    return "field" if not name or unreadable(name) else name


def squeezed(column: str) -> str:
    """A name without blanks, accents or case, for looking it up.

    >>> squeezed("Prénom"), squeezed("FIRST-NAME")
    ('prenom', 'firstname')
    """
    letters = unicodedata.normalize("NFKD", plain(column).casefold())
    return "".join(symbol for symbol in letters if symbol.isalnum())


def by_ids_names(headings: Sequence[Heading]) -> list[Heading]:
    """The headings, with those that ids are usually called first."""
    known = {name: rank for rank, name in enumerate(_IDS)}

    def rank(heading: Heading) -> tuple[int, int]:
        return known.get(squeezed(heading.column), len(known)), not heading.of_ids

    return sorted(headings, key=rank)


def parts_of_birth(headings: Sequence[Heading]) -> tuple[Heading, ...]:
    """The columns of the year, month and day of birth, or none.

    >>> headings = [heading_of(name) for name in ("birth_day", "sex", "birth_month", "YearOfBirth")]
    >>> [heading.column for heading in parts_of_birth(headings)]
    ['YearOfBirth', 'birth_month', 'birth_day']
    """
    found = [
        [heading for heading in headings if squeezed(heading.column) in names]
        for names in _PARTS_OF_BIRTH
    ]
    return tuple(one[0] for one in found) if all(len(one) == 1 for one in found) else ()
