"""``consilience minority``: what it finds, writes and prints, and how it refuses."""

import csv
import json
from pathlib import Path

import numpy as np
import pytest
from numba import config

from consilience.cli import main

pytest.importorskip("cyclopts")
pytestmark = pytest.mark.skipif(bool(config.DISABLE_JIT), reason="slow as plain Python")


@pytest.fixture(autouse=True)
def in_a_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "80")


@pytest.fixture
def stars():
    """300 objects of noise and two dense groups of 40."""
    rng = np.random.default_rng(0)
    parts = [rng.uniform(-2, 2, (300, 2))]
    parts += [rng.normal(centre, 0.06, (40, 2)) for centre in ((-1, 1), (1, -0.5))]
    kinds = ["field"] * 300 + ["a"] * 40 + ["b"] * 40
    X = np.concatenate(parts)
    lines = [
        f"s{i},{x:.6f},{y:.6f},{k}" for i, ((x, y), k) in enumerate(zip(X, kinds, strict=True))
    ]
    Path("stars.csv").write_text("name,x,y,kind\n" + "\n".join(lines) + "\n")
    return ["stars.csv", "--id-column", "name", "--truth-column", "kind"]


def written(folder):
    with Path(folder, "scores.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    return rows, json.loads(Path(folder, "summary.json").read_text())


def test_the_dense_groups_are_found(stars, capsys):
    assert main(["minority", *stars, "--repetitions", "200", "-k", "2"]) == 0
    rows, summary = written("consilience-minority-stars")
    assert [row["id"] for row in rows] == [f"s{i}" for i in range(380)]
    groups = np.array([int(row["group"]) for row in rows])
    assert (groups[300:] >= 0).mean() > 0.9
    assert (groups[:300] < 0).mean() > 0.8
    assert len(set(groups[300:340][groups[300:340] >= 0])) == 1
    assert summary["background"] == "field"
    assert summary["agreement_with_truth"]["auc"] > 0.95
    assert summary["p_value"] <= 0.05
    assert summary["reference"]["null"] in ("box", "copula", "ellipsoid", "patches")
    assert [rule["rule"] for rule in summary["thresholds"]] == [
        "reference",
        "2gauss",
        "dist",
        "ngauss+var",
        "best",
        "ngauss+best",
    ]
    printed = capsys.readouterr().out
    assert "taken" in printed
    assert "background 'field'" in printed
    scores = np.array([float(row["score"]) for row in rows])
    np.testing.assert_array_equal(scores >= summary["threshold"] - 1e-8, groups >= 0)


def test_size_and_a_background_by_name(stars, capsys):
    words = ["--repetitions", "50", "--threshold", "size", "--n-foreground", "80"]
    assert main(["minority", *stars, *words, "--background", "field", "--out", "here"]) == 0
    _, summary = written("here")
    assert summary["n_foreground"] == 80
    assert main(["minority", *stars, *words[:-1], "80.5"]) == 2
    assert "Got 80.5 instead" in capsys.readouterr().err


def test_a_device_that_is_not_there_is_refused_before_the_file_is_read(capsys):
    Path("words.csv").write_text("a,b\nx,1\n,2\n")
    for command in ("minority", "cluster"):
        assert main([command, "words.csv", "--device", "nowhere:7"]) == 2
        said = capsys.readouterr().err
        assert "device" in said
        assert "words.csv" not in said


def test_hyperplanes_and_no_truth(stars, capsys):
    words = ["stars.csv", "--id-column", "name", "--truth-column", "kind"]
    assert main(["minority", *words, "--weak", "split", "--repetitions", "60"]) == 0
    assert "split" in capsys.readouterr().out


def test_equal_seeds_and_any_jobs_give_the_same_file(stars):
    for jobs, out in (("1", "one"), ("2", "two")):
        words = ["--repetitions", "40", "--jobs", jobs, "--out", out]
        assert main(["minority", *stars, *words]) == 0
    assert Path("one/scores.csv").read_bytes() == Path("two/scores.csv").read_bytes()


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["stars.csv", "--weak", "strong"], "'weak' parameter of EWOCS"),
        (["stars.csv", "--divergence", "taxi"], "'divergence' parameter of EWOCS"),
        (["stars.csv", "--gamma", "-1"], "'gamma' parameter of EWOCS"),
        (["stars.csv", "--threshold", "size"], "needs the number or the share"),
        (["stars.csv", "--threshold", "best"], "looks at the truth"),
        (["stars.csv", "--threshold", "most"], "'threshold' parameter of EWOCS"),
        (["stars.csv", "--repetitions", "none"], "'n_repetitions' parameter of EWOCS"),
        (["stars.csv", "--jobs", "0"], "'--jobs' parameter of consilience minority"),
        (["nothing.csv"], "nothing.csv"),
    ],
)
def test_bad_input_is_refused_and_nothing_written(stars, words, message, capsys):
    assert main(["minority", *words]) == 2
    assert message in capsys.readouterr().err
    assert [path.name for path in Path.cwd().iterdir()] == ["stars.csv"]


def test_a_background_that_is_not_there_is_refused(stars, capsys):
    assert main(["minority", *stars, "--background", "sky"]) == 2
    assert "Its values are a, b, field" in capsys.readouterr().err


def test_crumbs_of_plain_noise_are_called_so(capsys):
    X = np.random.default_rng(0).uniform(size=(300, 4))
    np.savetxt("noise.csv", X, delimiter=",", header="a,b,c,d", comments="")
    # The number of groups by evidence accumulation, where near is no distance between rows.
    words = ["--repetitions", "100", "--divergence", "mahalanobis", "--weak", "hard"]
    words += ["--threshold", "size", "--n-foreground", "40"]
    assert main(["minority", "noise.csv", *words]) == 0
    assert "No dense group stands out" in " ".join(capsys.readouterr().out.split())


def test_plain_noise_has_no_groups_and_the_command_says_so(capsys):
    X = np.random.default_rng(0).normal(size=(400, 3))
    np.savetxt("noise.csv", X, delimiter=",", header="a,b,c", comments="")
    assert main(["minority", "noise.csv", "--repetitions", "100"]) == 0
    printed = " ".join(capsys.readouterr().out.split())
    assert "No dense groups: no more is seen than in data without any (p = " in printed
    rows, summary = written("consilience-minority-noise")
    assert {row["group"] for row in rows} == {"-1"}
    assert (summary["flag"], summary["n_foreground"]) == ("no_groups", 0)
    assert summary["p_value"] > 0.05


def test_known_groups_that_score_low_are_told(capsys):
    rng = np.random.default_rng(0)
    X = np.r_[0.5 * rng.normal(size=(300, 2)), 6 * rng.normal(size=(60, 2))]
    lines = [f"{x},{y},{'out' if i >= 300 else 'in'}" for i, (x, y) in enumerate(X.tolist())]
    Path("out.csv").write_text("\n".join(["a,b,kind", *lines]))
    words = ["--truth-column", "kind", "--repetitions", "100", "--score", "knn"]
    assert main(["minority", "out.csv", *words]) == 0
    printed = " ".join(capsys.readouterr().out.split())
    assert "The AUC is below one half" in printed
    # Distances are no weak clusterings, and do not hang on chance.
    assert "Scored by distances to the nearest objects; 100 weak clusterings" in printed
    assert "reliability" not in printed
    rows, _ = written("consilience-minority-out")
    assert {row["undecided"] for row in rows} == {"0"}


def test_that_no_reference_fits_is_told_where_there_is_a_foreground(capsys):
    X = np.random.default_rng(0).normal(size=(150, 80))
    X[130:] = 0.7 + 0.2 * X[130:]
    header = ",".join(f"c{j}" for j in range(80))
    np.savetxt("wide.csv", X, delimiter=",", header=header, comments="")
    assert main(["minority", "wide.csv", "--repetitions", "100"]) == 0
    printed = " ".join(capsys.readouterr().out.split())
    assert "No reference fits these data (150 objects in 80 columns" in printed
    assert "so this is a guess" in printed
    _, summary = written("consilience-minority-wide")
    assert summary["flag"] == "no_reference"
    assert summary["why"] in printed
