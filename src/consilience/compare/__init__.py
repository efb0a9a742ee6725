"""Methods against methods over many data sets: measures, ranks, tests, diagrams."""

from consilience.compare.bergmann_hommel import PairTest, PairwiseTests, adjust, bergmann_hommel
from consilience.compare.foreground import (
    Curve,
    ForegroundScores,
    auc,
    hard_auc,
    precision_recall_curve,
    precision_recall_f1,
    roc_curve,
)
from consilience.compare.paired import PairedTest, paired
from consilience.compare.rank_diagram import RankBars, rank_bars, rank_diagram, rank_text
from consilience.compare.ranks import Ranks, ranks, ranks_from_means
from consilience.compare.several import Comparison, against_truth, compare_methods

__all__ = [
    "Comparison",
    "Curve",
    "ForegroundScores",
    "PairTest",
    "PairedTest",
    "PairwiseTests",
    "RankBars",
    "Ranks",
    "adjust",
    "against_truth",
    "auc",
    "bergmann_hommel",
    "compare_methods",
    "hard_auc",
    "paired",
    "precision_recall_curve",
    "precision_recall_f1",
    "rank_bars",
    "rank_diagram",
    "rank_text",
    "ranks",
    "ranks_from_means",
    "roc_curve",
]
