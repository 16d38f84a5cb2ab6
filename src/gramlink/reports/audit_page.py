"""What `gramlink audit` found, as one page that opens without a network."""

from collections.abc import Mapping
from typing import Any

from gramlink.reports.page import templates

CROWDS = ("1", "2 to 10", "11 to 100", "101 to 1,000", "more", "nothing is seen")


def audit_page(name: str, facts: Mapping[str, Any]) -> str:
    """The page as HTML, from the facts that `gramlink audit --json` prints.

    Privacy: counts and shares, and no value of any record; it is for the owner all the same.
    """
    rows: dict[tuple[str, str], dict[float, Any]] = {}
    for one in facts["attacks"]:
        rows.setdefault((one["encoding"], one["attack"]), {})[one["register"]] = one
    registers = sorted({one["register"] for one in facts["attacks"]}, reverse=True)
    veiled = [one for one in facts["attacks"] if one["encoding"] == "veiled"]
    worst = max(veiled, key=lambda one: one["named"]) if veiled else None
    return (
        templates("reports")
        .get_template("reports/audit.html")
        .render(name=name, facts=facts, rows=rows, registers=registers, worst=worst, crowds=CROWDS)
    )
