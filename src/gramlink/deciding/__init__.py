"""Deciding: which pairs become links, possible links and clusters."""
