"""The parties: what each holds, checks and may do. No maths here."""

from gramlink.roles.answering import Answers, admit, answer, facts
from gramlink.roles.linkage_unit import LinkageUnit, link_all
from gramlink.roles.owner import Owner, for_the_unit

__all__ = [
    "Answers",
    "LinkageUnit",
    "Owner",
    "admit",
    "answer",
    "facts",
    "for_the_unit",
    "link_all",
]
