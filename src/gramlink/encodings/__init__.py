"""Encodings: what a bundle shows of an owner's records, and what the linkage unit can do with it.

`encoding` is the seam: scoring, deciding, bundles, parties and server know no more of an encoding
than it says. Each encoding is one module beside it, registered in `registry`.
"""
