"""Minority clustering: the few dense groups in a majority of noise."""

from consilience.minority import consistency, divergences, references, thresholds, weak
from consilience.minority._expected import EXPECTED_FAILED_CHECKS
from consilience.minority._reference import Reference
from consilience.minority.bubbles import BBOCC, BBCPress, bbc, bbcpress, bbocc, hocc
from consilience.minority.dgrade import DGRADE
from consilience.minority.ewocs import EWOCS
from consilience.minority.grams import GRAMS, GramsResult
from consilience.minority.hds import AutoHDS, autohds
from consilience.minority.kmd import KMD
from consilience.minority.scores import score_objects
from consilience.minority.soft_bubbles import SoftBBC, softbbc
from consilience.minority.tuning import GaussianTuning, tune_gaussian

__all__ = [
    "BBOCC",
    "DGRADE",
    "EWOCS",
    "EXPECTED_FAILED_CHECKS",
    "GRAMS",
    "KMD",
    "AutoHDS",
    "BBCPress",
    "GaussianTuning",
    "GramsResult",
    "Reference",
    "SoftBBC",
    "autohds",
    "bbc",
    "bbcpress",
    "bbocc",
    "consistency",
    "divergences",
    "hocc",
    "references",
    "score_objects",
    "softbbc",
    "thresholds",
    "tune_gaussian",
    "weak",
]
