"""`result.profile()`: in the units of the data, once, and of any other table."""

import dataclasses

import numpy as np
import pytest
from scipy import sparse

import consilience as cs
from consilience.explain import profile


@pytest.fixture
def result(table):
    return cs.cluster(table, 3, n_members=20, random_state=0)


def test_it_is_the_profile_of_the_columns_in_their_own_units(result, table):
    found = result.profile()
    wanted = profile(
        table.X,
        result.labels,
        columns=table.columns,
        ids=table.ids,
        ensemble=result.ensemble,
        confidence=result.confidence,
    )
    assert str(found) == str(wanted)
    median = found.to_pandas("differences").set_index(["cluster", "column"])["median"]
    for g in range(3):
        assert median[g, "w"] == np.median(table.X[result.labels == g, 2])
    assert "same" in found.columns["column"]  # constant, and left out of the clustering
    assert "p-values are not tests" in str(found)
    assert "profile()" in repr(result)


def test_it_is_made_once_and_anew_for_another_result(result):
    assert result.profile() is result.profile()
    other = dataclasses.replace(result, labels=np.where(result.labels == 2, 1, result.labels))
    assert len(other.profile().clusters["cluster"]) == 2
    assert result.profile(level=0.9).level == 0.9


def test_other_columns_explain_the_groups_too(result):
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(
        {"town": np.array(["Bern", "Graz", "Lyon"])[result.labels], "luck": np.arange(75.0) % 7}
    )
    frame.loc[::9, "town"] = None
    found = result.profile(frame)
    assert found.columns["column"].tolist() == ["town", "luck"]
    assert found.clusters["rule"][0] == "town is Bern"
    assert not found.clustered
    assert "p-values are not tests" not in str(found)
    named = result.profile(np.ones((75, 1)) * result.labels[:, None], columns=["number"])
    assert named.columns["column"].tolist() == ["number"]


def test_sparse_data_are_words():
    rng = np.random.default_rng(0)
    groups = np.repeat([0, 1], 40)
    counts = (rng.random((80, 200)) < 0.02).astype(float)
    counts[:, :10] += rng.random((80, 10)) < 0.7 * (groups == 0)[:, None]
    counts[:, 10:20] += rng.random((80, 10)) < 0.7 * (groups == 1)[:, None]
    result = cs.cluster(sparse.csr_matrix(counts), 2, n_members=20, random_state=0)
    words = result.profile().columns
    assert set(words["kind"]) == {"word"}
    assert {int(name[1:]) for name in words["column"][:20]} == set(range(20))


def test_labelings_alone_have_objects_only():
    members = np.array([[0, 0, 0, 1, 1, 1], [0, 0, 0, 1, 1, 1], [0, 0, 1, 1, 1, 1]])
    result = cs.cluster(ensemble=list(members), n_clusters=2)
    found = result.profile()
    assert len(found.columns["column"]) == 0
    assert found.objects["role"].tolist().count("typical") == 6


def test_the_page_has_the_profile(result):
    page = result.page()
    (part,) = [part for part in page["sections"] if part["id"] == "profile"]
    assert [figure["kind"] for figure in part["figures"]][:3] == ["bars", "cards", "table"]
    assert "p-values are not tests of whether the groups exist" in part["read"]
