"""Jobs at their edges: stages, crumbs, empty groups, failed writing, what a machine does."""

import os
from contextlib import nullcontext
from importlib import import_module
from types import SimpleNamespace

import numpy as np
import pytest

import consilience as cs
from consilience.errors import ConsilienceWarning
from consilience.workflow import _data, _new_objects, large, large_minority, minority
from consilience.workflow._data import Data

doctor = import_module("consilience.workflow.doctor")  # not the function of that name
X = np.random.default_rng(0).normal(size=(30, 2)) + 9 * (np.arange(30) % 3)[:, None]
CLIQUE = np.array([[a, b] for a in range(5) for b in range(a)])
GRAPH = np.vstack([CLIQUE + 5 * g for g in range(3)])


class Stages:
    """Keeps how many stages a job told of, and how many it said there would be."""

    def __init__(self):
        self.told, self.promised = [], None

    def setup(self, estimator, context):
        pass

    def teardown(self, estimator, context):
        pass

    def on_fit_task_begin(self, estimator, context):
        if context.parent is None:
            self.promised = context.max_subtasks
        elif context.parent.parent is None:
            self.told.append(context.task_name)

    def on_fit_task_end(self, estimator, context):
        pass


FEW = {"n_members": 3, "random_state": 0}
JOBS = {
    "cluster": (cs.cluster, X, 3, {"method": "eac", **FEW}),
    "cluster, number looked for": (cs.cluster, X, None, FEW),
    "cluster, strict": (cs.cluster, X, None, {"strict": True, **FEW}),
    "ambiguous": (cs.ambiguous_objects, X, 3, FEW),
    "ambiguous, number looked for": (cs.ambiguous_objects, X, None, FEW),
    "minority": (cs.minority_groups, X, None, {"n_repetitions": 5, "random_state": 0}),
    "graph": (lambda X, k, **how: cs.cluster_graph(GRAPH, **how), X, None, FEW),
}


@pytest.mark.filterwarnings("ignore::consilience.errors.ConsilienceWarning")
@pytest.mark.parametrize("name", JOBS)
def test_a_job_has_as_many_stages_as_it_says(name):
    job, data, k, how = JOBS[name]
    stages = Stages()
    result = job(data, k, callbacks=[stages], **how)
    assert stages.promised == len(stages.told)
    assert list(result.seconds) == stages.told


@pytest.mark.parametrize(
    ("k", "found", "warned"), [(minority._MANY - 1, 3, False), (minority._MANY, 3, True)]
)
def test_many_groups_of_hardly_anybody_are_crumbs(k, found, warned):
    model = SimpleNamespace(n_foreground_=found, n_clusters_=k)
    with pytest.warns(ConsilienceWarning) if warned else nullcontext():
        minority._warn_of_crumbs(model)
    # As many as this are a group; warnings are errors here.
    minority._warn_of_crumbs(SimpleNamespace(n_foreground_=minority._CRUMB * k, n_clusters_=k))


@pytest.mark.filterwarnings("ignore::consilience.errors.ConsilienceWarning")
def test_nobody_has_no_mean_score():
    found = cs.minority_groups(X, threshold=-1e9, n_repetitions=5, random_state=0)
    assert np.isnan(found.mean_score(-1))
    assert found.mean_score(0) == pytest.approx(found.scores[found.labels == 0].mean())


def test_values_of_some_objects_come_as_what_they_were():
    some = np.array([2, 0])
    assert _data.taken(None, some) is None
    assert _data.taken(["a", "b", "c"], some) == ["c", "a"]
    np.testing.assert_array_equal(_data.taken(np.array([5, 6, 7]), some), [7, 5])


def test_new_objects_are_read_by_the_names_that_columns_came_with():
    rows = np.ones((3, 2))
    named = Data(3, rows, ("a", "b"), original=rows, original_columns=("a", "b"))
    assert [one.name for one in _new_objects.recipe_of(named).columns] == ["a", "b"]
    numbered = Data(3, rows, ("c0", "c1"), original=rows, original_columns=("c0", "c1"))
    assert _new_objects.recipe_of(numbered) is None


@pytest.mark.parametrize(
    ("rows", "words"),
    [
        ([[1.0, np.nan], ["x", np.inf]], " (in 'a' (1) and 'b' (2))"),
        ([[1.0, 2.0]], ""),
        ([[1.0]], ""),
        ([1.0, np.nan], ""),
    ],
)
def test_columns_with_what_is_no_number_are_named(rows, words):
    assert _new_objects._where_bad(np.array(rows, object), ("a", "b")) == words


def test_a_result_in_parts_that_cannot_be_written_leaves_nothing(tmp_path, monkeypatch):
    monkeypatch.setattr(large_minority, "part_names", lambda n: ["labels/part-0001.npz"])

    def write(result, number, path):
        path.write_bytes(b"x")

    monkeypatch.setattr(large_minority, "write_part", write)
    shown = []
    whole = SimpleNamespace(
        n_objects=3,
        to_dict=lambda: {"a": 1},
        sample=SimpleNamespace(report=lambda path, title: shown.append((path, title))),
    )
    save = large_minority.LargeMinorityResult.save
    save(whole, tmp_path / "deep" / "good")
    found = sorted(path.name for path in (tmp_path / "deep" / "good").rglob("*"))
    assert found == ["labels", "part-0001.npz", "summary.json"]
    assert (tmp_path / "deep/good/summary.json").read_text() == '{\n  "a": 1\n}\n'

    def fail():
        raise OSError("no space")

    (tmp_path / "bad").mkdir()
    with pytest.raises(OSError, match="no space"):
        save(SimpleNamespace(n_objects=3, to_dict=fail), tmp_path / "bad")
    assert list((tmp_path / "bad").iterdir()) == []
    large_minority.LargeMinorityResult.report(whole, tmp_path / "page.html", title="T")
    assert shown == [(tmp_path / "page.html", "T")]


def test_a_large_result_is_explored_by_its_face(monkeypatch):
    asked = []
    face = SimpleNamespace(
        explore=lambda result, **how: asked.append((result, how)) or "served",
        shown=lambda result: ("shown", result),
    )
    monkeypatch.setattr(large, "face", lambda name: face if name == "explore" else None)
    assert large.LargeResult.explore("result") == "served"
    assert asked == [("result", {"host": "127.0.0.1", "port": 0, "browser": True})]
    assert large.LargeResult._repr_mimebundle_("result") == ("shown", "result")


def test_what_is_measured_is_what_the_words_say(monkeypatch):
    asked = []

    class Members:
        def __init__(self, *args, **how):
            self.how = (args, how)

        def generate(self, rows):
            asked.append(("members", *self.how, rows.shape))
            return "members"

    class Weak:
        def __init__(self, **how):
            self.how = how

        def fit(self, rows):
            asked.append(("weak", (), self.how, rows.shape))

    def pairs(members, **how):
        asked.append(("pairs", (members,), how, None))

    for name, double in (("KMeansEnsemble", Members), ("co_association", pairs), ("EWOCS", Weak)):
        monkeypatch.setattr(doctor, name, double)
    found = doctor._measured(3, ({"name": "cuda:0"}, {"name": "cuda:1"}))
    places = ["one core", "all cores", "cuda:0"]
    assert [one.place for one in found] == places * 3
    assert [one.work for one in found[::3]] == [
        "20 k-means members of 20,000 x 16",
        "pair counts of 6,000 objects, 50 members",
        "100 weak clusterings of 5,000 x 4",
    ]
    assert all(0 <= one.seconds < 1 for one in found)
    places = ({"n_jobs": 1}, {"n_jobs": 3}, {"device": "cuda:0"})
    where = [place for place in places for _ in range(2)]  # the second call is the one timed
    common = {"random_state": 0}
    assert asked[0] == ("members", (50, (5, 20)), common | {"max_iter": 10}, (6000, 16))
    many = common | {"max_iter": 20}
    members = [("members", (20, (10, 30)), many | w, (20_000, 16)) for w in where]
    counts = [("pairs", ("members",), {"values": "count"} | w, None) for w in where]
    how = {"gamma": 0.1, "scaling": "none", "threshold": "2gauss", "clusterer": None}
    weak = [("weak", (), common | {"n_repetitions": 100} | how | w, (5000, 4)) for w in where]
    assert asked[1:] == [*members, *counts, *weak]
    assert {one.place for one in doctor._measured(1, ())} == {"one core"}


def test_cores_and_memory_where_the_system_does_not_say(monkeypatch):
    monkeypatch.delattr(os, "sched_getaffinity", raising=False)
    monkeypatch.setattr(os, "cpu_count", lambda: 7)
    assert doctor._cores() == 7
    monkeypatch.setattr(os, "cpu_count", lambda: None)
    assert doctor._cores() == 1

    def unknown(name):
        raise ValueError(name)

    monkeypatch.setattr(os, "sysconf", unknown, raising=False)
    assert doctor._memory() == (None, None)
