"""Splink on the plain text of both files: what an expert gets who may read every record.

Its settings come from the kinds of the columns and from counts of equal values, never from
the truth. The u probabilities come from random pairs, the prior from strict rules, the m
probabilities from expectation maximisation. Both files must be free of duplicates.
"""

import logging
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import combinations
from time import perf_counter

import duckdb
import polars as pl
import splink.comparison_library as cl
from splink import DuckDBAPI, Linker, SettingsCreator, block_on
from splink.internals.comparison_creator import ComparisonCreator

PAIRS_FOR_U = 5e6
PAIRS_FOR_EM = 1e6
RECALL = 0.8  # a guess: the share of matches that agree on three unrelated fields
RULES_FOR_PRIOR = 12
PAIRS_PER_RULE = 1_000_000  # or, for large files:
PAIRS_PER_RULE_AND_ROW = 5

Columns = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Peer:
    """What Splink found: links best first, one to one, and what they cost."""

    links: list[tuple[str, str]]
    probabilities: list[float]
    seconds: float
    choosing: float  # seconds before that, to choose settings by the data
    candidates: int


def link(
    left: pl.DataFrame,
    right: pl.DataFrame,
    id_column: str,
    kinds: dict[str, str],
    *,
    threshold: float = 0.5,
) -> Peer:
    """Link two files; `kinds` says of each column: text, digits, date or category.

    The seconds are Splink's: the clock starts when its settings are chosen, as a user would
    write them by hand.
    """
    begun = perf_counter()
    left, right = (file.select(id_column, *kinds) for file in (left, right))
    groups = _groups(left, kinds)
    columns = sorted((c for g in groups for c in g), key=lambda c: _equal(left, right, (c,)))
    training = _training_rules(left, right, columns, groups)
    settings = SettingsCreator(
        link_type="link_only",
        unique_id_column_name=id_column,
        comparisons=_comparisons(groups, kinds, _dates(left, kinds)),
        blocking_rules_to_generate_predictions=[
            block_on(*rule) for rule in _rules(left, right, columns)
        ],
        retain_matching_columns=False,
    )
    started = perf_counter()
    database = DuckDBAPI(duckdb.connect())
    # Splink puts the file whose name sorts first on the left.
    files = [
        database.register(file.to_arrow(), dataset_display_name=name)
        for name, file in (("a", left), ("b", right))
    ]
    linker = Linker(files, settings, log_level=logging.ERROR)
    linker.training.estimate_probability_two_random_records_match(
        [block_on(*rule) for rule in _strict_rules(columns, groups)], recall=RECALL
    )
    linker.training.estimate_u_using_random_sampling(max_pairs=PAIRS_FOR_U, seed=1)
    for rule in training:
        linker.training.estimate_parameters_using_expectation_maximisation(
            block_on(*rule),
            estimate_without_term_frequencies=True,
            max_pairs=PAIRS_FOR_EM,
            record_sample_proportion=min(1, 50_000 / max(left.height, right.height)),
        )
    whole = (1, 1)  # the key under which predict() looks for pairs made before
    pairs = linker.inference.compute_blocked_pairs_for_predict_chunk(whole, whole)
    candidates = pairs.as_duckdbpyrelation().count("*").fetchall()[0][0]
    scored = linker.inference.predict(threshold_match_probability=threshold)
    ids = [f"{id_column}_l", f"{id_column}_r"]
    best = scored.as_duckdbpyrelation().pl().select(*ids, "match_weight", "match_probability")
    # Probabilities round to 1 and tie; weights do not.
    best = best.sort("match_weight", *ids, descending=[True, False, False])
    links = _one_to_one(best.select(*ids, "match_probability").iter_rows())
    return Peer(
        [(i, j) for i, j, _ in links],
        [probability for _, _, probability in links],
        perf_counter() - started,
        started - begun,
        candidates,
    )


def _strict_rules(columns: Sequence[str], groups: Sequence[Columns]) -> list[Columns]:
    """Three fields that do not go together: few pairs but matches agree on them."""
    group = {column: g for g in groups for column in g}
    size = min(3, len(groups))
    strict = [c for c in combinations(columns, size) if len({group[x] for x in c}) == size]
    return strict[:RULES_FOR_PRIOR]


def _training_rules(
    left: pl.DataFrame, right: pl.DataFrame, columns: Sequence[str], groups: Sequence[Columns]
) -> list[Columns]:
    """Two rules without a field in common, so that EM trains every field in one of them."""
    group = {column: g for g in groups for column in g}
    # Blocking on what a household shares would teach EM to find relatives.
    apart = sorted(columns, key=lambda c: len(group[c]))
    first = _training_rule(left, right, apart)
    used = {group[column] for column in first}
    second = _training_rule(left, right, [c for c in apart if group[c] not in used])
    # a rule with a field of every group would leave nothing to train
    rules = [rule for rule in (first, second) if 0 < len({group[c] for c in rule}) < len(groups)]
    return rules or ([tuple(apart[:1])] if len(groups) > 1 else [])


def _training_rule(left: pl.DataFrame, right: pl.DataFrame, columns: Sequence[str]) -> Columns:
    """The first of these columns, as many as leave EM no more than two pairs a row.

    Matches drown in larger blocks: EM on a million rows of equal dates finds strangers.
    """
    for size in range(1, len(columns)):
        if _equal(left, right, tuple(columns[:size])) <= 2 * max(left.height, right.height):
            return tuple(columns[:size])
    return tuple(columns)


def _rules(left: pl.DataFrame, right: pl.DataFrame, columns: Sequence[str]) -> list[Columns]:
    """Each field by itself if few pairs agree on it, and the others two by two."""
    most = max(PAIRS_PER_RULE, PAIRS_PER_RULE_AND_ROW * max(left.height, right.height))
    alone = [(c,) for c in columns if _equal(left, right, (c,)) <= most]
    common = [c for c in columns if (c,) not in alone]
    return alone + [p for p in combinations(common, 2) if _equal(left, right, p) <= most]


def _groups(file: pl.DataFrame, kinds: dict[str, str]) -> list[Columns]:
    """Fields that go together, as an address and a phone do in a household.

    Fellegi and Sunter's model takes fields as independent, and links relatives when they are
    not. No two rows of a file are one person, so that pairs within a file show how often
    fields agree by themselves: here, in a fifth of the pairs that agree on the rarer one and
    ten times as often as independent fields.
    """
    columns = [column for column, kind in kinds.items() if kind != "category"]
    alone = {column: _equal(file, file, (column,)) - _filled(file, column) for column in columns}
    every = file.height * (file.height - 1)
    group = {column: {column} for column in columns}
    for a, b in combinations(columns, 2):
        both = _equal(file, file, (a, b)) - _filled(file, a, b)
        rarer = min(alone[a], alone[b])
        if both >= max(40, rarer / 5) and both * every > 10 * alone[a] * alone[b]:
            union = group[a] | group[b]
            group.update(dict.fromkeys(union, union))
    return list(dict.fromkeys(tuple(c for c in columns if c in group[x]) for x in columns))


def _equal(left: pl.DataFrame, right: pl.DataFrame, columns: Columns) -> int:
    """The number of pairs that agree on all of these columns."""
    counts = [
        file.select(columns).drop_nulls().group_by(columns).len("rows") for file in (left, right)
    ]
    both = counts[0].join(counts[1], on=columns)
    return int(both.select(pl.col("rows").cast(pl.Int64).dot("rows_right")).item() or 0)


def _filled(file: pl.DataFrame, *columns: str) -> int:
    return file.select(columns).drop_nulls().height


def _comparisons(
    groups: Iterable[Columns], kinds: dict[str, str], dates: str
) -> list[ComparisonCreator]:
    fields = [
        _comparison(g[0], kinds[g[0]], dates) if len(g) == 1 else _together(g, kinds)
        for g in groups
    ]
    return fields + [_comparison(c, kind, dates) for c, kind in kinds.items() if kind == "category"]


def _dates(file: pl.DataFrame, kinds: dict[str, str]) -> str:
    """How the file writes dates: YYYY-MM-DD or YYYYMMDD."""
    columns = [column for column, kind in kinds.items() if kind == "date"]
    dashed = any(file[column].str.contains("-", literal=True).any() for column in columns)
    return "%Y-%m-%d" if dashed else "%Y%m%d"


def _comparison(column: str, kind: str, dates: str) -> ComparisonCreator:
    match kind:
        case "text":
            return cl.NameComparison(column)  # adjusts for term frequencies by itself
        case "digits":
            return cl.LevenshteinAtThresholds(column, [1, 2])
        case "date":
            return cl.DateOfBirthComparison(column, input_is_string=True, datetime_format=dates)
        case "category":
            return cl.ExactMatch(column)
    raise ValueError(f"a column is text, digits, date or category, not {kind}")


def _together(columns: Columns, kinds: dict[str, str]) -> ComparisonCreator:
    """One comparison of several fields: a level for each number of fields that agree."""
    agree = " + ".join(
        f'cast(coalesce(jaro_winkler_similarity("{c}_l", "{c}_r") >= 0.88, false) as int)'
        if kinds[c] == "text"
        else f'cast(coalesce(levenshtein("{c}_l", "{c}_r") <= 1, false) as int)'
        for c in columns
    )
    missing = " and ".join(f'("{c}_l" is null or "{c}_r" is null)' for c in columns)
    return cl.CustomComparison(
        [
            {"sql_condition": missing, "label_for_charts": "missing", "is_null_level": True},
            *(
                {"sql_condition": f"({agree}) >= {n}", "label_for_charts": f"{n} agree"}
                for n in range(len(columns), 0, -1)
            ),
            {"sql_condition": "ELSE", "label_for_charts": "none agree"},
        ],
        output_column_name="_".join(columns),
    )


def _one_to_one(pairs: Iterable[tuple[str, str, float]]) -> list[tuple[str, str, float]]:
    taken_left: set[str] = set()
    taken_right: set[str] = set()
    links = []
    for i, j, probability in pairs:
        if i not in taken_left and j not in taken_right:
            taken_left.add(i)
            taken_right.add(j)
            links.append((i, j, probability))
    return links
