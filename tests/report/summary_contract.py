"""What every summary of a report must be: checked by the tests of all that make or draw one."""

import base64
import json
import re

import numpy as np

__all__ = ["check_summary", "columns_of", "figures_of", "section_of"]

KEYS = {"schema", "kind", "title", "headline", "done", "notes", "clusters", "objects", "sections"}
COLUMN_KINDS = {"text", "number", "cluster", "flag"}
STYLES = {"line", "steps", "dots", "dashed"}


def check_summary(summary):
    """Fail unless the summary keeps the contract between what makes it and what draws it."""
    # Nothing but text, finite numbers and nulls, and the same after a way through JSON.
    assert json.loads(json.dumps(summary, allow_nan=False)) == summary
    assert set(summary) == KEYS
    assert summary["schema"] == 1
    assert summary["kind"] in ("consensus", "minority")
    assert summary["title"]
    assert 2 <= len(summary["headline"]) <= 5
    for line in [*summary["headline"], *summary["notes"]]:
        assert isinstance(line, str)
        assert line[-1] in ".!?"
    assert not re.search(r"\b(nan|inf)\b", " ".join(summary["headline"]))
    for row in summary["done"]:
        assert set(row) == {"what", "value"}
        assert all(isinstance(value, str) for value in row.values())
    n_shown = check_objects(summary["objects"])
    check_clusters(summary)
    names = [section["id"] for section in summary["sections"]]
    assert len(names) == len(set(names))
    for section in summary["sections"]:
        check_section(section, n_shown)


def check_objects(objects):
    assert set(objects) == {"total", "shown", "columns"}
    columns = {column["name"]: column for column in objects["columns"]}
    assert len(columns) == len(objects["columns"])
    assert list(columns)[:2] == ["id", "cluster"]
    for column in columns.values():
        assert set(column) == {"name", "kind", "values"}
        assert column["kind"] in COLUMN_KINDS
        assert len(column["values"]) == objects["shown"] <= objects["total"]
    for value in columns["cluster"]["values"]:
        assert isinstance(value, int)
    for column in columns.values():
        assert column["kind"] != "flag" or all(isinstance(v, bool) for v in column["values"])
    return objects["shown"]


def check_clusters(summary):
    rows = summary["clusters"]
    assert sum(row["size"] for row in rows) == summary["objects"]["total"]
    for row in rows:
        assert set(row) == {"cluster", "size", "share", "confidence", "stability"}
        assert row["size"] > 0
        for name in ("share", "confidence", "stability"):
            assert row[name] is None or 0 <= row[name] <= 1
    assert [row["cluster"] for row in rows][:-1] == sorted(
        row["cluster"] for row in rows if row is not rows[-1]
    )
    known = {row["cluster"] for row in rows}
    assert set(columns_of(summary)["cluster"]) <= known
    for value in columns_of(summary).get("runner_up", []):
        assert value is None or value in known


def check_section(section, n_shown):
    assert set(section) <= {"id", "title", "read", "figure", "figures"}
    assert re.fullmatch(r"[a-z-]+", section["id"])
    assert section["title"]
    assert n_sentences(section["read"]) == 2, section["read"]
    assert section["figure"] is None or "figures" not in section
    for figure in figures_of(section):
        CHECKS[figure["kind"]](figure, n_shown)


def n_sentences(text):
    """Full stops that end a sentence: followed by a space and a capital, or by nothing."""
    assert text[-1] in ".!?"
    return len(re.findall(r"[.!?](?=\s+[A-Z]|$)", text))


def check_points(figure, n_shown):
    assert len(figure["x"]) == len(figure["y"]) == len(figure["objects"])
    check_rows(figure["objects"], n_shown)
    assert None not in figure["x"] + figure["y"]
    check_words(figure, "xlabel", "ylabel")


def check_matrix(figure, n_shown):
    m = figure["size"]
    assert len(base64.b64decode(figure["values"], validate=True)) == m * m
    assert figure["low"] < figure["high"]
    assert (figure["objects"] is None) != (figure["names"] is None)
    if figure["objects"] is not None:
        assert len(figure["objects"]) == m
        check_rows(figure["objects"], n_shown)
    else:
        assert len(figure["names"]) == m
        assert all(isinstance(name, str) for name in figure["names"])
        shades = np.frombuffer(base64.b64decode(figure["values"]), np.uint8) / 255
        span = figure["high"] - figure["low"]
        np.testing.assert_allclose(figure["numbers"], figure["low"] + shades * span, atol=0.003)
    assert figure["bounds"] == sorted(set(figure["bounds"]))
    assert all(0 < place < m for place in figure["bounds"])


def check_dendrogram(figure, n_shown):
    n_leaves = len(figure["clusters"])
    assert 2 <= n_leaves <= 500
    for name in ("heights", "left", "right", "sizes"):
        assert len(figure[name]) == n_leaves - 1
    assert figure["heights"] == sorted(figure["heights"])
    assert len(figure["leaf_sizes"]) == n_leaves
    assert sorted(figure["left"] + figure["right"]) == list(range(2 * n_leaves - 2))
    sizes = list(figure["leaf_sizes"])
    for row, (left, right) in enumerate(zip(figure["left"], figure["right"], strict=True)):
        assert max(left, right) < n_leaves + row
        sizes.append(sizes[left] + sizes[right])
    assert sizes[n_leaves:] == figure["sizes"]
    assert figure["cut"] is None or figure["cut"] >= 0
    assert 1 <= figure["n_clusters"] <= sizes[-1] <= n_shown


def check_histogram(figure, _):
    assert len(figure["edges"]) == len(figure["counts"]) + 1
    assert figure["edges"] == sorted(figure["edges"])
    assert all(isinstance(count, int) for count in figure["counts"])
    check_words(figure, "xlabel")
    for mark in figure["marks"]:
        check_mark(mark)
    for line in figure["curves"]:
        check_line(line)


def check_curves(figure, _):
    assert figure["series"]
    check_words(figure, "xlabel", "ylabel")
    assert figure.get("log", "x") in ("x", "y")
    for line in figure["series"]:
        check_line(line)
    for mark in figure["marks"]:
        assert mark["axis"] in ("x", "y")
        check_mark(mark)


def check_bars(figure, _):
    assert len(figure["labels"]) == len(figure["values"])
    assert figure["clusters"] is None or len(figure["clusters"]) == len(figure["labels"])
    assert figure["labels"]
    check_words(figure, "xlabel")
    for mark in figure["marks"]:
        check_mark(mark)


def check_table(figure, _):
    assert figure["rows"]
    for row in figure["rows"]:
        assert len(row) == len(figure["columns"])
        assert all(value is None or isinstance(value, str | int | float) for value in row)


def check_cards(figure, _):
    assert figure["cards"]
    for card in figure["cards"]:
        assert set(card) == {"cluster", "lines"}
        assert isinstance(card["cluster"], int)
        for name, words in card["lines"]:
            assert isinstance(name, str)
            assert words
            assert isinstance(words, str)


def check_line(line):
    assert len(line["x"]) == len(line["y"]) > 0
    assert None not in line["x"]
    assert line.get("style", "line") in STYLES
    assert line["label"]


def check_mark(mark):
    assert isinstance(mark["at"], float)
    assert isinstance(mark["taken"], bool)
    assert mark["label"]


def check_rows(rows, n_shown):
    assert len(set(rows)) == len(rows)
    assert all(0 <= row < n_shown for row in rows)


def check_words(figure, *names):
    for name in names:
        assert isinstance(figure[name], str)
        assert figure[name]


CHECKS = {
    "points": check_points,
    "matrix": check_matrix,
    "dendrogram": check_dendrogram,
    "histogram": check_histogram,
    "curves": check_curves,
    "bars": check_bars,
    "table": check_table,
    "cards": check_cards,
}


def figures_of(section):
    """The figures of a section, one or several."""
    return section.get("figures") or ([section["figure"]] if section["figure"] else [])


def section_of(summary, name):
    """A section by its name, or None."""
    return next((part for part in summary["sections"] if part["id"] == name), None)


def columns_of(summary):
    """Values of the table of objects by the name of their column."""
    return {column["name"]: column["values"] for column in summary["objects"]["columns"]}
