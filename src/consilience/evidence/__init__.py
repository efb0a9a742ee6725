"""What an ensemble says: co-association, confidence, object weights, lifetimes, order."""

from consilience.evidence.coassociation import CoAssociation, Missing, co_association, fractions
from consilience.evidence.confidence import Confidence, confidence, never_placed, never_seen
from consilience.evidence.order import VATOrder, ivat, ivat_image, vat, vat_image
from consilience.evidence.twins import twins
from consilience.evidence.weights import Confusion, object_weights
from consilience.kernels.trees import lifetimes

__all__ = [
    "CoAssociation",
    "Confidence",
    "Confusion",
    "Missing",
    "VATOrder",
    "co_association",
    "confidence",
    "fractions",
    "ivat",
    "ivat_image",
    "lifetimes",
    "never_placed",
    "never_seen",
    "object_weights",
    "twins",
    "vat",
    "vat_image",
]
