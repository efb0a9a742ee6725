"""The summary of a minority job: it keeps the contract, and says what the model found."""

import json
from functools import partial

import numpy as np
import pytest
from numba import config
from report.summary_contract import check_summary, columns_of, figures_of, section_of
from scipy import sparse

from consilience.compare import auc, precision_recall_curve, precision_recall_f1, roc_curve
from consilience.datasets import make_toy_minority
from consilience.errors import ConsilienceError
from consilience.minority import EWOCS, thresholds
from consilience.plot import average_precision
from consilience.report import summarise_minority
from consilience.report._minority_sections import scores_section

pytestmark = pytest.mark.skipif(bool(config.DISABLE_JIT), reason="slow as plain Python")


@pytest.fixture(scope="module")
def toy():
    """Data, truth and a fitted model."""
    X, y = make_toy_minority(0.2, random_state=3)
    return X, y, EWOCS(n_repetitions=200, threshold="2gauss", random_state=0).fit(X)


def test_the_page_of_a_tested_border_keeps_the_contract():
    X, y = make_toy_minority(0.4, random_state=3)
    model = EWOCS(n_repetitions=100, random_state=0).fit(X)
    found = summarise_minority(model, X, truth=y)
    check_summary(found)
    assert model.threshold_result_.why in found["headline"]


def test_the_page_says_whether_there_is_anything():
    X = np.random.default_rng(0).normal(size=(300, 2))
    found = summarise_minority(EWOCS(n_repetitions=50, random_state=0).fit(X), X)
    check_summary(found)
    assert any("no more is seen than in data without any" in line for line in found["headline"])
    rows = figures_of(section_of(found, "rules"))[0]["rows"]
    assert rows[0][0] == "reference"


def test_the_column_that_the_headline_names_is_there(toy):
    X, _, model = toy
    found = summarise_minority(model, X)
    line = next(line for line in found["headline"] if "too close to the border" in line)
    assert line.split("the column '")[1].split("'")[0] in columns_of(found)


def test_distances_are_not_called_clusterings():
    X, _ = make_toy_minority(0.2, random_state=3)
    model = EWOCS(n_repetitions=50, score_by="knn", threshold="2gauss", random_state=0).fit(X)
    found = summarise_minority(model, X)
    check_summary(found)
    assert "convergence" not in [part["id"] for part in found["sections"]]
    assert not any("scores come from 50" in line for line in found["headline"])
    assert not any("too close to the border" in line for line in found["headline"])


def test_everything_at_once(toy):
    X, y, model = toy
    found = summarise_minority(model, X, truth=y > 0, notes=["A warning."], about={"Seed": "0"})
    check_summary(found)
    assert [part["id"] for part in found["sections"]] == [
        "objects",
        "scores",
        "histogram",
        "rules",
        "convergence",
        "truth",
    ]
    assert found["kind"] == "minority"
    assert found["notes"] == ["A warning."]
    columns = columns_of(found)
    assert columns["cluster"] == model.labels_.tolist()
    np.testing.assert_allclose(columns["score"], model.scores_, atol=1e-4)
    assert columns["undecided"] == model.undecided_.tolist()
    assert [name == "foreground" for name in columns["truth"]] == (y > 0).tolist()
    # Two standard errors from the border is what the model calls undecided.
    sure = np.array(columns["confidence"])
    np.testing.assert_array_equal(sure <= 0.9773, model.undecided_)
    sizes = {row["cluster"]: row["size"] for row in found["clusters"]}
    assert sizes == {c: int((model.labels_ == c).sum()) for c in np.unique(model.labels_).tolist()}
    assert next(iter(found["clusters"][-1].values())) == -1
    assert found["headline"][0].startswith(f"{model.n_foreground_:,} of {len(X):,} objects")


def test_without_a_truth_nothing_looks_at_it(toy):
    X, _, model = toy
    found = summarise_minority(model, X)
    check_summary(found)
    assert section_of(found, "truth") is None
    assert "truth" not in columns_of(found)
    numbers, words = figures_of(section_of(found, "rules"))
    assert [row[0] for row in numbers["rows"]] == ["2gauss", "dist", "ngauss+var"]
    assert [row[0] for row in words["rows"]] == ["2gauss", "dist", "ngauss+var"]


def test_every_threshold_is_drawn_and_one_is_taken(toy):
    X, y, model = toy
    found = summarise_minority(model, X, truth=y)
    rules = thresholds.every(model.scores_, y=y)
    figure = figures_of(section_of(found, "scores"))[0]
    marks = {
        mark["label"].partition(":")[0]: mark for mark in figure["marks"] if mark["axis"] == "x"
    }
    assert {name: mark["at"] for name, mark in marks.items()} == {
        rule.method: rule.n_foreground for rule in rules
    }
    assert [name for name, mark in marks.items() if mark["taken"]] == ["2gauss"]
    rows = figures_of(section_of(found, "rules"))[0]["rows"]
    for row, rule in zip(rows, rules, strict=True):
        hits = precision_recall_f1(model.scores_ >= rule.value, y)
        assert row[0] == rule.method
        assert row[2] == rule.n_foreground
        assert row[4:] == [round(v, 3) for v in (hits.precision, hits.recall, hits.f1)]
    line = figure["series"][0]
    assert len(line["x"]) == len(X)
    np.testing.assert_allclose(line["y"], np.sort(model.scores_)[::-1], atol=1e-3)


def test_curves_are_those_of_compare(toy):
    X, y, model = toy
    first, second = figures_of(section_of(summarise_minority(model, X, truth=y), "truth"))
    roc, exact = roc_curve(model.scores_, y), precision_recall_curve(model.scores_, y)
    line = first["series"][0]
    if len(roc.x) <= 600:
        np.testing.assert_allclose(line["x"], roc.x, atol=1e-4)
        np.testing.assert_allclose(line["y"], roc.y, atol=1e-3)
        np.testing.assert_allclose(second["series"][0]["y"][1:], exact.y[1:], atol=1e-3)
    assert f"{auc(model.scores_, y):.3f}" in line["label"]
    assert f"{average_precision(exact):.3f}" in second["series"][0]["label"]
    hits = precision_recall_f1(model.labels_, y)
    at = second["series"][-1]
    assert at["x"] == pytest.approx([hits.recall], abs=1e-3)
    assert at["y"] == pytest.approx([hits.precision], abs=1e-3)
    assert first["series"][-1]["y"] == pytest.approx(at["x"], abs=1e-3)
    # The border's mark lies on the curve: background that is taken for foreground.
    wrong = (model.labels_ >= 0)[~np.asarray(y, bool)].mean()
    assert first["series"][-1]["x"] == pytest.approx([wrong], abs=1e-3)


def test_the_histogram_counts_every_object(toy):
    X, _, model = toy
    for figure in figures_of(section_of(summarise_minority(model, X), "histogram")):
        assert sum(figure["counts"]) == len(X)
        assert figure["marks"][0]["at"] == pytest.approx(model.threshold_, rel=1e-4)
        # The curves count objects in a bin, as the bars do.
        width = figure["edges"][1] - figure["edges"][0]
        total = next(c for c in figure["curves"] if c["label"] == "their sum")
        mass = np.trapezoid(total["y"], total["x"]) / width
        assert 0.7 * len(X) < mass < 1.1 * len(X)


def test_convergence_is_the_history(toy):
    X, _, model = toy
    figure = section_of(summarise_minority(model, X), "convergence")["figure"]
    assert figure["series"][0]["x"] == [100, 200]
    np.testing.assert_allclose(figure["series"][0]["y"], model.history_[:, 1], atol=1e-3)
    short = EWOCS(n_repetitions=30, random_state=0).fit(X)
    found = summarise_minority(short, X)
    check_summary(found)
    line = section_of(found, "convergence")["figure"]["series"][0]
    assert (line["x"], line["style"]) == ([30], "dots")
    paper = EWOCS(n_repetitions=100, stop="paper", random_state=0).fit(X)
    found = summarise_minority(paper, X)
    check_summary(found)
    assert figures_of(section_of(found, "convergence"))[1]["log"] == "y"


@pytest.mark.parametrize("threshold", [0.0, "dist", "ngauss", "size", "best"])
def test_whatever_decided_is_marked_as_taken(toy, threshold):
    X, y, _ = toy
    model = EWOCS(n_repetitions=40, threshold=threshold, n_foreground=9, random_state=0).fit(X, y)
    found = summarise_minority(model, X)
    check_summary(found)
    rows = figures_of(section_of(found, "rules"))[0]["rows"]
    taken = [row for row in rows if row[3] == "yes"]
    assert [row[0] for row in taken] == [model.threshold_result_.method]
    assert taken[0][2] == model.n_foreground_


def test_a_small_foreground_is_also_shown_close_up():
    rng = np.random.default_rng(0)
    X = np.concatenate([rng.uniform(-2, 2, (960, 2)), rng.normal(0, 0.03, (40, 2))])
    model = EWOCS(n_repetitions=40, threshold="size", n_foreground=30, random_state=0).fit(X)
    found = summarise_minority(model, X, max_points=200)
    check_summary(found)
    assert found["objects"]["shown"] <= 200
    assert sum(c >= 0 for c in columns_of(found)["cluster"]) >= 20
    assert "of 1,000 objects" in found["notes"][0]
    whole, start = figures_of(scores_section(model, (model.threshold_result_,), None))
    assert whole["series"][0]["x"][-1] == 1000
    assert 30 in whole["series"][0]["x"]
    assert start["series"][0]["x"] == list(range(1, 91))
    np.testing.assert_allclose(
        start["series"][0]["y"], np.sort(model.scores_)[::-1][:90], atol=1e-3
    )


@pytest.mark.filterwarnings("ignore:Nothing stands out")
def test_degenerate_data():
    for X in (np.zeros((1, 2)), np.array([[0.0, 0], [1, 1]]), np.ones((20, 3)), np.ones((7, 1))):
        model = EWOCS(n_repetitions=20, random_state=0).fit(X)
        for truth in (None, np.arange(len(X)) == 0, np.zeros(len(X), bool)):
            found = summarise_minority(model, X, truth=truth)
            check_summary(found)
            if truth is not None and not (truth.any() and not truth.all()):
                assert section_of(found, "truth") is None


def test_kernels_and_matrices(toy):
    X, _, _ = toy
    X = X[:60]
    square = np.exp(-((X[:, None] - X) ** 2).sum(axis=2))
    model = EWOCS(divergence="precomputed", n_repetitions=30, random_state=0).fit(square)
    found = summarise_minority(model, square)
    check_summary(found)
    figure = section_of(found, "objects")["figure"]
    places = np.column_stack([figure["x"], figure["y"]])
    # Two components of the kernel: the best fit of rank two to the centred matrix.
    centre = np.eye(60) - 1 / 60
    values = np.linalg.eigvalsh(centre @ square @ centre)[::-1]
    np.testing.assert_allclose((places**2).sum(axis=0), values[:2], rtol=1e-2)

    def shared(a, b):
        return [[float(len(set(s) & set(t))) for t in b] for s in a]

    names = ["anna", "ulf", "hanna", "kim", "johanna", "bo", "joanna", "eva", "jens", "olga"]
    model = EWOCS(divergence=shared, n_repetitions=30, random_state=0).fit(names)
    found = summarise_minority(model, names, ids=names)
    check_summary(found)
    assert columns_of(found)["id"] == names
    assert len(section_of(found, "objects")["figure"]["x"]) == len(names)
    assert not any("The view shows" in note for note in found["notes"])


class _Rbf:
    def __call__(self, a, b):
        return np.exp(-((np.asarray(a)[:, None] - b) ** 2).sum(axis=2))

    def method(self, a, b):
        return self(a, b)


def _rbf(a, b):
    return _Rbf()(a, b)


@pytest.mark.parametrize(
    ("kernel", "shown"),
    [
        (_rbf, "divergence=_rbf,"),
        (lambda a, b: _rbf(a, b), "<lambda>,"),
        (partial(_rbf), "functools.partial(_rbf),"),
        (_Rbf(), "_Rbf>,"),
        (_Rbf().method, "<bound method _Rbf.method of "),
    ],
)
def test_a_kernel_is_shown_by_its_name_and_not_by_its_address(toy, kernel, shown):
    X = toy[0][:60]
    model = EWOCS(divergence=kernel, n_repetitions=5, random_state=0).fit(X)
    done = {row["what"]: row["value"] for row in summarise_minority(model, X)["done"]}
    assert shown in done["Model"]
    assert " at 0x" not in done["Model"]


def test_sparse_data_and_frames(toy):
    pandas = pytest.importorskip("pandas")
    X, _, _ = toy
    frame = pandas.DataFrame(X, columns=["width", "height"])
    model = EWOCS(n_repetitions=20, random_state=0).fit(frame)
    found = summarise_minority(model, frame, ids=frame.index)
    check_summary(found)
    assert section_of(found, "objects")["figure"]["xlabel"] == "width"
    rows = sparse.csr_array(np.eye(50, 8) + np.eye(50, 8, -8) + np.eye(50, 1) @ np.ones((1, 8)))
    rows = rows + sparse.csr_array(np.tile([0, 0, 1, 0, 0, 0, 0, 2], (50, 1)))
    model = EWOCS(divergence="cosine", n_repetitions=20, random_state=0).fit(rows)
    check_summary(summarise_minority(model, rows))


def test_equal_seeds_give_equal_summaries(toy, seed):
    X, y, model = toy
    one, same = (
        summarise_minority(model, X, truth=y, max_points=60, random_state=seed) for _ in range(2)
    )
    assert one == same
    assert len(json.dumps(one)) < 200_000


def test_bad_input_is_refused_in_words(toy):
    X, y, model = toy
    for wrong in (
        {"X": X[:5]},
        {"truth": y[:5]},
        {"ids": [1]},
        {"max_points": 1},
        {"model": object()},
        {"random_state": -3},
    ):
        with pytest.raises(ConsilienceError):
            summarise_minority(**({"model": model, "X": X} | wrong))
