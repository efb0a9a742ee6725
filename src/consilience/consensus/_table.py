"""The table of all consensus methods, read by the command line, the docs and the tests.

A method enters it by the decorator on its function; nothing else needs to be told.
"""

from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from typing import Any, TypeVar

from consilience.ensemble import takes_ensemble

__all__ = ["CONSENSUS", "Method", "consensus_method"]

F = TypeVar("F", bound=Callable[..., Any])


@dataclass(frozen=True)
class Method:
    """One consensus method: what it is called, what it needs, what it costs."""

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

    @property
    def estimator(self) -> type:
        """The estimator class, beside the function."""
        found: type = getattr(import_module(self.function.__module__), self.estimator_name)
        return found


CONSENSUS: dict[str, Method] = {}


def consensus_method(
    *,
    estimator: str,
    paper: str,
    memory: str,
    needs_data: bool = False,
    needs_n_clusters: bool = True,
    balanced: bool = False,
    keeps_noise: bool = False,
) -> Callable[[F], F]:
    """Enter a consensus function into the table under its own name.

    Parameters
    ----------
    estimator : str
        Name of the class in the same module that wraps the function.
    paper : str
        Authors and year.
    memory : str
        The shape of the memory it needs, for instance ``"n R"``.
    needs_data, needs_n_clusters : bool
        Whether it needs X, and whether the number of clusters must be given.
    balanced : bool
        Whether it aims at clusters of equal size.
    keeps_noise : bool
        Whether objects that every member calls noise are labelled -1.
    """

    def enter(function: F) -> F:
        summary = (function.__doc__ or "").strip().partition("\n")[0]
        function = takes_ensemble(function)
        CONSENSUS[function.__name__] = Method(
            name=function.__name__,
            function=function,
            estimator_name=estimator,
            summary=summary,
            needs_data=needs_data,
            needs_n_clusters=needs_n_clusters,
            balanced=balanced,
            keeps_noise=keeps_noise,
            memory=memory,
            paper=paper,
        )
        return function

    return enter
