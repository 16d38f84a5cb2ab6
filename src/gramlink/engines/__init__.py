"""Engines: how a heavy step runs.

A heavy step is a function of a chunk (some rows, some strings, some pairs) that returns what it
found in it. An engine applies it to one chunk after another and returns the results in the
order of the chunks, so that links are the same whatever the engine, the number of threads and
the size of the chunks.

| step | the function of a chunk | |
|---|---|---|
| all near vectors | `matching.join.Join` | a block of left rows |
| candidate pairs with levels | `matching.passes.candidates` | left rows with their buckets |
| noise | `privacy.noise.Draw` | some of the counts |
| normalise | `records.reading.normalise` | any rows of a column |
| gram counts, for mining | `kernels.occurrences.distinct_grams` | any strings |
| embed, thresholds | `embedding.vectors.embed`, `embedding.thresholds.thresholds` | any strings |

The first three are cut up and run in order by `local`; the others are functions of whichever rows
they are given, and share them among threads within their kernels.
"""
