"""The job of a graph: what the result says, seeds, resuming, refusals."""

import numpy as np
import pytest

import consilience as cs
from consilience.errors import ConsilienceError, InvalidParameterError

pytest.importorskip("sknetwork")


@pytest.fixture(scope="module")
def sample():
    return cs.datasets.make_lfr(200, mixing=0.2, random_state=0)


@pytest.fixture(scope="module")
def result(sample):
    return cs.cluster_graph(sample.edges, truth=sample.groups, n_members=12, random_state=0)


def test_all_there_is_to_say(sample, result):
    assert result.agreement["nmi"] == pytest.approx(1)
    assert result.n_clusters == sample.groups.max() + 1
    assert sum(result.sizes) == result.n_objects == 200
    assert (result.verdict, result.n_noise) == ("clear", 0)
    assert 1 <= result.n_rounds <= 3
    assert ((result.confidence >= 0) & (result.confidence <= 1)).all()
    facts = result.to_dict()
    assert facts["data"] == {"n_objects": 200, "n_edges": len(sample.edges)}
    assert facts["clarity"]["verdict"] == "clear"
    assert "communities" in repr(result)
    assert "GraphResult" in result._repr_html_()
    names, rows = result.rows()
    assert len(names) == len(rows[0])
    assert [int(row[1]) for row in rows] == sorted(result.sizes, reverse=True)


@pytest.mark.parametrize(
    ("call", "name"),
    [
        (lambda result: result.mean_confidence(99), "cluster"),
        (lambda result: result.mean_confidence(-1), "cluster"),
        (lambda result: result.least_sure("a"), "most"),
        (lambda result: result.least_sure(-2), "most"),
    ],
)
def test_groups_and_numbers_that_cannot_be_are_refused(result, call, name):
    with pytest.raises(InvalidParameterError, match=f"'{name}' parameter"):
        call(result)


def test_frames_have_the_names_of_the_nodes():
    pytest.importorskip("pandas")
    edges = [("b", "a"), ("a", "c"), ("c", "b"), ("d", "e"), ("e", "f"), ("d", "f"), ("c", "d")]
    result = cs.cluster_graph(edges, random_state=0)
    frame = result.to_pandas()
    assert frame.index.tolist() == list("abcdef")
    assert frame["cluster"].tolist() == [0, 0, 0, 1, 1, 1]
    assert [one["id"] for one in result.least_sure()] in ([], ["c"], ["d"], ["c", "d"], ["d", "c"])


def test_seeds_and_workers(sample, result):
    same = cs.cluster_graph(sample.edges, n_members=12, random_state=0, n_jobs=2)
    np.testing.assert_array_equal(same.labels, result.labels)
    np.testing.assert_array_equal(same.confidence, result.confidence)
    drawn = cs.cluster_graph(sample.edges, n_members=6)
    again = cs.cluster_graph(sample.edges, n_members=6, random_state=drawn.seed)
    np.testing.assert_array_equal(drawn.ensemble.labels, again.ensemble.labels)


def test_a_random_graph_has_no_communities():
    rng = np.random.default_rng(0)
    found = cs.cluster_graph(rng.integers(0, 300, (2000, 2)), n_members=15, random_state=0)
    assert found.verdict == "none"
    assert "may be no communities" in repr(found)
    assert any("added up" in note for note in found.notes)


def test_members_you_have(sample):
    members = np.repeat(sample.groups[:, None], 3, axis=1)
    found = cs.cluster_graph(sample.edges, ensemble=members)
    assert (found.why_members, found.generator) == ("given.", None)
    assert found.n_clusters == sample.groups.max() + 1


def test_isolated_nodes_are_told_of():
    matrix = np.kron(np.eye(2), np.ones((4, 4)) - np.eye(4))
    matrix = np.pad(matrix, (0, 1))
    found = cs.cluster_graph(matrix, random_state=0, n_members=3)
    assert found.labels[-1] == -1
    assert any("no edges" in note for note in found.notes)
    assert any("few" in note for note in found.notes)
    assert found.n_noise == 1


def test_a_run_goes_on_where_it_was(sample, tmp_path):
    first = cs.cluster_graph(sample.edges, n_members=5, random_state=1, run=tmp_path / "run")
    second = cs.cluster_graph(sample.edges, n_members=5, random_state=1, run=tmp_path / "run")
    assert first.ensemble.records[3]["seconds"] == second.ensemble.records[3]["seconds"]
    np.testing.assert_array_equal(first.labels, second.labels)
    with pytest.raises(ConsilienceError, match=r"another run|differ"):
        cs.cluster_graph(sample.edges[:-1], n_members=5, random_state=1, run=tmp_path / "run")


@pytest.mark.parametrize(
    ("given", "word"),
    [
        ({"graph": "edges.csv"}, "read_graph"),
        ({"graph": np.zeros((3, 4))}, "graph given to cluster_graph"),
        ({"truth": [1, 2]}, "truth"),
        ({"ids": [1]}, "ids"),
        ({"n_members": 0}, "n_members"),
        ({"resolution": -1.0}, "resolution"),
        ({"ensemble": [[0] * 200], "resolution": 1.0}, "resolution"),
        ({"ensemble": [[0, 1]]}, "same nodes"),
        ({"generator": 1}, "generator"),
    ],
)
def test_what_cannot_be_used_is_refused_by_name(sample, given, word):
    known = {"graph": sample.edges} | given
    with pytest.raises(ConsilienceError, match=word):
        cs.cluster_graph(known.pop("graph"), **known)
