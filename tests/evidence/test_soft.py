"""Expected co-association and confidence of memberships, against their definition."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import ensembles

from consilience import UNSEEN, Ensemble, SoftEnsemble
from consilience.errors import ConsilienceWarning, InvalidParameterError
from consilience.evidence import co_association, confidence
from consilience.evidence.weights import object_weights

pytestmark = pytest.mark.filterwarnings("ignore:.*never seen together")


@st.composite
def soft_ensembles(draw):
    """Memberships with noise and unseen objects."""
    rng = np.random.default_rng(draw(st.integers(0, 2**31)))
    n, tables = draw(st.integers(2, 8)), []
    for _ in range(draw(st.integers(1, 4))):
        table = rng.dirichlet(np.ones(rng.integers(1, 4)), n)
        table *= rng.choice([0.0, 0.6, 1.0, 1.0], (n, 1))
        table[rng.random(n) < 0.2] = np.nan
        tables.append(table)
    return SoftEnsemble(tables)


def expected_slowly(soft, missing):
    """The definition, pair by pair and member by member."""
    n, found = soft.n_objects, np.eye(soft.n_objects)
    tables = [soft.of_member(m) for m in range(soft.n_members)]
    for i in range(n):
        for j in range(n):
            seen = (soft.labels[[i, j]] != UNSEEN).all(axis=0)
            both = [t[i] @ t[j] for t, known in zip(tables, seen, strict=True) if known]
            of = len(both) if missing == "pair" else len(tables)
            if i != j and of:
                found[i, j] = sum(both) / of
    return found


@given(soft_ensembles(), st.sampled_from(["pair", "all"]))
def test_expected_co_association_equals_its_definition(soft, missing):
    wanted = expected_slowly(soft, missing)
    found = co_association(soft, missing=missing)
    np.testing.assert_allclose(found, wanted, atol=1e-12)
    np.testing.assert_array_equal(found, found.T)
    upper = np.triu_indices(soft.n_objects, 1)
    condensed = co_association(soft, missing=missing, form="condensed")
    np.testing.assert_allclose(condensed, wanted[upper], atol=1e-12)
    operator = co_association(soft, missing=missing, form="operator")
    np.testing.assert_allclose(operator @ np.eye(soft.n_objects), wanted, atol=1e-12)
    near = co_association(soft, missing=missing, form="nearest", n_neighbors=50).toarray()
    np.testing.assert_allclose(near, wanted - np.eye(soft.n_objects), atol=1e-12)


def test_pairs_that_nobody_saw_are_told_of():
    soft = SoftEnsemble([[[0.5, 0.5], [np.nan, np.nan], [0.2, 0.8]]])
    with pytest.warns(ConsilienceWarning, match="2 pairs of objects were never seen together"):
        co_association(soft)


def test_it_is_the_mean_over_labels_that_are_drawn():
    rng = np.random.default_rng(0)
    table = rng.dirichlet(np.ones(3), 5)
    draws = [[rng.choice(3, p=p) for p in table] for _ in range(4000)]
    found = co_association(SoftEnsemble([table]))
    np.testing.assert_allclose(found, co_association(Ensemble(draws)), atol=0.04)


@given(soft_ensembles(), st.sampled_from(["pair", "all"]), st.integers(0, 2**31))
def test_confidence_is_of_mean_co_associations(soft, missing, seed):
    labels = np.random.default_rng(seed).integers(-1, 3, soft.n_objects)
    A = expected_slowly(soft, missing)
    found = confidence(soft, labels, missing=missing, exact=True)
    for i, mine in enumerate(labels):
        if mine < 0:
            assert found.confidence[i] == 0
            continue
        mates = [j for j in np.flatnonzero(labels == mine) if j != i]
        own = A[i, mates].mean() if mates else 1.0
        others = [A[i, labels == c].mean() for c in set(labels) - {mine, -1}]
        other = max(others, default=0.0)
        wanted = own / (own + other) if own + other > 0 else 0.0
        assert found.confidence[i] == pytest.approx(wanted, abs=1e-10)


@given(ensembles(min_objects=2), st.integers(0, 2**31))
def test_pairs_weigh_as_much_as_in_labels_where_it_is_no_longer_exact(ensemble, seed):
    labels = np.random.default_rng(seed).integers(-1, 3, ensemble.n_objects)
    hard = confidence(ensemble, labels, missing="pair", exact=False)
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(SoftEnsemble, "_crisp", lambda self: self)
        soft = confidence(SoftEnsemble(ensemble), labels, missing="pair", exact=False)
    np.testing.assert_allclose(soft.confidence, hard.confidence, atol=1e-12)


def test_what_rounding_leaves_over_is_no_confidence():
    # 0.1 squared is not a tenth of a tenth: the sum less its only term need not be 0.
    rng = np.random.default_rng(0)
    for _ in range(50):
        one = rng.dirichlet(np.ones(3))
        soft = SoftEnsemble([np.array([one, [0, 0, 0]]), np.array([one[::-1], [0, 0, 0]])])
        assert confidence(soft, [0, 0], exact=True).confidence[0] == 0


def test_weights_of_objects_come_from_the_expected_matrix():
    soft = SoftEnsemble([np.random.default_rng(m).dirichlet(np.ones(3), 9) for m in range(4)])
    A = co_association(soft)
    wanted = ((4 * A * (1 - A)).mean(axis=1) + 0.01) / 1.01
    np.testing.assert_allclose(object_weights(soft), wanted, atol=1e-12)
    with pytest.raises(InvalidParameterError, match=r"memberships takes confusion='quadratic'"):
        object_weights(soft, confusion="entropy")
