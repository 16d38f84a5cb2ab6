"""Store: all that a unit keeps in tables, and all the SQL.

database     the file, and transactions over it
migrations   how the tables changed from version to version
exchanges, parties, tokens, jobs, log   the tables: rows are values, queries are methods
standings    how far many exchanges have come, in one query
"""

from gramlink.server.store.database import Store, Tables

__all__ = ["Store", "Tables"]
