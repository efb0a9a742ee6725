"""Sorted stability: the points are the clusters, their groups the selection."""

import numpy as np
import pytest

from consilience.errors import InvalidInputError, InvalidParameterError
from consilience.evidence import cluster_stability, select_clusters
from consilience.plot import plot_stability, stability_curve


def test_groups_are_those_of_the_selection(plt, three_groups):
    ensemble, _ = three_groups
    stability = cluster_stability(ensemble)
    selection = select_clusters(ensemble, stability, top=0.1)
    shown = stability_curve(stability, selection)
    np.testing.assert_array_equal(shown.stability, stability[shown.clusters])
    assert (np.diff(shown.stability) <= 0).all()
    np.testing.assert_array_equal(shown.kept, selection.kept[shown.clusters])
    ax = plot_stability(stability, selection)
    points = np.concatenate([drawn.get_offsets() for drawn in ax.collections])
    np.testing.assert_allclose(points[np.argsort(points[:, 0]), 1], shown.stability)
    counts = {
        drawn.get_label().partition(":")[0]: len(drawn.get_offsets()) for drawn in ax.collections
    }
    assert counts.get("added to cover objects", 0) == selection.n_added
    assert counts["kept"] == selection.n_kept - selection.n_added
    assert ax.lines[0].get_ydata()[0] == selection.cut


def test_without_a_selection_a_plain_line(plt):
    ax = plot_stability([0.2, 0.9, 0.5])
    assert ax.lines[0].get_ydata().tolist() == [0.9, 0.5, 0.2]
    assert ax.get_legend() is None


def test_bad_input(three_groups):
    ensemble, _ = three_groups
    stability = cluster_stability(ensemble)
    with pytest.raises(InvalidInputError, match="one number for each cluster"):
        stability_curve([])
    with pytest.raises(InvalidInputError, match="one number for each cluster"):
        stability_curve(["a"])
    with pytest.raises(InvalidInputError, match="finite stabilities"):
        stability_curve([0.1, np.nan])
    with pytest.raises(InvalidParameterError, match="what select_clusters returned"):
        stability_curve(stability, 0.5)
    with pytest.raises(InvalidParameterError, match="for the same 3 clusters"):
        stability_curve(stability[:3], select_clusters(ensemble, stability))
