"""Answers equal the figures that `explain` and the members give."""

import numpy as np
import pytest

from consilience.errors import InvalidParameterError
from consilience.evidence import co_association
from consilience.explain._objects import votes
from consilience.explore import groups_inside, special, view, why


@pytest.fixture(scope="module")
def shown(result):
    return view(result)


def test_what_is_special_of_a_group_is_what_its_profile_says(shown, result):
    lines = special(shown, np.flatnonzero(result.labels == 2))
    assert lines[0]["column"] in ("c0", "c1", "c3")
    own = shown.columns.numbers[result.labels == 2, 0]
    rest = shown.columns.numbers[result.labels != 2, 0]
    delta = np.sign(own[:, None] - rest[None]).mean()
    line = next(one for one in lines if one["column"] == "c0")
    assert line["effect"] == pytest.approx(delta)
    assert line["low"] <= line["effect"] <= line["high"]
    assert (line["here"], line["rest"]) == pytest.approx((np.median(own), np.median(rest)))


def test_lines_come_by_how_sure_they_are(shown, result):
    lines = special(shown, np.flatnonzero(result.labels == 0))
    sure = [max(0, line["low"], -line["high"]) for line in lines]
    assert sure == sorted(sure, reverse=True)


def test_nothing_is_special_of_nobody_and_of_all(shown):
    assert special(shown, []) == []
    assert special(shown, np.arange(240)) == []


def test_groups_inside_a_selection_are_counted(shown, result):
    some = np.arange(50)
    said = groups_inside(shown, some)
    assert sum(one["inside"] for one in said["groups"]) == said["n_objects"] == 50
    for one in said["groups"]:
        assert one["inside"] == (result.labels[:50] == one["group"]).sum()
        assert one["size"] == (result.labels == one["group"]).sum()
    assert said["confidence"] == pytest.approx(result.confidence[:50].mean())
    assert len(groups_inside(shown, some, 1)["groups"]) == 1


@pytest.mark.parametrize("row", [0, 33, 239])
def test_members_for_and_against_are_those_of_the_votes(shown, result, row):
    said = why(shown, row)
    wanted = votes(result.ensemble, result.labels.astype(np.int64), 4, np.array([row]))
    counts = [said["votes"].count(group) for group in range(4)]
    assert counts == wanted.groups[0].tolist()
    assert said["votes"].count(-1) == wanted.undecided[0]
    assert said["votes"].count(-3) == wanted.unseen[0]
    assert said["group"] == result.labels[row]


def test_the_nearest_have_the_largest_co_association(shown, result):
    said = why(shown, 7)
    row = co_association(result.ensemble)[7].copy()
    row[7] = -1
    best = np.sort(row)[::-1][:10]
    assert [one["together"] for one in said["nearest"]] == pytest.approx(best.tolist())
    assert all(one["together"] == pytest.approx(row[one["row"]]) for one in said["nearest"])


@pytest.mark.parametrize("rows", [[240], [-1], [0.5], [[1, 2]]])
def test_rows_that_are_none_are_refused(shown, rows):
    with pytest.raises(InvalidParameterError, match="selection"):
        special(shown, np.array(rows))
