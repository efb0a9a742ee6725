"""Stored answers of the metrics."""

import inspect

import numpy as np
from stored.small import ensembles, truth
from stored.store import Cases, attempt

from consilience import metrics

CASES = Cases(__file__)
_RNG = np.random.default_rng(8)
_PAIRS = {
    "equal": (truth(), truth()),
    "renamed": (truth(), np.array(["c", "a", "b"])[truth()]),
    "near": (truth(), np.where(_RNG.random(48) < 0.2, 0, truth())),
    "chance": (truth(), _RNG.integers(0, 4, 48)),
    "noise": (truth(), np.where(_RNG.random(48) < 0.2, -1, truth())),
    "both noise": (
        np.where(_RNG.random(48) < 0.2, -1, truth()),
        np.r_[np.full(9, -1), truth()[9:]],
    ),
    "unseen": (truth(), np.where(_RNG.random(48) < 0.2, -2, truth())),
    "one": (np.zeros(48, int), truth()),
    "ones": (np.zeros(5, int), np.zeros(5, int)),
    "apart": (np.arange(6), np.zeros(6, int)),
    "all noise": (np.full(4, -1), np.arange(4)),
    "single": ([0], [0]),
    "empty": ([], []),
    "lengths": ([0, 1], [0, 1, 1]),
    "words": (["a", None, "b", "b"], ["x", "x", None, "y"]),
}


def _add(name):
    function = getattr(metrics, name)
    choices = {
        "norm": ("geometric", "arithmetic", "zzz"),
        "average": ("pair", "class", "matched", "zzz"),
        "dense": (True, False, None),
        "noise": ("cluster", "drop", "singletons", "zzz"),
    }

    def answers():
        known = [key for key in inspect.signature(function).parameters if key in choices]
        for key, (a, b) in _PAIRS.items():
            yield key, attempt(function, a, b)
            yield f"{key} back", attempt(function, b, a)
            for option in known:
                for value in choices[option]:
                    yield f"{key} {option}={value}", attempt(function, a, b, **{option: value})

    answers.__name__ = name
    CASES(answers)


for _name in metrics.__all__:
    if inspect.isfunction(getattr(metrics, _name)) and _name != "anmi":
        _add(_name)


@CASES
def anmi():
    for kind, ensemble in ensembles().items():
        for labels in (truth(), np.zeros(48, int), np.where(truth() == 0, -1, truth())):
            for norm in ("geometric", "arithmetic", "zzz"):
                for noise in ("cluster", "drop", "singletons"):
                    yield (
                        f"{kind} {labels[0]}{labels[-1]} {norm} {noise}",
                        attempt(metrics.anmi, labels, ensemble, norm=norm, noise=noise),
                    )
    yield "short", attempt(metrics.anmi, [0, 1], ensembles()["few"])


test_stored = CASES.test()
