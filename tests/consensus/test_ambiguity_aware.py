"""AmbiguityAware: the pipeline of the paper around any consensus estimator."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import BaseEstimator, clone
from sklearn.svm import SVC
from sklearn.utils.estimator_checks import parametrize_with_checks

from consilience import CSPA, EAC, Ensemble, Voting
from consilience.consensus.ambiguity_aware import AmbiguityAware
from consilience.datasets import make_gaussians
from consilience.errors import ConsilienceWarning, InvalidInputError, InvalidParameterError
from consilience.evidence.ambiguity import ambiguous
from consilience.generate import KMeansEnsemble, rcc
from consilience.metrics import anmi

FEW = KMeansEnsemble(4, (2, 4), random_state=0)

# Two groups of eight on a line; object 7 lies between them, and members disagree about it.
X = np.concatenate([np.linspace(0.0, 0.6, 7), [1.6], np.linspace(2.0, 2.8, 8)])[:, None]
MEMBERS = [[0] * 8 + [1] * 8, [0] * 7 + [1] * 9, [0] * 8 + [1] * 8, [0] * 7 + [1] * 9]
TORN = Ensemble(MEMBERS)


@parametrize_with_checks(
    [
        AmbiguityAware(EAC(3), generator=FEW),
        AmbiguityAware([EAC(3), EAC(2, linkage="single")], action="svm", generator=FEW),
    ]
)
def test_scikit_learn_conventions(estimator, check):
    check(estimator)


def mixture(seed, n_objects=150):
    data, y = make_gaussians(n_objects, 3, 2, separation=3.5, random_state=seed)
    return data, y, rcc(3).generate(data)


@pytest.mark.parametrize("kernel", ["linear", "rbf"])
def test_it_is_the_pipeline_of_the_paper(kernel, seed):
    data, _, ensemble = mixture(seed)
    plain = EAC(3).fit(ensemble=ensemble).labels_
    flags = ambiguous(ensemble, labels=plain).flags
    assert 0 < flags.sum() < 40
    again = EAC(3).fit(ensemble=ensemble.take(~flags)).labels_
    ignored = AmbiguityAware(EAC(3)).fit(ensemble=ensemble)
    np.testing.assert_array_equal(ignored.plain_labels_, plain)
    np.testing.assert_array_equal(ignored.ambiguous_, flags)
    np.testing.assert_array_equal(ignored.labels_[~flags], again)
    assert (ignored.labels_[flags] == -1).all()
    assert (ignored.confidence_[flags] == 0).all()
    # The usual interface to support vector machines: features scaled on the training objects.
    kept = data[~flags]
    Z = (data - kept.mean(axis=0)) / kept.std(axis=0, ddof=1)
    machine = SVC(C=1, kernel=kernel, gamma=1 / 2).fit(Z[~flags], again)
    moved = AmbiguityAware(EAC(3), action="svm", kernel=kernel).fit(data, ensemble=ensemble)
    np.testing.assert_array_equal(moved.labels_[flags], machine.predict(Z[flags]))
    np.testing.assert_array_equal(moved.labels_[~flags], again)


def test_what_it_says_of_an_ambiguous_object():
    model = AmbiguityAware(EAC(2)).fit(ensemble=TORN)
    assert np.flatnonzero(model.ambiguous_).tolist() == [7]
    assert model.scores_[7] < model.threshold_ <= np.delete(model.scores_, 7).min()
    assert model.why_ == f"1 of 16 scores are below {model.threshold_:.4g}, set by otsu"
    # Half of the members put it with each group.
    assert sorted(model.candidates_[7].tolist()) == [0, 1]
    assert (np.delete(model.candidates_, 7, axis=0) == -1).all()
    assert model.n_clusters_ == 2
    assert model.consensus_.labels_.shape == (15,)


def test_candidates_are_the_clusters_objects_are_most_often_with(seed):
    _, _, ensemble = mixture(seed)
    for given in (ensemble, Ensemble(np.where(_holes(ensemble, seed), -2, ensemble.labels))):
        model = AmbiguityAware(EAC(3)).fit(ensemble=given)
        labels = given.labels
        for i in np.flatnonzero(model.ambiguous_):
            both = (labels != -2) & (labels[i] != -2)
            shares = ((labels == labels[i]) & both).sum(axis=1) / np.maximum(both.sum(axis=1), 1)
            means = [shares[model.labels_ == c].mean() for c in range(3)]
            found = model.candidates_[i]
            ranked = np.sort(means)[::-1]
            for place, cluster in enumerate(found):
                wanted = ranked[place]
                assert wanted == 0 if cluster < 0 else means[cluster] == pytest.approx(wanted)


def _holes(ensemble, seed):
    return np.random.default_rng(seed).random(ensemble.labels.shape) < 0.05


def test_ignoring_ambiguous_objects_changes_nothing_where_there_are_none():
    groups = np.repeat([0, 1], 5)
    model = AmbiguityAware(EAC(2), action="svm").fit(groups[:, None], ensemble=[groups] * 3)
    np.testing.assert_array_equal(model.labels_, groups)
    assert model.threshold_ == -np.inf
    assert not model.ambiguous_.any()


# ---- which consensus ------------------------------------------------------------------------


def test_of_several_the_one_that_shares_most_with_the_members_is_taken(seed):
    _, _, ensemble = mixture(seed)
    several = [EAC(3, linkage="single"), EAC(3), Voting(3, random_state=0)]
    model = AmbiguityAware(several).fit(ensemble=ensemble)
    kept = ensemble.take(~model.ambiguous_)
    shares = [anmi(clone(one).fit(ensemble=kept).labels_, kept) for one in several]
    np.testing.assert_allclose(model.information_, shares)
    assert type(model.consensus_) is type(several[int(np.argmax(shares))])
    assert anmi(model.consensus_.labels_, kept) == pytest.approx(max(shares))


def test_the_default_consensus_and_whose_generator():
    model = AmbiguityAware(random_state=0).fit(X, ensemble=TORN)
    assert isinstance(model.consensus_, EAC)
    own = AmbiguityAware(EAC(2, generator=FEW)).fit(X)
    assert own.ensemble_.n_members == 4
    other = AmbiguityAware(EAC(2, generator=FEW), generator=KMeansEnsemble(6, 2)).fit(X)
    assert other.ensemble_.n_members == 6


def test_the_estimator_given_is_not_touched():
    given = EAC(2)
    AmbiguityAware(given, random_state=3).fit(ensemble=TORN)
    assert not hasattr(given, "labels_")
    assert given.random_state is None


# ---- support vector machines ------------------------------------------------------------------


def test_sparse_data_are_the_same_data(seed):
    data, _, ensemble = mixture(seed)
    data = np.column_stack([np.maximum(data, 0.0), np.ones(len(data))])
    for kernel in ("linear", "rbf"):
        model = AmbiguityAware(EAC(3), action="svm", kernel=kernel)
        dense = model.fit(data, ensemble=ensemble).labels_
        thin = model.fit(sparse.csr_array(data), ensemble=ensemble).labels_
        assert (dense == thin).mean() > 0.99


def test_training_on_a_sample_is_said(seed):
    data, _, ensemble = mixture(seed)
    model = AmbiguityAware(EAC(3), action="svm", max_train=30, random_state=seed)
    with pytest.warns(ConsilienceWarning, match=r"trained on 30 of 1\d\d objects"):
        labels = model.fit(data, ensemble=ensemble).labels_
    assert labels.min() == 0
    assert set(labels[model.ambiguous_]) <= {0, 1, 2}


def test_one_class_left_is_copied():
    with pytest.warns(ConsilienceWarning, match="in cluster 0 only: there is nothing to train"):
        model = AmbiguityAware(EAC(1), action="svm").fit(X, ensemble=TORN)
    assert model.labels_.tolist() == [0] * 16


def test_constant_features_leave_the_largest_cluster():
    with pytest.warns(ConsilienceWarning, match="All features are constant"):
        model = AmbiguityAware(EAC(2), action="svm").fit(np.ones((16, 2)), ensemble=TORN)
    assert model.labels_[7] == 1


# ---- degenerate inputs --------------------------------------------------------------------------


def test_a_cluster_that_flags_would_empty_is_kept():
    # Members split the last two objects between the groups; the consensus makes them a cluster.
    members = [[0] * 8 + [1] * 8 + [0, 0], [0] * 8 + [1] * 8 + [1, 1]]
    model = AmbiguityAware(EAC(3)).fit(ensemble=members)
    assert model.plain_labels_[16:].tolist() == [2, 2]
    assert not model.ambiguous_.any()
    assert "2 of them are all that is left of a cluster and stay" in model.why_
    assert model.labels_[16:].tolist() == [2, 2]


def test_all_objects_flagged_is_refused_by_the_guard():
    with pytest.warns(ConsilienceWarning, match="16 of 16 scores are below 9"):
        model = AmbiguityAware(EAC(2), threshold=9.0).fit(ensemble=TORN)
    assert np.flatnonzero(model.ambiguous_).tolist() == [7]


def test_nobody_saw_anything():
    nothing = Ensemble([[None] * 4] * 2)
    with pytest.warns(ConsilienceWarning) as told:
        model = AmbiguityAware(EAC(2)).fit(ensemble=nothing)
    assert any("Only 0 objects are not ambiguous" in str(w.message) for w in told)
    assert model.ambiguous_.all()
    assert model.labels_.tolist() == [-1] * 4


def test_an_object_nobody_saw_is_ambiguous_and_may_be_allocated():
    members = [[0, 0, 0, 1, 1, 1, None]] * 2
    data = np.array([[0.0], [0.1], [0.2], [1.0], [1.1], [1.2], [0.3]])
    with pytest.warns(ConsilienceWarning, match="seen by no member"):
        ignored = AmbiguityAware(EAC(2)).fit(ensemble=members)
    assert ignored.labels_.tolist() == [0, 0, 0, 1, 1, 1, -1]
    with pytest.warns(ConsilienceWarning, match="seen by no member"):
        moved = AmbiguityAware(EAC(2), action="svm").fit(data, ensemble=members)
    assert moved.labels_[6] == 0


def test_more_clusters_than_objects_left():
    scores = [0.1, 0.2, 1, 1, 1, 1, 1, 1]
    model = AmbiguityAware(EAC(8), scoring=scores, threshold=0.5)
    with pytest.warns(ConsilienceWarning) as told:
        model.fit(ensemble=[[0] * 4 + [1] * 4] * 2)
    assert any("n_clusters=8 was asked for, but only 6" in str(w.message) for w in told)
    assert model.labels_.tolist() == [-1, -1, 0, 0, 1, 1, 1, 1]


def test_more_clusters_than_objects_are_refused_as_by_the_consensus_itself():
    """Nothing is flagged yet: it is not for ambiguous objects that there are too few."""
    messages = []
    for model in (EAC(20), AmbiguityAware(EAC(20))):
        with pytest.raises(InvalidParameterError, match="n_clusters") as refused:
            model.fit(ensemble=MEMBERS)
        messages.append(str(refused.value))
    assert messages[0] == messages[1]


def test_the_number_trained_on_is_the_one_said(seed):
    """One of each cluster, where that is more than ``max_train``."""
    data, _, ensemble = mixture(seed)
    model = AmbiguityAware(EAC(3), action="svm", max_train=2, random_state=seed)
    with pytest.warns(ConsilienceWarning, match=r"trained on 3 of 1\d\d objects"):
        model.fit(data, ensemble=ensemble)


def test_data_are_needed_for_allocation_and_must_be_finite():
    with pytest.raises(InvalidInputError, match=r"allocate ambiguous objects. Got no X"):
        AmbiguityAware(EAC(2), action="svm").fit(ensemble=TORN)
    with pytest.raises(ValueError, match="X contains NaN"):
        AmbiguityAware(EAC(2)).fit(np.where(np.arange(16)[:, None] == 3, np.nan, X))


class OnlyFits:
    def fit(self, X=None, *, ensemble=None):
        return self


class OnlyTold(BaseEstimator):
    pass


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"consensus": OnlyFits()}, "'consensus' .* consensus estimator"),
        ({"consensus": OnlyTold()}, "'consensus' .* consensus estimator"),
        ({"consensus": "eac"}, "'consensus' parameter of AmbiguityAware .* Got 'eac'"),
        ({"consensus": EAC}, "'consensus' .* not a class"),
        ({"consensus": []}, "'consensus' .* at least one of them"),
        ({"consensus": SVC()}, "'consensus' .* consensus estimator"),
        ({"action": "drop"}, "'action' .* Got 'drop'"),
        ({"kernel": "poly"}, "'kernel' .* Got 'poly'"),
        ({"scoring": "best"}, "'scoring' .* Got 'best'"),
        ({"threshold": "eye"}, "'threshold' .* Got 'eye'"),
        ({"max_share": 2}, "'max_share' .* Got 2"),
        ({"max_train": 1}, "'max_train' .* Got 1"),
    ],
)
def test_bad_parameters_are_named(params, message):
    with pytest.raises(InvalidParameterError, match=message):
        AmbiguityAware(**{"consensus": CSPA(2), **params}).fit(ensemble=TORN)


def test_scores_are_numbers_that_fit_the_flags_where_members_say_nothing():
    # Object 0 is seen by nobody, 1 by one member, 2 is noise for all.
    members = np.array(MEMBERS)
    members[:, 0] = -2
    members[1:, 1] = -2
    members[:, 2] = -1
    ensemble = Ensemble(list(members))
    with pytest.warns(ConsilienceWarning, match="seen by no member"):
        model = AmbiguityAware(EAC(2)).fit(X, ensemble=ensemble)
    known = np.isfinite(ambiguous(ensemble).scores)
    assert np.flatnonzero(~known).tolist() == [0, 1, 2]
    assert np.isfinite(model.scores_).all()
    assert model.ambiguous_[:3].tolist() == [True, False, False]
    assert model.scores_[0] == model.scores_.min()
    assert (model.scores_[1:3] == model.scores_.max()).all()
