"""Commands for the linkage unit."""
