"""The demo: three parties link bundled data, step by step.

Each party has its own role and gets only the bytes that the others send it. All files stay in one
folder, so that every step can be inspected, or run again by hand.
"""

from gramlink.lab.demo.names import NamesDemo
from gramlink.lab.demo.persons import PersonsDemo
from gramlink.lab.demo.stage import Choices, Stage

__all__ = ["Choices", "NamesDemo", "PersonsDemo", "Stage"]
