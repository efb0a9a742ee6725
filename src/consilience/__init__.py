"""Ensemble clustering: many weak clusterings in, one consensus you can trust out.

Names load on first use, so that ``import consilience`` stays light.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0.dev0"

_ESTIMATORS = (
    "ASRS",
    "AmbiguityAware",
    "BCE",
    "BaumEagon",
    "CSPA",
    "CTS",
    "CorrelationClustering",
    "CumulativeVoting",
    "DyadicAspect",
    "EAC",
    "ECMC",
    "EEAC",
    "HBGF",
    "HGPA",
    "KCC",
    "LWEA",
    "LWGP",
    "MCLA",
    "MixtureConsensus",
    "MontiConsensus",
    "NMFConsensus",
    "PEACE",
    "PTA",
    "PTGP",
    "SEC",
    "SRS",
    "SupraConsensus",
    "USENC",
    "Voting",
    "WBPA",
    "WCC",
    "WOHB",
    "WOKMeans",
    "WOMC",
    "WOSP",
    "WSPA",
)
_JOBS = ("ambiguous_objects", "cluster", "minority_groups")
_MINORITY = ("AutoHDS", "BBCPress", "BBOCC", "DGRADE", "EWOCS", "GRAMS", "KMD", "SoftBBC")
# Where each public name lives; what is not listed here is not public at the top.
_HOMES = {
    **dict.fromkeys(_MINORITY, "consilience.minority"),
    **dict.fromkeys(_ESTIMATORS, "consilience.consensus"),
    **dict.fromkeys(_JOBS, "consilience.workflow"),
    "LAC": "consilience.generate",
    "Ensemble": "consilience.ensemble",
    "NOISE": "consilience.ensemble",
    "UNSEEN": "consilience.ensemble",
    "relabel": "consilience.ensemble",
}
_ROOMS = (
    "compare",
    "consensus",
    "datasets",
    "ensemble",
    "errors",
    "evidence",
    "experiments",
    "generate",
    "metrics",
    "minority",
    "partition",
    "plot",
    "report",
    "workflow",
)

__all__ = [
    "ASRS",
    "BBOCC",
    "BCE",
    "CSPA",
    "CTS",
    "DGRADE",
    "EAC",
    "ECMC",
    "EEAC",
    "EWOCS",
    "GRAMS",
    "HBGF",
    "HGPA",
    "KCC",
    "KMD",
    "LAC",
    "LWEA",
    "LWGP",
    "MCLA",
    "NOISE",
    "PEACE",
    "PTA",
    "PTGP",
    "SEC",
    "SRS",
    "UNSEEN",
    "USENC",
    "WBPA",
    "WCC",
    "WOHB",
    "WOMC",
    "WOSP",
    "WSPA",
    "AmbiguityAware",
    "AutoHDS",
    "BBCPress",
    "BaumEagon",
    "CorrelationClustering",
    "CumulativeVoting",
    "DyadicAspect",
    "Ensemble",
    "MixtureConsensus",
    "MontiConsensus",
    "NMFConsensus",
    "SoftBBC",
    "SupraConsensus",
    "Voting",
    "WOKMeans",
    "__version__",
    "ambiguous_objects",
    "cluster",
    "compare",
    "consensus",
    "datasets",
    "ensemble",
    "errors",
    "evidence",
    "experiments",
    "generate",
    "metrics",
    "minority",
    "minority_groups",
    "partition",
    "plot",
    "relabel",
    "report",
    "workflow",
]

if TYPE_CHECKING:
    from consilience import (
        compare,
        consensus,
        datasets,
        ensemble,
        errors,
        evidence,
        experiments,
        generate,
        metrics,
        minority,
        partition,
        plot,
        report,
        workflow,
    )
    from consilience.consensus import (
        ASRS,
        BCE,
        CSPA,
        CTS,
        EAC,
        ECMC,
        EEAC,
        HBGF,
        HGPA,
        KCC,
        LWEA,
        LWGP,
        MCLA,
        PEACE,
        PTA,
        PTGP,
        SEC,
        SRS,
        USENC,
        WBPA,
        WCC,
        WOHB,
        WOMC,
        WOSP,
        WSPA,
        AmbiguityAware,
        BaumEagon,
        CorrelationClustering,
        CumulativeVoting,
        DyadicAspect,
        MixtureConsensus,
        MontiConsensus,
        NMFConsensus,
        SupraConsensus,
        Voting,
        WOKMeans,
    )
    from consilience.ensemble import NOISE, UNSEEN, Ensemble, relabel
    from consilience.generate import LAC
    from consilience.minority import (
        BBOCC,
        DGRADE,
        EWOCS,
        GRAMS,
        KMD,
        AutoHDS,
        BBCPress,
        SoftBBC,
    )
    from consilience.workflow import ambiguous_objects, cluster, minority_groups


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        return getattr(import_module(_HOMES[name]), name)
    if name in _ROOMS:
        return import_module(f"consilience.{name}")
    raise AttributeError(f"module 'consilience' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
