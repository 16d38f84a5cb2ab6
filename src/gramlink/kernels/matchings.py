"""Matchings: sets of pairs in which no record is twice, each as likely as its pairs' odds say.

A component is a set of pairs that no record connects with others. Of a component with one record
on a side, or with few on one, probabilities are exact: sums over all its matchings, which a table
over the subsets of the smaller side makes. Of a larger one they are what belief propagation says
(Bayati, Gamarnik, Katz, Nair, Tetali 2007): exact where pairs form a tree, and near elsewhere.
"""

import numpy as np
import numpy.typing as npt

from gramlink.kernels.jit import Int, serial

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]

FEW = 8  # records on the smaller side of a component that is summed over exactly
ROUNDS, SETTLED = 200, 1e-7
MANY = 300  # records on the smaller side of a component whose heaviest set takes too long


@serial
def components(left: Ints, right: Ints, lefts: Int, rights: Int) -> Ints:
    """A number for each pair: pairs that share records, or are connected by such, have the same."""
    parent = np.arange(lefts + rights)
    for pair in range(len(left)):
        a, b = left[pair], lefts + right[pair]
        while parent[a] != a:
            parent[a] = parent[parent[a]]
            a = parent[a]
        while parent[b] != b:
            parent[b] = parent[parent[b]]
            b = parent[b]
        parent[max(a, b)] = min(a, b)
    result = np.empty(len(left), np.int64)
    for pair in range(len(left)):
        a = left[pair]
        while parent[a] != a:
            a = parent[a]
        result[pair] = a
    return result


@serial
def _numbered(records: Ints, places: Ints) -> tuple[Ints, int]:
    """The records by small numbers, as they appear; `places` is scratch, and all -1."""
    numbers = np.empty(len(records), np.int64)
    count = 0
    for pair in range(len(records)):
        if places[records[pair]] < 0:
            places[records[pair]] = count
            count += 1
        numbers[pair] = places[records[pair]]
    for pair in range(len(records)):
        places[records[pair]] = -1
    return numbers, count


@serial
def _exact(many: Ints, few: Ints, odds: Floats, manies: Int, fews: Int) -> Floats:
    """Each pair's probability, by the weights of all matchings.

    `before[i][s]` is the weight of the matchings of the first i of the many that use the set s
    of the few; `after[i][s]` that of the matchings of the rest that use none of s.
    """
    starts = np.zeros(manies + 1, np.int64)
    for pair in range(len(many)):
        starts[many[pair] + 1] += 1
    starts = np.cumsum(starts)
    order, ends = np.empty(len(many), np.int64), starts.copy()
    for pair in range(len(many)):
        order[ends[many[pair]]] = pair
        ends[many[pair]] += 1
    sets = 1 << fews
    before = np.zeros((manies + 1, sets))
    after = np.zeros((manies + 1, sets))
    before[0, 0] = 1.0
    for i in range(manies):
        before[i + 1] = before[i]
        for place in range(starts[i], starts[i + 1]):
            bit = 1 << few[order[place]]
            for s in range(sets):
                if s & bit:
                    before[i + 1, s] += before[i, s ^ bit] * odds[order[place]]
    after[manies] = 1.0
    for i in range(manies - 1, -1, -1):
        after[i] = after[i + 1]
        for place in range(starts[i], starts[i + 1]):
            bit = 1 << few[order[place]]
            for s in range(sets):
                if not s & bit:
                    after[i, s] += after[i + 1, s | bit] * odds[order[place]]
    result = np.zeros(len(many))
    for i in range(manies):
        for place in range(starts[i], starts[i + 1]):
            pair = order[place]
            bit = 1 << few[pair]
            for s in range(sets):
                if not s & bit:
                    result[pair] += before[i, s] * odds[pair] * after[i + 1, s | bit]
            result[pair] /= after[0, 0]
    return result


@serial
def _apart(records: Ints, terms: Floats, count: Int) -> tuple[Floats, Ints, Floats]:
    """For each record its largest term, whose it is, and the sum of its other terms."""
    largest, whose, others = np.zeros(count), np.full(count, -1), np.zeros(count)
    for pair in range(len(records)):
        record, term = records[pair], terms[pair]
        if whose[record] < 0 or term > largest[record]:
            others[record] += largest[record]
            largest[record], whose[record] = term, pair
        else:
            others[record] += term
    return largest, whose, others


@serial
def _free(records: Ints, terms: Floats, count: Int, old: Floats) -> Floats:
    """How likely each record of a pair has no other match, half way from what was thought."""
    largest, whose, others = _apart(records, terms, count)
    result = np.empty(len(records))
    for pair in range(len(records)):
        record = records[pair]
        rest = others[record]
        if whose[record] != pair:
            rest = max(rest - terms[pair], 0.0) + largest[record]
        result[pair] = np.sqrt(old[pair] / (1 + rest))
    return result


@serial
def swept(
    left: Ints, right: Ints, odds: Floats, lefts: Int, rights: Int, ours: Floats, theirs: Floats
) -> tuple[Floats, Floats, Floats]:
    """Each pair's probability once the records have told each other of their pairs once more.

    `ours` and `theirs` say how likely the left and the right record of a pair are free for it;
    what they are now comes after the probabilities.
    """
    ours, theirs = (
        _free(left, odds * theirs, lefts, ours),
        _free(right, odds * ours, rights, theirs),
    )
    both = odds * ours * theirs
    return both / (1 + both), ours, theirs


@serial
def _propagated(left: Ints, right: Ints, odds: Floats, lefts: Int, rights: Int) -> Floats:
    """Each pair's probability, by what the records tell each other."""
    ours, theirs = np.ones(len(odds)), np.ones(len(odds))
    result = np.zeros(len(odds))
    for _ in range(ROUNDS):
        before = result
        result, ours, theirs = swept(left, right, odds, lefts, rights, ours, theirs)
        if np.abs(result - before).max() <= SETTLED:
            break
    # so that no record's matches are likelier together than one, whatever is left to settle
    by_left, by_right = np.ones(lefts), np.ones(rights)
    for pair in range(len(odds)):
        by_left[left[pair]] += odds[pair] * theirs[pair]
        by_right[right[pair]] += odds[pair] * ours[pair]
    for pair in range(len(odds)):
        most = min(
            odds[pair] * theirs[pair] / by_left[left[pair]],
            odds[pair] * ours[pair] / by_right[right[pair]],
        )
        result[pair] = min(result[pair], most)
    return result


@serial
def one_to_one(
    left: Ints, right: Ints, odds: Floats, starts: Ints, lefts: Int, rights: Int
) -> Floats:
    """The probability of each pair, if each record has one match at most.

    Pairs come component by component: the first pair of component c is `starts[c]`, and the last
    of `starts` is the number of pairs.
    """
    result = np.empty(len(odds))
    left_places, right_places = np.full(lefts, -1), np.full(rights, -1)
    for component in range(len(starts) - 1):
        low, high = starts[component], starts[component + 1]
        one_left = one_right = True
        whole = 1.0
        for pair in range(low, high):
            one_left &= left[pair] == left[low]
            one_right &= right[pair] == right[low]
            whole += odds[pair]
        if one_left or one_right:
            result[low:high] = odds[low:high] / whole
            continue
        ours, manies = _numbered(left[low:high], left_places)
        theirs, fews = _numbered(right[low:high], right_places)
        if min(manies, fews) > FEW:
            result[low:high] = _propagated(ours, theirs, odds[low:high], manies, fews)
        elif manies < fews:
            result[low:high] = _exact(theirs, ours, odds[low:high], fews, manies)
        else:
            result[low:high] = _exact(ours, theirs, odds[low:high], manies, fews)
    return result


@serial
def heaviest(
    left: Ints, right: Ints, gains: Ints, starts: Ints, lefts: Int, rights: Int
) -> npt.NDArray[np.bool_]:
    """Which pairs make the set with the most gain in which no record is twice, exactly.

    Pairs come component by component, and gains are above 0. Of several such sets it is one that
    follows from the order of the pairs. A component with more than `MANY` records on both sides
    takes its pairs one by one, the most gain first.
    """
    chosen = np.zeros(len(left), np.bool_)
    left_places, right_places = np.full(lefts, -1), np.full(rights, -1)
    for component in range(len(starts) - 1):
        low, high = starts[component], starts[component + 1]
        if high - low == 1:
            chosen[low] = True
            continue
        ours, some = _numbered(left[low:high], left_places)
        theirs, others = _numbered(right[low:high], right_places)
        if min(some, others) > MANY:
            chosen[low:high] = _one_by_one(ours, theirs, gains[low:high], some, others)
        elif some <= others:
            chosen[low:high] = _assigned(ours, theirs, gains[low:high], some, others)
        else:
            chosen[low:high] = _assigned(theirs, ours, gains[low:high], others, some)
    return chosen


@serial
def _one_by_one(
    left: Ints, right: Ints, gains: Ints, lefts: Int, rights: Int
) -> npt.NDArray[np.bool_]:
    chosen = np.zeros(len(left), np.bool_)
    ours, theirs = np.zeros(lefts, np.bool_), np.zeros(rights, np.bool_)
    for pair in np.argsort(-gains, kind="mergesort"):
        if not ours[left[pair]] and not theirs[right[pair]]:
            ours[left[pair]] = theirs[right[pair]] = chosen[pair] = True
    return chosen


@serial
def _assigned(
    rows: Ints, columns: Ints, gains: Ints, count: Int, most: Int
) -> npt.NDArray[np.bool_]:
    """The Hungarian method with potentials: each row gets a column, or none for no gain."""
    pair_of = np.full((count, most + count), -1)  # the columns beyond `most` stand for none
    for pair in range(len(rows)):
        pair_of[rows[pair], columns[pair]] = pair
    width = most + count
    row_price, column_price = np.zeros(count + 1, np.int64), np.zeros(width + 1, np.int64)
    row_of = np.zeros(width + 1, np.int64)  # of each column, counted from 1; 0 is none
    way = np.zeros(width + 1, np.int64)
    for row in range(1, count + 1):
        row_of[0] = row
        here = 0
        slack = np.full(width + 1, np.iinfo(np.int64).max)
        seen = np.zeros(width + 1, np.bool_)
        while True:
            seen[here] = True
            at = row_of[here]
            least, there = np.iinfo(np.int64).max, 0
            for column in range(1, width + 1):
                if seen[column]:
                    continue
                pair = pair_of[at - 1, column - 1]
                gain = gains[pair] if pair >= 0 else 0
                rest = -gain - row_price[at] - column_price[column]
                if rest < slack[column]:
                    slack[column], way[column] = rest, here
                if slack[column] < least:
                    least, there = slack[column], column
            for column in range(width + 1):
                if seen[column]:
                    row_price[row_of[column]] += least
                    column_price[column] -= least
                else:
                    slack[column] -= least
            here = there
            if row_of[here] == 0:
                break
        while here:
            row_of[here] = row_of[way[here]]
            here = way[here]
    chosen = np.zeros(len(rows), np.bool_)
    for column in range(1, most + 1):
        if row_of[column] and pair_of[row_of[column] - 1, column - 1] >= 0:
            chosen[pair_of[row_of[column] - 1, column - 1]] = True
    return chosen
