"""What communities as members keep: seeds, workers, noise, unseen, records, resuming."""

import numpy as np
import pytest
from sklearn.base import clone

from consilience import NOISE, UNSEEN
from consilience.datasets import as_graph, make_lfr
from consilience.errors import ConsilienceWarning, InvalidInputError, InvalidParameterError
from consilience.generate import CommunityEnsemble, RunFolder

pytest.importorskip("sknetwork")


@pytest.fixture(scope="module")
def graph():
    return make_lfr(150, average_degree=10, max_degree=20, mixing=0.2, random_state=0).to_scipy()


def test_a_seed_fixes_the_members_whatever_the_workers(graph, seed):
    first = CommunityEnsemble(4, random_state=seed).generate(graph)
    second = CommunityEnsemble(4, random_state=seed, n_jobs=2).generate(graph)
    other = CommunityEnsemble(4, random_state=seed + 1).generate(graph)
    np.testing.assert_array_equal(first.labels, second.labels)
    assert (first.labels != other.labels).any()


def test_labels_are_dense_and_records_say_how(graph):
    ensemble = CommunityEnsemble(8, random_state=0).generate(graph)
    for labels, record in zip(ensemble, ensemble.records, strict=True):
        placed = np.unique(labels[labels >= 0])
        np.testing.assert_array_equal(placed, np.arange(len(placed)))
        assert record["n_clusters"] == len(placed)
        assert record["error"] is None
        assert {"algorithm", "seed", "resolution", "n_edges", "seconds"} <= set(record)


def test_finer_members_have_more_communities(graph):
    coarse = CommunityEnsemble(5, resolution=0.5, max_edges=1.0, random_state=0).generate(graph)
    fine = CommunityEnsemble(5, resolution=8.0, max_edges=1.0, random_state=0).generate(graph)
    assert coarse.n_clusters.max() < fine.n_clusters.min()


def test_resolutions_fill_the_range_evenly(graph):
    ensemble = CommunityEnsemble(20, resolution=(1.0, 16.0), random_state=0).generate(graph)
    logs = np.sort(np.log2([record["resolution"] for record in ensemble.records]))
    assert logs.min() >= 0
    assert logs.max() <= 4
    assert np.diff(logs).max() < 0.7


def test_nodes_without_edges_are_noise_and_those_whose_edges_were_not_seen_unseen():
    edges = [(0, 1, 1.0), (1, 2, 1.0), (0, 2, 1.0), (3, 4, 1.0), (5, 0, 0.0)]
    with pytest.warns(ConsilienceWarning, match="no edges"):
        ensemble = CommunityEnsemble(20, max_edges=2, random_state=0).generate(edges)
    assert (ensemble.labels[5] == NOISE).all()
    seen = ensemble.labels[:5]
    assert (seen == UNSEEN).any()
    assert not (seen == NOISE).any()
    np.testing.assert_array_equal(seen[3] == UNSEEN, seen[4] == UNSEEN)


def test_components_are_never_joined():
    block = np.ones((5, 5)) - np.eye(5)
    ensemble = CommunityEnsemble(10, random_state=0).generate(np.kron(np.eye(3), block))
    for labels in ensemble:
        groups = [set(labels[i : i + 5]) - {UNSEEN} for i in (0, 5, 10)]
        assert not groups[0] & groups[1]
        assert not groups[1] & groups[2]


def test_names_of_nodes_are_the_index():
    ensemble = CommunityEnsemble(2, random_state=0).generate([("b", "a"), ("a", "c"), ("c", "b")])
    assert ensemble.index.tolist() == ["a", "b", "c"]


def test_the_graph_is_not_written_to(graph):
    before = graph.copy()
    for part in (graph.data, graph.indices, graph.indptr):
        part.flags.writeable = False
    CommunityEnsemble(2, random_state=0).generate(graph)
    assert (before != graph).nnz == 0


def test_members_on_disk_are_not_made_again(graph, tmp_path):
    maker = CommunityEnsemble(4, random_state=0)
    whole = maker.generate(graph)
    run = RunFolder(tmp_path / "run")
    kept = clone(maker).generate(graph, checkpoint=run)
    again = clone(maker).generate(graph, checkpoint=RunFolder(tmp_path / "run"))
    np.testing.assert_array_equal(whole.labels, kept.labels)
    np.testing.assert_array_equal(whole.labels, again.labels)
    assert kept.records[2]["seconds"] == again.records[2]["seconds"]


@pytest.mark.parametrize(
    ("given", "word"),
    [
        ({"n_members": 0}, "n_members"),
        ({"resolution": 0}, "resolution"),
        ({"resolution": (5.0, 1.0)}, "resolution"),
        ({"max_edges": 0.0}, "max_edges"),
        ({"n_jobs": 0}, "n_jobs"),
    ],
)
def test_wrong_parameters_are_refused_by_name(graph, given, word):
    with pytest.raises(InvalidParameterError, match=word):
        CommunityEnsemble(**given).generate(graph)


def test_tables_are_refused(graph):
    with pytest.raises(InvalidInputError, match="graph given to CommunityEnsemble"):
        CommunityEnsemble(2).generate(np.random.default_rng(0).normal(size=(20, 4)))
    assert CommunityEnsemble(1).generate(as_graph(graph)).n_members == 1
