"""Stored answers of the kernels of pairs: counts, searches, soft models of co-association."""

from unittest.mock import patch

import numpy as np
from stored.store import Cases, attempt
from stored.tiny import each, members_of, weights_of

import consilience as cs
from consilience.kernels.links import (
    chain,
)
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


@CASES
def pair_counts():
    for key, members in each():
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
    for key, members in each():
        m = len(members)
        pairs = np.array([(a, b) for a in range(m) for b in range(a + 1, m)], np.int64)
        for kind in (0, 1):
            for table in (2**20, 1):
                yield (
                    f"{key} {kind} {table}",
                    attempt(
                        ambiguity.mean_overlap,
                        members,
                        weights_of(members),
                        pairs,
                        kind,
                        max_table=table,
                    ),
                )
        for table in (2**20, 1):
            yield (
                f"{key} moments {table}",
                attempt(confusion.pair_moments, members, weights_of(members), max_table=table),
            )


@CASES
def correlation_moves():
    for key, members in each():
        n = members.shape[1]
        ones, weights = np.ones(n, np.int64), weights_of(members)
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
    members = np.ascontiguousarray(members_of()["noise"].T)
    pool = small_clusters.empty_pool(members)
    # Of a pool only what was entered is defined: the rest is whatever was in memory.
    for i in range(6):
        small_clusters.enter_pool(pool, i, members[i], 6)
        g = small_clusters.new_group(pool) if i % 2 == 0 else int(pool.group[0])
        small_clusters.join_group(pool, i, i + 1, g)
        top = [int(small_clusters.heaviest(pool)), int(small_clusters.largest(pool))]
        yield f"after {i}", [*top, int(g)]
    small_clusters.part_group(pool, 2, 3)
    small_clusters.leave_pool(pool, 2)
    yield "left", [int(small_clusters.heaviest(pool)), int(small_clusters.largest(pool))]


@CASES
def peace():
    for key in ("plain", "unseen", "pair", "one"):
        members = np.array(members_of()[key])
        n = members.shape[1]
        weights = weights_of(members).astype(float)
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
        ensemble = cs.Ensemble(members_of()[key].T.astype(int))
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
def small_blocks():
    """Blocks of four objects: pairs lie in one block and in two."""
    with patch.object(correlation_unseen, "block_width", lambda members: 4):
        for key, members in each():
            n, queries = members.shape[1], np.ascontiguousarray(members.T)
            weights, labels = weights_of(members), (np.arange(n) % 3).astype(np.int32)
            both = np.stack([labels, np.zeros(n, np.int32)])
            yield (
                key,
                [
                    correlation_unseen.pair_costs(members, queries, weights, both),
                    correlation_unseen.pair_joins(queries, members, weights, labels, 3),
                ],
            )


test_stored = CASES.test()
