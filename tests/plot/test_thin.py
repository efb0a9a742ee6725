"""The sample a picture shows: its size, its shares, the same every time."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from consilience.plot._thin import counted, thinned


@given(
    st.lists(st.integers(-1, 6), min_size=1, max_size=300),
    st.integers(1, 320),
    st.integers(0, 2**31),
)
@settings(max_examples=50)
def test_a_share_of_every_cluster(labels, wanted, seed):
    labels = np.array(labels)
    kept = thinned(len(labels), wanted, labels, seed)
    assert len(kept) == min(wanted, len(labels))
    assert (np.diff(kept) > 0).all()
    np.testing.assert_array_equal(kept, thinned(len(labels), wanted, labels, seed))
    clusters, sizes = np.unique(labels, return_counts=True)
    shown = np.array([(labels[kept] == cluster).sum() for cluster in clusters])
    exact = len(kept) * sizes / len(labels)
    if len(clusters) <= len(kept):
        assert (shown >= 1).all()
        # Raising small clusters to one object takes at most one from each for every other.
        assert (np.abs(shown - exact) <= len(clusters)).all()
    if (exact >= 1).all():
        assert (np.abs(shown - exact) <= 1).all()


def test_without_labels_a_plain_sample(seed):
    assert thinned(5, 5).tolist() == [0, 1, 2, 3, 4]
    kept = thinned(1000, 10, random_state=seed)
    assert len(np.unique(kept)) == 10
    assert kept.tolist() != thinned(1000, 10, random_state=seed + 1).tolist()


def test_the_note_counts():
    assert counted(5, 5) == ""
    assert counted(20_000, 1_000_000) == "20,000 of 1,000,000 objects shown"
