"""``consilience cluster`` as a whole job: how many groups, which method, several methods."""

import json
from pathlib import Path

import numpy as np
import pytest
from numba import config

from consilience.cli import main
from consilience.consensus import NumberChoice
from consilience.datasets import make_gaussians

pytest.importorskip("cyclopts")
pytestmark = pytest.mark.skipif(bool(config.DISABLE_JIT), reason="slow as plain Python")

# Where the method is no matter.
QUICK = ["-k", "2", "--method", "eac"]


@pytest.fixture(autouse=True)
def in_a_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "80")


def summary(folder="consilience-data"):
    return json.loads(Path(folder, "summary.json").read_text())


def mixture(k, *, n=120, d=3, separation=8.0, seed=0):
    X, y = make_gaussians(n, k, d, separation=separation, random_state=seed)
    np.savetxt("data.csv", np.c_[X, y], delimiter=",", header="a,b,c,truth", comments="")
    return ["data.csv", "--truth-column", "truth"]


@pytest.mark.parametrize(
    ("more", "criteria"),
    [
        (["--strict"], {"lifetime", "delta-area", "pac", "stability"}),
        (
            [],
            {"support", "agreement", "silhouette", "modularity", "borders", "likelihood"},
        ),
    ],
)
def test_the_number_is_chosen_by_criteria_side_by_side(more, criteria, capsys):
    assert main(["cluster", *mixture(4), "--members", "40", *more]) == 0
    found = summary()
    assert found["n_clusters"] == 4
    assert found["n_clusters_chosen_by"] == "criteria"
    assert found["choice"]["clear"]
    names = {one["name"] for one in found["choice"]["criteria"]}
    assert names == criteria
    assert found["clarity"]["verdict"] == "clear"
    out = capsys.readouterr().out
    assert "How many clusters?" in out
    assert found["choice"]["words"].split()[0] in out
    assert found["agreement_with_truth"]["consistency_index"] > 0.95


def test_noise_has_no_clear_structure(capsys):
    X = np.random.default_rng(0).uniform(size=(150, 3))
    np.savetxt("data.csv", X, delimiter=",", header="a,b,c", comments="")
    assert main(["cluster", "data.csv", "--members", "40"]) == 0
    found = summary()
    assert found["choice"]["clear"] is False
    assert found["clarity"]["verdict"] == "none"
    assert found["clarity"]["p_value"] > 0.05
    # The best guess is given all the same.
    assert found["n_clusters"] > 1
    assert "No clear structure" in " ".join(capsys.readouterr().out.split())
    assert main(["cluster", "data.csv", "--members", "40", "--strict", "--force"]) == 0
    found = summary()
    assert found["clarity"] == {"verdict": "none"}
    assert found["n_clusters"] == 1
    assert "no clear structure" in " ".join(capsys.readouterr().out.split())


@pytest.mark.parametrize("clear", [False, True])
def test_single_link_is_not_taken_on_a_guess(clear, monkeypatch):
    """Lifetimes that only hint at two groups: single link would split off a stray object."""
    choice = NumberChoice(2, clear, "lifetime", (), "Two, it seems.", 240)
    monkeypatch.setattr("consilience.workflow._choosing.choose_n_clusters", lambda *_, **__: choice)
    assert main(["cluster", *mixture(2), "--members", "20", "--no-report", "--strict"]) == 0
    parameters = summary()["method"]["parameters"]
    assert parameters["linkage"] == ("single" if clear else "average")
    assert parameters["min_size"] == (5 if clear else 1)


@pytest.mark.parametrize(
    ("option", "cut"), [(["--linkage", "single"], True), (["--method", "mcla"], False)]
)
def test_the_report_cuts_the_tree_that_made_the_clusters_only(option, cut):
    assert main(["cluster", *mixture(3), "-k", "3", "--members", "20", *option]) == 0
    page = Path("consilience-data/report.html").read_text()
    shown = json.loads(page.partition('id="consilience-summary">')[2].partition("</script>")[0])
    part = next(one for one in shown["sections"] if one["id"] == "dendrogram")
    assert (part["figure"]["cut"] is not None) == cut
    assert ("another view" in part["read"]) != cut


def test_objects_that_another_cluster_suits_better_are_moved_where_asked(capsys):
    rng = np.random.default_rng(0)
    truth = np.repeat([0, 1, 2], 30)
    wrong = rng.random((90, 9)) < 0.4
    labels = np.where(wrong, rng.integers(0, 3, wrong.shape), truth[:, None])
    np.savetxt("members.csv", labels, "%d", delimiter=",", header="a,b,c,d,e,f,g,h,i", comments="")
    given = ["cluster", "--labels", "members.csv", "-k", "3", "--no-report"]
    assert main([*given, "--out", "plain"]) == 0
    said = " ".join(capsys.readouterr().out.split())
    assert "Below 0.5 the clusterings speak for the next best cluster" in said
    assert "--refine moves" in said
    assert main([*given, "--refine", "--out", "refined"]) == 0
    plain, refined = summary("plain"), summary("refined")
    assert plain["n_moved"] is None
    assert refined["n_moved"] > 0
    assert refined["mean_confidence"] > plain["mean_confidence"]


def test_defaults_are_named_with_their_reasons(capsys):
    assert main(["cluster", *mixture(3), "-k", "3", "--members", "10"]) == 0
    found = summary()
    assert found["method"]["why"]
    assert found["ensemble"]["from"]
    out = " ".join(capsys.readouterr().out.split())
    assert found["method"]["name"] in out
    assert " ".join(found["method"]["why"].split()) in out


def test_several_methods_are_compared_and_the_best_is_taken(capsys):
    words = [*mixture(3), "-k", "3", "--members", "15", "--methods", "eac, mcla,wosp,voting"]
    assert main(["cluster", *words]) == 0
    found = summary()
    compared = found["comparison"]
    assert [one["name"] for one in compared["methods"]] == ["eac", "mcla", "wosp", "voting"]
    best = max(compared["methods"], key=lambda one: one["anmi"])
    assert compared["best"] == best["name"] == found["method"]["name"]
    np.testing.assert_allclose(np.diag(compared["agreement"]), 1)
    assert all(one["ari"] > 0.9 for one in compared["methods"])
    out = capsys.readouterr().out
    assert "ANMI" in out
    assert f"Taken: {best['name']}" in out


def test_several_methods_without_a_number(capsys):
    assert main(["cluster", *mixture(3), "--members", "30", "--methods", "mcla,hbgf"]) == 0
    assert summary()["n_clusters"] == 3


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--methods", "eac,none"], "There is no method 'none'"),
        (["--methods", "eac,,mcla"], "names with commas between"),
        (["--methods", "eac,mcla", "--method", "eac"], "cannot both be given"),
        (["--json", "--quiet"], "Give one of them"),
    ],
)
def test_bad_choices_are_refused_before_any_work(words, said, capsys):
    mixture(2)
    assert main(["cluster", "data.csv", *words]) == 2
    assert said in capsys.readouterr().err
    assert [path.name for path in Path().iterdir()] == ["data.csv"]


def test_json_is_all_that_is_printed(capsys):
    assert main(["cluster", *mixture(2), *QUICK, "--members", "5", "--json"]) == 0
    captured = capsys.readouterr()
    assert json.loads(captured.out) == summary()
    assert captured.err == ""


def test_quiet_prints_nothing(capsys):
    assert main(["cluster", *mixture(2), *QUICK, "--members", "5", "--quiet"]) == 0
    assert capsys.readouterr() == ("", "")
    assert Path("consilience-data/report.html").exists()


def test_the_report_may_be_left_out():
    assert main(["cluster", *mixture(2), *QUICK, "--members", "5", "--no-report"]) == 0
    assert not Path("consilience-data/report.html").exists()


def test_methods_for_machines(capsys):
    assert main(["methods", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert {"name", "summary", "paper", "needs_data"} <= set(found[0])


def test_a_limit_that_the_method_chosen_does_not_know_is_no_error(monkeypatch):
    monkeypatch.setattr("consilience.consensus.defaults._QUICK", 0)
    words = [*mixture(2), "--members", "5", "--no-report", "--max-memory", "1 GiB"]
    assert main(["cluster", *words, "--strict"]) == 0
    assert summary()["method"]["name"] == "sec"
    assert main(["cluster", *words, "--force"]) == 0
    assert summary()["method"]["name"] == "autoconsensus"


def test_clusterings_of_one_size_suggest_their_number(capsys):
    rng = np.random.default_rng(0)
    planted = np.arange(100) % 3
    table = [
        np.where(rng.uniform(size=100) < 0.3, rng.integers(3, size=100), planted) for _ in range(8)
    ]
    rows = [f"o{i}," + ",".join(str(member[i]) for member in table) for i in range(100)]
    Path("mine.csv").write_text("who,a,b,c,d,e,f,g,h\n" + "\n".join(rows) + "\n")
    assert main(["cluster", "--labels", "mine.csv"]) == 0
    found = summary("consilience-mine")
    assert found["ensemble"]["n_members"] == 8
    assert found["n_clusters"] == 3
    assert found["clarity"]["p_value"] is None
    assert "there is no p-value" in " ".join(capsys.readouterr().out.split())


def test_few_clusterings_are_warned_of(capsys):
    assert main(["cluster", *mixture(2), *QUICK, "--members", "1", "--no-report"]) == 0
    assert "1 clustering is few" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("words", "named"),
    [
        (["--max-k", "1"], "--max-k"),
        (["--effort", "much"], "--effort"),
        (["--max-k", "4", "-k", "3"], "--max-k"),
        (["--strict", "-k", "3"], "--strict"),
        (["--strict", "--method", "eac"], "--strict"),
        (["--strict", "--effort", "quick"], "--effort"),
    ],
)
def test_what_belongs_to_another_search_is_refused_by_its_option(words, named, capsys):
    assert main(["cluster", *mixture(2), "--members", "5", *words]) == 2
    assert named in capsys.readouterr().err
    assert not Path("consilience-data").exists()
