"""gramlink: links the records of organisations that may not show each other their records.

>>> import gramlink as gl
>>> sorted(gl.MINERS)[:3]
['exact', 'fpm', 'levelgram']
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from gramlink.bundles.bundle import Bundle
    from gramlink.bundles.pseudonyms import owner_key
    from gramlink.bundles.results import Results
    from gramlink.bundles.sealing import (
        Identity,
        Recipient,
        new_identity,
        read_identity,
        read_recipient,
        seal,
        unseal,
    )
    from gramlink.deciding.clusters import Clusters, cluster
    from gramlink.deciding.linkage import Linkage, decide_scored
    from gramlink.deciding.links import Links, decide
    from gramlink.embedding.base import Base, merge
    from gramlink.embedding.projection import Projection, agree
    from gramlink.embedding.thresholds import POLICIES, coarse
    from gramlink.embedding.vectors import Encoded, Vectors, embed
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
    from gramlink.lab.datasets import (
        Persons,
        cities,
        corrupt,
        febrl4,
        persons,
        sample,
        surnames,
    )
    from gramlink.lab.scores import Scores, score
    from gramlink.matching.comparison import Comparison
    from gramlink.matching.pairs import Pairs, match, match_batches, match_to_parquet
    from gramlink.matching.pass_choice import chosen_passes
    from gramlink.matching.passes import Pass, candidates
    from gramlink.mining.estimates import Estimates
    from gramlink.mining.mined import Mined, mine
    from gramlink.mining.miners import MINERS, mine_field, read_again
    from gramlink.parties.answers import admit, answer
    from gramlink.parties.linkage_unit import LinkageUnit, link_all
    from gramlink.parties.one_process import deduplicate, link
    from gramlink.parties.owner import Owner
    from gramlink.privacy.budget import Budget
    from gramlink.privacy.ledger import Charge, Ledger
    from gramlink.records.fields import Field
    from gramlink.records.quality import Quality, assess
    from gramlink.records.reading import Problem, Records, read_records
    from gramlink.records.schema import Schema, load_schema
    from gramlink.records.strings import Strings
    from gramlink.scoring.explanation import Explanation, explain
    from gramlink.scoring.model import Model

# Where each public name lives. Modules are imported when a name is first used, so that
# the command line answers at once.
_HOME = {
    "MINERS": "mining.miners",
    "POLICIES": "embedding.thresholds",
    "Base": "embedding.base",
    "Budget": "privacy.budget",
    "BudgetExceeded": "errors",
    "Bundle": "bundles.bundle",
    "Charge": "privacy.ledger",
    "Clusters": "deciding.clusters",
    "Comparison": "matching.comparison",
    "Encoded": "embedding.vectors",
    "Estimates": "mining.estimates",
    "Explanation": "scoring.explanation",
    "Field": "records.fields",
    "GramlinkError": "errors",
    "Identity": "bundles.sealing",
    "InvalidBase": "errors",
    "InvalidFile": "errors",
    "InvalidLedger": "errors",
    "InvalidParameter": "errors",
    "InvalidRecords": "errors",
    "InvalidSchema": "errors",
    "Ledger": "privacy.ledger",
    "Linkage": "deciding.linkage",
    "LinkageUnit": "parties.linkage_unit",
    "Links": "deciding.links",
    "Mined": "mining.mined",
    "Mismatch": "errors",
    "Model": "scoring.model",
    "Owner": "parties.owner",
    "Pairs": "matching.pairs",
    "Pass": "matching.passes",
    "Persons": "lab.datasets",
    "Problem": "records.reading",
    "Projection": "embedding.projection",
    "Quality": "records.quality",
    "Recipient": "bundles.sealing",
    "Records": "records.reading",
    "Refused": "errors",
    "Results": "bundles.results",
    "Schema": "records.schema",
    "Scores": "lab.scores",
    "Strings": "records.strings",
    "Unanswered": "errors",
    "Vectors": "embedding.vectors",
    "admit": "parties.answers",
    "agree": "embedding.projection",
    "answer": "parties.answers",
    "assess": "records.quality",
    "candidates": "matching.passes",
    "chosen_passes": "matching.pass_choice",
    "cities": "lab.datasets",
    "cluster": "deciding.clusters",
    "coarse": "embedding.thresholds",
    "corrupt": "lab.datasets",
    "decide": "deciding.links",
    "decide_scored": "deciding.linkage",
    "deduplicate": "parties.one_process",
    "embed": "embedding.vectors",
    "explain": "scoring.explanation",
    "febrl4": "lab.datasets",
    "link": "parties.one_process",
    "link_all": "parties.linkage_unit",
    "load_schema": "records.schema",
    "match": "matching.pairs",
    "match_batches": "matching.pairs",
    "match_to_parquet": "matching.pairs",
    "merge": "embedding.base",
    "mine": "mining.mined",
    "mine_field": "mining.miners",
    "new_identity": "bundles.sealing",
    "owner_key": "bundles.pseudonyms",
    "persons": "lab.datasets",
    "read_again": "mining.miners",
    "read_identity": "bundles.sealing",
    "read_recipient": "bundles.sealing",
    "read_records": "records.reading",
    "sample": "lab.datasets",
    "score": "lab.scores",
    "seal": "bundles.sealing",
    "surnames": "lab.datasets",
    "unseal": "bundles.sealing",
}
__all__ = list(_HOME)


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module 'gramlink' has no attribute {name!r}")
    return getattr(import_module(f"gramlink.{_HOME[name]}"), name)
