import random
from collections import Counter

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gramlink.deciding.clusters import Clusters, cluster

OWNERS = ("a", "b", "c")
RECORD = st.tuples(st.sampled_from(OWNERS), st.sampled_from("12345"))
LINKS = st.lists(
    st.tuples(RECORD, RECORD, st.sampled_from([1.0, 2.0, 3.5, -1.0])).map(
        lambda link: (*sorted(link[:2]), link[2])
    ),
    max_size=25,
)
UNIQUE = st.sets(st.sampled_from(OWNERS))


def ordered(links):
    return sorted(links, key=lambda link: (-link[2], link[0], link[1]))


def connected(members, links):
    """Whether links within a group lead from one member to all others."""
    reached, before = {members[0]}, set()
    while reached != before:
        before = set(reached)
        for one, other, _ in links:
            if {one, other} & reached and {one, other} <= set(members):
                reached |= {one, other}
    return reached == set(members)


def slowly(links, unique, apart=0.0):
    """The definition: the likeliest pair first, and join its two groups if more speaks for it."""
    last = {frozenset((one, other)): odds for one, other, odds in reversed(ordered(links))}
    groups = [{record} for link in links for record in link[:2]]
    groups = [set(one) for one in {frozenset(group) for group in groups}]
    for one, other, odds in ordered(links):
        ours = next(group for group in groups if one in group)
        theirs = next(group for group in groups if other in group)
        owners = Counter(owner for owner, _ in ours | theirs)
        total = sum(last.get(frozenset((a, b)), apart) for a in ours for b in theirs)
        allowed = odds > 0 and ours is not theirs and total > 0
        if allowed and all(owners[owner] <= 1 for owner in unique):
            groups = [group for group in groups if group is not ours and group is not theirs]
            groups.append(ours | theirs)
    return tuple(sorted(tuple(sorted(group)) for group in groups if len(group) > 1))


@settings(deadline=None)
@given(links=LINKS, unique=UNIQUE, less=st.integers(0, 6), apart=st.sampled_from([0.0, -1.0, -4.0]))
def test_clusters_agree_with_the_definition(links, unique, less, apart):
    links = [(one, other, odds - less) for one, other, odds in links]
    assert cluster(links, unique, apart).members == slowly(links, unique, apart)


def test_a_chain_does_not_join_two_persons():
    one, two, three = ("a", "1"), ("a", "2"), ("a", "3")
    chain = [(one, two, 3.0), (two, three, 2.0)]
    assert cluster(chain).members == ((one, two, three),)
    assert cluster(chain, apart=-3.0).members == ((one, two),)
    assert cluster([*chain, (one, three, -1.0)], apart=-3.0).members == ((one, two, three),)
    assert cluster([*chain, (one, three, -2.5)], apart=-3.0).members == ((one, two),)


@settings(deadline=None)
@given(links=LINKS, unique=UNIQUE)
def test_a_cluster_has_one_record_of_a_unique_owner_and_a_record_one_cluster(links, unique):
    found = cluster(links, unique).members
    everyone = [record for members in found for record in members]
    assert len(set(everyone)) == len(everyone)
    for members in found:
        assert len(members) > 1
        owners = Counter(owner for owner, _ in members)
        assert all(owners[owner] <= 1 for owner in unique)
        assert connected(members, links)


@settings(deadline=None)
@given(links=LINKS, unique=UNIQUE, seed=st.integers(0, 2**32))
def test_the_order_of_the_links_does_not_matter(links, unique, seed):
    shuffled = random.Random(seed).sample(links, len(links))
    assert cluster(shuffled, unique) == cluster(links, unique)


@settings(deadline=None)
@given(links=LINKS)
def test_if_nothing_speaks_against_it_clusters_are_all_that_is_connected(links):
    links = [(one, other, abs(odds)) for one, other, odds in links]
    found = cluster(links).members
    for one, other, _ in links:
        assert one == other or any({one, other} <= set(members) for members in found)


def test_the_heavier_link_wins():
    one, two, three = ("a", "1"), ("b", "1"), ("a", "2")
    assert cluster([(one, two, 5.0), (three, two, 9.0)], {"a"}).members == ((three, two),)


def test_a_chain_of_three_owners_is_one_cluster():
    one, two, three = ("a", "1"), ("b", "7"), ("c", "3")
    found = cluster([(two, three, 1.0), (one, two, 2.0)], set(OWNERS))
    assert found.members == ((one, two, three),)
    # that one and three are linked, too, changes nothing
    assert cluster([(two, three, 1.0), (one, two, 2.0), (one, three, 9.0)], set(OWNERS)) == found


def test_a_record_linked_with_itself_is_no_cluster():
    assert cluster([(("a", "1"), ("a", "1"), 3.0)]).members == ()


def test_long_chains_of_duplicates_are_one_cluster():
    chain = [(("a", f"{n:05d}"), ("a", f"{n + 1:05d}"), 1.0) for n in range(2000)]
    (members,) = cluster(chain).members
    assert len(members) == 2001


@pytest.mark.parametrize("links", [[], [(("a", "1"), ("b", "2"), 1.0)]])
def test_a_frame_has_a_row_for_each_record(links):
    frame = cluster(links).to_polars()
    assert frame.schema == {"cluster": pl.Int64, "owner": pl.String, "id": pl.String}
    assert frame.rows() == ([(1, "a", "1"), (1, "b", "2")] if links else [])
    assert len(Clusters(())) == 0
