"""The table of all consensus methods, read by the command line, the docs and the tests.

A method enters it by the decorator on its function; nothing else needs to be told. An entry
knows the rules of its parameters, and can run its method.
"""

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import wraps
from importlib import import_module
from typing import Any, TypeVar, cast

from consilience._docs import entries, filled, with_example
from consilience._validation import COUNT, N_JOBS, NoneValue, RandomState, Rule, check_value
from consilience._words import listed
from consilience.consensus._solve import ConsensusResult
from consilience.ensemble import usable_ensemble
from consilience.errors import InvalidParameterError

__all__ = ["CONSENSUS", "Method", "consensus_method"]

F = TypeVar("F", bound=Callable[..., Any])
Rules = Mapping[str, Sequence[Rule]]

# What is said of parameters that all functions have, where one has nothing else to say.
_SHARED = entries(
    """\
Parameters
----------
ensemble : Ensemble
    Labels of n objects by R members with n_c clusters in all.
n_clusters : int
    Clusters wanted; fewer are found where some win no object.
X : array of shape (n_objects, n_features), optional
    Only used to place objects that no member saw.
random_state : int, RandomState or None
    Seeds the starts; the result does not depend on the order of the objects.
n_jobs : int or None
    Threads; None means one.""",
    "Parameters",
)
_EXAMPLE = """\
>>> from consilience import Ensemble
>>> ens = Ensemble([[0, 0, 0, 1, 1, 1], [0, 0, 1, 1, 2, 2], [5, 5, 5, 7, 7, 7]])
>>> {name}(ens, 2, random_state=0).labels
array([0, 0, 0, 1, 1, 1], dtype=int32)"""
_COMMON = {name for entry in _SHARED for name in entry.names}


@dataclass(frozen=True)
class Method:
    """One consensus method: what it is called, what it needs, what it costs.

    Attributes
    ----------
    name : str
        The function's.
    function : callable
    estimator_name : str
        The class's, beside the function.
    summary : str
        One sentence.
    needs_data, needs_n_clusters : bool
        Whether it needs X, and whether the number of clusters must be given.
    balanced : bool
        Whether it aims at clusters of equal size.
    keeps_noise : bool
        Whether objects that every member calls noise are labelled -1.
    few_clusters : bool
        Whether it wants members of about as many clusters as there are groups: on 15 tables
        the mean ARI of these methods was .66 to .68 with such members and .49 to .63 with
        members of about the root of n clusters.
    by_rows : bool
        Whether distinct label rows, and how many objects have each, are all it looks at: then it
        combines labels larger than memory (`consilience.consensus.combine_blocks`).
    soft : bool
        Whether it also combines memberships (`consilience.SoftEnsemble`).
    memory : str
        The shape of the memory it needs.
    paper : str
        Authors and year.
    options : tuple of str
        Its own parameters: all but the ensemble, the number of clusters, and those that
        every method takes (``X``, ``random_state``, ``n_jobs``).
    rules : mapping of name -> rules
        What values ``n_clusters`` and the options may have.
    """

    name: str
    function: Callable[..., Any]
    estimator_name: str
    summary: str
    needs_data: bool
    needs_n_clusters: bool
    balanced: bool
    keeps_noise: bool
    memory: str
    paper: str
    few_clusters: bool = False
    by_rows: bool = False
    soft: bool = False
    options: tuple[str, ...] = ()
    rules: Rules = field(default_factory=dict)

    @property
    def estimator(self) -> type:
        """The estimator class, beside the function."""
        beside: type = getattr(import_module(self.function.__module__), self.estimator_name)
        return beside

    def check_options(self, names: Any) -> None:
        """Raise `InvalidParameterError` for the first name that is not one of its options."""
        for name in names:
            if name not in self.options:
                raise InvalidParameterError(
                    f"The method {self.name!r} has no parameter {name!r} of its own; it has "
                    f"{', '.join(self.options) or 'none'}."
                )

    def run(
        self,
        ensemble: Any,
        n_clusters: int | None = None,
        X: Any = None,
        *,
        random_state: Any = None,
        n_jobs: int | None = None,
        **options: Any,
    ) -> ConsensusResult:
        """The method's result on an ensemble.

        Parameters
        ----------
        ensemble : Ensemble
            Labels of n objects by R members.
        n_clusters : int or None, default=None
            Clusters wanted; may be left out only where the method finds the number.
        X : array of shape (n_objects, n_features), optional
            Data, for the methods that need them and to place objects that no member saw.
        random_state, n_jobs
            Taken by every method, whether or not it draws numbers or uses threads.
        **options
            The method's own parameters, those in ``options``; any other is refused.

        Returns
        -------
        ConsensusResult

        Examples
        --------
        >>> from consilience import Ensemble
        >>> ens = Ensemble([[0, 0, 0, 1, 1, 1], [0, 0, 1, 1, 2, 2], [5, 5, 5, 7, 7, 7]])
        >>> CONSENSUS["eac"].run(ens, 2, linkage="single").labels.tolist()
        [0, 0, 0, 1, 1, 1]
        >>> CONSENSUS["mcla"].run(ens, 2, linkage="single")
        Traceback (most recent call last):
        ...
        consilience.errors.InvalidParameterError: The method 'mcla' has no parameter 'linkage' \
of its own; it has solver.
        """
        self.check_options(options)
        # Ours take all of these; a method that somebody else entered may need none.
        takes = inspect.signature(self.function).parameters
        common = {"X": X, "random_state": random_state, "n_jobs": n_jobs}
        given = {name: value for name, value in common.items() if name in takes}
        result: ConsensusResult = self.function(ensemble, n_clusters, **given, **options)
        return result


CONSENSUS: dict[str, Method] = {}


def consensus_method(
    *,
    estimator: str,
    paper: str,
    memory: str,
    rules: Rules | None = None,
    needs_data: bool = False,
    needs_n_clusters: bool = True,
    balanced: bool = False,
    keeps_noise: bool = True,
    few_clusters: bool = False,
    by_rows: bool = False,
    soft: bool | None = None,
) -> Callable[[F], F]:
    """Enter a consensus function into the table under its own name, and check its arguments.

    Parameters
    ----------
    estimator : str
        Name of the class in the same module that wraps the function; messages call it so.
    paper : str
        Authors and year.
    memory : str
        The shape of the memory it needs, for instance ``"n R"``.
    rules : mapping of name -> rules, optional
        What values its own parameters may have: for the function and the estimator alike.
    needs_data, needs_n_clusters, balanced, keeps_noise, few_clusters, by_rows : bool
        See `Method`.
    soft : bool or None, default=None
        See `Method`; None is that of ``by_rows``: products with rows are those of memberships, too.
    """
    takes_soft = by_rows if soft is None else soft
    numbers = COUNT if needs_n_clusters else [*COUNT, NoneValue()]
    own: dict[str, Sequence[Rule]] = {"n_clusters": numbers, **(rules or {})}

    def enter(function: F) -> F:
        names = tuple(inspect.signature(function).parameters)
        summary = (function.__doc__ or "").strip().partition("\n")[0]
        if function.__doc__:
            doc = filled(function.__doc__, "Parameters", _SHARED, names)
            function.__doc__ = with_example(doc, _EXAMPLE.format(name=function.__name__))
        function = _checked(function, names, own, estimator, takes_soft)
        CONSENSUS[function.__name__] = Method(
            name=function.__name__,
            function=function,
            estimator_name=estimator,
            summary=summary,
            needs_data=needs_data,
            needs_n_clusters=needs_n_clusters,
            balanced=balanced,
            keeps_noise=keeps_noise,
            few_clusters=few_clusters,
            by_rows=by_rows,
            soft=takes_soft,
            memory=memory,
            paper=paper,
            options=tuple(name for name in names if name not in _COMMON),
            rules=own,
        )
        return function

    return enter


def soft_methods() -> str:
    """The names of the methods that combine memberships, for messages."""
    names = sorted(one.name for one in CONSENSUS.values() if one.soft)
    return listed(names, "or", most=len(names))


def _checked(function: F, names: tuple[str, ...], own: Rules, owner: str, soft: bool) -> F:
    """The function, once its arguments keep their rules."""
    every: Rules = {**own, "random_state": [RandomState()], "n_jobs": N_JOBS}

    @wraps(function)
    def checked(*args: Any, **kwargs: Any) -> Any:
        # Too many or too few arguments are Python's to complain of.
        given = {**dict(zip(names, args, strict=False)), **kwargs}
        if "ensemble" in given:
            name = function.__name__
            usable = usable_ensemble(given["ensemble"], owner=name, soft=soft, remedy=soft_methods)
            if "ensemble" in kwargs:
                kwargs["ensemble"] = usable
            else:
                args = (usable, *args[1:])
        for name, rules in every.items():
            if name in given:
                check_value(name, given[name], rules, owner=owner)
        return function(*args, **kwargs)

    return cast(F, checked)
