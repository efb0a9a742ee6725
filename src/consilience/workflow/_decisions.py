"""Decisions as plain values: the number of clusters, the methods compared."""

from typing import Any

import numpy as np

from consilience.compare import Comparison
from consilience.consensus import NumberChoice

__all__ = ["choice_facts", "comparison_facts"]


def choice_facts(choice: NumberChoice) -> dict[str, Any]:
    """What every criterion says about the number of clusters, and which was taken."""
    return {
        "n_clusters": choice.n_clusters,
        "clear": choice.clear,
        "taken": choice.taken,
        "words": choice.words,
        "criteria": [
            {
                "name": one.name,
                "n_clusters": one.n_clusters,
                "clarity": round(float(one.clarity), 4),
                "words": one.words,
            }
            for one in choice.criteria
        ],
    }


def comparison_facts(found: Comparison) -> dict[str, Any]:
    """The methods beside each other, their agreement, and why some failed."""
    truth = found.truth or {}
    return {
        "best": found.best,
        "methods": [
            {
                "name": name,
                "n_clusters": int(found.n_clusters[i]),
                "anmi": round(float(found.anmi[i]), 6),
                **{score: round(float(values[i]), 6) for score, values in truth.items()},
            }
            for i, name in enumerate(found.names)
        ],
        "agreement": np.round(found.agreement, 6).tolist(),
        "failed": found.failed,
    }
