"""Two answers beside each other, as a picture."""

import numpy as np

from consilience import compare_results
from consilience.plot import plot_two_answers


def test_cells_are_as_dark_as_their_share_of_the_row():
    ax = plot_two_answers(compare_results([0, 0, 0, 0, 1, 1], [0, 0, 0, 1, 1, 1]))
    np.testing.assert_allclose(ax.images[0].get_array(), [[0.75, 0.25], [0, 1]])
    assert ax.images[0].get_clim() == (0, 1)
    assert [text.get_text() for text in ax.texts] == ["3", "1", "2"]
    assert [text.get_color() for text in ax.texts] == ["white", "0.15", "white"]
