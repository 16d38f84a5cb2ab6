"""What the Lipschitz embedding with SparseMap's heuristics means, text by text."""

from collections.abc import Sequence
from itertools import combinations

from reference.edits import levenshtein

Set = Sequence[str]


def coordinates(text: str, sets: Sequence[Set], sigma: int) -> list[int]:
    """The least edit distance to the members of each set that look nearest so far."""
    found: list[int] = []
    for number, members in enumerate(sets):
        own = [coordinates(member, sets[:number], sigma) for member in members]
        ranked = sorted(range(len(members)), key=lambda place: squared(found, own[place]))
        found.append(min(levenshtein(text, members[place]) for place in ranked[:sigma]))
    return found


def squared(one: Sequence[int], other: Sequence[int]) -> int:
    """The squared distance of two vectors."""
    return sum((x - y) ** 2 for x, y in zip(one, other, strict=True))


def choose(texts: Sequence[str], candidates: Sequence[Set], size: int, sigma: int) -> list[Set]:
    """The sets that tell most pairs of texts apart, of those that none of this round has."""
    chosen: list[Set] = []
    rest = list(candidates)
    every = set(combinations(sorted({text for text in texts if text}), 2))
    left = every
    while len(chosen) < size:
        remaining = [alike(left, [*chosen, one], sigma) for one in rest]
        best = min(range(len(rest)), key=lambda place: len(remaining[place]))
        if left != every and remaining[best] == left:
            left = every
            continue
        chosen.append(rest.pop(best))
        left = remaining[best]
    return chosen


def alike(pairs: set[tuple[str, str]], sets: Sequence[Set], sigma: int) -> set[tuple[str, str]]:
    """The pairs of texts that are the same in the last coordinate."""
    texts = {text for pair in pairs for text in pair}
    last = {text: coordinates(text, sets, sigma)[-1] for text in texts}
    return {(one, other) for one, other in pairs if last[one] == last[other]}
