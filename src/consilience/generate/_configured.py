"""Clusterers and models of the user's as a member needs them."""

from typing import Any

from sklearn.base import clone
from sklearn.pipeline import Pipeline

__all__ = ["configured"]


def configured(model: Any, n_clusters: int | None, seed: int, *, soft: bool = False) -> Any:
    """A fresh copy with its number of clusters and random state set, where it has them.

    The number is that of the last step of a pipeline: how many columns the steps before make of
    the data, by a ``PCA(n_components=2)``, is no number of clusters. ``n_components`` are clusters
    of mixtures, and of whatever gives memberships (``soft``).
    """
    model = clone(model)
    names = list(model.get_params(deep=True))
    changes: dict[str, Any] = {name: seed for name in names if _last(name) == "random_state"}
    if n_clusters is not None:
        prefix, step = _last_step(model)
        counts = ["n_clusters"]
        if soft or hasattr(step, "predict_proba"):
            counts.append("n_components")
        own = [name for name in names if name.startswith(prefix) and _last(name) in counts]
        changes |= dict.fromkeys(own, n_clusters)
    return model.set_params(**changes)


def _last_step(model: Any) -> tuple[str, Any]:
    """What clusters at the end of a pipeline, and how the names of its parameters begin."""
    prefix = ""
    while isinstance(model, Pipeline):
        name, model = model.steps[-1]
        prefix += f"{name}__"
    return prefix, model


def _last(name: str) -> str:
    return name.rpartition("__")[2]
