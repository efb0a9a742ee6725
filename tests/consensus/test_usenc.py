"""U-SENC: the cut of the graph of objects and clusters, and the members it makes itself."""

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from sklearn.metrics import adjusted_rand_score
from strategies import ensembles

from consilience import Ensemble
from consilience.consensus._products import dividing_members
from consilience.consensus.locally_weighted import lwgp
from consilience.consensus.usenc import USENC, usenc
from consilience.errors import ConsilienceWarning, InvalidParameterError
from consilience.evidence import never_placed
from consilience.generate import KMeansEnsemble
from consilience.generate.uspec import USPECEnsemble


def normalised_cut(Q, labels):
    """Reference: normalised cut of the objects' graph Q diag(column sums)^-1 Q^T."""
    S = Q @ np.diag(1 / Q.sum(axis=0)) @ Q.T
    return sum(
        S[labels == c][:, labels != c].sum() / S[labels == c].sum() for c in np.unique(labels)
    )


def placed(ensemble):
    """The objects the method sees, if there is anything to cut."""
    outside = never_placed(ensemble)
    assume(not outside.all())
    ensemble = ensemble.take(~outside)
    assume(len(ensemble.signatures().counts) > 2)
    assume(ensemble.n_clusters.sum() > 1)
    return ensemble


def blocks(seed, n=300, n_members=15):
    rng = np.random.default_rng(seed)
    truth = rng.permutation(np.arange(n) % 4)
    labels = truth[:, None] * 3 + rng.integers(0, 3, (n, n_members))
    wrong = rng.random(labels.shape) < 0.1
    labels[wrong] = rng.integers(0, 12, wrong.sum())
    return Ensemble(labels), truth


@given(ensembles(min_objects=4))
def test_it_reports_the_cut_of_all_objects(ensemble):
    ensemble = placed(ensemble)
    assume(not (ensemble.labels == 0).all(axis=0).any())
    found = usenc(ensemble, 2, random_state=0)
    Q = ensemble.indicator().toarray().astype(float)
    assert found.objective == pytest.approx(normalised_cut(Q, found.labels), abs=1e-10)
    assert found.solver == "spectral"


@given(ensembles(min_objects=4), st.randoms(use_true_random=False))
def test_the_order_of_the_objects_does_not_matter(ensemble, random):
    ensemble = placed(ensemble)
    order = np.array(random.sample(range(ensemble.n_objects), ensemble.n_objects))
    first = usenc(ensemble, 2, random_state=0).labels
    second = usenc(ensemble.take(order), 2, random_state=0).labels
    assert adjusted_rand_score(first[order], second) == 1.0


@given(ensembles(min_objects=4), st.integers(0, 5))
def test_members_of_one_cluster_change_nothing(ensemble, place):
    ensemble = placed(ensemble)
    assume(ensemble.n_clusters.sum() >= 2)
    labels = np.insert(ensemble.labels, min(place, ensemble.n_members), 0, axis=1)
    alone = usenc(ensemble, 2, random_state=0)
    # Rows are ordered by a hash of their labels, so that k-means may start elsewhere.
    both = usenc(Ensemble(labels), 2, random_state=0)
    assert both.objective <= 2
    kept = dividing_members(Ensemble(labels).members, 2)
    if not kept.all():
        assert kept.sum() <= ensemble.n_members
        Q = Ensemble(labels[:, kept]).indicator().toarray().astype(float)
        assert both.objective == pytest.approx(normalised_cut(Q, both.labels), abs=1e-10)
    assert alone.n_clusters == both.n_clusters == 2


def test_a_hub_stays_where_an_object_has_no_other_cluster():
    members = np.array([[0, 0, 0, 0], [0, 0, 1, -1]])
    assert dividing_members(members, 2).tolist() == [True, True]
    assert dividing_members(members[:, :3], 2).tolist() == [False, True]
    # Two clusters are left without it, which is too few for three parts.
    assert dividing_members(members[:, :3], 3).tolist() == [True, True]


def test_groups_that_members_split_further_are_found(seed):
    ensemble, truth = blocks(seed)
    found = usenc(ensemble, 4, random_state=seed)
    assert adjusted_rand_score(truth, found.labels) > 0.98


def test_equal_objects_count_as_often_as_there_are(seed):
    ensemble, _ = blocks(seed, n=60)
    times = np.random.default_rng(seed).integers(1, 4, 60)
    many = Ensemble(np.repeat(ensemble.labels, times, axis=0))
    found = usenc(many, 4, random_state=0)
    Q = many.indicator().toarray().astype(float)
    assert found.objective == pytest.approx(normalised_cut(Q, found.labels), abs=1e-10)
    start = np.concatenate([[0], np.cumsum(times)[:-1]])
    np.testing.assert_array_equal(found.labels, np.repeat(found.labels[start], times))


def test_without_weights_lwgp_is_usenc(seed):
    ensemble, _ = blocks(seed)
    first = usenc(ensemble, 4, random_state=0)
    second = lwgp(ensemble, 4, theta=1e12, random_state=0)
    assert adjusted_rand_score(first.labels, second.labels) == 1.0
    assert first.objective == pytest.approx(second.objective)


def test_noise_and_unseen_have_no_entry(seed):
    ensemble, truth = blocks(seed)
    chance = np.random.default_rng(seed).random(ensemble.labels.shape)
    labels = np.where(chance < 0.2, -2, np.where(chance > 0.9, -1, ensemble.labels))
    labels[5] = -1
    found = usenc(Ensemble(labels), 4, random_state=seed)
    assert found.labels[5] == -1
    kept = np.arange(300) != 5
    assert adjusted_rand_score(truth[kept], found.labels[kept]) > 0.9


def test_more_clusters_than_the_members_have_is_refused():
    ensemble = Ensemble([[0, 0, 0, 1, 1, 1], [-1, -2, 0, 0, -1, -2]])
    with pytest.raises(InvalidParameterError, match=r"parameter of USENC .*members, 3. Got 4"):
        usenc(ensemble, 4)
    alone = Ensemble([[0, 0, 0, 0], [-1, -2, -1, -1], [-1, -1, -2, -1]])
    with pytest.warns(ConsilienceWarning, match="one cluster; USENC returns it"):
        assert usenc(alone, 2).labels.tolist() == [0, 0, 0, 0]


def test_its_own_members_are_those_of_u_spec(seed):
    usual = USENC(2, random_state=seed, n_jobs=2)._generator()
    assert isinstance(usual, USPECEnsemble)
    assert usual.get_params() == USPECEnsemble(random_state=seed, n_jobs=2).get_params()
    rng = np.random.default_rng(seed)
    angle = rng.uniform(0, 2 * np.pi, 300)
    truth = rng.integers(0, 2, 300)
    X = (1 + 3 * truth)[:, None] * np.column_stack([np.cos(angle), np.sin(angle)])
    few = USPECEnsemble(4, (2, 6), n_representatives=50)
    model = USENC(2, generator=few, random_state=seed).fit(X)
    assert adjusted_rand_score(truth, model.labels_) == 1.0
    assert {record["algorithm"] for record in model.ensemble_.records} == {"U-SPEC"}
    assert few.random_state is None
    other = USENC(2, generator=KMeansEnsemble(3, 3), random_state=seed).fit(X)
    assert other.ensemble_.n_members == 3
