"""What a job of clustering is asked for, and what it cannot be."""

from dataclasses import dataclass
from numbers import Integral
from typing import Any

from consilience._validation import (
    N_MEMBERS,
    HasMethods,
    Interval,
    NoneValue,
    RandomState,
    Rule,
    check_jobs,
    check_n_clusters,
    check_value,
)
from consilience.errors import InvalidInputError, InvalidParameterError
from consilience.generate import RunFolder
from consilience.workflow._data import Data
from consilience.workflow._methods import Named
from consilience.workflow._places import place_of_stage

__all__ = ["OURS", "Task", "check_looked_for", "check_members", "check_needs_data", "check_objects"]

#: The method that is taken where none is named.
OURS = "autoconsensus"
_OWNER = "cluster"
_GENERATOR: list[Rule] = [
    HasMethods(("generate", "get_params", "set_params"), "a generator"),
    NoneValue(),
]


@dataclass(frozen=True, kw_only=True)
class Task:
    """What is asked for, once it is known to be usable."""

    n_clusters: int | None
    max_clusters: int | None
    effort: str
    strict: bool
    named: Named
    generator: Any
    n_members: int
    refine: bool
    seed: int
    n_jobs: int | None
    device: str | None
    there: bool
    run: RunFolder | None

    def place(self, stage: str) -> str | None:
        """The device of a stage; None is the processor."""
        return place_of_stage(stage, self.device, there=self.there)

    @property
    def wants_number(self) -> bool:
        """Whether the number is to be found: nobody gave it, and no named method finds its own."""
        if self.n_clusters is not None:
            return False
        methods = self.named.methods
        return not methods or any(method.needs_n_clusters for method in methods)

    @property
    def by_lines(self) -> bool:
        """Whether the groups are those of `AutoConsensus`."""
        return not (self.named.methods or self.strict)

    @property
    def number_first(self) -> bool:
        """Whether the members wait for the number, since all methods want about so many."""
        methods = self.named.methods
        return (
            bool(methods)
            and self.generator is None
            and all(method.few_clusters for method in methods)
        )

    @property
    def n_stages(self) -> int:
        return 3 + (self.wants_number and not self.by_lines)


def check_members(
    n_clusters: Any,
    generator: Any,
    n_members: Any,
    random_state: Any,
    n_jobs: Any,
    *,
    owner: str,
) -> None:
    """Refuse what the number of clusters and the making of members cannot be."""
    check_value("n_clusters", n_clusters, [Interval(Integral, 1), NoneValue()], owner=owner)
    check_value("generator", generator, _GENERATOR, owner=owner)
    check_value("n_members", n_members, [N_MEMBERS], owner=owner)
    check_value("random_state", random_state, [RandomState()], owner=owner)
    check_jobs(n_jobs, owner=owner)


def check_objects(data: Data, n_clusters: int | None, *, owner: str) -> None:
    """Refuse too few objects for what is asked."""
    if data.n_objects < 2:
        raise InvalidInputError(
            f"{owner} was given one object; there is nothing to cluster. Clustering needs at "
            "least two."
        )
    if n_clusters is not None:
        check_n_clusters(n_clusters, data.n_objects, owner=owner)


def check_needs_data(named: Named, X: Any) -> None:
    for method in named.methods:
        if method.needs_data and X is None:
            raise InvalidInputError(
                f"The method {method.name!r} needs the data, not only labels. Pass X as well."
            )


def check_looked_for(task: Task) -> None:
    """Refuse what belongs to a number that is looked for where none is."""
    if task.max_clusters is not None and not task.wants_number:
        known = "'n_clusters' gives it" if task.n_clusters else "the method finds its own"
        raise InvalidParameterError(
            f"The 'max_clusters' parameter of {_OWNER} (--max-k) belongs to a number that is to "
            f"be found, and {known}. Leave one of them out."
        )
    if task.strict and not task.wants_number:
        known = "'n_clusters' gives it" if task.n_clusters else "the method finds its own"
        raise InvalidParameterError(
            f"The 'strict' parameter of {_OWNER} (--strict) belongs to a number that is to be "
            f"found, and {known}. Leave one of them out."
        )
    if task.strict and task.effort != "default":
        raise InvalidParameterError(
            f"The 'effort' parameter of {_OWNER} (--effort) belongs to AutoConsensus, which "
            "'strict' (--strict) does without. Leave one of them out."
        )
