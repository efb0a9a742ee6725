"""The pages of the documentation are those that the command writes today."""

from pathlib import Path

import pytest

from consilience.experiments import EXPERIMENTS
from consilience.experiments._report import _JUDGING, _READING

PLACE = Path(__file__).parents[2] / "docs" / "reproduction"
PAGES = [
    *("woec-table2", "woec-table3", "woec-table4", "woec-table5"),
    *("peace-tables", "ambiguity-tables", "eeac-table", "eeac-shares"),
]
# Columns of one figure by their nature: linkage of the data; one of several starts.
ONE_FIGURE = {
    "eeac-table": ("single", "average", "complete"),
    "peace-tables": tuple(
        f"{name} {which}" for name in ("PEACE", "BE") for which in ("selected", "max", "min")
    ),
}


@pytest.fixture(params=PAGES)
def page(request):
    text = (PLACE / f"{request.param}.md").read_text(encoding="utf-8")
    return EXPERIMENTS[request.param], text


def _lines(text, head):
    """Cells of the table that begins with this title."""
    rows = text[text.index(f"\n| {head} |") :].strip().split("\n\n")[0].splitlines()
    return [[cell.strip() for cell in row.strip("|").split("|")] for row in rows]


def test_title_words_and_remarks_are_those_of_the_code(page):
    experiment, text = page
    assert text.startswith(f"# {experiment.title}\n")
    for words in (_READING, _JUDGING, *experiment.remarks):
        assert words in text


def test_every_mean_of_several_runs_has_its_standard_error(page):
    experiment, text = page
    head, _, *rows = _lines(text, "data")
    runs = head.index("runs")
    single = ONE_FIGURE.get(experiment.name, ())
    for row in rows:
        shown = [(name, cell) for name, cell in zip(head, row, strict=True) if cell][runs + 1 :]
        for name, figure in shown:
            alone = row[runs] == "1" or name in single
            assert ("±" in figure) is not alone, (row[0], row[1], name)


def test_every_statement_names_its_test_and_how_many_runs(page):
    _, text = page
    head, _, *rows = _lines(text, "statement")
    assert head[2:] == ["mean difference", "p", "test", "over"]
    for row in rows:
        assert row[4]
        assert int(row[5].split()[0]) > 1
        assert ("±" in row[2]) is (row[3] != "")


def test_rows_of_all_three_sizes_are_there():
    for name in ("woec-table4", "woec-table5"):
        rows = _lines((PLACE / f"{name}.md").read_text(encoding="utf-8"), "data")[2:]
        assert sorted({row[1] for row in rows}) == ["R=20", "R=40", "R=60"]
        assert len(rows) == 45
        assert {row[2] for row in rows} == {"20"}
