"""What an ensemble says: co-association, confidence, weights, ambiguity, stability, order."""

from consilience.evidence.ambiguity import Ambiguity, ambiguous, anco, nco, relative_overlap
from consilience.evidence.coassociation import CoAssociation, Missing, co_association, fractions
from consilience.evidence.confidence import Confidence, confidence, never_placed, never_seen
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
    "Ambiguity",
    "ClusterSelection",
    "CoAssociation",
    "Confidence",
    "Confusion",
    "Missing",
    "VATOrder",
    "ambiguous",
    "anco",
    "cluster_stability",
    "co_association",
    "confidence",
    "extended_co_association",
    "fractions",
    "ivat",
    "ivat_image",
    "lifetimes",
    "nco",
    "never_placed",
    "never_seen",
    "object_weights",
    "relative_overlap",
    "select_clusters",
    "twins",
    "vat",
    "vat_image",
]
