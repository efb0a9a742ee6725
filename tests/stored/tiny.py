"""Tiny ensembles, as kernels take them: with ties, noise, unseen objects and one object."""

from functools import cache

import numpy as np

__all__ = ["each", "members_of", "placed", "weights_of"]


@cache
def members_of():
    """Member-major labels by name."""
    rng = np.random.default_rng(3)
    truth = np.arange(14) % 3
    plain = np.where(rng.random((6, 14)) < 0.75, truth, rng.integers(0, 3, (6, 14))).astype(np.int8)
    noise = np.where(rng.random((6, 14)) < 0.15, -1, plain).astype(np.int8)
    unseen = np.where(rng.random((6, 14)) < 0.2, -2, noise).astype(np.int8)
    unseen[:, 4] = -2
    unseen[:, 5] = -1
    return {
        "plain": plain,
        "noise": noise,
        "unseen": unseen,
        "wide": np.where(plain >= 0, plain * 70, plain).astype(np.int16) // 70,
        "equal": np.zeros((2, 5), np.int8),
        "one": np.zeros((3, 1), np.int8),
        "pair": np.array([[0, 0], [0, 1], [0, 0]], np.int8),
        "apart": np.array([[0, 1, 2, 3], [3, 2, 1, 0]], np.int8),
    }


def each():
    """Names and labels."""
    return members_of().items()


def weights_of(members):
    """How often each object counts."""
    return np.arange(members.shape[1]) % 3 + 1


def placed(members):
    """Whether some member placed every object."""
    return bool((members >= 0).any(axis=0).all())
