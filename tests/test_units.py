"""Columns of any unit: what is taken out of them, and from where on it is."""

import numpy as np
import pytest
from scipy import sparse

from consilience._units import check_range, exponents, squarable, without_unit
from consilience.errors import InvalidInputError


def test_every_column_is_divided_by_the_power_of_two_above_it():
    X = np.array([[3.0, -0.5, 0.0, 1e300], [-8.0, 0.25, 0.0, -1e-300]])
    powers = exponents(X)
    assert powers.tolist() == [4, 0, 0, 997]
    np.testing.assert_array_equal(without_unit(X, powers), X / 2.0**powers)
    for form in (sparse.csr_array, sparse.csr_matrix):
        assert exponents(form(X)).tolist() == powers.tolist()
        np.testing.assert_array_equal(without_unit(form(X), powers).toarray(), X / 2.0**powers)
    assert exponents(X[:1]).tolist() == [2, 0, 0, 997]
    assert exponents(X[:0]).tolist() == [0, 0, 0, 0]
    assert exponents(X[:, :1]).tolist() == [4]


@pytest.mark.parametrize(("kind", "most"), [(np.float64, 300), (np.float32, 40)])
@pytest.mark.parametrize("sign", [1, -1])
def test_data_are_scaled_only_where_their_squares_leave_the_range(kind, most, sign):
    """A number has the power n where it is at least 2**(n - 1) and below 2**n."""
    for power, unit in (
        (most, 0),
        (most + 1, most + 1),
        (-most, 0),
        (-most - 1, -most - 1),
    ):
        X = np.array([[sign * 2.0 ** (power - 1), 0.0]], kind)
        for given in (X, sparse.csr_array(X)):
            scaled, found = squarable(given)
            assert found == unit
            assert (scaled is given) == (unit == 0)
            values = scaled if given is X else scaled.toarray()
            np.testing.assert_array_equal(values, [[sign * 0.5, 0.0]] if unit else X)
            assert values.dtype == kind


@pytest.mark.parametrize("kind", [np.float64, np.float32])
@pytest.mark.parametrize("shape", [(1, 1), (3, 1), (1, 3)])
def test_the_range_of_squares_has_two_ends(kind, shape):
    info = np.finfo(kind)
    most = kind(np.ldexp(np.sqrt(float(info.max)), -12))
    least = kind(np.ldexp(np.sqrt(float(info.tiny)), 12))
    for value in (most, least, -most, -least, kind(0), kind(1)):
        check_range(np.full(shape, value, kind), owner="Me")
    check_range(np.full(shape, most, kind) * [[1]] * (np.arange(shape[1]) == 0), owner="Me")
    for value in (2 * most, least / 2, -2 * most, -least / 2):
        with pytest.raises(InvalidInputError, match=r"^The largest value of seeds is .*: Me needs"):
            check_range(np.full(shape, value, kind), owner="Me", what="seeds")
    for empty in ((0, 3), (3, 0)):
        check_range(np.zeros(empty, kind), owner="Me")
