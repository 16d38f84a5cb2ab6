"""gramlink: links the records of organisations that may not show each other their records.

>>> import gramlink as gl
>>> sorted(gl.MINERS)[:3]
['exact', 'fpm', 'levelgram']
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from gramlink.base import Base, merge
    from gramlink.bundle import Bundle
    from gramlink.datasets import cities, corrupt, sample, surnames
    from gramlink.embedding import Vectors, embed
    from gramlink.errors import (
        BudgetExceeded,
        GramlinkError,
        InvalidBase,
        InvalidFile,
        InvalidLedger,
        InvalidParameter,
        InvalidRecords,
        InvalidSchema,
        Mismatch,
    )
    from gramlink.evaluation import Scores, score
    from gramlink.ledger import Charge, Ledger
    from gramlink.linking import link
    from gramlink.links import Links, decide
    from gramlink.matching import Pairs, match, match_batches, match_to_parquet
    from gramlink.mined import Mined, mine
    from gramlink.mining import MINERS, Estimates, mine_field, read_again
    from gramlink.privacy import Budget
    from gramlink.projection import Projection, agree
    from gramlink.pseudonyms import owner_key
    from gramlink.records import Problem, Records, read_records
    from gramlink.roles import LinkageUnit, Owner
    from gramlink.schema import Field, Schema, load_schema
    from gramlink.strings import Strings
    from gramlink.thresholds import POLICIES, coarse

# Where each public name lives. Modules are imported when a name is first used, so that
# the command line answers at once.
_HOME = {
    "MINERS": "mining",
    "POLICIES": "thresholds",
    "Base": "base",
    "Budget": "privacy",
    "BudgetExceeded": "errors",
    "Bundle": "bundle",
    "Charge": "ledger",
    "Estimates": "mining",
    "Field": "schema",
    "GramlinkError": "errors",
    "InvalidBase": "errors",
    "InvalidFile": "errors",
    "InvalidLedger": "errors",
    "InvalidParameter": "errors",
    "InvalidRecords": "errors",
    "InvalidSchema": "errors",
    "Ledger": "ledger",
    "LinkageUnit": "roles",
    "Links": "links",
    "Mined": "mined",
    "Mismatch": "errors",
    "Owner": "roles",
    "Pairs": "matching",
    "Problem": "records",
    "Projection": "projection",
    "Records": "records",
    "Schema": "schema",
    "Scores": "evaluation",
    "Strings": "strings",
    "Vectors": "embedding",
    "agree": "projection",
    "cities": "datasets",
    "coarse": "thresholds",
    "corrupt": "datasets",
    "decide": "links",
    "embed": "embedding",
    "link": "linking",
    "load_schema": "schema",
    "match": "matching",
    "match_batches": "matching",
    "match_to_parquet": "matching",
    "merge": "base",
    "mine": "mined",
    "mine_field": "mining",
    "owner_key": "pseudonyms",
    "read_again": "mining",
    "read_records": "records",
    "sample": "datasets",
    "score": "evaluation",
    "surnames": "datasets",
}
__all__ = list(_HOME)


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module 'gramlink' has no attribute {name!r}")
    return getattr(import_module(f"gramlink.{_HOME[name]}"), name)
