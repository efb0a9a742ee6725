"""Results to look at, made once: of clusters beside another method, and of small groups."""

import numpy as np
import pytest

import consilience as cs


@pytest.fixture(scope="session")
def table():
    """Numbers with four groups that overlap a little, names and a truth."""
    rng = np.random.default_rng(0)
    truth = np.repeat(np.arange(4), 60)
    middles = np.array([[0, 0], [4, 0], [0, 4], [4, 4]])
    X = rng.normal(size=(240, 2)) + middles[truth]
    X = np.column_stack([X, rng.normal(size=240).round(1), truth == 1])
    return X, truth


@pytest.fixture(scope="session")
def result(table):
    X, truth = table
    ids = [f"object {i}" for i in range(len(X))]
    return cs.cluster(
        X, 4, methods=["eac", "mcla"], n_members=20, ids=ids, truth=truth, random_state=0
    )


@pytest.fixture(scope="session")
def minority():
    rng = np.random.default_rng(1)
    X = np.vstack([rng.uniform(size=(240, 2)), 0.03 * rng.normal(size=(60, 2)) + [[0.3, 0.6]]])
    truth = np.repeat([0, 1], [240, 60])
    return cs.minority_groups(X, truth=truth, background=0, n_repetitions=20, random_state=0)
