"""Measurements: time and memory, how well it links, what is given away. Run by `make bench`."""
