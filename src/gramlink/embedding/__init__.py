"""Embedding: records as counts of the grams in an agreed base, and how far away matches may lie."""
