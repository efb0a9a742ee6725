"""Stored answers of the kernels of data, k-means and minorities, called directly.

Mutants of kernels are judged in plain Python, so the inputs are tiny.
"""

import joblib
import numpy as np
from scipy import sparse
from stored.small import blobs
from stored.store import Cases, attempt
from stored.tiny import members_of

import consilience as cs
from consilience.kernels import _blocks, _parallel, _tasks
from consilience.kernels.data import columns, pam, representatives, scaling, tall
from consilience.kernels.kmeans import lac, many, minibatch, runs, scan, start, sums
from consilience.kernels.kmeans import sparse as sparse_kmeans
from consilience.kernels.minority import blocks, density, groups, hds, near, passes, weak
from consilience.kernels.peace import growth, rows

CASES = Cases(__file__)


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
    members = members_of()["plain"][:, :8]
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
                    threshold="dist",  # references are slow in plain Python
                    random_state=0,
                )
                yield f"{kind} {divergence} {aggregate}", attempt(model.fit, X)
    few = {"n_repetitions": 5, "threshold": "dist", "random_state": 0}
    model = cs.EWOCS("hard", divergence="euclidean", k_max=4, **few)
    yield "sparse", attempt(model.fit, sparse.csr_array(np.where(np.abs(X) > 2, X, 0)))
    yield "new", attempt(lambda: cs.EWOCS(**few).fit(X).score_samples(X[:5] + 0.1))
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
    members = np.array(members_of()["plain"])
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
