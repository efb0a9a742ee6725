"""What is known and cannot hold: the smallest set by brute force, and what is said of it."""

from itertools import combinations, pairwise

import numpy as np
import pytest

from consilience.consensus import _contradictions
from consilience.consensus._contradictions import components_of, refuse_contradictions
from consilience.errors import InvalidInputError


def links_of(pairs):
    return np.array(pairs, np.int64).reshape(-1, 2)


def contradicts(must, cannot, known):
    """Whether statements cannot all hold, by joining until nothing changes."""
    nodes = {i for pair in (*must, *cannot) for i in pair} | {i for i, _ in known}
    group = {i: i for i in nodes} | {("group", g): ("group", g) for _, g in known}
    edges = [*must, *((i, ("group", g)) for i, g in known)]
    for _ in group:
        for a, b in edges:
            old, new = group[a], group[b]
            group = {one: new if own == old else own for one, own in group.items()}
    named = {group["group", g] for _, g in known}
    return len(named) < len({g for _, g in known}) or any(group[a] == group[b] for a, b in cannot)


def smallest(must, cannot, known):
    """How many statements contradict each other at least; 0 if all can hold."""
    every = [("must", one) for one in must] + [("cannot", one) for one in cannot]
    every += [("known", one) for one in known]
    for size in range(1, len(every) + 1):
        for some in combinations(every, size):
            parts = ([one for kind, one in some if kind == k] for k in ("must", "cannot", "known"))
            if contradicts(*parts):
                return size
    return 0


def test_a_smallest_set_is_found(seed, monkeypatch):
    ways = []
    monkeypatch.setattr(
        _contradictions, "_words", lambda way, n, ids: ways.append((*way, n, ids)) or ""
    )
    rng = np.random.default_rng(seed)
    sizes = set()
    for _ in range(60):
        n = 6
        must = [tuple(map(int, rng.choice(n, 2, replace=False))) for _ in range(rng.integers(5))]
        cannot = [tuple(map(int, rng.integers(0, n, 2))) for _ in range(rng.integers(3))]
        cannot = [pair for pair in cannot if pair[0] != pair[1] or rng.random() < 0.1]
        partial = np.where(rng.random(n) < 0.5, rng.integers(0, 3, n), -1)
        known = [(i, int(g)) for i, g in enumerate(partial) if g >= 0]
        least = smallest(must, cannot, known)
        sizes.add(least)
        ways.clear()
        try:
            refuse_contradictions(links_of(must), links_of(cannot), partial, "ids", "This")
        except InvalidInputError:
            ((nodes, kind, of, ids),) = ways
            assert (of, ids) == (n, "ids")
            assert len(nodes) - 1 + (kind == "cannot_link") == least
            allowed = {frozenset(pair) for pair in must} | {frozenset((i, n + g)) for i, g in known}
            assert all(frozenset(pair) in allowed for pair in pairwise(nodes))
            if kind == "cannot_link":
                assert (nodes[0], nodes[-1]) in cannot
            else:
                assert min(nodes[0], nodes[-1]) >= n
                assert nodes[0] != nodes[-1]
        else:
            assert not ways
            assert least == 0
    assert sizes >= {0, 2, 3, 4}


def said(must=(), cannot=(), partial=(-1,) * 4, ids=None):
    with pytest.raises(InvalidInputError) as refused:
        refuse_contradictions(links_of(must), links_of(cannot), np.array(partial), ids, "This")
    start = "What This is told contradicts itself: "
    assert str(refused.value).startswith(start)
    return str(refused.value).removeprefix(start)


def test_what_is_said_names_every_link():
    assert said(cannot=[(1, 1)], must=[(0, 1)]) == (
        "1 cannot be apart from itself (cannot_link). Leave out that pair."
    )
    assert said(must=[(0, 1), (1, 2)], cannot=[(0, 2)]) == (
        "0 and 2 cannot be together (cannot_link), and must be (must_link): 0 with 1 and 1 with 2. "
        "Leave out one of these 3."
    )
    assert said(cannot=[(3, 0)], partial=(1, -1, 0, 1), ids=["a", "b", "c", "d"]) == (
        "'d' and 'a' cannot be together (cannot_link), and must be (partial_labels): 'd' with 'a' "
        "by their known group. Leave out one of these 2."
    )
    assert said(must=[(0, 1)], cannot=[(0, 2)], partial=(-1, 0, 0, -1)) == (
        "0 and 2 cannot be together (cannot_link), and must be (must_link, partial_labels): "
        "0 with 1 and 1 with 2 by their known group. Leave out one of these 3."
    )
    assert said(must=[(0, 1), (1, 3)], partial=(0, -1, -1, 1)) == (
        "0 and 3 have different known groups (partial_labels), and must be (must_link): "
        "0 with 1 and 1 with 3. Leave out one of these 3."
    )


def test_of_several_sets_the_smallest_is_said_and_of_equals_the_first():
    # The longer way is found last.
    words = said(must=[(0, 1), (2, 3), (3, 4)], cannot=[(0, 1), (2, 4)], partial=(-1,) * 5)
    assert words.startswith("0 and 1 cannot be together")
    words = said(must=[(0, 1), (2, 3)], cannot=[(2, 3), (0, 1)])
    assert words.startswith("2 and 3 cannot be together")
    assert said(cannot=[(1, 1), (2, 2)]).startswith("1 cannot be apart from itself")
    words = said(must=[(0, 1)], cannot=[(0, 1), (2, 2)])
    assert words.startswith("2 cannot be apart from itself")
    words = said(must=[(0, 1), (2, 3)], cannot=[(2, 3)], partial=(0, 1, -1, -1))
    assert words.startswith("2 and 3 cannot be together")


@pytest.mark.parametrize("n", [2, 3, 12, 40])
def test_a_chain_through_all_objects_is_followed_to_its_end(n):
    chain = [(i, i + 1) for i in range(n - 1)]
    words = said(must=chain[::-1], cannot=[(0, n - 1)], partial=(-1,) * n)
    assert words.endswith(f"Leave out one of these {n}.")
    words = said(must=chain, partial=(0, *(-1,) * (n - 2), 1))
    assert words.endswith(f"Leave out one of these {n}.")
    assert words.count(" with ") == min(n - 1, 10)
    refuse_contradictions(links_of(chain), links_of([]), np.full(n, -1), None, "This")


def test_components_are_numbered_by_what_links_join():
    found = components_of(6, links_of([(4, 1), (1, 5), (0, 3)]))
    assert found.tolist() == [0, 1, 2, 0, 1, 1]
    assert found.dtype == np.int32
    assert components_of(3, links_of([])).tolist() == [0, 1, 2]
