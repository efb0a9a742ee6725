"""What ``cluster`` reports are the library's own figures: in its files, and on the screen."""

import json
import re
from pathlib import Path

import numpy as np
import pytest
from cli_values.read_back import GIVEN, MEMBERS, K, N, members_of, rows_of, summary_of, table_rows
from numba import config as numba_config

from consilience import EAC, AutoConsensus, Ensemble
from consilience.cli import main
from consilience.compare import against_truth, compare_methods
from consilience.consensus import CONSENSUS, choose_n_clusters
from consilience.consensus._auto_choice import worth_a_look
from consilience.evidence import confidence

pytest.importorskip("cyclopts")
pytestmark = pytest.mark.skipif(bool(numba_config.DISABLE_JIT), reason="slow as plain Python")


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
    # Products round as the processor adds.
    assert found["agreement_with_truth"] == pytest.approx(
        against_truth(y, model.labels_), rel=1e-12
    )
    k = ensemble.n_clusters
    assert k.min() < k.max()
    assert found["ensemble"]["n_clusters_smallest"] == k.min()
    assert found["ensemble"]["n_clusters_largest"] == k.max()
    assert found["method"]["paper"] == CONSENSUS["eac"].paper
    wanted = model.get_params(deep=False)
    del wanted["generator"], wanted["confidence"], wanted["device"]
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
        "valley": round(clear.valley, 4),
        "expected_valley": round(clear.expected_valley, 4),
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
    assert "No object is doubtful (confidence 0.75 or more)." in said
    found = summary_of("consilience-sure")
    assert found["mean_confidence"] == 1
    assert found["least_sure"] == []
    assert "2 clusterings, of 2 clusters each" in said


@pytest.mark.parametrize(
    ("members", "note"), [(1, "1 clustering is few"), (4, "4 clusterings are few"), (5, None)]
)
def test_few_members_are_said_to_be_few(blobs, members, note):
    words = ["-k", "2", "--members", str(members), "--method", "eac", "--no-report", "--quiet"]
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
    words = ["-k", "2", "--members", "5", "--method", "eac", "--no-report", "--force"]
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


def test_two_clusters_have_a_confidence_each(blobs, capsys):
    X, _ = blobs
    words = [*GIVEN, "-k", "2", "--members", "7", "--method", "eac", "--no-report"]
    assert main(["cluster", *words]) == 0
    X, ensemble = members_of(X)
    model = EAC(2, random_state=0).fit(X, ensemble=ensemble)
    doubtful = int((model.confidence_ < 0.75).sum())
    said = capsys.readouterr().out
    _check_printed_clusters(said, model.labels_, model.confidence_)
    assert ("No object is doubtful" in said) == (doubtful == 0)
    assert doubtful == 0 or f"{doubtful} object" in said
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
