"""What places new objects is what its docstrings say, counted object by object."""

import numpy as np
import pytest

from consilience.ensemble import Ensemble
from consilience.predict import _by_blocks, _learn, _placer, learn
from consilience.predict._hashes import known_rows, row_hashes


def made(seed, n=14, n_members=3, unseen=True):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 2))
    members = rng.integers(-1, 3, (n, n_members))
    if unseen:
        members[rng.random(members.shape) < 0.2] = -2
    labels = np.r_[0, 1, 2, rng.integers(-1, 2, n - 3)].astype(np.int32)  # group 2 has one object
    return X, Ensemble(members), labels


@pytest.mark.parametrize("unseen", [True, False])
@pytest.mark.parametrize("seed", range(3))
def test_the_table_has_the_share_of_seen_pairs_of_each_cluster_and_group(seed, unseen):
    X, ensemble, labels = made(seed, unseen=unseen)
    placer = learn(X, ensemble, labels, hashes=row_hashes(X))
    wanted = []
    for m in range(ensemble.n_members):
        own = ensemble.members[m]
        for cluster in range(int(own.max()) + 1):
            row = []
            for group in range(3):
                there = labels == group
                pairs = (ensemble.members[:, there] != -2).sum()
                row.append(((own == cluster) & there).sum() / max(pairs, 1))
            wanted.append(row)
    np.testing.assert_allclose(placer.table, wanted)
    assert placer.starts[-1] == len(wanted)


def test_a_group_of_one_object_in_one_clustering_counts_in_full():
    X = np.array([[0.0], [1.0], [9.0]])
    members = Ensemble(np.array([[0], [0], [1]]))
    placer = learn(X, members, np.array([0, 0, 1], np.int32), hashes=row_hashes(X))
    assert placer.table.tolist() == [[1.0, 0.0], [0.0, 1.0]]


@pytest.mark.parametrize("seed", range(3))
def test_confidence_and_runner_up_are_those_of_the_means(seed):
    rng = np.random.default_rng(seed)
    means = np.where(rng.random((12, 4)) < 0.4, 0.0, rng.random((12, 4)))
    means[0], means[1] = 0.0, [0, 0.5, 0, 0]
    labels = np.r_[-1, 1, rng.integers(-1, 4, 10)]
    sure, others = _placer._sure(means.copy(), labels)
    for i, own in enumerate(labels):
        rest = [(mean, -g) for g, mean in enumerate(means[i]) if g != own]
        best, group = max(rest)
        if own < 0:
            assert (sure[i], others[i]) == (0.0, -1)
            continue
        total = means[i, own] + best
        assert sure[i] == pytest.approx(means[i, own] / total if total else 0.0)
        assert others[i] == (-group if best > 0 else -1)
    assert _placer._sure(np.full((2, 1), 0.5), np.array([0, -1]))[0].tolist() == [1.0, 0.0]


def test_the_limit_of_distances_is_what_most_keep_to_and_a_margin():
    distances = np.arange(1.0, 101.0)
    # The 99th of 100 is the first that 98 of 100 keep to; 1.25 + 2 / 10 times that.
    assert _learn._kept_by_most(distances) == pytest.approx(1.45 * 99)
    assert _learn._kept_by_most(np.array([4.0])) == pytest.approx(3.25 * 4)
    near = _learn._Nearest(np.zeros(100, int), distances)
    assert _learn._reach(near) == pytest.approx(1.45 * 99)
    small = _learn._Nearest(np.zeros(100, int), distances / 1000)
    assert _learn._reach(small) == pytest.approx(1.45 * 0.099)
    copies = _learn._Nearest(np.zeros(100, int), np.r_[np.zeros(99), 5.0])
    assert _learn._reach(copies) == 5.0


def test_the_nearest_other_is_never_the_object_itself():
    X = np.array([[0.0], [0.0], [1.0], [5.0], [5.5]])
    found = _learn._left_out(X, np.arange(5))
    assert found.objects.tolist() in ([1, 0, 0, 4, 3], [1, 0, 1, 4, 3])
    assert found.distances.tolist() == [0.0, 0.0, 1.0, 0.5, 0.5]


@pytest.mark.parametrize("together", [1, 4, 5, 6, 100])
def test_how_many_are_looked_at_together_changes_nothing(together, monkeypatch):
    X, ensemble, labels = made(3)
    new = np.random.default_rng(9).normal(size=(10, 2))
    placer = learn(X, ensemble, labels, hashes=row_hashes(X))
    mixed = np.concatenate([new[:5], X[:3], new[5:]])
    wanted = _placer.placed(placer, mixed, row_hashes(mixed))
    assert wanted.known.tolist() == [False] * 5 + [True] * 3 + [False] * 5
    assert wanted.labels[5:8].tolist() == [0, 1, 2]
    assert wanted.confidence[5:8].tolist() == placer.confidence[:3].tolist()
    assert wanted.runner_up[5:8].tolist() == placer.runner_up[:3].tolist()
    assert not wanted.unlike[5:8].any()
    monkeypatch.setattr(_placer, "_TOGETHER", together)
    found = _placer.placed(placer, mixed, row_hashes(mixed))
    for name in ("labels", "confidence", "runner_up", "unlike", "known"):
        np.testing.assert_array_equal(getattr(found, name), getattr(wanted, name))
    alone = _placer.placed(placer, new)
    np.testing.assert_array_equal(alone.labels, np.delete(wanted.labels, [5, 6, 7]))
    assert not alone.known.any()


@pytest.mark.parametrize("seed", range(5))
def test_known_rows_are_the_first_of_the_most_frequent_label(seed):
    rng = np.random.default_rng(seed)
    seen = rng.integers(0, 5, 12).astype(np.uint64)
    labels = rng.integers(-1, 3, 12).astype(np.int32)
    new = rng.integers(0, 7, 9).astype(np.uint64)
    found = known_rows(seen, seen.argsort(kind="stable"), labels, new)
    for number, one in zip(new, found, strict=True):
        same = np.flatnonzero(seen == number)
        if not same.size:
            assert one == -1
            continue
        names, counts = np.unique(labels[same], return_counts=True)
        usual = names[counts.argmax()]
        assert one == same[labels[same] == usual][0]


def test_samples_are_drawn_without_repetition_and_in_order():
    for n, most in ((50, 20), (21, 20), (20, 20), (3, 20), (0, 20)):
        some = _by_blocks.drawn(n, 4, most)
        assert some.tolist() == sorted(set(some.tolist()))
        assert len(some) == min(n, most)
        assert set(some.tolist()) <= set(range(n))
    assert _by_blocks.drawn(50, 4, 20).tolist() == _by_blocks.drawn(50, 4, 20).tolist()
    assert _by_blocks.drawn(50, 4, 20).tolist() != _by_blocks.drawn(50, 5, 20).tolist()
