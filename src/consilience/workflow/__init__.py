"""Whole jobs: data in, one result out that can be looked at, tabled and reported.

`cluster`, `minority_groups` and `ambiguous_objects` do what the commands of the same names do; the
command line calls them and computes nothing itself.
"""

from consilience.workflow._kept import load
from consilience.workflow._methods import method_table
from consilience.workflow.ambiguity import AmbiguityResult, ambiguous_objects
from consilience.workflow.cluster_result import ClusterResult
from consilience.workflow.clusters import cluster
from consilience.workflow.doctor import Diagnosis, doctor
from consilience.workflow.graphs import GraphResult, cluster_graph
from consilience.workflow.large import LargeResult
from consilience.workflow.large_minority import LargeMinorityResult
from consilience.workflow.minority import MinorityResult, minority_groups
from consilience.workflow.result import Result
from consilience.workflow.two_answers import TwoAnswers, compare_results

__all__ = [
    "AmbiguityResult",
    "ClusterResult",
    "Diagnosis",
    "GraphResult",
    "LargeMinorityResult",
    "LargeResult",
    "MinorityResult",
    "Result",
    "TwoAnswers",
    "ambiguous_objects",
    "cluster",
    "cluster_graph",
    "compare_results",
    "doctor",
    "load",
    "method_table",
    "minority_groups",
]
