"""From an ensemble to one clustering: the methods, and the table of them."""

from consilience.consensus._clarity import Clarity
from consilience.consensus._registry import CONSENSUS, Method
from consilience.consensus._solve import ConsensusResult
from consilience.consensus.accumulation import EAC, EACResult, eac
from consilience.consensus.ambiguity_aware import AmbiguityAware
from consilience.consensus.auto import Alternative, AutoConsensus, autoconsensus
from consilience.consensus.baum_eagon import BaumEagon, baumeagon
from consilience.consensus.bipartite import HBGF, hbgf
from consilience.consensus.communities import Communities, communities
from consilience.consensus.completion import ECMC, ecmc
from consilience.consensus.correlation import (
    CorrelationClustering,
    correlation_cost,
    correlationclustering,
)
from consilience.consensus.defaults import MethodChoice, default_method
from consilience.consensus.dyadic import DyadicAspect, dyadicaspect
from consilience.consensus.factorisation import WCC, NMFConsensus, nmfconsensus, wcc
from consilience.consensus.graph import CSPA, HGPA, cspa, hgpa
from consilience.consensus.kmeans_forms import KCC, SEC, kcc, sec
from consilience.consensus.large import BlockConsensus, combine_blocks
from consilience.consensus.levels import Levels, Split, levels
from consilience.consensus.links import ASRS, CTS, SRS, asrs, cts, srs
from consilience.consensus.locally_weighted import LWEA, LWGP, lwea, lwgp
from consilience.consensus.metacluster import MCLA, mcla
from consilience.consensus.mixtures import BCE, MixtureConsensus, bce, mixtureconsensus
from consilience.consensus.monti import MontiConsensus, MontiResult, monticonsensus
from consilience.consensus.number import Criterion, NumberChoice, choose_n_clusters
from consilience.consensus.path_based import PTA, PTGP, pta, ptgp
from consilience.consensus.peace import PEACE, peace
from consilience.consensus.propagated import ECPCSHC, ECPCSMC, ecpcshc, ecpcsmc
from consilience.consensus.refinement import Refined, refine
from consilience.consensus.selected import EEAC, eeac
from consilience.consensus.self_enhanced import ECCMS, eccms
from consilience.consensus.soft import WOHB, WOSP, wohb, wosp
from consilience.consensus.subspace import WBPA, WSPA, wbpa, wspa
from consilience.consensus.supra import SupraConsensus, supraconsensus
from consilience.consensus.usenc import USENC, usenc
from consilience.consensus.voting import CumulativeVoting, Voting, cumulativevoting, voting
from consilience.consensus.weighted import WOMC, WOKMeans, wokmeans, womc

__all__ = [
    "ASRS",
    "BCE",
    "CONSENSUS",
    "CSPA",
    "CTS",
    "EAC",
    "ECCMS",
    "ECMC",
    "ECPCSHC",
    "ECPCSMC",
    "EEAC",
    "HBGF",
    "HGPA",
    "KCC",
    "LWEA",
    "LWGP",
    "MCLA",
    "PEACE",
    "PTA",
    "PTGP",
    "SEC",
    "SRS",
    "USENC",
    "WBPA",
    "WCC",
    "WOHB",
    "WOMC",
    "WOSP",
    "WSPA",
    "Alternative",
    "AmbiguityAware",
    "AutoConsensus",
    "BaumEagon",
    "BlockConsensus",
    "Clarity",
    "Communities",
    "ConsensusResult",
    "CorrelationClustering",
    "Criterion",
    "CumulativeVoting",
    "DyadicAspect",
    "EACResult",
    "Levels",
    "Method",
    "MethodChoice",
    "MixtureConsensus",
    "MontiConsensus",
    "MontiResult",
    "NMFConsensus",
    "NumberChoice",
    "Refined",
    "Split",
    "SupraConsensus",
    "Voting",
    "WOKMeans",
    "asrs",
    "autoconsensus",
    "baumeagon",
    "bce",
    "choose_n_clusters",
    "combine_blocks",
    "communities",
    "correlation_cost",
    "correlationclustering",
    "cspa",
    "cts",
    "cumulativevoting",
    "default_method",
    "dyadicaspect",
    "eac",
    "eccms",
    "ecmc",
    "ecpcshc",
    "ecpcsmc",
    "eeac",
    "hbgf",
    "hgpa",
    "kcc",
    "levels",
    "lwea",
    "lwgp",
    "mcla",
    "mixtureconsensus",
    "monticonsensus",
    "nmfconsensus",
    "peace",
    "pta",
    "ptgp",
    "refine",
    "sec",
    "srs",
    "supraconsensus",
    "usenc",
    "voting",
    "wbpa",
    "wcc",
    "wohb",
    "wokmeans",
    "womc",
    "wosp",
    "wspa",
]
