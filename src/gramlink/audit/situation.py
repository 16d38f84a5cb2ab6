"""Situations: a case with registers, from what an owner has at hand; what is missing is made up."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from gramlink.audit.case import Case, Register, same_persons
from gramlink.audit.made_up import gathered, partner, registered
from gramlink.errors import InvalidParameter
from gramlink.records.reading import Records
from gramlink.records.schema import Schema

COVERAGES = (1.0, 0.9, 0.5)
MOST = 20_000  # records of a file; of more, a random sample
SEED = 2013


@dataclass(frozen=True, slots=True)
class Situation:
    """What to attack, and with which registers; `said` says what was made up or left out."""

    case: Case
    registers: tuple[Register, ...]
    said: tuple[str, ...]


def refuse_one_field(schema: Schema) -> None:
    """The veil hides records of several fields only, so that there is nothing to compare."""
    if len(schema.fields) < 2:
        raise InvalidParameter(
            "an audit needs records of several fields",
            hint="whoever has the base names nearly every record of one field: add fields",
        )


def situation(
    ours: Records,
    schema: Schema,
    theirs: Records | None = None,
    listed: Records | None = None,
    coverages: Sequence[float] = COVERAGES,
) -> Situation:
    """A case of our records, another owner's and a register.

    Without another owner's records, half of ours are taken for theirs, with errors as files have
    them, beside strangers whose values are those of different records. Without a register, the
    attacker has one of our persons as we have them, which is the worst case, and of the others.

    Privacy: for the owner alone; nothing leaves the process.
    """
    refuse_one_field(schema)
    source = np.random.default_rng(SEED)
    said = []
    if len(ours) > MOST:
        said.append(f"only {MOST:,} of the {len(ours):,} records are audited, chosen at random")
        ours = gathered(ours.name, [(ours, np.sort(source.permutation(len(ours))[:MOST]))])
    if theirs is None:
        theirs, of = partner(ours, schema, source)
        others = gathered("others", [(theirs, np.flatnonzero(of < 0))])
        said.append("the other owner's records are made up: half are of your persons, with errors")
    else:
        if len(theirs) > MOST:
            rows = np.sort(source.permutation(len(theirs))[:MOST])
            theirs = gathered(theirs.name, [(theirs, rows)])
        same = same_persons(ours, theirs, schema) if listed is None else np.full(0, -1)
        alone = np.setdiff1d(np.arange(len(theirs)), same)
        others = gathered("others", [(theirs, alone)])
    case = Case.of(ours, theirs, schema)
    if listed is not None:
        truth = same_persons(ours, listed, schema)
        both = (truth >= 0).sum() * (1 + len(theirs) / len(ours)) / max(len(listed), 1)
        register = Register(listed, truth, float(np.clip(both, 0.05, 0.98)))
        if not register.coverage:
            raise InvalidParameter(
                "the register has none of these persons, so it can name nobody",
                hint="try it without --register: the attacker then knows the persons themselves",
            )
        return Situation(case, (register,), tuple(said))
    said.append("the register is made up of the persons in the files, as they are there")
    registers = []
    for coverage in coverages:
        found, truth = registered(ours, others, schema, coverage, source)
        registers.append(Register(found, truth, coverage))
    return Situation(case, tuple(registers), tuple(said))
