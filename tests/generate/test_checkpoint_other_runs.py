"""A folder of another run, of other data, parameters, versions or jobs, is refused."""

import json
import pickle
import shutil
from pathlib import Path

import numpy as np
import pytest
from generate.run_folders import (
    INNER,
    Odd,
    assert_same,
    make_data,
    member_files,
    seeded,
    whole_run,
)
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn.cluster import DBSCAN, KMeans
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from consilience.generate import (
    EstimatorEnsemble,
    KMeansEnsemble,
    LACEnsemble,
)
from consilience.generate._plan import fingerprint, make_plan
from consilience.generate.checkpoint import ResumeError, RunFolder


def _changed_value(X):
    X[41, 2] += 1e-12
    return X


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (_changed_value, r"the data have other values, first among rows 41 to 41\."),
        (lambda X: X[:-3], r"the shape of the data was 60 x 4, now 57 x 4\."),
        (lambda X: X[:, :3], r"the shape of the data was 60 x 4, now 60 x 3\."),
        (lambda X: X.astype(np.float32), r"the type of the data was float64, now float32\."),
    ],
)
def test_other_data_are_refused(X, change, message):
    for name in ("kmeans", "combined"):
        run = RunFolder(whole_run(name)[0].name)
        # LAC, which is part of the combined generator, takes no sparse data at all.
        with pytest.raises(ResumeError, match=rf"holds another run.*: {message}.*clear\(\)"):
            seeded(name).generate(change(X.copy()), checkpoint=run)


def test_sparse_data_are_other_data_unless_they_are_small(X, monkeypatch):
    folder, _, whole = whole_run("kmeans")
    again = seeded("kmeans").generate(sparse.csr_array(X), checkpoint=RunFolder(folder.name))
    np.testing.assert_array_equal(again.members, whole.members)
    monkeypatch.setattr("consilience.generate.kmeans._SMALL", X.size - 1)
    with pytest.raises(ResumeError, match=r"data was float64, now sparse float64\."):
        seeded("kmeans").generate(sparse.csr_array(X), checkpoint=RunFolder(folder.name))


@pytest.mark.parametrize(
    ("name", "params", "wanted"),
    [
        ("kmeans", {"n_clusters": 3}, "n_clusters was (2, 4), now 3"),
        ("kmeans", {"n_clusters": [2, 4]}, "n_clusters was (2, 4), now [2, 4]"),
        ("kmeans", {"n_members": 50}, "n_members was 40, now 50"),
        ("kmeans", {"random_state": 8}, "random_state was 7, now 8"),
        ("kmeans", {"random_state": None}, "random_state was 7, now None"),
        ("estimators", {"n_clusters": [2, 4]}, "n_clusters was [2, 3], now [2, 4]"),
        (
            "estimators",
            {"estimators": [KMeans(n_init=2), DBSCAN(eps=0.6)]},
            "estimators[0].n_init was 1, now 2",
        ),
        (
            "estimators",
            {"estimators": [KMeans(n_init=1), KMeans(n_init=1)]},
            "estimators[1] was DBSCAN, now KMeans",
        ),
        (
            "combined",
            {"generators": [KMeansEnsemble(20, 2, max_iter=9), INNER]},
            "generators[0].max_iter was 100, now 9",
        ),
    ],
)
def test_other_parameters_are_refused_by_name_with_both_values(X, name, params, wanted):
    run = RunFolder(whole_run(name)[0].name)
    before = member_files(run.folder)
    with pytest.raises(ResumeError, match="Run it as it was, take another folder, or") as caught:
        seeded(name).set_params(**params).generate(X, checkpoint=run)
    assert wanted in caught.value.differences
    assert wanted in str(caught.value)
    assert caught.value.folder == run.folder
    assert member_files(run.folder) == before
    copy = pickle.loads(pickle.dumps(caught.value))
    assert (str(copy), copy.differences) == (str(caught.value), caught.value.differences)


def test_another_generator_is_refused(X):
    run = RunFolder(whole_run("kmeans")[0].name)
    with pytest.raises(ResumeError, match=r"generator was \S*KMeansEnsemble, now \S*LACEnsemble"):
        LACEnsemble(6, 3).generate(X, checkpoint=run)


@pytest.mark.parametrize("package", ["consilience", "scikit-learn", "numpy"])
def test_another_version_is_refused(X, tmp_path, package):
    shutil.copytree(whole_run("kmeans")[0].name, tmp_path, dirs_exist_ok=True)
    plan = json.loads((tmp_path / "plan.json").read_text())
    plan["versions"][package] = "0.0.1"
    (tmp_path / "plan.json").write_text(json.dumps(plan))
    with pytest.raises(ResumeError, match=rf"the version of {package} was 0\.0\.1, now \d"):
        seeded("kmeans").generate(X, checkpoint=RunFolder(tmp_path))


def test_another_job_is_refused(X, tmp_path):
    generator = KMeansEnsemble(4, 2, random_state=0)
    job = {"data": Path("cells.csv"), "scale": "standard", "columns": ("a", "b")}
    whole = generator.generate(X, checkpoint=RunFolder(tmp_path, job=job))
    assert RunFolder(tmp_path).plan["job"] == {
        "data": "cells.csv",
        "scale": "standard",
        "columns": ["a", "b"],
    }
    assert_same(generator.generate(X, checkpoint=RunFolder(tmp_path, job=job)), whole)
    other = {**job, "scale": "none", "impute": "mean"}
    with pytest.raises(ResumeError) as caught:
        generator.generate(X, checkpoint=RunFolder(tmp_path, job=other))
    wanted = ("scale was standard, now none", "impute was not given, now mean")
    assert caught.value.differences == wanted


def test_a_random_state_is_known_by_what_it_draws(X, tmp_path):
    state = np.random.RandomState(3)
    generator = KMeansEnsemble(6, 2, random_state=state)
    whole = generator.generate(X, checkpoint=RunFolder(tmp_path))
    with pytest.raises(ResumeError, match="the seeds that 'random_state' draws are others"):
        generator.generate(X, checkpoint=RunFolder(tmp_path))
    generator.set_params(random_state=np.random.RandomState(3))
    assert_same(generator.generate(X, checkpoint=RunFolder(tmp_path)), whole)


def test_a_folder_with_a_run_is_refused_without_resume(X, tmp_path):
    generator = KMeansEnsemble(4, 2, random_state=0)
    run = RunFolder(tmp_path / "new" / "folder", resume=False)
    generator.generate(X, checkpoint=run)
    with pytest.raises(ResumeError, match=r"already holds a run \(4 of 4 members\). Resume it"):
        generator.generate(X, checkpoint=run)


@settings(max_examples=25)
@given(st.integers(2, 200), st.integers(1, 4), st.data(), st.booleans())
def test_any_other_value_gives_another_fingerprint(n, d, data, thin):
    X = np.arange(n * d, dtype=float).reshape(n, d)
    row, column = data.draw(st.integers(0, n - 1)), data.draw(st.integers(0, d - 1))
    other = X.copy()
    other[row, column] += 0.5
    shape = sparse.csr_array if thin else np.asarray
    first, second = fingerprint(shape(X)), fingerprint(shape(other))
    assert first == fingerprint(shape(X.copy()))
    pairs = zip(first["digests"], second["digests"], strict=True)
    # The first: in a sparse matrix one more value shifts all rows behind it.
    block = next(b for b, (before, now) in enumerate(pairs) if before != now)
    assert first["rows"][block] <= row < first["rows"][block + 1]


def test_a_plan_is_the_same_in_every_process():
    odd = {"b", "a", "c"}
    deep = make_pipeline(StandardScaler(), KMeans(init=np.eye(2), n_init=1))
    generator = EstimatorEnsemble([deep, Odd(random_state=odd), Odd(random_state={"f": len})])
    generator.estimators[0].set_params(kmeans__tol=np.float64(0.1))
    told = make_plan(generator, np.eye(3), 3, [1, 2, 3], {})["parameters"]
    assert told["estimators[0].steps[1][1].tol"] == "0.1"
    assert told["estimators[0].steps[1][1].init"].startswith("array (2, 2) float64 ")
    assert told["estimators[1].random_state"] == "{'a', 'b', 'c'}"
    assert told["estimators[2].random_state"] == "{'f': <built-in function len>}"
    assert "n_jobs" not in told
    own = EstimatorEnsemble(Odd(random_state=make_data))
    text = make_plan(own, np.eye(3), 3, [1, 2, 3], {})["parameters"]["estimators.random_state"]
    assert text == "<function make_data>"


def test_long_values_are_cut_short_unless_that_hides_the_difference(X, tmp_path):
    generator = KMeansEnsemble(4, list(range(2, 50)), random_state=0)
    run = RunFolder(tmp_path)
    generator.generate(X, checkpoint=run)
    with pytest.raises(ResumeError) as caught:
        generator.set_params(n_clusters=[3, *range(3, 50)]).generate(X, checkpoint=run)
    assert len(caught.value.differences[0]) < 200
    with pytest.raises(ResumeError, match="48, 50]"):
        generator.set_params(n_clusters=[*range(2, 49), 50]).generate(X, checkpoint=run)
