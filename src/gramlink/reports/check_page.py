"""What `gramlink check` found, as one page that opens without a network."""

from collections.abc import Sequence

from gramlink.records.quality import Quality
from gramlink.records.suspicions import TOO_COMMON
from gramlink.reports.page import templates


def check_page(quality: Quality, warnings: Sequence[str] = ()) -> str:
    """The page as HTML, with warnings about the schema.

    Privacy: names columns and rows, and never says what a cell holds; the counts are exact,
    so it stays with the owner.
    """
    return (
        templates("reports")
        .get_template("reports/check.html")
        .render(quality=quality, warnings=warnings, common=TOO_COMMON)
    )
