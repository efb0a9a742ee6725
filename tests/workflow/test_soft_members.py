"""Memberships as members of a whole job."""

import numpy as np
import pytest
from sklearn.metrics import adjusted_rand_score

import consilience as cs
from consilience import SoftEnsemble
from consilience.errors import InvalidParameterError
from consilience.generate import MembershipEnsemble


@pytest.fixture(scope="module")
def sample():
    X, groups = cs.datasets.make_gaussians(150, 3, separation=6, random_state=0)
    return X, groups, MembershipEnsemble(12, (2, 5), random_state=0).generate(X)


def test_a_method_that_can_combines_memberships(sample):
    X, groups, soft = sample
    result = cs.cluster(X, 3, ensemble=soft, method="sec", random_state=0)
    own = cs.SEC(3, random_state=result.seed).fit(ensemble=soft)
    np.testing.assert_array_equal(result.labels, own.labels_)
    np.testing.assert_array_equal(result.confidence, own.confidence_)
    assert result.soft_members is soft
    np.testing.assert_array_equal(result.ensemble.labels, soft.harden().labels)
    assert any("The members are memberships" in note for note in result.notes)
    assert adjusted_rand_score(groups, result.labels) > 0.9


@pytest.mark.parametrize("options", [{}, {"strict": True}, {"must_link": [(0, 1)]}])
def test_without_a_method_labels_find_the_groups_and_memberships_judge(sample, options):
    X, _, soft = sample
    result = cs.cluster(X, ensemble=soft, effort="default", random_state=0, **options)
    sure = cs.evidence.confidence(soft, result.labels).confidence
    np.testing.assert_array_equal(result.confidence, sure)


def test_a_generator_may_make_them_and_pages_are_written(sample, tmp_path):
    X, groups, _ = sample
    made = cs.cluster(X, 3, generator=MembershipEnsemble(6, 3), method="lwgp", random_state=0)
    assert made.soft_members.n_members == 6
    made.report(tmp_path / "page.html")
    assert adjusted_rand_score(groups, made.predict(X).labels) > 0.9


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"method": "cspa"}, r"'cspa' combines labels.*Take .*sec.*womc, or give ensemble.harden"),
        ({"methods": ["sec", "kcc"]}, r"'methods' parameter of cluster takes members that are lab"),
        ({"refine": True}, r"'refine' parameter of cluster"),
    ],
)
def test_what_cannot_be_done_with_memberships_is_refused_first(sample, options, message):
    X, _, soft = sample
    with pytest.raises(InvalidParameterError, match=message):
        cs.cluster(X, 3, ensemble=soft, **options)
    with pytest.raises(InvalidParameterError, match=message):
        cs.cluster(X, 3, generator=MembershipEnsemble(), **options)


def test_memberships_of_0_and_1_are_labels(sample):
    X, _, soft = sample
    first, second = (
        cs.cluster(X, ensemble=members, method="eac", n_clusters=3, random_state=0)
        for members in (soft.harden(), SoftEnsemble(soft.harden()))
    )
    assert second.soft_members is None
    np.testing.assert_array_equal(first.labels, second.labels)
    np.testing.assert_array_equal(first.confidence, second.confidence)
