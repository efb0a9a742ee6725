"""Soft members: fuzzy c-means, mixtures and whatever gives memberships."""

import warnings

import numpy as np
import pytest
from joblib import parallel_config
from sklearn.base import BaseEstimator
from sklearn.decomposition import PCA, LatentDirichletAllocation
from sklearn.metrics import adjusted_rand_score
from sklearn.mixture import BayesianGaussianMixture
from sklearn.utils.estimator_checks import parametrize_with_checks

from consilience import SoftEnsemble
from consilience.errors import ConsilienceWarning, InvalidParameterError
from consilience.generate import (
    Combined,
    FuzzyCMeans,
    KMeansEnsemble,
    MembershipEnsemble,
    RunFolder,
)


@pytest.fixture
def X():
    rng = np.random.default_rng(5)
    return np.concatenate([rng.normal(c, 0.4, (20, 4)) for c in (0.5, 2.5, 4.5)])


@parametrize_with_checks([FuzzyCMeans(3), FuzzyCMeans(2, fuzziness=1.3)])
def test_scikit_learn_conventions(estimator, check):
    check(estimator)


def test_memberships_are_those_of_the_formula(X, seed):
    model = FuzzyCMeans(3, fuzziness=1.7, random_state=seed).fit(X)
    d2 = ((X[:, None] - model.cluster_centers_[None]) ** 2).sum(axis=2)
    wanted = 1.0 / ((d2[:, :, None] / d2[:, None, :]) ** (1 / 0.7)).sum(axis=2)
    np.testing.assert_allclose(model.memberships_, wanted, atol=1e-12)
    assert model.objective_ == pytest.approx((wanted**1.7 * d2).sum())
    assert model.converged_
    np.testing.assert_allclose(model.predict_proba(X), model.memberships_)
    # Centres are the means by memberships to the power of the fuzziness, once it has settled.
    weights = wanted**1.7
    means = weights.T @ X / weights.sum(axis=0)[:, None]
    np.testing.assert_allclose(means, model.cluster_centers_, atol=1e-3)


def test_little_fuzziness_is_k_means_and_objects_at_a_centre_belong_there():
    X = np.array([[0.0], [0.0], [1.0], [9.0], [10.0]])
    model = FuzzyCMeans(2, fuzziness=1.05, random_state=0).fit(X)
    assert adjusted_rand_score([0, 0, 0, 1, 1], model.labels_) == 1.0
    model.cluster_centers_ = np.array([[0.0], [9.0]])
    assert model.predict_proba([[0.0], [9.0]]).tolist() == [[1.0, 0.0], [0.0, 1.0]]
    same = FuzzyCMeans(2, random_state=0).fit(np.ones((4, 1)))
    assert (same.memberships_ == 0.5).all()
    with pytest.raises(ValueError, match="is expecting 1 features"):
        same.predict(np.ones((2, 3)))


def test_centres_start_at_different_places_where_there_are_enough(seed):
    X = np.array([[0.0], [-0.0], [0.0], [0.0], [9.0], [0.0]])
    model = FuzzyCMeans(2, random_state=seed).fit(X)
    assert model.labels_[4] not in np.delete(model.labels_, 4)
    few = FuzzyCMeans(3, random_state=seed).fit(X)
    np.testing.assert_allclose(np.unique(few.cluster_centers_.round(3) + 0.0), [0.0, 9.0])


def test_columns_in_another_order_are_refused(X):
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame(X, columns=list("abcd"))
    model = FuzzyCMeans(3, random_state=0).fit(frame)
    np.testing.assert_array_equal(model.predict(frame), model.labels_)
    with pytest.raises(ValueError, match="feature names"):
        model.predict(frame[list("badc")])


def test_members_are_soft_and_seeds_fix_them(X):
    generator = MembershipEnsemble(4, (2, 3), random_state=1)
    with parallel_config(backend="threading"):  # processes: tests/generate/test_contract.py
        runs = [generator.set_params(n_jobs=jobs).generate(X) for jobs in (None, 2)]
    assert isinstance(runs[0], SoftEnsemble)
    np.testing.assert_array_equal(runs[0].memberships, runs[1].memberships)
    np.testing.assert_allclose(runs[0].of_member(0).sum(axis=1), 1.0)
    other = MembershipEnsemble(4, (2, 3), random_state=2).generate(X)
    assert (
        other.memberships.shape != runs[0].memberships.shape
        or (other.memberships != runs[0].memberships).any()
    )
    algorithms = [record["algorithm"] for record in runs[0].records]
    assert [a.partition("(")[0] for a in algorithms] == ["GaussianMixture", "FuzzyCMeans"] * 2


def test_objects_left_out_are_predicted_or_unseen(X):
    generator = MembershipEnsemble(3, 2, max_samples=0.6, max_features=0.5, random_state=0)
    assert not generator.generate(X).has_unseen
    unseen = generator.set_params(assign="unseen").generate(X)
    assert ((unseen.labels == -2).sum(axis=0) == 24).all()


def test_topics_and_other_models_join(X):
    topics = LatentDirichletAllocation(max_iter=2)
    models = [topics, BayesianGaussianMixture()]
    soft = MembershipEnsemble(2, 3, estimators=models, random_state=0).generate(np.abs(X))
    assert soft.n_clusters.tolist() == [3, 3]
    both = Combined([MembershipEnsemble(2, 3), KMeansEnsemble(3, 2)], random_state=0).generate(X)
    assert both.is_soft
    assert both.n_members == 5


def test_what_gives_no_memberships_is_refused_or_left_out(X):
    class Nothing(BaseEstimator):
        def fit(self, X, y=None):
            return self

    with pytest.raises(InvalidParameterError, match=r"'estimators' parameter of Membership"):
        MembershipEnsemble(2, 3, estimators=Nothing()).generate(X)
    models = [FuzzyCMeans(), PCA()]  # whose transform gives no shares
    with pytest.warns(ConsilienceWarning, match=r"1 of 2 members failed.*rows sum otherwise"):
        found = MembershipEnsemble(2, 3, estimators=models, random_state=0).generate(X)
    assert found.n_members == 1


def test_a_run_goes_on_where_it_ended(X, tmp_path):
    generator = MembershipEnsemble(4, 3, random_state=0)
    whole = generator.generate(X)
    folder = RunFolder(tmp_path / "run")
    first = generator.generate(X, checkpoint=folder)
    np.testing.assert_array_equal(first.memberships, whole.memberships)
    (tmp_path / "run" / "members" / "0002.npz").unlink()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        again = generator.generate(X, checkpoint=folder)
    np.testing.assert_array_equal(again.memberships, whole.memberships)
