"""Small data and ensembles that the stored answers are about: clear groups, fixed seeds."""

from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any
from unittest.mock import patch

import numpy as np
from scipy import sparse

import consilience as cs
from consilience.generate import KMeansEnsemble

__all__ = ["blobs", "ensembles", "few_drawn", "minority", "tables", "truth"]


@contextmanager
def few_drawn() -> Iterator[None]:
    """References of few objects and repetitions: they take most of the time of a fit of EWOCS."""
    with (
        patch.multiple("consilience.minority._reference", _FEW=250, _ENOUGH=250),
        patch("consilience.minority._border.REPETITIONS", 20),
    ):
        yield


@cache
def blobs(n_each: int = 16, n_groups: int = 3, width: int = 3, seed: int = 5) -> np.ndarray:
    """Groups far apart: rounding moves no object from one to another."""
    rng = np.random.default_rng(seed)
    centres = 9.0 * np.eye(n_groups, width)
    found = np.concatenate([centre + rng.normal(size=(n_each, width)) for centre in centres])
    found.flags.writeable = False
    return found


def truth(n_each: int = 16, n_groups: int = 3) -> np.ndarray:
    """The groups of `blobs`."""
    return np.repeat(np.arange(n_groups), n_each)


@cache
def minority(n: int = 90, seed: int = 3) -> tuple[np.ndarray, np.ndarray]:
    """A wide background with two small dense groups, and which object is in which (0: none)."""
    rng = np.random.default_rng(seed)
    X = rng.uniform(-10, 10, (n, 2))
    X[:10] = (6, 6) + 0.3 * rng.normal(size=(10, 2))
    X[10:22] = (-5, 0) + 0.3 * rng.normal(size=(12, 2))
    y = np.zeros(n, int)
    y[:10], y[10:22] = 1, 2
    X.flags.writeable = False
    return X, y


def tables() -> dict[str, Any]:
    """Data in several forms."""
    rng = np.random.default_rng(11)
    X = blobs()
    words = np.where(rng.random((40, 30)) < 0.2, np.round(rng.random((40, 30)), 2), 0.0)
    words[:20, :10] += np.round(rng.random((20, 10)), 2)
    return {"blobs": X, "single": X.astype(np.float32), "words": sparse.csr_array(words)}


@cache
def ensembles() -> dict[str, cs.Ensemble]:
    """Ensembles of 48 objects: whole, with unseen objects, with noise, both, few members."""
    X = blobs()
    whole = KMeansEnsemble(9, (2, 6), random_state=0).generate(X)
    rng = np.random.default_rng(2)
    noisy = whole.labels.astype(int).copy()
    noisy[rng.random(noisy.shape) < 0.12] = cs.NOISE
    both = noisy.copy()
    both[rng.random(noisy.shape) < 0.12] = cs.UNSEEN
    both[7] = cs.NOISE
    both[20] = cs.UNSEEN
    torn = whole.labels.astype(int).copy()
    torn[[3, 4, 30]] = rng.integers(0, 2, (3, whole.n_members))
    return {
        "whole": whole,
        "unseen": KMeansEnsemble(8, 4, max_samples=0.7, assign="unseen", random_state=1).generate(
            X
        ),
        "noise": cs.Ensemble(noisy),
        "both": cs.Ensemble(both, index=[f"o{i}" for i in range(len(both))]),
        "torn": cs.Ensemble(torn),
        "few": whole[:3],
        "one": whole[:1],
    }
