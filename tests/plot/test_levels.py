"""The tree over the number of groups, as a picture."""

import numpy as np
import pytest

import consilience as cs
from consilience.consensus import levels
from consilience.errors import InvalidInputError
from consilience.plot import plot_levels


def test_every_group_and_every_split_is_drawn():
    labels = np.repeat(np.arange(4), [4, 3, 2, 1])
    found = levels(cs.Ensemble([labels, labels // 2, labels // 3]), labels)
    ax = plot_levels(found)
    words = [text.get_text() for text in ax.texts]
    assert {f"group {g}\n{n}" for g, n in enumerate([4, 3, 2, 1])} <= set(words)
    assert sum(word.startswith("stability") for word in words) == 3
    assert [text.get_text() for text in ax.get_yticklabels()][-1] == "4 groups"


def test_one_group_is_drawn_too():
    ax = plot_levels(levels(cs.Ensemble([[0, 1, 0]]), [0, 0, 0]))
    assert "group 0\n3" in [text.get_text() for text in ax.texts]


def test_something_else_is_refused():
    with pytest.raises(InvalidInputError, match="Got int instead"):
        plot_levels(3)
