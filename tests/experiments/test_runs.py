"""Runs that are divided, kept and put together give the figures of one undivided run."""

import json
import os
import shutil
import sys
import warnings

import pytest
from threadpoolctl import threadpool_info, threadpool_limits

from consilience.errors import ConsilienceWarning, InvalidInputError
from consilience.experiments import EXPERIMENTS, Plan, ewocs_convergence, relations
from consilience.experiments._ewocs_runs import cells_of, kept, setting_of
from consilience.experiments._runs import Work, groups_of_runs, seeds

PARTS = ("low", "high")


def make(name, *, seed, parts):
    """Figures that depend on the data set, the seed and the part."""
    found = {"low": {("row", "low"): seed + len(name) / 7}}
    found["high"] = {("row", "high"): 10 * seed + 1 / 3, ("row", "top"): float("nan")}
    return {part: found[part] for part in parts}


def where(name, *, seed, parts):
    """The process of a run, and the threads its linear algebra may have."""
    threads = max([pool["num_threads"] for pool in threadpool_info()], default=1)
    return {"all": {("row", "process"): float(os.getpid()), ("row", "threads"): float(threads)}}


def refuse(name, *, seed, parts):
    raise AssertionError("made again")


def works(names=("one", "three"), numbers=(0, 1, 2), parts=PARTS, function=make):
    return [Work(name, "R=4", n, function, (name,), parts) for name in names for n in numbers]


def groups(plan=None, wanted=None, table="table"):
    return list(groups_of_runs(plan or Plan(), table, works() if wanted is None else wanted))


WHOLE = repr(groups())


def test_groups_come_in_the_order_of_the_table_with_their_runs_by_seed():
    first, second = groups()
    assert (first.data, first.setting, first.note) == ("one", "R=4", "")
    assert [run["row", "high"] for run in second.runs] == [1 / 3, 10 + 1 / 3, 20 + 1 / 3]
    assert list(first.runs[0]) == [("row", "low"), ("row", "high"), ("row", "top")]


def test_processes_change_nothing(tmp_path):
    assert repr(groups(Plan(n_jobs=2, store=tmp_path))) == WHOLE
    assert repr(groups(Plan(store=tmp_path), works(function=refuse))) == WHOLE


def test_runs_are_made_in_other_processes_with_one_thread_each():
    ((*_, runs, _),) = groups(Plan(n_jobs=2), works(("one",), range(6), ("all",), where))
    assert os.getpid() not in {run["row", "process"] for run in runs}
    assert {run["row", "threads"] for run in runs} == {1}


def test_without_processes_there_is_one_thread_too():
    with threadpool_limits(2):
        ((*_, runs, _),) = groups(Plan(), works(("one",), (0,), ("all",), where))
    assert runs[0] == {("row", "process"): os.getpid(), ("row", "threads"): 1}


def warn(name, *, seed, parts):
    warnings.warn("the same in every run", ConsilienceWarning, stacklevel=1)
    return make(name, seed=seed, parts=parts)


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_what_every_run_warns_of_is_not_said_by_each(n_jobs, capfd):
    assert repr(groups(Plan(n_jobs=n_jobs), works(function=warn))) == WHOLE
    assert "the same in every run" not in capfd.readouterr().err


@pytest.mark.parametrize(
    "shares",
    [
        [works(("one",)), works(("three",))],
        [works(numbers=(0, 2)), works(numbers=(1,))],
        [works(parts=("high",)), works(parts=("low",))],
        [works(("three",), (2,), ("low",)), works(numbers=(1, 2)), works()],
    ],
    ids=["by data set", "by seed", "by part", "overlapping"],
)
def test_shares_made_apart_are_put_together(shares, tmp_path):
    together = tmp_path / "together"
    together.mkdir()
    for number, share in enumerate(shares):
        folder = tmp_path / str(number)
        groups(Plan(store=folder), share)
        for path in folder.iterdir():
            shutil.copy(path, together)
    assert repr(groups(Plan(store=together), works(function=refuse))) == WHOLE
    assert repr(groups(Plan(store=together, stored_only=True))) == WHOLE


def test_a_stopped_call_loses_nothing_that_was_finished(tmp_path):
    calls = groups_of_runs(Plan(store=tmp_path), "table", works())
    next(calls)
    calls.close()
    (path,) = tmp_path.iterdir()
    kept = path.read_text()
    assert [json.loads(line)["seed"] for line in kept.splitlines()] == [0, 1, 2]
    # Stopped in the middle of a line: only that run is made again.
    path.write_text(kept[:-9])
    made = []

    def counted(name, *, seed, parts):
        made.append((name, seed))
        return make(name, seed=seed, parts=parts)

    assert repr(groups(Plan(store=tmp_path), works(function=counted))) == WHOLE
    assert made == [("one", 2), ("three", 0), ("three", 1), ("three", 2)]


def test_only_parts_that_every_run_has_are_shown_and_the_others_named(tmp_path):
    groups(Plan(store=tmp_path), works(("one",), parts=("low",)))
    groups(Plan(store=tmp_path), works(("one",), (1,), parts=("high",)))
    groups(Plan(store=tmp_path), works(("three",), (0,), parts=("high",)))
    first, second = groups(Plan(store=tmp_path, stored_only=True))
    assert (len(first.runs), list(first.runs[0])) == (3, [("row", "low")])
    assert first.note == "high: 1 of 3 runs"
    assert (len(second.runs), second.note) == (1, "low not run")
    assert groups(Plan(store=tmp_path, stored_only=True), table="other") == []


def test_runs_without_a_part_in_common_do_not_vanish(tmp_path):
    groups(Plan(store=tmp_path), works(("one",), (0,), parts=("high",)))
    groups(Plan(store=tmp_path), works(("one",), (1, 2), parts=("low",)))
    (group,) = groups(Plan(store=tmp_path, stored_only=True))
    assert group.runs == [{("row", "low"): n + 3 / 7} for n in (1, 2)]
    assert group.note == "low: 2 of 3 runs; high: 1 of 3 runs"


@pytest.mark.parametrize("stored_only", [False, True])
def test_what_is_asked_for_twice_is_made_and_counted_once(stored_only, tmp_path):
    groups(Plan(store=tmp_path))
    plan = Plan(store=tmp_path if stored_only else None, stored_only=stored_only)
    assert repr(groups(plan, [*works(), *works()])) == WHOLE


def test_different_figures_for_one_run_are_refused(tmp_path):
    groups(Plan(store=tmp_path))
    (path,) = tmp_path.iterdir()
    lines = path.read_text().splitlines()
    (tmp_path / "table.other.jsonl").write_text(lines[0].replace("0.333", "0.334") + "\n")
    with pytest.raises(InvalidInputError, match=r"'high' for seed 0 of one \(R=4\)"):
        groups(Plan(store=tmp_path))


@pytest.mark.parametrize("line", ["{}", "[1]", "not json", '{"data": "a", "seed": 1, "parts": 3}'])
def test_a_line_that_is_no_run_is_refused(line, tmp_path):
    (tmp_path / "table.x.jsonl").write_text(line + "\n")
    with pytest.raises(InvalidInputError, match=r"Line 1 of 'table\.x\.jsonl'"):
        groups(Plan(store=tmp_path))


def test_seeds_count_on_from_the_first():
    assert seeds(Plan(seed=7), 3) == [7, 8, 9]
    assert seeds(Plan(runs=2), 3) == [0, 1]


# ---- runs that give columns ------------------------------------------------------------------


def columns(name, run):
    """Two systems of unlike rows, in an order of their own."""
    return {"B": {"F1": run + 1 / 3, "AUC": 1.0}, "A": {"AUC": len(name) / 7}}


def refused(name, run):
    raise AssertionError("made again")


def of_columns(plan, run=columns, setting="R=4"):
    return kept(plan, "table", "one", setting, run, "one", default=2)


def test_columns_are_kept_as_they_were(tmp_path):
    made = [columns("one", run) for run in (3, 4)]
    plan = Plan(seed=3, store=tmp_path)
    for found in (of_columns(plan), of_columns(plan, refused)):
        assert found == made
        # The order of columns and rows is that of the page.
        assert repr(found) == repr(made)
    assert of_columns(Plan(seed=2, runs=4, store=tmp_path))[1:3] == made


def test_columns_of_another_setting_are_not_taken(tmp_path):
    of_columns(Plan(store=tmp_path))
    with pytest.raises(AssertionError, match="made again"):
        of_columns(Plan(store=tmp_path), refused, "R=8")
    nothing = of_columns(Plan(store=tmp_path, stored_only=True), refused, "R=8")
    assert cells_of("1", "one", nothing) == []


def test_settings_tell_numbers_of_repetitions_apart():
    told = [setting_of(given) for given in (None, 30, 100, (30,), (30, 100), (30, 300))]
    assert told == ["R as published", "R=30", "R=100", "R=30", "R=30,100", "R=30,300"]


@pytest.mark.parametrize(
    ("name", "members"),
    [("ewocs-table6", None), ("ewocs-table9", (8,)), ("ewocs-figure15", (8, 4))],
)
def test_tables_of_the_minority_paper_go_on_where_they_were_stopped(
    name, members, sentences, tmp_path
):
    def cells(plan):
        return [cell for part in EXPERIMENTS[name].run(plan) for cell in part]

    plan = {"data_home": sentences, "sets": ("LOC-PER",), "members": members}
    store = tmp_path / "kept"
    cells(Plan(runs=1, store=store, **plan))
    together = cells(Plan(runs=2, store=store, **plan))
    assert len(list(store.iterdir())) == 2
    assert together == cells(Plan(runs=2, **plan))
    assert together == cells(Plan(runs=2, store=store, stored_only=True, **plan))


def test_what_is_kept_is_shown_without_the_data(sentences, tmp_path, monkeypatch):
    monkeypatch.delenv("CONSILIENCE_DATA", raising=False)
    monkeypatch.setattr(ewocs_convergence, "_MOST", 100)
    some = {types: relations.PAIRS[types] for types in ("LOC-PER", "LOC-LOC")}
    monkeypatch.setattr(relations, "PAIRS", some)
    sizes = {"ewocs-table6": None, "ewocs-figures16-17": (20, 40)}
    for (name, members), data in zip(sizes.items(), ("LOC-PER", "RELATIONS"), strict=True):
        plan = {"runs": 1, "sets": (data,), "members": members, "store": tmp_path / "kept"}
        made = list(EXPERIMENTS[name].run(Plan(data_home=sentences, **plan)))
        assert made[0]
        assert made == list(EXPERIMENTS[name].run(Plan(stored_only=True, **plan)))


OF_MEMBERS = {"ewocs-table6": 1, "ewocs-figure10": 1}  # whose runs do not hang on --members


@pytest.mark.parametrize("name", [name for name in EXPERIMENTS if name.startswith("ewocs")])
def test_what_is_kept_under_one_setting_was_made_in_one_way(name, sentences, monkeypatch):
    asked = []

    def noted(plan, table, data, setting, run, *args, default):
        asked.append((table, data, setting))
        return []

    module = EXPERIMENTS[name].run.__module__
    monkeypatch.setattr(sys.modules[module], "kept", noted)
    # What the small corpus has, and what needs none.
    sets = {"relations": ("LOC-PER",), "ewocs_convergence": ("2-D",)}.get(module.split(".")[-1])
    for members in (None, (310, 200), (200, 910)):
        list(EXPERIMENTS[name].run(Plan(data_home=sentences, sets=sets, members=members)))
    assert {table for table, _, _ in asked} == {name}
    for data in {data for _, data, _ in asked}:
        settings = [setting for _, at, setting in asked if at == data]
        assert len(set(settings)) == OF_MEMBERS.get(name, len(settings)) > 0


def test_every_table_keeps_its_runs():
    assert [name for name, one in EXPERIMENTS.items() if not one.keeps_runs] == []
