"""Which rule places new objects: the groups, unless neighbours give more of the labels back."""

from types import SimpleNamespace

import numpy as np
import pytest

from consilience.predict import _learn


@pytest.mark.parametrize(
    ("back", "nearest", "rule", "asked"),
    [
        (50, 0, "groups", False),
        (49, 50, "groups", False),  # 98 % are enough
        (48, 49, "nearest", True),
        (48, 48, "groups", True),  # no more than the groups give
        (48, 10, "groups", True),
    ],
)
def test_neighbours_are_asked_where_groups_give_too_few_labels_back(
    back, nearest, rule, asked, monkeypatch
):
    some = np.arange(50)
    labels = np.r_[np.zeros(50, int), 1]
    # Of the neighbours so many have the object's own label, the others that of the last object.
    found = SimpleNamespace(objects=np.where(some < nearest, some, 50))
    monkeypatch.setattr(_learn, "_by_groups", lambda *given: some < back)
    monkeypatch.setattr(_learn, "_left_out", lambda X, objects: found)
    members = np.zeros((2, 51), int)
    taken = _learn._rule(None, members, np.array([0, 1]), labels, None, None, some)
    assert taken == (rule, found if asked else None)
