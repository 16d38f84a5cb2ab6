"""Commands to try out and compare."""
