"""Matching: all pairs of records that are near enough to be looked at."""
