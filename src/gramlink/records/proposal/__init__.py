"""Proposing a schema from a look at one owner's file, or at two owners' files.

headings      what the names of columns mean
placeholders  what usually stands for "not known"
guess         the kind and the settings of one column
repeats       which columns say what others say already
columns       which columns of a file become which fields
pair          which columns of two files belong together
proposal      the text of a linkage.toml
"""

from gramlink.records.proposal.columns import Sample, propose, read_sample
from gramlink.records.proposal.pair import propose_both
from gramlink.records.proposal.proposal import Proposal

__all__ = ["Proposal", "Sample", "propose", "propose_both", "read_sample"]
