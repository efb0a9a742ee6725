"""Stored answers of what comes after a result: new objects, changes, keeping, comparing."""

from functools import cache, partial
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pandas as pd
from scipy import sparse
from sklearn.cluster import KMeans
from stored.small import blobs, ensembles, truth
from stored.store import Cases, attempt

import consilience as cs
from consilience.generate import EstimatorEnsemble, KMeansEnsemble
from consilience.keep._values import pack, unpack
from consilience.predict._hashes import known_rows, row_hashes
from consilience.workflow import compare_results

CASES = Cases(__file__)
_NAMES = ["x", "y", "z"]


@cache
def _result(kind="frame"):
    """A result of each kind of data."""
    X = blobs()
    made = {"n_members": 5, "random_state": 0}
    if kind == "frame":
        frame = pd.DataFrame(X * (1, 100, 0.01), columns=_NAMES, index=[f"o{i}" for i in range(48)])
        frame["same"] = 7.0
        return cs.cluster(frame, 3, truth=truth(), **made)
    if kind == "sparse":
        return cs.cluster(sparse.csr_array(np.where(X > 2, X, 0)), 3, **made)
    if kind == "large":
        return cs.cluster(X * 1e200, 2, scale=False, **made)
    if kind == "parts":
        maker = KMeansEnsemble(6, 4, max_samples=0.6, assign="unseen", random_state=0)
        return cs.cluster(X, 3, generator=maker, random_state=0)
    if kind == "others":
        maker = EstimatorEnsemble(
            [KMeans(n_init=1)],
            [2, 4],
            n_members=4,
            max_samples=0.7,
            assign="unseen",
            random_state=0,
        )
        return cs.cluster(X, 3, generator=maker, random_state=0)
    if kind == "torn":
        return cs.cluster(X, 3, ensemble=ensembles()["torn"], random_state=0)
    if kind == "labels":
        return cs.cluster(ensemble=ensembles()["both"], n_clusters=3, random_state=0)
    return cs.cluster(X, 3, **made)


def _told(found):
    """What a prediction says, or why there is none."""
    answer = attempt(lambda: found)
    return [answer, repr(found), found.in_words(), attempt(found.to_pandas)]


def _placed(result, *given, **options):
    return attempt(lambda: _told(result.predict(*given, **options)))


def _new():
    """New objects in every form, right and wrong."""
    X = blobs()[::5] + 0.01
    frame = pd.DataFrame(X * (1, 100, 0.01), columns=_NAMES)
    yield "same rows", blobs()
    yield "moved", X
    yield "far", np.array([[400.0, -300, 2], [9, 0, 0], [4.5, 4.5, 0]])
    yield "frame", frame
    yield "turned", frame[["z", "x", "y"]].set_index(np.arange(len(frame))[::-1])
    yield "more", frame.assign(more=1.0, same=7.0, text="a")
    yield "less", frame[["x", "y"]]
    yield "numbers", pd.DataFrame(X)
    yield "list", X[:2].tolist()
    yield "row", X[0]
    yield "wide", np.c_[X, X]
    yield "none", X[:0]
    yield "no rows", frame.iloc[:0]
    yield "gap", np.where(np.arange(30).reshape(10, 3) == 4, np.nan, X)
    yield "gaps", frame.mask(frame > 800)
    yield "words", [["a", "b", "c"], [1, 2, 3]]
    yield "ragged", [[1.0], [1.0, 2.0]]
    yield "units", X * (1000, 1, 1)
    yield "sparse", sparse.csr_array(np.where(X > 2, X, 0))
    yield "twice", sparse.coo_array(([1.0, 8.0, 2.0], ([0, 0, 1], [0, 0, 2])), shape=(2, 3))
    yield "large", X * 1e200
    yield "nothing", None
    yield "text", "abc"


@CASES
def new_objects():
    for kind in ("frame", "array", "sparse", "large", "parts", "others", "torn", "labels"):
        result = _result(kind)
        for name, X in _new():
            yield f"{kind} {name}", _placed(result, X)
        yield f"{kind} anew", _placed(result, blobs(), lookup=False)
    yield "lookup", _placed(_result("array"), blobs(), lookup="x")


def _changed(key, change):
    """What a changed result says."""
    try:
        found = change()
    except (cs.errors.ConsilienceError, TypeError) as error:
        yield key, f"{type(error).__name__}: {error}"
        return
    facts = found.to_dict()
    yield f"{key} repr", repr(found)
    yield f"{key} labels", found.labels
    yield f"{key} confidence", [found.confidence, found.runner_up]
    yield f"{key} names", [found.names, found.changes, found.sizes, found.headline()]
    yield f"{key} agreement", found.agreement
    told = ("n_clusters", "cluster_names", "changes", "n_doubtful", "mean_confidence", "choice")
    yield f"{key} facts", [facts[name] for name in told]
    yield f"{key} placed", _placed(found, blobs()[::9] + 0.02)


def _changes_of(kind, result):
    """Splits, joins and names, right and wrong, alone and after each other."""
    for group in (0, 2, 3, -1, "a", True, 1.0):
        yield from _changed(f"{kind} split {group}", partial(result.split, group))
    for n in (2, 3, 16, 17, 1, 0, "x"):
        yield from _changed(f"{kind} split in {n}", partial(result.split, 1, n))
    for groups in ([0, 1], (2, 1), [0, 1, 2], [0], [0, 0], [], "01", 1, [0, 9], [0, "a"]):
        yield from _changed(f"{kind} merge {groups}", partial(result.merge, groups))
    for names in ({0: "a"}, {0: "a", 2: "b"}, {0: "a", 1: "a"}, {0: 1}, ["a"], {9: "a"}, {}):
        yield from _changed(f"{kind} rename {names}", partial(result.rename, names))
    named = result.rename({0: "first", 2: "last"})
    yield from _changed(f"{kind} named split", partial(named.split, 0))
    yield from _changed(f"{kind} named merge", partial(named.merge, [1, 2]))
    yield from _changed(f"{kind} named again", partial(named.rename, {1: "last", 2: ""}))
    several = named.split(2).merge([0, 1]).rename({0: "x"})
    yield from _changed(f"{kind} all", partial(several.split, 0, 2))


@CASES
def changes():
    for kind in ("array", "torn", "labels", "frame"):
        yield from _changes_of(kind, _result(kind))
    few = cs.cluster(np.arange(6.0)[:, None] // 2, 3, n_members=4, random_state=0)
    for group in range(3):
        yield from _changed(f"few {group}", partial(few.split, group))


@CASES
def kept():
    with TemporaryDirectory() as place:
        put = Path(place)
        for kind in ("frame", "sparse", "others", "labels", "large"):
            result = _result(kind).rename({0: "zero"}).merge([0, 1])
            for again in range(2):
                result.save(put / kind)
                found = cs.load(put / kind)
                yield (
                    f"{kind} {again} same",
                    [
                        repr(found) == repr(result),
                        found.to_dict() == result.to_dict(),
                        np.array_equal(found.labels, result.labels),
                        sorted(path.name for path in (put / kind).iterdir()),
                    ],
                )
            yield f"{kind} placed", _placed(found, blobs()[::7])
            yield f"{kind} split", attempt(lambda f=found: f.split(0).labels)
        model = cs.KCC(3, generator=KMeansEnsemble(4, 3, random_state=0), random_state=0)
        model.fit(blobs()).save(put / "kcc")
        found = cs.load(put / "kcc")
        yield "model", [found.get_params(), found.labels_, found.predict(blobs()[::5] + 0.1)]
        (put / "file").write_text("a")
        (put / "mine").mkdir()
        (put / "mine" / "model.npz").write_text("a")
        (put / "other").mkdir()
        (put / "other" / "model.json").write_text("{}")
        for name in ("file", "mine", "other"):
            said = attempt(_result().save, put / name)
            yield f"save {name}", str(said).replace(place, "")
            yield f"load {name}", str(attempt(cs.load, put / name)).replace(place, "")
        yield "load none", str(attempt(cs.load, put / "none")).replace(place, "")


@CASES
def values_kept():
    """Values of every kind, packed and unpacked."""
    ids = np.array(["a", None, 3, 2.5, np.inf, True, (1, 2)], object)
    given = {
        "objects": ids,
        "csr": sparse.csr_array(np.eye(3)),
        "floats": [1.5, np.inf, -np.inf, np.nan, np.float32(2), np.int8(3), np.bool_(True)],
        "tuple": (1, (2, None)),
        "map": {"a": {"b": [1]}, 3: "c"},
        "omitted": [object, {1, 2}][1:],
        "dates": np.array(["2020-01-01"], "datetime64[D]"),
    }
    for name, value in given.items():
        packed, arrays = pack(value, {})
        yield f"{name} packed", [packed, {key: array.shape for key, array in arrays.items()}]
        yield f"{name} unpacked", str(unpack(packed, arrays, {}))
    shared = np.arange(4)
    yield "shared", [len(pack([shared, shared, shared[::2], shared[:2]], {})[1])]
    for wrong in ({"~zzz": 1}, {"~array": "a9"}, {"~float": "x"}, {"a": 1, "b": 2}, {"~kind": "x"}):
        yield f"wrong {wrong}", attempt(unpack, wrong, {}, {})
    X = np.array([[1.0, 0, 2], [0, 0, 0], [1.0, 0, 2], [-0.0, 0, 0]])
    hashes = row_hashes(X)
    yield "hashes", [str(hashes), str(row_hashes(sparse.csr_array(X)))]
    twice = sparse.csr_array(([1.0, 0.5, 1.5], [0, 2, 2], [0, 3, 3]), shape=(2, 3))
    yield "hashes of parts", [str(row_hashes(twice)), twice.nnz]
    order = np.argsort(hashes, kind="stable")
    for labels in ([0, 1, 0, 1], [0, 1, 1, 2], [2, 1, 0, 1]):
        for lines in (X, X[::-1], X[:1], X + 1):
            given = (hashes, order, np.array(labels, np.int32), row_hashes(lines))
            found = attempt(known_rows, *given)
            yield f"known {labels} {len(lines)} {lines[0, 0]}", found


@CASES
def two_answers():
    first, torn = _result("array"), _result("torn")
    labels = truth()
    some = np.where(np.arange(48) % 7 == 0, -1, labels)
    words = np.array(["a", "b", "c"])[labels]
    pairs = {
        "same": (first, first),
        "torn": (first, torn),
        "labels": (first, labels),
        "renamed": (labels, (labels + 1) % 3),
        "noise": (labels, some),
        "other noise": (some, labels),
        "all noise": (some, np.full(48, -1)),
        "words": (labels, words),
        "halves": (labels, np.arange(48) // 8),
        "joined": (np.arange(48) // 8, labels),
        "across": (labels, np.arange(48) % 3),
        "most": (labels, np.where(np.arange(48) % 16 < 7, labels, 5)),
        "nearest": (labels, np.where(np.arange(48) % 16 < 7, labels, 3 + np.arange(48) % 5)),
        "one": (np.zeros(48, int), labels),
        "lengths": (labels, labels[1:]),
        "frame": (_result("frame"), labels),
        "frames": (_result("frame"), _result("frame").merge([0, 1])),
        "wrong": (labels, 5),
        "path": (labels, "none"),
        "empty": ([], []),
    }
    for name, (one, other) in pairs.items():
        found = attempt(compare_results, one, other)
        yield name, str(found)
        if not isinstance(found, dict) or "refused" not in str(found)[:40]:
            shown = compare_results(one, other, level=0.5, random_state=1)
            yield f"{name} words", [str(shown), shown._repr_html_(), attempt(shown.to_pandas)]
    for level in (0, 1, 0.99, "x"):
        yield f"level {level}", str(attempt(compare_results, labels, some, level=level))
    with TemporaryDirectory() as place:
        tables = {
            "a.csv": [f"o{i},{label},0.5" for i, label in enumerate(labels)],
            "b.csv": [f"o{i + 2},{label},0.75" for i, label in enumerate(some)],
            "twice.csv": ["a,0,1", "a,1,1"],
            "others.csv": ["x,0,1", "y,1,1"],
            "damaged.csv": ["x,u,1"],
        }
        for name, lines in tables.items():
            Path(place, name).write_text("id,cluster,confidence\n" + "\n".join(lines) + "\n")
        for name in tables:
            for other in ("a.csv", "b.csv"):
                found = attempt(compare_results, Path(place, name), Path(place, other))
                yield f"{name} {other}", str(found).replace(place, "")
        bare = Path(place, "bare.csv")
        bare.write_text("id,cluster\no1,0\no2,1\no3,1\n")
        yield "bare", str(attempt(compare_results, bare, Path(place, "a.csv")))


@CASES
def strict():
    rng = np.random.default_rng(0)
    ring = np.linspace(0, 6.28, 60, endpoint=False)
    rings = np.r_[np.c_[np.cos(ring), np.sin(ring)], 6 * np.c_[np.cos(ring), np.sin(ring)]]
    given = {"blobs": blobs(), "noise": rng.uniform(size=(40, 2)), "rings": rings}
    for name, X in given.items():
        found = cs.cluster(X, strict=True, n_members=8, random_state=0)
        yield name, [repr(found), found.labels, found.method, found.parameters, found.headline()]
    found = cs.cluster(ensemble=ensembles()["whole"], strict=True, random_state=0)
    yield "members", [repr(found), found.labels, found.method]
    for options in ({"n_clusters": 2}, {"method": "eac"}, {"max_clusters": 4}, {"max_clusters": 1}):
        told = {"strict": True, "n_members": 5, "random_state": 0} | options
        said = attempt(lambda o=told: repr(cs.cluster(blobs(), **o)))
        yield str(options), str(said)
    yield (
        "nobody",
        attempt(
            lambda: repr(cs.cluster(ensemble=np.full((5, 2), -1), method="mcla", random_state=0))
        ),
    )


test_stored = CASES.test()
