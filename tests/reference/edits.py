"""What edits are: edit distance, everything one edit can do, and the public error model."""

from collections.abc import Mapping, Sequence

Choices = Mapping[str, Sequence[str]]

WORD = 2**64
GOLDEN = 0x9E3779B97F4A7C15


def levenshtein(one: str, other: str) -> int:
    """The least number of insertions, deletions and substitutions between two texts."""
    row = list(range(len(other) + 1))
    for i, symbol in enumerate(one, start=1):
        above, row = row, [i]
        for j, its in enumerate(other, start=1):
            row.append(min(above[j] + 1, row[j - 1] + 1, above[j - 1] + (symbol != its)))
    return row[-1]


def neighbours(text: str, symbols: str) -> set[str]:
    """Every text that one edit makes of this one; the empty one too, though it is missing."""
    places = range(len(text))
    deleted = {text[:i] + text[i + 1 :] for i in places}
    substituted = {text[:i] + s + text[i + 1 :] for i in places for s in symbols}
    inserted = {text[:i] + s + text[i:] for i in range(len(text) + 1) for s in symbols}
    return (deleted | substituted | inserted) - {text}


def uniform(symbols: str) -> tuple[Choices, Choices]:
    """Substitutes and insertions for each symbol: any of the alphabet, never the catch-all."""
    alphabet = symbols[:-1]
    substitutes = {s: [other for other in alphabet if other != s] for s in symbols}
    return substitutes, {s: list(alphabet) for s in symbols}


def scramble(state: int) -> int:
    """The output function of splitmix64 (Steele, Lea and Flood 2014)."""
    state = (state ^ (state >> 30)) * 0xBF58476D1CE4E5B9 % WORD
    state = (state ^ (state >> 27)) * 0x94D049BB133111EB % WORD
    return state ^ (state >> 31)


class Random:
    """splitmix64, one number at a time."""

    def __init__(self, state: int) -> None:
        self.state = state % WORD

    def below(self, bound: int) -> int:
        """The next number below a bound, from the upper 32 bits."""
        self.state = (self.state + GOLDEN) % WORD
        return (scramble(self.state) >> 32) * bound >> 32


def seed_of(codes: Sequence[int], seed: int) -> int:
    """The generator's first state for a text: its symbols and the seed, hashed."""
    state = seed
    for code in codes:
        state = ((state ^ code) * 0x100000001B3 + GOLDEN) % WORD
    return scramble(state)


def random_edit(text: str, random: Random, substitutes: Choices, insertions: Choices) -> str:
    """Delete, insert or substitute one symbol, each as likely; a last symbol is not deleted."""
    operations = ["delete", "insert", "substitute"] if len(text) > 1 else ["insert", "substitute"]
    operation = operations[random.below(len(operations))]
    if operation == "insert":
        place = random.below(len(text) + 1)
        choices = insertions[text[min(place, len(text) - 1)]]
        return text[:place] + choices[random.below(len(choices))] + text[place:]
    place = random.below(len(text))
    if operation == "delete":
        return text[:place] + text[place + 1 :]
    choices = substitutes[text[place]]
    return text[:place] + choices[random.below(len(choices))] + text[place + 1 :]
