"""How the members of an ensemble are made: in parallel, any clusterer as a member."""

from consilience.generate.checkpoint import ResumeError, RunFolder
from consilience.generate.clusterers import NJW, PAM, Linkage
from consilience.generate.combined import Combined, with_defaults
from consilience.generate.communities import CommunityEnsemble
from consilience.generate.defaults import GeneratorChoice, default_generator
from consilience.generate.distances import METRICS, DistanceEnsemble
from consilience.generate.estimators import EstimatorEnsemble
from consilience.generate.fuzzy import FuzzyCMeans
from consilience.generate.graphs import GraphEnsemble
from consilience.generate.kmeans import KMeansEnsemble
from consilience.generate.lac import LAC, LACEnsemble, LACRun
from consilience.generate.memberships import MembershipEnsemble
from consilience.generate.mixed import MixedEnsemble
from consilience.generate.models import Centres
from consilience.generate.recipes import (
    cosine_split_and_merge,
    fdc,
    full_ensemble,
    kmeans_ensemble,
    many_algorithms,
    minibatch_split_and_merge,
    odc,
    rcc,
    split_and_merge,
    woec,
)
from consilience.generate.uspec import USPEC, USPECEnsemble

__all__ = [
    "LAC",
    "METRICS",
    "NJW",
    "PAM",
    "USPEC",
    "Centres",
    "Combined",
    "CommunityEnsemble",
    "DistanceEnsemble",
    "EstimatorEnsemble",
    "FuzzyCMeans",
    "GeneratorChoice",
    "GraphEnsemble",
    "KMeansEnsemble",
    "LACEnsemble",
    "LACRun",
    "Linkage",
    "MembershipEnsemble",
    "MixedEnsemble",
    "ResumeError",
    "RunFolder",
    "USPECEnsemble",
    "cosine_split_and_merge",
    "default_generator",
    "fdc",
    "full_ensemble",
    "kmeans_ensemble",
    "many_algorithms",
    "minibatch_split_and_merge",
    "odc",
    "rcc",
    "split_and_merge",
    "with_defaults",
    "woec",
]
