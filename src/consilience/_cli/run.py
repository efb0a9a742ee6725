"""What ``consilience cluster`` does, without a terminal: options in, an outcome out.

Everything that can be refused before the data are read is refused before.
"""

import inspect
import shlex
from collections.abc import Sequence
from dataclasses import dataclass, fields
from numbers import Integral
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from consilience import metrics
from consilience._cli.inputs import Input, gather
from consilience._cli.stages import Clock, noting
from consilience._validation import (
    Interval,
    RandomState,
    Rule,
    Satisfies,
    check_params,
    check_value,
    memory_in_bytes,
)
from consilience.consensus import CONSENSUS, Method
from consilience.ensemble import Ensemble
from consilience.errors import InvalidInputError, InvalidParameterError
from consilience.generate import KMeansEnsemble

__all__ = ["COMMON_RULES", "Options", "Outcome", "run"]

_OWNER = "consilience cluster"
_AT_LEAST_ONE = Interval(Integral, 1)
#: Of options that were given; every job of the command line has these.
COMMON_RULES: dict[str, list[Rule]] = {
    "n_clusters": [_AT_LEAST_ONE],
    "members": [_AT_LEAST_ONE],
    "seed": [Satisfies(RandomState().accepts, "a whole number from 0 to 4294967295")],
    "jobs": [_AT_LEAST_ONE, Satisfies(lambda jobs: bool(jobs == -1), "-1 for all cores")],
}
_FLAGS = {"n_clusters": "-k"}


@dataclass(frozen=True)
class Options:
    """What the user asked for; None where the method's own default holds."""

    data: Path | None = None
    n_clusters: int | None = None
    method: str = "eac"
    members: int = 100
    seed: int = 0
    out: Path | None = None
    labels: Path | None = None
    id_column: str | None = None
    truth_column: str | None = None
    linkage: str | None = None
    scale: bool = True
    jobs: int | None = None
    max_memory: str | None = None

    @property
    def source(self) -> Path:
        """The file that names the run: the data, or else the labels."""
        found = self.labels if self.data is None else self.data
        if found is None:
            raise InvalidParameterError(
                f"{_OWNER} needs data or labels. Got neither. Name a file, as in "
                "'consilience cluster data.csv', or give labels you already have with --labels."
            )
        return found

    def command(self) -> str:
        """The command line that asks for the same."""
        words = ["consilience", "cluster"] + ([] if self.data is None else [str(self.data)])
        for option in fields(self)[1:]:
            value = getattr(self, option.name)
            if value == option.default:
                continue
            if option.name == "scale":
                words.append("--no-scale")
            else:
                words += [_flag(option.name), str(value)]
        return shlex.join(words)


@dataclass(frozen=True)
class Outcome:
    """A consensus and all there is to say about it."""

    options: Options
    method: Method
    parameters: dict[str, Any]
    input: Input
    labels: NDArray[np.int32]
    confidence: NDArray[np.float64] | None
    runner_up: NDArray[np.int32] | None
    lifetimes: NDArray[np.float64] | None
    ensemble: Ensemble
    agreement: dict[str, float] | None
    seconds: dict[str, float]
    notes: tuple[str, ...]

    @property
    def n_clusters(self) -> int:
        """Clusters found."""
        return int(self.labels.max(initial=-1)) + 1

    @property
    def sizes(self) -> list[int]:
        """Objects in each cluster."""
        placed = self.labels[self.labels >= 0]
        return [int(size) for size in np.bincount(placed, minlength=self.n_clusters)]

    def candidates(self, most: int = 4) -> list[int]:
        """Numbers of clusters that hold longest, the best first; empty if nobody says."""
        if self.lifetimes is None:
            return []
        order = np.argsort(-self.lifetimes, kind="stable")[:most]
        return [int(i) + 2 for i in order if self.lifetimes[i] > 0]

    def least_sure(self, most: int = 5) -> list[dict[str, Any]]:
        """The objects of least confidence, the least sure first; none that are fully sure."""
        if self.confidence is None:
            return []
        found = np.argsort(self.confidence, kind="stable")[:most]
        return [
            {
                "id": i if self.input.ids is None else np.asarray(self.input.ids[i]).item(),
                "cluster": int(self.labels[i]),
                "runner_up": None if self.runner_up is None else int(self.runner_up[i]),
                "confidence": round(float(self.confidence[i]), 4),
            }
            for i in found.tolist()
            if self.confidence[i] < 1
        ]


def run(options: Options, *, callbacks: Sequence[Any] = ()) -> Outcome:
    """Read, generate unless labels are given, and find the consensus.

    Parameters
    ----------
    options : Options
        What the user asked for.
    callbacks : sequence of scikit-learn callbacks
        Told about the progress of the generator and of the method.

    Returns
    -------
    Outcome
        Warnings of any part on the way are its ``notes``, each once.

    Raises
    ------
    ConsilienceError, OSError
        If the options, the files or their contents cannot be used.
    """
    clock = Clock()
    with noting() as notes:
        method = _checked_method(options)
        model, generator = _estimator(options, method), _generator(options)
        with clock.stage("read"):
            given = gather(
                options.data,
                options.labels,
                id_column=options.id_column,
                truth_column=options.truth_column,
                scale=options.scale,
            )
        _check_against(options, method, given)
        ensemble = given.ensemble
        if ensemble is None:
            with clock.stage("generate"):
                ensemble = generator.set_callbacks(*callbacks).generate(given.X)
        with clock.stage("consensus"):
            model.set_callbacks(*callbacks).fit(given.X, ensemble=ensemble)
        agreement = None if given.truth is None else _agreement(given.truth, model.labels_)
    return Outcome(
        options=options,
        method=method,
        parameters={k: v for k, v in model.get_params(deep=False).items() if k != "generator"},
        input=given,
        labels=model.labels_,
        confidence=getattr(model, "confidence_", None),
        runner_up=getattr(model, "runner_up_", None),
        lifetimes=getattr(model, "lifetimes_", None),
        ensemble=ensemble,
        agreement=agreement,
        seconds=clock.seconds,
        notes=tuple(notes),
    )


def _flag(name: str) -> str:
    return _FLAGS.get(name, "--" + name.replace("_", "-"))


def _checked_method(options: Options) -> Method:
    """The method asked for, once every option is known to be usable."""
    _ = options.source
    for name, rules in COMMON_RULES.items():
        if getattr(options, name) is not None:
            check_value(_flag(name), getattr(options, name), rules, owner=_OWNER)
    if options.max_memory is not None:
        memory_in_bytes(options.max_memory, owner=_OWNER, name="--max-memory")
    if options.method not in CONSENSUS:
        raise InvalidParameterError(
            f"There is no method {options.method!r}. The methods are "
            f"{', '.join(sorted(CONSENSUS))}; 'consilience methods' describes them."
        )
    method = CONSENSUS[options.method]
    if method.needs_n_clusters and options.n_clusters is None:
        raise InvalidParameterError(
            f"The method {method.name!r} needs the number of clusters. Give it with -k, for "
            "instance -k 3, or take --method eac, which can choose it."
        )
    if method.needs_data and options.data is None:
        raise InvalidParameterError(
            f"The method {method.name!r} needs the data, not only labels. Name the file with the "
            f"data too: consilience cluster DATA --labels {options.labels}."
        )
    return method


def _estimator(options: Options, method: Method) -> Any:
    """The method's estimator with the options it knows; refuses an option it does not."""
    wanted = {
        "n_clusters": options.n_clusters,
        "linkage": options.linkage,
        "max_memory": options.max_memory,
        "random_state": options.seed,
        "n_jobs": options.jobs,
    }
    known = inspect.signature(method.estimator).parameters
    for name in ("n_clusters", "linkage", "max_memory"):
        if wanted[name] is not None and name not in known:
            raise InvalidParameterError(
                f"The method {method.name!r} has no option {_flag(name)}. Leave it out."
            )
    given = {k: v for k, v in wanted.items() if k in known and v is not None}
    model = method.estimator(**given)
    if hasattr(model, "_constraints"):
        check_params(model)
    return model


def _generator(options: Options) -> Any:
    return KMeansEnsemble(options.members, random_state=options.seed, n_jobs=options.jobs)


def _check_against(options: Options, method: Method, given: Input) -> None:
    """Raise if the data are too few for what is asked."""
    n = given.n_objects
    if n < 2:
        raise InvalidInputError(
            f"{options.source.name!r} holds one object; there is nothing to cluster. Clustering "
            "needs at least two."
        )
    if options.n_clusters is not None and options.n_clusters > n:
        raise InvalidParameterError(
            f"-k {options.n_clusters} asks for more clusters than there are objects: "
            f"{options.source.name!r} holds {n}. Take a smaller number."
        )


def _agreement(truth: NDArray[Any], labels: NDArray[Any]) -> dict[str, float]:
    from sklearn.metrics import adjusted_rand_score

    return {
        "consistency_index": float(metrics.consistency_index(truth, labels)),
        "nmi": float(metrics.nmi(truth, labels)),
        "ari": float(adjusted_rand_score(truth, labels)),
    }
