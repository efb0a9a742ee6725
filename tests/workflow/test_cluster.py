"""`cs.cluster` is the command, as a call: the same result, from any kind of data."""

import json
from pathlib import Path

import numpy as np
import pytest
from scipy import sparse

import consilience as cs
from consilience.cli import main
from consilience.datasets import write_labels
from consilience.errors import ConsilienceError, InvalidInputError, InvalidParameterError
from consilience.generate import KMeansEnsemble, ResumeError
from consilience.workflow._data import gather

pytest.importorskip("cyclopts")

FEW = {"n_members": 12, "random_state": 0}
# Where the method is no matter, one that is quick.
QUICK = FEW | {"method": "eac"}
MADE = [[0, 1, 2] * 25]
STAGES = ["prepare", "generate", "number of clusters", "consensus"]


def run(words):
    """Labels as the command writes them, and its summary."""
    reading = ["--id-column", "name", "--truth-column", "kind", "--members", "12", "--no-report"]
    assert main(["cluster", "things.csv", *reading, "--out", "out", *words]) == 0
    return Path("out/labels.csv").read_bytes(), json.loads(Path("out/summary.json").read_text())


def written(result):
    """Labels of a result as the command would write them."""
    known = {name: getattr(result, name) for name in ("runner_up", "ambiguity", "doubtful")}
    ids = None if result.data.ids is None else result.ids.tolist()
    write_labels(Path("mine.csv"), ids, result.labels, result.confidence, **known)
    return Path("mine.csv").read_bytes()


# ---- the same as the command ----------------------------------------------------------------


@pytest.mark.parametrize(
    ("words", "asked"),
    [
        ([], {}),
        (["-k", "3"], {"n_clusters": 3}),
        (["-k", "4", "--seed", "7", "--jobs", "2"], {"n_clusters": 4, "random_state": 7}),
        (["-k", "2", "--no-scale"], {"n_clusters": 2, "scale": False}),
        (["--linkage", "single"], {"linkage": "single"}),
        (["-k", "3", "--method", "cspa", "--refine"], {"n_clusters": 3, "method": "cspa"}),
        (["-k", "3", "--methods", "mcla,eac"], {"n_clusters": 3, "methods": ["mcla", "eac"]}),
        (["-k", "3", "--max-memory", "1 MiB"], {"n_clusters": 3, "max_memory": "1 MiB"}),
    ],
)
def test_it_equals_the_command(table, words, asked):
    asked = FEW | asked | {"refine": "--refine" in words}
    labels, summary = run(words)
    result = cs.cluster(table, **asked)
    assert written(result) == labels
    facts = json.loads(json.dumps(result.to_dict()))
    if "--jobs" in words:
        del facts["method"]["parameters"]["n_jobs"], summary["method"]["parameters"]["n_jobs"]
    if "--linkage" in words:  # the option is named as it was typed
        assert summary["method"].pop("why") == "It is the method that --linkage belongs to."
        assert facts["method"].pop("why") == "It is the method that 'linkage' belongs to."
    assert facts == {name: summary[name] for name in facts}
    assert summary["warnings"] == list(result.notes)
    assert set(result.seconds) <= set(STAGES)


def test_an_array_equals_the_file_it_came_from(numbers, table):
    labels, _ = run(["-k", "3"])
    result = cs.cluster(numbers, 3, ids=table.ids, **FEW)
    assert written(result) == labels
    assert result.data.columns == ("c0", "c1", "c2")
    assert result.notes == ("Column 'c3' of X has the same value in every row and is left out.",)


def test_labels_you_already_have_equal_the_command(folder):
    members = np.random.default_rng(0).integers(0, 3, (40, 6))
    members[:20] = np.arange(20)[:, None] // 10
    lines = [",".join(map(str, row)) for row in members]
    Path("made.csv").write_text("\n".join(["a,b,c,d,e,f", *lines]) + "\n")
    assert main(["cluster", "--labels", "made.csv", "-k", "3", "--no-report", "--out", "out"]) == 0
    result = cs.cluster(None, 3, ensemble=members, random_state=0)
    assert written(result) == Path("out/labels.csv").read_bytes()
    assert result.generator is None
    assert result.why_members == "given."


# ---- data of any kind -----------------------------------------------------------------------


def test_a_pandas_frame_keeps_its_index_and_names(numbers):
    pandas = pytest.importorskip("pandas")
    days = pandas.date_range("2026-01-01", periods=75, name="day")
    frame = pandas.DataFrame(numbers, index=days, columns=["x", "y", "z", "same"])
    result = cs.cluster(frame, 3, **QUICK)
    out = result.to_pandas()
    pandas.testing.assert_index_equal(out.index, days)
    assert list(out) == ["cluster", "confidence", "runner_up", "ambiguity", "doubtful"]
    np.testing.assert_array_equal(out["cluster"], cs.cluster(numbers, 3, **QUICK).labels)
    assert result.data.columns == ("x", "y", "z")
    assert result.data.dropped == ("same",)
    json.dumps(result.to_dict(), default=str)


def test_other_tables_give_the_same(numbers):
    wanted = cs.cluster(numbers, 3, **QUICK)
    polars = pytest.importorskip("polars")
    frame = polars.DataFrame(numbers, schema=["x", "y", "z", "same"], orient="row")
    found = cs.cluster(frame, 3, **QUICK)
    np.testing.assert_array_equal(found.labels, wanted.labels)
    assert found.data.columns == ("x", "y", "z")
    for other in (numbers.tolist(), np.asfortranarray(numbers), numbers.astype(np.float32)):
        np.testing.assert_array_equal(cs.cluster(other, 3, **QUICK).labels, wanted.labels)


def test_data_are_not_written_to(numbers):
    numbers.flags.writeable = False
    before = numbers.copy()
    for scale in ("auto", False):
        cs.cluster(numbers, 2, scale=scale, refine=True, **FEW)
    np.testing.assert_array_equal(numbers, before)


def test_without_an_index_identifiers_are_one_or_rows_are_counted(numbers):
    pandas = pytest.importorskip("pandas")
    names = [f"o{i}" for i in range(75)]
    assert cs.cluster(numbers, 2, ids=names, **QUICK).to_pandas().index.tolist() == names
    frame = pandas.DataFrame(numbers)
    for data in (numbers, frame):
        result = cs.cluster(data, 2, **QUICK)
        assert result.data.ids is None
        assert result.ids.tolist() == result.to_pandas().index.tolist() == list(range(75))
    result = cs.cluster(ensemble=pandas.DataFrame({"m": [0, 0, 1, 1]}, index=list("abcd")))
    assert result.ids.tolist() == list("abcd")


def test_only_a_wish_to_scale_a_sparse_matrix_is_refused():
    X = sparse.csr_array(np.eye(4) + 1.0)
    given = {"ensemble": None, "ids": None, "truth": None, "owner": "this test"}
    for scale in ("auto", False):
        np.testing.assert_array_equal(gather(X, scale=scale, **given).X.toarray(), X.toarray())
    with pytest.raises(InvalidParameterError, match="'scale' parameter of this test must be"):
        gather(X, scale=True, **given)


def test_a_sparse_matrix_is_clustered_by_cosine_and_not_scaled():
    rng = np.random.default_rng(0)
    # Each group has words of its own: rows of different groups are at right angles.
    words = np.kron(np.eye(3), np.ones((20, 4)))
    X = sparse.csr_array(words * rng.integers(1, 9, words.shape))
    result = cs.cluster(X, 3, truth=np.repeat([0, 1, 2], 20), **FEW)
    assert result.agreement["ari"] == 1.0
    assert "cosine" in result.why_members
    assert not result.data.standardised
    with pytest.raises(InvalidParameterError, match="'scale' parameter of cluster"):
        cs.cluster(X, 3, scale=True)


def test_a_generator_of_ones_own_makes_the_members(numbers):
    generator = KMeansEnsemble(8, 4)
    quick = {"random_state": 5, "method": "eac"}
    result = cs.cluster(numbers, 3, generator=generator, **quick)
    assert result.ensemble.n_members == 8
    assert set(result.ensemble.n_clusters) == {4}
    assert generator.random_state is None  # a copy is used
    again = cs.cluster(numbers, 3, generator=KMeansEnsemble(8, 4, random_state=5), **quick)
    np.testing.assert_array_equal(result.ensemble.labels, again.ensemble.labels)


def test_a_seed_that_was_drawn_is_told_and_repeats_the_run(numbers):
    first = cs.cluster(numbers, 5, n_members=6)
    second = cs.cluster(numbers, 5, n_members=6, random_state=first.seed)
    np.testing.assert_array_equal(first.ensemble.labels, second.ensemble.labels)
    np.testing.assert_array_equal(first.labels, second.labels)


def test_groups_that_are_not_known_count_for_nothing(numbers):
    known = np.repeat(["a", "b", "c"], 25).astype(object)
    known[::2] = None
    assert cs.cluster(numbers, 3, truth=known, **QUICK).agreement["ari"] == 1.0


# ---- views ----------------------------------------------------------------------------------


def test_the_report_is_that_of_the_command_but_for_the_command(table):
    pytest.importorskip("jinja2")
    words = ["--id-column", "name", "--truth-column", "kind", "-k", "3", "--members", "12"]
    assert main(["cluster", "things.csv", *words, "--out", "out"]) == 0
    cs.cluster(table, 3, **FEW).report("page.html")
    shown = []
    for name in ("page.html", "out/report.html"):
        text = Path(name).read_text(encoding="utf-8")
        shown.append(
            json.loads(text.partition('id="consilience-summary">')[2].partition("</script>")[0])
        )
    ours, theirs = shown
    said = [line for line in theirs["done"] if line not in ours["done"]]
    assert len(said) == 1
    assert "consilience cluster things.csv" in str(said)
    theirs["done"].remove(said[0])
    assert ours == theirs


def test_it_says_what_was_found_and_how(table):
    result = cs.cluster(table, 3, method="eac", **FEW)
    said = repr(result)
    for words in ("ClusterResult:", "3, of 25, 25, 25 objects", "as asked", "eac, average link",
                  "things.csv: 75 objects, 3 columns", "ari 1.000", *result.notes):  # fmt: skip
        assert words in said


# ---- refusals -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("asked", "named"),
    [
        ({"method": "mcla", "linkage": "single"}, "'mcla' has no option 'linkage'"),
        ({"methods": ["eac", "mcla"], "linkage": "single"}, "'mcla' has no option 'linkage'"),
        ({"methods": {"eac": {}, "mcla": {"linkage": "single"}}}, "'mcla' has no option 'linkage'"),
        ({"methods": ["mcla", "voting"], "max_memory": "1 GiB"}, "has no option 'max_memory'"),
        ({"linkages": "single"}, "cluster has no parameter 'linkages'"),
        ({"method": "eac", "n_cluster": 3}, "'eac' has no option 'n_cluster'"),
        ({"method": "none"}, "'method' parameter of cluster"),
        ({"method": 3}, "'method' parameter of cluster"),
        ({"method": "eac", "methods": ["mcla"]}, "'method' and 'methods' parameters"),
        ({"methods": "eac,mcla"}, "'methods' parameter of cluster"),
        ({"methods": []}, "'methods' parameter of cluster"),
        ({"method": "eac", "linkage": "centroid"}, "'linkage' parameter of EAC"),
        ({"n_clusters": 0}, "'n_clusters' parameter of cluster"),
        ({"n_clusters": 76}, "'n_clusters' parameter of cluster"),
        ({"n_members": 0}, "'n_members' parameter of cluster"),
        ({"generator": KMeansEnsemble}, "'generator' parameter of cluster"),
        ({"random_state": "x"}, "'random_state' parameter of cluster"),
        ({"n_jobs": 0}, "'n_jobs' parameter of cluster"),
        ({"scale": "yes"}, "'scale' parameter of cluster"),
        ({"refine": 1}, "'refine' parameter of cluster"),
        ({"run": 3}, "'run' parameter of cluster"),
        ({"callbacks": [print]}, "'callbacks' parameter of cluster"),
        ({"ids": [1, 2]}, "'ids' parameter of cluster"),
        ({"ids": 3}, "'ids' parameter of cluster"),
        ({"truth": [1, 2]}, "'truth' parameter of cluster"),
        ({"truth": np.zeros((75, 1))}, "'truth' parameter of cluster .* shape"),
        ({"ensemble": [[0, 1]]}, "'X' and 'ensemble' parameters of cluster"),
        ({"ensemble": 3}, "'ensemble' parameter of cluster"),
        ({"ensemble": MADE, "generator": KMeansEnsemble()}, "'generator' parameter of cluster"),
        ({"ensemble": MADE, "run": "folder"}, "'run' parameter of cluster"),
    ],
)
def test_what_cannot_be_is_refused_by_name(numbers, asked, named):
    with pytest.raises(ConsilienceError, match=named):
        cs.cluster(numbers, **asked)


@pytest.mark.parametrize(
    ("X", "named"),
    [
        (None, "needs data or an ensemble"),
        (cs.Ensemble([[0, 1]]), "Pass it as cluster\\(ensemble"),
        ([[1.0, np.nan], [2, 3]], "'X' parameter of cluster .* NaN"),
        ([["a", "b"], ["c", "d"]], "'X' parameter of cluster"),
        ([1.0, 2.0], "'X' parameter of cluster"),
        ([[1.0, 2.0]], "one object"),
        (np.ones((5, 2)), "same value in every row"),
    ],
)
def test_data_that_cannot_be_clustered_are_refused(X, named):
    with pytest.raises(InvalidInputError, match=named):
        cs.cluster(X)


@pytest.mark.parametrize("X", ["a.csv", Path("a.csv")])
def test_a_file_that_is_not_there_is_named(X):
    with pytest.raises(FileNotFoundError, match=r"There is no file 'a.csv'"):
        cs.cluster(X)


def test_a_method_that_needs_the_data_is_not_run_without(numbers):
    with pytest.raises(InvalidInputError, match="'wosp' needs the data"):
        cs.cluster(None, 2, method="wosp", ensemble=[[0, 1, 0], [0, 1, 1]])


def test_methods_of_a_mapping_have_options_of_their_own(numbers):
    asked = {"eac": {"linkage": "single"}, "mcla": {}}
    result = cs.cluster(numbers, 3, methods=asked, **FEW)
    assert result.comparison.names == ("eac", "mcla")
    chained = cs.EAC(3, linkage="single").fit(ensemble=result.ensemble)
    np.testing.assert_array_equal(result.comparison.labels["eac"], chained.labels_)


def test_wards_tree_is_drawn_without_reading_its_heights_as_shares(numbers):
    """Its heights may exceed 1: they are no shares of clusterings."""
    by_link = {
        link: cs.cluster(numbers, 3, method="eac", linkage=link, **FEW)
        for link in ("ward", "average")
    }
    for link, result in by_link.items():
        assert result.method_in_words().startswith(f"eac, {link} link")
        (tree,) = [part for part in result.page()["sections"] if part["id"] == "dendrogram"]
        assert ("a height of 0.3 means" in tree["read"]) == (link == "average")


def test_the_command_refuses_an_option_that_one_of_several_methods_does_not_know(file, capsys):
    words = ["cluster", "things.csv", "-k", "3", "--ignore", "kind", "--out", "out"]
    assert main([*words, "--methods", "eac,mcla", "--linkage", "single"]) == 2
    assert "The method 'mcla' has no option --linkage" in capsys.readouterr().err
    assert not Path("out").exists()
    assert main([*words, "--methods", "eac,lwea", "--linkage", "single", "--members", "5"]) == 0
    parameters = json.loads(Path("out/summary.json").read_text())["method"]["parameters"]
    assert parameters["linkage"] == "single"


# ---- progress, and cancelling ---------------------------------------------------------------


@pytest.mark.parametrize(
    ("asked", "stages"),
    [
        ({}, ["prepare", "generate", "consensus"]),
        ({"strict": True}, STAGES),
        ({"method": "lwea"}, STAGES),
        ({"method": "mcla"}, ["prepare", "number of clusters", "generate", "consensus"]),
        ({"method": "mcla", "n_clusters": 2}, ["prepare", "generate", "consensus"]),
    ],
)
def test_a_callback_sees_every_stage(numbers, seen, asked, stages):
    result = cs.cluster(numbers, n_members=6, random_state=0, callbacks=[seen], **asked)
    assert seen.begun == ["cluster", *stages]
    assert seen.ended == [*stages, "cluster"]
    assert seen.closed == 1
    assert list(result.seconds) == stages


def test_one_that_looks_inside_sees_the_members_and_the_method(numbers, stop_at):
    inside = stop_at("nothing", 1, None)
    cs.cluster(numbers, 3, n_members=6, random_state=0, callbacks=[inside])
    assert inside.ended.count("member") == 6
    assert "confidence" in inside.ended
    assert inside.closed == 1


@pytest.mark.parametrize("error", [KeyboardInterrupt(), RuntimeError("enough")])
def test_cancelling_leaves_what_is_finished_and_the_same_call_goes_on(
    folder, numbers, stop_at, error, monkeypatch
):
    monkeypatch.setattr(KMeansEnsemble, "_group_size", lambda self, X, n, n_workers: 2)
    whole = cs.cluster(numbers, 3, **QUICK)
    stop = stop_at("member", 4, error)
    with pytest.raises(type(error)):
        cs.cluster(numbers, 3, run="run", callbacks=[stop], **QUICK)
    assert stop.closed == 1
    kept = cs.generate.RunFolder("run").finished
    assert 4 <= len(kept) < 12
    made = []
    make = KMeansEnsemble._members
    monkeypatch.setattr(
        KMeansEnsemble,
        "_members",
        lambda self, X, engine, orders: made.extend(orders) or make(self, X, engine, orders),
    )
    again = cs.cluster(numbers, 3, run=Path("run"), **QUICK)
    assert len(made) == 12 - len(kept)
    np.testing.assert_array_equal(again.labels, whole.labels)
    np.testing.assert_array_equal(again.ensemble.labels, whole.ensemble.labels)
    with pytest.raises(ResumeError, match="random_state"):
        cs.cluster(numbers, 3, run="run", **QUICK | {"random_state": 1})


def test_a_run_that_failed_before_its_first_member_leaves_no_plan(folder, numbers, monkeypatch):
    """Another job may have the folder then; members, once there are any, stay."""

    def fail(self, X, engine, orders):
        raise RuntimeError("enough")

    with monkeypatch.context() as patched:
        patched.setattr(KMeansEnsemble, "_members", fail)
        with pytest.raises(RuntimeError, match="enough"):
            cs.cluster(numbers, 3, run="run", **QUICK)
    assert not [path for path in Path("run").rglob("*") if path.is_file()]
    cs.cluster(numbers, 3, run="run", **QUICK | {"random_state": 1})


def test_a_run_without_a_seed_goes_on_with_its_own(folder, numbers):
    first = cs.cluster(numbers, 3, n_members=6, method="eac", run="run")
    second = cs.cluster(numbers, 3, n_members=6, method="eac", run="run")
    assert first.seed == second.seed
    np.testing.assert_array_equal(first.labels, second.labels)
