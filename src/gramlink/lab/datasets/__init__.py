"""Bundled lists and persons to try gramlink with, and typos to put into them."""

from gramlink.lab.datasets.corruption import corrupt
from gramlink.lab.datasets.febrl import febrl4
from gramlink.lab.datasets.lists import cities, sample, surnames
from gramlink.lab.datasets.persons import Persons, persons, register

__all__ = ["Persons", "cities", "corrupt", "febrl4", "persons", "register", "sample", "surnames"]
