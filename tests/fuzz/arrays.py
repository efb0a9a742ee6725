"""Data, ensembles and labelings as users might bring them, good and bad."""

from typing import Any

import numpy as np
from scipy import sparse

from consilience import Ensemble

__all__ = ["bad_data", "data", "ensemble", "label_table", "labeling", "one_of"]

Rng = np.random.Generator


def one_of(rng: Rng, *choices: Any) -> Any:
    """One of the choices, whatever they are."""
    return choices[int(rng.integers(len(choices)))]


def data(rng: Rng, n: int | None = None) -> Any:
    """Mostly tables of numbers, in many layouts and of many scales."""
    n = int(rng.integers(2, 41)) if n is None else n
    d = int(rng.integers(1, 6))
    X = rng.normal(size=(n, d)) + 4 * rng.integers(0, 3, (n, 1))
    form = one_of(rng, *_FORMS)
    return form(X, rng)


def bad_data(rng: Rng, n: int | None = None) -> Any:
    """Tables that should be refused, or endured."""
    n = int(rng.integers(2, 41)) if n is None else n
    X = rng.normal(size=(n, int(rng.integers(1, 4))))
    place = (int(rng.integers(n)), 0)
    odd = one_of(rng, *_ODD)
    return odd(X, place, rng)


def label_table(rng: Rng, n: int | None = None) -> Any:
    """Integers of n_objects x n_members with noise, unseen, holes, duplicates, huge k."""
    n = int(rng.integers(1, 41)) if n is None else max(n, 1)
    m = int(rng.integers(1, 9))
    k = int(one_of(rng, 1, 2, 3, 5, n, 3 * n))
    table = rng.integers(0, k, (n, m))
    if rng.random() < 0.5:  # planted groups, seen through noise
        truth = rng.integers(0, min(k, 4), n)
        table = np.where(rng.random((n, m)) < 0.7, truth[:, None], table)
    if rng.random() < 0.3:
        table[rng.random((n, m)) < rng.random()] = -1
    if rng.random() < 0.3:
        table[rng.random((n, m)) < rng.random()] = -2
    if rng.random() < 0.15:
        table[:] = table[0]
    if rng.random() < 0.15:
        table[:, :] = table[:, :1]
    if rng.random() < 0.1:
        table[table >= 0] += int(one_of(rng, 7, 2**20, 2**40))
    return table


def ensemble(rng: Rng, n: int | None = None) -> Ensemble:
    """An ensemble of any kind."""
    table = label_table(rng, n)
    return Ensemble(
        table, index=[f"o{i}" for i in range(len(table))] if rng.random() < 0.2 else None
    )


def labeling(rng: Rng, n: int) -> Any:
    """One labeling of n objects, in a form that may or may not be one."""
    codes = rng.integers(0, int(one_of(rng, 1, 2, 4, n)), n)
    if rng.random() < 0.2:
        codes[rng.random(n) < 0.3] = one_of(rng, -1, -2)
    form = one_of(rng, *_LABELINGS)
    return form(codes)


def _with(X: Any, place: tuple[int, int], value: float) -> Any:
    X = np.array(X)
    X[place] = value
    return X


def _read_only(X: Any) -> Any:
    X.flags.writeable = False
    return X


def _frame(X: Any) -> Any:
    import pandas

    return pandas.DataFrame(X, columns=[f"c{j}" for j in range(X.shape[1])])


_FORMS = (
    lambda X, rng: X,
    lambda X, rng: X,
    lambda X, rng: np.asfortranarray(X),
    lambda X, rng: _read_only(X),
    lambda X, rng: X[::-1],
    lambda X, rng: np.repeat(X, 2, axis=1)[:, ::2],
    lambda X, rng: X.astype(np.float32),
    lambda X, rng: X.astype(">f8"),
    lambda X, rng: (10 * X).astype(int),
    lambda X, rng: X > 2,
    lambda X, rng: X.tolist(),
    lambda X, rng: _frame(X),
    lambda X, rng: sparse.csr_array(np.where(X > 2, X, 0)),
    lambda X, rng: X.astype(object),
    lambda X, rng: np.round(np.abs(X)),
    lambda X, rng: X[np.zeros(len(X), int)],
    lambda X, rng: X[rng.integers(0, 2, len(X))],
    lambda X, rng: np.c_[X, np.full(len(X), 7.0)],
    lambda X, rng: X * 10.0 ** rng.integers(-12, 13),
    lambda X, rng: X * 10.0 ** rng.integers(-9, 10, X.shape[1]),
    lambda X, rng: X + 10.0 ** rng.integers(3, 13),
)
_ODD = (
    lambda X, at, rng: _with(X, at, np.nan),
    lambda X, at, rng: _with(X, at, np.inf),
    lambda X, at, rng: _with(X, at, -np.inf),
    lambda X, at, rng: _with(X, at, 1e308),
    lambda X, at, rng: X * 1e307,
    lambda X, at, rng: X * 1e160,
    lambda X, at, rng: X * 1e-160,
    lambda X, at, rng: X * 1e-310,
    lambda X, at, rng: _with(X, at, 5e-324),
    lambda X, at, rng: np.zeros_like(X),
    lambda X, at, rng: X[:1],
    lambda X, at, rng: X[:0],
    lambda X, at, rng: X[:, :0],
    lambda X, at, rng: X[:, 0],
    lambda X, at, rng: X[None],
    lambda X, at, rng: X.astype(str),
    lambda X, at, rng: X.astype(complex),
    lambda X, at, rng: np.array([["a", "b"]] * len(X)),
    lambda X, at, rng: np.array([[None] * 2] * len(X), object),
    lambda X, at, rng: [[1.0, 2.0], [3.0]],
    lambda X, at, rng: [],
    lambda X, at, rng: None,
    lambda X, at, rng: 5,
    lambda X, at, rng: "data.csv",
    lambda X, at, rng: {"a": 1},
    lambda X, at, rng: np.ma.masked_array(X, X > 0),
    lambda X, at, rng: sparse.coo_array(X),
    lambda X, at, rng: sparse.csr_array(X.shape),
    lambda X, at, rng: X.astype("datetime64[s]"),
    lambda X, at, rng: X.astype("V8"),
    lambda X, at, rng: _with(X.astype(object), at, 10**400),
)
_LABELINGS = (
    lambda codes: codes,
    lambda codes: codes,
    lambda codes: codes,
    lambda codes: codes.tolist(),
    lambda codes: codes.astype(float),
    lambda codes: codes.astype(np.int8),
    lambda codes: codes.astype(str),
    lambda codes: codes.astype(object),
    lambda codes: codes > 0,
    lambda codes: _read_only(codes),
    lambda codes: [None if c == 0 else f"g{c}" for c in codes],
    lambda codes: codes[:-1],
    lambda codes: codes[:0],
    lambda codes: codes[:, None],
    lambda codes: codes + 0.5,
    lambda codes: np.where(codes == 0, np.nan, codes),
    lambda codes: None,
    lambda codes: 3,
    lambda codes: "abc",
    lambda codes: [[c] for c in codes],
)
