"""Co-association against its definition, in every form and both conventions."""

from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.spatial.distance import squareform
from strategies import ensembles

from consilience import Ensemble
from consilience.errors import ConsilienceWarning, InvalidInputError, InvalidParameterError
from consilience.evidence import CoAssociation, co_association, coassociation, fractions
from consilience.soft_ensemble import SoftEnsemble

MISSING = st.sampled_from(["pair", "all"])

# Sub-sampled tables of a few members often hold pairs nobody saw; the warning has its own test.
pytestmark = pytest.mark.filterwarnings("ignore:.*never seen together")


def slowly(ensemble, missing):
    """Reference: the definition, one pair at a time."""
    n = ensemble.n_objects
    shares = np.eye(n)
    for i in range(n):
        for j in range(n):
            a, b = ensemble.labels[i], ensemble.labels[j]
            both = (a != -2) & (b != -2)
            joined = (both & (a == b) & (a >= 0)).sum()
            total = both.sum() if missing == "pair" else ensemble.n_members
            if i != j:
                shares[i, j] = joined / total if total else 0.0
    return shares


@given(ensembles(), MISSING)
def test_dense_equals_the_definition(ensemble, missing):
    got = co_association(ensemble, missing=missing)
    np.testing.assert_allclose(got, slowly(ensemble, missing), atol=1e-15)


@given(ensembles(min_objects=2), MISSING)
def test_it_is_evidence(ensemble, missing):
    got = co_association(ensemble, missing=missing)
    np.testing.assert_array_equal(got, got.T)
    np.testing.assert_array_equal(got.diagonal(), 1.0)
    assert got.min() >= 0
    assert got.max() <= 1


@given(ensembles(min_objects=2), MISSING)
def test_condensed_is_the_upper_triangle(ensemble, missing):
    dense = co_association(ensemble, missing=missing)
    condensed = co_association(ensemble, missing=missing, form="condensed")
    np.testing.assert_array_equal(condensed, squareform(dense, checks=False))


@given(ensembles(min_objects=2), MISSING, st.integers(1, 6))
def test_nearest_holds_the_strongest_pairs(ensemble, missing, k):
    dense = co_association(ensemble, missing=missing)
    nearest = co_association(ensemble, missing=missing, form="nearest", n_neighbors=k)
    k = min(k, ensemble.n_objects - 1)
    np.fill_diagonal(dense, -1)
    for i, row in enumerate(dense):
        best = np.lexsort((np.arange(len(row)), -row))[:k]
        start, stop = nearest.indptr[i : i + 2]
        assert sorted(best) == nearest.indices[start:stop].tolist()
        np.testing.assert_allclose(nearest.data[start:stop], row[sorted(best)])


@given(ensembles(), MISSING, st.integers(0, 2**31))
def test_operator_equals_dense(ensemble, missing, seed):
    dense = co_association(ensemble, missing=missing)
    operator = co_association(ensemble, missing=missing, form="operator")
    V = np.random.default_rng(seed).normal(size=(ensemble.n_objects, 2))
    np.testing.assert_allclose(operator @ V, dense @ V, atol=1e-12)
    np.testing.assert_allclose(operator @ V[:, 0], dense @ V[:, 0], atol=1e-12)
    np.testing.assert_allclose(operator.T @ V, dense @ V, atol=1e-12)
    np.testing.assert_array_equal(operator.rows(0, ensemble.n_objects), dense)
    np.testing.assert_array_equal(operator.row(0), dense[0])
    for start in range(ensemble.n_objects):
        np.testing.assert_array_equal(operator.rows(start, ensemble.n_objects), dense[start:])
    with patch.object(coassociation, "_BLOCK_BYTES", 16 * ensemble.n_objects):
        np.testing.assert_allclose(operator @ V, dense @ V, atol=1e-12)


@given(ensembles())
def test_counts_stay_in_bytes(ensemble):
    counts = co_association(ensemble, values="count")
    assert counts.dtype == np.uint8
    labels = ensemble.labels
    same = (labels[:, None] == labels[None]) & (labels >= 0)[:, None]
    np.testing.assert_array_equal(counts, same.sum(axis=2))


def test_more_members_than_a_byte_counts():
    ensemble = Ensemble(np.zeros((3, 300), int))
    counts = co_association(ensemble, values="count")
    assert counts.dtype == np.uint16
    assert (counts == 300).all()


@given(ensembles(min_objects=2))
def test_threads_change_nothing(ensemble):
    for form in ("dense", "condensed"):
        one = co_association(ensemble, form=form)
        np.testing.assert_array_equal(one, co_association(ensemble, form=form, n_jobs=2))


def test_pairs_nobody_saw_are_counted_in_a_warning():
    ensemble = Ensemble([[0, 0, None, None], [None, None, 0, 0]])
    with pytest.warns(ConsilienceWarning, match="4 pairs of objects were never seen together"):
        dense = co_association(ensemble)
    assert dense[0, 2] == 0


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"missing": "none"}, "'missing' parameter of co_association must be one of 'pair', 'all'"),
        ({"values": "percent"}, "'values' .* Got 'percent'"),
        ({"form": "square"}, "'form' .* Got 'square'"),
        ({"form": "nearest", "n_neighbors": 0}, "'n_neighbors' .* at least 1. Got 0"),
    ],
)
def test_bad_parameters(params, message):
    with pytest.raises(ValueError, match=message):
        co_association(Ensemble([[0, 0, 1]]), **params)
    with pytest.raises(ValueError, match="'missing' parameter of CoAssociation"):
        CoAssociation(Ensemble([[0, 0, 1]]), missing="x")


@pytest.mark.parametrize("missing", ["pair", "all"])
def test_one_object_has_no_pairs(missing):
    one = Ensemble([[0], [0], [-2]])
    for values, kind in (("fraction", np.float32), ("count", np.uint8)):
        nearest = co_association(
            one, form="nearest", values=values, missing=missing, dtype=np.float32
        )
        assert (nearest.shape, nearest.nnz, nearest.dtype) == ((1, 1), 0, kind)


@pytest.mark.parametrize("dtype", [True, 5, "no type", int, complex, object])
@pytest.mark.parametrize("form", ["dense", "condensed", "nearest", "operator"])
def test_a_type_that_is_no_float_is_refused(dtype, form):
    with pytest.raises(InvalidParameterError, match="'dtype' parameter of co_association"):
        co_association(Ensemble([[0, 0, 1]]), dtype=dtype, form=form)


def test_numbers_of_numpy_are_numbers_and_truth_values_are_not():
    ensemble = Ensemble([[0, 0, 1], [0, 1, 1]])
    two = co_association(ensemble, form="nearest", n_neighbors=np.int64(2))
    wanted = co_association(ensemble, form="nearest", n_neighbors=2)
    np.testing.assert_array_equal(two.toarray(), wanted.toarray())
    for bad in (True, 2.0):
        with pytest.raises(InvalidParameterError, match=r"'n_neighbors' .* a whole number"):
            co_association(ensemble, form="nearest", n_neighbors=bad)


@given(ensembles(), MISSING, st.integers(-15, 15), st.integers(-15, 15))
def test_rows_are_those_of_the_matrix_or_refused(ensemble, missing, start, stop):
    dense = co_association(ensemble, missing=missing)
    operator = CoAssociation(ensemble, missing=missing)
    if 0 <= start <= stop <= ensemble.n_objects:
        np.testing.assert_array_equal(operator.rows(start, stop), dense[start:stop])
    else:
        with pytest.raises(InvalidParameterError, match=f"Got {start} to {stop}"):
            operator.rows(start, stop)
    if -ensemble.n_objects <= start < ensemble.n_objects:
        np.testing.assert_array_equal(operator.row(start), dense[start])


def test_the_operator_takes_labels_only():
    soft = SoftEnsemble([np.array([[0.9, 0.1], [0.4, 0.6]])])
    with pytest.raises(InvalidParameterError, match="must hold labels"):
        CoAssociation(soft)
    with pytest.raises(InvalidParameterError, match="'ensemble' parameter of CoAssociation"):
        CoAssociation([[0, 1]])
    expected = co_association(soft, form="operator")
    np.testing.assert_allclose(expected.rows(0, 2), co_association(soft))
    crisp = SoftEnsemble([np.array([[1.0, 0.0], [0.0, 1.0]])])
    assert CoAssociation(crisp).rows(0, 2).tolist() == [[1, 0], [0, 1]]


def test_shares_of_counts_in_any_layout_and_of_one_shape():
    joined, seen = np.array([[2, 1, 0], [1, 1, 0]]), np.array([[2, 2, 0], [4, 1, 3]])
    wanted = [[1, 0.5, 0], [0.25, 1, 0]]
    for form in (np.asarray, np.asfortranarray, np.ndarray.tolist):
        np.testing.assert_array_equal(fractions(form(joined), form(seen), 4), wanted)
    for bad in (seen[:1], seen.T, seen.ravel()):
        with pytest.raises(InvalidInputError, match=r"'seen' .* shape \(2, 3\)"):
            fractions(joined, bad, 4)
