"""Bundled lists and persons to try gramlink with, and typos to put into them."""

from gramlink.datasets.corrupt import corrupt
from gramlink.datasets.febrl import febrl4
from gramlink.datasets.lists import cities, sample, surnames
from gramlink.datasets.persons import Persons, persons

__all__ = ["Persons", "cities", "corrupt", "febrl4", "persons", "sample", "surnames"]
