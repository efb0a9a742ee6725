"""Stored answers of the kernels of labels and links: tables, votes, mixtures, trees."""

import numpy as np
from scipy.cluster.hierarchy import linkage
from scipy.spatial.distance import squareform
from stored.small import blobs
from stored.store import Cases, attempt
from stored.tiny import each, members_of, placed, weights_of

import consilience as cs
from consilience.kernels._tasks import counter
from consilience.kernels.kmeans import labels as label_kmeans
from consilience.kernels.labels import (
    confidence,
    contingency,
    mixture,
    products,
    refine,
    signatures,
    stability,
    votes,
)
from consilience.kernels.links import (
    agglomerate,
    chain,
    chain_store,
    chain_whole,
    kept,
    merges,
    minimax,
    prim,
    trees,
)
from consilience.kernels.pairs import (
    confusion,
    correlation,
    counts,
)

CASES = Cases(__file__)


@CASES
def links():
    for key, members in each():
        n = members.shape[1]
        for missing in ("pair", "all"):
            for weights in (None, weights_of(members)):
                name = f"{key} {missing} {weights is None}"
                if n > 1:
                    yield f"{name} average", chain.average_link(members, weights, missing=missing)
                    for options in (
                        {"max_memory": 200},
                        {"large": 2},
                        {"squeeze_below": 0.9},
                        {"large": 1, "max_memory": 400, "squeeze_below": 0.99},
                    ):
                        found = attempt(
                            chain.average_link, members, weights, missing=missing, **options
                        )
                        yield f"{name} average {options}", found
                    yield f"{name} single", prim.single_link(members, weights, missing=missing)
            for first in (0, n - 1):
                yield (
                    f"{key} {missing} order {first}",
                    prim.prim_order(members, missing=missing, start=first),
                )
                packed = prim.prim_order(members, missing=missing, start=first, pack_below=1.0)
                yield f"{key} {missing} packed {first}", packed
                tree = prim.minimum_spanning_tree(members, missing=missing, start=first)
                yield f"{key} {missing} tree {first}", tree
        if n > 1:
            yield (
                f"{key} whole",
                attempt(chain_whole.average_link_whole, members, weights_of(members)),
            )
            yield f"{key} bytes", int(chain_whole.whole_bytes(members, weights_of(members)))
            # These take objects that some member placed.
            for memory in (2**20, 300) if placed(members) else ():
                found = attempt(
                    kept.kept_average_link, members, weights_of(members), max_memory=memory
                )
                yield f"{key} kept {memory}", found
            if placed(members):
                yield f"{key} kept single", kept.kept_single_link(members, weights_of(members))


@CASES
def agglomeration():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(9, 2))
    ties = rng.integers(0, 3, (8, 2)).astype(float)
    for key, points in {"points": X, "ties": ties, "pair": X[:2], "one": X[:1]}.items():
        gaps = ((points[:, None] - points[None]) ** 2).sum(axis=2)
        for method in ("single", "complete", "average", "centroid", "ward", "zzz"):
            for weights in (None, np.arange(1, len(points) + 1)):
                for squared in (True, False):
                    yield (
                        f"{key} {method} {weights is None} {squared}",
                        attempt(
                            agglomerate.agglomerate,
                            squareform(gaps, checks=False),
                            method,
                            weights=weights,
                            squared=squared,
                        ),
                    )
        distances = np.sqrt(gaps)
        yield f"{key} prim", [minimax.prim_dense(distances, at) for at in {0, len(points) - 1}]
        if len(points) > 2:
            length = np.linspace(0.1, 1, len(points))
            out = np.zeros((len(points), len(points)))
            minimax.minimax_rows(length, 0, len(points), out)
            yield f"{key} rows", out
            edges = np.array([0, 2, len(points)])
            sums_out = np.zeros((2, 2))
            minimax.minimax_block_sums(length, edges, sums_out)
            yield f"{key} blocks", sums_out


@CASES
def tree_cuts():
    tree = linkage(blobs()[::4], "average")
    ties = linkage(np.repeat(np.arange(4.0)[:, None], 2, axis=0), "single")
    for key, given in {"tree": tree, "ties": ties, "pair": ties[:1]}.items():
        n = len(given) + 1
        for k in sorted({1, 2, min(3, n), n - 1, n}):
            yield f"{key} cut {k}", trees.cut_merges(given, k)
        yield f"{key} lifetimes", trees.lifetimes(given[:, 2])
        for one in (True, False):
            yield f"{key} longest {one}", trees.longest_lifetime(given[:, 2], allow_one=one)
        inverse = np.r_[np.arange(n), 0, 0, n - 1]
        yield f"{key} expanded", attempt(trees.expand_tree, given, inverse)
    for heights in ([], [0.5], [0.1, 0.1], [0.2, 0.3, 0.9], [0.0, 0.0, 0.0], [0.1, 0.5, 0.9]):
        for one in (True, False):
            yield (
                f"longest {heights} {one}",
                attempt(trees.longest_lifetime, heights, allow_one=one),
            )
        yield f"lifetimes {heights}", attempt(trees.lifetimes, heights)
    left, right = np.array([0, 2, 1, 4]), np.array([1, 3, 2, 0])
    heights = np.array([0.5, 0.2, 0.2, 0.9])
    for weights in (None, np.array([1, 2, 3, 1, 1])):
        yield (
            f"table {weights is None}",
            attempt(merges.linkage_table, left, right, heights, weights),
        )
    store = chain_store.RowStore(4, 100)
    yield "store", [store.find(0), store.find(3)]
    for slot, worth in ((0, 5), (1, 3), (2, 9), (3, 1)):
        room = attempt(store.make_room, slot, worth)
        yield f"room {slot}", room["shape"] if isinstance(room, dict) and "shape" in room else room
    yield "held", [store.find(slot) is not None for slot in range(4)]
    store.set_worth(1, 50)
    store.merge(1, 2, 60)
    yield "merged", [store.find(slot) is not None for slot in range(4)]


@CASES
def label_tables():
    for key, members in each():
        n = members.shape[1]
        starts = contingency.first_columns(members)
        yield f"{key} starts", starts
        for weights in (None, weights_of(members).astype(float)):
            found = contingency.cluster_contingency(members, weights)
            yield f"{key} contingency {weights is None}", found
        width = int(starts[-1])
        table = np.cos(np.arange(2 * width)).reshape(width, 2)
        yield f"{key} rows", attempt(products.row_sums, members, starts, table)
        values = np.sin(np.arange(2 * n)).reshape(n, 2)
        yield f"{key} clusters", attempt(products.cluster_sums, members, starts, values)
        weights = np.linspace(1, 2, max(width, 1))[:width]
        yield f"{key} products", attempt(products.pair_products, members, np.linspace(1, 2, n))
        yield f"{key} keys", attempt(refine.refined_keys, members, weights_of(members))
        yield f"{key} groups", signatures.group_rows(members)
        for criterion in ("max", "nmi", "apmm"):
            for own in (True, False):
                yield (
                    f"{key} stability {criterion} {own}",
                    attempt(
                        stability.recognised,
                        members,
                        members,
                        weights_of(members),
                        criterion,
                        skip_own=own,
                    ),
                )
        for labels in (np.arange(n) % 2, np.zeros(n, int), np.arange(n) - 1, np.full(n, -1)):
            for by_seen in (True, False):
                found = attempt(
                    confidence.nearness,
                    members,
                    labels.astype(np.int64),
                    int(labels.max()) + 1,
                    by_seen=by_seen,
                )
                yield f"{key} nearness {labels[:3]} {by_seen}", found


@CASES
def voting():
    labels = np.array([0, 1, 1, -1, 2, 0, -2], np.int8)
    given = np.arange(1, 8)
    rng = np.random.default_rng(0)
    table = rng.integers(0, 4, (7, 3)).astype(np.int32)
    shared = np.zeros((3, 3), np.int64)
    votes.overlap(labels, given, table, shared)
    yield "overlap", shared
    before = table.copy()
    votes.cast_votes(labels, np.array([2, 0, 1]), before, 5)
    yield "cast", before
    parts, n_votes = rng.dirichlet(np.ones(3), 7), np.arange(7)
    votes.pass_on(labels[None, :], np.array([0, 3]), [0], given, parts, n_votes)
    yield "passed", [parts, n_votes]


@CASES
def mixtures():
    for x in (0.01, 0.5, 1.0, 5.9, 6.0, 6.1, 40.0):
        yield f"digamma {x}", float(mixture.digamma(x))
    for key, members in each():
        starts = contingency.first_columns(members)
        width = int(starts[-1])
        if not width:
            continue
        rng = np.random.default_rng(1)
        theta, alpha = rng.random((width, 2)) + 0.1, np.array([0.4, 0.6])
        weights = weights_of(members)
        total, sizes = np.zeros((width, 2)), np.zeros(2)
        said = mixture.em_pass(members, starts, weights, np.log(theta), np.log(alpha), total, sizes)
        yield f"{key} em", [said, total, sizes]
        yield (
            f"{key} responsibilities",
            mixture.responsibilities(members, starts, np.log(theta), np.log(alpha)),
        )
        if not placed(members):
            continue
        total, logs, gamma = np.zeros((width, 2)), np.zeros(2), np.zeros((members.shape[1], 2))
        said = mixture.bce_pass(
            members, starts, weights, theta, alpha, 1e-3, 20, total, logs, gamma
        )
        yield f"{key} bce", [said, total, logs, gamma]


@CASES
def label_k_means():
    for key, members in each():
        n = members.shape[1]
        starts = contingency.first_columns(members)
        weights = weights_of(members)
        for k in (1, 2, 3):
            labels = (np.arange(n) % k).astype(np.int32)
            tables = label_kmeans.count_table(members, starts, weights, labels, k)
            yield f"{key} table {k}", tables
            costs = np.cos(np.arange(int(starts[-1]) * k)).reshape(-1, k)
            offset, best = np.linspace(0, 0.1, k), np.zeros(n)
            moved = label_kmeans.assign(
                members,
                starts,
                weights,
                np.linspace(0.5, 1, n),
                costs,
                offset,
                labels,
                best,
                *tables,
                counter(),
            )
            yield f"{key} assign {k}", [int(moved), labels, best, *tables]


@CASES
def label_estimators():
    """k-means and mixtures of label rows, searches with many groups, through their estimators."""
    rng = np.random.default_rng(2)
    apart = cs.Ensemble(rng.integers(0, 12, (16, 5)))
    for key, ensemble in {
        "plain": cs.Ensemble(members_of()["plain"].T.astype(int)),
        "noise": cs.Ensemble(members_of()["noise"].T.astype(int)),
        "apart": apart,
    }.items():
        for model in (
            cs.KCC(3, n_init=2, random_state=0),
            cs.KCC(3, utility="c", normalised=True, n_init=1, random_state=0),
            cs.KCC(5, n_init=1, max_iter=1, random_state=1),
            cs.SEC(3, n_init=2, random_state=0),
            cs.MixtureConsensus(3, start="random", n_init=2, random_state=0),
            cs.BCE(2, n_init=1, random_state=0),
            cs.CorrelationClustering(n_init=2, random_state=0),
            cs.CorrelationClustering(n_init=1, algorithm="annealing", random_state=0),
            cs.CorrelationClustering(2, n_init=1, random_state=0),
            cs.CorrelationClustering(algorithm="sampling", sample_size=6, n_init=1, random_state=0),
            cs.Voting(3, random_state=0),
            cs.CumulativeVoting(3, random_state=0),
        ):
            found = attempt(model.fit, ensemble=ensemble)
            if isinstance(found, dict):
                found.pop("ensemble_", None)
            yield f"{key} {model}", found
    yield "path", attempt(cs.AmbiguityAware(cs.EAC(2)).fit, ensemble=apart)
    joined, seen = counts.count_pairs(members_of()["noise"], with_seen=True)
    table = np.cos(np.arange(49.0)).reshape(7, 7)
    for given in (seen, None):
        sums_of, squares = np.zeros(14), np.zeros(14)
        confusion.sum_over_pairs(joined, given, np.linspace(1, 2, 14), table, sums_of, squares)
        yield f"sums {given is None}", [sums_of, squares]
    whole = np.array([[0, 0, 1, 2, 4, 1], [0, 1, 1, 2, 0, 1]], np.int8)
    for by_seen in (True, False):
        labels = np.array([0, 0, 1, -1, 1, 1], np.int32)
        yield (
            f"weights {by_seen}",
            correlation.disagreements(whole, np.array([1, 2, 3, 1, 1, 2]), labels, by_seen=by_seen),
        )
    gaps = np.array([3, 1, 2, 5, 4, 2, 2, 1, 1, 3], np.int8)
    for method in ("single", "complete", "average"):
        yield f"whole numbers {method}", attempt(agglomerate.agglomerate, gaps, method)
        yield (
            f"weighted {method}",
            attempt(agglomerate.agglomerate, gaps, method, weights=[1, 2, 1, 3, 1]),
        )


test_stored = CASES.test()
