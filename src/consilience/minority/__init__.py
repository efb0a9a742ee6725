"""Minority clustering: the few dense groups in a majority of noise."""

from consilience.minority import consistency, divergences, thresholds, weak
from consilience.minority.bubbles import BBOCC, BBCPress
from consilience.minority.dgrade import DGRADE
from consilience.minority.ewocs import EWOCS
from consilience.minority.grams import GRAMS
from consilience.minority.hds import AutoHDS
from consilience.minority.kmd import KMD
from consilience.minority.scores import score_objects
from consilience.minority.soft_bubbles import SoftBBC
from consilience.minority.tuning import tune_gaussian

__all__ = [
    "BBOCC",
    "DGRADE",
    "EWOCS",
    "GRAMS",
    "KMD",
    "AutoHDS",
    "BBCPress",
    "SoftBBC",
    "consistency",
    "divergences",
    "score_objects",
    "thresholds",
    "tune_gaussian",
    "weak",
]
