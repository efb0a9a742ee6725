"""What an ensemble says: co-association, confidence, weights, ambiguity, stability, order."""

from consilience.evidence.ambiguity import (
    Ambiguity,
    GroupAmbiguity,
    ambiguous,
    anco,
    group_ambiguity,
    nco,
    relative_overlap,
)
from consilience.evidence.coassociation import CoAssociation, Missing, co_association, fractions
from consilience.evidence.confidence import (
    DOUBTFUL_BELOW,
    Confidence,
    confidence,
    doubtful,
    never_placed,
    never_seen,
    suited_elsewhere,
)
from consilience.evidence.order import VATOrder, ivat, ivat_image, vat, vat_image
from consilience.evidence.stability import (
    ClusterSelection,
    cluster_stability,
    extended_co_association,
    select_clusters,
)
from consilience.evidence.twins import twins
from consilience.evidence.weights import Confusion, object_weights
from consilience.kernels.links.trees import lifetimes

__all__ = [
    "DOUBTFUL_BELOW",
    "Ambiguity",
    "ClusterSelection",
    "CoAssociation",
    "Confidence",
    "Confusion",
    "GroupAmbiguity",
    "Missing",
    "VATOrder",
    "ambiguous",
    "anco",
    "cluster_stability",
    "co_association",
    "confidence",
    "doubtful",
    "extended_co_association",
    "fractions",
    "group_ambiguity",
    "ivat",
    "ivat_image",
    "lifetimes",
    "nco",
    "never_placed",
    "never_seen",
    "object_weights",
    "relative_overlap",
    "select_clusters",
    "suited_elsewhere",
    "twins",
    "vat",
    "vat_image",
]
