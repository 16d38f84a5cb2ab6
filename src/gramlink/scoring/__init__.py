"""Scoring: how likely each candidate pair is a match, learnt without labels."""
