"""Results to look at: of clusters beside another method, of small groups, of several views.

Functions, because a notebook's kernel makes them too: the same to the last bit.
"""

import numpy as np
import pandas as pd

import consilience as cs


def made_table():
    """Numbers with four groups that overlap a little, and a truth."""
    rng = np.random.default_rng(0)
    truth = np.repeat(np.arange(4), 60)
    middles = np.array([[0, 0], [4, 0], [0, 4], [4, 4]])
    X = rng.normal(size=(240, 2)) + middles[truth]
    X = np.column_stack([X, rng.normal(size=240).round(1), truth == 1])
    return X, truth


def made_result():
    """Clusters by two methods, of objects with names."""
    X, truth = made_table()
    ids = [f"object {i}" for i in range(len(X))]
    return cs.cluster(
        X, 4, methods=["eac", "mcla"], n_members=20, ids=ids, truth=truth, random_state=0
    )


def made_minority():
    """A dense group in a background."""
    rng = np.random.default_rng(1)
    X = np.vstack([rng.uniform(size=(240, 2)), 0.03 * rng.normal(size=(60, 2)) + [[0.3, 0.6]]])
    truth = np.repeat([0, 1], [240, 60])
    return cs.minority_groups(X, truth=truth, background=0, n_repetitions=20, random_state=0)


def made_views():
    """Two views, one of which does not know all objects."""
    sample = cs.datasets.make_views(180, missing=0.25, random_state=0)
    known = ~np.isnan(sample.second).any(axis=1)
    names = np.array([f"p{i}" for i in range(len(known))])
    views = {
        "rna": pd.DataFrame(sample.first, index=names),
        "protein": pd.DataFrame(sample.second[known], index=names[known]),
    }
    return cs.cluster(views, 6, n_members=40, random_state=0)
