"""The cluster-selection paper's table: base rows exactly, ensembles within 1.5 points."""

import os
from itertools import chain

import numpy as np
import pytest
from numba import config

from consilience.errors import InvalidInputError, InvalidParameterError
from consilience.experiments import Plan, conclude, selection
from consilience.experiments._cells import of, published
from consilience.experiments.selection import CRITERIA, LINKS, SETS, eeac_shares, eeac_table
from consilience.generate import KMeansEnsemble

pytestmark = pytest.mark.skipif(bool(config.DISABLE_JIT), reason="slow as plain Python")
needs_data = pytest.mark.skipif(
    "CONSILIENCE_DATA" not in os.environ,
    reason="set CONSILIENCE_DATA to the folder of the papers' data sets",
)


@needs_data
def test_base_rows_of_wine_glass_and_bupa_are_exact():
    cells = [*chain(*eeac_table(Plan(runs=1, sets=("Wine", "Glass", "Bupa"))))]
    for data in ("Wine", "Glass", "Bupa"):
        for link in LINKS:
            cell = of(cells, data=data, column=link)
            assert round(cell.measured, 2) == pytest.approx(cell.published, abs=1e-9)
            assert len(cell.values) == 1


@needs_data
def test_ensembles_and_selections_of_breast_and_wine_are_within_a_point_and_a_half():
    cells = [*chain(*eeac_table(Plan(runs=5, sets=("Breast", "Wine"))))]
    for data in ("Breast", "Wine"):
        for column in ("k-means", "k-means ensemble", "full ensemble", *CRITERIA):
            assert abs(of(cells, data=data, column=column).difference) <= 1.5, (data, column)
    assert of(cells, data="Wine", column="k-means").measured == pytest.approx(96.63, abs=5e-3)
    statements = [claim.statement for claim in conclude("eeac-table", cells)]
    assert len(statements) == 4


@needs_data
def test_the_plain_cut_leaves_objects_of_wine_uncovered():
    cells = next(eeac_shares(Plan(runs=2, sets=("Wine",))))
    covered, plain = (of(cells, row=row, column="20 %") for row in ("max", "max, plain cut"))
    assert covered.measured > 95
    assert plain.measured < 70
    assert {cell.column for cell in cells} >= {"5 %", "30 %", "100 %"}
    assert np.isnan(covered.published)


def test_published_figures_are_those_of_the_table():
    figures = published("eeac")
    assert {data for _, data, _, _ in figures} == set(SETS)
    assert len(figures) == 5 * 8
    assert figures["1", "Wine", "accuracy", "selection by max"][0] == 97.44


def test_unknown_sets_and_missing_folders_are_refused(monkeypatch):
    monkeypatch.delenv("CONSILIENCE_DATA", raising=False)
    with pytest.raises(InvalidParameterError, match="Got 'Moon'"):
        next(eeac_table(Plan(sets=("Moon",))))
    with pytest.raises(InvalidInputError, match="No data folder is known"):
        next(eeac_table(Plan(sets=("Wine",))))


def test_every_k_means_ends_with_single_objects(monkeypatch):
    X = np.random.default_rng(0).normal(size=(24, 2))
    sample = (X, np.arange(24) % 2, 2)
    generate, seen = KMeansEnsemble.generate, []

    def watched(self, *args, **kwargs):
        seen.append(self.online)
        return generate(self, *args, **kwargs)

    monkeypatch.setattr(selection, "_read", lambda name, data_home: sample)
    monkeypatch.setattr(KMeansEnsemble, "generate", watched)
    selection._one_run("wine", None, seed=0, parts=("all",))
    assert len(seen) >= 4
    assert all(seen)


def test_runs_share_no_stream_and_the_columns_of_the_paper_cover_three_times(monkeypatch):
    sample = (np.random.default_rng(0).normal(size=(24, 2)), np.arange(24) % 2, 2)
    seeds, asked = [], []
    generate, selected = KMeansEnsemble.generate, selection._selected

    def watched(self, *args, **kwargs):
        seeds.append((self.random_state, self.n_members))
        return generate(self, *args, **kwargs)

    def noted(sample, full, reference, criterion, share, min_cover):
        asked.append((criterion, share, min_cover))
        return selected(sample, full, reference, criterion, share, min_cover)

    monkeypatch.setattr(selection, "_read", lambda name, data_home: sample)
    monkeypatch.setattr(KMeansEnsemble, "generate", watched)
    monkeypatch.setattr(selection, "_selected", noted)
    selection._one_run("wine", None, seed=0, parts=("all",))
    # Neither k-means alone nor the references are members of any run of thousands.
    (alone,) = (seed for seed, size in seeds if size == 1)
    (again,) = (seed for seed, size in seeds if size == selection.N_REFERENCES and seed >= 2**16)
    assert min(alone, again) >= 2**16
    assert abs(alone - again) >= 2**16
    names = CRITERIA.values()
    assert sorted(asked) == sorted((name, 0.33, cover) for name in names for cover in (0, 3))
    asked.clear()
    selection._one_run_of_shares("wine", None, seed=0, parts=("all",))
    assert {(criterion, cover) for criterion, _, cover in asked} == {("max", 0), ("max", 3)}
