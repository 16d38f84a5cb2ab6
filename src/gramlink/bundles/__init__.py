"""Bundles: the files that travel between the parties, and what seals them."""
