"""Keep what every part returns for fixed seeds, and compare with it after a change.

    python tests/same_results.py --store before.npz
    python tests/same_results.py --compare before.npz

Labels and other whole numbers must be equal; floats may differ by rounding, and how much is
printed. What is kept is the code's own answer, right or not: this guards a redesign, it tests
nothing. Exit status 1 if a whole number differs, a float by more than 1e-9 of its size, or if
something is missing.
"""

import argparse
import sys
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

import consilience as cs
from consilience import evidence, generate
from consilience.consensus import CONSENSUS
from consilience.generate import KMeansEnsemble

NEAR = 1e-9


def main() -> int:
    """Parse the arguments, make the results, store or compare them."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--store", type=Path)
    parser.add_argument("--compare", type=Path)
    asked = parser.parse_args()
    warnings.simplefilter("ignore")
    found = dict(results())
    if asked.store is not None:
        np.savez_compressed(asked.store, **found)
        print(f"{len(found)} results stored")
    return 0 if asked.compare is None else compared(dict(np.load(asked.compare)), found)


def results() -> Iterator[tuple[str, np.ndarray]]:
    """Names and arrays of everything that is kept."""
    for name, X in data().items():
        for key, maker in makers().items():
            if key == "lac" and sparse.issparse(X):
                continue
            yield f"{name}/{key}", maker.generate(X).members
    for name, ensemble in ensembles().items():
        yield from _prefixed(f"{name}/evidence", _evidence(ensemble))
        for method in CONSENSUS.values():
            model = method.estimator(random_state=0)
            if "n_clusters" in model.get_params():
                model.set_params(n_clusters=3)
            X = data()["blobs"] if method.needs_data else None
            yield from _prefixed(f"{name}/{method.name}", _fitted(model.fit(X, ensemble=ensemble)))
    X, y = cs.datasets.make_toy_minority(0.15, random_state=3)
    for model in _minority_models(y):
        yield from _prefixed(f"minority/{type(model).__name__}", _fitted(model.fit(X)))
    for key in ("soft", "hard", "split"):
        model = cs.EWOCS(weak=key, n_repetitions=60, random_state=1).fit(X)
        yield from _prefixed(f"ewocs/{key}", _fitted(model))
        yield f"ewocs/{key}/new", model.score_samples(X[::3] + 0.01)
    monti = cs.MontiConsensus((2, 4), n_resamples=30, random_state=0).fit(data()["blobs"])
    yield from _prefixed("monti", _fitted(monti))


def data() -> dict[str, Any]:
    """Tables that are clustered: dense, single precision, sparse, with copies."""
    rng = np.random.default_rng(11)
    blobs = np.concatenate([rng.normal(at, 1.0, (80, 4)) for at in (0.0, 3.0, 7.0)])
    words = np.where(rng.random((240, 300)) < 0.02, rng.random((240, 300)), 0.0)
    return {
        "blobs": blobs,
        "single": blobs.astype(np.float32),
        "copies": np.repeat(blobs[::4], 4, axis=0),
        "words": sparse.csr_array(words),
    }


def makers() -> dict[str, Any]:
    """Generators of all kinds."""
    return {
        "kmeans": KMeansEnsemble(20, (2, 9), random_state=0),
        "unseen": KMeansEnsemble(12, 4, max_samples=0.7, assign="unseen", random_state=1),
        "features": KMeansEnsemble(12, 4, max_features=0.5, init="k-means++", random_state=2),
        "minibatch": KMeansEnsemble(8, 4, algorithm="minibatch", random_state=3),
        "cosine": KMeansEnsemble(8, 4, metric="cosine", random_state=4),
        "lac": generate.LACEnsemble(8, 4, random_state=5),
        "woec": generate.woec(10, 3, random_state=6),
    }


def ensembles() -> dict[str, cs.Ensemble]:
    """Ensembles that are combined: whole, with unseen objects, with noise, with few members."""
    X = data()["blobs"]
    whole = makers()["kmeans"].generate(X)
    noisy = whole.labels.astype(int).copy()
    noisy[np.random.default_rng(2).random(noisy.shape) < 0.1] = cs.NOISE
    return {
        "whole": whole,
        "unseen": makers()["unseen"].generate(X),
        "noise": cs.Ensemble(noisy),
        "few": whole[:4],
    }


def _minority_models(y: np.ndarray) -> list[Any]:
    share = float((np.asarray(y) > 0).mean())
    return [
        cs.BBOCC(share, random_state=0),
        cs.BBCPress(5, share, random_state=0),
        cs.SoftBBC(random_state=0),
        cs.DGRADE(share),
        cs.AutoHDS(),
        cs.KMD(random_state=0),
    ]


def _evidence(ensemble: cs.Ensemble) -> dict[str, Any]:
    labels = ensemble.members[0]
    sure = evidence.confidence(ensemble, np.where(labels < 0, -1, labels))
    return {
        "co_association": evidence.co_association(ensemble),
        "condensed": evidence.co_association(ensemble, form="condensed"),
        "anco": evidence.anco(ensemble),
        "relative": evidence.relative_overlap(ensemble),
        "weights": evidence.object_weights(ensemble),
        "stability": evidence.cluster_stability(ensemble),
        "confidence": sure.confidence,
        "runner_up": sure.runner_up,
    }


def _fitted(model: Any) -> dict[str, Any]:
    """Numbers among the fitted attributes."""
    return {
        name: value
        for name, value in vars(model).items()
        if name.endswith("_")
        and not name.startswith("_")
        and isinstance(value, int | float | np.ndarray | np.generic)
        and np.asarray(value).dtype.kind in "biuf"
    }


def _prefixed(prefix: str, found: dict[str, Any]) -> Iterator[tuple[str, np.ndarray]]:
    for name, value in found.items():
        yield f"{prefix}/{name}", np.asarray(value)


def compared(before: dict[str, np.ndarray], after: dict[str, np.ndarray]) -> int:
    """Print what differs."""
    worst, wrong = 0.0, 0
    for name, old in before.items():
        if name not in after:
            print(f"missing now: {name}")
            wrong += 1
            continue
        gap = difference(old, after[name])
        if gap > 0:
            print(f"{'DIFFERS' if gap > NEAR else 'rounding'} {gap:.1e} {name}")
        wrong += gap > NEAR
        worst = max(worst, gap)
    new = sorted(set(after) - set(before))
    print(f"{len(before)} results, {wrong} wrong, largest difference {worst:.1e}, {len(new)} new")
    return int(wrong > 0)


def difference(old: np.ndarray, new: np.ndarray) -> float:
    """Largest difference relative to the largest value; infinite where it must be none."""
    if old.shape != new.shape:
        return float("inf")
    if np.array_equal(old, new, equal_nan=old.dtype.kind == "f" and new.dtype.kind == "f"):
        return 0.0
    if old.dtype.kind != "f" or not np.array_equal(np.isfinite(old), np.isfinite(new)):
        return float("inf")
    finite = np.isfinite(old)
    return float(np.abs(old - new)[finite].max() / np.abs(old[finite]).max())


if __name__ == "__main__":
    sys.exit(main())
