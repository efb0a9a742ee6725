"""What a command reports are the library's own figures: in its files, and on the screen."""

import csv
import io
import json
import os
import re
import time
from dataclasses import replace
from pathlib import Path
from unittest.mock import Mock

import numpy as np
import pytest
from numba import config as numba_config

from consilience import EAC, EWOCS, AutoConsensus, Ensemble
from consilience._cli.folders import PROFILE
from consilience.cli import main
from consilience.compare import against_truth, auc, compare_methods, precision_recall_f1
from consilience.consensus import CONSENSUS, choose_n_clusters
from consilience.consensus._auto_choice import worth_a_look
from consilience.datasets import make_gaussians
from consilience.evidence import ambiguous, confidence
from consilience.generate import KMeansEnsemble, default_generator
from consilience.minority import thresholds
from consilience.workflow._data import gather

pytest.importorskip("cyclopts")
Console = pytest.importorskip("rich.console").Console
pytestmark = pytest.mark.skipif(bool(numba_config.DISABLE_JIT), reason="slow as plain Python")

N, K, MEMBERS = 40, 3, 7
GIVEN = ["blobs.csv", "--id-column", "name", "--truth-column", "group"]


@pytest.fixture(autouse=True)
def in_a_folder(tmp_path, monkeypatch):
    """Run every command in a folder of its own, wide enough for whole lines."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "250")
    monkeypatch.delenv("FORCE_COLOR", raising=False)


@pytest.fixture
def blobs():
    """Write ``blobs.csv``: three groups that overlap; returns the data and the groups."""
    X, y = make_gaussians(N, K, 2, separation=3, random_state=1)
    X = X.round(6)
    lines = [f"o{i},{a:.6f},{b:.6f},g{c}" for i, ((a, b), c) in enumerate(zip(X, y, strict=True))]
    Path("blobs.csv").write_text("name,x,y,group\n" + "\n".join(lines) + "\n")
    return X, y


def summary_of(folder):
    return json.loads(Path(folder, "summary.json").read_text(encoding="utf-8"))


def rows_of(path):
    with Path(path).open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def members_of(X, seed=0, n_members=MEMBERS):
    """The members that the command makes, on columns standardised as it does, bit for bit."""
    X = gather(X, ensemble=None, ids=None, truth=None, scale=True, owner="this test").X
    return X, default_generator(
        *X.shape, n_members=n_members, random_state=seed
    ).generator.generate(X)


def table_rows(text, *heads):
    """The rows of the printed table with these heads, as lists of cells."""
    lines = text.splitlines()
    start = next(i for i, line in enumerate(lines) if line.split() == " ".join(heads).split())
    rows = []
    for line in lines[start + 2 :]:
        if not line.strip():
            return rows
        rows.append(re.split(r"\s{2,}", line.strip()))
    return rows


# ---- cluster --------------------------------------------------------------------------------


def test_the_summary_of_cluster_holds_the_figures_of_the_estimator(blobs, capsys):
    X, y = blobs
    words = [*GIVEN, "-k", str(K), "--members", str(MEMBERS), "--method", "eac"]
    assert main(["cluster", *words]) == 0
    found, said = summary_of("consilience-blobs"), capsys.readouterr().out
    X, ensemble = members_of(X)
    model = EAC(K, random_state=0).fit(X, ensemble=ensemble)
    sure = model.confidence_
    assert found["n_clusters"] == model.n_clusters_ == K
    assert found["n_clusters_chosen_by"] == "user"
    assert found["cluster_sizes"] == np.bincount(model.labels_).tolist()
    assert found["n_noise"] == 0
    assert found["mean_confidence"] == round(float(sure.mean()), 6)
    assert found["mean_confidence"] < 1
    assert found["agreement_with_truth"] == against_truth(y, model.labels_)
    k = ensemble.n_clusters
    assert k.min() < k.max()
    assert found["ensemble"]["n_clusters_smallest"] == k.min()
    assert found["ensemble"]["n_clusters_largest"] == k.max()
    assert found["method"]["paper"] == CONSENSUS["eac"].paper
    wanted = model.get_params(deep=False)
    del wanted["generator"], wanted["confidence"]
    assert found["method"]["parameters"] == wanted
    order = np.argsort(sure, kind="stable")[:10]
    assert found["least_sure"] == [
        {
            "id": f"o{i}",
            "cluster": int(model.labels_[i]),
            "runner_up": int(model.runner_up_[i]),
            "confidence": round(float(sure[i]), 4),
        }
        for i in order
    ]
    longest = np.argsort(-model.lifetimes_.round(12), kind="stable")[:4]
    assert found["n_clusters_candidates"] == [
        int(i) + 2 for i in longest if model.lifetimes_[i] > 0
    ]
    _check_printed_clusters(said, model.labels_, sure)
    least = table_rows(said, "id", "cluster", "next best", "confidence")
    assert [row[0] for row in least] == [f"o{i}" for i in order[:5]]
    assert [row[3] for row in least] == [f"{sure[i]:.2f}" for i in order[:5]]
    assert [row[2] for row in least] == [str(model.runner_up_[i]) for i in order[:5]]
    scores = against_truth(y, model.labels_)
    assert f"{scores['consistency_index']:.0%} of the objects agree" in said
    assert f"NMI {scores['nmi']:.3f}, adjusted Rand index {scores['ari']:.3f}" in said
    assert f"{MEMBERS} clusterings, of {k.min()} to {k.max()} clusters each" in said


def _check_printed_clusters(said, labels, sure):
    rows = table_rows(said, "cluster", "objects", "share", "confidence")
    n = len(labels)
    assert rows[:-1] == [
        [str(c), str(size), f"{size / n:.0%}", f"{sure[labels == c].mean():.2f}"]
        for c, size in enumerate(np.bincount(labels))
    ]
    assert rows[-1] == ["all", str(n), f"{sure.mean():.2f}"]


def test_labels_csv_holds_every_object_once_and_in_order(blobs):
    X, _ = blobs
    assert main(["cluster", *GIVEN, "-k", "3", "--members", "7", "--no-report"]) == 0
    X, ensemble = members_of(X)
    model = AutoConsensus(3, random_state=0).fit(X, ensemble=ensemble)
    rows = rows_of("consilience-blobs/labels.csv")
    assert [row["id"] for row in rows] == [f"o{i}" for i in range(N)]
    assert [int(row["cluster"]) for row in rows] == model.labels_.tolist()
    np.testing.assert_allclose(
        [float(row["confidence"]) for row in rows], model.confidence_, atol=1e-6
    )
    assert not Path("consilience-blobs/report.html").exists()


@pytest.mark.parametrize("strict", [False, True])
def test_the_number_of_clusters_is_that_of_the_criteria(blobs, strict, capsys):
    X, _ = blobs
    more = ["--strict"] * strict
    assert main(["cluster", *GIVEN, "--members", "7", "--no-report", *more]) == 0
    found, said = summary_of("consilience-blobs"), capsys.readouterr().out
    X, ensemble = members_of(X)
    model = None
    if strict:
        choice = choose_n_clusters(X, ensemble=ensemble, random_state=0)
    else:
        model = AutoConsensus(random_state=0).fit(X, ensemble=ensemble)
        choice = model.choice_
    assert found["n_clusters_chosen_by"] == "criteria"
    assert found["choice"] == {
        "n_clusters": choice.n_clusters,
        "clear": choice.clear,
        "taken": choice.taken,
        "words": choice.words,
        "criteria": [
            {
                "name": one.name,
                "n_clusters": one.n_clusters,
                "clarity": round(float(one.clarity), 4),
                "words": one.words,
            }
            for one in choice.criteria
        ],
    }
    assert found["n_clusters"] == choice.n_clusters
    took = json.loads(Path("consilience-blobs/timings.json").read_text())["seconds"]
    stages = {"read", "generate", "number of clusters", "consensus"}
    assert set(took) == (stages if strict else stages - {"number of clusters"})
    assert all(0 <= seconds < 60 for seconds in took.values())
    rows = table_rows(said, "How many clusters?", "says", "how clearly")
    assert [row[1:] for row in rows] == [
        ["nothing"] if c.n_clusters is None else [str(c.n_clusters), f"{c.clarity:.0%}"]
        for c in choice.criteria
    ]
    assert choice.words in " ".join(said.split())
    if model is not None:
        _check_clarity(model, found, " ".join(said.split()))


def _check_clarity(model, found, said):
    """How clear the groups are, and what else is worth a look, are the estimator's figures."""
    clear = model.clarity_
    assert found["clarity"] == {
        "verdict": clear.verdict,
        "p_value": clear.p_value,
        "n_references": clear.n_references,
        "n_objects": N,
        "sparsity": round(clear.sparsity, 4),
        "expected": round(clear.expected, 4),
        "agreement": round(clear.agreement, 4),
        "words": clear.words,
    }
    assert clear.words in said
    worth = worth_a_look(model.alternatives_)
    assert len(worth) > 1
    assert [one["n_clusters"] for one in found["alternatives"]] == [k.n_clusters for k in worth]
    for shown, one in zip(found["alternatives"], worth, strict=True):
        assert shown == {
            "n_clusters": len(one.sizes),
            "found_by": one.line,
            "sizes": sorted(one.sizes, reverse=True),
            "support": round(one.support, 4),
            "agreement": round(one.agreement, 4),
            "silhouette": round(one.silhouette, 4),
            "modularity": round(one.modularity, 4),
            "difference": one.difference,
        }
    for one in worth[1:]:
        assert f"Worth a look: -k {one.n_clusters} (" in said
        assert f"which {one.difference}." in said
    assert found["n_clusters_candidates"] == [
        one.n_clusters for one in worth_a_look(model.alternatives_, 4)
    ]


def test_methods_are_compared_by_their_own_figures(blobs, capsys):
    X, y = blobs
    words = ["-k", "3", "--members", "7", "--methods", "voting,hgpa,eac", "--seed", "4"]
    assert main(["cluster", *GIVEN, *words, "--no-report"]) == 0
    found, said = summary_of("consilience-blobs"), capsys.readouterr().out
    X, ensemble = members_of(X, seed=4)
    wanted = compare_methods(ensemble, ["voting", "hgpa", "eac"], 3, X=X, truth=y, random_state=4)
    told = found["comparison"]
    assert told["best"] == wanted.best == found["method"]["name"]
    assert [one["name"] for one in told["methods"]] == list(wanted.names)
    for i, one in enumerate(told["methods"]):
        assert one["n_clusters"] == wanted.n_clusters[i]
        assert one["anmi"] == round(float(wanted.anmi[i]), 6)
        for score in ("consistency_index", "nmi", "ari"):
            assert one[score] == round(float(wanted.truth[score][i]), 6)
    np.testing.assert_allclose(told["agreement"], wanted.agreement, atol=1e-6)
    sure = confidence(ensemble, wanted.labels[wanted.best])
    assert found["mean_confidence"] == round(float(sure.confidence.mean()), 6)
    assert found["method"]["parameters"] == {"n_clusters": 3}
    assert found["n_clusters_candidates"] == []
    rows = table_rows(
        said, "method", "clusters", "ANMI", "agree with truth", "NMI", "ARI", "seconds"
    )
    assert [row[:6] for row in rows] == [
        [
            name,
            str(wanted.n_clusters[i]),
            f"{wanted.anmi[i]:.3f}",
            *(f"{wanted.truth[s][i]:.3f}" for s in ("consistency_index", "nmi", "ari")),
        ]
        for i, name in enumerate(wanted.names)
    ]
    pairs = table_rows(said, *wanted.names)
    assert [row[1:] for row in pairs] == [[f"{v:.2f}" for v in row] for row in wanted.agreement]
    assert f"Taken: {wanted.best}" in said


def test_noise_and_objects_of_one_cluster_are_told(capsys):
    table = np.array([[0, 0]] * 6 + [[1, 1]] * 4 + [[-1, -1]] * 2)
    Path("mine.csv").write_text("a,b\n" + "".join(f"{a},{b}\n" for a, b in table))
    assert main(["cluster", "--labels", "mine.csv", "-k", "2", "--no-report"]) == 0
    found, said = summary_of("consilience-mine"), capsys.readouterr().out
    labels = [int(row["cluster"]) for row in rows_of("consilience-mine/labels.csv")]
    assert labels == EAC(2).fit(ensemble=Ensemble(table)).labels_.tolist()
    assert found["n_noise"] == labels.count(-1) == 2
    assert found["cluster_sizes"] == [6, 4]
    rows = table_rows(said, "cluster", "objects", "share", "confidence")
    assert ["noise (-1)", "2", "17%"] in rows
    assert main(["cluster", "--labels", "mine.csv", "-k", "1", "--force", "--no-report"]) == 0
    said = capsys.readouterr().out
    # A single cluster has no other that an object could belong to: no confidence is shown.
    assert table_rows(said, "cluster", "objects", "share", "confidence")[-1] == ["all", "12"]
    assert "Least sure" not in said
    assert "1 cluster, as asked." in said


def test_of_many_clusters_the_largest_are_shown(capsys):
    labels = np.repeat(np.arange(23), np.arange(1, 24))
    Path("many.csv").write_text("a,b\n" + "".join(f"{v},{v}\n" for v in labels))
    assert main(["cluster", "--labels", "many.csv", "-k", "23", "--no-report"]) == 0
    rows = table_rows(capsys.readouterr().out, "cluster", "objects", "share", "confidence")
    n = len(labels)
    assert [int(row[1]) for row in rows[:20]] == list(range(23, 3, -1))
    assert rows[20][:3] == ["3 smaller", "6", f"{6 / n:.0%}"]
    assert rows[21][:2] == ["all", str(n)]
    assert len(rows) == 22


def test_objects_that_are_all_sure_are_said_to_be_so(capsys):
    Path("sure.csv").write_text("a,b\n" + "0,0\n" * 4 + "1,1\n" * 4)
    assert main(["cluster", "--labels", "sure.csv", "-k", "2", "--no-report"]) == 0
    said = capsys.readouterr().out
    assert "Every object is sure of its cluster" in said
    found = summary_of("consilience-sure")
    assert found["mean_confidence"] == 1
    assert found["least_sure"] == []
    assert "2 clusterings, of 2 clusters each" in said


@pytest.mark.parametrize(
    ("members", "note"), [(1, "1 clustering is few"), (4, "4 clusterings are few"), (5, None)]
)
def test_few_members_are_said_to_be_few(blobs, members, note):
    words = ["-k", "2", "--members", str(members), "--no-report", "--quiet"]
    assert main(["cluster", *GIVEN, *words]) == 0
    notes = summary_of("consilience-blobs")["warnings"]
    assert [n for n in notes if " few" in n] == ([] if note is None else notes[:1])
    if note is not None:
        assert note in notes[0]
    assert summary_of("consilience-blobs")["ensemble"]["n_members"] == members


def test_two_objects_are_enough_and_as_many_clusters_as_objects():
    Path("two.csv").write_text("x\n0\n1\n")
    assert main(["cluster", "two.csv", "-k", "2", "--members", "5", "--no-report"]) == 0
    assert summary_of("consilience-two")["cluster_sizes"] == [1, 1]
    assert main(["cluster", "two.csv", "-k", "1", "--members", "5", "--no-report", "--force"]) == 0
    assert summary_of("consilience-two")["cluster_sizes"] == [2]


def test_the_command_in_the_summary_repeats_every_option(blobs):
    words = ["-k", "2", "--method", "lwea", "--members", "6", "--no-scale", "--seed", "3"]
    words += ["--jobs", "2", "--max-memory", "1 GiB", "--ignore", "y", "--impute", "mean"]
    words += ["--decimal", ".", "--no-report", "--out", "here", "--quiet"]
    assert main(["cluster", *GIVEN, *words]) == 0
    found = summary_of("here")
    options = found["options"]
    assert options["data"] == "blobs.csv"
    assert options["ignore"] == ["y"]
    assert (options["seed"], options["jobs"], options["members"]) == (3, 2, 6)
    assert (options["no_scale"], options["no_report"]) == (True, True)
    typed = re.findall(r"--?[a-z][a-z-]*", found["command"])
    # Where the results go and what is printed changes no result.
    given = [word for word in [*GIVEN, *words] if word.startswith("-")]
    assert sorted(typed) == sorted(set(given) - {"--out", "--quiet"})
    assert found["data"]["columns"] == ["x"]
    assert found["data"]["standardised"] is False


def test_json_prints_the_summary_and_quiet_prints_nothing(blobs, capsys):
    words = ["-k", "2", "--members", "5", "--no-report", "--force"]
    assert main(["cluster", *GIVEN, *words, "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == summary_of("consilience-blobs")
    assert main(["cluster", *GIVEN, *words, "--quiet"]) == 0
    captured = capsys.readouterr()
    assert captured.out + captured.err == ""


def test_the_report_says_who_did_what_with_which_confidence(blobs):
    X, _ = blobs
    words = [*GIVEN, "-k", "3", "--members", "7", "--method", "eac", "--quiet"]
    assert main(["cluster", *words]) == 0
    page = Path("consilience-blobs/report.html").read_text(encoding="utf-8")
    found = _values_of(page)
    X, ensemble = members_of(X)
    model = EAC(3, random_state=0).fit(X, ensemble=ensemble)
    done = {row["what"]: row["value"] for row in found["done"]}
    assert done["Data"].startswith("blobs.csv: 40 objects, 2 columns of numbers")
    assert done["Seed"] == "0"
    assert done["Command"] == summary_of("consilience-blobs")["command"]
    assert done["Method"].startswith("eac, average link (Fred & Jain 2005): ")
    sure = {row["cluster"]: row["confidence"] for row in found["clusters"] if row["cluster"] >= 0}
    assert sure == {
        c: pytest.approx(model.confidence_[model.labels_ == c].mean(), abs=1e-3) for c in range(3)
    }
    assert found["title"] == "blobs.csv"


def _values_of(page):
    """The values that a report's page holds."""
    text = re.search(r'<script[^>]*type="application/json"[^>]*>(.*?)</script>', page, re.DOTALL)
    return json.loads(text.group(1))


# ---- ambiguous ------------------------------------------------------------------------------


@pytest.mark.parametrize("score", ["relative", "anco"])
def test_ambiguous_reports_the_figures_of_the_library(blobs, capsys, score):
    X, _ = blobs
    words = ["-k", "3", "--members", "9", "--score", score, "--threshold", "quantile"]
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
    told = table_rows(said, "id", "score")
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
        made = ambiguous_objects(X[:n], k, n_members=12, random_state=5, n_jobs=2).generator
        assert made.max_samples == pytest.approx(share)
        assert (made.n_members, made.n_clusters, made.random_state) == (12, k, 5)
        assert made.n_jobs == 2


def test_objects_that_nobody_saw_have_no_score_and_are_told(capsys):
    Path("mine.csv").write_text("a,b\n" + "0,0\n" * 5 + "1,1\n" * 5 + "0,1\n" + ",\n")
    assert main(["ambiguous", "--labels", "mine.csv"]) == 0
    said = capsys.readouterr().out
    rows = rows_of("consilience-ambiguous-mine/ambiguous.csv")
    assert rows[11]["score"] == ""
    known = ambiguous(Ensemble([[0] * 5 + [1] * 5 + [0, None], [0] * 5 + [1] * 5 + [1, None]]))
    assert [int(row["ambiguous"]) for row in rows] == known.flags.astype(int).tolist()
    assert "2 clusterings given" in said
    if known.flags[11]:
        assert "seen by nobody" in said


# ---- minority -------------------------------------------------------------------------------


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


# ---- the table of methods, and how a run ends -----------------------------------------------


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


@pytest.mark.parametrize(
    ("error", "status", "said"),
    [
        (MemoryError(), 2, "not enough memory"),
        (OSError(28, "No space left on device"), 2, "No space left on device"),
        (OSError(13, "Permission denied", "there.csv"), 2, "Permission denied: there.csv"),
        (KeyboardInterrupt(), 130, "nothing was written"),
    ],
)
def test_whatever_stops_a_run_is_one_line(blobs, capsys, monkeypatch, error, status, said):
    from consilience._cli import inputs as job

    def stop(*args, **kwargs):
        raise error

    monkeypatch.setattr(job, "gather", stop)
    assert main(["cluster", *GIVEN, "-k", "2"]) == status
    captured = capsys.readouterr()
    assert said in captured.err
    assert captured.out == ""
    assert len(captured.err.splitlines()) == 1
    assert sorted(path.name for path in Path().iterdir()) == ["blobs.csv"]


@pytest.mark.parametrize(
    ("words", "hint"),
    [
        (["cluster", "--colour", "red"], "See 'consilience cluster --help'."),
        (["methods", "--colour"], "See 'consilience methods --help'."),
        (["bogus"], "See 'consilience --help'."),
    ],
)
def test_whoever_mistypes_is_sent_to_the_help_of_that_command(words, hint, capsys):
    assert main(words) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.startswith("consilience: ")
    assert captured.err.endswith(f"{hint}\n")
    assert len(captured.err.splitlines()) == 1


def test_a_reader_that_leaves_before_anything_is_said_ends_the_run_with_1(monkeypatch, capsys):
    from consilience._cli import methods as job

    def leave(*args, **kwargs):
        raise BrokenPipeError

    monkeypatch.setattr(job, "tell", leave)
    assert main(["methods"]) == 1
    assert capsys.readouterr().err == ""


def test_a_failure_of_threads_is_told_and_any_other_is_a_defect(blobs, monkeypatch, capsys):
    from consilience._cli import inputs as job

    said = "can't start new thread"

    def stop(*args, **kwargs):
        raise RuntimeError(said)

    monkeypatch.setattr(job, "gather", stop)
    assert main(["cluster", *GIVEN]) == 2
    assert "lets no more threads start" in capsys.readouterr().err
    said = "something else"
    with pytest.raises(RuntimeError, match="something else"):
        main(["cluster", *GIVEN])


# ---- what is said beside the figures --------------------------------------------------------


@pytest.mark.parametrize(
    ("words", "files"),
    [
        (["cluster", "-k", "2", "--members", "5"], ["labels.csv", *PROFILE, "report.html"]),
        (["cluster", "-k", "2", "--members", "5", "--no-report"], ["labels.csv"]),
        (["ambiguous", "-k", "2", "--members", "5"], ["ambiguous.csv"]),
        (["minority", "--repetitions", "5"], ["scores.csv", "report.html"]),
    ],
)
def test_every_file_is_named_with_the_seconds_of_all_and_nothing_else_is_said(
    blobs, words, files, capsys
):
    assert main([words[0], *GIVEN, *words[1:], "--out", "out"]) == 0
    said = capsys.readouterr().out
    *_, last = said.splitlines()
    names = [str(Path("out", name)) for name in [*files, "timings.json", "summary.json"]]
    told = re.fullmatch(r"Wrote (.*) and (.*) \((\d+\.\d) s in all\)\.", last)
    assert [*told.group(1).split(", "), told.group(2)] == names
    assert float(told.group(3)) < 60
    assert sorted(path.name for path in Path("out").iterdir()) == sorted(
        Path(name).name for name in names
    )
    assert summary_of("out")["files"] == [Path(name).name for name in names]
    assert said.startswith("blobs.csv: 40 objects")
    # Nobody asked to go on with anything.
    assert "nothing to go on with" not in said


def test_a_run_that_was_to_go_on_says_that_it_began_anew(blobs, capsys):
    words = ["cluster", *GIVEN, "-k", "2", "--members", "5", "--no-report", "--resume"]
    assert main(words) == 0
    note = "Note: There was nothing to go on with in 'consilience-blobs'"
    assert note in capsys.readouterr().out
    # How a run went is no part of its results.
    found = summary_of("consilience-blobs")
    assert found["warnings"] == []
    assert "resume" not in found["options"]
    assert "--resume" not in found["command"]


def test_force_throws_away_what_an_interrupted_run_left_unless_it_is_to_go_on(blobs, monkeypatch):
    words = ["cluster", *GIVEN, "-k", "2", "--members", "5", "--quiet", "--no-report"]
    for how, is_kept in ((["--force"], False), (["--force", "--resume"], True)):
        with monkeypatch.context() as patch:
            patch.setattr("consilience.workflow.clusters._consensus", Mock(side_effect=MemoryError))
            assert main([*words, "--force"]) == 2
            found = [*Path("consilience-blobs").rglob("*.npz")]
            assert len(found) >= 5
            for path in found:
                os.utime(path, (1, 1))
            assert main([*words, *how]) == 2
        assert all((path.stat().st_mtime == 1) is is_kept for path in found)


@pytest.mark.parametrize("words", [["demo"], ["minority", *GIVEN, "--repetitions", "5"]])
def test_a_job_that_cannot_go_on_with_a_run_refuses_its_folder(blobs, words, capsys):
    Path("out").mkdir()
    Path("out/plan.json").write_text('{"consilience_run": 1}')
    assert main([*words, "--out", "out"]) == 2
    assert "holds a run that was interrupted" in capsys.readouterr().err


def test_results_are_replaced_though_some_of_them_are_gone(blobs):
    words = ["cluster", *GIVEN, "-k", "2", "--members", "5", "--quiet", "--out", "a/b/c"]
    assert main(words) == 0
    Path("a/b/c/report.html").unlink()
    assert main([*words, "--no-report", "--force"]) == 0
    assert sorted(path.name for path in Path("a/b/c").iterdir()) == [
        "labels.csv",
        "summary.json",
        "timings.json",
    ]


def test_names_are_printed_as_they_are_on_any_terminal(blobs, capsys, monkeypatch):
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("TERM", "xterm-256color")
    Path("blobs.csv").rename("[red]7[.csv")
    given = ["[red]7[.csv", *GIVEN[1:], "-k", "2", "--members", "4", "--out", "[bold]1[x]"]
    assert main(["cluster", *given, "--no-report"]) == 0
    said = capsys.readouterr().out
    assert said.startswith("[red]7[.csv: 40 objects, 2 columns of numbers, standardised\n")
    note = next(line for line in said.splitlines() if "Note:" in line)
    assert re.fullmatch(r"\x1b\[33mNote: 4 clusterings are few[^\x1b]*\x1b\[0m", note)
    assert f"Wrote {Path('[bold]1[x]', 'labels.csv')}, " in said
    # Numbers in a sentence are not coloured.
    assert "\x1b[1;36m" not in said


def test_a_note_is_printed_as_it_is():
    from consilience._cli.show import show_notes

    out = io.StringIO()
    show_notes(["column [bold]x was dropped"], Console(file=out, width=80))
    assert out.getvalue() == "Note: column [bold]x was dropped\n"


def test_a_table_stands_at_the_edge_and_its_numbers_at_the_right():
    from consilience._cli.show import table

    lines = table("name", "count", right=("count",))
    lines.add_row("a", "1")
    lines.add_row("long name", "100")
    out = io.StringIO()
    Console(file=out, width=60).print(lines)
    assert [line.rstrip() for line in out.getvalue().splitlines() if line.strip()] == [
        " name        count",
        " " + "─" * 17,
        " a               1",
        " long name     100",
    ]


def test_two_clusters_have_a_confidence_each(blobs, capsys):
    X, _ = blobs
    words = [*GIVEN, "-k", "2", "--members", "7", "--method", "eac", "--no-report"]
    assert main(["cluster", *words]) == 0
    X, ensemble = members_of(X)
    model = EAC(2, random_state=0).fit(X, ensemble=ensemble)
    assert model.confidence_.min() < 0.95
    said = capsys.readouterr().out
    _check_printed_clusters(said, model.labels_, model.confidence_)
    assert "Least sure" in said
    assert "2 clusters, as asked." in said


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--method", "eac"], "the number with the longest lifetime. Next come"),
        (["--method", "eac", "--linkage", "single"], "the number with the longest lifetime."),
        (["--linkage", "average"], "leave out --method and --linkage, and several kinds"),
    ],
)
def test_a_number_by_lifetime_names_the_next_ones(blobs, words, said, capsys):
    X, _ = blobs
    assert main(["cluster", *GIVEN, "--members", "7", *words, "--no-report"]) == 0
    printed = " ".join(capsys.readouterr().out.split())
    X, ensemble = members_of(X)
    link = words[-1] if "--linkage" in words else "average"
    model = EAC(linkage=link, random_state=0).fit(X, ensemble=ensemble)
    # Single link has equal lifetimes here, up to rounding: the smallest number comes first.
    order = np.argsort(-model.lifetimes_.round(12), kind="stable")
    held = [int(i) + 2 for i in order if model.lifetimes_[i] > 0]
    assert len(held) > 4 or link == "single"
    del held[4:]
    found = summary_of("consilience-blobs")
    assert found["n_clusters_candidates"] == held
    assert found["n_clusters"] == held[0]
    assert found["n_clusters_chosen_by"] == "method"
    assert said in printed
    others = ", ".join(map(str, held[1:]))
    assert f"{held[0]} clusters, the number with the longest lifetime." in printed
    assert f"Next come {others}; ask for one with -k." in printed
    assert ("With average link" in printed) == (link == "average")


def test_objects_moved_and_objects_kept_are_counted_in_words():
    from consilience._cli.show_cluster import _suited_elsewhere

    assert "1 object has less. --refine moves it there." in _suited_elsewhere(1, refined=False)
    assert "2 objects have less. --refine moves them" in _suited_elsewhere(2, refined=False)
    after = _suited_elsewhere(2, refined=True)
    assert "2 objects have less, after one pass" in after
    assert "--refine" not in after


def test_moved_objects_are_told_by_their_number(blobs):
    from consilience._cli.arguments import ClusterWish, Reading
    from consilience._cli.cluster import find

    reading = Reading(id_column="name", truth_column="group")
    wish = ClusterWish(data=Path("blobs.csv"), n_clusters=2, members=5, reading=reading)
    found = find(wish, Path("run")).result
    assert found.n_moved is None
    assert "moved" not in found.method_in_words()
    for n, words in ((0, "0 objects were"), (1, "1 object was"), (2, "2 objects were")):
        told = replace(found, n_moved=n).method_in_words()
        assert told.endswith(f" {words} then moved to the cluster they are most often with.")


def test_one_method_beside_none_is_not_compared_with_itself():
    from consilience._cli.show_cluster import _show_comparison

    ensemble = Ensemble([[0, 0, 1, 1], [0, 1, 1, 1]])
    for names, told in ((["eac"], False), (["eac", "voting"], True)):
        out = io.StringIO()
        found = compare_methods(ensemble, names, 2, random_state=0)
        _show_comparison(found, Console(file=out, width=200))
        assert ("Agreement of the methods with each other" in out.getvalue()) == told
        assert f"Taken: {found.best}, " in out.getvalue()


def test_json_holds_plain_values_only():
    from consilience._cli.outputs import as_json
    from consilience.workflow._data import Data

    def plain(ids):
        return [Data(len(ids), ids=np.array(ids)).plain_id(i) for i in range(len(ids))]

    assert plain([1.5, np.nan, np.inf]) == [1.5, "nan", "inf"]
    assert plain([3]) == [3]
    assert plain(["a"]) == ["a"]
    assert all(
        type(value) in (int, float, str) for ids in ([3], [1.5], ["a"]) for value in plain(ids)
    )
    with pytest.raises(ValueError, match="JSON"):
        as_json({"a": float("nan")})


# ---- minority: the smallest truth, and what had not settled ---------------------------------


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
        def fit(self, X, y=None):
            super().fit(X, y)
            self.converged_ = converged
            return self

    monkeypatch.setattr(job, "EWOCS", Told)
    assert main(["minority", *GIVEN, "--repetitions", "5", "--no-report"]) == 0
    assert ("The scores had not settled" in capsys.readouterr().out) == (converged is False)
    assert summary_of("consilience-minority-blobs")["converged"] is converged


# ---- the demonstration ----------------------------------------------------------------------


def test_the_demonstration_replaces_only_by_force_and_gives_commands_to_copy(capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "60")
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("TERM", "xterm-256color")
    place = "a folder [bold]of 7 words whose name is longer than any line"
    assert main(["demo", "--out", place]) == 0
    said = capsys.readouterr().out
    assert "\x1b[1;36m" not in said
    data = f"'{Path(place, 'spirals.csv')}'"
    tried = re.findall(r"^  (consilience .*)$", said, re.MULTILINE)
    assert tried == [
        f"consilience cluster {data} --truth-column arm",
        f"consilience cluster {data} --linkage single --truth-column arm --force",
        "consilience methods",
    ]
    assert float(re.search(r"\((\d+\.\d)\s+s\s+in\s+all\)", said).group(1)) < 60
    assert main(["demo", "--out", place]) == 2
    assert "--force" in capsys.readouterr().err


def test_the_pictures_of_the_demonstration_fit_and_show_every_cluster(monkeypatch):
    from consilience._cli import demo

    X = np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0], [1.0, 1.0], [0.5, 0.5], [0.5, 0.5]])
    # Two clusters in the middle: the one with more objects shows, here the fifth.
    X = np.vstack([X, [0.5, 0.5]])
    assert demo._picture(X, np.array([0, 1, 2, 3, 1, 4, 4]), 4).split("\n") == ["+  x", ". .o"]
    # A line of objects has no height.
    flat = X * [1, 0]
    assert demo._picture(flat, np.zeros(7, int), 4).split("\n")[1] == ". .."
    taken = []

    def draw(X, labels, width):
        taken.append(width)
        return "o" * width

    monkeypatch.setattr(demo, "_picture", draw)
    for width, wanted in ((20, 20), (60, 26), (61, 26), (200, 48)):
        taken.clear()
        out = io.StringIO()
        demo._show_pictures(X, {"left": 0, "right": 1}, Console(file=out, width=width))
        assert taken == [wanted, wanted]
        if width > 2 * wanted:
            assert out.getvalue().splitlines()[1].split() == ["o" * wanted, "o" * wanted]


# ---- words to somebody who may have left ----------------------------------------------------


def test_what_cannot_be_printed_is_tried_once_and_told_at_the_end():
    from consilience._cli.speech import Speaker

    class Full(io.StringIO):
        tries = 0

        def write(self, text):
            self.tries += 1
            raise OSError(28, f"No space left, try {self.tries}")

    stream = Full()
    console = Speaker(file=stream)
    for _ in range(3):
        console.print("a line")
    assert stream.tries == 1
    with pytest.raises(OSError, match="try 1") as caught:
        console.close("The results are there.")
    assert caught.value.__notes__ == ["The results are there."]


@pytest.mark.parametrize("live", [True, False])
def test_what_is_being_done_is_seen_at_once(live):
    from consilience._cli.stages import Teller

    class Kept(io.StringIO):
        """A stream that shows only what was flushed."""

        seen = ""

        def flush(self):
            self.seen = self.getvalue()

    first = Kept()
    with Teller(first, live=live, moment=0.0, again=60.0).stage("read"):
        time.sleep(0.1)
        assert "reading" in first.seen
    stream = Kept()
    with Teller(stream, live=live, moment=0.0, again=0.01).stage("read"):
        time.sleep(0.1)
        assert "reading" in stream.seen
        if not live:
            assert "still reading" in stream.seen
    assert stream.seen == stream.getvalue()
