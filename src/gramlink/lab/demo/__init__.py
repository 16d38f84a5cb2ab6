"""The demo: three parties link bundled data, step by step.

Each party is a role of its own and gets nothing but the bytes that the others send it. All
files stay in one folder, so that every step can be read, or run again by hand.
"""

from gramlink.lab.demo.names import NamesDemo
from gramlink.lab.demo.persons import PersonsDemo
from gramlink.lab.demo.stage import Choices, Stage

__all__ = ["Choices", "NamesDemo", "PersonsDemo", "Stage"]
