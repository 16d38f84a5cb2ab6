"""Settings: a schema in a few lines, for an owner who is asked to agree to it.

What is not said is as usual; what is too long to be read is cut, and counted.
"""

from collections.abc import Iterator
from typing import Any

from gramlink.records.choices import VECTORS
from gramlink.records.fields import Field
from gramlink.records.schema import Schema

LONGEST = 100  # characters of a value
_OF_MINING = ("miner", "size", "q_min", "q_max")
_SAID = {"name", "kind", "column", *_OF_MINING}


def setting_lines(schema: Schema) -> Iterator[str]:
    """The settings that concern all fields.

    >>> for line in setting_lines(Schema(fields=(Field(name="surname"),))):
    ...     print(line)
    encoding vectors; up to 1 edit; threshold calibrated, recall 0.99, errors uniform
    decide one-to-one, accept 0.5, review 0.1; passes as the data suggest; no swaps
    """
    rows = "" if schema.encoding == VECTORS else f", rows {schema.rows}"
    edits = f"up to {schema.edits} edit{'' if schema.edits == 1 else 's'}"
    yield (
        f"encoding {schema.encoding}{rows}; {edits}; threshold {schema.threshold}, "
        f"recall {schema.recall}, errors {schema.errors}"
    )
    passes = _short([" + ".join(f"{k} {v}" for k, v in one.items()) for one in schema.passes])
    swaps = _short([" and ".join(pair) for pair in schema.swaps])
    yield (
        f"decide {schema.decide}, accept {schema.accept}, review {schema.review}; "
        f"passes {passes or 'as the data suggest'}; {f'swaps of {swaps}' if swaps else 'no swaps'}"
    )


def column_lines(schema: Schema) -> Iterator[str]:
    """Each column that is read, as what, and the settings of its field.

    >>> list(column_lines(Schema(fields=(Field(name="surname", column="Nachname", length=20),))))[1]
    'column Nachname as surname, text: levelgram, size 75, q 1 to 3; length 20'
    """
    yield f"column {_short([schema.id])} as the id, under a pseudonym" + (
        "" if schema.unique else "; a person may be in the file twice"
    )
    for field in schema.fields:
        said = f"column {_short([field.source])} as {field.name}, {field.kind}"
        if field.mined:
            said += f": {field.miner}, size {field.size}, q {field.q_min} to {field.q_max}"
        unusual = [f"{name} {_value(value)}" for name, value in _unusual(field)]
        yield "; ".join([said, *unusual])


def _unusual(field: Field) -> Iterator[tuple[str, Any]]:
    """The settings of a field that are not those of any field of its kind."""
    usual = Field(name=field.name, kind=field.kind)
    if field.mined:
        usual = Field(name=field.name, miner=field.miner)
    for name in type(field).model_fields:
        value = getattr(field, name)
        if name not in _SAID and value != getattr(usual, name):
            yield name, value


def _value(value: Any) -> str:
    if isinstance(value, tuple):
        return _short([repr(one) for one in value])
    if isinstance(value, dict):
        return _short([f"{one!r} = {other!r}" for one, other in value.items()])
    return _short([str(value)])


def _short(parts: list[str]) -> str:
    """The parts as one text, and how many there are if not all of it fits."""
    text = ", ".join(parts)
    if len(text) <= LONGEST:
        return text
    return f"{text[:LONGEST]} ..." + (f" ({len(parts):,} in all)" if len(parts) > 1 else "")
