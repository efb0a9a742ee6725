"""Small parts of the report at their limits: what is listed, named, drawn and left out."""

import base64
from importlib import import_module
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

from consilience import report
from consilience.ensemble import Ensemble
from consilience.errors import InvalidInputError
from consilience.report._choices import _largest
from consilience.report._figures import matrix
from consilience.report._objects import identifiers, known_truth, number_column
from consilience.report._plane import plane_of_data, plane_of_ensemble, plane_of_kernel
from consilience.report._profile import _chance
from consilience.report._thin import thinned

report_minority = import_module("consilience.report.minority")


@pytest.mark.parametrize(
    ("p", "shown"), [(0.0, "< 0.001"), (0.00099, "< 0.001"), (0.001, 0.001), (0.5, 0.5)]
)
def test_very_small_chances_are_below_a_thousandth(p, shown):
    assert _chance({"p_corrected": [p]}, 0) == shown


def test_a_chance_that_nobody_knows_is_none():
    assert _chance({"p_corrected": [np.nan]}, 0) is None


def test_as_many_groups_as_there_is_room_for_are_all_listed():
    codes, names = np.array([0, 0, 2, 2, 2, 3]), ["a", "b", "c", "d"]
    place, found = _largest(codes, names, 3, "others")
    assert (place.tolist(), found) == ([0, 0, 1, 1, 1, 2], ["a", "c", "d"])
    place, found = _largest(codes, names, 2, "others")
    assert (place.tolist(), found) == ([1, 1, 0, 0, 0, 1], ["c", "others (2)"])


def test_shades_run_from_zero_to_one_unless_told():
    def shades(**how):
        made = matrix(np.array([[0.0, 0.5], [1.0, 2.0]]), **how)
        return list(base64.b64decode(made["values"])), made["low"], made["high"]

    assert shades() == ([0, 128, 255, 255], 0.0, 1.0)
    assert shades(low=1.0, high=2.0) == ([0, 0, 0, 255], 1.0, 2.0)


@pytest.mark.parametrize(
    ("width", "columns", "labels"),
    [
        (1, (), ("feature 0", "random height, means nothing")),
        (1, ("length",), ("length", "random height, means nothing")),
        (1, ("length", "width"), ("length", "random height, means nothing")),
        (2, (), ("feature 0", "feature 1")),
        (2, ("length",), ("length", "feature 1")),
        (2, ("length", "width"), ("length", "width")),
    ],
)
def test_axes_have_the_names_of_columns_that_are_drawn_as_they_are(width, columns, labels):
    X = np.random.default_rng(0).normal(size=(10, width))
    plane = plane_of_data(X, np.arange(10), columns)
    assert (plane.xlabel, plane.ylabel) == labels
    if columns and len(columns) == width:
        framed = plane_of_data(pd.DataFrame(X, columns=list(columns)), np.arange(10))
        assert (framed.xlabel, framed.ylabel) == labels


def test_components_are_not_called_by_columns():
    X = np.random.default_rng(0).normal(size=(10, 3))
    plane = plane_of_data(X, np.arange(10), ("a", "b", "c"))
    assert not {"a", "b", "c"} & {plane.xlabel, plane.ylabel}


def test_objects_joined_by_all_lie_side_by_side():
    """Moved a little, so that none hides another; who saw fewer objects weighs as much."""
    ensemble = Ensemble(np.array([[0, 0], [0, 0], [1, 1], [1, -2], [1, 1]]))
    places = plane_of_ensemble(ensemble, 0).places
    apart = abs(places[0, 0] - places[2, 0])
    assert abs(places[0, 0] - places[1, 0]) < 0.2 * apart
    assert abs(places[2, 0] - places[3, 0]) < 0.4 * apart
    assert len(np.unique(places, axis=0)) == 5
    np.testing.assert_array_equal(places, plane_of_ensemble(ensemble, 0).places)
    assert (places != plane_of_ensemble(ensemble, 1).places).any()


def test_numbers_have_three_places_unless_told():
    assert number_column("x", np.array([0.12345]))["values"] == [0.123]
    assert number_column("x", np.array([0.12345]), 4)["values"] == [0.1235]


def test_half_of_the_places_of_a_group_go_to_those_that_come_first():
    labels = np.repeat([0, 1], 100)
    first = np.full(200, -np.inf)
    first[50:90], first[190:] = np.arange(40), 1.0
    kept = thinned(labels, 20, first=first)
    assert len(kept) == 20
    # Ten places a group: five of them for the largest values, five by chance.
    assert set(range(85, 90)) <= set(kept.tolist())
    assert len(set(kept.tolist()) & set(range(190, 200))) >= 5
    np.testing.assert_array_equal(kept, thinned(labels, 20, first=first, seed=0))
    assert thinned(labels, 200).tolist() == list(range(200))


def test_small_groups_that_cannot_be_drawn_have_no_picture(monkeypatch):
    def refuse(*_):
        raise InvalidInputError("The data cannot be drawn: they are words.\nMore.")

    monkeypatch.setattr(report_minority, "_plane", refuse)
    notes = []
    shown = SimpleNamespace(objects=np.arange(3))
    found = report_minority._view(None, None, shown, (), notes)
    assert (found["id"], found["title"], found["figure"]) == ("objects", "The objects", None)
    assert notes == ["There is no view of the objects: they are words."]


def test_identifiers_are_taken_by_place_whatever_holds_them():
    wanted = ["b", "c"]
    for ids in (
        ["a", "b", "c"],
        pd.Series(["a", "b", "c"], index=[7, 5, 0]),
        np.array(list("abc")),
    ):
        assert identifiers(ids, 3, np.array([1, 2]))["values"] == wanted
    numbers = identifiers(pd.Series([4, 5, 6], index=[2, 0, 1]), 3, np.array([0, 2]))
    assert (numbers["kind"], numbers["values"]) == ("number", [4, 6])
    named = known_truth(pd.Series(["x", "y", "x"], index=[9, 1, 0]), 3)
    assert (named.names, named.codes.tolist()) == (("x", "y"), [0, 1, 0])


def test_the_names_of_the_reports_are_listed():
    assert dir(report) == sorted(report.__all__)


@pytest.mark.parametrize("kernel", [np.ones((2, 3)), [[1.0, np.nan], [0.0, 1.0]], [[1.0, 2.0]]])
def test_a_kernel_is_a_square_of_finite_numbers(kernel):
    with pytest.raises(InvalidInputError, match="square matrix of finite numbers"):
        plane_of_kernel(kernel)


def test_two_objects_have_a_plane_and_one_has_a_point():
    plane = plane_of_kernel(np.array([[1.0, 0.2], [0.2, 1.0]]))
    assert abs(plane.places[0, 0] - plane.places[1, 0]) == pytest.approx(np.sqrt(1.6))
    assert plane_of_kernel(np.ones((1, 1))).places.tolist() == [[0, 0]]
