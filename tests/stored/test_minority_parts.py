"""Stored answers of the parts of minority methods: families, levels, references, words, sums."""

from types import SimpleNamespace
from unittest.mock import patch

import numpy as np
from scipy import sparse
from stored.small import blobs, minority
from stored.store import Cases, attempt

from consilience.minority import (
    _border,
    _bubbles,
    _densities,
    _families,
    _fitted,
    _founders,
    _hierarchy,
    _reference,
    _rivals,
    _scaling,
    _score_mixture,
    _stopping,
    _truth,
    _width,
    bubbles,
    consistency,
    dgrade,
    grams,
    hds,
    kmd,
    scores,
    soft_bubbles,
    tuning,
    weak,
)

CASES = Cases(__file__)
_X, _Y = minority()


def _counts():
    return np.round(np.abs(_X[:30]) / 2)


@CASES
def families():
    tables = {
        "gaussian": np.c_[_X[:30], np.ones(30), _X[:30].sum(axis=1)],
        "multinomial": _counts(),
        "bernoulli": (_counts() > 2) * 1.0,
    }
    all_objects, some = np.arange(30), np.arange(0, 30, 3)
    for name, family in _families.FAMILIES.items():
        for form in (np.asarray, sparse.csr_array)[: 1 if name == "gaussian" else 2]:
            model = family(form(tables[name]), owner="KMD")
            key = f"{name} {form.__name__}"
            whole, part = model.sums(all_objects), model.sums(some)
            yield f"{key} sums", [whole, part, whole - part]
            yield f"{key} likeness", [model.likeness(4, some), model.likeness(0, all_objects)]
            for sums in (whole, part, whole - part, model.sums(some[:1]), model.sums(some[:2])):
                yield f"{key} density {sums.count}", model.log_density(sums, all_objects)
        if name == "gaussian":
            yield "uniform", _families.uniform_log_density(model)
        yield f"{name} bad", attempt(family, -tables[name] + 0.5, owner="KMD")
    for start, least, prior in (
        (10, 3, True),
        (30, 3, False),
        (5, 8, True),
        (31, 0.1, True),
        (12, 0.001, True),
    ):
        for background in ("same", "uniform"):
            told = {"start_size": start, "min_size": least, "prior": prior, "n_rounds": 4}
            found = attempt(
                kmd.kmd, tables["gaussian"], background=background, random_state=1, **told
            )
            yield f"rounds {start} {least} {prior} {background}", found


@CASES
def levels():
    for n in (1, 2, 10, 90):
        for r, f in ((0.01, 0.01), (0.1, 0.5), (0.9, 0.0), (0.5, 0.99)):
            yield f"sizes {n} {r} {f}", _hierarchy.level_sizes(n, r, f)
    sizes = _hierarchy.level_sizes(60, 0.2, 0.1)
    first, last = np.array([0, 0, 2, 5], np.int32), np.array([0, 4, 5, 8], np.int32)
    yield "stability", _hierarchy.stability_of(sizes, first, last, 0.2)
    for options in ({"n_eps": 4, "n_part": 3}, {"n_eps": 90, "n_part": 3}, {"n_eps": 1}):
        tree = hds.hds(_X, r_shave=0.05, **({"n_part": 2} | options))
        yield f"tree {options}", tree
        yield f"stable {options}", [_hierarchy.most_stable(tree), attempt(tree.labels_at, 3)]
        chosen = _hierarchy.most_stable(tree)
        yield f"labels {options}", [tree.labels_of(chosen[:n]) for n in (0, 1, len(chosen))]
    yield "memory", [hds.hds_memory(n, 3, matrix=m) for n in (1, 500, 3000) for m in (True, False)]
    yield "few", attempt(hds.hds, _X, max_memory=1000)
    yield "few pairs", attempt(hds.hds, np.abs(_X), divergence="kl", max_memory=1000)


@CASES
def founders():
    for counts in ([3, 3, 2, 2, 2, 1], [2, 2, 1], [5, 4, 4, 3, 3, 1], [4], [], [3, 2], [1, 1]):
        seen = []
        yield f"run {counts}", [_founders.longest_run(iter(counts), seen), seen]
    for n, k in ((1, 1), (90, 256), (5000, 256), (5000, 9000)):
        yield f"memory {n} {k}", _founders.dgrade_memory(n, k)
    space = _rivals.Space(_X, "euclidean")
    for smoothing in ("auto", 1, 2, 20, 90, 500):
        for size in (1, 22, 90):
            yield (
                f"seeds {smoothing} {size}",
                _founders.seed_clusters(space, size, smoothing, "4 GiB"),
            )
    with patch.object(_founders, "_STAGES", (2, 5, 11)):
        yield "stages", _founders.seed_clusters(space, 22, "auto", "4 GiB")
        yield "stages 7", _founders.seed_clusters(space, 22, 7, "4 GiB")
    yield "budget", attempt(_founders.seed_clusters, space, 22, "auto", 1000)
    for n_sample in (None, 30, 89, 90, 91):
        found = attempt(
            dgrade.dgrade, _X, 0.25, divergence="euclidean", n_sample=n_sample, random_state=2
        )
        yield f"sample {n_sample}", found
    K = _X @ _X.T
    found = attempt(dgrade.dgrade, K, 20, divergence="precomputed", n_sample=40, random_state=2)
    yield "sample of pairs", found


@CASES
def bubbles_and_sizes():
    ties = np.array([2.0, 1.0, 2.0, 0.5, 2.0, 1.0])
    yield "smallest", [_rivals.smallest(ties, n) for n in range(1, 7)]
    wanted = (1, 3, 90, 91, 0.001, 0.01, 0.5, 0.99, 1.0)
    yield "wanted", [_rivals.count_foreground(n, 90) for n in wanted]
    rows = {
        "one": np.ones((1, 2)), "two": np.ones((2, 2)), "last": np.r_[np.ones((3, 2)), [[1, 2.0]]],
        "zeros": np.zeros((3, 2)), "moved": np.eye(2), "first": np.array([[1, 0.0], [1, 1]]),
    }  # fmt: skip
    for name, X in rows.items():
        yield f"contrast {name}", [_rivals.no_contrast(X), _rivals.no_contrast(sparse.csr_array(X))]
    sizes = ((10, 3, 0.5), (10, 10, 0.5), (11, 10, 0.75), (100, 1, 0.9), (12, 10, 0.5))
    yield "pressed", [_bubbles.pressed_sizes(*told) for told in sizes]
    for labels in ([0, 2, -1, 5], [-1, -1], [3], [1, 0, 1]):
        yield f"packed {labels}", _bubbles.packed_labels(np.array(labels))
    with patch.object(_rivals, "BLOCK_BYTES", 8 * 90 * 7):
        for name in ("euclidean", "gaussian", "mahalanobis", "cosine", "kl"):
            X = np.abs(_X) + 0.1
            space = _rivals.Space(X, name)
            blocks = [(low, rows.copy()) for low, rows in space.rows()]
            yield f"rows {name}", [[low for low, _ in blocks], np.vstack([b for _, b in blocks])]
            yield f"points {name}", space.points()
            for criterion in ("radius", "cost"):
                best = [_bubbles.best_centre(space, n, criterion) for n in (1, 10, 90)]
                yield f"best {name} {criterion}", best
                yield (
                    f"hocc {name} {criterion}",
                    attempt(bubbles.hocc, X, 10, divergence=name, criterion=criterion),
                )
            centres = space.seeds(np.array([3, 40, 40, 80]))
            yield f"nearest {name}", space.nearest(centres)
            for size in (1, 40, 90):
                yield f"inside {name} {size}", _bubbles.objects_inside(space, size, centres)
                for steps in (0, 1, 100):
                    yield (
                        f"settled {name} {size} {steps}",
                        _bubbles.settle(space, size, centres, steps),
                    )
            labels = np.where(np.arange(90) % 4 < 3, np.arange(90) % 4, -1)
            yield f"means {name}", space.group_means(labels, 3)
    space = _rivals.Space(_X, "euclidean")
    starts = (_Y - 1, np.full(90, -1), _X[:3], _X[:, :1], ["a"] * 90, np.full((2, 2), np.inf))
    for number, start in enumerate((*starts, np.where(_Y == 1, 7.5, -2.0), np.empty((0, 2)))):
        yield f"start {number}", attempt(_bubbles.start_centres, space, start)
    for flag in ("degenerate", "no_contrast"):
        yield flag, [_bubbles.nothing_stands_out(_X[:3], flag), soft_bubbles._nothing(_X[:3], flag)]
    spaces = {"plain": _X, "one": _X[:1], "sparse": sparse.csr_array(np.abs(_X))}
    for name, X in spaces.items():
        found = attempt(
            soft_bubbles.softbbc, X, 3, divergence="euclidean", background=0.4, random_state=0
        )
        yield f"soft {name}", found


def _reference_of(**told):
    known = {
        "share": 0.1, "p_value": 0.01, "excess": 0.08, "precision": 0.9, "null": "box",
        "tested": "copula", "misfit": 0.02, "fits": True, "misfits": {"box": 0.02},
        "n_references": 99, "n_objects": 90, "n_columns": 2, "gap": 1.0, "gap_share": 0.2,
        "separate": True, "by_gap": False, "uncertain": False,
    }  # fmt: skip
    return _reference.Reference(**(known | told))


@CASES
def words_of_the_border():
    given = np.round(np.random.default_rng(1).normal(size=90), 1)
    told = {
        "plain": {}, "gap": {"by_gap": True}, "uncertain": {"uncertain": True},
        "misfit": {"fits": False, "misfit": 0.3}, "few": {"fits": False, "n_columns": 80},
        "nothing": {"p_value": 0.2}, "at the level": {"p_value": 0.05},
        "nothing, misfit": {"p_value": 0.2, "fits": False},
        "deep": {"p_value": 0.2, "gap": _reference.DEEP}, "less deep": {"p_value": 0.2, "gap": 3.0},
        "deep, misfit": {"p_value": 0.2, "gap": 99.0, "fits": False},
        "slope": {"separate": False}, "half": {"share": 0.5}, "most": {"share": 0.51},
        "most, misfit": {"share": 0.6, "fits": False}, "none": {"share": 0.0},
        "uncertain, misfit": {"uncertain": True, "fits": False},
        "last column": {"fits": False, "n_columns": 90 // _reference.A_COLUMN},
        "column more": {"fits": False, "n_columns": 90 // _reference.A_COLUMN + 1},
    }  # fmt: skip
    for name, changed in told.items():
        for counts in (None, 1.0 + np.arange(90) % 3):
            found = _border._told(np.sort(given)[::-1], given, counts, _reference_of(**changed))
            yield f"{name} {counts is None}", found
    for share in (0.0, 0.001, 0.5, 0.994, 1.0):
        yield (
            f"place {share}",
            [_border._place(given, c, share) for c in (None, np.ones(90), np.arange(90.0))],
        )
    for scores_ in (np.ones(5), given, np.r_[given, given + 9]):
        yield f"without {len(scores_)}", _border.without_reference(scores_)
    owners = (("size", None), ("size", 3), ("best", None), ("dist", None), (0.5, None))
    for threshold, wanted in owners:
        owner = SimpleNamespace(threshold=threshold, n_foreground=wanted)
        for y in (None, _Y, _Y[:3], -_Y):
            yield (
                f"rule {threshold} {wanted} {None if y is None else [len(y), int(y.min())]}",
                attempt(_border.check_rule, owner, y, 90, name="EWOCS.fit"),
            )


@CASES
def references():
    rng = np.random.default_rng(4)
    given = np.r_[rng.normal(size=160), rng.normal(3, 0.3, 40)]
    drawn = np.sort(rng.normal(size=500))
    for name, own in (("alike", np.ones(200)), ("counted", 1.0 + np.arange(200) % 3)):
        half = _reference._lower_half(given, own, drawn)
        yield f"{name} half", half
        for background in (0.5, half[0], 1.0):
            chances = _reference._chances(given, own, drawn, background)
            yield f"{name} chances {background:.2f}", chances
            compared = _reference._Compared(drawn, background, half[1])
            expected = _reference._expected(given, own, compared)
            shares = (0.0, 0.1, 0.2, 0.5, 1.0, 2.0)
            yield (
                f"{name} expected {background:.2f}",
                [expected, expected.best(), [expected.precision(share) for share in shares]],
            )
        yield f"{name} excess", [_reference._excess(given, own, drawn - g) for g in (-2, 0, 1, 9)]
        families = {
            "box": drawn * 0.6 - 0.5, "copula": drawn * 1.1, "ellipsoid": np.sort(drawn**3),
            "patches": np.sort(np.r_[drawn, drawn[:90] + 3]),
        }  # fmt: skip
        grown = {}
        for key, one in families.items():
            compared = _reference._Compared(one, *_reference._lower_half(given, own, one))
            wider = _reference._Compared(1.3 * one, *_reference._lower_half(given, own, 1.3 * one))
            grown[key] = _reference._Family(wider, compared)
        for columns in (2, 100, 101):
            for gap in (1.0, 2.0, 5.0, 40.0):
                shape = _densities.Shape(gap, 0.3, gap > 4)
                found = _reference._judged(
                    given, own, grown, columns, np.random.default_rng(0), shape
                )
                yield f"{name} judged {columns} {gap}", found
        for key in families:
            rest = {name: one for name, one in grown.items() if name != key}
            found = _reference._judged(given, own, rest, 2, np.random.default_rng(0))
            yield f"{name} without {key}", found
        first = {key: one.first for key, one in grown.items()}
        yield f"{name} tested", _reference._tested(given, own, first, np.random.default_rng(3))
    for gap in (1.0, 1.19, 1.3, 2.0, 4.0, 9.0):
        for share in (0.05, 0.12, 0.2, 0.25, 0.6):
            shape = _densities.Shape(gap, 0.2, True)
            found = [_reference._with_gap(share, shape, fits) for fits in (True, False)]
            yield f"gap {gap} {share}", [found, _reference._marked(share, shape)]
    names = ("box", "copula", "ellipsoid", "patches")
    excess = {"box": 0.2, "copula": 0.19, "ellipsoid": 0.1, "patches": 0.02}
    misfits = {
        name: _reference._Compared(drawn, 1.0, at)
        for name, at in zip(names, (3, 1, 2, 4), strict=True)
    }
    for number in range(16):
        fitting = [name for at, name in enumerate(names) if number >> at & 1]
        for told in (excess, dict.fromkeys(names, 0.1), excess | {"box": 0.01, "patches": 0.09}):
            found = _reference._deciding(fitting, told, misfits)
            yield f"deciding {fitting} {told['box']} {told['patches']}", found
    for times, chance in ((1.0, 0.0), (2.0, 0.0), (1.0, 20.0), (4.0, 1.0)):
        yield f"near {times} {chance}", _reference._near(misfits, 100, times, chance)


@CASES
def densities():
    rng = np.random.default_rng(2)
    two = np.r_[rng.normal(0, 1, (150, 2)), rng.normal(9, 1, (150, 2))]
    tables = {
        "one": two[:150], "two": two, "dense": np.r_[two[:100], 0.02 * two[:40]],
        "grid": np.round(two), "halves": np.round(2 * two) / 2, "equal": np.ones((40, 2)),
        "nearly": np.r_[np.ones((30, 2)), two[:20]], "pair": two[:2], "few": two[:7],
        "line": np.c_[np.arange(60.0), np.arange(60) % 2],
    }  # fmt: skip
    for name, X in tables.items():
        heights, graph, count = _densities._log_densities(X)
        heights = _densities._finite(heights)
        yield f"{name} heights", [heights, count, graph.nnz, graph.sum(axis=0)]
        tops = _densities._climbed(heights, graph, count)
        yield f"{name} hills", [np.unique(tops, return_counts=True)[1], _densities.hills_of(X)]
        yield f"{name} valley", _densities._valley(heights, count)
        spread = _densities._unrounded(X, np.random.default_rng(0))
        yield f"{name} spread", spread
        yield f"{name} shape", _densities.shape_of(X, 1)
    depths = {
        "none": [1.0, 1.0], "low": [1.0, 1.2, 1.0], "ends": [2.0, 1.0, 3.0],
        "two": [1.0, 1.1, 1.0, 1.5, 1.8, 1.7995, 1.0, 9.0], "slight": [1.00005, 1.4, 1.0],
        "edge": [1.0, 1.3, 1.0], "only": [1.5], "deeper later": [1.0, 1.2, 1.0, 1.25],
    }  # fmt: skip
    for name, given in depths.items():
        yield f"first {name}", _densities._first_of(np.array(given), np.linspace(1, 0, len(given)))


@CASES
def mixtures_and_scalings():
    many = np.sort(np.random.default_rng(0).normal(size=60))[::-1]
    rounded = np.round(many, 1)
    for n, bins in ((59, 8), (60, 8), (61, 8), (10, 1), (10, 64)):
        with patch.multiple(_score_mixture, EXACT_UP_TO=n, N_BINS=bins):
            for name, given in (("many", many), ("rounded", rounded), ("flat", np.ones(60))):
                points = _score_mixture.condense(given)
                yield f"points {name} {n} {bins}", points
                for k in (1, 2, 5):
                    yield f"fit {name} {n} {bins} {k}", _score_mixture.fit_points(points, k)
                yield f"choose {name} {n} {bins}", _score_mixture.choose(points, 3)
    for floor in (1e-12, 0.01, 4.0):
        yield f"floor {floor}", _score_mixture.fit(many[::-1], 3, floor)
    for given in ([1.0, 1.0], [3.0, 1.0, 2.0], [-1e308, 1e308, 0.0], [5.0]):
        yield f"unit {given}", _score_mixture.to_unit(np.array(given))
    counts = np.array([3.0, 1.0, 1.0, 5.0])
    yield "slices", [_score_mixture._equal_slices(counts, k) for k in (1, 2, 3, 10, 12)]
    bad = ([], [[1.0]], 3.0, ["a"], [1j], [1, np.inf, np.nan], [True, False], None)
    yield "bad", [attempt(_score_mixture.finite_scores, one, owner="x") for one in bad]
    tables = {
        "plain": _X, "far": _X * [1e-200, 1e200], "constant": np.c_[_X, np.full(90, 7.0)],
        "nearly": np.c_[_X, np.r_[np.ones(88), 5.0, -3.0]], "single": _X.astype(np.float32),
        "pair": _X[:2], "one": _X[:1], "outlier": np.r_[_X, [[1e6, -1e6]]],
    }  # fmt: skip
    for name, X in tables.items():
        for kind in ("none", "box", "std", "robust"):
            found = attempt(_scaling.fit_scaling, kind, X, owner="EWOCS")
            yield f"{name} {kind}", found
            if kind != "none":
                made = _scaling.fit_scaling(kind, X, owner="EWOCS")
                yield f"{name} {kind} applied", made.apply(X[::7].copy(), 2)
    for n, most in ((90, 89), (90, 90), (90, 30), (5, 1000), (2, 1000), (130, 1000)):
        with patch.object(_width, "_MOST_OBJECTS", most):
            given = np.tile(_X, (2, 1))[:n] + 0.01 * np.arange(n)[:, None]
            yield f"width {n} {most}", [_width.gamma_of_distances(given, s) for s in (0, 5)]
    doubled = np.repeat(_X[:40], 3, axis=0)
    yield "width of copies", _width.gamma_of_distances(doubled, 0)
    given = (None, _Y, _Y > 0, _Y * 1.0, _Y - 1, _Y + 0.5, _Y[:3], _Y * 1j, list("ab"))
    for number, y in enumerate((*given, np.full(90, 2.0**53), np.full(90, np.nan))):
        for instead in ("", "Do this."):
            found = [
                attempt(one, y, 90, owner="x", instead=instead)
                for one in (_truth.source_numbers, _truth.foreground_truth)
            ]
            yield f"truth {number} {instead}", found


@CASES
def running_sums():
    rng = np.random.default_rng(7)
    for aggregate in ("mean", "log"):
        for dtype in (np.float32, np.float64):
            running = scores.Running.empty(12, aggregate, dtype)
            for number in range(4):
                yield (
                    f"{aggregate} {dtype.__name__} {number}",
                    [
                        running.n_repetitions, running.scores, running.resolution, running.is_flat,
                        running.variances(), running.standard_errors(), running.reliability(),
                        running.shift, running.changes, running.squares,
                    ],
                )  # fmt: skip
                drawn = SimpleNamespace(n_clusters=number + 2)
                grid = _fitted.Grid.of(running)
                yield (
                    f"grid {aggregate} {dtype.__name__} {number}",
                    [grid, _fitted.Grid.fine(running.scores), grid.round(running.scores)],
                )
                one = scores.Repetition(drawn, np.ones(number + 2), rng.uniform(1, 9, 12))
                running.add(one, with_change=number != 2)
    for start, last, n in (
        (0, 100, 9),
        (0, 101, 9),
        (50, 200, 9),
        (0, 100, 50_000),
        (7, 90, 50_001),
    ):
        yield f"lines {start} {last} {n}", _stopping.n_lines(start, last, n)
    for rule in ("reliability", "paper"):
        for tol in (None, 0.5):
            progress = _stopping.Progress(rule, tol)
            for done, value, changes in (
                (99, 0.9, []), (100, 0.5, [0.1] * 99), (100, 0.7, []),
                (200, 0.5, [1.0] * 99 + [0.0] * 100),
                (250, 1.0, []), (300, 0.995, [0.5] * 299), (400, 0.995, [1e-11] * 400),
            ):  # fmt: skip
                state = SimpleNamespace(
                    n_repetitions=done, changes=changes, reliability=lambda v=value: v
                )
                progress.look(state)
                yield f"{rule} {tol} {done} {value}", [list(progress.seen), progress.settled]
    for counts in (None, 1.0 + np.arange(90) % 3, np.where(np.arange(90) < 3, 1.0, 0.0)):
        for kind in ("soft", "hard", "split"):
            made = weak.weak_clusterer(kind, divergence="gaussian", k_max=7).fit(_X)
            made = _fitted.replace(made, counts=counts)
            drawn = [made.draw(seed, number) for seed in (0, 1) for number in (0, 1, 2)]
            yield f"draws {kind} {None if counts is None else counts.sum()}", drawn
            yield (
                f"grading {kind} {None if counts is None else counts.sum()}",
                [made.lightest, [made.grading(d) for d in (np.float32, np.float64)]],
            )
    for gamma in (1e-3, 0.5, 10.0, 1e300):
        made = weak.weak_clusterer("soft", divergence=weak.Gaussian(2.0, gamma)).fit(_X)
        yield f"near {gamma}", [made.grading(d) for d in (np.float32, np.float64)]


@CASES
def planes_and_sources():
    values = np.array([[0, 0, 1, 1, 0], [0, 2, 2, 0, 0], [0, 0, 0, 3, 3], [1, 0, 0, 3, 3.0]])
    surface = tuning.Surface(np.geomspace(1, 8, 4), np.geomspace(1, 16, 5), values)
    for epsilon in (0.0, 0.5, 1.0, 2.0, 3.0):
        yield f"vertex {epsilon}", tuning.vertex(surface, epsilon)
    wide = np.random.default_rng(3).normal(size=(1100, 2)) * np.linspace(0, 3, 1100)[:, None]
    yield "typical of many", tuning._typical_distance(wide, np.arange(1100))
    order = np.random.default_rng(0).permutation(90)
    for name, X in {
        "plain": _X, "mostly equal": np.r_[np.ones((88, 2)), [[4.0, 1], [1, 2]]],
        "sparse": sparse.csr_array(np.where(np.arange(90)[:, None] < 88, 1.0, _X)),
    }.items():  # fmt: skip
        scale = tuning._typical_distance(X, order)
        yield f"typical {name}", [scale, tuning._mean_distance(X, X[:1])]
        yield f"unitless {name}", tuning._unitless_density(X, scale)
    for n_clusters, n_sample in ((None, None), (None, 25), (30, 20), (2, 500)):
        search = tuning._Collapse(_X, order, n_clusters, n_sample, 0.1, False, 3, None)
        yield f"search {n_clusters} {n_sample}", [search.n_clusters, search.X, search.scale]
        if search.n_clusters < 5:
            found = search.surface(np.array([1.0, 30.0]), np.array([0.1, 10.0]), 2)
            yield f"surface {n_clusters} {n_sample}", found
    sequences = [tuple(line) for line in ("abcab", "abxab", "cabd", "ddcab", "xyz", "abcabc", "ab")]
    for told in ((5, 1, 0), (3, 1, 2), (5, 3, 0), (2, 0, 1), (2, 1, 3), (5, 0, 0)):
        yield f"patterns {told}", [grams._patterns_of(row, *told) for row in sequences]
    for damping in (None, "share", "idf"):
        for told in ({"min_count": 1}, {"min_count": 2, "sides": 1, "max_length": 3}, {"tol": 0.5}):
            for keys in (None, list("aabbccd")):
                found = attempt(
                    grams.grams,
                    sequences,
                    instances=keys,
                    damping=damping,
                    **({"min_count": 1} | told),
                )
                yield f"grams {damping} {told} {keys is None}", found
    yield "enough", [grams._enough(n) for n in (1, 2, 30, 100, 1000, 10_000, 10**6, 10**9)]
    rng = np.random.default_rng(0)
    tables = rng.uniform(size=(5, 3, 3))
    tables = tables + tables.transpose(0, 2, 1)
    shares = np.array([[0.8, 0.1, 0.1], [0.7, 0.2, 0.1]])
    for n in (1, 2, 5):
        yield f"judged {n}", consistency._judged(np.arange(3), shares, tables[:n])
    given = (np.arange(6) % 3, np.arange(6) - 1, np.eye(6)[:, :2], np.full((6, 2), 0.5), np.ones(6))
    for number, answer in enumerate(given):
        yield f"grades {number}", attempt(consistency._grades, answer, 6)
    for number, y in enumerate((_Y, _Y * 2, np.ones(90, int), np.zeros(90, int))):
        yield f"members {number}", attempt(consistency._members, y, 90)
    for kind in ("soft", "hard", "split"):
        with patch.object(consistency, "_BLOCK", 32):
            found = attempt(
                consistency.consistency_over,
                [(_X, _Y), (_X[::-1], _Y[::-1])],
                kind,
                n_repetitions=2,
                random_state=5,
            )
        yield f"over {kind}", found
    yield (
        "blobs",
        attempt(consistency.consistency, blobs(), np.repeat([0, 1, 2], 16), random_state=1),
    )


test_stored = CASES.test()
