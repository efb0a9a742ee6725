"""Hypothesis strategies for labels and ensembles, shared by all tests.

Tables are small on purpose: they must stay quick when kernels run as plain Python.
"""

import numpy as np
from hypothesis import strategies as st
from hypothesis.extra import numpy as npst

from consilience.ensemble import NOISE, UNSEEN, Ensemble

__all__ = ["ensembles", "label_tables", "labelings", "member_major"]


def labelings(n_objects, *, max_clusters=4, noise=True, unseen=True):
    """One labeling of ``n_objects``: integers, maybe with holes, noise and unseen."""
    return npst.arrays(np.int64, n_objects, elements=_label(max_clusters, noise, unseen))


@st.composite
def label_tables(
    draw,
    min_objects=1,
    max_objects=12,
    min_members=1,
    max_members=5,
    max_clusters=4,
    noise=True,
    unseen=True,
):
    """Integers of n_objects x n_members; rows are often repeated, clusters may have holes."""
    n_objects = draw(st.integers(min_objects, max_objects))
    n_members = draw(st.integers(min_members, max_members))
    # Drawing fewer rows than objects and repeating them makes equal signatures common.
    n_rows = draw(st.integers(1, n_objects))
    rows = draw(
        npst.arrays(np.int64, (n_rows, n_members), elements=_label(max_clusters, noise, unseen))
    )
    if n_rows == n_objects:
        return rows
    chosen = draw(npst.arrays(np.int64, n_objects - n_rows, elements=st.integers(0, n_rows - 1)))
    return rows[np.concatenate([np.arange(n_rows), chosen])]


def ensembles(*args, **kwargs):
    """Ensembles; takes the arguments of `label_tables`."""
    return label_tables(*args, **kwargs).map(Ensemble)


@st.composite
def member_major(draw, *args, **kwargs):
    """Contiguous (n_members, n_objects) labels in int8 or int32, clusters 0..k-1.

    Every type is compiled for itself, and int16 is one of those in ``kernels/test_pairs.py``.
    """
    members = Ensemble(draw(label_tables(*args, **kwargs))).members
    kind = draw(st.sampled_from([np.int8, np.int32]))
    return np.ascontiguousarray(members.astype(kind))


def _label(max_clusters, noise, unseen):
    special = [value for value, wanted in ((NOISE, noise), (UNSEEN, unseen)) if wanted]
    clusters = st.integers(0, max_clusters - 1)
    return st.one_of(clusters, st.sampled_from(special)) if special else clusters
