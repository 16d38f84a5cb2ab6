"""The prefix tree's consistency constraints, as free post-processing."""

import numpy as np
import numpy.typing as npt

from gramlink.kernels.jit import serial

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]


@serial
def decreasing(values: Floats) -> Floats:
    """The closest values that never increase: isotonic regression by pooling neighbours."""
    means = np.empty(len(values))
    sizes = np.empty(len(values), np.int64)
    pools = 0
    for value in values:
        means[pools] = value
        sizes[pools] = 1
        pools += 1
        while pools > 1 and means[pools - 2] < means[pools - 1]:
            total = sizes[pools - 2] + sizes[pools - 1]
            sum_ = means[pools - 2] * sizes[pools - 2] + means[pools - 1] * sizes[pools - 1]
            pools -= 1
            means[pools - 1] = sum_ / total
            sizes[pools - 1] = total
    result = np.empty(len(values))
    spot = 0
    for pool in range(pools):
        result[spot : spot + sizes[pool]] = means[pool]
        spot += sizes[pool]
    return result


@serial
def project(values: Floats, limit: float) -> Floats:
    """The closest point with no negative value and a sum of at most `limit`."""
    positive = np.maximum(values, 0.0)
    if positive.sum() <= limit:
        return positive
    if limit <= 0.0:
        return np.zeros(len(values))
    falling = np.sort(values)[::-1]
    total = 0.0
    cut = 0.0
    for i in range(len(falling)):
        total += falling[i]
        if falling[i] - (total - limit) / (i + 1) > 0:
            cut = (total - limit) / (i + 1)
    return np.maximum(values - cut, 0.0)


@serial
def consistent(counts: Floats, parents: Ints) -> Floats:
    """Counts that no longer contradict each other; siblings are adjacent, after their parents."""
    n = len(counts)
    has_child = np.zeros(n, np.bool_)
    for parent in parents:
        if parent >= 0:
            has_child[parent] = True
    sums = np.zeros(n)
    paths = np.zeros(n)
    way = np.empty(256, np.int64)
    for leaf in range(n):
        if has_child[leaf]:
            continue
        depth = 0
        node = leaf
        while node >= 0:
            way[depth] = node
            node = parents[node]
            depth += 1
        upward = way[:depth]
        smooth = decreasing(counts[upward[::-1]])
        for i in range(depth):
            sums[upward[depth - 1 - i]] += smooth[i]
            paths[upward[depth - 1 - i]] += 1
    result = sums / paths
    first = 0
    while first < n:
        last = first
        while last < n and parents[last] == parents[first]:
            last += 1
        if parents[first] < 0:
            result[first:last] = np.maximum(result[first:last], 0.0)
        else:
            result[first:last] = project(result[first:last], result[parents[first]])
        first = last
    return result
