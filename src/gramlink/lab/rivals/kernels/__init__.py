"""The rivals' hot loops: numba on plain arrays, by the same rules as `gramlink.kernels`.

module        what it has
levenshtein   edit distance on plain text
overlap       pairs of bags of grams that share enough
bloom         Bloom filters, and pairs that are near by Dice
lipschitz     distances to reference strings, and vectors of them that are near

Tests compare each with a definition in `tests/reference`.
"""
