"""The veil: records that the linkage unit can compare only where they share a key of the owners.

For each record and each of its keys (surname and date of birth, say) an owner sends a row: a tag,
which is a keyed hash of the key's values, and a sketch of the record under a one-time pad that
follows from the same values. `docs/veil.md` has the construction, what it shows, and the proof.

population    what everybody knows about fields such as surnames
keys          what two records may share: values and parts of values
plan          which keys a record has, chosen with what is known of any population
sketch        parities of a value, and how many of them differ after so many edits
rows          what an owner sends
shared        what the linkage unit finds in the rows that two owners share
compared      the same as scoring sees it, with what chance and relatives make of it
veiled        the encoding
"""
