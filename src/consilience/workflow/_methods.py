"""Consensus methods as a job takes them: by name, with options that each one knows."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from consilience._validation import check_params
from consilience.consensus import CONSENSUS, Method
from consilience.ensemble import Ensemble
from consilience.errors import InvalidParameterError

__all__ = [
    "Named",
    "check_methods",
    "fit_method",
    "method_table",
    "own_limits",
    "own_options",
    "prepared",
]

# An option that limits what a method may use: where it has nothing to limit it is no mistake.
_LIMITS = ("max_memory",)
# Options so well known that they name their method.
_OWNERS = {"linkage": "eac"}

Options = Mapping[str, Any]


@dataclass(frozen=True)
class Named:
    """Methods that were asked for, each with its own options.

    Attributes
    ----------
    methods : tuple of Method
        Empty where the choice is ours.
    options : dict of name -> dict
        Of each of them.
    limits : dict
        Options for whichever method is taken, if it knows them.
    why : str
        Why these.
    """

    methods: tuple[Method, ...] = ()
    options: dict[str, dict[str, Any]] = field(default_factory=dict)
    limits: dict[str, Any] = field(default_factory=dict)
    why: str = ""


# Parameters of an estimator that say nothing about its method.
_NOT_ITS_OWN = ("generator", "confidence", "device")


def method_table() -> Mapping[str, Method]:
    """Every consensus method by name: what it needs, what it costs, its paper."""
    return MappingProxyType(CONSENSUS)


def own_options(method: Method) -> tuple[str, ...]:
    """Those options of a method that its estimator takes: not what belongs to one ensemble."""
    taken = _parameters(method)
    return tuple(name for name in method.options if name in taken)


def own_limits(method: Method, limits: Options) -> dict[str, Any]:
    """Those limits that a method knows: the others have nothing to limit there."""
    known = own_options(method)
    return {name: value for name, value in limits.items() if name in known}


def _parameters(method: Method) -> tuple[str, ...]:
    return tuple(method.estimator().get_params(deep=False))


def check_methods(
    method: str | None = None,
    methods: Sequence[str] | Mapping[str, Options] | None = None,
    options: Options = MappingProxyType({}),
    *,
    owner: str = "cluster",
) -> Named:
    """The methods asked for by name, once each is known to take its options.

    Parameters
    ----------
    method : str, optional
    methods : sequence of str, or mapping of name -> options, optional
    options : mapping
        For all of them.
    owner : str
        The function as messages name it.

    Raises
    ------
    InvalidParameterError
        If there is no such method, or an option belongs to none, or has a value it cannot have.
    """
    names, own = _wanted(method, methods, owner)
    why = "As asked." if len(names) == 1 else ""
    for option in options if not names else ():
        if option in _OWNERS:
            names, why = (_OWNERS[option],), f"It is the method that {option!r} belongs to."
    entries = tuple(_entry(name, owner) for name in names)
    if not entries:
        _check_ownerless(options, owner)
        return Named(limits=dict(options))
    given = {one.name: dict(options) | dict(own.get(one.name, {})) for one in entries}
    if len(entries) > 1:
        given = _without_idle_limits(entries, given)
    for one in entries:
        check_options(one, given[one.name])
        prepared(one, None, given[one.name])
    return Named(entries, given, why=why)


def check_options(method: Method, options: Options) -> None:
    """Refuse an option that a method does not know, by name."""
    known = own_options(method)
    for name in options:
        if name not in known:
            raise InvalidParameterError(
                f"The method {method.name!r} has no option {name!r}; it has "
                f"{', '.join(known) or 'none'}. Leave it out, or give it to one method of several "
                f"with methods={{'{method.name}': {{...}}, ...}}."
            )


def prepared(
    method: Method,
    n_clusters: int | None,
    options: Options,
    *,
    random_state: Any = None,
    n_jobs: int | None = None,
    device: str | None = None,
) -> Any:
    """The method's estimator with these options, their values checked."""
    wanted = {
        "n_clusters": n_clusters,
        "random_state": random_state,
        "n_jobs": n_jobs,
        "device": device,
        **options,
    }
    known = _parameters(method)
    if n_clusters is not None and "n_clusters" not in known:
        raise InvalidParameterError(
            f"The method {method.name!r} has no option 'n_clusters'. Leave it out."
        )
    given = {name: v for name, v in wanted.items() if name in known and v is not None}
    if "n_clusters" not in given and method.needs_n_clusters:
        given["n_clusters"] = 2  # only to check the others: the number comes later
    model = method.estimator(**given)
    if hasattr(model, "_constraints"):
        check_params(model)
    return model


def fit_method(method: Method, model: Any, X: Any, ensemble: Ensemble) -> dict[str, Any]:
    """What a method's estimator makes of an ensemble, by the names of a `ClusterResult`."""
    model.fit(X, ensemble=ensemble)
    params = model.get_params()
    return {
        "method": method.name,
        "paper": method.paper,
        "parameters": {name: v for name, v in params.items() if name not in _NOT_ITS_OWN},
        "labels": model.labels_,
        "confidence": getattr(model, "confidence_", None),
        "runner_up": getattr(model, "runner_up_", None),
        "lifetimes": getattr(model, "lifetimes_", None),
        "tree": _tree(model),
        "comparison": None,
    }


def _tree(model: Any) -> NDArray[np.float64] | None:
    """The dendrogram over all objects, where the method made one."""
    tree = getattr(model, "linkage_", None)
    if tree is None:
        tree = (getattr(model, "details_", None) or {}).get("linkage")
    return tree if tree is not None and len(tree) == len(model.labels_) - 1 else None


def _wanted(method: Any, methods: Any, owner: str) -> tuple[tuple[str, ...], Mapping[str, Options]]:
    """Names of the methods asked for, and the options that belong to one of them."""
    if method is not None and methods is not None:
        raise InvalidParameterError(
            f"The 'method' and 'methods' parameters of {owner} cannot both be given. Put all of "
            f"them into 'methods'."
        )
    if methods is None:
        return (() if method is None else (method,)), {}
    listed = not isinstance(methods, str) and isinstance(methods, Sequence | Mapping)
    own = methods if isinstance(methods, Mapping) else {}
    named = listed and len(methods) > 0 and all(isinstance(name, str) for name in methods)
    if not named or not all(isinstance(options, Mapping) for options in own.values()):
        raise InvalidParameterError(
            f"The 'methods' parameter of {owner} must be a list of names such as ['eac', 'mcla'], "
            f"or a mapping of names to options. Got {methods!r} instead."
        )
    return tuple(dict.fromkeys(methods)), own


def _entry(name: Any, owner: str) -> Method:
    if not isinstance(name, str) or name not in CONSENSUS:
        raise InvalidParameterError(
            f"The 'method' parameter of {owner} must be the name of a consensus method "
            f"({', '.join(sorted(CONSENSUS))}). Got {name!r} instead."
        )
    return CONSENSUS[name]


def _check_ownerless(options: Options, owner: str) -> None:
    """Refuse options that belong to a method where none is named."""
    for name in options:
        if name not in _LIMITS:
            raise InvalidParameterError(
                f"{owner} has no parameter {name!r}, and no method is named that could have such "
                f"an option. Leave it out, or name the method with 'method'."
            )


def _without_idle_limits(
    methods: Sequence[Method], given: dict[str, dict[str, Any]]
) -> dict[str, dict[str, Any]]:
    """The options of several methods, less limits where there is nothing to limit.

    One that none of them knows stays, to be refused.
    """
    idle = {one.name: [name for name in _LIMITS if name not in own_options(one)] for one in methods}
    nowhere = set.intersection(*(set(names) for names in idle.values()))
    return {
        name: {key: v for key, v in own.items() if key in nowhere or key not in idle[name]}
        for name, own in given.items()
    }
