"""The pages of the documentation are those that the command writes today."""

from collections import Counter
from pathlib import Path

import pytest

from consilience.experiments import EXPERIMENTS
from consilience.experiments._report import _JUDGING, _NO_SCORE, _READING

PLACE = Path(__file__).parents[2] / "docs" / "reproduction"
PAGES = sorted(path.stem for path in PLACE.glob("*.md"))
# Columns of one figure by their nature: linkage of the data; one of several starts.
ONE_FIGURE = {
    "eeac-table": ("single", "average", "complete"),
    "peace-tables": tuple(
        f"{name} {which}" for name in ("PEACE", "BE") for which in ("selected", "max", "min")
    ),
}


# Tests of ranks and of spreads: what they compare has no standard error.
NO_ERROR = ("Friedman", "Bergmann-Hommel", "Pitman-Morgan")


@pytest.fixture(params=PAGES)
def page(request):
    text = (PLACE / f"{request.param}.md").read_text(encoding="utf-8")
    return EXPERIMENTS[request.param], text


def _tables(text, head):
    """Cells of every table that begins with this title."""
    found = [part for part in text.split("\n\n") if part.startswith(f"| {head} |")]
    return [
        [[cell.strip() for cell in row.strip("|").split("|")] for row in part.splitlines()]
        for part in found
    ]


def _lines(text, head):
    """Cells of the table that begins with this title."""
    (found,) = _tables(text, head)
    return found


def test_title_words_and_remarks_are_those_of_the_code(page):
    experiment, text = page
    assert text.startswith(f"# {experiment.title}\n")
    judged = [_JUDGING] if "## The paper's statements" in text else []
    assert judged or experiment.judge is None
    for words in (_READING, *judged, *experiment.remarks):
        assert words in text


def test_every_mean_of_several_runs_has_its_standard_error(page):
    experiment, text = page
    single = ONE_FIGURE.get(experiment.name, ())
    for head, _, *rows in _tables(text, "data"):
        runs = head.index("runs")
        for row in rows:
            shown = zip(head[runs + 1 :], row[runs + 1 :], strict=True)
            for name, figure in ((name, cell) for name, cell in shown if cell):
                alone = row[runs] == "1" or name in single
                assert ("±" in figure) is not alone, (row[0], row[1], name)


def test_sizes_and_times_have_no_best(page):
    _, text = page
    for _, _, *rows in _tables(text, "data"):
        for row in rows:
            assert "**" not in "".join(row) or not row[1].startswith(_NO_SCORE), row[:2]


def test_every_statement_names_its_test_and_how_many_runs(page):
    experiment, text = page
    if experiment.judge is None:
        return
    head, _, *rows = _lines(text, "statement")
    assert head[2:] == ["mean difference", "p", "test", "over"]
    for row in rows:
        assert row[4]
        assert int(row[5].split()[0]) > 1
        assert ("±" in row[2]) is (row[3] != "" and row[4] not in NO_ERROR)


def test_rows_of_all_three_sizes_are_there():
    for name in ("woec-table4", "woec-table5"):
        rows = _lines((PLACE / f"{name}.md").read_text(encoding="utf-8"), "data")[2:]
        assert sorted({row[1] for row in rows}) == ["R=20", "R=40", "R=60"]
        assert len(rows) == 45
        assert {row[2] for row in rows} == {"20"}


def test_peace_has_twenty_ensembles_of_every_set():
    """Of five the means of other seeds lay beyond three of their standard errors."""
    text = (PLACE / "peace-tables.md").read_text(encoding="utf-8")
    runs = [row[2] for _, _, *rows in _tables(text, "data") for row in rows]
    # Of a text there are also the ten starts of the paper.
    assert Counter(runs) == {"20": 9 * 4, "10 or 20": 2 * 4}
