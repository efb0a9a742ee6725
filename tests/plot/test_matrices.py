"""Co-association and VAT: what the pictures hold, in which order, and what the title says."""

import numpy as np
import pytest

from consilience.ensemble import Ensemble
from consilience.errors import InvalidInputError, InvalidParameterError
from consilience.evidence import co_association, ivat, vat
from consilience.plot import co_association_picture, plot_co_association, plot_vat, vat_picture


def test_objects_stand_by_cluster(plt, three_groups):
    ensemble, labels = three_groups
    ax = plot_co_association(ensemble, labels)
    order = np.argsort(labels, kind="stable")
    wanted = co_association(ensemble)[np.ix_(order, order)]
    np.testing.assert_allclose(ax.images[0].get_array(), wanted, atol=1e-12)
    assert ax.images[0].get_clim() == (0, 1)
    lines = sorted(line.get_xdata()[0] for line in ax.lines if line.get_xdata()[1] != 1)
    assert lines == [30, 50]
    assert [text.get_text() for text in ax.get_yticklabels()] == ["0", "1", "2"]
    assert ax.get_title() == ""


def test_objects_in_no_cluster_come_last_under_that_name(three_groups):
    ensemble, labels = three_groups
    labels = np.where(labels == 0, -1, labels)
    shown = co_association_picture(ensemble, labels)
    assert shown.clusters == ("1", "2", "none")
    assert shown.edges.tolist() == [0, 20, 30, 60]
    np.testing.assert_array_equal(labels[shown.objects], np.repeat([1, 2, -1], [20, 10, 30]))


def test_names_of_clusters_are_shown(plt, three_groups):
    ensemble, labels = three_groups
    names = np.array(["ash", "birch", "oak"])[labels]
    ax = plot_co_association(ensemble, names)
    shown = [text.get_text() for text in ax.get_yticklabels()]
    assert sorted(shown) == ["ash", "birch", "oak"]
    assert shown[0] == names[0]


def test_without_labels_the_order_is_vat_s(three_groups):
    ensemble, _ = three_groups
    shown = co_association_picture(ensemble)
    order = vat(ensemble).order
    np.testing.assert_array_equal(shown.objects, order)
    np.testing.assert_allclose(
        shown.image, co_association(ensemble)[np.ix_(order, order)], atol=1e-12
    )


def test_matrix_and_ensemble_give_the_same_picture(three_groups):
    ensemble, labels = three_groups
    matrix = co_association(ensemble)
    before = matrix.copy()
    np.testing.assert_allclose(
        co_association_picture(matrix, labels).image, co_association_picture(ensemble, labels).image
    )
    np.testing.assert_array_equal(matrix, before)


def test_many_objects_are_averaged_and_the_title_says_so(plt, three_groups):
    ensemble, labels = three_groups
    ax = plot_co_association(ensemble, labels, max_size=20)
    order = np.argsort(labels, kind="stable")
    full = co_association(ensemble)[np.ix_(order, order)]
    means = full.reshape(20, 3, 20, 3).mean(axis=(1, 3))
    np.testing.assert_allclose(ax.images[0].get_array(), means, atol=1e-12)
    assert ax.get_title() == "a row is the mean of about 3 objects"
    assert ax.images[0].get_extent() == [0, 60, 60, 0]


def test_more_objects_are_sampled_cluster_by_cluster(plt, three_groups):
    ensemble, labels = three_groups
    shown = co_association_picture(ensemble, labels, max_objects=12)
    assert np.diff(shown.edges).tolist() == [6, 4, 2]
    assert plot_vat(ensemble, max_objects=12).get_title() == "12 of 60 objects shown"
    assert len(vat_picture(ensemble, max_objects=12).objects) == 12
    matrix = co_association(ensemble)
    part = co_association_picture(matrix, labels, max_objects=12)
    np.testing.assert_allclose(part.image, matrix[np.ix_(part.objects, part.objects)])


def test_many_clusters_have_no_names_that_meet(plt):
    labels = np.repeat(np.arange(80), 2)
    ax = plot_co_association(Ensemble([labels]), labels)
    assert not ax.lines
    assert not ax.get_xticklabels()
    labels = np.repeat(np.arange(1000, 1010), 5)
    ax = plot_co_association(Ensemble([labels]), labels)
    assert len(ax.get_yticklabels()) == 10
    assert not ax.get_xticklabels()


@pytest.mark.parametrize("kind", ["vat", "ivat"])
def test_vat_shows_distances_in_its_order(plt, three_groups, kind):
    ensemble, _ = three_groups
    order = vat(ensemble).order
    wanted = 1 - co_association(ensemble)[np.ix_(order, order)]
    if kind == "ivat":
        wanted = ivat(ensemble)
    ax = plot_vat(ensemble, kind=kind)
    np.testing.assert_allclose(ax.images[0].get_array(), wanted, atol=1e-12)
    np.testing.assert_allclose(ax.images[0].get_clim(), (0, wanted.max()))


def test_ivat_of_an_order_alone(three_groups):
    ensemble, _ = three_groups
    found = vat_picture(vat(ensemble), kind="ivat")
    np.testing.assert_allclose(found.image, ivat(ensemble))
    with pytest.raises(InvalidInputError, match="kind='ivat'"):
        vat_picture(vat(ensemble))


def test_one_object_and_equal_objects(plt):
    assert plot_co_association(Ensemble([[0]])).images[0].get_array().tolist() == [[1.0]]
    assert plot_vat(Ensemble([[0, 0, 0]])).images[0].get_array().max() == 0


def test_bad_input():
    ensemble = Ensemble([[0, 1, 1]])
    with pytest.raises(InvalidInputError, match=r"one label for each of the 3 objects\. Got 2"):
        co_association_picture(ensemble, [0, 1])
    with pytest.raises(InvalidInputError, match=r"Got shape \(2, 3\)"):
        co_association_picture(np.ones((2, 3)))
    with pytest.raises(InvalidInputError, match="For distances use plot_vat"):
        co_association_picture(np.array([[0.0, 1.0], [1.0, 0.0]]))
    with pytest.raises(InvalidInputError, match="unit diagonal"):
        co_association_picture(np.full((2, 2), np.nan))
    with pytest.raises(InvalidInputError, match="pass 1 - evidence"):
        vat_picture(np.eye(3))
    with pytest.raises(InvalidParameterError, match="'max_size' parameter of plot_vat"):
        vat_picture(ensemble, max_size=0)
    with pytest.raises(InvalidParameterError, match="'kind' parameter of plot_vat"):
        vat_picture(ensemble, kind="dark")
    with pytest.raises(InvalidParameterError, match="'missing' parameter of plot_co_association"):
        co_association_picture(ensemble, missing="some")
