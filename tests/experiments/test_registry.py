"""The table of experiments: what is not said of one, and what an empty plan asks for."""

import pytest

from consilience.experiments import Plan, _registry, selection, woec
from consilience.experiments._registry import EXPERIMENTS, experiment


def test_an_experiment_needs_data_and_keeps_no_runs_unless_it_says_so(monkeypatch):
    monkeypatch.setattr(_registry, "EXPERIMENTS", {})

    @experiment("mine", title="Table 0", paper="None")
    def run(plan):
        return []

    (found,) = _registry.EXPERIMENTS.values()
    assert (found.name, found.run, found.title, found.paper) == ("mine", run, "Table 0", "None")
    assert (found.needs_data, found.keeps_runs) == (True, False)
    assert (found.judge, found.remarks, found.columns) == (None, (), ())


@pytest.mark.parametrize(
    ("module", "name", "sizes"),
    [
        (woec, "woec-table2", {"R=40"}),
        (woec, "woec-table3", {"R=40"}),
        (woec, "woec-table4", {"R=20", "R=40", "R=60"}),
        (woec, "woec-table5", {"R=20", "R=40", "R=60"}),
        (selection, "eeac-table", {""}),
        (selection, "eeac-shares", {""}),
    ],
)
def test_an_empty_plan_asks_for_the_sizes_of_the_paper_and_twenty_runs(
    module, name, sizes, monkeypatch
):
    asked = []

    def noted(plan, table, works):
        assert table == name
        asked.extend(works)
        return iter(())

    monkeypatch.setattr(module, "groups_of_runs", noted)
    assert [*EXPERIMENTS[name].run(Plan())] == []
    assert {work.setting for work in asked} == sizes
    # What the setting says is what is made.
    assert all(not work.setting or int(work.setting[2:]) in work.args for work in asked)
    for data in {work.data for work in asked}:
        for size in sizes:
            seeds = [w.seed for w in asked if (w.data, w.setting) == (data, size)]
            assert seeds == [*range(20)]
