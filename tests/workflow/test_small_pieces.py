"""Small pieces of jobs: what they refuse together, what they hand on, what little data say."""

from dataclasses import replace
from importlib import import_module
from types import SimpleNamespace

import numpy as np
import pytest

import consilience as cs
from consilience.consensus import CONSENSUS
from consilience.errors import ConsilienceError, InvalidParameterError
from consilience.predict import learn, placed
from consilience.predict._hashes import row_hashes
from consilience.workflow import (
    _alone,
    _job,
    _metric,
    _seeds,
    _soft_members,
    _view_agreement,
    ambiguity,
    clusters,
    compare_results,
    minority,
)
from consilience.workflow._methods import check_methods

doctor = import_module("consilience.workflow.doctor")  # not the function of that name
N = 18
X = np.random.default_rng(0).normal(size=(N, 2)) + 6.0 * (np.arange(N) % 3)[:, None]
FEW = {"n_members": 6, "random_state": 0}


# ---- what does not go together ----------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("methods", {"methods": ["eac", "kcc"]}),
        ("refine", {"refine": True}),
        ("must_link", {"must_link": [(0, 3)]}),
        ("cannot_link", {"cannot_link": [(0, 1)]}),
        ("partial_labels", {"partial_labels": {0: "a", 1: "b"}}),
    ],
)
def test_what_cannot_be_told_of_weighted_objects_is_refused(name, options):
    weights = 1 + np.arange(N) % 2
    with pytest.raises(InvalidParameterError) as caught:
        cs.cluster(X, 3, object_weights=weights, **FEW, **options)
    assert str(caught.value) == (
        f"'{name}' of cluster cannot be combined with 'object_weights'. Leave one of them out."
    )


def test_one_method_by_name_or_in_a_list_goes_with_weights():
    weights = 1 + np.arange(N) % 2
    one = cs.cluster(X, 3, object_weights=weights, method="eac", **FEW)
    listed = cs.cluster(X, 3, object_weights=weights, methods=["eac"], **FEW)
    np.testing.assert_array_equal(one.confidence, listed.confidence)
    with pytest.raises(InvalidParameterError, match="'X, several views,' of cluster cannot be"):
        cs.cluster({"a": X, "b": X}, 3, object_weights=weights, **FEW)


def test_as_many_groups_as_objects_and_no_more_go_with_weights():
    weights = 1 + np.arange(N) % 2
    found = cs.cluster(X, N, object_weights=weights, method="eac", **FEW)
    assert found.n_objects == N
    with pytest.raises(ConsilienceError, match=f"{N + 1}"):
        cs.cluster(X, N + 1, object_weights=weights, method="eac", **FEW)


def test_memberships_go_to_one_method_that_can():
    soft = [name for name, one in CONSENSUS.items() if one.soft]
    hard = next(name for name, one in CONSENSUS.items() if not one.soft)
    members = SimpleNamespace(is_soft=True)
    check = _soft_members.check_soft
    check(check_methods(soft[0]), members, None, False, owner="this")
    check(check_methods(), members, None, False, owner="this")
    check(check_methods(methods=[hard, soft[0]]), None, None, True, owner="this")
    maker = SimpleNamespace(makes_memberships=True)
    for given in ((members, None), (None, maker)):
        with pytest.raises(InvalidParameterError, match=f"The method '{hard}' combines labels"):
            check(check_methods(hard), *given, False, owner="this")
        for named, refine, name in (
            (check_methods(methods=soft[:2]), False, "methods"),
            (check_methods(methods=soft[:2]), True, "methods"),
            (check_methods(soft[0]), True, "refine"),
            (check_methods(), True, "refine"),
        ):
            with pytest.raises(InvalidParameterError) as caught:
                check(named, *given, refine, owner="this")
            assert str(caught.value) == (
                f"The '{name}' parameter of this takes members that are labels, and these are "
                "memberships. Leave it out, or give ensemble.harden()."
            )


def test_our_method_by_its_name_is_as_if_nobody_had_named_one():
    how = {"effort": "quick", "max_clusters": 4} | FEW
    found, wanted = cs.cluster(X, method="autoconsensus", **how), cs.cluster(X, **how)
    assert found.to_dict() == wanted.to_dict()
    np.testing.assert_array_equal(found.confidence, wanted.confidence)
    with pytest.raises(InvalidParameterError, match="the method finds its own"):
        cs.cluster(X, method="autoconsensus", strict=True, **FEW)


# ---- what is handed on ------------------------------------------------------------------------


def test_advice_is_asked_about_objects_columns_and_clusterings(monkeypatch):
    asked = []
    for module in (clusters, minority):
        monkeypatch.setattr(module, "advise", lambda *given: asked.append(given))
    cs.cluster(X, 3, method="eac", **FEW)
    cs.minority_groups(X, n_repetitions=7, random_state=0)
    members = np.column_stack([np.arange(N) % 3] * 5)
    cs.cluster(X, 3, method="eac", ensemble=members, random_state=0)  # nothing is to be made
    assert asked == [(N, 2, 6, None), (N, 2, 7, None)]


def test_kmeans_alone_is_the_best_of_ten_starts(monkeypatch):
    asked = []

    class KMeans:
        def __init__(self, *args, **how):
            asked.append((args, how))

        def fit_predict(self, rows):
            return np.arange(len(rows)) % 2

    monkeypatch.setattr("sklearn.cluster.KMeans", KMeans)
    labels, share = _alone.kmeans_alone(X, 2, np.arange(N) % 2)
    assert asked == [((2,), {"n_init": 10, "random_state": 0})]
    assert (labels.tolist(), share) == ((np.arange(N) % 2).tolist(), 1.0)


@pytest.mark.parametrize("wrong", [0, "x", 1.5])
def test_threads_are_refused_by_who_places_objects(wrong):
    members = cs.Ensemble(np.column_stack([np.arange(N) % 3] * 2))
    labels = (np.arange(N) % 3).astype(np.int32)
    hashes = row_hashes(X)
    with pytest.raises(InvalidParameterError, match="'n_jobs' parameter of learn"):
        learn(X, members, labels, hashes=hashes, n_jobs=wrong)
    placer = learn(X, members, labels, hashes=hashes)
    with pytest.raises(InvalidParameterError, match="'n_jobs' parameter of placed"):
        placed(placer, X, n_jobs=wrong)


def test_no_measurement_is_begun_after_the_time_is_up(monkeypatch):
    clock = iter(np.arange(0.0, 1000.0, 15.0))
    monkeypatch.setattr(doctor.time, "perf_counter", lambda: next(clock))
    for name in ("KMeansEnsemble", "co_association", "EWOCS"):
        monkeypatch.setattr(
            doctor, name, lambda *a, **k: SimpleNamespace(generate=lambda X: 0, fit=lambda X: 0)
        )
    # Asked at 15, begun at 30, done at 45; asked at 60, which is more than 40 after 0.
    found = doctor._measured(2, ())
    assert [(one.place, one.seconds) for one in found] == [("one core", 15.0)]


def test_what_is_measured_on_lies_in_five_groups(monkeypatch):
    given = []

    class Members:
        def __init__(self, *args, **how):
            pass

        def generate(self, rows):
            given.append(rows)

    monkeypatch.setattr(doctor, "KMeansEnsemble", Members)
    monkeypatch.setattr(doctor, "_LONG_ENOUGH", -1.0)
    assert doctor._measured(1, ()) == []
    (rows,) = given
    group = np.rint(rows.mean(axis=1) / 4)  # each column has the number of the group, and noise
    assert np.unique(group).tolist() == [0, 1, 2, 3, 4]
    assert np.bincount(group.astype(int)).min() > 1000
    np.testing.assert_allclose((rows - 4 * group[:, None]).std(), 1.0, atol=0.02)


def test_stages_are_timed_to_the_millisecond(monkeypatch):
    clock = iter([100.0, 100.12345, 200.0, 203.0])
    monkeypatch.setattr(_job.time, "perf_counter", lambda: next(clock))
    job = _job.Job("this", 2)

    def work(own):
        assert own is job
        with own.stage("a"):
            pass
        with own.stage("b"):
            pass
        return "done"

    assert job.run(work) == "done"
    assert job.seconds == {"a": 0.123, "b": 3.0}


def test_a_seed_is_the_number_given_the_one_of_the_folder_or_drawn():
    def run(seed):
        return SimpleNamespace(plan={"parameters": {"random_state": seed}})

    assert _seeds.job_seed(7, run(3)) == 7
    assert _seeds.job_seed(np.int8(7)) == 7
    assert _seeds.job_seed(None, run(3)) == 3
    assert _seeds.job_seed(None, run("12")) == 12
    drawn = np.random.RandomState(4).randint(2**31 - 1)
    assert _seeds.job_seed(np.random.RandomState(4), run(3)) == drawn
    for nothing in (run(None), run("RandomState(3)"), run(-1), SimpleNamespace(plan=None), None):
        found = [_seeds.job_seed(None, nothing) for _ in range(3)]
        assert len({*found}) == 3  # one in a thousand million is not
        assert all(0 <= one < 2**31 for one in found)


def test_groups_changed_by_hand_are_judged_by_the_members():
    members = np.column_stack([np.arange(N) % 3] * 4)
    members[0] = [0, 0, 0, 1]
    result = cs.cluster(ensemble=members, n_clusters=3, truth=np.arange(N) % 3, random_state=0)
    joined = result.merge([1, 2])
    assert joined.labels.tolist() == np.minimum(result.labels, 1).tolist()
    wanted = cs.evidence.confidence(result.ensemble, joined.labels)
    np.testing.assert_array_equal(joined.confidence, wanted.confidence)
    np.testing.assert_array_equal(joined.runner_up, wanted.runner_up)
    gone = ("choice", "clarity", "tree", "lifetimes", "n_moved", "seen")
    assert [getattr(joined, name) for name in gone] == [None] * 6
    assert joined.alternatives == ()
    assert joined.changes == ("Groups 1 and 2 were joined into group 1.",)
    assert (joined.chosen_by, joined.verdict) == ("user", None)
    assert joined.agreement["ari"] < result.agreement["ari"] == 1.0
    assert dict(joined.headline())["number"] == "Changed by hand. " + joined.changes[0]
    named = result.rename({2: "last"})
    assert named.names == ("", "", "last")
    assert named.changes == ("Named: group 2 'last'.",)
    assert named.rename({}) is named
    both = named.merge([0, 1])
    assert both.names == ("", "last")
    assert both.rows()[1][1][0] == "1 last"
    assert both.rows()[1][0][0] == "0"
    np.testing.assert_array_equal(named.confidence, result.confidence)
    for n, ok in ((3, False), (4, True), (5, True)):
        few = cs.cluster(ensemble=[[0] * n + [1] * 5] * 3, n_clusters=2, random_state=0)
        if ok:
            assert few.split(0).changes[0].startswith("Group 0 was ")
            continue
        with pytest.raises(InvalidParameterError) as caught:
            few.split(0)
        assert str(caught.value) == (
            "The 'group' parameter of ClusterResult.split is group 0 of 3 objects, too few to be "
            "divided. Name a larger one."
        )


# ---- distances --------------------------------------------------------------------------------


@pytest.mark.parametrize("unit", [1e-6, 1e-3, 1.0, 1e5])
def test_coordinates_have_the_unit_of_the_distances(unit):
    rng = np.random.default_rng(2)
    points = rng.normal(size=(9, 3))
    D = np.abs(points[:, None] - points[None]).sum(axis=2)
    wanted, fit = _metric.principal_coordinates(D)
    found, again = _metric.principal_coordinates(D * unit)
    assert found.shape == wanted.shape
    np.testing.assert_allclose(found / unit, wanted, rtol=1e-6, atol=1e-6)
    assert again == pytest.approx(fit)
    assert 0.9 < fit < 1
    # Of each axis the largest entry is positive.
    largest = np.abs(wanted).argmax(axis=0)
    assert (wanted[largest, np.arange(wanted.shape[1])] > 0).all()


@pytest.mark.parametrize("judged", [3, 4, 8, 9, 100])
def test_the_fit_is_the_correlation_over_some_objects(judged, monkeypatch):
    rng = np.random.default_rng(3)
    points, D = rng.normal(size=(9, 2)), rng.random((9, 9))
    D = D + D.T
    monkeypatch.setattr(_metric, "_JUDGED", judged)
    some = np.arange(0, 9, {3: 3, 4: 3, 8: 2, 9: 1, 100: 1}[judged])
    pairs = [(i, j) for i in some for j in some if i < j]
    own = [np.linalg.norm(points[i] - points[j]) for i, j in pairs]
    given = [D[i, j] for i, j in pairs]
    assert _metric._fit(points, D) == pytest.approx(np.corrcoef(own, given)[0, 1])
    assert _metric._fit(points * 0, D) == _metric._fit(points, D * 0) == 1.0


# ---- views ------------------------------------------------------------------------------------


def of_views(labels, views):
    records = [{"views": one} for one in views]
    return cs.Ensemble(np.asarray(labels), records=records)


def test_views_are_compared_over_two_objects_or_more():
    # Both views know objects 0 and 1; each knows others besides.
    first, second = [0, 1, 0, 1, -2, -2], [0, 1, -2, -2, 0, 1]
    labels = np.array([0, 1, 0, 1, 0, 1], np.int32)
    members = of_views(np.column_stack([first, first, second, second]), [[0], [0], [1], [1]])
    found = _view_agreement.view_agreement(("a", "b"), members, labels)
    assert (found.n_objects, found.n_members) == ((4, 4), (2, 2))
    assert found.between.tolist() == [[1.0, 1.0], [1.0, 1.0]]
    assert found.confidence.tolist() == [1.0, 1.0]
    assert found.by_group.tolist() == [[1.0, 1.0], [1.0, 1.0]]
    # They have one object in common: nothing to compare.
    second = [-2, 1, -2, -2, 0, 1]
    members = of_views(np.column_stack([first, second]), [[0], [1]])
    first_only = _view_agreement.view_agreement(("a", "b"), members, labels)
    assert first_only.between.tolist() == [[1.0, 0.0], [0.0, 1.0]]
    assert first_only.n_members == (1, 1)


def test_a_view_that_knows_nobody_in_a_group_says_nothing_of_it():
    labels = np.array([0, 0, 1, 1, -1], np.int32)
    alone = of_views([[-2, 0], [-2, 0], [0, 1], [0, 1], [1, 1]], [[0], [1]])
    found = _view_agreement.view_agreement(("a", "b"), alone, labels)
    assert np.isnan(found.by_group[0]).tolist() == [True, False]
    assert found.to_dict()["by_group"][0][0] is None
    nobody = of_views([[-2, 0], [-2, 0], [-2, 1], [-2, 1], [0, 1]], [[0], [1]])
    found = _view_agreement.view_agreement(("a", "b"), nobody, labels)
    assert found.confidence[0] == 0.0  # it knows the noise only
    assert _view_agreement.each_alone(3, alone, labels) is None
    assert _view_agreement.each_alone(2, cs.Ensemble(alone.labels), labels) is None


# ---- objects in doubt -------------------------------------------------------------------------


@pytest.fixture(scope="module")
def doubted():
    members = np.column_stack([np.arange(N) % 3, np.arange(N) % 3, np.arange(N) % 2])
    return cs.ambiguous_objects(ensemble=members, n_clusters=3, random_state=0)


def test_without_a_confidence_everybody_placed_is_sure():
    labels = np.array([0, 1, -1, 0], np.int32)
    members = cs.Ensemble(np.array([[0], [1], [-1], [-2]]))
    told = {"ensemble": members, "labels": labels, "confidence": None}
    found = ambiguity._judged(told, "confidence", None, None)
    np.testing.assert_array_equal(found.scores, [1.0, 1.0, np.nan, np.nan])
    assert found.flags.tolist() == [False, False, False, True]
    assert found.why == (
        "1 of 4 objects have a confidence below 0.75: another group has a third of the evidence "
        "for their own, or more; 1 of them no member saw"
    )
    assert (found.rule, found.threshold) == ("doubtful", 0.75)


def test_scores_of_one_value_have_no_histogram_and_of_two_they_do(doubted):
    def of(scores):
        judged = replace(doubted.ambiguity, scores=np.asarray(scores, float))
        return replace(doubted, ambiguity=judged).histogram(4)

    assert of([np.nan] * N) is None
    assert of([0.5] * N) is None
    assert of([0.5] + [np.nan] * (N - 1)) is None
    counts, edges = of([0.5] * (N - 1) + [0.25])
    assert (counts.sum(), len(counts), len(edges)) == (N, 4, 5)


def test_objects_without_a_rival_say_so(doubted):
    judged = replace(doubted.ambiguity, flags=np.arange(N) < 2)
    alone = replace(doubted, ambiguity=judged, runner_up=None).most_ambiguous()
    assert [one["runner_up"] for one in alone] == [-1, -1]
    with_rivals = replace(doubted, ambiguity=judged, runner_up=np.full(N, 2)).most_ambiguous(1)
    assert [one["runner_up"] for one in with_rivals] == [2]


@pytest.mark.parametrize("n_wrong", [0, 1, 2, 6])
def test_misplaced_objects_are_counted_among_the_doubted_and_the_others(n_wrong):
    labels = np.repeat([0, 1], 6).astype(np.int32)
    truth = np.repeat(["a", "b"], 6).astype(object)
    truth[:n_wrong] = "c"
    truth[11] = None  # not known
    flags = np.arange(12) < 3
    judged = SimpleNamespace(flags=flags, scores=np.where(np.arange(12) < n_wrong, 0.1, 0.9))
    found = ambiguity._against_truth(SimpleNamespace(truth=truth), labels, judged)
    if n_wrong == 6:  # then "c" is the group
        n_wrong = 0
    wrong = np.arange(11) < n_wrong
    assert found == {
        "n_misplaced": n_wrong,
        "misplaced_ambiguous": pytest.approx(wrong[:3].mean()),
        "misplaced_others": pytest.approx(wrong[3:].mean()),
        "auc": 1.0 if n_wrong else None,
    }
    nobody = SimpleNamespace(flags=np.zeros(12, bool), scores=np.ones(12))
    told = ambiguity._against_truth(SimpleNamespace(truth=truth), labels, nobody)
    assert told["misplaced_ambiguous"] is None
    assert ambiguity._against_truth(SimpleNamespace(truth=None), labels, judged) is None


def test_objects_in_no_group_are_no_partners():
    found = compare_results([-1, 0, 0, 1], [-1, 0, 0, -1])
    assert found.match == {0: 0}
    assert found.moved["object"].tolist() == [3]
    assert found.lines()[-2:] == [
        "cluster 1 (1) is gone: 1 in no cluster",
        "no cluster (1) now: 1 in no cluster",
    ]
    assert compare_results([0, 0], [-1, -1]).match == {}
    assert compare_results([-1, -1], [-1, -1]).match == {}
