"""What makes each cluster, as the command says it and writes it."""

import csv
import io
import re
from pathlib import Path

import numpy as np
import pytest

import consilience as cs
from consilience._cli.folders import MODEL, PROFILE
from consilience.cli import main

Console = pytest.importorskip("rich.console").Console


@pytest.fixture
def shop(tmp_path, monkeypatch):
    """Customers: young ones who spend little, old ones who spend much and shop by telephone."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "120")
    rng = np.random.default_rng(0)
    old = np.repeat([0, 1], 30)
    lines = ["customer,age,=spent,way,member,same"]
    for i, o in enumerate(old):
        way = rng.choice(["web", "shop", "phone"], p=[0.1, 0.1, 0.8] if o else [0.6, 0.4, 0])
        age, spent = rng.normal(30 + 35 * o, 4), rng.normal(100 + 400 * o, 30)
        lines.append(f"c{i:02},{age:.1f},{spent:.2f},{way},{'yes' if o else 'no'},7")
    Path("shop.csv").write_text("\n".join(lines) + "\n")
    return ["cluster", "shop.csv", "-k", "2", "--members", "20", "--encode", "onehot"]


def rows_of(name):
    return list(csv.DictReader(io.StringIO(Path("consilience-shop", name).read_text())))


def test_the_words_name_columns_rules_and_what_p_values_are_not(shop, capsys):
    assert main(shop) == 0
    said = capsys.readouterr().out
    words = said.partition("What makes each cluster:")[2]
    assert "Columns that matter most" in words
    assert re.search(r"^  cluster 0  \S.*\n {13}\S", words, re.MULTILINE)  # one below the other
    assert "against" in words
    assert "precision 100 %" in words
    assert "p-values are not tests of whether they exist" in " ".join(words.split())


def test_tables_are_those_of_the_result(shop):
    assert main(shop) == 0
    with pytest.warns(cs.errors.ConsilienceWarning):
        table = cs.datasets.read_table("shop.csv", encode="onehot")
    found = cs.cluster(table, 2, n_members=20, random_state=0).profile()
    for name, wanted in zip(PROFILE, found.tables.values(), strict=True):
        rows = rows_of(name)
        assert list(rows[0]) == list(wanted)
        for column, values in wanted.items():
            cells = [row[column] for row in rows]
            if values.dtype.kind == "f":
                numbers = [float(cell) if cell else np.nan for cell in cells]
                np.testing.assert_allclose(numbers, values, rtol=1e-5)
            else:
                assert [cell.removeprefix("'") for cell in cells] == [str(v) for v in values]
    columns = {row["column"].removeprefix("'"): row["kind"] for row in rows_of(PROFILE[1])}
    # Categories are one column again, yes and no a flag, and what is constant is there too.
    assert columns == {
        "age": "number",
        "=spent": "number",
        "way": "category",
        "member": "flag",
        "same": "number",
    }
    spent = next(row for row in rows_of(PROFILE[2]) if row["column"] == "'=spent")
    assert 50 < float(spent["median"]) < 600  # in its own units
    assert {row["role"] for row in rows_of(PROFILE[3])} == {"typical"}


def test_no_report_no_tables(shop):
    assert main([*shop, "--no-report"]) == 0
    names = sorted(path.name for path in Path("consilience-shop").iterdir())
    assert names == ["labels.csv", *sorted(MODEL), "summary.json", "timings.json"]


@pytest.mark.parametrize("name", PROFILE)
def test_files_of_others_are_not_replaced(shop, name, capsys):
    Path("consilience-shop").mkdir()
    Path("consilience-shop", name).write_text("mine")
    assert main([*shop, "--force"]) == 2
    assert f"holds a {name} that consilience did not write" in capsys.readouterr().err
    assert Path("consilience-shop", name).read_text() == "mine"


def test_a_run_without_them_takes_the_tables_of_the_run_before_away(shop):
    assert main(shop) == 0
    assert main([*shop, "--force", "--no-report"]) == 0
    assert not [name for name in PROFILE if Path("consilience-shop", name).exists()]


@pytest.mark.parametrize(("k", "words"), [(11, "1 more cluster"), (12, "2 more clusters")])
def test_clusters_that_are_not_told_of_are_counted(k, words):
    from consilience._cli.show_profile import show_profile
    from consilience.explain import profile

    labels = np.repeat(np.arange(k), 3)
    out = io.StringIO()
    X = labels[:, None] + np.tile([0.0, 0.1, 0.2], k)[:, None]
    show_profile(profile(X, labels), Console(file=out, width=80))
    assert f"... and {words}" in map(str.strip, out.getvalue().splitlines())


def test_labels_alone_have_no_columns_to_speak_of(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    Path("made.csv").write_text("a,b,c\n0,0,0\n0,0,0\n1,1,0\n1,1,1\n")
    assert main(["cluster", "--labels", "made.csv", "-k", "2"]) == 0
    assert "What makes each cluster" not in capsys.readouterr().out
    assert not list(Path("consilience-made").glob("profile-*"))
