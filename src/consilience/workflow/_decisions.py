"""Decisions as plain values: the number of clusters, its clarity, the methods compared."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from consilience.compare import Comparison
from consilience.consensus import Alternative, Clarity, NumberChoice

__all__ = ["alternative_facts", "choice_facts", "clarity_facts", "comparison_facts"]


def clarity_facts(
    verdict: str | None, clarity: Clarity | None, *, given: bool
) -> dict[str, Any] | None:
    """How clear the groups are, and the evidence where there is some."""
    if clarity is None:
        return None if verdict is None else {"verdict": verdict}
    return {
        "verdict": clarity.verdict,
        "p_value": clarity.p_value,
        "n_references": clarity.n_references,
        "n_objects": clarity.n_objects,
        "sparsity": round(clarity.sparsity, 4),
        "expected": round(clarity.expected, 4),
        "valley": None if clarity.valley is None else round(clarity.valley, 4),
        "expected_valley": (
            None if clarity.expected_valley is None else round(clarity.expected_valley, 4)
        ),
        "agreement": round(clarity.agreement, 4),
        "words": clarity.said(given=given),
    }


def alternative_facts(alternatives: Sequence[Alternative]) -> list[dict[str, Any]]:
    """Divisions worth a look: how large the groups are, and what speaks for them."""
    return [
        {
            "n_clusters": one.n_clusters,
            "found_by": one.line,
            "sizes": list(one.sizes),
            "support": round(one.support, 4),
            "agreement": round(one.agreement, 4),
            "silhouette": round(one.silhouette, 4),
            "modularity": round(one.modularity, 4),
            "difference": one.difference,
        }
        for one in alternatives
    ]


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


def comparison_facts(comparison: Comparison) -> dict[str, Any]:
    """The methods beside each other, their agreement, and why some failed."""
    truth = comparison.truth or {}
    return {
        "best": comparison.best,
        "methods": [
            {
                "name": name,
                "n_clusters": int(comparison.n_clusters[i]),
                "anmi": round(float(comparison.anmi[i]), 6),
                **{score: round(float(values[i]), 6) for score, values in truth.items()},
            }
            for i, name in enumerate(comparison.names)
        ],
        "agreement": np.round(comparison.agreement, 6).tolist(),
        "failed": comparison.failed,
    }
