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
    from gramlink.choosing import chosen_passes
    from gramlink.clusters import Clusters, cluster
    from gramlink.comparing import Comparison
    from gramlink.datasets import Persons, cities, corrupt, febrl4, persons, sample, surnames
    from gramlink.deciding import Linkage, decide_scored
    from gramlink.embedding import Encoded, Vectors, embed
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
        Refused,
        Unanswered,
    )
    from gramlink.evaluation import Scores, score
    from gramlink.explaining import Explanation, explain
    from gramlink.fields import Field
    from gramlink.ledger import Charge, Ledger
    from gramlink.linking import deduplicate, link
    from gramlink.links import Links, decide
    from gramlink.matching import Pairs, match, match_batches, match_to_parquet
    from gramlink.mined import Mined, mine
    from gramlink.mining import MINERS, Estimates, mine_field, read_again
    from gramlink.model import Model
    from gramlink.passes import Pass, candidates
    from gramlink.privacy import Budget
    from gramlink.projection import Projection, agree
    from gramlink.pseudonyms import owner_key
    from gramlink.quality import Quality, assess
    from gramlink.records import Problem, Records, read_records
    from gramlink.results import Results
    from gramlink.roles import LinkageUnit, Owner, admit, answer, link_all
    from gramlink.schema import Schema, load_schema
    from gramlink.sealing import (
        Identity,
        Recipient,
        new_identity,
        read_identity,
        read_recipient,
        seal,
        unseal,
    )
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
    "Clusters": "clusters",
    "Comparison": "comparing",
    "Encoded": "embedding",
    "Estimates": "mining",
    "Explanation": "explaining",
    "Field": "fields",
    "GramlinkError": "errors",
    "Identity": "sealing",
    "InvalidBase": "errors",
    "InvalidFile": "errors",
    "InvalidLedger": "errors",
    "InvalidParameter": "errors",
    "InvalidRecords": "errors",
    "InvalidSchema": "errors",
    "Ledger": "ledger",
    "Linkage": "deciding",
    "LinkageUnit": "roles",
    "Links": "links",
    "Mined": "mined",
    "Mismatch": "errors",
    "Model": "model",
    "Owner": "roles",
    "Pairs": "matching",
    "Pass": "passes",
    "Persons": "datasets",
    "Problem": "records",
    "Projection": "projection",
    "Quality": "quality",
    "Recipient": "sealing",
    "Records": "records",
    "Refused": "errors",
    "Results": "results",
    "Schema": "schema",
    "Scores": "evaluation",
    "Strings": "strings",
    "Unanswered": "errors",
    "Vectors": "embedding",
    "admit": "roles",
    "agree": "projection",
    "answer": "roles",
    "assess": "quality",
    "candidates": "passes",
    "chosen_passes": "choosing",
    "cities": "datasets",
    "cluster": "clusters",
    "coarse": "thresholds",
    "corrupt": "datasets",
    "decide": "links",
    "decide_scored": "deciding",
    "deduplicate": "linking",
    "embed": "embedding",
    "explain": "explaining",
    "febrl4": "datasets",
    "link": "linking",
    "link_all": "roles",
    "load_schema": "schema",
    "match": "matching",
    "match_batches": "matching",
    "match_to_parquet": "matching",
    "merge": "base",
    "mine": "mined",
    "mine_field": "mining",
    "new_identity": "sealing",
    "owner_key": "pseudonyms",
    "persons": "datasets",
    "read_again": "mining",
    "read_identity": "sealing",
    "read_recipient": "sealing",
    "read_records": "records",
    "sample": "datasets",
    "score": "evaluation",
    "seal": "sealing",
    "surnames": "datasets",
    "unseal": "sealing",
}
__all__ = list(_HOME)


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module 'gramlink' has no attribute {name!r}")
    return getattr(import_module(f"gramlink.{_HOME[name]}"), name)
