"""Bundled lists to try gramlink with, and typos to put into them."""

from gramlink.datasets.corrupt import corrupt
from gramlink.datasets.lists import cities, sample, surnames

__all__ = ["cities", "corrupt", "sample", "surnames"]
