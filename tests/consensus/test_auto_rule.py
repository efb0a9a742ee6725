"""Which partition AutoConsensus takes, and by what; how likely groups are as Gaussians."""

from dataclasses import fields

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import multivariate_normal
from sklearn.datasets import make_circles
from sklearn.metrics import adjusted_rand_score

import consilience as cs
from consilience.consensus._auto_rule import best_of
from consilience.consensus._likelihood import completed_likelihood
from consilience.consensus._lines import Partition
from consilience.consensus._support import Support
from consilience.consensus.auto import _alternatives

NAMES = [one.name for one in fields(Support)]


def supported(lines, numbers, agreement, silhouette, by_data=None, **others):
    """Partitions of these lines, and what speaks for them."""
    n = len(lines)
    found = [
        Partition(line, (np.arange(12) % k).astype(np.int32))
        for line, k in zip(lines, numbers, strict=True)
    ]
    nothing = np.zeros(n)
    values = {
        "agreement": agreement,
        "data_agreement": agreement if by_data is None else by_data,
        "silhouette": silhouette,
        "icl": np.full(n, np.inf),
    }
    values = dict.fromkeys(NAMES, nothing) | values | others
    values = {name: np.array(each, float) for name, each in values.items()}
    return found, Support(**values | {"one_gaussian": float(others.get("one_gaussian", -np.inf))})


def test_separation_decides_where_nothing_has_much_support():
    lines, numbers = ("k-means", "Ward", "k-means", "average link"), (2, 3, 4, 5)
    weak = supported(lines, numbers, (0.5, 0.3, 0.6, 0.8), (0.2, 0.4, 0.1, 0.5))
    # Average link is not asked: what is far from all others has a large silhouette there.
    assert best_of(*weak, None) == (1, "silhouette")
    assert best_of(*weak, 4) == (2, "support")
    strong = supported(lines, numbers, (0.5, 0.3, 1.2, 0.8), (0.2, 0.4, 0.1, 0.5))
    assert best_of(*strong, None) == (2, "support")
    labels_only = supported(("members", "Ward", "graph"), (2, 3, 4), (0.5, 0.3, 0.4), (0, 0.5, 0))
    assert best_of(*labels_only, None)[1] == "support"


def test_where_nothing_has_support_there_are_not_many_groups():
    said = supported(("k-means",) * 3, (3, 10, 11), (0.1, 0.1, 0.1), (0.2, 0.3, 0.9))
    assert best_of(*said, None) == (1, "silhouette")
    only_many = supported(("k-means",) * 2, (11, 12), (0.1, 0.1), (0.2, 0.3))
    assert best_of(*only_many, None) == (0, "silhouette")


def test_chains_decide_where_nothing_has_much_support_or_they_wind_around_each_other():
    lines, numbers = ("k-means", "Ward", "chains"), (4, 3, 2)
    weak = supported(lines, numbers, (0.5, 0.3, 0.1), (0.2, 0.4, 0.5))
    assert best_of(*weak, None) == (2, "borders")
    assert best_of(*weak, 2) == (2, "borders")
    # Of another number than asked for they have no say, and none beside support.
    assert best_of(*weak, 3) == (1, "support")
    for silhouette, taken in ((0.3, (0, "support")), (0.29, (2, "borders"))):
        strong = supported(lines, numbers, (1.2, 0.3, 9.0), (0.2, 0.4, silhouette))
        assert best_of(*strong, None) == taken


def spiral_arms(n, turns):
    """Two arms, no wider apart than their objects lie from the next but two."""
    angle = np.linspace(1.6, 2 * np.pi * turns, n)
    arm = np.column_stack([angle * np.cos(angle), angle * np.sin(angle)])
    return np.vstack([arm, -arm]), np.repeat([0, 1], n)


def test_thin_arms_are_found_and_no_chains_are_seen_in_noise():
    X, arms = spiral_arms(90, 1.75)
    model = cs.AutoConsensus(random_state=0).fit(X)
    assert (model.line_, model.n_clusters_) == ("chains", 2)
    assert adjusted_rand_score(model.labels_, arms) == 1.0
    assert "wind around each other" in model.choice_.words
    assert cs.AutoConsensus(2, random_state=0).fit(X).line_ == "chains"
    for seed in range(3):
        noise = np.random.default_rng(seed).uniform(size=(150, 2))
        assert cs.AutoConsensus(random_state=0).fit(noise).line_ != "chains"


def test_members_have_no_say_in_the_number_but_in_the_groups():
    lines, numbers = ("k-means", "Ward", "average link", "average link"), (2, 3, 3, 4)
    said = supported(lines, numbers, (0.9, 0.8, 1.0, 1.9), (0, 0, 0, 0), (1.3, 1.4, 9.0, 9.0))
    # 4 groups have the most support of all, but not of lines that look at the data; of 3 the
    # members' are the best.
    assert best_of(*said, None) == (2, "support")
    shown = _alternatives(*said, 2)
    assert [(one.n_clusters, one.support) for one in shown] == [(3, 1.4), (2, 1.3)]
    assert best_of(*said, 4) == (3, "support")


ROUND_AND_LOOSE = ("k-means", "Ward", "graph"), (6, 5, 2), (0.9, 0.8, 0.7)


def shaped(silhouette=(0.6, 0.4, 0.3), **others):
    """Six round groups, and two of any shape with sparser borders."""
    values = {"loose_agreement": (0, 0, 0.9), "modularity": (0.4,) * 3, "sparsity": (0, 0, 0.3)}
    return supported(*ROUND_AND_LOOSE, silhouette, **values | others)


def test_groups_of_any_shape_with_sparser_borders_go_first():
    assert best_of(*shaped(), None) == (2, "borders")
    assert best_of(*shaped(sparsity=(0, 0, 0.2)), None) == (0, "support")
    # Sparser than what is dense is not yet sparse.
    assert best_of(*shaped(sparsity=(-0.2, 0, 0.09)), None) == (0, "support")
    assert best_of(*shaped(sparsity=(-0.2, 0, 0.11)), None) == (2, "borders")
    assert best_of(*shaped(modularity=(0.4, 0.4, 0.2)), None) == (0, "support")
    assert best_of(*shaped(loose_agreement=(0, 0, 0.5)), None) == (0, "support")


def test_a_union_of_round_groups_that_all_come_to_does_not():
    union = {"round_agreement": (0.93, 0, 0), "data_agreement": (0.8, 0, 0)}
    assert best_of(*shaped(**union), None) == (0, "support")
    # Arcs of a ring: round lines agree about them too, but rings wind around each other.
    wound = (0.6, 0.4, 0.29)
    assert best_of(*shaped(wound, **union), None) == (2, "borders")
    # Even the lines that follow any shape come to the round groups rather.
    packed = shaped(wound, loose_agreement=(0.9, 0, 0.8), **union)
    assert best_of(*packed, None) == (0, "support")
    for few in ({"round_agreement": (0.91, 1, 1)}, {"data_agreement": (0.74, 0, 0)}):
        assert best_of(*shaped(**union | few), None) == (2, "borders")
    # Without data there is one round line only, which says little.
    found, support = shaped(**union)
    others = [Partition("average link", found[0].labels), *found[1:]]
    assert best_of(others, support, None) == (2, "borders")


@pytest.mark.parametrize("apart", [3.5, 4.5])
def test_round_groups_side_by_side_stay_apart_where_another_is_far(apart):
    """The two sides of a wide gap have sparser borders than the groups of one side."""
    centres = np.array([[0, 0], [apart, 0], [2 * apart, 0], [0, 14]])
    rng = np.random.default_rng(0)
    X = np.concatenate([centre + rng.normal(size=(80, 2)) for centre in centres])
    model = cs.AutoConsensus(effort="quick", random_state=0).fit(X)
    assert adjusted_rand_score(np.repeat(range(4), 80), model.labels_) > 0.85


@pytest.mark.parametrize("factor", [0.3, 0.6])
def test_rings_around_each_other_are_not_cut(factor):
    X, y = make_circles(300, factor=factor, noise=0.03, random_state=0)
    model = cs.AutoConsensus(effort="quick", random_state=0).fit(X)
    assert adjusted_rand_score(y, model.labels_) == 1


def test_the_likeliest_round_groups_are_taken_where_the_graph_agrees():
    values = {"icl": (50, 30, np.inf), "one_gaussian": 40}
    sure = shaped(round_agreement=(1, 1, 1), graph_agreement=(0, 0.9, 0), **values)
    assert best_of(*sure, None) == (1, "likelihood")
    assert best_of(*sure, 6) == (0, "support")
    alone = shaped(round_agreement=(1, 1, 1), graph_agreement=(1, 0.8, 1), **values)
    assert best_of(*alone, None) == (0, "support")
    # 12 objects: a gain of less than 3.6 is what noise of some shapes has.
    for likely in (9, 33):
        others = values | {"one_gaussian": likely}
        one = shaped(round_agreement=(1,) * 3, graph_agreement=(1,) * 3, **others)
        assert best_of(*one, None) == (0, "support")


def likelihood_slowly(points, labels):
    """ICL by its definition, the least over the shapes; variances bounded as in the code."""
    n, d = points.shape
    k = labels.max() + 1
    off = [points[labels == g] - points[labels == g].mean(axis=0) for g in range(k)]
    own = [each.T @ each / len(each) for each in off]
    alike = sum(each.T @ each for each in off) / n
    shapes = {
        k * d * (d + 1) / 2: own,
        d * (d + 1) / 2 + 0.25: [alike] * k,
        k * d + 0.5: [np.diag(np.diag(each)) for each in own],
        k + 0.75: [np.eye(d) * np.trace(each) / d for each in own],
    }
    found = []
    for free, covariances in shapes.items():
        log = 0.0
        for g, covariance in enumerate(covariances):
            normal = multivariate_normal(np.zeros(d), covariance + 1e-3 * np.eye(d))
            log += normal.logpdf(off[g]).sum() + len(off[g]) * np.log(len(off[g]) / n)
        found.append(-2 * log + (int(free) + k * d + k - 1) * np.log(n))
    return min(found)


@given(st.integers(1, 4), st.integers(1, 4), st.integers(0, 2**31 - 1))
def test_the_completed_likelihood_is_its_definition(k, d, seed):
    rng = np.random.default_rng(seed)
    labels = np.concatenate([np.arange(k), rng.integers(k, size=rng.integers(0, 20))])
    points = rng.normal(size=(len(labels), d)) * rng.uniform(0, 3, d) + 2.0 * labels[:, None]
    labels = labels.astype(np.int32)
    wanted = likelihood_slowly(points, labels)
    assert completed_likelihood(points, labels) == pytest.approx(wanted, rel=1e-9, abs=1e-6)


@pytest.mark.parametrize(("draw", "gain"), [("normal", -0.36), ("uniform", 0.0)])
def test_a_gaussian_is_less_likely_in_halves_and_a_box_as_likely(draw, gain):
    """By how much, an object: the variance along the cut falls to 1 - 2/pi, and to a quarter."""
    points = 3.0 * getattr(np.random.default_rng(3), draw)(size=(20_000, 2))
    halves = (points[:, 0] > np.median(points[:, 0])).astype(np.int32)
    whole = np.zeros(len(points), np.int32)
    likelier = completed_likelihood(points, whole) - completed_likelihood(points, halves)
    assert likelier / len(points) == pytest.approx(gain, abs=0.02)
    far = points + 20.0 * halves[:, None]
    assert completed_likelihood(far, halves) < completed_likelihood(far, whole)


def test_what_is_just_enough_is_enough():
    """Bounds of what counts as some shape, as a union of round groups, and as likelier."""
    assert best_of(*shaped(modularity=(0.4, 0.4, 0.3)), None) == (2, "borders")
    assert best_of(*shaped(loose_agreement=(0, 0, 0.6)), None) == (2, "borders")
    assert best_of(*shaped(sparsity=(-0.2, 0, 0.1)), None) == (2, "borders")
    union = {"round_agreement": (0.92, 0, 0), "data_agreement": (0.75, 0, 0)}
    assert best_of(*shaped(**union), None) == (0, "support")
    wound = shaped((0.6, 0.4, 0.29), loose_agreement=(0.9, 0, 0.9), **union)
    assert best_of(*wound, None) == (0, "support")
    likely = {"icl": (50, 30, np.inf), "one_gaussian": 40, "round_agreement": (1, 1, 1)}
    sure = shaped(graph_agreement=(0, 0.85, 0), **likely)
    assert best_of(*sure, None) == (1, "likelihood")


def test_of_two_of_any_shape_the_one_with_sparser_borders_is_the_rival():
    lines, numbers = ("k-means", "graph", "density"), (6, 3, 2)
    values = {"loose_agreement": (0, 0.9, 0.9), "modularity": (0.4,) * 3, "sparsity": (0, 0.3, 0.5)}
    for capped, best in (((0, 0.3, 0.5), 2), ((0, 0.5, 0.3), 1)):
        told = supported(lines, numbers, (0.9, 0.8, 0.7), (0.6, 0.4, 0.3), capped=capped, **values)
        assert best_of(*told, None) == (best, "borders")
