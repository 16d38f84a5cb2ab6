import math
from collections import Counter
from fractions import Fraction
from itertools import accumulate, pairwise, product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gramlink.embedding.base import Base
from gramlink.embedding.thresholds import (
    SEED,
    Case,
    coarse,
    highest,
    one_edit_bound,
    thresholds,
)
from gramlink.embedding.typos import MODELS
from gramlink.embedding.vectors import embed
from gramlink.errors import InvalidSchema
from gramlink.lab.datasets import corrupt, sample, surnames
from gramlink.records.choices import POLICIES
from gramlink.records.fields import ALPHABET, CATCH_ALL, Field
from gramlink.records.schema import Schema, checked_schema
from gramlink.records.strings import Strings
from reference import edits as editing
from reference import embedding
from reference import thresholds as definition
from strategies import AB, ABC, bases, frequent_grams, lists

EDITS = st.integers(1, 4)
NAMES = sample(surnames(), 2000, seed=2013)
NAME_BASE = Base(frequent_grams(NAMES))


def schema(policy, edits, *, symbols=AB, length=253, **settings):
    """A schema for texts over these symbols."""
    field = Field(name="name", alphabet=symbols[:-1], length=length)
    return Schema(fields=(field,), threshold=policy, edits=edits, **settings)


def columns(policy, texts, grams, edits, *, symbols=AB, **settings):
    """The thresholds by the package: for 0 edits, for 1, and so on."""
    agreed = schema(policy, edits, symbols=symbols, **settings)
    limits = thresholds(Strings.of(texts, symbols), Base(grams), agreed.fields[0], agreed)
    assert limits.shape == (len(texts), edits + 1)
    return limits.T.tolist()


def found(policy, texts, grams, edits, *, symbols=AB, **settings):
    """The thresholds by the package for just so many edits."""
    return columns(policy, texts, grams, edits, symbols=symbols, **settings)[-1]


def rising(define, texts, edits):
    """By the definition: for each number of edits the threshold, or that of fewer if larger."""
    alone = [[define(text, n) for text in texts] for n in range(1, edits + 1)]
    return list(accumulate(alone, lambda a, b: list(map(max, a, b)), initial=[0] * len(texts)))


def choices(model, symbols):
    """A model's tables as symbols."""
    typos = MODELS[model](symbols)
    return tuple(
        {symbols[i]: [symbols[s] for s in row[1 : 1 + row[0]]] for i, row in enumerate(table)}
        for table in (typos.substitutes, typos.insertions)
    )


@settings(deadline=None, max_examples=30)
@given(texts=lists(AB, max_size=5), grams=bases(AB), edits=EDITS)
def test_algorithm_2_agrees_with_the_definition(texts, grams, edits):
    expected = [[definition.paper(text, grams, n) for text in texts] for n in range(edits + 1)]
    assert columns("paper", texts, grams, edits) == expected


@settings(deadline=None, max_examples=5)
@given(text=st.text(AB, min_size=30, max_size=40), grams=bases(AB, longest=3), edits=EDITS)
def test_algorithm_2_agrees_with_the_definition_for_long_texts(text, grams, edits):
    assert found("paper", [text], grams, edits) == [definition.paper(text, grams, edits)]


def test_algorithm_2_counts_a_gram_once_for_a_position_that_two_occurrences_cover():
    # the middle A is covered by both AA, which is one gram: 1/4, not 2/4
    assert found("paper", ["AAA"], ("AA",), 1) == [1]
    assert Fraction(1, 4) * embedding.scale(("AA",)) ** 2 == 1


def test_algorithm_2_misses_a_substitution_that_gains_what_it_loses():
    # it counts the lost A and not the gained B: d² = 2 > 1
    assert found("paper", ["A"], ("A", "B"), 1) == [1]
    assert embedding.squared_distance("A", "B", ("A", "B")) == 2


@settings(deadline=None, max_examples=30)
@given(texts=lists(AB, max_size=5), grams=bases(AB), edits=EDITS)
def test_the_worst_case_agrees_with_the_definition(texts, grams, edits):
    texts = [text for text in texts if text]  # a missing value matches nothing anyway
    expected = [
        [definition.worst_case(text, grams, AB, n) for text in texts] for n in range(edits + 1)
    ]
    assert columns("worst-case", texts, grams, edits) == expected


@settings(deadline=None, max_examples=3)
@given(text=st.text(AB, min_size=50, max_size=60), grams=bases(AB))
def test_the_worst_case_agrees_with_the_definition_for_long_texts(text, grams):
    assert found("worst-case", [text], grams, 1) == [definition.worst_case(text, grams, AB, 1)]


def test_the_worst_case_of_253_symbols_loses_the_most_frequent_grams():
    # a B in the midst of AAAA... takes 6 AAAAAA away and makes no gram of the base
    assert found("worst-case", ["A" * 253], ("AAAAAA",), 1) == [36]


@settings(deadline=None)
@given(grams=bases(ABC), edits=EDITS, texts=st.lists(st.text(ABC), min_size=1, max_size=3))
def test_the_global_bounds_agree_with_the_definition(grams, edits, texts):
    n = len(texts)
    assert one_edit_bound(Base(grams)) == definition.one_edit_bound(grams)
    expected = [[definition.global_bound(grams, e)] * n for e in range(edits + 1)]
    assert columns("global", texts, grams, edits, symbols=ABC) == expected
    expected = [[definition.global_paper(1, 3, grams, e)] * n for e in range(edits + 1)]
    assert columns("global-paper", texts, grams, edits, symbols=ABC) == expected


@pytest.mark.parametrize("model", ["uniform", "keyboard"])
@settings(deadline=None, max_examples=25)
@given(
    texts=st.lists(st.text(AB, max_size=6), max_size=3),
    grams=bases(AB, longest=4),
    edits=EDITS,
    recall=st.sampled_from(["0.5", "0.9", "0.99"]),
    slack=st.integers(0, 2),
)
def test_calibration_agrees_with_the_definition(model, texts, grams, edits, recall, slack):
    length = max([1, *map(len, texts)]) + slack  # copies of the longest text may be cut

    def define(text, edits):
        return definition.calibrated(
            text,
            grams,
            AB,
            edits,
            recall=Fraction(recall),
            errors=choices(model, AB),
            length=length,
            seed=SEED,
        )

    settings = {"recall": float(recall), "errors": model, "length": length}
    limits = columns("calibrated", texts, grams, edits, **settings)
    assert limits == rising(define, texts, edits)
    alone = Case(
        Strings.of(texts, AB),
        Base(grams),
        Field(name="name", alphabet="AB", length=length),
        edits,
        float(recall),
        model,
    )
    assert POLICIES["calibrated"](alone).tolist() == [define(text, edits) for text in texts]


def test_calibration_agrees_with_the_definition_on_names_and_long_texts():
    symbols = ALPHABET + CATCH_ALL
    texts = [*NAMES[:5], "Å", "ÄÖÜ", " ".join(NAMES[:40])[:253]]
    texts = [text.translate(dict.fromkeys(map(ord, "ÅÄÖÜ"), CATCH_ALL)) for text in texts]
    assert len(texts[-1]) == 253
    grams = NAME_BASE.grams[:20]

    def define(text, edits):
        return definition.calibrated(
            text,
            grams,
            symbols,
            edits,
            recall=Fraction(9, 10),
            errors=editing.uniform(symbols),
            length=253,
            seed=SEED,
        )

    limits = columns("calibrated", texts, grams, 5, symbols=symbols, recall=0.9)
    assert limits == rising(define, texts, 5)


def test_a_high_recall_takes_more_samples():
    def define(text, edits):
        return definition.calibrated(
            text,
            ("A", "B", "AB"),
            AB,
            edits,
            recall=Fraction(996, 1000),
            errors=editing.uniform(AB),
            length=253,
            seed=SEED,
        )

    limits = columns("calibrated", ["ABBA"], ("A", "B", "AB"), 2, recall=0.996)
    assert limits == rising(define, ["ABBA"], 2)


# The promise of `worst-case` and of `global`: no text within the edits is missed.

PROMISED = [
    (AB, ("A",)),
    (AB, ("A", "B", CATCH_ALL)),
    (AB, ("AA", "AB", "BA", "BB")),
    (AB, ("A", "AA", "AAA", "ABA", "BAB", "A" + CATCH_ALL)),
    (AB, ("A", "B", "AB", "BBB", "ABAB")),
    (ABC, ("A", "B", "C", "AB", "BC", "CA", "AAA", "ABC")),
    (ABC, ("AB", "CC", "BAB")),
    (ABC, ("ABA", "BAB")),  # of ABCAB only the deletion of C gains both
]


def all_texts(symbols, longest):
    return ["".join(text) for n in range(1, longest + 1) for text in product(symbols, repeat=n)]


@pytest.mark.parametrize(("longest", "edits"), [(5, 1), (4, 2)])
@pytest.mark.parametrize(("symbols", "grams"), PROMISED, ids=lambda value: "-".join(value))
def test_no_text_within_the_edits_is_missed(symbols, grams, longest, edits):
    texts = all_texts(symbols[:-1], longest)
    worst = found("worst-case", texts, grams, edits, symbols=symbols)
    bound = definition.global_bound(grams, edits)
    reached = {text: {text} for text in texts}
    for _ in range(edits):
        steps = {near: editing.neighbours(near, symbols) for near in set().union(*reached.values())}
        reached = {
            text: near.union(*(steps[one] for one in near)) for text, near in reached.items()
        }
    copies = sorted(set().union(*reached.values()))
    rows = embed(Strings.of(copies, symbols), Base(grams)).coordinates.astype(int)
    vectors = dict(zip(copies, rows, strict=True))
    for text, threshold in zip(texts, worst, strict=True):
        near = np.array([vectors[one] for one in reached[text]])
        farthest = ((near - vectors[text]) ** 2).sum(axis=1).max()
        assert farthest <= threshold
        assert farthest <= bound
        if edits == 1:
            assert farthest == threshold  # and not a bit is given away


@pytest.mark.parametrize(
    ("text", "grams", "farthest", "squared"),
    [
        ("ABCAB", ("ABA", "BAB"), "ABAB", 2),
        ("AABABAA", ("AABB", "ABBA", "BBAA"), "AABBAA", 3),
        ("AA", ("AAA", "A"), "AAA", 10),
    ],
)
def test_a_deletion_or_an_insertion_can_lead_farther_than_any_substitution(
    text, grams, farthest, squared
):
    assert embedding.squared_distance(text, farthest, grams) == squared
    assert found("worst-case", [text], grams, 1, symbols=ABC) == [squared]


@settings(deadline=None, max_examples=60)
@given(text=st.text(AB, min_size=1, max_size=12), grams=bases(AB), data=st.data())
def test_no_text_after_random_edits_is_missed(text, grams, data):
    edits = data.draw(st.integers(1, 3))
    copy = text
    for _ in range(edits):
        copy = data.draw(st.sampled_from(sorted(editing.neighbours(copy, AB))))
    far = embedding.squared_distance(text, copy, grams)
    assert far <= found("worst-case", [text], grams, edits)[0]
    assert far <= found("global", [text], grams, edits)[0]


def test_the_bound_of_further_edits_is_rounded_down_exactly():
    # √2 + √2 = √8, which floats make 8.000000000000002
    assert found("worst-case", ["A"], ("A", "B"), 2) == [8]
    assert found("worst-case", ["A"], ("A", "B"), 3) == [18]


def patterns(length):
    """Every way in which some of so many symbols can be equal: 0 1 1 2 stands for ABBC."""
    if length == 0:
        yield ()
        return
    for start in patterns(length - 1):
        for symbol in range(max(start, default=-1) + 2):
            yield (*start, symbol)


def difference(before, after, q):
    """The squared distance in units of 1/q² over the base of all grams of length q."""
    counts = Counter(before[i : i + q] for i in range(len(before) - q + 1))
    counts.subtract(after[i : i + q] for i in range(len(after) - q + 1))
    return sum(count * count for count in counts.values())


def test_there_are_as_many_patterns_as_bell_numbers():
    assert [len(set(patterns(n))) for n in range(8)] == [1, 1, 2, 5, 15, 52, 203, 877]


@pytest.mark.parametrize("q", [1, 2, 3, 4, 5])
def test_one_edit_moves_no_text_beyond_the_global_bound_and_some_up_to_it(q):
    """Only grams that touch the edit change, so q-1 symbols either side are all there is.

    Fewer stand there near an end. Grams only ask which symbols are equal, so patterns of
    equality stand for all texts over all alphabets.
    """
    most = {"delete": 0, "substitute": 0}
    for left, right in product(range(q), repeat=2):
        for text in patterns(left + 1 + right):
            shorter = text[:left] + text[left + 1 :]
            # an insertion is the way back
            most["delete"] = max(most["delete"], difference(text, shorter, q))
            for symbol in range(max(text) + 2):
                other = (*text[:left], symbol, *text[left + 1 :])
                most["substitute"] = max(most["substitute"], difference(text, other, q))
    assert most == {"delete": q * q - q + 1, "substitute": q * q + q}
    assert most["substitute"] == one_edit_bound(Base(("A" * q,))) == q * q + q


def test_the_global_bound_is_attained_in_all_lengths_at_once():
    grams = tuple("".join(gram) for q in (1, 2, 3) for gram in product("AB", repeat=q))
    far = embedding.squared_distance("AAAAA", "AABAA", grams)
    assert far == one_edit_bound(Base(grams))
    assert math.sqrt(far) / 6 == pytest.approx(2.198, abs=5e-4)


def test_the_bound_that_the_paper_prints_is_false_for_one_length():
    # section 5.1: Δ_q·ed = 1, and 'A' to 'B' is √2
    field = Field(name="name", alphabet="AB", q_min=1, q_max=1)
    agreed = Schema(fields=(field,), threshold="global-paper", edits=1)
    limit = thresholds(Strings.of(["A"], AB), Base(("A", "B")), field, agreed)
    assert limit.tolist() == [[0, 1]]
    assert embedding.squared_distance("A", "B", ("A", "B")) == 2


# The promise of `calibrated`: a share of the corrupted copies stays within.


@pytest.mark.parametrize("model", ["uniform", "keyboard"])
@pytest.mark.parametrize("recall", [0.9, 0.99])
@pytest.mark.parametrize("edits", [1, 2])
def test_calibration_reaches_its_recall_on_fresh_typos(recall, model, edits):
    symbols = ALPHABET + CATCH_ALL
    names = Strings.of(NAMES, symbols)
    field = Field(name="name")
    agreed = Schema(fields=(field,), edits=edits, recall=recall, errors=model)
    limits = thresholds(names, NAME_BASE, field, agreed)[:, -1]
    own = embed(names, NAME_BASE).coordinates.astype(int)
    within = []
    for seed in range(5):
        copies = corrupt(names, edits, seed=seed, exactly=True, model=model)
        far = ((own - embed(copies, NAME_BASE).coordinates) ** 2).sum(axis=1)
        within.append(far <= limits)
    share = np.mean(within)
    assert share > recall - 5 * math.sqrt(recall * (1 - recall) / np.size(within))
    # and it is no promise for the worst case: many thresholds lie below that
    worst = found("worst-case", NAMES, NAME_BASE.grams, edits, symbols=symbols)
    assert np.mean(limits < worst) > 0.25


@settings(deadline=None, max_examples=20)
@given(texts=lists(AB, max_size=3), grams=bases(AB), edits=EDITS)
def test_a_higher_recall_has_no_lower_threshold(texts, grams, edits):
    limits = [
        found("calibrated", texts, grams, edits, recall=recall)
        for recall in (0.01, 0.1, 0.5, 0.75, 0.9, 0.99)
    ]
    for low, high in pairwise(limits):
        assert all(a <= b for a, b in zip(low, high, strict=True))


def test_recalls_far_apart_have_different_thresholds():
    low, high = (
        found("calibrated", ["ABBABA"], ("A", "B", "AB"), 2, recall=r) for r in (0.1, 0.99)
    )
    assert low < high


@pytest.mark.parametrize("policy", POLICIES)
@settings(deadline=None, max_examples=10)
@given(texts=lists(AB, max_size=4), grams=bases(AB), edits=EDITS)
def test_a_threshold_depends_on_the_text_and_not_on_its_row(policy, texts, grams, edits):
    alone = [found(policy, [text], grams, edits)[0] for text in texts]
    assert found(policy, texts[::-1] + texts, grams, edits) == alone[::-1] + alone


@pytest.mark.parametrize("policy", POLICIES)
@settings(deadline=None, max_examples=10)
@given(texts=lists(AB, max_size=4), grams=bases(AB), edits=st.integers(0, 5))
def test_more_edits_have_no_lower_threshold_and_fewer_edits_the_same(policy, texts, grams, edits):
    limits = columns(policy, texts, grams, edits)
    assert limits[0] == [0] * len(texts)
    for fewer, more in pairwise(limits):
        assert all(a <= b for a, b in zip(fewer, more, strict=True))
    for most in range(edits):
        assert columns(policy, texts, grams, most) == limits[: most + 1]


@pytest.mark.parametrize("policy", POLICIES)
def test_without_edits_every_threshold_is_0(policy):
    assert columns(policy, ["ABBA", "", "B"], ("A", "AB"), 0) == [[0, 0, 0]]


@pytest.mark.parametrize("policy", POLICIES)
def test_no_records_have_no_thresholds(policy):
    assert columns(policy, [], ("A", "AB"), 1) == [[], []]


@pytest.mark.parametrize("policy", POLICIES)
def test_thresholds_are_whole_numbers_of_64_bits(policy):
    agreed = schema(policy, 5)
    base = Base(("A", "AB", "AAABB", "BBBB"))
    limits = thresholds(Strings.of(["ABBA", ""], AB), base, agreed.fields[0], agreed)
    assert limits.dtype == np.int64


def test_a_policy_that_does_not_exist_is_refused():
    with pytest.raises(InvalidSchema, match="threshold"):
        checked_schema(fields=(Field(name="name"),), threshold="hopeful")


def test_a_field_may_have_edits_of_its_own():
    fields = (Field(name="one", alphabet="AB", edits=3), Field(name="other", alphabet="AB"))
    agreed = Schema(fields=fields, threshold="worst-case", edits=1)
    names, base = Strings.of(["ABBA", "A"], AB), Base(("A", "AB"))
    limits = [thresholds(names, base, field, agreed) for field in fields]
    assert [one.shape for one in limits] == [(2, 4), (2, 2)]
    assert limits[0][:, :2].tolist() == limits[1].tolist()
    assert limits[0].T.tolist() == columns("worst-case", ["ABBA", "A"], base.grams, 3)


# fields whose symbols count with their places

DATE = Field(name="born", kind="date")
CODE = Field(name="code", kind="category", alphabet="AB", length=4)


def placed(field, texts):
    return Strings.of(texts, field.spelling).placed(field.symbols)


@pytest.mark.parametrize("policy", POLICIES)
@pytest.mark.parametrize("field", [DATE, CODE], ids=["date", "category"])
@pytest.mark.parametrize("edits", [0, 1, 5])
def test_an_edit_of_a_placed_symbol_moves_by_2_whatever_the_policy(policy, field, edits):
    own = field.model_copy(update={"edits": edits})
    agreed = Schema(fields=(own,), threshold=policy)
    names = placed(field, ["1980", "A", ""])
    limits = thresholds(names, Base(field.public_grams), own, agreed)
    assert limits.dtype == np.int64
    assert limits.tolist() == [[2 * n for n in range(edits + 1)]] * 3


@settings(deadline=None)
@given(data=st.data(), field=st.sampled_from([DATE, CODE]))
def test_values_that_differ_in_so_many_places_lie_within_the_threshold_and_no_others(data, field):
    texts = st.text(field.alphabet, min_size=field.length, max_size=field.length)
    one, other = data.draw(texts), data.draw(texts)
    vectors = embed(placed(field, [one, other]), Base(field.public_grams))
    assert vectors.scale == 1
    rows = vectors.coordinates.astype(int)
    far = int(((rows[0] - rows[1]) ** 2).sum())
    assert far == 2 * sum(a != b for a, b in zip(one, other, strict=True))


@settings(deadline=None)
@given(data=st.data(), field=st.sampled_from([DATE, CODE]))
def test_a_symbol_that_is_unknown_is_half_as_far_as_one_that_is_wrong(data, field):
    text = data.draw(st.text(field.alphabet, min_size=field.length, max_size=field.length))
    place = data.draw(st.integers(0, field.length - 1))
    hidden = text[:place] + CATCH_ALL + text[place + 1 :]
    rows = embed(placed(field, [text, hidden]), Base(field.public_grams)).coordinates.astype(int)
    assert ((rows[0] - rows[1]) ** 2).sum() == 1


@given(
    squared=st.lists(st.integers(0, 10_000), max_size=20),
    scale=st.sampled_from([1, 2, 3, 6, 12, 60]),
)
def test_coarse_thresholds_are_rounded_up_to_whole_squares_of_the_scale(squared, scale):
    rounded = coarse(np.array(squared, np.int64), scale)
    assert rounded.dtype == np.int64
    assert rounded.tolist() == [definition.coarse(t, scale**2) for t in squared]
    assert all(t <= r < t + scale**2 for t, r in zip(squared, rounded.tolist(), strict=True))
    table = np.array([[0, t] for t in squared], np.int64).reshape(-1, 2)
    assert coarse(table, scale).tolist() == [[0, r] for r in rounded.tolist()]


@pytest.mark.parametrize("policy", POLICIES)
@settings(deadline=None, max_examples=40)
@given(texts=lists(AB), grams=bases(AB), edits=EDITS)
def test_no_policy_sets_a_threshold_above_the_highest(policy, texts, grams, edits):
    """Else a bundle of ours would be refused."""
    base = Base(grams)
    field = Field(name="name", alphabet=AB[:-1], length=253, q_min=1, q_max=6)
    agreed = Schema(fields=(field,), threshold=policy, edits=edits)
    limits = coarse(thresholds(Strings.of(texts, AB), base, field, agreed), base.scale)
    for e in range(edits + 1):
        assert limits[:, e].max(initial=0) <= highest(e, base.lengths)


@pytest.mark.parametrize("policy", POLICIES)
@pytest.mark.parametrize("length", range(1, 7))
def test_texts_in_which_one_edit_changes_most_stay_below_the_highest(policy, length):
    texts = ["A" * length, "A" * 40, "AB" * 20, "AAB" * 13, "AABB" * 10]
    grams = tuple("A" * q for q in range(1, length + 1)) + ("B", "AB")[:length]
    base = Base(grams)
    field = Field(name="name", alphabet=AB[:-1], length=253, q_min=1, q_max=6)
    agreed = Schema(fields=(field,), threshold=policy, edits=5)
    limits = coarse(thresholds(Strings.of(texts, AB), base, field, agreed), base.scale)
    most = [highest(e, base.lengths) for e in range(6)]
    assert (limits <= np.array(most)).all()


@pytest.mark.parametrize("kind", ["date", "category", "digits"])
def test_a_field_of_places_stays_below_the_highest(kind):
    field = Field(name="x", kind=kind, edits=5)
    base = Base(tuple(field.public_grams))
    agreed = Schema(fields=(field,))
    limits = thresholds(Strings.of(["1", ""], field.symbols), base, field, agreed)
    for e in range(6):
        assert limits[:, e].max() <= highest(e, base.lengths)


def test_the_highest_is_six_times_the_edits_squared_and_scaled():
    assert highest(0, (1, 2, 3)) == 0
    assert highest(1, (1,)) == 36
    assert highest(2, (1, 2, 3)) == (6 * 2 * 6) ** 2
    assert highest(5, (1, 2, 3, 4, 5, 6)) == 1800**2
