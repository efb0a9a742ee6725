"""Stored answers of the evidence: pair counts, weights, stability, ambiguity, orders."""

import numpy as np
from stored.small import ensembles, truth
from stored.store import Cases, attempt

import consilience as cs
from consilience import evidence
from consilience.evidence import _thresholds

CASES = Cases(__file__)


def _all():
    more = {
        "pair": cs.Ensemble([[0, 0], [0, 1], [1, 1]]),
        "alone": cs.Ensemble([[0]]),
        "apart": cs.Ensemble([[0, -1], [1, -2], [-2, 0], [-1, -1]]),
        "equal": cs.Ensemble(np.zeros((6, 3), int)),
    }
    return (ensembles() | more).items()


@CASES
def co_association():
    for kind, ensemble in _all():
        for missing in ("pair", "all", "zzz"):
            for values in ("fraction", "count"):
                for form in ("dense", "condensed", "nearest"):
                    yield (
                        f"{kind} {missing} {values} {form}",
                        attempt(
                            evidence.co_association,
                            ensemble,
                            missing=missing,
                            values=values,
                            form=form,
                            n_neighbors=3,
                        ),
                    )
        yield f"{kind} 32", attempt(evidence.co_association, ensemble, dtype=np.float32)


@CASES
def operator():
    for kind, ensemble in _all():
        for missing in ("pair", "all"):
            found = evidence.co_association(ensemble, missing=missing, form="operator")
            n = ensemble.n_objects
            yield f"{kind} {missing}", [found.shape, str(found.dtype), type(found).__name__]
            yield f"{kind} {missing} row", [found.row(0), found.row(n - 1)]
            yield f"{kind} {missing} rows", attempt(found.rows, 0, min(n, 3))
            yield f"{kind} {missing} times", found @ np.arange(n, dtype=float)
            yield f"{kind} {missing} matrix", found @ np.eye(n)[:, :2]


@CASES
def fractions():
    joined, seen = np.arange(9).reshape(3, 3), np.full((3, 3), 8)
    seen[0, 1] = 0
    yield "seen", evidence.fractions(joined, seen, 8)
    yield "none", evidence.fractions(joined, None, 8)
    yield "single", evidence.fractions(joined, seen, 8, np.float32)


@CASES
def weights():
    for kind, ensemble in _all():
        for confusion in ("quadratic", "entropy", "zzz"):
            for missing in ("all", "pair"):
                yield (
                    f"{kind} {confusion} {missing}",
                    attempt(
                        evidence.object_weights, ensemble, confusion=confusion, missing=missing
                    ),
                )
        for options in (
            {"e": 0.5},
            {"e": 0},
            {"n_samples": 4},
            {"n_samples": 4, "return_error": True},
            {"return_error": True},
            {"n_samples": 1},
            {"n_samples": 100},
        ):
            key = f"{kind} {options}"
            yield key, attempt(evidence.object_weights, ensemble, random_state=0, **options)


@CASES
def stability():
    for kind, ensemble in _all():
        for criterion in ("max", "apmm", "nmi", "zzz"):
            yield (
                f"{kind} {criterion}",
                attempt(evidence.cluster_stability, ensemble, criterion=criterion),
            )
        other = ensembles()["few"]
        if ensemble.n_objects == other.n_objects:
            for criterion in ("max", "nmi", "apmm"):
                yield (
                    f"{kind} {criterion} reference",
                    attempt(evidence.cluster_stability, ensemble, other, criterion=criterion),
                )


@CASES
def selection():
    for kind, ensemble in _all():
        found = attempt(evidence.cluster_stability, ensemble)
        if "refused" in found:
            continue
        stability = evidence.cluster_stability(ensemble)
        for options in (
            {},
            {"top": 0.1},
            {"top": 1.0},
            {"threshold": 0.5},
            {"threshold": 0.9, "min_cover": 1},
            {"min_cover": 0},
            {"min_cover": 6},
            {"top": 0.0},
            {"top": 2},
            {"threshold": 2.0},
        ):
            kept = attempt(evidence.select_clusters, ensemble, stability, **options)
            yield f"{kind} {options}", kept
        chosen = evidence.select_clusters(ensemble, stability, top=0.5)
        yield f"{kind} n", chosen.n_kept
        for form in ("dense", "condensed"):
            yield (
                f"{kind} {form}",
                attempt(evidence.extended_co_association, ensemble, chosen.kept, form=form),
            )
    few = ensembles()["few"]
    yield "short", attempt(evidence.select_clusters, few, [0.1])
    yield "kept", attempt(evidence.extended_co_association, few, [True])
    yield "nan", attempt(evidence.select_clusters, few, np.full(few.n_clusters.sum(), np.nan))


@CASES
def ambiguity():
    a, b = truth(), np.roll(truth(), 3)
    b[5] = -1
    yield "nco", [evidence.nco(a, b), evidence.nco(b, a), attempt(evidence.nco, a, b[:3])]
    for kind, ensemble in _all():
        for score in (evidence.anco, evidence.relative_overlap):
            yield f"{kind} {score.__name__}", attempt(score, ensemble)
            yield (
                f"{kind} {score.__name__} pairs",
                attempt(score, ensemble, n_pairs=4, random_state=0),
            )
        for score in ("relative", "anco", "zzz"):
            for rule in ("otsu", "gap", "kde", "gmm2", "quantile", 0.5, 0.0, 1.0, "zzz"):
                yield (
                    f"{kind} {score} {rule}",
                    attempt(
                        evidence.ambiguous,
                        ensemble,
                        score=score,
                        threshold=rule,
                        labels=truth() if ensemble.n_objects == 48 else None,
                    ),
                )
    found = evidence.ambiguous(ensembles()["torn"])
    yield "histogram", [found.histogram(), found.histogram(5), found.n_flagged]
    for options in ({"max_share": 0.05}, {"quantile": 0.3, "threshold": "quantile"}):
        yield str(options), attempt(evidence.ambiguous, ensembles()["torn"], **options)


@CASES
def thresholds():
    rng = np.random.default_rng(4)
    low, high = rng.normal(0.1, 0.02, 50), rng.normal(0.6, 0.05, 12)
    scores = {
        "two": np.concatenate([low, high]),
        "one": low,
        "flat": np.full(20, 0.3),
        "few": np.array([0.1, 0.2, 0.9]),
        "ties": np.repeat([0.1, 0.2, 0.5, 0.9], [30, 5, 5, 8]),
        "zeros": np.concatenate([np.zeros(40), high]),
        "single": np.array([0.5]),
    }
    for key, values in scores.items():
        yield f"{key} distinct", attempt(_thresholds.distinct, values)
        for rule in ("otsu", "gap", "kde", "gmm2", "quantile", 0.4, 0.1):
            for share in (0.25, 0.1, 1.0):
                yield (
                    f"{key} {rule} {share}",
                    attempt(_thresholds.find_threshold, values, rule, max_share=share),
                )
    # A difference of just what rounding may be is none.
    yield "as near as rounding", _thresholds.distinct(np.array([0.0, 1e-12, 1.0]))


@CASES
def confidence():
    for kind, ensemble in _all():
        n = ensemble.n_objects
        labelings = {
            "three": np.arange(n) * 3 // n,
            "one": np.zeros(n, int),
            "noise": np.where(np.arange(n) % 5 == 0, -1, np.arange(n) % 2),
            "alone": np.arange(n),
        }
        for key, labels in labelings.items():
            for missing in ("pair", "all"):
                for exact in (True, False, None):
                    yield (
                        f"{kind} {key} {missing} {exact}",
                        attempt(
                            evidence.confidence, ensemble, labels, missing=missing, exact=exact
                        ),
                    )
        yield f"{kind} never", [evidence.never_seen(ensemble), evidence.never_placed(ensemble)]
        for missing in ("pair", "all"):
            yield f"{kind} twins {missing}", attempt(evidence.twins, ensemble, missing=missing)
    yield "short", attempt(evidence.confidence, ensembles()["few"], [0, 1])
    yield "wrong", attempt(evidence.confidence, ensembles()["few"], np.full(48, -5))


@CASES
def orders():
    rng = np.random.default_rng(1)
    points = rng.normal(size=(9, 2))
    distances = np.linalg.norm(points[:, None] - points[None], axis=2)
    near = 1 - distances / distances.max()
    asked = dict(_all()) | {"near": near, "two": np.array([[1, 0.5], [0.5, 1]])}
    asked |= {"skew": np.array([[1, 0.5], [0.4, 1]]), "long": np.ones((2, 3))}
    for kind, given in asked.items():
        for missing in ("pair", "all"):
            found = attempt(evidence.vat, given, missing=missing)
            yield f"{kind} {missing}", found
            if "refused" in found:
                continue
            order = evidence.vat(given, missing=missing)
            yield f"{kind} {missing} ivat", attempt(evidence.ivat, given, missing=missing)
            for size in (2000, 4, 1):
                yield (
                    f"{kind} {missing} image {size}",
                    [
                        attempt(evidence.vat_image, given, order, missing=missing, max_size=size),
                        attempt(evidence.ivat_image, order, max_size=size),
                    ],
                )
    for heights in ([0.1, 0.4, 0.5, 0.9], [0.2], [], [0.3, 0.3]):
        yield f"lifetimes {heights}", attempt(evidence.lifetimes, np.array(heights))


test_stored = CASES.test()
