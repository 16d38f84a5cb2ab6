"""The parties: what each holds, checks and may do. No maths here."""

from gramlink.roles.linkage_unit import LinkageUnit, link_all
from gramlink.roles.owner import Owner

__all__ = ["LinkageUnit", "Owner", "link_all"]
