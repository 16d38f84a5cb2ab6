"""The names of states, and what each party sees."""

from gramlink.encodings.encoding import encoding_of

STAGES = {
    "joining": "Joining",
    "mined": "Mining",
    "bundles": "Bundles",
    "linking": "Linking",
    "done": "Done",
    "failed": "Failed",
}

MEANING = {
    "joining": "each party gives its key",
    "mined": "each sends what it mined, sealed, to the others",
    "bundles": "each sends its sealed bundle to the unit",
    "linking": "the unit links the bundles",
    "done": "results can be fetched",
    "failed": "it could not be linked",
}

AT_A_GLANCE = {
    "none": "no bundle yet",
    "uploading": "bundle is arriving",
    "checking": "bundle is being checked",
    "accepted": "bundle accepted",
    "refused": "bundle refused",
}

GOES_BACK = {
    "links": "links",
    "weights": "links with weights",
    "counts": "counts only",
}

GETS = {
    "links": "which of its own records are linked, or perhaps linked, to which pseudonyms of the"
    " others",
    "weights": "which of its own records are linked, or perhaps linked, to which pseudonyms of the"
    " others, with match weights and how each field agreed",
    "counts": "how many of its records are linked, or perhaps linked, but not which",
}


def unit_sees(encoding: str) -> str:
    """What the linkage unit sees of an exchange with an encoding."""
    return (
        "the names of the parties, how many records each has, a pseudonym for each record, and "
        f"{encoding_of(encoding).unit_learns}. It sees no id, no record and no gram: what the "
        "parties mined passes through it sealed"
    )


def needs_secret(encoding: str) -> bool:
    """Whether the owners contribute to a secret."""
    return encoding_of(encoding).needs_secret
