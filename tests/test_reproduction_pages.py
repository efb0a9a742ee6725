"""The pages of reproduced tables: all there, complete, and quoted rather than retold."""

import re
from pathlib import Path

import pytest

from consilience.experiments import EXPERIMENTS

DOCS = Path(__file__).parent.parent / "docs"
INDEX = (DOCS / "reproduction.md").read_text(encoding="utf-8")
PAGES = sorted((DOCS / "reproduction").glob("*.md"))


@pytest.mark.parametrize("name", sorted(EXPERIMENTS))
def test_every_experiment_of_the_minority_paper_has_its_page(name):
    if name.startswith("ewocs"):
        assert f"(reproduction/{name}.md)" in INDEX
        assert (DOCS / "reproduction" / f"{name}.md").exists()


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_a_page_names_its_command_and_has_its_picture(page):
    text = page.read_text(encoding="utf-8")
    assert page.stem in EXPERIMENTS
    assert f"Made by `consilience reproduce {page.stem}" in text
    for picture in re.findall(r"!\[[^]]*\]\(([^)]+)\)", text):
        assert (page.parent / picture).exists()


def test_what_is_quoted_is_there():
    quoted = re.findall(r'```\{include\} (\S+)\n:start-after: "([^"]+)"\n```', INDEX)
    assert {page for page, _ in quoted} >= {
        "reproduction/ewocs-table3.md",
        "reproduction/ewocs-relations.md",
    }
    for page, start in quoted:
        text = (DOCS / page).read_text(encoding="utf-8")
        assert text.count(start) == 1
        # Nothing but the statements: what is quoted is the end of the page.
        assert "\n#" not in text.partition(start)[2]


def test_the_number_of_generated_sets_is_that_of_the_table():
    text = (DOCS / "reproduction/ewocs-table3.md").read_text(encoding="utf-8")
    (runs,) = {row.split("|")[3].strip() for row in text.splitlines() if "-D | F1 |" in row}
    word = {"16": "sixteen", "40": "forty"}[runs]
    assert f"{word} sets each | [ewocs-table3]" in INDEX
    card = (DOCS / "methods/minority.md").read_text(encoding="utf-8")
    assert f"over {word} generated data sets each" in card


def test_gains_on_the_toys_are_those_of_the_table():
    page = (DOCS / "reproduction/woec-table2.md").read_text(encoding="utf-8")
    found = re.findall(
        r"^\| (WO\w+) above MCLA on (Toy\d) \(ARI\) \|[^|]*\| \+(\S+) ± (\S+) \|.*?(\d+) runs \|$",
        page,
        re.MULTILINE,
    )
    gains = {(name, toy): (float(gain), float(error)) for name, toy, gain, error, _ in found}
    (runs,) = {one[-1] for one in found}
    told = " ".join(INDEX.partition("**Toy1 and Toy2** ")[2].partition("\n- **")[0].split())
    assert told.startswith(f"({runs} runs)")
    for toy, digits, words in (
        ("Toy1", 4, "WOSP gains {} and WOHB {} on Toy1,"),
        ("Toy2", 3, " {} and {} on Toy2."),
    ):
        shown = [
            " ± ".join(f"{figure:.{digits}f}" for figure in gains[name, toy])
            for name in ("WOSP", "WOHB")
        ]
        assert words.format(*shown) in told


def test_figures_of_reuters_are_those_of_the_table():
    page = (DOCS / "reproduction/ewocs-table7.md").read_text(encoding="utf-8")
    told = INDEX.partition("\nReuters, ")[2].partition("```")[0]
    means = re.findall(r"(?<!\d)(\.\d{3}) ± (\.\d+)", told)
    assert len(means) > 5
    for mean, error in means:
        assert f"0{mean} ± 0{error}" in page
    # Published figures and those of an error below the last digit stand without one.
    for alone in set(re.findall(r"(?<!\d)(?<!± )(\.\d{3})\b(?! ±)", told)):
        assert f"(0{alone})" in page
    runs = {row.split("|")[3].strip() for row in page.splitlines() if "| AUC |" in row}
    assert runs == {{"eight": "8", "ten": "10"}[told.split()[0]]}
    curves = (DOCS / "reproduction/ewocs-figure13.md").read_text(encoding="utf-8")
    gains = {
        f"{float(gain):+.1f} ± {float(error):.1f}"
        for gain, error in re.findall(r"([+-]\d+\.\d+) ± (\d+\.\d+)", curves)
    }
    quoted = re.findall(r"[+-]\d+\.\d ± \d\.\d", told)
    assert len(quoted) == 4
    assert set(quoted) <= gains
    which = (DOCS / "which-method.md").read_text(encoding="utf-8")
    for mean in re.findall(r"0\.\d{3}", which.partition("Reuters, AUC: ")[2].partition("([")[0]):
        assert f"{mean} ±" in page


def test_statements_about_ranks_are_not_written_by_hand():
    own = re.sub(r"```.*?```", "", INDEX, flags=re.DOTALL)
    minority = own.partition("## Minority clustering")[2]
    assert "significant" not in minority
    # The paper's lowest AUC on related pairs is kMD's, not that of GRAMS.
    assert "GRAMS has the lowest" not in (DOCS / "reproduction/ewocs-relations.md").read_text(
        encoding="utf-8"
    )
