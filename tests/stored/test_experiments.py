"""Stored answers of the papers' experiments, at their smallest, on files made for the purpose."""

from contextlib import ExitStack, contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from types import SimpleNamespace
from unittest.mock import patch

import numpy as np
from scipy.sparse import csr_array
from stored.home import make_home
from stored.small import blobs, ensembles
from stored.store import Cases, attempt

from consilience.datasets import make_gaussians, make_minority, make_toy_minority
from consilience.experiments import (
    EXPERIMENTS,
    Cell,
    Claim,
    Plan,
    _cells,
    _ewocs_claims,
    _ewocs_runs,
    _ewocs_systems,
    _peace_data,
    _reclustering,
    _registry,
    _report,
    _runs,
    _standard,
    _woec_data,
    ambiguity,
    conclude,
    ewocs,
    ewocs_convergence,
    ewocs_criteria,
    ewocs_reuters,
    ewocs_sensitivity,
    ewocs_toy,
    peace,
    relations,
)
from consilience.generate import Combined
from consilience.generate._base import Generator

CASES = Cases(__file__)


def _small_minority(d, *, background=1.0, foreground=1.0, **options):
    return make_minority(d, background=0.06 * background, foreground=0.1 * foreground, **options)


def _quick(systems):
    """Systems with few repetitions, levels and starts."""
    found = {}
    for name, one in systems.items():
        params = dict(one.params)
        for key, value in (("n_repetitions", 5), ("n_eps", 10), ("n_part", 4), ("n_rounds", 4)):
            if key in one.kind._constraints:
                params[key] = value
        if "start_size" in one.kind._constraints:
            params |= {"start_size": 40, "min_size": 5}
        found[name] = _ewocs_systems.System(one.kind, params, one.told, min(one.starts, 2))
    return found


def _patches():
    few = partial(make_gaussians, 40)
    yield patch.object(_ewocs_systems, "make_minority", _small_minority)
    yield patch.object(ewocs_toy, "make_toy_minority", partial(make_toy_minority, 0.1))
    yield patch.object(_peace_data, "make_gaussians", lambda n, *a, **o: few(*a, **o))
    yield patch.object(
        ambiguity, "make_gaussians", lambda n, *a, **o: make_gaussians(n // 20, *a, **o)
    )
    for module in (_ewocs_systems, ewocs, ewocs_toy, ewocs_reuters, ewocs_sensitivity, relations):
        for name, value in list(vars(module).items()):
            kinds = (
                isinstance(value, dict)
                and value
                and all(isinstance(one, _ewocs_systems.System) for one in value.values())
            )
            if kinds:
                yield patch.object(module, name, _quick(value))


_PLANS = {
    "ambiguity-tables": {"sets": ("Five Gaussians",), "runs": 2},
    "ewocs-table2": {"sets": ("2-D",), "runs": 2, "members": (4,)},
    "ewocs-table3": {"sets": ("2-D",), "runs": 1, "members": (5,)},
    "ewocs-table4": {"runs": 1, "members": (5,)},
    "ewocs-table6": {"sets": ("LOC-PER",), "runs": 2},
    "ewocs-relations": {"sets": ("LOC-PER",), "runs": 1, "members": (5,)},
    "ewocs-table9": {"sets": ("LOC-PER",), "runs": 1, "members": (5,)},
    "ewocs-figure15": {"sets": ("LOC-PER",), "runs": 1, "members": (4, 8)},
    "ewocs-figures16-17": {"sets": ("2-D",), "runs": 1, "members": (150, 200, 260)},
    "ewocs-figure11": {"sets": ("2-D",), "runs": 2, "members": (5,)},
    "ewocs-table7": {"runs": 1, "members": (4, 8), "sets": ("Reuters", "HARD-38")},
    "ewocs-figure12": {"runs": 1, "members": (5,)},
    "ewocs-figure13": {"runs": 1, "members": (4, 7)},
    "ewocs-figure9": {"sets": ("2-D",), "runs": 1, "members": (4, 6, 9)},
    "ewocs-figure10": {"sets": ("2-D",), "runs": 1, "members": (5,)},
    "ewocs-figures5-7": {"runs": 1, "members": (10,)},
    "peace-tables": {"sets": ("iris", "image-c"), "runs": 1, "members": (4,)},
    "eeac-table": {"sets": ("Wine",), "runs": 1},
    "eeac-shares": {"sets": ("Wine",), "runs": 1},
    "woec-table2": {"sets": ("toy1",), "runs": 1, "members": (4,)},
    "woec-table3": {"sets": ("Toy2",), "runs": 1, "members": (4,)},
    "woec-table4": {"sets": ("Iris",), "runs": 1, "members": (4,)},
    "woec-table5": {"sets": ("Iris",), "runs": 1, "members": (4,)},
}


def _run(name, home, **plan):
    # Not 0, which every multiple of a seed would be too.
    plan = Plan(data_home=home, seed=3, **plan)
    return [cell for part in EXPERIMENTS[name].run(plan) for cell in part]


@contextmanager
def _streams():
    """Which generators were asked, and from which seeds they drew."""
    asked = []
    with ExitStack() as stack:
        for kind in (Generator, Combined):
            kept = kind.generate

            def told(self, *given, kept=kept, **options):
                asked.append(f"{type(self).__name__} {self.random_state}")
                return kept(self, *given, **options)

            stack.enter_context(patch.object(kind, "generate", told))
        yield asked


def _add(name):
    def answers():
        with TemporaryDirectory() as place, ExitStack() as stack:
            home = make_home(Path(place))
            for one in _patches():
                stack.enter_context(one)
            cells = []
            with _streams() as asked:
                found = attempt(lambda: cells.extend(_run(name, home, **_PLANS[name])))
            yield "said", str(found).replace(place, "")
            yield "streams", asked
            timed = [cell for cell in cells if "econd" in cell.row]
            cells = [cell for cell in cells if cell not in timed]
            yield "timed", [[c.table, c.data, c.row, c.column] for c in timed]
            for number, cell in enumerate(cells):
                if number < 60:
                    yield f"{number} {cell.data} {cell.row} {cell.column}", cell
            yield "all", [[c.table, c.data, c.row, c.column, c.note, list(c.values)] for c in cells]
            claims = attempt(conclude, name, cells)
            yield "claims", claims
            known = EXPERIMENTS[name]
            yield "about", [known.title, known.paper, list(known.remarks), list(known.columns)]
            made = conclude(name, cells) if isinstance(claims, list) else []
            yield "page", attempt(_report.as_page, known, cells, made, "command")
            for seed in range(3):
                faked = list(_faked(name, cells, seed))
                yield f"claims of others {seed}", attempt(conclude, name, faked)
                if seed == 0:
                    yield "page of others", attempt(_page, known, name, faked)
            wrong = attempt(lambda: _run(name, home, **(_PLANS[name] | {"sets": ("zzz",)})))
            yield "unknown set", str(wrong).replace(place, "")

    answers.__name__ = name.replace("-", "_")
    CASES(answers)


def _page(known, name, cells):
    return _report.as_page(known, cells, conclude(name, cells), "command")


def _faked(name, cells, seed):
    """The cells of a run with other figures, of several runs and data sets."""
    rng = np.random.default_rng(seed)
    levels = {column: rng.random() for column in dict.fromkeys(cell.column for cell in cells)}
    sets = tuple(relations.PAIRS) if name in _OF_PAIRS else ("",)
    for data in sets:
        for cell in cells:
            values = 50 * (levels[cell.column] + rng.normal(0, 0.1, 5)) + 20
            at = cell.row.rpartition("=")[2]
            rise = float(at) ** 0.5 if seed and at.replace(".", "").isdigit() else 1.0
            yield replace(cell, data=data or cell.data, values=tuple(values * rise))


_OF_PAIRS = ("ewocs-table6", "ewocs-relations", "ewocs-table9", "ewocs-figure15")
for _name in _PLANS:
    _add(_name)


class _Asked(Exception):
    """What an experiment asked for first."""


def _ask(plan, table, data, setting, run, *args, default):
    plain = [repr(one) for one in args if isinstance(one, int | str | tuple | list)]
    raise _Asked(f"{run.__name__} {plain} {default}")


@CASES
def plans_without_wishes():
    """How often, and with how many repetitions, where nobody says so."""
    modules = (
        ewocs, ewocs_convergence, ewocs_criteria, ewocs_reuters, ewocs_sensitivity, ewocs_toy,
        relations,
    )  # fmt: skip
    with TemporaryDirectory() as place, ExitStack() as stack:
        home = make_home(Path(place))
        for module in modules:
            stack.enter_context(patch.object(module, "kept", _ask))
        for name in (one for one in EXPERIMENTS if one.startswith("ewocs")):
            try:
                next(iter(EXPERIMENTS[name].run(Plan(data_home=home))))
                said = "nothing"
            except _Asked as asked:
                said = str(asked)
            except Exception as error:
                said = type(error).__name__
            yield name, said


@CASES
def peace_claims():
    for seed in range(4):
        rng = np.random.default_rng(seed)
        cells = [
            Cell(
                "figure 3",
                data,
                row,
                column,
                tuple(rng.normal(0.5 + 0.1 * (column == "PEACE"), 0.2 * (seed % 2) + 0.01, 3)),
            )
            for data in _peace_data.BENCHMARKS
            for row in ("(1) CI", "(2) CI", "(1) F1", "(2) F1")
            for column in ("PEACE", "BE", "EAC-SL", "EAC-AL")
        ]
        yield f"all {seed}", attempt(conclude, "peace-tables", cells)
        yield f"some {seed}", attempt(conclude, "peace-tables", cells[:40])
    X, y = make_gaussians(40, 3, 2, separation=9.0, random_state=1)
    documents = SimpleNamespace(X=csr_array(np.abs(X)), truth=y, classes=("a", "b", "c"))
    with patch.object(peace, "text", lambda name, place: documents):
        peace._text_ensemble.cache_clear()
        try:
            cells = [
                c
                for part in EXPERIMENTS["peace-tables"].run(
                    Plan(runs=2, sets=("webkd",), members=(6,))
                )
                for c in part
            ]
        finally:
            peace._text_ensemble.cache_clear()
    yield "text", cells
    yield "text claims", attempt(conclude, "peace-tables", cells)


@CASES
def kept_runs():
    with TemporaryDirectory() as place:
        home = make_home(Path(place))
        for stored_only in (False, True):
            plan = Plan(
                data_home=home,
                sets=("Iris",),
                runs=2,
                members=(4,),
                store=Path(place, "s"),
                stored_only=stored_only,
            )
            cells = [c for part in EXPERIMENTS["woec-table4"].run(plan) for c in part]
            yield f"kept {stored_only}", cells
        some = replace(plan, columns=("CSPA", "members"), store=Path(place, "t"), stored_only=False)
        yield "columns", [c for part in EXPERIMENTS["woec-table4"].run(some) for c in part]
        yield "files", len(list(Path(place, "s").iterdir()))
        for path in Path(place, "s").iterdir():
            path.write_text(path.read_text() + "{no")
        yield "cut", [c for part in EXPERIMENTS["woec-table4"].run(plan) for c in part] == cells
        for name in ("Yeast", "Iris", "Glass", "HayesRoth"):
            yield f"real {name}", attempt(_woec_data.real, name, home)
        first = _woec_data._first(3)(np.array(["a"] * 5 + ["b"] * 2))
        yield "rows", [first, _woec_data._classes("b")(np.array(["a", "b"]))]
        for name, known in ambiguity.SETS.items():
            if known.name in ("iris", "wine", "glass"):
                yield (
                    f"ambiguity {name}",
                    attempt(lambda n=name: _run("ambiguity-tables", home, sets=(n,))),
                )
        sets = ("2-D", "RELATIONS")
        yield "pairs", attempt(lambda: relations.all_pairs(home))
        yield "sets", str(sets)


def _table(levels, n=12, rows=("F1", "AUC", "Precision", "Recall"), table="3", data="2-D"):
    rng = np.random.default_rng(5)
    return [
        Cell(table, data, row, name, tuple(level + rng.normal(0, 0.05, n)))
        for row in rows
        for name, level in levels.items()
    ]


@CASES
def claims():
    """Claims of every table, from cells that are told."""
    for name, _known in EXPERIMENTS.items():
        keys = list(_cells.published(name.split("-")[0]))
        for lift in (0.0, 0.3):
            cells = []
            rng = np.random.default_rng(len(keys))
            for table, data, row, column in keys[:400]:
                level = _cells.published(name.split("-")[0])[table, data, row, column][0]
                values = tuple(level * (1 + lift * rng.normal(size=4)) + rng.normal(0, 0.01, 4))
                cells.append(Cell(table, data, row, column, values, level))
            yield f"{name} {lift}", attempt(conclude, name, cells)
            yield f"{name} {lift} sums", attempt(_report.summaries, cells[:50])
        yield f"{name} none", attempt(conclude, name, [])


@CASES
def cells():
    one = Cell("1", "d", "r", "A", (0.5, 0.6, 0.7), 0.55, 0.1, "note")
    two = Cell("1", "d", "r", "B", (0.2, 0.3, 0.1))
    lone = Cell("1", "d", "r", "C", (0.4,), 0.1)
    for cell in (one, two, lone):
        yield (
            cell.column,
            [
                attempt(lambda c=cell, n=n: getattr(c, n))
                for n in ("measured", "spread", "error", "difference")
            ],
        )
    for a, b in ((one, two), (two, one), (one, one), (lone, lone)):
        for level in (0.05, 0.5):
            yield (
                f"claim {a.column}{b.column} {level}",
                attempt(_cells.paired_claim, "above", a, b, level=level),
            )
    yield (
        "of",
        [
            _cells.of([one, two], column="B"),
            _cells.of([one], row="x"),
            attempt(_cells.of, [one, two], row="r"),
        ],
    )
    for name in ("woec", "ewocs", "peace", "eeac", "ambiguity", "zzz"):
        found = attempt(_cells.published, name)
        yield f"published {name}", found
    all_cells = [one, two, lone]
    yield "csv", _report.as_csv(all_cells)
    yield "lines", _report.as_lines(all_cells)
    yield "sums", _report.summaries(all_cells)
    claims = [
        Claim("a above b", True, 0.3, 0.01, 3, 0.1, "paired t"),
        Claim("no", False, -0.1, 0.5, 2),
    ]
    for name in ("eeac-table", "ewocs-table3"):
        yield f"page {name}", _report.as_page(EXPERIMENTS[name], all_cells, claims, "cmd --x")
    for asked in (None, ("b",), ("B", "a"), ("zzz",), ()):
        yield f"wanted {asked}", attempt(_registry.wanted, "x", "sets", asked, ("a", "b"))


@CASES
def ewocs_parts():
    levels = {"BBOCC MAH": 0.4, "BBCPRESS/7 MAH": 0.5, "DGRADE MAH": 0.55, "kMD 100x800-50": 0.3}
    levels |= {name: 0.6 + 0.02 * at for at, name in enumerate(_ewocs_systems.ENSEMBLES)}
    cells = _table(levels)
    for row in ("F1", "AUC", "zzz"):
        yield f"ranks {row}", attempt(_ewocs_claims.ewocs_ranks, cells, row)
    tests = _ewocs_claims.ewocs_ranks(cells, "F1")
    if tests is not None:
        names = list(tests.ranks.names)
        yield "diagram", attempt(_ewocs_claims.diagram, tests, "F1")
        yield (
            "below",
            attempt(_ewocs_claims.all_below, tests, "F1", names[0], names[1:3], "is below"),
        )
        yield (
            "above",
            attempt(_ewocs_claims.all_below, tests, "F1", names[-1], names[1:3], "is below"),
        )
        yield (
            "alike",
            [
                attempt(_ewocs_claims.alike, tests, "F1", a, b)
                for a, b in ((names[0], names[1]), (names[-1], names[0]))
            ],
        )
    for function in (
        _ewocs_claims.claims_of_table2,
        _ewocs_claims.claims_of_table3,
        _ewocs_claims.claims_of_table4,
    ):
        yield function.__name__, attempt(function, cells)
    yield (
        "table",
        attempt(_ewocs_claims.rank_tests, {"a": [1, 2, 3], "b": [2, 3, 4], "c": [0, 1, 1]}),
    )
    with patch.object(_ewocs_systems, "make_minority", _small_minority):
        for name in _ewocs_systems.DIMENSIONS:
            for run in (0, 1, 5):
                yield f"synthetic {name} {run}", attempt(_ewocs_systems.synthetic, name, run)
        X, y = _ewocs_systems.synthetic("2-D", 0)
    rng = np.random.default_rng(0)
    scores = (y > 0) + rng.normal(0, 0.4, len(y))
    yield (
        "measures",
        [
            _ewocs_systems.measures(scores, y),
            _ewocs_systems.best_of_labels(np.where(y > 0, 0, -1), y),
        ],
    )
    yield "hard", _ewocs_systems.hard_measures(np.where(scores > 0.5, 0, -1), y)
    yield "chance", _ewocs_systems.chance_of(y, 0)
    yield "references", attempt(_ewocs_systems.references_of, X, y, 0)
    for name, system in _quick(_ewocs_systems.PAPERS).items():
        models = attempt(lambda s=system: s.run(X, y, 1, 4))
        yield f"system {name}", models
        model = system.run(X, y, 1, 4)[0]
        yield f"best {name}", attempt(_ewocs_systems.best_measures, model, y)
        yield f"rules {name}", attempt(_ewocs_systems.by_threshold, model, y, told=True)
    found = [{"a": {"F1": 0.5, "AUC": 0.7}}, {"a": {"F1": 0.6, "AUC": 0.8}}]
    yield "cells", attempt(_ewocs_runs.cells_of, "3", "2-D", found, note="n")
    yield "cell", attempt(_ewocs_runs.cell_of, "3", "2-D", "F1", "BBOCC MAH", [1.0, 2.0])
    yield "mean", attempt(_ewocs_runs.mean_of, [{"F1": 0.5}, {"F1": 0.7}])
    yield "steps", [_ewocs_runs.steps_of(Plan(members=m), (1, 2)) for m in (None, (5,), (7, 3))]


@CASES
def parts():
    yield "standard", _standard.standardised(np.c_[blobs(), np.ones(48)])
    for method in ("single", "average", "complete", "centroid", "pam", "zzz"):
        model = _reclustering.Reclustered(3, method=method)
        yield (
            f"again {method}",
            attempt(lambda m=model: m.fit(ensemble=ensembles()["torn"]).labels_),
        )
    with TemporaryDirectory() as place:
        home = make_home(Path(place))
        for name in ("iris", "optdigits", "spiral", "zzz"):
            yield f"benchmark {name}", attempt(_peace_data.benchmark, name, home)
    yield "seeds", [_runs.seeds(Plan(seed=4), 3), _runs.seeds(Plan(runs=2), 9)]


test_stored = CASES.test()
