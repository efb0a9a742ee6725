"""An ensemble from several generators, one after the other."""

from typing import Any, ClassVar

from sklearn.base import BaseEstimator, clone

from consilience._sklearn import CallbackSupportMixin, Steps, with_callbacks
from consilience._validation import HasMethods, Satisfies, check_params
from consilience.ensemble import Ensemble
from consilience.errors import InvalidParameterError
from consilience.generate._base import Checkpoint, Generator, opened
from consilience.generate._draw import member_seeds
from consilience.rows import rows_of

__all__ = ["Combined"]

_GENERATOR = HasMethods(("generate", "get_params", "set_params"), "a generator")


def _are_generators(value: Any) -> bool:
    return isinstance(value, list | tuple) and bool(value) and all(map(_GENERATOR.accepts, value))


class Combined(CallbackSupportMixin, BaseEstimator):
    """The members of several generators, in order.

    Parameters
    ----------
    generators : list of generators
        Each is copied before use.
    random_state : int, RandomState or None, default=None
        Draws one seed for each generator that has none of its own.
    n_jobs : int or None, default=None
        Handed to each generator that has none of its own.

    Examples
    --------
    >>> import numpy as np
    >>> from consilience.generate import KMeansEnsemble
    >>> X = np.random.default_rng(0).normal(size=(60, 2))
    >>> few = KMeansEnsemble(2, 2)
    >>> many = KMeansEnsemble(3, 5)
    >>> Combined([few, many], random_state=0).generate(X).n_clusters.tolist()
    [2, 2, 5, 5, 5]
    """

    _constraints: ClassVar[dict[str, Any]] = {
        **Generator._common_constraints,
        "generators": [Satisfies(_are_generators, f"a list of at least one of {_GENERATOR}")],
    }

    def __init__(
        self, generators: Any, *, random_state: Any = None, n_jobs: int | None = None
    ) -> None:
        self.generators = generators
        self.random_state = random_state
        self.n_jobs = n_jobs

    @with_callbacks
    def generate(self, X: Any, *, checkpoint: Checkpoint | None = None) -> Ensemble:
        """Make the members of all generators on data ``X``; see `KMeansEnsemble.generate`."""
        check_params(self)
        parts = []
        seeds = member_seeds(self.random_state, len(self.generators))
        ours = checkpoint is not None or any(map(takes_rows, self.generators))
        rows = rows_of(X, owner=self, min_objects=2) if ours else None
        data = None if rows is None else rows.values
        n_members = 0 if checkpoint is None else self._prepare(data)
        with opened(checkpoint, self, data, n_members, seeds) as session:
            steps = Steps(self, "generate", len(self.generators))
            for number, generator in enumerate(self.generators):
                maker = with_defaults(generator, session.seeds[number], self.n_jobs)
                part = session.part(number)
                with steps.step(type(maker).__name__, maker):
                    # Anything with `generate` will do where nothing is kept.
                    given = rows if takes_rows(maker) else X
                    kept = {} if part is None else {"checkpoint": part}
                    made = maker.generate(given, **kept)
                    parts.append((maker, made))
            steps.end()
        self.models_ = tuple(
            model
            for maker, made in parts
            for model in getattr(maker, "models_", (None,) * made.n_members)
        )
        self.records_ = tuple(r for maker, _ in parts for r in getattr(maker, "records_", ()))
        return Ensemble.concatenate([ensemble for _, ensemble in parts])

    def _prepare(self, X: Any) -> int:
        """Number of members of all generators; raises if one of them cannot be resumed."""
        for generator in self.generators:
            if not takes_rows(generator):
                raise InvalidParameterError(
                    f"The generator {type(generator).__name__} keeps no checkpoint. Give clusterers"
                    " of your own to EstimatorEnsemble, or generate without 'checkpoint'."
                )
            check_params(generator)
        return sum(generator._prepare(X) for generator in self.generators)


def takes_rows(generator: Any) -> bool:
    """Whether a generator is one of ours, which take data that are checked already."""
    return isinstance(generator, Generator | Combined)


def with_defaults(
    generator: Any, random_state: Any, n_jobs: int | None, device: str | None = None
) -> Any:
    """A copy of a generator whose unset random state, workers and device are filled in."""
    maker = clone(generator)
    own = maker.get_params(deep=False)
    if "random_state" in own and own["random_state"] is None:
        maker.set_params(random_state=random_state)
    if "n_jobs" in own and own["n_jobs"] is None:
        maker.set_params(n_jobs=n_jobs)
    if device is not None and "device" in own and own["device"] is None:
        maker.set_params(device=device)
    return maker
