"""Encodings: what a bundle shows of an owner's records, and what the linkage unit can do with it.

`encoding` is the seam: scoring, deciding, bundles, parties and server know nothing more about an
encoding. Each encoding is one module beside it, registered in `records/choices`.
"""
