"""Pictures with matplotlib: each function draws on one Axes, given or made, and returns it.

What a picture shows is computed apart from drawing it, by functions that need no matplotlib.
"""

from consilience.compare import rank_diagram
from consilience.plot.ambiguity import plot_ambiguity
from consilience.plot.curves import average_precision, plot_precision_recall, plot_roc
from consilience.plot.dendrograms import DendrogramLines, dendrogram_lines, plot_dendrogram
from consilience.plot.embedding import EmbeddedObjects, embedded_objects, plot_embedding
from consilience.plot.levels import plot_levels
from consilience.plot.matrices import (
    PairPicture,
    co_association_picture,
    plot_co_association,
    plot_vat,
    vat_picture,
)
from consilience.plot.n_clusters import plot_consensus_cdf, plot_delta_area, plot_pac
from consilience.plot.scores import (
    ScoreCurve,
    ScoreHistogram,
    plot_score_histogram,
    plot_scores,
    score_curve,
    score_histogram,
)
from consilience.plot.stability import StabilityCurve, plot_stability, stability_curve
from consilience.plot.two_answers import plot_two_answers

__all__ = [
    "DendrogramLines",
    "EmbeddedObjects",
    "PairPicture",
    "ScoreCurve",
    "ScoreHistogram",
    "StabilityCurve",
    "average_precision",
    "co_association_picture",
    "dendrogram_lines",
    "embedded_objects",
    "plot_ambiguity",
    "plot_co_association",
    "plot_consensus_cdf",
    "plot_delta_area",
    "plot_dendrogram",
    "plot_embedding",
    "plot_levels",
    "plot_pac",
    "plot_precision_recall",
    "plot_roc",
    "plot_score_histogram",
    "plot_scores",
    "plot_stability",
    "plot_two_answers",
    "plot_vat",
    "rank_diagram",
    "score_curve",
    "score_histogram",
    "stability_curve",
    "vat_picture",
]
