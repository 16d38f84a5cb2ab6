"""Engines: how a heavy step runs.

A heavy step is a function of a chunk (some rows, some strings, some pairs) that returns what it
found in it. An engine applies it to one chunk after the other and gives back the results in the
order of the chunks, so that links are the same whatever the engine, the number of threads and
the size of the chunks.

| step | the function of a chunk |
|---|---|
| read and normalise | `records.reading.coded` |
| gram counts, for mining | `kernels.occurrences.distinct_grams` and `bounded_counts` |
| embed | `embedding.vectors.embed` |
| thresholds | `embedding.thresholds.thresholds` |
| all near vectors | `matching.join.Join.block` |
| candidate pairs with levels | `matching.passes.pairs_in` |
| pattern counts | `scoring.mixture.Patterns.of` |
"""
