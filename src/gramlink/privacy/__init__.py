"""Noise, what it costs, and the ledger that pays for it."""
