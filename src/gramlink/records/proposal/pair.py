"""Pairing: proposals for two owners' files that agree with each other."""

from collections.abc import Sequence
from dataclasses import replace
from difflib import SequenceMatcher

from gramlink.errors import InvalidRecords
from gramlink.records.fields import ALPHABET, DIGITS, LETTERS, MOST_SYMBOLS
from gramlink.records.proposal.columns import (
    Candidate,
    Sample,
    as_proposal,
    candidates,
    choose_id,
    reasons,
    repeated,
    unique_names,
)
from gramlink.records.proposal.guess import CYRILLIC, GREEK, LENGTHS, PLACEHOLDERS, Guess
from gramlink.records.proposal.headings import squeezed
from gramlink.records.proposal.proposal import Proposal, shown
from gramlink.records.proposal.repeats import Repeat, resolved

CLOSE_WORDS, CLOSE_NAMES = 0.75, 0.9  # so that mother is not close to father, nor home to work
EVERY_SYMBOL = LETTERS + CYRILLIC + GREEK + " " + DIGITS

NOT_THERE = "the other file has no such column, or none that can be used"
BY_SPELLING = "the other owner's column has a different name; does it hold the same thing?"
TWO_KINDS = "it is {} in one file and {} in the other, so it is taken as text"
TWO_LENGTHS = (
    "one file writes shorter values than the other; if these mean the same, say so in `codes`, "
    "or they may never match"
)
TWO_SCRIPTS = "the two files write it in different scripts, which never match"


def propose_both(
    left: Sample,
    right: Sample,
    *,
    fields: Sequence[str] = (),
    left_id: str = "",
    right_id: str = "",
) -> tuple[Proposal, Proposal]:
    """A schema for each of two files, from the columns that both have, with the same settings.

    `fields` are the columns of the left file to use; without them, all suitable ones are used.

    >>> import polars as pl
    >>> ours = pl.DataFrame({"id": ["7", "3"], "first_name": ["ANN", "BOB"], "dob": ["", ""]})
    >>> theirs = pl.DataFrame({"nr": ["5", "2"], "Forename": ["ANN", "EVE"]})
    >>> samples = Sample("a.csv", ours.to_dict(), {}), Sample("b.csv", theirs.to_dict(), {})
    >>> [(one.id, one.fields[0].name, one.fields[0].columns) for one in propose_both(*samples)]
    [('id', 'given_name', ('first_name',)), ('nr', 'given_name', ('Forename',))]

    Privacy: reads raw records; the proposals are fit to be public.
    """
    left_id, right_id = choose_id(left, left_id, fields), choose_id(right, right_id)
    ours, left_out = candidates(left, left_id, fields)
    asked = [column for column in right.columns if column != right_id] if fields else ()
    theirs, right_out = candidates(right, right_id, asked)
    pairs = paired(ours, theirs)
    our_lone = [one for i, one in enumerate(ours) if i not in pairs]
    their_lone = [one for j, one in enumerate(theirs) if j not in pairs.values()]
    if not pairs or (fields and our_lone):
        listed = ", ".join(shown(column) for one in our_lone for column in one.columns)
        raise InvalidRecords(
            f"{right.name} has no column like {listed} of {left.name}",
            hint="give columns that hold the same thing the same name in both files",
        )
    left_out |= {column: NOT_THERE for one in our_lone for column in one.columns}
    right_out |= {column: NOT_THERE for one in their_lone for column in one.columns}
    if not fields:
        ours, theirs = [ours[i] for i in sorted(pairs)], [theirs[pairs[i]] for i in sorted(pairs)]
        out = repeated_in_either((left, ours), (right, theirs))
        left_out |= reasons(ours, out)
        right_out |= reasons(theirs, out)
        pairs = {place: place for place in range(len(ours)) if place not in out}
    both = [reconciled(ours[i], theirs[j]) for i, j in sorted(pairs.items())]
    # a name whose meaning is known goes before one that is merely spelt like it
    names = unique_names(
        [our.heading if our.heading.canonical else their.heading for our, their in both]
    )
    return (
        as_proposal(left, left_id, names, [our for our, _ in both], left_out),
        as_proposal(right, right_id, names, [their for _, their in both], right_out),
    )


def repeated_in_either(
    left: tuple[Sample, Sequence[Candidate]], right: tuple[Sample, Sequence[Candidate]]
) -> dict[int, Repeat]:
    """The paired columns that repeat others in the left file, or what is left in the right one."""
    out = repeated(*left)
    rest = [place for place in range(len(right[1])) if place not in out]
    found = repeated(right[0], [right[1][place] for place in rest])
    for place, one in found.items():
        out[rest[place]] = replace(one, of=tuple(rest[other] for other in one.of))
    return resolved(out)


def paired(ours: Sequence[Candidate], theirs: Sequence[Candidate]) -> dict[int, int]:
    """The columns that hold the same thing: by name, by meaning, or by similar spelling and kind.

    If two columns of a file would fit, neither is taken.
    """
    pairs: dict[int, int] = {}
    for alike in (_same_name, _same_meaning, _close):
        left = [i for i in range(len(ours)) if i not in pairs]
        right = [j for j in range(len(theirs)) if j not in pairs.values()]
        found = [(i, j) for i in left for j in right if alike(ours[i], theirs[j])]
        for i, j in found:
            if sum(i == one or j == other for one, other in found) == 1:
                pairs[i] = j
    return pairs


def _same_name(our: Candidate, their: Candidate) -> bool:
    return squeezed(our.heading.column) == squeezed(their.heading.column)


def _same_meaning(our: Candidate, their: Candidate) -> bool:
    return our.heading.canonical == their.heading.canonical != ""


def _close(our: Candidate, their: Candidate) -> bool:
    """Whether two columns of the same kind have nearly the same name.

    Each word is close to its counterpart, and numbers are equal: address_2 is not address_1.
    """
    if our.guess.kind != their.guess.kind:
        return False
    names = our.heading.name, their.heading.name
    digits = ["".join(filter(str.isdigit, name)) for name in names]
    if digits[0] != digits[1]:
        return False
    words = [name.split("_") for name in names]
    if len(words[0]) != len(words[1]):
        return _likeness(*map(squeezed, names)) >= CLOSE_NAMES
    return all(_likeness(*both) >= CLOSE_WORDS for both in zip(*words, strict=True))


def _likeness(one: str, other: str) -> float:
    return SequenceMatcher(None, one, other, autojunk=False).ratio()


def reconciled(our: Candidate, their: Candidate) -> tuple[Candidate, Candidate]:
    """Both candidates with the same settings, except those that are each owner's own."""
    one, other = our.guess, their.guess
    checks = []
    if not _same_name(our, their) and not _same_meaning(our, their):
        checks.append(BY_SPELLING)
    if one.kind != other.kind:
        checks.append(TWO_KINDS.format(*sorted((one.kind, other.kind))))
        one, other = _as_text(one), _as_text(other)
    if one.alphabet[:1] != other.alphabet[:1]:  # an alphabet begins with a letter of its script
        checks.append(TWO_SCRIPTS)
    symbols = {*one.alphabet, *other.alphabet}
    alphabet = "".join(symbol for symbol in EVERY_SYMBOL if symbol in symbols)
    length = max(one.length, other.length)
    share = max(one.share, other.share)
    if one.kind == "category":
        if one.length != other.length:
            checks.append(TWO_LENGTHS)
        if our.heading.meaning == "sex":  # whose first letter may be enough
            length = min(one.length, other.length)
        length = min(length, MOST_SYMBOLS // len(alphabet))

    def agreed(guess: Guess) -> Guess:
        settings = replace(guess, alphabet=alphabet, length=length, share=share)
        return replace(settings, checks=(*guess.checks, *checks))

    return replace(our, guess=agreed(one)), replace(their, guess=agreed(other))


def _as_text(guess: Guess) -> Guess:
    if guess.kind == "text":
        return guess
    alphabet = ALPHABET + DIGITS + guess.alphabet
    checks = tuple(check for check in guess.checks if check == PLACEHOLDERS)
    length, share = LENGTHS["text"], guess.share
    return Guess("text", alphabet, length, missing=guess.missing, checks=checks, share=share)
