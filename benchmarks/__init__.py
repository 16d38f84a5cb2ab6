"""Measurements: time and memory, what mining finds, how well it links. Run by `make bench`."""
