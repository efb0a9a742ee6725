"""``consilience reproduce``: the list, a small table with its files, and how it refuses."""

import csv
import re
from dataclasses import replace
from pathlib import Path

import pytest
from numba import config

from consilience._cli.results import ResultFolder
from consilience.cli import main
from consilience.experiments import EXPERIMENTS, Cell, Claim
from consilience.experiments._registry import experiment

pytest.importorskip("cyclopts")


@pytest.fixture(autouse=True)
def in_a_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "100")
    monkeypatch.delenv("CONSILIENCE_DATA", raising=False)


@pytest.fixture
def counting():
    """An experiment of three data sets; the plans it was given are kept."""
    plans = []

    def judge(cells):
        from consilience.experiments._cells import paired_claim

        return [paired_claim("B above A", cells[1], cells[0])]

    @experiment("counting", title="Counting", paper="Nobody (2026)", needs_data=False, judge=judge)
    def run(plan):
        plans.append(plan)
        for data in plan.sets or ("one", "two", "three"):
            if data == "stop":
                raise KeyboardInterrupt
            known = Cell("1", data, "row", "A", (0.1, 0.2), 0.15)
            yield [known, Cell("1", data, "row", "B", (0.3, 0.4))]

    yield plans
    del EXPERIMENTS["counting"]


def test_without_a_table_they_are_listed(capsys):
    assert main(["reproduce"]) == 0
    printed = capsys.readouterr().out
    for name in EXPERIMENTS:
        assert name in printed


def test_a_table_is_printed_and_written(counting, capsys):
    words = ["--runs", "2", "--sets", "one, two", "--members", "20,40", "--seed", "5"]
    assert main(["reproduce", "counting", *words, "--out", "here"]) == 0
    printed = capsys.readouterr().out
    assert "B above A: holds" in printed
    assert "0.1500" in printed
    (plan,) = counting
    assert (plan.runs, plan.sets, plan.members, plan.seed) == (2, ("one", "two"), (20, 40), 5)
    with Path("here/counting.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert [(row["data"], row["column"]) for row in rows] == [
        ("one", "A"),
        ("one", "B"),
        ("two", "A"),
        ("two", "B"),
    ]
    page = Path("here/counting.md").read_text()
    assert "consilience reproduce counting --runs 2 --sets 'one, two' --members 20,40" in page


def test_without_options_the_plan_is_that_of_the_table(counting, capsys):
    assert main(["reproduce", "counting"]) == 0
    said = capsys.readouterr().out
    (plan,) = counting
    assert (plan.runs, plan.sets, plan.members, plan.seed) == (None, None, None, 0)
    assert (plan.n_jobs, plan.columns, plan.store, plan.stored_only) == (None, None, None, False)
    page = Path("consilience-counting/counting.md").read_text()
    assert (
        "    consilience reproduce counting\n" in page or "`consilience reproduce counting`" in page
    )
    told = re.search(r"Wrote (\S+) and (\S+) \((\d+\.\d)\s+s\s+in\s+all\)", said)
    folder = Path("consilience-counting")
    assert told.groups()[:2] == (str(folder / "counting.csv"), str(folder / "counting.md"))
    assert float(told.group(3)) < 60
    # What is there stays, unless it is to be replaced.
    Path(folder, "counting.md").write_text("mine")
    assert main(["reproduce", "counting"]) == 2
    assert "is there already. Replace it with --force" in capsys.readouterr().err
    assert Path(folder, "counting.md").read_text() == "mine"
    assert main(["reproduce", "counting", "--force"]) == 0
    assert Path(folder, "counting.md").read_text() == page


def test_the_figures_of_the_cells_are_printed(counting, capsys):
    assert main(["reproduce", "counting", "--sets", "one", "--runs", "1"]) == 0
    said = [line.split() for line in capsys.readouterr().out.splitlines()]
    assert ["one", "row", "mean", "standard", "error", "published", "difference"] in said
    assert ["A", "0.1500", "0.0500", "0.1500", "+0.0000"] in said
    assert next(line[:3] for line in said if line[:1] == ["B"]) == ["B", "0.3500", "0.0500"]
    assert ["A", "1", "0.0000", "0.0000", "1", "of", "1"] in said


def test_the_page_that_tells_of_the_other_files_appears_last(counting, monkeypatch):
    moved = []
    replace = Path.replace

    def watched(path, target):
        moved.append(Path(target).name)
        return replace(path, target)

    monkeypatch.setattr(Path, "replace", watched)
    assert main(["reproduce", "counting"]) == 0
    assert [name for name in moved if name.startswith("counting.")][-1] == "counting.md"


def test_a_table_that_keeps_no_runs_says_so(counting, capsys):
    assert main(["reproduce", "counting", "--store", "kept"]) == 2
    assert "'counting' keeps no runs. Leave out --store" in capsys.readouterr().err
    assert (counting, list(Path.cwd().iterdir())) == ([], [])


def test_an_interrupt_leaves_the_finished_part(counting, capsys):
    assert main(["reproduce", "counting", "--sets", "one,stop,two"]) == 0
    printed = capsys.readouterr().out
    assert "Interrupted" in printed
    page = Path("consilience-counting/counting.md").read_text()
    assert "not complete" in page
    assert "| one | row |" in page
    assert "| two | row |" not in page


def test_an_interrupt_before_anything_is_finished_writes_nothing(counting, capsys):
    assert main(["reproduce", "counting", "--sets", "stop"]) == 130
    assert "interrupted" in capsys.readouterr().err
    assert not Path("consilience-counting").exists()


@pytest.mark.skipif(bool(config.DISABLE_JIT), reason="slow as plain Python")
def test_columns_made_apart_and_kept_give_the_page_of_all(capsys):
    words = ["reproduce", "woec-table2", "--sets", "Toy2", "--runs", "2", "--members", "6"]
    both = ["--columns", "MCLA,members"]
    assert main([*words, *both, "--out", "whole"]) == 0
    for column in ("members", "MCLA"):
        assert main([*words, "--columns", column, "--store", "kept", "--out", column]) == 0
    kept = {path: path.read_bytes() for path in Path("kept").iterdir()}
    assert len(kept) == 2
    assert main([*words, *both, "--store", "kept", "--stored-only", "--out", "put"]) == 0
    assert {path: path.read_bytes() for path in Path("kept").iterdir()} == kept
    for name in ("woec-table2.md", "woec-table2.csv"):
        assert Path("put", name).read_text() == Path("whole", name).read_text()
    # What was not run is named, not made.
    assert main([*words, "--store", "kept", "--stored-only", "--out", "part"]) == 0
    page = Path("part/woec-table2.md").read_text()
    assert "| Toy2 (CSPA not run; HBGF not run;" in page


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["no-table"], "There is no table 'no-table' to reproduce. Known: "),
        (["woec-table4"], "No data folder is known"),
        (["woec-table4", "--data", "nowhere"], "There is no folder 'nowhere'"),
        (["woec-table2", "--sets", "Toy9"], "Toy1, Toy2, Toy3. Got 'Toy9'"),
        (["woec-table2", "--runs", "0"], "--runs must be a positive number. Got 0"),
        (["woec-table2", "--jobs", "0"], "--jobs must be a positive number, or -1 for all cores"),
        (["woec-table2", "--sets", ","], "--sets must be names with commas between. Got ','"),
        (["woec-table2", "--columns", " "], "--columns must be names with commas between. Got ' '"),
        (["woec-table2", "--members", "few"], "--members must be whole numbers"),
        (["woec-table2", "--members", "0"], "--members must be whole numbers"),
        (["woec-table2", "--columns", "EAC"], "columns of its table: members, CSPA, MCLA"),
        (["woec-table3", "--columns", "WOKmeans"], "'woec-table3' cannot be run alone"),
        (["woec-table2", "--stored-only"], "Name it with --store DIR"),
        (["woec-table2", "--store", "kept", "--stored-only"], "No runs of this plan are kept in"),
    ],
)
def test_bad_input_is_refused_before_any_work(words, message, capsys):
    assert main(["reproduce", *words]) == 2
    refused = capsys.readouterr().err
    assert message in refused
    assert not list(Path.cwd().iterdir())


def test_a_plan_of_which_nothing_can_be_run_is_told(counting, monkeypatch, capsys):
    nothing = replace(EXPERIMENTS["counting"], run=lambda plan: iter(()))
    monkeypatch.setitem(EXPERIMENTS, "counting", nothing)
    assert main(["reproduce", "counting", "--sets", "one"]) == 2
    said = capsys.readouterr().err
    assert "nothing of this plan can be run" in said.lower()
    assert "None" not in said
    assert "--stored-only" not in said


def test_a_picture_is_written_beside_the_page_that_shows_it(counting, monkeypatch):
    plt = pytest.importorskip("matplotlib.pyplot")
    from consilience._cli import reproduce

    def draw(name, cells, plan):
        assert (name, len(cells)) == ("counting", 2)
        return plt.figure()

    monkeypatch.setattr(reproduce, "draw_figure", draw)
    assert main(["reproduce", "counting", "--sets", "one"]) == 0
    page = Path("consilience-counting/counting.md").read_text()
    assert "![Counting](counting.svg)" in page
    assert Path("consilience-counting/counting.svg").read_text().startswith("<?xml")


def test_without_matplotlib_the_table_is_written_all_the_same(counting, monkeypatch, capsys):
    from consilience._cli import reproduce
    from consilience.errors import MissingPackageError

    def draw(name, cells, plan):
        raise MissingPackageError("reproduce needs the package 'matplotlib'")

    monkeypatch.setattr(reproduce, "draw_figure", draw)
    assert main(["reproduce", "counting", "--sets", "one"]) == 0
    assert "No picture: reproduce needs" in capsys.readouterr().out
    assert not Path("consilience-counting/counting.svg").exists()
    assert "svg" not in Path("consilience-counting/counting.md").read_text()


def test_a_claim_says_what_it_is_counted_over(capsys):
    from consilience.experiments import Claim

    def judge(cells):
        return [Claim("A wins", True, 0.1, 0.01, 5, unit="pairs of types")]

    @experiment("claiming", title="Claiming", paper="Nobody", needs_data=False, judge=judge)
    def run(plan):
        yield [Cell("1", "one", "row", "A", (0.1, 0.2))]

    try:
        assert main(["reproduce", "claiming"]) == 0
    finally:
        del EXPERIMENTS["claiming"]
    assert "5 pairs of types" in capsys.readouterr().out
    page = Path("consilience-claiming/claiming.md").read_text()
    assert "| 5 pairs of types |" in page
    assert "| over |" in page


def test_the_help_says_that_near_seeds_share_runs(capsys):
    assert main(["reproduce", "--help"]) == 0
    assert "share runs" in " ".join(capsys.readouterr().out.replace("│", " ").split())


def test_a_statement_that_fails_is_told_with_its_figures(counting, capsys, monkeypatch):
    claims = [
        Claim("A above B", False, -0.25, 0.031, 4, error=0.05),
        Claim("three of three", True, 0.0, float("nan"), 3, unit="sets"),
    ]
    monkeypatch.setattr("consilience._cli.reproduce.conclude", lambda name, cells: claims)
    assert main(["reproduce", "counting", "--sets", "one,stop"]) == 0
    printed = " ".join(capsys.readouterr().out.split())
    assert "A above B: does not hold (difference -0.2500 ± 0.0500, p 0.031, 4 runs)." in printed
    assert "three of three: holds (difference +0.0000, 3 sets)." in printed
    assert "Interrupted: what follows is the part that was finished." in printed
    assert "Note: This run was interrupted: the table is not complete." in printed


def test_the_page_is_written_last(counting, monkeypatch):
    """Where it is, the table beside it belongs to it."""
    asked = []
    plain = ResultFolder.publish

    def publish(self, writers, *, last, **how):
        asked.append(last)
        return plain(self, writers, last=last, **how)

    monkeypatch.setattr(ResultFolder, "publish", publish)
    assert main(["reproduce", "counting", "--sets", "one"]) == 0
    assert asked == ["counting.md"]


def test_one_run_of_one_member_by_one_process_is_a_plan(counting):
    words = ["--runs", "1", "--members", "1,2", "--jobs", "1", "--sets", "one"]
    assert main(["reproduce", "counting", *words]) == 0
    assert main(["reproduce", "counting", "--jobs", "-1", "--sets", "one", "--force"]) == 0
    first, second = counting
    assert (first.runs, first.members, first.n_jobs) == (1, (1, 2), 1)
    assert (second.runs, second.members, second.n_jobs) == (None, None, -1)


def test_a_picture_that_was_written_is_let_go(counting, monkeypatch):
    plt = pytest.importorskip("matplotlib.pyplot")
    from consilience._cli import reproduce

    before, asked = plt.get_fignums(), []

    class Figure(plt.Figure):
        def savefig(self, path, **how):
            asked.append(how)
            super().savefig(path, **how)

    monkeypatch.setattr(
        reproduce, "draw_figure", lambda name, cells, plan: plt.figure(FigureClass=Figure)
    )
    assert main(["reproduce", "counting", "--sets", "one"]) == 0
    assert plt.get_fignums() == before
    # The day would make equal figures differ, and more dots make pages heavy.
    assert asked == [{"format": "svg", "dpi": 80, "metadata": {"Date": None}}]
    assert "<dc:date>" not in Path("consilience-counting/counting.svg").read_text()
    title, picture, *text = Path("consilience-counting/counting.md").read_text().split("\n\n")
    assert picture == "![Counting](counting.svg)"
    monkeypatch.setattr(reproduce, "draw_figure", lambda name, cells, plan: None)
    assert main(["reproduce", "counting", "--sets", "one", "--out", "bare"]) == 0
    assert Path("bare/counting.md").read_text().split("\n\n") == [title, *text]
