"""Stored answers of the nouns and of what checks, words and files are made of."""

import io
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pandas as pd
import polars
from scipy import sparse
from stored.small import blobs, ensembles, truth
from stored.store import Cases, attempt

import consilience as cs
from consilience import (
    _contingency,
    _docs,
    _files,
    _formulas,
    _labels,
    _optional,
    _sklearn,
    _text,
    _units,
    _validation,
    _words,
    errors,
)
from consilience.ensemble import check_ensemble, takes_ensemble

CASES = Cases(__file__)
_TABLES = {
    "array": np.array([[0, 1], [0, 0], [5, 1], [-1, -2]]),
    "lists": [[0, 1, 1], [2, 2, 0]],
    "words": [["a", "b", "a"], ["x", None, "y"]],
    "floats": np.array([[0.0, 1.0], [np.nan, 1.0]]),
    "odd": np.array([[0.5, 1.0]]),
    "frame": pd.DataFrame({"m": ["a", "b", None], "n": [1, 1, 2]}, index=list("xyz")),
    "polars": polars.DataFrame({"m": ["a", "b", None], "n": [1, 1, 2]}),
    "bools": np.array([[True, False], [False, False]]),
    "huge": np.array([[2**40, 0], [3, 2**40]]),
    "many": np.arange(300)[:, None],
    "flat": np.array([0, 1]),
    "empty": np.zeros((0, 2), int),
    "none": np.zeros((2, 0), int),
    "minus": np.array([[-3]]),
    "text": "abc",
    "number": 3,
    "nothing": None,
    "ragged": [[0, 1], [0]],
    "one": [[0]],
    "dates": pd.DataFrame({"d": pd.to_datetime(["2020-01-01", None])}),
    "category": pd.DataFrame({"c": pd.Categorical(["u", "v", "u"])}),
}


@CASES
def ensembles_made():
    for key, table in _TABLES.items():
        yield key, attempt(cs.Ensemble, table)
    table = _TABLES["array"]
    for options in (
        {"index": list("abcd")},
        {"index": [1, 1, 2, 3]},
        {"index": ["a"]},
        {"names": ["m", "n"]},
        {"names": ["m"]},
        {"names": ["m", "m"]},
        {"records": [{"a": 1}, {}]},
        {"records": [{}]},
        {"records": 3},
        {"index": [[1], [2], [3], [4]]},
    ):
        yield str(options), attempt(cs.Ensemble, table, **options)


@CASES
def ensembles_seen():
    for kind, ensemble in ensembles().items():
        yield (
            f"{kind} facts",
            [
                ensemble.n_objects,
                ensemble.n_members,
                ensemble.n_clusters,
                ensemble.has_unseen,
                ensemble.offsets,
                repr(ensemble),
                len(ensemble),
                str(ensemble.labels.dtype),
                ensemble.members.flags.c_contiguous,
                ensemble.labels.flags.writeable,
            ],
        )
        yield f"{kind} indicator", ensemble.indicator()
        yield f"{kind} signatures", ensemble.signatures()
        yield f"{kind} distinct", attempt(ensemble.distinct_members)
        yield f"{kind} pandas", ensemble.to_pandas()
        yield f"{kind} polars", ensemble.to_polars()
        for key in (0, -1, slice(0, 2), [0, 1], np.array([True] * ensemble.n_members), 99, "x", []):
            yield f"{kind} [{key}]", attempt(lambda e=ensemble, k=key: e[k])
        for key in (slice(0, 3), [5, 2, 2], np.arange(48) % 2 == 0, [], [99], [-1], "x", range(4)):
            yield f"{kind} take {key}", attempt(ensemble.take, key)
        yield f"{kind} twice", attempt(lambda e=ensemble: e + e)
        yield f"{kind} equal", [ensemble == ensemble, ensemble == ensembles()["few"], ensemble == 3]
    whole = ensembles()["whole"]
    yield "joined", attempt(cs.Ensemble.concatenate, [whole, ensembles()["both"]])
    yield "unequal", attempt(cs.Ensemble.concatenate, [whole, cs.Ensemble([[0, 1]])])
    yield "no", [attempt(cs.Ensemble.concatenate, []), attempt(lambda: whole + 3)]
    yield "check", [attempt(check_ensemble, value, owner="x") for value in (whole, [[0]], None)]
    named = takes_ensemble(lambda ensemble, k=1: ensemble.n_objects + k)
    yield "takes", [attempt(named, whole), attempt(named, [[0, 1]]), attempt(named, 3)]


@CASES
def stored_ensembles():
    made = dict(ensembles()) | {
        "named": cs.Ensemble(
            [[0, 1], [1, 1]], names=["a", "b"], index=["x", "y"], records=[{"k": 2}, {}]
        ),
        "numbers": cs.Ensemble([[0, 1], [1, 1]], index=[10, 20]),
    }
    with TemporaryDirectory() as place:
        for kind, ensemble in made.items():
            for end in (".npz", ".parquet"):
                path = Path(place, f"e{end}")
                ensemble.save(path)
                yield f"{kind} {end}", cs.Ensemble.load(path)
        yield "names", sorted(path.name for path in Path(place).iterdir())
        for name in ("e.csv", "e", "none.npz", "none.parquet"):
            yield (
                f"save {name}",
                str(attempt(made["few"].save, Path(place, name))).replace(place, ""),
            )
            yield (
                f"load {name}",
                str(attempt(cs.Ensemble.load, Path(place, name))).replace(place, ""),
            )
        Path(place, "bad.npz").write_bytes(b"no")
        np.savez(Path(place, "other.npz"), a=np.arange(3))
        pd.DataFrame({"a": [0, 1]}).to_parquet(Path(place, "other.parquet"))
        for name in ("bad.npz", "other.npz", "other.parquet"):
            yield name, str(attempt(cs.Ensemble.load, Path(place, name))).replace(place, "")


@CASES
def labels():
    asked = {
        "ints": [3, 1, 3],
        "words": ["b", "a", "b"],
        "noise": [-1, 4, 4],
        "unseen": [-2, 0, -1],
        "none": [None, "a", None],
        "nan": [np.nan, 1.0, 2.0],
        "floats": [1.0, 2.0],
        "half": [0.5, 1],
        "bool": [True, False],
        "mixed": ["a", 1, None],
        "empty": [],
        "table": [[0], [1]],
        "minus": [-5],
        "inf": [np.inf, 1],
        "large": [2**62, 0],
        "bytes": [b"a", b"b"],
        "text": "abc",
        "one": 3,
        "series": pd.Series(["u", None, "u"]),
        "category": pd.Categorical(["u", None, "v"]),
        "int8": np.array([5, 5, 1], np.int8),
        "uint": np.array([5, 0], np.uint64),
        "polars": polars.Series(["q", None]),
        "nullable": pd.array([1, None, 3], "Int64"),
        "str": np.array(["b", "a"]),
        "tuples": [(1, 2), (1, 2), (3, 4)],
    }
    for key, given in asked.items():
        yield f"{key} relabel", attempt(cs.relabel, given)
        yield f"{key} encode", attempt(_labels.encode, given)
        yield f"{key} what", attempt(_labels.encode, given, what="truth")
    for n in (0, 1, 127, 128, 129, 32767, 32768, 32769, 2**31, 2**40):
        yield f"type {n}", attempt(lambda n=n: str(_labels.smallest_type(n)))
    for table in (_TABLES["frame"], _TABLES["polars"], _TABLES["array"], [[0, 1]], 3):
        yield f"frame {type(table).__name__}", _labels.is_frame(table)
        yield (
            f"columns {type(table).__name__}",
            attempt(lambda t=table: [list(c) for c in _labels.columns_of(t)]),
        )


@CASES
def contingencies():
    a, b = truth(), np.roll(truth(), 5)
    noisy = np.where(np.arange(48) % 6 == 0, -1, a)
    hidden = np.where(np.arange(48) % 7 == 0, -2, noisy)
    for key, pair in {
        "plain": (a, b),
        "noise": (a, noisy),
        "both": (noisy, hidden),
        "short": (a, b[:2]),
    }.items():
        for noise in ("cluster", "singletons", "drop", "zzz"):
            yield f"{key} {noise}", attempt(_contingency.compared, *pair, noise, owner="x")
    table = _contingency.tabulate(a, b)
    yield "f1", [_contingency.cell_f1(table), _contingency.matched_cells(table)]
    yield "encoded", attempt(_contingency.encoded, ["a", "b"], ["x", None], ("p", "q"))


@CASES
def checks():
    from numbers import Integral, Real

    V = _validation
    rules = {
        "int": V.Interval(Integral, 1, 5),
        "open": V.Interval(Real, 0, 1, open_low=True),
        "any": V.Interval(Real),
        "low": V.Interval(Integral, 2),
        "options": V.Options(("a", "b")),
        "none": V.NoneValue(),
        "bool": V.Boolean(),
        "seed": V.RandomState(),
        "methods": V.HasMethods(("fit", "predict"), "a model"),
        "positive": V.positive_numbers("cluster"),
        "test": V.Satisfies(lambda v: v == 3, "three"),
    }
    values = (
        0,
        1,
        5,
        6,
        -1,
        0.0,
        0.5,
        1.0,
        1.5,
        np.nan,
        np.inf,
        True,
        None,
        "a",
        "z",
        [1, 2],
        [0],
        np.int64(3),
        np.float32(0.5),
        np.random.RandomState(0),
        2**32,
        np.array([1.0]),
        3,
    )
    for key, rule in rules.items():
        yield f"{key} words", str(rule) if key != "test" and key != "positive" else "rule"
        yield f"{key} accepts", [rule.accepts(value) for value in values]
        for value in values:
            if isinstance(value, np.random.RandomState):  # shown with its place in memory
                continue
            yield (
                f"{key} {str(value)[:12]} {type(value).__name__}",
                attempt(V.check_value, "p", value, [rule], owner="Owner"),
            )
        yield (
            f"{key} or none",
            attempt(V.check_value, "p", "zz", [rule, V.NoneValue(), V.Boolean()], owner="Owner"),
        )
    for value in (
        1,
        "1 KB",
        "2 GiB",
        "3.5 MB",
        "4",
        "x GB",
        -1,
        0,
        None,
        "1 kib",
        1.5,
        "1TB",
        np.inf,
        "",
        "10 B",
    ):
        yield f"memory {value!r}", attempt(V.memory_in_bytes, value, owner="x")
    for jobs in (None, 1, -1, 0, 2.5, "x", True, -2, 64):
        yield f"jobs {jobs}", attempt(V.check_jobs, jobs, owner="x")
    for k, n in ((0, 3), (1, 3), (3, 3), (4, 3), (2, 1), (True, 3), (2.0, 3), ("x", 3), (1, 0)):
        yield f"clusters {k} {n}", attempt(V.check_n_clusters, k, n, owner="x")
    for shape in (None, (3,), (None,), (None, 2)):
        for given in (
            [1, 2, 3],
            [[1, 2]],
            [np.nan, 1, 2],
            "x",
            [],
            [1, "a", 2],
            [True, False, True],
            3,
            [-1.0, 0, 1],
        ):
            yield (
                f"numbers {shape} {given}",
                attempt(V.as_numbers, "w", given, owner="x", shape=shape),
            )
            yield (
                f"each {shape} {given}",
                attempt(V.as_numbers, "w", given, owner="x", shape=shape, each="object"),
            )
    yield "lengths", [attempt(V.same_length, n, what="a and b") for n in ([2, 2], [2, 3], [1], [])]


@CASES
def words():
    W = _words
    for items in ([], ["a"], ["a", "b"], ["a", "b", "c"], range(60), ["x"] * 51, range(50)):
        for last in ("and", "or"):
            yield f"listed {list(items)[:3]} {len(items)} {last}", W.listed(items, last)
        yield (
            f"most {list(items)[:3]} {len(items)}",
            [W.listed(items, most=2), W.listed(items, most=1)],
        )
    yield (
        "plural",
        [W.plural(n, noun) for n in (0, 1, 2, 1000) for noun in ("object", "class", "entry")],
    )
    for value in ("x" * 60, "x" * 40, "x" * 41, 3, [1] * 30, None, "a\nb", np.arange(3), 0.1):
        yield f"shown {str(value)[:8]}", [W.shown(value), W.shown(value, 10)]
    for cell in (
        "=1",
        "+1",
        "-1",
        "@a",
        "\ta",
        "a=b",
        "-5",
        "1e5",
        "'=1",
        "''=x",
        "",
        3,
        None,
        "＝1",
        "-a",
        ".5",
        "-,5",
        "+1e-3x",
    ):
        yield (
            f"guard {cell!r}",
            [_formulas.guarded(cell), _formulas.unguarded(cell) if isinstance(cell, str) else None],
        )
    yield (
        "ours",
        [
            _formulas.holds_guarded(n)
            for n in (["id", "cluster"], ["id", "score", "x"], ["id"], ["a", "b"])
        ],
    )
    odd = "é • – — … → × ≥ ≤ ‘ ’ “ ” · ß ø ł 漢 \udce9 \ud800"
    yield (
        "readable",
        [_text.readable(odd), _text.readable({"a\udce9": [odd, 3, ("x",)]}), _text.readable(None)],
    )
    yield "ascii", _printed(odd, "ascii")
    yield "latin", _printed(odd, "latin-1")
    doc = (
        "Cut.\n\nMore.\n\nParameters\n----------\nk, j : int\n    Parts.\n\n"
        "Returns\n-------\nx\n    It.\n\nExamples\n--------\n>>> 1\n1\n"
    )
    more = [_docs.Entry(("k", "n"), "int", ("    N.",)), _docs.Entry(("z",), "", ())]
    for section in ("Parameters", "Attributes", "Returns", "Notes", "Examples"):
        yield f"entries {section}", _docs.entries(doc, section)
        yield (
            f"filled {section}",
            [
                _docs.filled(doc, section, more, ["z", "n", "k"]),
                _docs.filled("Cut.", section, more, []),
                _docs.filled(doc, section, [], []),
            ],
        )
    yield "example", [_docs.with_example(doc, ">>> 2\n2"), _docs.with_example("Cut.", ">>> 2\n2")]
    yield "lines", [entry.lines() for entry in more]
    yield (
        "warned",
        [
            attempt(errors.warn, "Look here."),
            [c.__mro__[1].__name__ for c in vars(errors).values() if isinstance(c, type)],
        ],
    )
    yield (
        "optional",
        [
            attempt(lambda: _optional.optional("json", extra="x", what="y").__name__),
            attempt(_optional.optional, "no_such_module", extra="x", what="It"),
            attempt(_optional.optional, "no_such_module.sub", extra=None, what="It"),
        ],
    )


def _printed(text, encoding):
    import contextlib

    raw = io.BytesIO()
    stream = io.TextIOWrapper(raw, encoding=encoding, errors="strict")
    with contextlib.redirect_stdout(stream), _text.any_terminal():
        print(text, flush=True)
    return [raw.getvalue().decode(encoding), stream.errors]


@CASES
def units():
    X = blobs()[:5]
    asked = {
        "plain": X,
        "large": X * 2.0**400,
        "small": X * 2.0**-400,
        "zeros": np.zeros((3, 2)),
        "none": X[:0],
        "single": X.astype(np.float32),
        "big single": (X * 2.0**50).astype(np.float32),
        "sparse": sparse.csr_array(X * 2.0**320),
        "mixed": X * [1, 2.0**200, 2.0**-200],
        "minus": -X,
        "edge": np.array([[2.0**300]]),
        "past": np.array([[2.0**301]]),
        "ints": np.array([[1, 2], [3, 8]]),
    }
    for key, given in asked.items():
        powers = _units.exponents(given)
        yield f"{key} exponents", powers
        yield f"{key} without", attempt(_units.without_unit, given, powers)
        if key != "none":
            found, power = _units.squarable(given * 1.0)
            yield f"{key} squarable", [power, found]
        yield f"{key} range", attempt(_units.check_range, given * 1.0, owner="x")
        yield (
            f"{key} range what",
            attempt(_units.check_range, given * 2.0**505, owner="x", what="seeds"),
        )


@CASES
def files():
    with TemporaryDirectory() as place:
        path = Path(place, "a.txt")
        with _files.written_whole(path) as partial:
            yield "before", [path.exists(), partial.suffix, partial.parent == path.parent]
            partial.write_text("x")
        yield "after", [path.read_text(), sorted(p.name for p in Path(place).iterdir())]
        try:
            with _files.written_whole(path) as partial:
                partial.write_text("y")
                raise KeyError
        except KeyError:
            pass
        yield "failed", [path.read_text(), sorted(p.name for p in Path(place).iterdir())]
        yield "mode", oct(path.stat().st_mode & 0o777)
    for X in (blobs(), [[1, 2]], [["a"]], sparse.csr_array(blobs())):
        yield f"array {type(X).__name__}", attempt(_sklearn.check_array, X, accept_sparse=True)
    yield "names", [sorted(cs.__all__), attempt(lambda: cs.zzz)]


@CASES
def sparse_matches():
    """Matchings of tables too large for a dense one."""
    rng = np.random.default_rng(1)
    many = {
        "near": (np.arange(60), (np.arange(60) * 7 + 3) % 55),
        "coarse": (np.arange(60) // 2, rng.integers(0, 25, 60)),
        "star": (np.zeros(9, int), np.arange(9)),
        "chain": (np.array([0, 0, 1, 1, 2, 2, 3]), np.array([0, 1, 1, 2, 2, 3, 3])),
        "ties": (np.array([0, 0, 1, 1]), np.array([0, 1, 0, 1])),
    }
    for key, (a, b) in many.items():
        table = _contingency.tabulate(a, b)
        yield f"{key} table", table
        yield f"{key} dense", _contingency.matched_cells(table)
        gains = np.arange(len(table.rows)) % 3 + table.counts
        yield f"{key} sparse", _contingency._matched_sparsely(table.rows, table.columns, gains)
        yield f"{key} leaves", _contingency._without_spare_leaves(table.rows, table.columns, gains)
    big = _contingency.tabulate(np.arange(3000) // 2, rng.permutation(3000) // 3)
    yield "big", [len(big.rows), _contingency.matched_cells(big)]
    for labels in (
        np.ma.masked_array([1, 2, 3], [False, True, False]),
        pd.array(["a", None], "string"),
        [2**63, 1],
        [-(2**40), 3],
        [1, 2.0, None],
        [pd.NA, 1],
        np.array([2**60, 5, 2**60]),
        [True, None],
        [np.str_("a"), "a"],
        [1, "1"],
        iter([1, 2]),
        {1, 2},
        {"a": 1},
        range(3),
    ):
        key = f"{type(labels).__name__} {str(labels)[:20].split(' at ')[0]}"
        yield key, [attempt(_labels.encode, labels), attempt(cs.relabel, labels)]
    odd = cs.Ensemble(
        [[0, 1], [1, 1]], index=[1.5, 2.5], records=[{"a": np.int64(3), "b": np.arange(2)}, {}]
    )
    with TemporaryDirectory() as place:
        for end in (".npz", ".parquet"):
            odd.save(Path(place, f"e{end}"))
            yield f"odd {end}", cs.Ensemble.load(Path(place, f"e{end}"))
    import pickle

    again = pickle.loads(pickle.dumps(odd))
    yield "pickled", [again, again.members.flags.writeable]
    for room in ("compare", "consensus", "datasets", "plot", "workflow"):
        yield room, getattr(cs, room).__name__
    for job, data in ((cs.cluster, None), (_contingency.compared, None)):
        yield f"job {job.__name__}", attempt(job, data) if data else None


@CASES
def shared_rules():
    values = (
        *(0, 1, -1, 2, 1_000_000, 1_000_001, 0.0, 0.5, -0.5, float("nan"), float("inf"), True),
        *(None, "x", "", "2 GiB", "1 kB", "-1 MB", "average", "ward", "pair", "all", [1], b"1"),
    )
    for name, rules in sorted(vars(_validation).items()):
        if name.isupper() and isinstance(rules, list) and hasattr(rules[0], "accepts"):
            yield name, [str(one) for one in values if any(rule.accepts(one) for rule in rules)]
    yield "N_MEMBERS", [str(one) for one in values if _validation.N_MEMBERS.accepts(one)]
    yield "positive", [_validation.positive_numbers("x").accepts(v) for v in ([1], [0], "x", [[1]])]


@CASES
def callbacks():
    class Stop:
        def __init__(self):
            self.heard = []

        def setup(self, estimator, context):
            self.heard.append("setup")

        def teardown(self, estimator, context):
            self.heard.append("teardown")

        def on_fit_task_begin(self, estimator, context):
            self.heard.append(f"begin {context.task_name}")

        def on_fit_task_end(self, estimator, context):
            self.heard.append(f"end {context.task_name}")
            return context.task_name == "member"

    stop = Stop()
    found = cs.generate.KMeansEnsemble(40, 2, random_state=0).set_callbacks(stop).generate(blobs())
    yield "stopped", found.n_members < 40
    yield "heard", [*stop.heard[:4], *stop.heard[-2:]]


test_stored = CASES.test()
