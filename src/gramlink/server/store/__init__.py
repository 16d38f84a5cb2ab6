"""Store: all that a unit keeps in tables, and all SQL there is."""

from gramlink.server.store.database import Store

__all__ = ["Store"]
