"""Stored answers of experiments: pages of many tables, statements at their limits, curves."""

from itertools import product

import numpy as np
from stored.store import Cases, attempt

from consilience.experiments import (
    EXPERIMENTS,
    Cell,
    Claim,
    Plan,
    _ewocs_claims,
    _ewocs_runs,
    _report,
    _woec_claims,
    conclude,
    ewocs_convergence,
    ewocs_sensitivity,
    ewocs_toy,
    peace,
)

CASES = Cases(__file__)


def _drawn(seed, n, level=0.5, spread=0.1):
    return tuple(np.round(level + spread * np.random.default_rng(seed).normal(size=n), 6).tolist())


def _tables():
    """Cells by name: what a page may have to show."""
    ten = (0.5,) * 10
    notes = {"Iris": ("", "", ""), "Wine": ("few", "", "old"), "Ring": ("few", "few", "few")}
    levels = {"A": 0.5, "B": 0.52, "C": 0.2, "Max": 0.9}
    winner = [
        Cell("1", data, "ARI", name, _drawn(at, 6, level), level, 0.1, note[at % 3])
        for data, note in notes.items()
        for at, (name, level) in enumerate(levels.items())
    ]
    yield "winner", winner
    yield (
        "bridged",
        [
            Cell("1", "d", row, name, _drawn(3, 2))
            for row, names in (("r", "AB"), ("s", "CD"), ("t", "EF"), ("u", "BC"), ("v", "G"))
            for name in names
        ],
    )
    yield (
        "errors",
        [
            Cell("1", "d", "r", f"{error:g}", (0.5 - error, 0.5 + error), known)
            for error in (0.0, 1e-6, 4e-5, 5e-5, 6e-5, 4.9e-4, 5e-4, 6e-4, 0.25)
            for known in (0.5,)
        ],
    )
    yield (
        "two errors",
        [
            Cell("1", "d", f"r{at}", "A", (0.25, 0.75), 0.5 + gap)
            for at, gap in enumerate((0.0, 0.5, -0.5, 0.5625, -0.5625))
        ],
    )
    yield (
        "runs",
        [
            Cell("1", data, "r", name, ten[:n])
            for data, counts in {
                "a": (1, 1),
                "b": (1, 3),
                "c": (2, 3),
                "e": (2, 2),
                "f": (3,),
            }.items()
            for name, n in zip("AB", counts, strict=False)
        ],
    )
    yield (
        "no scores",
        [
            Cell("1", "d", row, name, _drawn(at, 3, 0.1 + at))
            for row in (
                "objects",
                "seconds to convergence",
                "log10 of it",
                "per cent, share=1",
                "AUC",
            )
            for at, name in enumerate("AB")
        ],
    )
    yield (
        "no methods",
        [
            Cell("1", "d", "r", name, _drawn(at, 3, 0.1 + at))
            for at, name in enumerate(("A", "Min", "Mean", "RANDOM", "ALLFG", "CONVEX"))
        ],
    )
    yield "alone", [Cell("1", "d", "r", "A", _drawn(0, 3))]
    yield "nothing", []


@CASES
def pages():
    claims = [
        Claim("a", True, 0.25, 0.0123, 3, 0.0625, "paired t"),
        Claim("b", False, -1.0, float("nan"), 9, unit="data sets"),
        Claim("c", False, 0.0, 0.5, 2),
    ]
    experiment = EXPERIMENTS["eeac-table"]
    for name, cells in _tables():
        yield f"{name} page", _report.as_page(experiment, cells, claims, "x").split("\n")[6:]
        yield f"{name} csv", _report.as_csv(cells).split("\n")
        yield f"{name} sums", _report.summaries(cells)
        yield f"{name} lines", _report.as_lines(cells)
    yield "no claims", _report.as_page(experiment, [], [], "x").split("\n")[:8]
    yield (
        "titles",
        {
            name: [one.title, one.needs_data, one.keeps_runs, one.columns]
            for name, one in EXPERIMENTS.items()
        },
    )


def _curve(row, values, sizes=(500, 1000, 4000), column="mapped", data="2-D"):
    return [
        Cell("f", data, f"{row}, n={n}", column, tuple(np.atleast_1d(one).tolist()))
        for n, one in zip(sizes, values, strict=False)
    ]


@CASES
def powers_of_the_size():
    sizes = np.array([500.0, 1000.0, 4000.0])
    rows = ("repetitions", "milliseconds a repetition", "seconds to convergence")
    for row, power in product(rows, (0.4, 1.1, 1.5, 3.0)):
        noisy = np.outer(sizes**power, [0.9, 1.0, 1.3, 1.05])
        found = conclude("ewocs-figures16-17", _curve(row, noisy))
        yield f"{row} {power}", found
    for n in (1, 2, 3):
        yield (
            f"{n} sizes",
            conclude("ewocs-figures16-17", _curve("repetitions", [7.0, 9.0, 11.5][:n])),
        )
    both = _curve("repetitions", [1.0, 2.0, 4.0]) + _curve("repetitions", [3.0, 9.0], data="R")
    both += _curve("repetitions", [1.0, 2.5, 4.0], column="sizes")
    yield "others are others", conclude("ewocs-figures16-17", both)
    changes = np.r_[np.full(150, 1e-6), np.full(100, 4e-10)]
    yield "beyond", [ewocs_convergence._beyond(changes[:n]) for n in (150, 200, 250, 5)]
    needed = {"sizes": 7}
    for done, level in ((100, 1e-10), (200, 9e-11), (300, 5e-11)):
        ewocs_convergence._look(
            {"mapped": [1.0] * 50 + [level] * 100, "sizes": [0.0]}, needed, done
        )
        yield f"look {done}", dict(needed)
    scores = np.array([[1.0, 2.0, 5.0], [1.0, 3.0, 5.0], [4.0, 4.0, 4.0]])
    for a, b in product(range(3), range(3)):
        yield f"changes {a} {b}", ewocs_convergence._changes(scores[a], scores[b])
    runs = [{"mapped": {"repetitions, n=40": 1.0, "repetitions, n=90": 2.0}, "sizes": {}}]
    for asked in ((40, 90), (40, 91), (100, 200), ()):
        yield f"too large {asked}", ewocs_convergence._too_large(asked, runs)
    yield "too large, nothing", ewocs_convergence._too_large((3,), [])
    settled = ewocs_convergence._Settled({"mapped": 300}, {"mapped": 1e-4}, 0.25, 0.5)
    yield "of scale", ewocs_convergence._of_scale(settled, "mapped", ", n=9")
    everything = np.arange(60.0).reshape(20, 3)
    yield (
        "objects",
        [
            ewocs_convergence._objects("RELATIONS", n, everything, run)
            for n in (5, 20)
            for run in (0, 1)
        ],
    )
    yield "made", [len(ewocs_convergence._objects("2-D", n, None, 1)) for n in (62, 620)]


def _figure3(lift, n=3, spread=0.02):
    """Every figure that the statements of PEACE are about."""
    rows = ("(1) CI", "(2) CI", "(1) F1", "(2) F1")
    found = []
    for at, (data, row, name) in enumerate(product(peace.BENCHMARKS, rows, peace.METHODS)):
        level = 0.5 + lift.get(name, 0.0) + 0.05 * (data in ("spiral", "image-c"))
        found.append(Cell("figure 3", data, row, name, _drawn(at, n, level, spread)))
    return found


@CASES
def statements():
    for key, lift in {
        "best": {"PEACE": 0.3}, "alike": {}, "worst": {"PEACE": -0.3},
        "seeded": {"PEACE": 0.2, "BE": 0.2},
        "near": {"PEACE": 0.01}, "hard": {"EAC-SL": 0.3, "EAC-AL": 0.3},
    }.items():  # fmt: skip
        cells = _figure3(lift)
        yield f"peace {key}", peace._statements(cells)
        yield f"peace {key} without one", peace._statements(cells[:-1])
        yield f"peace {key} one run", peace._statements(cells[:-1] + _figure3(lift, 1)[-1:])
    for gap in (0.0, 0.01, 0.5):  # on all sets alike
        cells = [
            Cell("figure 3", data, row, name, (0.5 + gap * (name == "PEACE"),) * 2)
            for data, row, name in product(
                peace.BENCHMARKS, ("(1) CI", "(2) CI", "(1) F1", "(2) F1"), peace.METHODS
            )
        ]
        yield f"peace equal {gap}", attempt(peace._statements, cells)
    rng = np.random.default_rng(0)
    for name, table in {
        "one set": {"a": [1.0], "b": [2.0]}, "two sets": {"a": [1.0, 2.0], "b": [2.0, 3.0]},
        "one system": {"a": [1.0, 2.0]}, "torn": {"a": [1.0, 2.0, 3.0], "b": [2.0, 3.0]},
        "clear": {name: rng.normal(at, 0.1, 15).tolist() for at, name in enumerate("abc")},
        "ties": {name: [1.0] * 5 for name in "abc"},
    }.items():  # fmt: skip
        tests = _ewocs_claims.rank_tests(table)
        yield f"ranks {name}", tests is None
        if tests is not None:
            yield f"diagram {name}", attempt(_ewocs_claims.diagram, tests, "F1")
            first, *others = tests.ranks.names
            yield (
                f"below {name}",
                [
                    _ewocs_claims.all_below(tests, "F1", first, others, "others"),
                    _ewocs_claims.all_below(
                        tests, "F1", others[-1], [first, *others[:-1]], "others"
                    ),
                    _ewocs_claims.alike(tests, "F1", first, others[-1]),
                    _ewocs_claims.alike(tests, "F1", others[-1], first),
                    _ewocs_claims._count(tests, "words", 1),
                ],
            )
    for worst in (100.0, 99.0):
        cells = [
            Cell("2", data, "Cons fixed", column, (100.0, value))
            for data, column, value in (
                ("2-D", "SRBC x100 G(10,10)", 100.0), ("5-D", "SRBC x100 G(10,10)", worst),
                ("8-D", "HRBC x100", 100.0), ("8-D", "RSPLIT x100", 0.0), ("3-D", "HRBC x100", 5.0),
            )
        ]  # fmt: skip
        yield f"consistent {worst}", _ewocs_claims.claims_of_table2(cells)
    for last in ((3.0, 5.0), (3.0, 4.0), (2.0, 6.0)):
        cells = [
            Cell("f", "rules", "objects", rule, values)
            for rule, values in (("NGAUSS+VAR", last), ("NGAUSS+BEST", (3.0, 4.0)))
        ]
        yield f"cuts {last}", ewocs_toy._same_cuts(cells)
    for gains in ((10.0, 10.0), (10.0, 9.0), (1.0, 2.0)):
        values = np.cumsum([50.0, *gains])
        cells = [
            Cell("f", "2-D", f"F1, R={r}", "k_max=100", (v - 0.1, v + 0.1))
            for r, v in zip((10, 20, 50), values.tolist(), strict=True)
        ]
        yield f"growth {gains}", ewocs_sensitivity._growth(cells)
    names = (*_woec_claims._WOEC, *_woec_claims._OTHERS, "Max")
    for lift in (0.0, 0.3):
        for n in (1, 3):
            cells = [
                Cell(
                    "4",
                    data,
                    "R=20",
                    name,
                    _drawn(at, n, 0.5 + lift * (name in _woec_claims._WOEC)),
                )
                for at, (data, name) in enumerate(
                    product(("Iris", "Breast", "Sony", "Wall"), dict.fromkeys(names))
                )
            ]
            yield f"woec {lift} {n}", _woec_claims.claims_of_table4(cells)
            yield f"woec {lift} {n} torn", _woec_claims.claims_of_table4(cells[1:])
            names_of_table5 = (*_woec_claims._SUBSPACE, *_woec_claims._WOEC)
            cells = [
                Cell("5", data, "ARI", name, _drawn(at, n, 0.5 + lift * (name == "WSPA")))
                for at, (data, name) in enumerate(
                    product(("Beef", "Iris", "Wall"), names_of_table5)
                )
            ]
            yield f"woec {lift} {n} subspace", _woec_claims.claims_of_table5(cells)
    for members in (None, (5,), (9, 3, 9), ()):
        plan = Plan(members=members)
        yield (
            f"steps {members}",
            [_ewocs_runs.steps_of(plan, (7, 2)), _ewocs_runs.setting_of(members)],
        )
    yield "setting", [_ewocs_runs.setting_of(4), _ewocs_runs.mean_of([{"a": 1.0}, {"a": 4.0}])]
    runs = [
        {"A": {"r": 1.0, "s": 2.0}, "B": {"r": 3.0}},
        {"A": {"r": 2.0, "s": 0.0}, "B": {"r": 5.0}},
    ]
    for given in (runs, runs[:1], []):
        for rows in (None, ("s", "r")):
            yield f"cells {len(given)} {rows}", _ewocs_runs.cells_of("3", "2-D", given, rows)


test_stored = CASES.test()
