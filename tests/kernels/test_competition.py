"""The largest share wins; ties by labels, part and seed, compiled as in arrays."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from consilience.kernels.labels import competition
from consilience.kernels.labels.competition import most_shared


def won(shares, members, seed):
    labels = np.full(len(shares), -9, np.int32)
    most_shared(shares, members, seed, labels)
    return labels


@given(st.integers(0, 2**32 - 1), st.integers(1, 5), st.integers(1, 40), st.integers(0, 2**31 - 2))
def test_loops_and_arrays_agree(seed, n_parts, n_objects, salt):
    rng = np.random.default_rng(seed)
    shares = rng.integers(0, 3, (n_objects, n_parts)) / 2.0  # many ties
    members = rng.integers(-2, 4, (3, n_objects)).astype(np.int16)
    labels = np.empty(n_objects, np.int32)
    with np.errstate(over="ignore"):
        competition._most_shared_in_arrays(shares, members, salt, labels)
        # The kernel as such, whatever its size.
        looped = np.empty(n_objects, np.int32)
        getattr(competition._most_shared, "py_func", competition._most_shared)(
            shares, members, salt, looped
        )
    np.testing.assert_array_equal(looped, labels)
    np.testing.assert_array_equal(won(shares, members, salt), labels)
    np.testing.assert_array_equal(shares[np.arange(n_objects), labels], shares.max(axis=1))


def test_many_objects_run_compiled_and_agree():
    rng = np.random.default_rng(8)
    shares = rng.integers(0, 4, (150_000, 3)) / 3.0
    members = rng.integers(-1, 9, (5, 150_000)).astype(np.int8)
    labels = np.empty(len(shares), np.int32)
    with np.errstate(over="ignore"):
        competition._most_shared_in_arrays(shares, members, 77, labels)
    np.testing.assert_array_equal(won(shares, members, 77), labels)


def test_ties_fall_to_every_part_and_hang_on_the_seed():
    shares = np.full((3000, 3), 0.25)
    members = np.random.default_rng(0).integers(0, 40, (4, 3000)).astype(np.int8)
    first, second = won(shares, members, 1), won(shares, members, 2)
    assert np.bincount(first, minlength=3).min() > 900
    assert (first != second).mean() > 0.5
