"""Stored answers of the generators, their clusterers, recipes and run folders."""

import json
import pickle
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
from sklearn.cluster import KMeans
from sklearn.mixture import GaussianMixture
from stored.small import blobs, tables, truth
from stored.store import Cases, attempt
from stored.variants import variants, wrong

from consilience import generate
from consilience.generate import _chunks, _draw, _plan, lac

CASES = Cases(__file__)


def _add(name, first=()):
    cls = getattr(generate, name)

    def answers():
        verb = "generate" if hasattr(cls, "generate") else "fit"
        few = {"n_members": 4} if "n_members" in cls._constraints else {}
        few |= {"n_clusters": 3} if "n_clusters" in cls._constraints else {}
        seeded = {"random_state": 0} if "random_state" in cls._constraints else {}

        def made(X, **params):
            return getattr(cls(*first, **(few | seeded | params)), verb)(X)

        for key, X in tables().items():
            yield key, attempt(made, X)
        # Distances are those of PAM and Linkage; starts of NJW's k-means take long.
        for key, params in variants(cls, ("metric",) if name == "NJW" else ()):
            yield key, attempt(made, blobs(), **params)
        yield "wrong", {key: attempt(made, blobs(), **params) for key, params in wrong(cls)}
        for k in (1, 2, 5, 48, 49, (2, 5), [2, 4], ("sqrt/2", "sqrt"), ("sqrt", 9), (5, 2), "x"):
            yield f"k={k}", attempt(made, blobs(), n_clusters=k)
        for share in (0.5, 1, 10, (0.3, 0.6), 48, 49, 0.0, 1.0):
            if "max_samples" in cls._constraints:
                yield f"samples={share}", attempt(made, blobs(), max_samples=share)
                yield (
                    f"unseen={share}",
                    attempt(made, blobs(), max_samples=share, assign="unseen"),
                )
                yield f"features={share}", attempt(made, blobs(), max_features=share)
        yield "seed", attempt(made, blobs(), **({"random_state": 7} if seeded else {}))
        yield "row", attempt(made, blobs()[:1])
        yield "nan", attempt(made, np.full((5, 2), np.nan))
        yield "equal", attempt(made, np.ones((8, 2)))

    answers.__name__ = name
    CASES(answers)


for _name in (
    "KMeansEnsemble",
    "LACEnsemble",
    "USPECEnsemble",
    "GraphEnsemble",
    "LAC",
    "USPEC",
    "PAM",
    "NJW",
    "Linkage",
    "DistanceEnsemble",
    "FuzzyCMeans",
    "MembershipEnsemble",
):
    _add(_name)
_add("EstimatorEnsemble", [generate.Linkage()])


@CASES
def kmeans_together():
    for metric in ("euclidean", "cosine"):
        for algorithm in ("lloyd", "minibatch"):
            for init in ("random", "k-means++"):
                for key, X in tables().items():
                    maker = generate.KMeansEnsemble(
                        3,
                        (2, 4),
                        metric=metric,
                        algorithm=algorithm,
                        init=init,
                        max_samples=0.8,
                        max_features=0.7,
                        batch_size=10,
                        random_state=3,
                    )
                    yield f"{metric} {algorithm} {init} {key}", attempt(maker.generate, X)
    online = generate.KMeansEnsemble(4, 3, online=True, max_iter=3, tol=0.1, random_state=2)
    yield "online", attempt(online.generate, blobs())


@CASES
def several():
    first, second = generate.KMeansEnsemble(2, 3), generate.LACEnsemble(2, 2)
    yield "combined", attempt(generate.Combined([first, second], random_state=0).generate, blobs())
    yield "empty", attempt(generate.Combined([]).generate, blobs())
    clusterers = [generate.Linkage(3), generate.PAM(2), generate.LAC(3, random_state=0)]
    for assign in ("nearest", "unseen"):
        made = generate.EstimatorEnsemble(
            clusterers, (2, 3), n_members=5, max_samples=0.8, assign=assign, random_state=0
        )
        yield assign, attempt(made.generate, blobs())
    yield "wrong", attempt(generate.EstimatorEnsemble(3).generate, blobs())


@CASES
def recipes():
    asked = {
        "woec": generate.woec(6, 3, 0),
        "split": generate.split_and_merge(4, 0),
        "cosine": generate.cosine_split_and_merge(4, 0),
        "minibatch": generate.minibatch_split_and_merge(4, 0),
        "many": generate.many_algorithms(3, 0),
        "several": generate.many_algorithms([2, 3], 0),
        "kmeans": generate.kmeans_ensemble(3, 4, 0),
        "full": generate.full_ensemble(3, 0),
        "rcc": generate.rcc(3).set_params(random_state=0),
        "fdc": generate.fdc(3, 3, random_state=0),
        "odc": generate.odc(3, 3, random_state=0),
    }
    for key, maker in asked.items():
        yield f"{key} parameters", maker
        yield key, attempt(maker.generate, blobs(8))
    for n in (2, 10, 48, 1000, 20_000, 10**5, 10**6, 10**8):
        for d in (1, 2, 50, 5000):
            for sparse in (False, True):
                found = generate.default_generator(n, d, n_members=30, sparse=sparse)
                yield f"{n} {d} {sparse}", [found.name, found.why, found.generator]
    yield "defaults", generate.with_defaults(generate.KMeansEnsemble(), 3, 2)


def _numbers(value, n):
    made, rng = _draw.Clusters.resolve(value, n, owner="x"), np.random.default_rng(0)
    return [made.draw(rng, turn) for turn in range(8)]


@CASES
def draws():
    for value in (3, (2, 5), [2, 3, 4], ("sqrt/2", "sqrt"), (2, "sqrt"), "sqrt", 0, (5, 2), []):
        for n in (9, 48, 1000):
            yield f"clusters {value} {n}", attempt(_draw.Clusters.resolve, value, n, owner="x")
            yield f"drawn {value} {n}", attempt(_numbers, value, n)
    for share in (0.5, 1.0, 7, (0.2, 0.9), 0.01):
        yield f"subset {share}", attempt(_draw.draw_subset, np.random.default_rng(1), share, 20)
        yield f"size {share}", attempt(_draw.subset_size, share, 20)
    yield "seeds", [_draw.member_seeds(0, 5), _draw.member_seeds(np.random.RandomState(4), 2)]
    yield (
        "groups",
        [list(map(list, _draw.in_groups(list(range(7)), size))) for size in (1, 3, 7, 9)],
    )
    yield "refit", lac.refit_lac(blobs(), truth(), 0.3)


@CASES
def run_folders():
    maker = generate.KMeansEnsemble(4, 3, random_state=0)
    with TemporaryDirectory() as place:
        folder = Path(place) / "run"
        run = generate.RunFolder(folder, job={"a": 1})
        yield "new", [run.is_bare, attempt(lambda: run.n_members), attempt(lambda: run.finished)]
        yield "made", attempt(maker.generate, blobs(), checkpoint=run)
        yield "names", sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*"))
        plan = json.loads(json.dumps(run.plan))
        yield "plan", {key: value for key, value in plan.items() if "version" not in key}
        yield "finished", [run.n_members, run.finished, run.is_bare]
        yield "again", attempt(run.ensemble)
        more = generate.KMeansEnsemble(6, 3, random_state=0)
        found = attempt(more.generate, blobs(), checkpoint=generate.RunFolder(folder, job={"a": 1}))
        yield "more", str(found).replace(place, "")
        other = generate.RunFolder(folder, job={"a": 2})
        yield "other", str(attempt(maker.generate, blobs(), checkpoint=other)).replace(place, "")
        bare = generate.RunFolder(folder, resume=False)
        yield "bare", str(attempt(maker.generate, blobs(), checkpoint=bare)).replace(place, "")
        run.clear()
        yield (
            "cleared",
            sorted(path.name for path in folder.rglob("*")) if folder.exists() else None,
        )
    with TemporaryDirectory() as place:
        folder = Path(place)
        _chunks.chunk_path(folder, 0).parent.mkdir(parents=True, exist_ok=True)
        labels = np.array([0, 1, 2], np.int8)
        _chunks.write_chunk(folder, 3, "m", labels, {"k": 3}, {"x": np.arange(2)})
        yield "chunk", _chunks.read_chunk(folder, 3, "m", 3)
        yield (
            "absent",
            [_chunks.read_chunk(folder, 3, "n", 3), _chunks.read_chunk(folder, 4, "m", 3)],
        )
        yield "long", _chunks.read_chunk(folder, 3, "m", 4)
        yield "numbers", [_chunks.numbers(folder), _chunks.chunk_path(folder, 3)]
        (folder / "x.partial").write_text("")
        _chunks.sweep(folder)
        yield "swept", sorted(path.name for path in folder.iterdir())
    for X in tables().values():
        yield f"print {type(X).__name__} {X.dtype}", _plan.fingerprint(X)
    for value in (maker, np.int64(3), (1, 2.5), {"a": None}, np.arange(3), "x"):
        yield f"plain {type(value).__name__}", attempt(_plan.plain, value)
    old, new = {"a": 1, "b": {"c": 2}}, {"a": 2, "b": {"c": 2}, "d": 3}
    yield "differences", attempt(_plan.differences, old, new)


class _Failing(generate.Linkage):
    """A clusterer that fails, warns or leaves objects out, by its number of clusters."""

    def fit(self, X, y=None):
        if self.n_clusters == 2:
            raise ValueError("no two")
        found = super().fit(X)
        if self.n_clusters == 3:
            found.labels_ = np.where(np.arange(len(X)) % 5 == 0, -3, found.labels_)
        return found


@CASES
def odd_members():
    for k in (2, 3, 4, [2, 3], [2, 2, 3, 4]):
        for assign in ("nearest", "unseen"):
            made = generate.EstimatorEnsemble(
                _Failing(), k, n_members=4, max_samples=0.8, assign=assign, random_state=0
            )
            yield f"failing {k} {assign}", attempt(made.generate, blobs())
    for jobs in (1, 2):
        for maker in (
            generate.KMeansEnsemble(5, (2, 4), random_state=0, n_jobs=jobs),
            generate.LACEnsemble(4, 3, random_state=0, n_jobs=jobs),
            generate.Combined(
                [generate.KMeansEnsemble(2, 3), generate.LACEnsemble(2, 2)],
                random_state=0,
                n_jobs=jobs,
            ),
        ):
            yield f"{type(maker).__name__} {jobs}", attempt(maker.generate, blobs())
    mixture = generate.EstimatorEnsemble(
        GaussianMixture(2, random_state=0), 3, n_members=2, random_state=0
    )
    yield "mixture", attempt(lambda: mixture.generate(blobs()).n_clusters)
    yield (
        "kmeans",
        attempt(
            lambda: (
                generate.EstimatorEnsemble(KMeans(2, n_init=1), 3, n_members=2, random_state=0)
                .generate(blobs())
                .n_clusters
            )
        ),
    )
    with TemporaryDirectory() as place:
        folder = Path(place, "run")
        combined = generate.Combined(
            [generate.KMeansEnsemble(2, 3), generate.LACEnsemble(2, 2)], random_state=0
        )
        run = generate.RunFolder(folder)
        yield "bare", [run.is_bare(), repr(run)]
        first = combined.generate(blobs(), checkpoint=run)
        yield "combined", first
        yield "shown", [repr(run), run.n_members, list(run.finished), run.is_bare()]
        yield "read", attempt(run.ensemble, index=[f"o{i}" for i in range(48)])
        again = combined.generate(blobs(), checkpoint=generate.RunFolder(folder))
        yield "again", bool((first.labels == again.labels).all())
        for other in (
            generate.Combined(
                [generate.KMeansEnsemble(2, 4), generate.LACEnsemble(2, 2)], random_state=0
            ),
            generate.Combined(
                [generate.KMeansEnsemble(3, 3), generate.LACEnsemble(2, 2)], random_state=0
            ),
            generate.Combined(
                [generate.KMeansEnsemble(2, 3), generate.LACEnsemble(2, 2)], random_state=1
            ),
            generate.KMeansEnsemble(4, 3, random_state=0),
        ):
            found = attempt(other.generate, blobs(), checkpoint=generate.RunFolder(folder))
            yield f"other {str(other)[:120]}", str(found).replace(place, "")
        for X in (blobs() + 1, blobs()[:40], blobs()[:, :2], blobs().astype(np.float32)):
            found = attempt(combined.generate, X, checkpoint=generate.RunFolder(folder))
            yield f"data {X.shape} {X.dtype} {X[0, 0]:.2f}", str(found).replace(place, "")
        error = generate.ResumeError("no", folder, ["a"])
        again = pickle.loads(pickle.dumps(error))
        yield "error", [str(again), again.differences]
        (folder / "plan.json").write_text("{")
        found = attempt(combined.generate, blobs(), checkpoint=generate.RunFolder(folder))
        yield "damaged", str(found).replace(place, "")


test_stored = CASES.test()
