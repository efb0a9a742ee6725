"""What ``ambiguous``, ``minority`` and ``methods`` report are the library's own figures."""

import json
import re
from pathlib import Path

import numpy as np
import pytest
from cli_values.read_back import GIVEN, N, rows_of, summary_of, table_rows
from numba import config as numba_config

from consilience import EWOCS
from consilience.cli import main
from consilience.compare import auc, precision_recall_f1
from consilience.consensus import CONSENSUS
from consilience.evidence import ambiguous
from consilience.generate import KMeansEnsemble
from consilience.minority import thresholds

pytest.importorskip("cyclopts")
pytestmark = pytest.mark.skipif(bool(numba_config.DISABLE_JIT), reason="slow as plain Python")


@pytest.mark.parametrize("score", ["relative", "anco"])
def test_ambiguous_reports_the_figures_of_the_library(blobs, capsys, score):
    X, _ = blobs
    words = ["-k", "3", "--members", "9", "--score", score, "--threshold", "quantile"]
    words += ["--no-report"]
    assert main(["ambiguous", *GIVEN, *words]) == 0
    found, said = summary_of("consilience-ambiguous-blobs"), capsys.readouterr().out
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    # Thirty objects of three clusters are three quarters of forty.
    members = KMeansEnsemble(9, 3, max_samples=0.75, random_state=0).generate(X)
    known = ambiguous(members, score=score, threshold="quantile")
    assert found["n_members"] == 9
    assert found["n_objects"] == N
    assert found["n_ambiguous"] == known.n_flagged > 0
    assert found["threshold"] == known.threshold
    assert (found["rule"], found["why"]) == (known.rule, known.why)
    rows = rows_of("consilience-ambiguous-blobs/ambiguous.csv")
    assert [row["id"] for row in rows] == [f"o{i}" for i in range(N)]
    assert [row["score"] for row in rows] == [f"{s:.6g}" for s in known.scores]
    assert [row["ambiguous"] for row in rows] == [str(int(f)) for f in known.flags]
    assert f"{known.n_flagged} ambiguous ({known.n_flagged / N:.1%})" in said
    flagged = np.flatnonzero(known.flags)
    order = flagged[np.argsort(known.scores[flagged], kind="stable")][:10]
    told = [row[:2] for row in table_rows(said, "id", "score", "cluster", "next best")]
    assert told == [[f"o{i}", f"{known.scores[i]:.4f}"] for i in order]
    assert "by k-means" in said


def test_the_histogram_of_scores_counts_every_object(blobs, capsys):
    assert main(["ambiguous", *GIVEN, "-k", "3", "--members", "9"]) == 0
    said = capsys.readouterr().out
    limit = summary_of("consilience-ambiguous-blobs")["threshold"]
    lines = re.findall(r"^ +(\d\.\d+) ([< ]) (#*) (\d+)$", said, re.MULTILINE)
    lows = [float(low) for low, *_ in lines]
    counts = [int(count) for *_, count in lines]
    assert len(lines) == 16
    assert sum(counts) == N
    step = lows[1] - lows[0]
    assert [low for low, sign, *_ in lines if sign == "<"] == [
        f"{low:.3f}" for low in lows if low < limit <= low + step + 1e-3
    ]
    for (*_, bar, _), count in zip(lines, counts, strict=True):
        assert len(bar) == np.ceil(40 * count / max(counts))


def test_members_of_ambiguous_see_a_share_that_grows_with_k(monkeypatch, blobs):
    from consilience.workflow import ambiguous_objects

    X = np.random.default_rng(0).normal(size=(1000, 2))
    for k, n, share in ((3, 1000, 0.2), (3, 100, 0.3), (3, 40, 0.75), (3, 20, 0.9), (2, 100, 0.2)):
        asked = {"score": "relative", "n_members": 12, "random_state": 5, "n_jobs": 2}
        made = ambiguous_objects(X[:n], k, **asked).generator
        assert made.max_samples == pytest.approx(share)
        assert (made.n_members, made.n_clusters, made.random_state) == (12, k, 5)
        assert made.n_jobs == 2


def test_objects_that_nobody_saw_have_no_score_and_are_told(capsys):
    Path("mine.csv").write_text("a,b\n" + "0,0\n" * 5 + "1,1\n" * 5 + "0,1\n" + ",\n")
    assert main(["ambiguous", "--labels", "mine.csv", "-k", "2", "--no-report"]) == 0
    said = capsys.readouterr().out
    rows = rows_of("consilience-ambiguous-mine/ambiguous.csv")
    assert rows[11]["score"] == ""
    # One is torn between two groups, one is in none.
    assert [row["ambiguous"] for row in rows] == ["0"] * 10 + ["1"] * 2
    assert "2 clusterings given" in said
    assert "seen by nobody" in said


def test_minority_reports_the_figures_of_the_estimator(blobs, capsys):
    X, y = blobs
    words = ["--repetitions", "30", "--background", "g1"]
    assert main(["minority", *GIVEN, *words, "--no-report"]) == 0
    found, said = summary_of("consilience-minority-blobs"), capsys.readouterr().out
    gamma = found["options"]["gamma"]
    gamma = float(gamma) if gamma[0].isdigit() else gamma
    model = EWOCS(gamma=gamma, n_repetitions=30, random_state=0).fit(X)
    truth = y != 1
    assert found["background"] == "g1"
    assert found["n_objects"] == N
    assert found["n_foreground"] == model.n_foreground_
    assert found["n_undecided"] == int(model.undecided_.sum())
    placed = model.labels_[model.labels_ >= 0]
    sizes = np.bincount(placed, minlength=model.n_clusters_).tolist()
    assert found["group_sizes"] == sizes
    assert found["repetitions"] == model.n_repetitions_ == 30
    assert found["reliability"] == pytest.approx(model.reliability_)
    assert found["converged"] == model.converged_
    assert found["why"] == model.threshold_result_.why
    # The rule that was used stands first.
    others = thresholds.every(model.scores_, y=truth.astype(int))
    rules = [model.threshold_result_, *others]
    assert [one["rule"] for one in found["thresholds"]] == [rule.method for rule in rules]
    for one, rule in zip(found["thresholds"], rules, strict=True):
        assert one["n_foreground"] == rule.n_foreground
        assert one["why"] == rule.why
        assert one["threshold"] == (float(rule.value) if np.isfinite(rule.value) else None)
    hits = precision_recall_f1(model.labels_, truth)
    assert found["agreement_with_truth"] == {
        "auc": auc(model.scores_, truth),
        "precision": hits.precision,
        "recall": hits.recall,
        "f1": hits.f1,
    }
    rows = rows_of("consilience-minority-blobs/scores.csv")
    assert [row["id"] for row in rows] == [f"o{i}" for i in range(N)]
    assert [int(row["group"]) for row in rows] == model.labels_.tolist()
    assert [int(row["undecided"]) for row in rows] == model.undecided_.astype(int).tolist()
    np.testing.assert_allclose([float(row["score"]) for row in rows], model.scores_, atol=1e-8)
    if model.n_foreground_:
        groups = table_rows(said, "group", "objects", "mean score")
        assert groups == [
            [str(g), str(size), f"{model.scores_[model.labels_ == g].mean():.4g}"]
            for g, size in enumerate(sizes)
        ]
        assert f"{model.n_foreground_} of {N} objects are foreground" in said
    assert f"AUC {auc(model.scores_, truth):.3f}, precision {hits.precision:.3f}" in said
    assert f"recall {hits.recall:.3f}, F1 {hits.f1:.3f}" in said
    shown = table_rows(said, "rule", "threshold", "foreground")
    assert [row[0] for row in shown] == [rule.method for rule in rules]
    assert [row[-1] for row in shown] == [str(rule.n_foreground) for rule in rules]
    assert sum("taken" in row[1] for row in shown) == 1


def test_the_background_is_the_most_frequent_group_unless_named(blobs):
    Path("odd.csv").write_text(
        "x,kind\n" + "".join(f"{i * i % 17},{'many' if i % 3 else 'few'}\n" for i in range(20))
    )
    words = ["odd.csv", "--truth-column", "kind", "--repetitions", "5", "--no-report", "--force"]
    assert main(["minority", *words, "--quiet"]) == 0
    assert summary_of("consilience-minority-odd")["background"] == "many"
    assert main(["minority", *words, "--quiet", "--background", "few"]) == 0
    assert summary_of("consilience-minority-odd")["background"] == "few"


@pytest.mark.parametrize(("asked", "count"), [("1", 1), ("7", 7), ("0.25", 10)])
def test_the_size_of_the_foreground_may_be_given_as_number_or_share(blobs, asked, count):
    words = ["--threshold", "size", "--n-foreground", asked, "--repetitions", "10"]
    assert main(["minority", *GIVEN, *words, "--no-report", "--quiet"]) == 0
    assert summary_of("consilience-minority-blobs")["n_foreground"] == count


def test_the_list_of_methods_is_the_table(capsys):
    assert main(["methods", "--json"]) == 0
    listed = json.loads(capsys.readouterr().out)
    assert [one["name"] for one in listed] == sorted(CONSENSUS)
    for one in listed:
        method = CONSENSUS[one["name"]]
        assert one["paper"] == method.paper
        assert one["needs_data"] == method.needs_data
        assert one["needs_n_clusters"] == method.needs_n_clusters
        assert (one["balanced"], one["memory"]) == (method.balanced, method.memory)
    assert main(["methods"]) == 0
    rows = {
        row[0]: row
        for row in table_rows(capsys.readouterr().out, "method", "needs", "what it does")
    }
    for name, method in CONSENSUS.items():
        needs = ["-k"] * method.needs_n_clusters + ["data"] * method.needs_data
        words = f"{method.summary} ({method.paper})"
        assert rows[name] == [name, *([", ".join(needs)] if needs else []), words]


@pytest.mark.parametrize("few", [0, 1, 19, 20])
def test_one_object_is_foreground_enough_to_be_compared_with(few, capsys):
    lines = [f"{i * i % 17},{'few' if i < few else 'many'}\n" for i in range(20)]
    Path("odd.csv").write_text("x,kind\n" + "".join(lines))
    words = ["odd.csv", "--truth-column", "kind", "--repetitions", "5", "--no-report"]
    background = ["--background", "many"] if few < 20 else []
    assert main(["minority", *words, *background]) == 0
    found, said = summary_of("consilience-minority-odd"), capsys.readouterr().out
    if few in (0, 20):
        assert found["agreement_with_truth"] is None
        assert "AUC" not in said
    else:
        model = EWOCS(n_repetitions=5, random_state=0).fit(
            np.array([[i * i % 17] for i in range(20)], float)
        )
        truth = np.arange(20) < few
        assert found["agreement_with_truth"]["auc"] == auc(model.scores_, truth)
        assert "Against column 'kind', background 'many': AUC" in said


@pytest.mark.parametrize("converged", [True, False, None])
def test_scores_that_had_not_settled_are_said_not_to_have(blobs, converged, monkeypatch, capsys):
    from consilience.workflow import minority as job

    class Told(EWOCS):
        def fit(self, X, y=None, **options):
            super().fit(X, y, **options)
            self.converged_ = converged
            return self

    monkeypatch.setattr(job, "EWOCS", Told)
    assert main(["minority", *GIVEN, "--repetitions", "5", "--no-report"]) == 0
    assert ("The scores had not settled" in capsys.readouterr().out) == (converged is False)
    assert summary_of("consilience-minority-blobs")["converged"] is converged
