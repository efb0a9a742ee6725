"""The hierarchy of density levels: which clusters are chosen from it, on any tree."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from consilience.minority._hierarchy import Hierarchy, level_sizes, most_stable


def hierarchy_of(parent, stability):
    """A hierarchy of one object a cluster and one level, of which only the tree matters here."""
    n = len(parent)
    none = np.zeros(n, np.int32)
    return Hierarchy(
        level_sizes=np.array([n]),
        radii=np.ones(1),
        core=np.ones(n),
        parent=np.array(parent, np.int32),
        first=none,
        last=none,
        stability=np.array(stability, float),
        last_cluster=np.arange(n, dtype=np.int32),
        last_level=none,
        memory=0,
    )


@st.composite
def trees(draw):
    """Parents before their children, and stabilities with ties."""
    n = draw(st.integers(1, 9))
    parent = [draw(st.integers(-1, c - 1)) for c in range(n)]
    return parent, [draw(st.integers(0, 4)) for _ in range(n)]


def line_of(parent, c):
    """A cluster and those above it."""
    found = []
    while c >= 0:
        found.append(c)
        c = parent[c]
    return set(found)


@given(trees())
def test_each_cluster_is_chosen_or_has_a_chosen_relative_at_least_as_stable(tree):
    parent, stability = tree
    chosen = most_stable(hierarchy_of(parent, stability)).tolist()
    lines = [line_of(parent, c) for c in range(len(parent))]
    for place, c in enumerate(chosen):
        assert not any(c in lines[d] or d in lines[c] for d in chosen[:place])
        assert all(stability[d] >= stability[c] for d in chosen[:place])
    for c in set(range(len(parent))) - set(chosen):
        kin = [d for d in chosen if c in lines[d] or d in lines[c]]
        # Of equal ones the older is chosen.
        assert max((stability[d], -d) for d in kin) > (stability[c], -c)


@given(trees())
def test_objects_are_labelled_by_the_chosen_cluster_above_them(tree):
    parent, stability = tree
    hierarchy = hierarchy_of(parent, stability)
    chosen = most_stable(hierarchy).tolist()
    for c, label in enumerate(hierarchy.labels_of(chosen).tolist()):
        above = [chosen.index(d) for d in line_of(parent, c) if d in chosen]
        assert [label] == (above or [-1])


@given(st.integers(1, 3000), st.floats(0.001, 0.999), st.floats(0.0, 0.99))
def test_levels_fall_from_all_that_are_kept_to_one(n, r_shave, f_shave):
    sizes = level_sizes(n, r_shave, f_shave)
    assert sizes[0] == max(1, np.floor((1 - f_shave) * n + 0.5))
    assert sizes[-1] == 1
    assert (np.diff(sizes) < 0).all()
