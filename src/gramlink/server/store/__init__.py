"""Store: all that a unit keeps in tables, and all SQL there is.

database     the file, and transactions over it
migrations   how the tables came to be as they are
exchanges, parties, tokens, jobs, log   the tables: rows are values, queries are methods
"""

from gramlink.server.store.database import Store, Tables

__all__ = ["Store", "Tables"]
