"""``consilience predict``: from two files to the labels of the second."""

import csv

import numpy as np
import pandas as pd
import pytest

import consilience as cs
from consilience.cli import main


def write(path, n_each, seed, order=("name", "x", "y")):
    rng = np.random.default_rng(seed)
    X = np.concatenate([rng.normal(c, 1, (n_each, 2)) for c in ((0, 0), (9, 9))]).tolist()
    rows = [{"name": f"{path.stem}{i}", "x": x, "y": y, "more": 1} for i, (x, y) in enumerate(X)]
    with path.open("w", newline="") as file:
        writer = csv.DictWriter(file, order, extrasaction="ignore")
        writer.writeheader()
        writer.writerows(rows)


def read(path):
    with path.open(newline="") as file:
        return list(csv.DictReader(file))


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    place = tmp_path_factory.mktemp("predict")
    write(place / "march.csv", 25, 0)
    words = ["cluster", str(place / "march.csv"), "-k", "2", "--method", "kcc", "--members", "10"]
    assert main([*words, "--no-report", "--quiet", "--out", str(place / "run")]) == 0
    return place / "run"


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_a_second_file_is_placed_and_what_differs_is_said(run, here, capsys):
    write(here / "april.csv", 10, 1, order=("more", "y", "x", "name"))
    assert main(["predict", str(run), "april.csv"]) == 0
    said = " ".join(capsys.readouterr().out.split())
    assert "april.csv: 20 objects, in 2 groups" in said
    assert "Column 'more' of 'april.csv' was not clustered and is left out" in said
    assert "in another order" in said
    lines = read(here / "consilience-predict-april.csv")
    assert list(lines[0]) == ["id", "cluster", "confidence", "runner_up", "unlike", "known"]
    assert [line["id"] for line in lines[:2]] == ["april0", "april1"]
    halves = {line["cluster"] for line in lines[:10]}, {line["cluster"] for line in lines[10:]}
    assert sorted(map(len, halves)) == [1, 1]
    assert halves[0] != halves[1]


def test_the_same_file_again_has_the_labels_of_the_run(run, here):
    assert main(["predict", str(run), str(run.parent / "march.csv"), "--out", "again.csv"]) == 0
    again, first = read(here / "again.csv"), read(run / "labels.csv")
    for name in ("id", "cluster", "confidence"):
        assert [line[name] for line in again] == [line[name] for line in first]
    assert {line["known"] for line in again} == {"1"}


def test_refusals_name_the_remedy_and_write_nothing(run, here, capsys):
    march = str(run.parent / "march.csv")
    (here / "there.csv").write_text("mine")
    (here / "less.csv").write_text("name,x\na,1\n")
    (here / "none.csv").write_text("name,x,y\n")
    for words, expected in (
        ([str(run), march, "--out", "there.csv"], "--force"),
        ([str(run), "less.csv"], "no column 'y'"),
        ([str(run), "none.csv"], "none.csv"),
        ([str(run), "merch.csv"], "There is no file"),
        ([str(here), march], "--no-keep"),
        ([str(run), march, "--encoding", "klingon"], "must be the name of an encoding"),
        ([str(run), march, "--out", "no/out.csv"], "there is no folder 'no'. Make it"),
    ):
        assert main(["predict", *words]) == 2
        assert expected in capsys.readouterr().err
    names = sorted(path.name for path in here.iterdir())
    assert names == ["less.csv", "none.csv", "there.csv"]
    assert (here / "there.csv").read_text() == "mine"


def test_files_whose_names_have_points_go_to_files_of_their_own(run, here):
    for name in ("april.2024.csv", "april.2025.csv"):
        write(here / name, 5, 1)
        assert main(["predict", str(run), name]) == 0
        assert (here / f"consilience-predict-{name}").exists()


@pytest.mark.parametrize("words", [[], ["--force"]])
def test_a_folder_is_no_file_for_the_results_whether_forced_or_not(run, here, capsys, words):
    (here / "there").mkdir()
    march = str(run.parent / "march.csv")
    assert main(["predict", str(run), march, "--out", "there", *words]) == 2
    said = capsys.readouterr().err
    assert "'there', which is a folder. Name a file with --out" in said
    assert "--force" not in said


def test_a_result_of_python_takes_a_file_with_other_columns(here, capsys):
    frame = pd.DataFrame(np.random.default_rng(0).normal(size=(40, 2)), columns=["x", "y"])
    cs.cluster(frame, 2, method="kcc", n_members=5, random_state=0).save("kept")
    frame.assign(colour="red")[["colour", "y", "x"]].to_csv("new.csv", index=False)
    assert main(["predict", "kept", "new.csv", "--out", "out.csv"]) == 0
    assert "'colour' of 'new.csv' was not clustered" in " ".join(capsys.readouterr().out.split())
    assert {line["known"] for line in read(here / "out.csv")} == {"1"}


@pytest.mark.parametrize("mark", [".", ","])
def test_a_result_of_an_array_takes_columns_in_their_order(here, mark):
    """Nobody read a file for it, so that only what is said of the new one counts."""
    X = np.random.default_rng(0).normal(size=(40, 2)).round(3)
    cs.cluster(X, 2, method="kcc", n_members=5, random_state=0).save("kept")
    lines = [f"{x:.3f};{y:.3f}".replace(".", mark) for x, y in X]
    (here / "new.csv").write_text("c0;c1\n" + "\n".join(lines) + "\n")
    words = ["--decimal", mark, "--encoding", "cp1252", "--out", "out.csv"]
    assert main(["predict", "kept", "new.csv", *words]) == 0
    assert {line["known"] for line in read(here / "out.csv")} == {"1"}


def test_commas_are_read_as_they_are_said_to_be(here):
    (here / "one.csv").write_text("x;y\n" + "1.250;2\n9.750;8\n" * 10)
    words = ["-k", "2", "--method", "kcc", "--members", "5", "--no-report", "--quiet"]
    assert main(["cluster", "one.csv", *words, "--out", "run"]) == 0
    (here / "two.csv").write_text("x;y\n1,250;2\n9,750;8\n")
    for mark, known in ((".", "0"), (",", "1")):
        out = ["--decimal", mark, "--encoding", "cp1252", "--out", "out.csv", "--force"]
        assert main(["predict", "run", "two.csv", *out]) == 0
        assert {line["known"] for line in read(here / "out.csv")} == {known}


def test_no_keep_leaves_the_model_out(run, here, capsys):
    assert (run / "model.json").exists()
    march = str(run.parent / "march.csv")
    words = ["cluster", march, "-k", "2", "--method", "kcc", "--members", "10", "--no-report"]
    assert main([*words, "--quiet", "--no-keep", "--out", "bare"]) == 0
    assert sorted(path.name for path in (here / "bare").iterdir()) == [
        "labels.csv",
        "summary.json",
        "timings.json",
    ]
    assert main(["predict", "bare", march]) == 2
    assert "keeps nothing to load" in capsys.readouterr().err
