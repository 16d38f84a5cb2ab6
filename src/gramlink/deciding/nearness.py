"""Nearness: deciding on records of one field, by how near they are and what chance makes of that.

Distances fall into classes. How many matches there are in each is learnt from the pairs, and so is
the number of matches. How many pairs are so near by chance differs from record to record, since
short and common names have many neighbours and others have none: the left file itself tells,
compared with itself. All pairs are decided jointly, as those of several fields are.
"""

from dataclasses import dataclass

import numpy as np

from gramlink.deciding.joint import LEAST, Floats, Ints, Learner, log_shift, marginals
from gramlink.deciding.rules import Rule
from gramlink.matching.pairs import Pairs

QUARTERS = 4  # classes in a distance of 1, squared
MOST_CLASSES = 128
GROUPS = 8  # of left records, by their length
USUAL = 20.0  # records that what is usual in all groups is worth, in one of them
EQUAL = 0.5  # the share of matches that are equal, as one would guess; a guess is worth one match
UNLIKELY = 1000  # pairs by chance, of which one would guess that one is in a class
BELIEVED = 20.0  # pairs that the left file's word about a class is worth
FAINT = 1e-6  # a share
EVENLY = 0.01  # by how much left records differ in their number of neighbours, at least
ROUNDS, SETTLED = 200, 1e-4  # of learning, and the share of matches that may be left to change


@dataclass(frozen=True, slots=True, eq=False)
class Judged:
    """The probability of each pair, and how many matches there are, found or not."""

    probability: Floats
    matches: float


def judge(
    pairs: Pairs,
    within: Pairs,
    lengths: Ints,
    sizes: tuple[int, int],
    rule: Rule,
    coverage: float,
) -> Judged:
    """How likely each pair is a match, if the files have these sizes.

    `within` are the pairs within the left file, each both ways, and `lengths` how long each of its
    records is, in any unit. `coverage` is the share of matches that are near enough to be among
    the pairs.

    Pairs are in the order in which `match` finds them.
    """
    if not len(pairs):
        return Judged(np.zeros(0), 0.0)
    step = _step(pairs, within)
    classes, count = _classes(pairs, step), 1 + int(_classes(pairs, step).max())
    chance = Chance.of(within, step, groups_of(lengths), count)
    log_chance, by_chance = np.log(chance.of_pairs(pairs.left, classes)), chance.expected * sizes[1]
    of_all = np.bincount(classes, minlength=count)
    guess = np.full(count, (1 - EQUAL) / max(count - 1, 1))
    guess[0] = EQUAL
    shares = guess
    factor = np.ones(count)  # by which chance differs between the two files from within the left
    sides = zip(sizes, (rule.one_per_left, rule.one_per_right), strict=True)
    most = min((size for size, exclusive in sides if exclusive), default=sizes[0] * sizes[1])
    matches = min(sizes) / 2
    learner = Learner(pairs.left, pairs.right, sizes, rule)

    def log_odds() -> Floats:
        known = np.log(shares / factor)[classes] - log_chance
        spread = np.log(matches) - np.log(sizes[0]) - np.log(sizes[1])
        return np.asarray(known + spread + log_shift(matches, matches, sizes, rule))

    found = np.zeros(count)
    for _ in range(ROUNDS):
        probability = learner.nearer(log_odds())
        before, found = found, np.asarray(np.bincount(classes, probability, count), np.float64)
        matches = min(float(found.sum()) / coverage, most - LEAST)
        if matches <= FAINT:
            return Judged(np.zeros(len(pairs)), 0.0)
        shares = (found + guess) / (found + guess).sum()
        factor = np.asarray((of_all - found + BELIEVED) / (by_chance + BELIEVED))
        if np.abs(found - before).max() <= SETTLED * found.sum():
            break
    probability = marginals(pairs.left, pairs.right, log_odds(), rule)
    return Judged(probability, min(float(probability.sum()) / coverage, most))


@dataclass(frozen=True, slots=True, eq=False)
class Chance:
    """How likely a right record that is no match is in each class of a left record's distances.

    A left record has as many neighbours in a class as records of its length have on average, times
    how many neighbours it has in all classes; and as it has in its own file, which counts as much
    as one neighbour's word against that.
    """

    usual: Floats  # for each group and class, how many neighbours a left record has
    group: Ints  # of each left record
    density: Floats  # of each left record, how many times as many as usual
    keys: Ints  # left records and classes of neighbours within the left file, ascending
    counts: Ints

    @classmethod
    def of(cls, within: Pairs, step: int, group: Ints, classes: int) -> "Chance":
        """What the left file compared with itself tells."""
        records, groups = len(group), 1 + int(group.max(initial=0))
        near = np.flatnonzero(within.left != within.right)
        ours, of_class = within.left[near], _classes(within, step)[near]
        seen = of_class < classes
        ours, of_class = ours[seen], of_class[seen]
        keys, counts = np.unique(ours * classes + of_class, return_counts=True)
        share = max(records - 1, 1) / (records * (records - 1) + UNLIKELY)
        of_all = (np.bincount(of_class, minlength=classes) + 1) * share
        in_group = np.bincount(group[ours] * classes + of_class, minlength=groups * classes)
        members = np.bincount(group, minlength=groups)
        usual = (in_group.reshape(groups, classes) + USUAL * of_all) / (members[:, None] + USUAL)
        all_near = np.bincount(ours, minlength=records).astype(np.float64)
        sums, squares = (np.bincount(group, of, groups) / members for of in (all_near, all_near**2))
        mean = np.maximum(sums, usual.sum(axis=1))
        # the numbers of neighbours are Poisson's, of rates that are distributed as gamma's
        shape = mean**2 / np.maximum(squares - sums**2 - mean, EVENLY * mean)
        density = np.asarray((all_near + shape[group]) / (mean + shape)[group], np.float64)
        return cls(usual, group, density, keys, counts)

    @property
    def others(self) -> int:
        """How many records the neighbours of one are among."""
        return max(len(self.density) - 1, 1)

    def of_pairs(self, left: Ints, classes: Ints) -> Floats:
        """How likely each pair's right record is so near by chance."""
        usual = self.usual[self.group[left], classes] * self.density[left]
        keys = left * self.usual.shape[1] + classes
        if not len(self.keys):
            return np.asarray(_rate(usual, np.zeros(len(keys))) / self.others)
        places = np.minimum(np.searchsorted(self.keys, keys), len(self.keys) - 1)
        seen = np.where(self.keys[places] == keys, self.counts[places], 0)
        return np.asarray(_rate(usual, seen) / self.others)

    @property
    def expected(self) -> Floats:
        """In each class, how many pairs with one right record chance makes."""
        nothing, count = np.zeros(1), self.usual.shape[1]
        of_class = (self.usual[self.group, place] * self.density for place in range(count))
        sums = np.array([_rate(usual, nothing).sum() for usual in of_class])
        left, classes = np.divmod(self.keys, count)
        usual = self.usual[self.group[left], classes] * self.density[left]
        sums += np.bincount(classes, _rate(usual, self.counts) - _rate(usual, nothing), count)
        return np.asarray(sums / self.others)


def groups_of(lengths: Ints) -> Ints:
    """The group of each record, by number: records of about the same length, about as many in each.

    Records of the same length are in the same group.

    >>> groups_of(np.array([3, 9, 4, 3, 12, 5, 7, 8, 6])).tolist()
    [0, 5, 1, 0, 6, 2, 3, 4, 3]
    """
    _, place, counts = np.unique(lengths, return_inverse=True, return_counts=True)
    middle = np.cumsum(counts) - counts / 2
    of_length = np.minimum(middle / max(len(lengths), 1) * GROUPS, GROUPS - 1).astype(np.int64)
    return np.unique(of_length, return_inverse=True)[1][place].astype(np.int64)


def _rate(usual: Floats, seen: Floats | Ints) -> Floats:
    """The rate of neighbours to expect, if so many are seen and a rate is exponential at first."""
    return np.asarray((seen + 1) / (1 + 1 / usual))


def _step(pairs: Pairs, within: Pairs) -> int:
    """The width of a class of squared distances, times `QUARTERS`."""
    farthest = max(int(some.squared.max(initial=0)) for some in (pairs, within))
    return max(pairs.scale**2, -(-QUARTERS * farthest // MOST_CLASSES))


def _classes(pairs: Pairs, step: int) -> Ints:
    """The class of each pair: 0 for equal, and so on up to the farthest."""
    return np.asarray(-(-QUARTERS * pairs.squared // step))
