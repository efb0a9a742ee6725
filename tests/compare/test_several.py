"""Several methods on one ensemble: labels as by themselves, scores, refusals, the winner."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import adjusted_rand_score
from strategies import ensembles

from consilience.compare.several import compare_methods
from consilience.consensus import CONSENSUS, Method, eac, mcla, womc
from consilience.ensemble import Ensemble
from consilience.errors import InvalidInputError, InvalidParameterError
from consilience.metrics import anmi, consistency_index, nmi

# Methods that hold to any small ensemble.
PLAIN = ["eac", "lwea", "voting"]


def _ensemble(seed, n=60, n_members=12, wrong=0.2):
    """Three groups, of which every member sees some objects in the wrong one."""
    rng = np.random.default_rng(seed)
    truth = np.arange(n) % 3
    labels = np.tile(truth[:, None], n_members)
    noisy = rng.random(labels.shape) < wrong
    labels[noisy] = rng.integers(0, 3, noisy.sum())
    return Ensemble(labels), truth


def test_every_method_gives_what_it_gives_alone():
    ensemble, _ = _ensemble(0)
    found = compare_methods(ensemble, ["womc", "eac", "mcla"], 3, random_state=7)
    assert found.names == ("womc", "eac", "mcla")
    np.testing.assert_array_equal(found.labels["womc"], womc(ensemble, 3, random_state=7).labels)
    np.testing.assert_array_equal(found.labels["mcla"], mcla(ensemble, 3, random_state=7).labels)
    np.testing.assert_array_equal(found.labels["eac"], eac(ensemble, 3).labels)
    assert all(labels.dtype == np.int32 for labels in found.labels.values())
    assert found.failed == {}
    assert found.seconds.shape == (3,)
    assert (found.seconds >= 0).all()


def test_the_others_do_not_change_a_method():
    ensemble, _ = _ensemble(1, wrong=0.5)
    alone = compare_methods(ensemble, ["womc"], 3, random_state=np.random.RandomState(3))
    among = compare_methods(ensemble, ["kcc", "womc"], 3, random_state=np.random.RandomState(3))
    np.testing.assert_array_equal(alone.labels["womc"], among.labels["womc"])


@settings(max_examples=25, deadline=None)
@given(ensembles(min_objects=4, min_members=2, noise=False, unseen=False), st.integers(1, 3))
@pytest.mark.filterwarnings("ignore::consilience.errors.ConsilienceWarning")
def test_scores_follow_their_definitions(ensemble, k):
    found = compare_methods(ensemble, PLAIN, k)
    names = list(found.names)
    wanted = [[nmi(found.labels[a], found.labels[b]) for a in names] for b in names]
    np.testing.assert_allclose(found.agreement, wanted, atol=1e-12)
    np.testing.assert_array_equal(found.agreement, found.agreement.T)
    np.testing.assert_array_equal(np.diag(found.agreement), 1.0)
    np.testing.assert_allclose(found.anmi, [anmi(found.labels[a], ensemble) for a in names])
    assert found.best == names[int(np.argmax(found.anmi))]
    assert found.n_clusters.tolist() == [found.labels[a].max() + 1 for a in names]
    assert found.truth is None


def test_truth_scores_leave_out_objects_of_unknown_truth():
    ensemble, truth = _ensemble(2, wrong=0.6)
    known = np.arange(len(truth)) % 5 > 0
    names = np.array(["a", "b", "c"], object)[truth]
    names[~known] = None
    found = compare_methods(ensemble, ["eac", "mcla"], 3, truth=names, random_state=0)
    for i, name in enumerate(found.names):
        labels = found.labels[name]
        pair = truth[known], labels[known]
        assert found.truth["ari"][i] == pytest.approx(adjusted_rand_score(*pair))
        assert found.truth["nmi"][i] == pytest.approx(nmi(*pair))
        assert found.truth["consistency_index"][i] == pytest.approx(consistency_index(*pair))


def test_the_truth_has_no_say_in_the_winner():
    ensemble, truth = _ensemble(3, wrong=0.5)
    asked = compare_methods(ensemble, PLAIN, 3, truth=truth, random_state=0)
    other = np.random.default_rng(0).permutation(truth)
    wrong = compare_methods(ensemble, PLAIN, 3, truth=other, random_state=0)
    assert asked.best == wrong.best
    np.testing.assert_array_equal(asked.anmi, wrong.anmi)


def test_a_method_that_refuses_is_reported_and_the_rest_go_on(monkeypatch):
    def broken(ensemble, n_clusters):
        raise np.linalg.LinAlgError("the matrix\n is singular")

    _enter(monkeypatch, "broken", broken)
    ensemble, _ = _ensemble(4)
    found = compare_methods(ensemble, ["wosp", "broken", "eac"], 3)
    assert found.names == ("eac",)
    assert found.best == "eac"
    assert found.failed["broken"] == "the matrix is singular"
    assert "needs the data" in found.failed["wosp"]
    with pytest.raises(InvalidInputError, match="broken: the matrix is singular"):
        compare_methods(ensemble, ["broken", "wosp"], 3)


def test_a_mistake_in_a_method_is_not_hidden(monkeypatch):
    def mistaken(ensemble, n_clusters):
        raise AttributeError("no such thing")

    _enter(monkeypatch, "mistaken", mistaken)
    with pytest.raises(AttributeError, match="no such thing"):
        compare_methods(_ensemble(5)[0], ["eac", "mistaken"], 3)


def test_without_a_number_those_that_choose_one_go_on():
    found = compare_methods(_ensemble(6)[0], ["mcla", "eac"], None, random_state=0)
    assert found.names == ("eac",)
    assert "needs the number of clusters" in found.failed["mcla"]


def test_data_reach_the_methods_that_use_them():
    ensemble, truth = _ensemble(7)
    X = np.random.default_rng(0).normal(size=(len(truth), 2)) + 9 * truth[:, None]
    found = compare_methods(ensemble, ["wosp"], 3, X=X.tolist(), random_state=0)
    assert adjusted_rand_score(truth, found.labels["wosp"]) == 1.0


def test_own_parameters_reach_their_method():
    ensemble, _ = _ensemble(8, wrong=0.6)
    found = compare_methods(ensemble, ["eac"], 3, parameters={"eac": {"linkage": "single"}})
    np.testing.assert_array_equal(found.labels["eac"], eac(ensemble, 3, linkage="single").labels)


def test_members_that_saw_nothing_have_no_say():
    ensemble = Ensemble([[0, 0, 1, 1], [0, 0, 1, 1], [-2, -2, -2, -2]])
    assert compare_methods(ensemble, ["eac"], 2).anmi.tolist() == [1.0]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"names": ["nobody"]}, "'nobody'"),
        ({"names": []}, "at least one"),
        ({"names": "eac"}, "list of names"),
        ({"n_clusters": 0}, "'n_clusters'"),
        ({"n_clusters": 61}, "n_samples=60"),
        ({"X": np.zeros((59, 2))}, "X has 59"),
        ({"truth": [0] * 61}, "truth has 61"),
        ({"parameters": {"mcla": {}}}, "'mcla'"),
        ({"parameters": {"eac": {"link": "single"}}}, "no parameter 'link'"),
        ({"parameters": {"eac": {"n_jobs": 2}}}, "no parameter 'n_jobs'"),
        ({"random_state": "x"}, "'random_state'"),
    ],
)
def test_bad_input_is_refused_by_name(change, message):
    given_ = {"names": ["eac"], "n_clusters": 3} | change
    error = InvalidInputError if set(change) & {"X", "truth"} else InvalidParameterError
    with pytest.raises(error, match=message):
        compare_methods(_ensemble(9)[0], **given_)


def _enter(monkeypatch, name, function):
    entry = Method(name, function, "", "", False, True, False, False, "", "")
    monkeypatch.setitem(CONSENSUS, name, entry)


def test_a_table_of_labels_and_one_method_will_do():
    ensemble, truth = _ensemble(0)
    wanted = compare_methods(ensemble, ["eac"], 3, truth=truth)
    found = compare_methods(list(ensemble.members), ["eac"], 3, truth=truth)
    np.testing.assert_array_equal(found.labels["eac"], wanted.labels["eac"])
    assert found.agreement.tolist() == [[1.0]]
    assert found.truth["ari"].tolist() == [adjusted_rand_score(truth, found.labels["eac"])]
