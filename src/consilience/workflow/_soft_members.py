"""Memberships as members of a job: what combines them, and what looks at labels instead."""

from typing import Any

from consilience.consensus._registry import soft_methods
from consilience.ensemble import Ensemble
from consilience.errors import InvalidParameterError, warn
from consilience.soft_ensemble import SoftEnsemble
from consilience.workflow._methods import Named

__all__ = ["check_soft", "labels_of", "soft_or_none"]


def check_soft(named: Named, members: Any, generator: Any, refine: bool, *, owner: str) -> None:
    """Refuse, before anything is made, what cannot be done with memberships."""
    soft = getattr(members, "is_soft", False) or getattr(generator, "makes_memberships", False)
    if not soft:
        return
    for method in named.methods:
        if not method.soft:
            raise InvalidParameterError(
                f"The method {method.name!r} combines labels, and the members are memberships. "
                f"Take {soft_methods()}, or give ensemble.harden()."
            )
    several = len(named.methods) > 1
    if several or refine:
        raise InvalidParameterError(
            f"The {'methods' if several else 'refine'!r} parameter of {owner} takes members that "
            "are labels, and these are memberships. Leave it out, or give ensemble.harden()."
        )


def labels_of(ensemble: Ensemble) -> Ensemble:
    """The members as labels, for all that looks at labels: of memberships the most likely ones."""
    if not isinstance(ensemble, SoftEnsemble):
        return ensemble
    warn(
        "The members are memberships. Confidence, and a method that was named, go by these; what "
        "else looks at members (AutoConsensus, the report, new objects) sees the cluster that each "
        "object is most likely in."
    )
    return ensemble.harden()


def soft_or_none(ensemble: Ensemble) -> SoftEnsemble | None:
    """The members where they are memberships."""
    return ensemble if isinstance(ensemble, SoftEnsemble) else None
