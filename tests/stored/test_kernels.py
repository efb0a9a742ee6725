"""Stored answers of the kernels, called directly: small, with ties, noise, unseen and one object.

Mutants of kernels are judged in plain Python, so the inputs are tiny.
"""

import threading
from functools import cache

import joblib
import numpy as np
from scipy import sparse
from scipy.cluster.hierarchy import linkage
from scipy.spatial.distance import squareform
from stored.small import blobs
from stored.store import Cases, attempt

import consilience as cs
from consilience.kernels import _blocks, _parallel, _tasks
from consilience.kernels.data import columns, pam, representatives, scaling, tall
from consilience.kernels.kmeans import labels as label_kmeans
from consilience.kernels.kmeans import lac, many, minibatch, runs, scan, start, sums
from consilience.kernels.kmeans import sparse as sparse_kmeans
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
from consilience.kernels.minority import blocks, density, groups, hds, near, passes, weak
from consilience.kernels.pairs import (
    ambiguity,
    compare,
    confusion,
    correlation,
    correlation_unseen,
    counts,
    moves,
    shares,
    small_clusters,
)
from consilience.kernels.peace import aspect, growth, pair_steps, rows, square

CASES = Cases(__file__)


@cache
def _members():
    rng = np.random.default_rng(3)
    truth = np.arange(14) % 3
    plain = np.where(rng.random((6, 14)) < 0.75, truth, rng.integers(0, 3, (6, 14))).astype(np.int8)
    noise = np.where(rng.random((6, 14)) < 0.15, -1, plain).astype(np.int8)
    unseen = np.where(rng.random((6, 14)) < 0.2, -2, noise).astype(np.int8)
    unseen[:, 4] = -2
    unseen[:, 5] = -1
    return {
        "plain": plain,
        "noise": noise,
        "unseen": unseen,
        "wide": np.where(plain >= 0, plain * 70, plain).astype(np.int16) // 70,
        "equal": np.zeros((2, 5), np.int8),
        "one": np.zeros((3, 1), np.int8),
        "pair": np.array([[0, 0], [0, 1], [0, 0]], np.int8),
        "apart": np.array([[0, 1, 2, 3], [3, 2, 1, 0]], np.int8),
    }


def _each():
    return _members().items()


def _weights(members):
    return np.arange(members.shape[1]) % 3 + 1


def _placed(members):
    return bool((members >= 0).any(axis=0).all())


@CASES
def pair_counts():
    for key, members in _each():
        n = members.shape[1]
        yield f"{key} unseen", bool(counts.has_unseen(members))
        for seen in (True, False):
            yield f"{key} {seen}", counts.count_pairs(members, with_seen=seen)
            yield f"{key} {seen} condensed", counts.count_pairs_condensed(members, with_seen=seen)
            yield f"{key} {seen} row", counts.count_row(members, n - 1, with_seen=seen)
            chosen = np.array([n - 1, 0])
            yield f"{key} {seen} rows", counts.count_rows(members, chosen, with_seen=seen)
        for missing in ("pair", "all"):
            for k in (1, min(3, n - 1)):
                if n > 1:
                    found = counts.nearest_pairs(members, k, missing=missing)
                    yield f"{key} nearest {missing} {k}", found
        joined, seen = counts.count_pairs(members, with_seen=True)
        for given in (seen, None):
            for kind in (np.float64, np.float32):
                found = attempt(shares.shares_of, joined, given, len(members), kind)
                yield f"{key} shares {given is None} {kind.__name__}", found
        yield f"{key} seen by", compare.count_seen_by(members)
        yield f"{key} width", int(compare.block_width(members))
    for n in (1, 255, 256, 65535, 65536):
        yield f"type {n}", compare.count_type(n).__name__


@CASES
def many_members():
    """More members than a byte counts."""
    rng = np.random.default_rng(0)
    members = rng.integers(-2, 3, (300, 5)).astype(np.int8)
    for seen in (True, False):
        yield f"pairs {seen}", counts.count_pairs(members, with_seen=seen)
        yield f"condensed {seen}", counts.count_pairs_condensed(members, with_seen=seen)
    yield "nearest", counts.nearest_pairs(members, 2, missing="pair")
    yield "link", chain.average_link(members, missing="pair")


@CASES
def overlaps():
    for key, members in _each():
        m = len(members)
        pairs = np.array([(a, b) for a in range(m) for b in range(a + 1, m)], np.int64)
        for kind in (0, 1):
            for table in (2**20, 1):
                yield (
                    f"{key} {kind} {table}",
                    attempt(
                        ambiguity.mean_overlap,
                        members,
                        _weights(members),
                        pairs,
                        kind,
                        max_table=table,
                    ),
                )
        for table in (2**20, 1):
            yield (
                f"{key} moments {table}",
                attempt(confusion.pair_moments, members, _weights(members), max_table=table),
            )


@CASES
def links():
    for key, members in _each():
        n = members.shape[1]
        for missing in ("pair", "all"):
            for weights in (None, _weights(members)):
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
                attempt(chain_whole.average_link_whole, members, _weights(members)),
            )
            yield f"{key} bytes", int(chain_whole.whole_bytes(members, _weights(members)))
            # These take objects that some member placed.
            for memory in (2**20, 300) if _placed(members) else ():
                found = attempt(
                    kept.kept_average_link, members, _weights(members), max_memory=memory
                )
                yield f"{key} kept {memory}", found
            if _placed(members):
                yield f"{key} kept single", kept.kept_single_link(members, _weights(members))


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
    for key, members in _each():
        n = members.shape[1]
        starts = contingency.first_columns(members)
        yield f"{key} starts", starts
        for weights in (None, _weights(members).astype(float)):
            found = contingency.cluster_contingency(members, weights)
            yield f"{key} contingency {weights is None}", found
        width = int(starts[-1])
        table = np.cos(np.arange(2 * width)).reshape(width, 2)
        yield f"{key} rows", attempt(products.row_sums, members, starts, table)
        values = np.sin(np.arange(2 * n)).reshape(n, 2)
        yield f"{key} clusters", attempt(products.cluster_sums, members, starts, values)
        weights = np.linspace(1, 2, max(width, 1))[:width]
        yield f"{key} products", attempt(products.pair_products, members, np.linspace(1, 2, n))
        yield f"{key} keys", attempt(refine.refined_keys, members, _weights(members))
        yield f"{key} groups", signatures.group_rows(members)
        for criterion in ("max", "nmi", "apmm"):
            for own in (True, False):
                yield (
                    f"{key} stability {criterion} {own}",
                    attempt(
                        stability.recognised,
                        members,
                        members,
                        _weights(members),
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
    yield "overlap", votes.overlap(labels, 3, given, table)
    before = table.copy()
    votes.cast_votes(labels, np.array([2, 0, 1]), before, 5)
    yield "cast", before
    parts, n_votes = rng.dirichlet(np.ones(3), 7), np.arange(7)
    votes.pass_on(labels, 3, given, parts, n_votes)
    yield "passed", [parts, n_votes]


@CASES
def mixtures():
    for x in (0.01, 0.5, 1.0, 5.9, 6.0, 6.1, 40.0):
        yield f"digamma {x}", float(mixture.digamma(x))
    for key, members in _each():
        starts = contingency.first_columns(members)
        width = int(starts[-1])
        if not width:
            continue
        rng = np.random.default_rng(1)
        theta, alpha = rng.random((width, 2)) + 0.1, np.array([0.4, 0.6])
        weights = _weights(members)
        total, sizes = np.zeros((width, 2)), np.zeros(2)
        said = mixture.em_pass(members, starts, weights, np.log(theta), np.log(alpha), total, sizes)
        yield f"{key} em", [said, total, sizes]
        yield (
            f"{key} responsibilities",
            mixture.responsibilities(members, starts, np.log(theta), np.log(alpha)),
        )
        if not _placed(members):
            continue
        total, logs, gamma = np.zeros((width, 2)), np.zeros(2), np.zeros((members.shape[1], 2))
        said = mixture.bce_pass(
            members, starts, weights, theta, alpha, 1e-3, 20, total, logs, gamma
        )
        yield f"{key} bce", [said, total, logs, gamma]


@CASES
def label_k_means():
    for key, members in _each():
        n = members.shape[1]
        starts = contingency.first_columns(members)
        weights = _weights(members)
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
            )
            yield f"{key} assign {k}", [int(moved), labels, best, *tables]


@CASES
def correlation_moves():
    for key, members in _each():
        n = members.shape[1]
        ones, weights = np.ones(n, np.int64), _weights(members)
        labelings = {"one": np.zeros(n), "three": np.arange(n) % 3, "alone": np.arange(n)}
        for by_seen in (True, False):
            data = correlation.label_rows(members, ones, by_seen=by_seen)
            yield f"{key} {by_seen} rows", data
            yield f"{key} {by_seen} take", attempt(data.take, np.array([0]), np.array([2]))
            for name, labels in labelings.items():
                labels = labels.astype(np.int32)
                k = int(labels.max()) + 1
                yield (
                    f"{key} {by_seen} {name} cost",
                    attempt(correlation.disagreements, members, ones, labels, by_seen=by_seen),
                )
                yield (
                    f"{key} {by_seen} {name} joins",
                    attempt(
                        correlation.table_joins, np.ascontiguousarray(members.T), data, labels, k
                    ),
                )
                for options in (
                    {"cap": n},
                    {"cap": 2},
                    {"cap": n, "share": True},
                    {"cap": n, "heat": 0.5},
                    {"cap": n, "max_iter": 1},
                    {"cap": 3, "heat": 1.0, "cooling": 0.5},
                ):
                    found = attempt(
                        moves.local_search, data, labels, rng=np.random.default_rng(0), **options
                    )
                    yield f"{key} {by_seen} {name} {options}", found
        queries = np.ascontiguousarray(members.T)
        for name, labels in labelings.items():
            labels = labels.astype(np.int32)
            k = int(labels.max()) + 1
            yield (
                f"{key} {name} pair joins",
                attempt(correlation_unseen.pair_joins, queries, members, weights, labels, k),
            )
            yield (
                f"{key} {name} pair costs",
                attempt(correlation_unseen.pair_costs, members, queries, weights, labels[None]),
            )
        yield f"{key} own", attempt(correlation_unseen.own_costs, queries, weights)


@CASES
def pools():
    members = np.ascontiguousarray(_members()["noise"].T)
    pool = small_clusters.empty_pool(members)
    yield "empty", pool
    for i in range(6):
        small_clusters.enter_pool(pool, i, members[i], 6)
        g = small_clusters.new_group(pool) if i % 2 == 0 else int(pool.group[0])
        small_clusters.join_group(pool, i, i + 1, g)
        yield f"after {i}", pool
    yield "heaviest", [int(small_clusters.heaviest(pool)), int(small_clusters.largest(pool))]
    small_clusters.part_group(pool, 2, 3)
    small_clusters.leave_pool(pool, 2)
    yield "left", pool


@CASES
def peace():
    for key in ("plain", "unseen", "pair", "one"):
        members = np.array(_members()[key])
        n = members.shape[1]
        weights = _weights(members).astype(float)
        own = (weights - 1) * (members != -2).sum(axis=0)
        Y = 0.9 * np.random.default_rng(0).dirichlet(np.ones(3), n) + 0.1 / 3
        Z = np.empty_like(Y)
        growth.others(Y, Z)
        yield f"{key} others", Z
        for dense in (True, False):
            store = rows.make_store(members, dense=dense)
            yield f"{key} {dense} store", store
            joined, seen, column = rows.block_of_columns(store, 0, n)
            head = (joined, seen, column, 0, n, float(len(members)), weights, own)
            for rates in (np.array([0.0, 1.0]), np.array([0.15, 0.7])):
                G = np.zeros_like(Y)
                growth.growth_rows(*head, Y, Z, rates, G)
                yield f"{key} {dense} {rates} growth", G
                for name in ("likelihood_rows", "rate_rows"):
                    out = np.zeros((n, 4)) if name == "rate_rows" else np.zeros(n)
                    getattr(growth, name)(*head, Y, Z, rates, out)
                    yield f"{key} {dense} {rates} {name}", out
                steps = [np.ascontiguousarray(table.T) for table in (Y, Z, G)]
                found = pair_steps.pair_steps(
                    store, weights, own, np.ones(n), rates, 1e-6, 5, *steps
                )
                yield f"{key} {dense} {rates} steps", [found, *steps]
            labels = (np.arange(n) % 2).astype(np.int32)
            for name, args, width in (("total_rows", (), 3), ("inside_rows", (labels,), 2)):
                out = np.zeros((n, width))
                getattr(growth, name)(*head, *args, out)
                yield f"{key} {dense} {name}", out
            for by_seen in (True, False):
                out = np.zeros((n, 4))
                square.square_rows(*head, Y, by_seen, out)
                yield f"{key} {dense} square {by_seen}", out
                steps = [np.ascontiguousarray(table.T) for table in (Y, out[:, :3])]
                found = square.square_steps(
                    store, weights, weights - 1, np.ones(n), by_seen, 1e-6, 5, *steps
                )
                yield f"{key} {dense} square steps {by_seen}", [found, *steps]
            A, B = Y / len(Y), Y / Y.sum(axis=0)
            for name in ("aspect_rows", "aspect_likelihood_rows"):
                out = np.zeros((n, 3)) if name == "aspect_rows" else np.zeros(n)
                getattr(aspect, name)(*head, A, B, out)
                yield f"{key} {dense} {name}", out
    for step in (0.0, 0.1, 0.5):
        yield f"quartic {step}", float(square.quartic_change(step, 1.0, -2.0, 0.5, 0.3, 1.5))
    for values in (
        (0.5, 1.0, -2.0, 0.5, 0.3, 1.5),
        (1.0, -1.0, 0.5, 0.0, 0.0, 0.1),
        (0.2, 0.0, 0.0, 0.0, 0.0, 0.0),
    ):
        yield f"square step {values}", float(square.square_step(*values))
    yield "xlog", [float(growth.xlog(a, b)) for a, b in ((0.0, 0.0), (2.0, 0.5), (1.0, 1e-300))]
    yield "total", float(pair_steps.lane_total(np.arange(16.0)))


@CASES
def estimators():
    """What is made of the kernels of peace, correlation and paths, on few objects."""
    for key in ("plain", "unseen", "pair"):
        ensemble = cs.Ensemble(_members()[key].T.astype(int))
        for model in (
            cs.PEACE(2, n_init=2, random_state=0),
            cs.PEACE(2, solver="pair", n_init=1, random_state=0),
            cs.PEACE(2, two_rates=True, n_init=1, random_state=0),
            cs.PEACE(2, n_init=1, max_memory=2000, random_state=0),
            cs.BaumEagon(2, n_init=2, random_state=0),
            cs.BaumEagon(2, step="safe", n_init=1, random_state=0),
            cs.BaumEagon(2, solver="pair", n_init=1, random_state=0),
            cs.BaumEagon(2, weights="seen", n_init=1, random_state=0),
            cs.DyadicAspect(2, n_init=1, max_iter=30, random_state=0),
        ):
            found = attempt(model.fit, ensemble=ensemble)
            found.pop("ensemble_", None)
            yield f"{key} {model}", found


@CASES
def k_means():
    X = blobs()[::3]
    starts = [X[[0, 7, 13]], X[[1, 2]], X[:1]]
    ties = np.repeat(np.arange(4.0)[:, None], 2, axis=1)
    for key, data in {
        "double": X,
        "single": X.astype(np.float32),
        "sparse": sparse.csr_array(X),
    }.items():
        for options in (
            {},
            {"max_iter": 1},
            {"tol": 0.5},
            {"spherical": True},
            {"assign_all": False},
            {"online": True, "max_iter": 3},
        ):
            yield f"{key} {options}", attempt(many.many_kmeans, data, starts, **options)
        some = [np.arange(0, 16, 2), np.arange(5, 16), np.arange(3)]
        parts = [np.array([0, 2]), np.array([1]), np.array([0, 1, 2])]
        narrow = [s[:, f] for s, f in zip(starts, parts, strict=True)]
        for all_of in (True, False):
            yield (
                f"{key} rows {all_of}",
                attempt(many.many_kmeans, data, starts, rows=some, assign_all=all_of),
            )
            yield (
                f"{key} both {all_of}",
                attempt(
                    many.many_kmeans, data, narrow, rows=some, features=parts, assign_all=all_of
                ),
            )
        yield f"{key} nearest", attempt(many.nearest_of_many, data, starts)
        yield f"{key} nearest narrow", attempt(many.nearest_of_many, data, narrow, features=parts)
        batches = [
            np.arange(12).reshape(3, 4),
            np.arange(8).reshape(4, 2),
            np.arange(6).reshape(2, 3),
        ]
        for options in (
            {},
            {"spherical": True},
            {"assign_all": False, "rows": some},
            {"rows": some},
        ):
            yield (
                f"{key} minibatch {sorted(options)}",
                attempt(minibatch.many_minibatch_kmeans, data, starts, batches, **options),
            )
        yield (
            f"{key} minibatch narrow",
            attempt(minibatch.many_minibatch_kmeans, data, narrow, batches, features=parts),
        )
        for k in (1, 3, 16):
            rng = np.random.default_rng(2)
            yield f"{key} plus {k}", attempt(start.plusplus_start, data, k, rng)
            rng = np.random.default_rng(2)
            yield (
                f"{key} plus rows {k}",
                attempt(
                    start.plusplus_start, data, min(k, 8), rng, rows=some[0], features=parts[0]
                ),
            )
    far = np.array([[0.0, 0.0], [9.0, 9.0], [50.0, 50.0]])
    for spherical in (True, False):
        yield (
            f"ties {spherical}",
            attempt(many.many_kmeans, ties, [far, ties[:2]], spherical=spherical),
        )
    yield "equal", attempt(many.many_kmeans, np.ones((5, 2)), [np.ones((2, 2))])
    yield "far", attempt(many.many_kmeans, X, [np.r_[X[:1], X[:1] + 1e4, X[:1] - 1e4]])
    for k in (1, 3):
        yield f"random {k}", start.random_start(np.random.default_rng(0), 9, k)
        yield (
            f"random rows {k}",
            start.random_start(np.random.default_rng(0), np.array([4, 7, 8]), k),
        )


@CASES
def k_means_parts():
    X = np.ascontiguousarray(blobs()[::3])
    sieve = scan.make_sieve(X)
    yield "sieve", [np.asarray(sieve.strips, float), sieve.shift, float(sieve.scale)]
    for features in (np.arange(3), np.array([2]), np.array([0, 2])):
        yield f"padded {features}", scan.padded_columns(features, 3)
        for i in (0, 9):
            found = scan.two_nearest(X, i, features, X[[0, 7, 13]][:, features])
            yield f"nearest {features} {i}", found
            gap = scan.squared_distance(X, i, features, X[[0, 7]][:, features], 1)
            yield f"distance {features} {i}", float(gap)
    for a, b, d in ((0.0, 1.0, 2), (1.0, 1.0, 3), (1e-9, 2.0, 50), (3.0, 4.0, 1)):
        yield f"judged {a} {b} {d}", float(scan.judged_gap(a, b, d))
    for inv_h in (0.01, 0.1, 1.0):
        for most in (1, 20):
            yield f"lac {inv_h} {most}", lac.lac(X, X[[0, 7, 13]].copy(), inv_h, most)
    out = np.zeros((16, 2))
    lac.squared_distances(X, X[:2].copy(), np.full((2, 3), 0.5), out)
    yield "weighted", out
    words = sparse.csr_array(np.where(X > 3, X, 0))
    yield "sparse nearest", sparse_kmeans.nearest_centres(words, X[[0, 7]])
    yield "lengths", sparse_kmeans.squared_lengths(words)
    yield "own", sparse_kmeans.own_squares(words, X[[0, 7]], (np.arange(16) % 2).astype(np.int32))
    yield "part", sparse_kmeans.own_part(words, np.arange(5), np.array([0, 2]))
    stack = sums.make_parts(3, 4, 2)
    yield "parts", [stack.sums.shape, stack.counts.shape, stack.touched.shape]
    task = runs.make_task([X[:2], X[:3]], None, None)
    yield (
        "task",
        [len(task.starts), task.rows, task.features, [str(s) for s in runs.turns(task, 16)]],
    )
    yield "threads", [runs.threads_for(task, n, 1) for n in (10, 10**6)]


@CASES
def data():
    X = blobs()[::3]
    for key, given in {
        "dense": X,
        "single": X.astype(np.float32),
        "sparse": sparse.csr_array(np.where(X > 3, X, 0)),
        "one": X[:1],
    }.items():
        for objects in (None, np.array([0])):
            yield (
                f"facts {key} {objects is None}",
                attempt(columns.column_facts, given, rows=objects),
            )
        for power in (1, 2):
            yield f"sums {key} {power}", columns.column_sums(sparse.csr_array(given), power)
        if key != "sparse":
            yield f"ranges {key}", scaling.column_ranges(np.ascontiguousarray(given))
            yield (
                f"mapped {key}",
                scaling.map_columns(
                    np.ascontiguousarray(given),
                    np.array([0, 1, -1], np.intc),
                    np.arange(3.0),
                    np.array([1.0, 2.0, 0.5]),
                ),
            )
    gaps = np.sqrt(((X[:, None] - X[None]) ** 2).sum(axis=2))
    ties = np.abs(np.arange(6)[:, None] - np.arange(6)[None]).astype(float)
    for key, given in {"gaps": gaps, "ties": ties}.items():
        n = len(given)
        for k in (1, 2, 3, n):
            for swap in ("faster", "best"):
                for weights in (None, np.arange(1.0, n + 1)):
                    yield (
                        f"pam {key} {k} {swap} {weights is None}",
                        attempt(pam.pam, given, k, swap=swap, weights=weights),
                    )
            yield f"pam {key} {k} given", attempt(pam.pam, given, k, init=np.arange(k))
            yield f"pam {key} {k} one", attempt(pam.pam, given, k, init=np.arange(k), max_swaps=1)
    matrix, chosen = np.ascontiguousarray(X), np.array([3, 0, 3])
    direction, given = np.array([1.0, -1.0, 0.5]), np.array([2, 1, 4])
    yield "dots", tall.dense_dots(matrix, chosen, direction)
    yield "sum", tall.dense_sum(matrix, chosen, given)
    yield "sum of dots", tall.dense_sum_of_dots(matrix, chosen, given, direction)
    words = sparse.csr_array(np.where(X > 3, X, 0))
    parts = (words.indptr, words.indices, words.data)
    yield "sparse dots", tall.sparse_dots(*parts, chosen, direction)
    yield "sparse sum", tall.sparse_sum(*parts, chosen, given, 3)
    yield "sparse sum of dots", tall.sparse_sum_of_dots(*parts, chosen, given, direction)
    out = np.zeros((3, 3))
    tall.csr_gram(*parts, np.linspace(1, 2, 16), out)
    yield "gram", out
    centres = X[[0, 8]]
    candidates = np.array([[0, 1, 2], [1, 0, 3], [2, 3, 1], [3, 2, 0]])
    for wanted in (1, 2, 3):
        found = representatives.nearest_representatives(
            matrix, centres, np.array([0, 2, 4]), X[[0, 1, 8, 9]], candidates, wanted
        )
        yield f"representatives {wanted}", found


@CASES
def minority_groups():
    rng = np.random.default_rng(4)
    X = rng.normal(0, 0.7, (20, 2))
    picked = [X[[0, 5, 9]], X[[2, 3]]]
    for kind in ("hard", "softmax", "gaussian", "near"):
        for dtype in (np.float64, np.float32):
            constants = weak.Scratch(dtype).constants
            grading = {
                "hard": lambda d=dtype: passes.Grading("hard", (8 * np.finfo(d).eps,)),
                "softmax": lambda: passes.Grading("softmax"),
                "gaussian": lambda d=dtype: passes.Grading(
                    "gaussian", (np.array([10.0], d), np.array([3.0], d))
                ),
                "near": lambda c=constants: passes.Grading("near", near.near_kernel(10.0, 3.0, c)),
            }[kind]()
            data = X.astype(dtype)
            models = blocks.Models.stacked(
                [(2 * seeds).astype(dtype) for seeds in picked],
                [(seeds**2).sum(axis=1).astype(dtype) for seeds in picked],
                dtype,
                wide=False,
            )
            lengths = (data**2).sum(axis=1)
            for logs in (True, False):
                for floors in (True, False):
                    for memory in (2**20, 1):
                        with _parallel.Team(1, 1) as team:
                            objects = blocks.dense_objects(
                                lambda a, b, X=data, own=lengths: (X[a:b], own[a:b]), 20, team
                            )
                            found = passes.repetitions(
                                objects,
                                models,
                                grading,
                                passes.Scale(20, logs, floors),
                                team=team,
                                memory=passes.Memory(memory, team.size),
                            )
                            total, squares = np.zeros(20), np.zeros(20)
                            passes.add_scores(found, total, squares, team)
                        key = f"{kind} {dtype.__name__} {logs} {floors} {memory}"
                        yield key, [found, total, squares]
    yield (
        "kernel",
        [
            near.near_kernel(a, g, weak.Scratch(np.float64).constants) is None
            for a, g in ((10.0, 3.0), (1e9, 1.0), (0.0, 1.0))
        ],
    )
    yield "entries", [near.entries_needed(n) for n in (1, 20, 1000)]
    yield "tree", blocks.tree_sum(np.arange(14.0).reshape(7, 2))
    members = _members()["plain"][:, :8]
    parts = [rng.random((4, 2)) for _ in range(6)]
    yield "shared", groups.most_shared(members, parts)
    exponent = weak.Scratch(np.float64)
    yield (
        "exponential",
        [
            attempt(lambda v=v: float(weak.exponential(v, exponent.constants)))
            for v in (0.0, -0.5, -3.0, -30.0, -800.0)
        ],
    )


@CASES
def ewocs_and_rivals():
    """The passes of weak clusterings and the rivals, through their estimators."""
    rng = np.random.default_rng(6)
    X = rng.uniform(-5, 5, (30, 2))
    X[:8] = 0.2 * rng.normal(size=(8, 2))
    for kind in ("soft", "hard", "split"):
        for divergence in ("gaussian", "euclidean", "mahalanobis"):
            for aggregate in ("log", "mean"):
                model = cs.EWOCS(
                    kind,
                    divergence=divergence,
                    aggregate=aggregate,
                    n_repetitions=6,
                    k_max=5,
                    random_state=0,
                )
                yield f"{kind} {divergence} {aggregate}", attempt(model.fit, X)
    model = cs.EWOCS("hard", divergence="euclidean", n_repetitions=5, k_max=4, random_state=0)
    yield "sparse", attempt(model.fit, sparse.csr_array(np.where(np.abs(X) > 2, X, 0)))
    yield (
        "new",
        attempt(
            lambda: cs.EWOCS(n_repetitions=6, random_state=0).fit(X).score_samples(X[:5] + 0.1)
        ),
    )
    yield "dgrade", attempt(cs.DGRADE(0.3).fit, X)
    yield "hds", attempt(cs.AutoHDS(n_eps=6, n_part=3).fit, X)


@CASES
def densities():
    rng = np.random.default_rng(5)
    for key, X in {
        "points": rng.normal(size=(9, 2)),
        "grid": rng.integers(0, 3, (9, 2)).astype(float),
        "one": np.ones((1, 2)),
    }.items():
        columns_of = np.ascontiguousarray(X.T)
        out = np.zeros((len(X), len(X)))
        density.square_distances(X, columns_of, out)
        yield f"{key} distances", out
        order = np.argsort(out, axis=1, kind="stable").astype(np.int32)
        for size in (1, 3, 9):
            if size <= len(X):
                costs = np.take_along_axis(out, order[:, :size], axis=1).sum(axis=1)
                dense = np.argsort(costs, kind="stable").astype(np.int32)[: max(1, len(X) - 3)]
                witness = np.zeros(len(X), np.int32)
                found = density.count_founders(order, costs, dense, size, witness)
                labels = np.full(len(X), -1, np.int32)
                clusters = density.found_clusters(order, costs, dense, size, labels)
                yield f"{key} founders {size}", [found, witness, clusters, labels]
        core = np.sort(out, axis=1)[:, min(2, len(X) - 1)]
        yield f"{key} trees", [hds.tree_of_points(columns_of, core), hds.tree_of_matrix(out, core)]


@CASES
def wide_data():
    """More columns and clusters than the loops take at once; starts that are far from settled."""
    rng = np.random.default_rng(9)
    X = rng.normal(size=(24, 6))
    starts = [X[[0, 1, 2, 3, 4]], X[[5, 6]]]
    batches = [np.arange(24).reshape(4, 6), np.arange(12).reshape(4, 3)]
    empty = [np.r_[X[:2], X[:1] + 50, X[:1] - 50], X[[5, 5]]]
    for key, given in {
        "dense": X,
        "sparse": sparse.csr_array(np.where(X > 0, X, 0)),
        "single": X.astype(np.float32),
    }.items():
        for name, chosen in (("starts", starts), ("empty", empty)):
            for options in (
                {"max_iter": 1},
                {},
                {"online": True, "max_iter": 1},
                {"online": True, "max_iter": 2},
                {"online": True},
                {"spherical": True},
                {"tol": 0.01},
            ):
                yield f"{key} {name} {options}", attempt(many.many_kmeans, given, chosen, **options)
                yield (
                    f"{key} {name} {options} 2",
                    attempt(many.many_kmeans, given, chosen, n_jobs=2, **options),
                )
            yield (
                f"{key} {name} batches",
                attempt(minibatch.many_minibatch_kmeans, given, chosen, batches),
            )
            yield f"{key} {name} nearest", attempt(many.nearest_of_many, given, chosen)
        for k in (5, 24):
            yield (
                f"{key} plus {k}",
                attempt(start.plusplus_start, given, k, np.random.default_rng(0)),
            )
    copies = np.repeat(X[:3], 4, axis=0)
    yield "copies", attempt(start.plusplus_start, copies, 6, np.random.default_rng(0))
    near = np.array([[0.0, 0.0], [1e-9, 0.0], [-1e-9, 0.0], [0.5, 0.0], [-0.5, 0.0], [0.0, 1.0]])
    two = [np.array([[1.0, 0.0], [-1.0, 0.0]]), np.array([[1.0 + 1e-10, 0.0], [-1.0, 0.0]])]
    for key, given in {"dense": near, "sparse": sparse.csr_array(near)}.items():
        yield f"near {key}", attempt(many.nearest_of_many, given, two)
        yield f"near {key} once", attempt(many.many_kmeans, given, two, max_iter=1)
        yield (
            f"near {key} batches",
            attempt(
                minibatch.many_minibatch_kmeans, given, two, [np.array([[0, 1, 2], [3, 4, 5]])] * 2
            ),
        )
    candidates = np.array([[0, 1, 2], [1, 0, 3], [2, 3, 1], [3, 2, 0]])
    found = representatives.nearest_representatives(
        X, X[[0, 8]], np.array([0, 2, 4]), X[[0, 1, 8, 9]], candidates, 3
    )
    yield "representatives", found
    yield "lac", lac.lac(X, X[:5].copy(), 0.5, 10)
    members = np.array(_members()["plain"])
    Y = 0.9 * rng.dirichlet(np.ones(6), 14) + 0.1 / 6
    Z = np.empty_like(Y)
    growth.others(Y, Z)
    store = rows.make_store(members, dense=True)
    joined, seen, column = rows.block_of_columns(store, 0, 14)
    G = np.zeros_like(Y)
    growth.growth_rows(
        joined, seen, column, 0, 14, 6.0, np.ones(14), np.zeros(14), Y, Z, np.array([0.1, 0.9]), G
    )
    yield "growth", [Z, G]


@CASES
def label_estimators():
    """k-means and mixtures of label rows, searches with many groups, through their estimators."""
    rng = np.random.default_rng(2)
    apart = cs.Ensemble(rng.integers(0, 12, (16, 5)))
    for key, ensemble in {
        "plain": cs.Ensemble(_members()["plain"].T.astype(int)),
        "noise": cs.Ensemble(_members()["noise"].T.astype(int)),
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
    joined, seen = counts.count_pairs(_members()["noise"], with_seen=True)
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


@CASES
def threads():
    def fail(first, step):
        if first == 1:
            raise ValueError("no")
        return first

    yield "turns", _parallel.in_turns(lambda first, step: [first, step], 5, 2)
    yield "failed", attempt(_parallel.in_turns, fail, 4, 2)
    yield "any order", sorted(_parallel.streamed(lambda x: x + 1, [3, 1, 2, 5], 2, in_order=False))
    yield "order", list(_parallel.streamed(lambda x: x + 1, [3, 1, 2, 5, 9, 7], 2))
    with _parallel.Team(2, 5) as team:
        aside = team.aside(lambda: "aside")
        yield (
            "team",
            [team.size, team.run(lambda number: number), aside(), team.run(lambda n: n * 2)],
        )
        yield (
            "daemons",
            all(one.daemon for one in threading.enumerate() if one is not threading.main_thread()),
        )
        yield "team failed", attempt(team.run, lambda number: [][number])
        wait = team.start(lambda number: number + 1)
        yield "started", wait()
    with _parallel.Team(1, 5) as team:
        yield "alone", [team.size, team.run(lambda number: number), team.aside(lambda: 3)()]
    found = _parallel.Parallel(1)(joblib.delayed(len)(word) for word in ("a", "bcd"))
    yield "joblib", list(found)


@CASES
def helpers():
    yield "blocks", [_blocks.n_blocks_of(n) for n in (0, 1, 4096, 4097, 10**5)]
    for n in (1, 2, 3, 5, 8):
        parts = np.arange(2.0 * n).reshape(n, 2)
        yield f"tree {n}", [_blocks.add_in_tree(parts.copy()), _blocks.tree_sum(iter(parts))]
    yield "slices", [str(s) for s in _blocks.block_slices(9000)]
    yield "some", [str(s) for s in _blocks.block_slices(9000, np.array([0, 5, 4096, 8999]))]
    yield (
        "sum",
        [
            _blocks.sum_of_rows(np.arange(5.0), 5),
            _blocks.sum_of_rows(np.arange(3.0), 9000, np.array([0, 5, 8999])),
        ],
    )
    rows_at = np.array([0, 3, 3, 9])
    yield "first", [int(_blocks.first_at(rows_at, at)) for at in (-1, 0, 1, 3, 4, 9, 10)]
    yield "turns", sorted(_parallel.in_turns(lambda first, step: [first, step], 4, 1))
    for jobs in (None, 1, 2):
        yield f"threads {jobs}", _parallel.in_threads(lambda x: x * 2, range(5), jobs)
        yield f"streamed {jobs}", list(_parallel.streamed(lambda x: x * 2, [3, 1, 2], jobs))
    yield "use", [_parallel.of_use(jobs, tasks) for jobs in (None, 1, 2) for tasks in (0, 1, 5)]
    yield "workers", [_parallel.workers(jobs, tasks) for jobs in (None, 1, 2) for tasks in (1, 5)]
    taken = _tasks.counter()
    yield "tasks", [int(_tasks.next_task(taken)) for _ in range(3)]


test_stored = CASES.test()
