"""Limits: what can have been mined with a schema. Whatever another owner sends is held to them.

They follow from the schema alone, so that nothing which an owner could not have mined gets into a
base, where it would fail late or steer what the other owners count in their records.
"""

from collections.abc import Mapping, Sequence
from fractions import Fraction

from gramlink.mining.estimates import GRID, Estimates
from gramlink.mining.prefixes import Tree
from gramlink.records.choices import MINERS
from gramlink.records.fields import MARKS, Field
from gramlink.records.schema import Schema

MOST = 10**12  # of a count: more than there are people, and far above any noise


def mined_fault(schema: Schema, fields: Mapping[str, Estimates], epsilon: Fraction | None) -> str:
    """Why this cannot have been mined with the schema, or nothing if it can.

    >>> schema = Schema(fields=(Field(name="surname"),))
    >>> mined_fault(schema, {"surname": Estimates(("MA",), (Fraction(3),))}, Fraction(1))
    ''
    >>> mined_fault(schema, {"surname": Estimates(("MÉ",), (Fraction(3),))}, Fraction(1))
    "surname: the gram 'MÉ' has a symbol that is not in the alphabet"
    """
    mined = {field.name: field for field in schema.fields if field.mined}
    if fields.keys() != mined.keys():
        found, wanted = (", ".join(sorted(names)) or "none" for names in (fields, mined))
        return f"its fields are {found}, not {wanted}"
    for name, field in mined.items():
        fault = _estimates_fault(field, fields[name])
        if fault:
            return f"{name}: {fault}"
    return epsilon_fault(schema, epsilon)


def grams_fault(field: Field, grams: Sequence[object]) -> str:
    """Why these cannot be a field's most frequent grams, or nothing if they can."""
    if len(grams) > field.size:
        return f"it has {len(grams):,} grams, and at most {field.size:,} are mined"
    return next(filter(None, (_gram_fault(field, gram) for gram in grams)), "")


def epsilon_fault(schema: Schema, epsilon: Fraction | None) -> str:
    """Why mining cannot have cost this, or nothing if it can; each owner chooses its epsilon."""
    mined = [MINERS[field.miner] for field in schema.fields if field.mined]
    private = all(miner.private for miner in mined)
    if (epsilon is None) == private:
        return "it does not state its epsilon" if private else "without privacy there is no epsilon"
    if epsilon is not None and (epsilon > 0) != any(miner.reads_records for miner in mined):
        return f"mining cannot have cost epsilon {epsilon}"
    return ""


def _gram_fault(field: Field, gram: object) -> str:
    if not isinstance(gram, str):
        return "a gram is not text"
    shown = repr(gram[:20])
    if not field.q_min <= len(gram) <= field.q_max:
        return f"the gram {shown} has {len(gram):,} symbols, not {field.q_min} to {field.q_max}"
    if not set(gram) <= set(field.symbols):
        return f"the gram {shown} has a symbol that is not in the alphabet"
    start, end = MARKS[0], MARKS[1]
    inner = gram.removeprefix(start).removesuffix(end)
    if not inner or not set(inner).isdisjoint(MARKS):
        return f"the gram {shown} has a mark where no text starts or ends"
    return ""


def _estimates_fault(field: Field, found: Estimates) -> str:
    fault = grams_fault(field, found.grams)
    if fault:
        return fault
    for gram, count in zip(found.grams, found.counts, strict=True):
        if not 0 < count <= MOST or (count * GRID).denominator != 1:
            return f"the gram {gram!r} cannot have the count {float(count):g}"
    if (found.tree is not None) != MINERS[field.miner].tree:
        return f"{field.miner} {'gives' if found.tree is None else 'does not give'} a prefix tree"
    return _tree_fault(field, found.tree) if found.tree else ""


def _tree_fault(field: Field, tree: Tree) -> str:
    symbols = set(field.spelling)
    for prefix, count in tree.counts.items():
        if len(prefix) > field.height:
            return f"its prefix tree is more than {field.height} levels high"
        if not set(prefix) <= symbols:
            return f"its prefix {prefix[:20]!r} has a symbol that is not in the alphabet"
        if not 0 < count <= MOST:
            return f"its prefix {prefix[:20]!r} cannot have the count {count}"
    return ""
