"""The settings of the walks of PTA and PTGP, memory to the byte, and what is handed on."""

import inspect

import numpy as np
import pytest

from consilience import Ensemble
from consilience.consensus import path_based, pta, ptgp
from consilience.consensus._rows import distinct_rows
from consilience.errors import ConsilienceWarning, MemoryBudgetError


def alone(u):
    """As many label rows, all but the first two with a cluster of their own."""
    return distinct_rows(Ensemble([np.arange(u), np.maximum(np.arange(u) - 1, 0)]))


class NoLinks:
    """Stands in for the matrix of pairs, which takes its time on many rows."""

    def __init__(self, ensemble, *, missing):
        assert missing == "pair"

    def rows(self, start, stop):
        return np.empty((stop - start, 0))


def test_walks_take_forty_bytes_a_pair_of_rows():
    path_based.row_paths(alone(3), 1, 1, "pair", 360)
    with pytest.raises(MemoryBudgetError, match=r"of 3 distinct objects take 3\.35e-07 GiB"):
        path_based.row_paths(alone(3), 1, 1, "pair", 359)


@pytest.mark.parametrize(("u", "usual"), [(2, 1), (15, 1), (16, 2), (36, 3), (1764, 20)])
def test_the_published_settings_are_half_a_root_from_1_to_20(u, usual, monkeypatch):
    monkeypatch.setattr(path_based, "path_similarity", lambda *given: given)
    monkeypatch.setattr(path_based, "CoAssociation", NoLinks)
    given, took = path_based.row_paths(alone(u), None, None, "pair", 2**40)
    assert took == {"n_neighbors": usual, "n_steps": usual}
    assert given[2:] == (usual, usual)


@pytest.mark.parametrize("method", [pta, ptgp])
def test_what_is_usual_without_a_word(method):
    defaults = {p.name: p.default for p in inspect.signature(method).parameters.values()}
    names = ("n_neighbors", "n_steps", "missing", "min_rows", "max_memory")
    assert [defaults[name] for name in names] == [20, 20, "pair", 50, "4 GiB"]


def test_fewer_rows_than_the_least_are_told_from_as_many():
    ensemble = Ensemble([np.arange(6), np.arange(6) // 2])
    with pytest.warns(ConsilienceWarning, match="tell only 6 groups"):
        assert pta(ensemble, 2, min_rows=7).solver == "eac"
    assert pta(ensemble, 2, min_rows=6).solver == "linkage"
