"""The benchmark of answers: its tables, its split, what it keeps and what it prints."""

import sys
import warnings
from pathlib import Path

import numpy as np
import pytest
from threadpoolctl import threadpool_limits

BENCHMARKS = Path(__file__).parents[1] / "benchmarks"
# Parts of generated tables, and how many with groups and kinds without each has at least.
LEAST = {"developing": (120, 8), "confirming": (200, 8), "second": (160, 10), "third": (120, 20)}


@pytest.fixture(scope="module")
def bench():
    """The command's module; its own modules lie beside it."""
    sys.path.insert(0, str(BENCHMARKS))
    try:
        import quality

        yield quality
    finally:
        sys.path.remove(str(BENCHMARKS))


@pytest.fixture
def toy(bench, monkeypatch):
    """Three candidates that cost nothing: one told nothing, one that fails, one told the number."""
    from quality_candidates import CANDIDATES, Answer, Candidate

    calls = []

    def halves(X, k, seed):
        calls.append(seed)
        return Answer((X[:, 0] > np.median(X[:, 0])).astype(int), "clear", 0.01)

    def broken(X, k, seed):
        raise ArithmeticError("no\nway")

    def told(X, k, seed):
        return Answer(np.arange(len(X)) % k)

    monkeypatch.setitem(CANDIDATES, "halves", Candidate(halves, "two halves"))
    monkeypatch.setitem(CANDIDATES, "broken", Candidate(broken, "fails", seeded=False))
    monkeypatch.setitem(CANDIDATES, "told", Candidate(told, "in turn", knows_number=True))
    return calls


def run(bench, store, *words, part="developing"):
    bench.main(["run", "--part", part, "--store", str(store), "--jobs", "0", *words])


# ---- the tables ----------------------------------------------------------------------------


def test_parts_share_no_family_and_are_large_enough(bench):
    assert list(LEAST) == list(bench.generated.FAMILIES)
    for part, (least, kinds) in LEAST.items():
        tables = bench.split(part)
        assert sum(one.has_groups for one in tables) >= least
        assert len({one.family for one in tables if not one.has_groups}) >= kinds
        assert {one.family for one in tables} == set(bench.generated.FAMILIES[part])
        assert len({one.name for one in tables}) == len(tables)
    families = [family for part in bench.generated.FAMILIES.values() for family in part]
    assert len(set(families)) == len(families)


def test_no_function_of_the_generators_makes_tables_of_two_parts(bench):
    made = [made for part in bench.generated.FAMILIES.values() for made in part.values()]
    assert len(set(made)) == len(made)


def test_the_second_confirming_part_is_of_the_sizes_it_claims(bench):
    tables = bench.split("second")
    assert len({one.family for one in tables if one.has_groups}) >= 24
    assert sum(not one.has_groups for one in tables) >= 50
    assert all(40 <= one.n <= 2000 for one in tables)
    assert all(one.k <= 30 for one in tables)  # the rivals try no more


def test_the_third_confirming_part_is_of_the_sizes_it_claims(bench):
    tables = bench.split("third")
    assert len({one.family for one in tables if one.has_groups}) >= 40
    assert sum(not one.has_groups for one in tables) >= 40
    assert all(60 <= one.n <= 3000 for one in tables)
    assert all(2 <= one.d <= 60 for one in tables)
    assert all(one.k <= 25 for one in tables)


def test_a_part_is_listed_anew_and_the_others_stay(bench, tmp_path, monkeypatch):
    generated = bench.generated
    path = tmp_path / "list.json"
    path.write_text(generated.LIST.read_text(encoding="utf-8"), encoding="utf-8")
    good, bad = (
        generated.Set("confirming", "new", number, 50, 2, 3, oracle, 1.0)
        for number, oracle in enumerate((0.9, generated.LEAST - 0.01))
    )
    monkeypatch.setattr(generated, "planned", {"confirming": [good, bad]}.get)
    assert generated.write("confirming", path) == [bad]
    assert generated.split("confirming", path) == [good]
    for part in set(LEAST) - {"confirming"}:
        assert generated.split(part, path) == generated.split(part)
    assert path.read_text(encoding="utf-8").count("\n") == len(generated._listed(path)) + 2


def test_hopeless_tables_are_not_in_the_list(bench):
    for part in LEAST:
        for one in bench.split(part):
            assert (one.oracle is None) == (one.k == 1)
            assert one.oracle is None or one.oracle >= bench.generated.LEAST


@pytest.mark.parametrize("part", list(LEAST))
def test_tables_are_what_the_list_says(bench, part):
    from quality_sets import make

    for one in bench.split(part):
        X, y = make(one.name)
        assert X.shape == (one.n, one.d)
        assert y.shape == (one.n,)
        assert np.isfinite(X).all()
        known = np.unique(y[y >= 0])
        np.testing.assert_array_equal(known, np.arange(one.k))
        assert np.bincount(y[y >= 0]).min() >= min(6, one.n)
        # The same numbers wherever they are drawn, but for the last digits.
        assert np.abs(X).mean() == pytest.approx(one.mean, rel=1e-6)


def test_a_table_depends_on_its_name_alone(bench):
    from quality_sets import make

    first, truth = make("moons/1")
    make("moons/2")
    again, same = make("moons/1")
    np.testing.assert_array_equal(first, again)
    np.testing.assert_array_equal(truth, same)
    assert not np.array_equal(make("moons/4")[0][:100], first[:100])


def test_the_oracle_knows_what_can_be_told_apart(bench):
    from quality_sets import oracle

    rng = np.random.default_rng(0)
    y = np.repeat([0, 1, -1], [40, 40, 20])
    X = rng.normal(size=(100, 2))
    assert oracle(X, y) < 0.2
    X[:40] += 20
    assert oracle(X, y) == 1.0


# ---- real tables ---------------------------------------------------------------------------


def test_relatives_of_real_tables_stay_in_one_part(bench):
    from quality_sets.tables import RELATIVES

    assert sorted(RELATIVES) == list(RELATIVES)
    names = [name for relatives in RELATIVES for name in relatives]
    assert len(names) == len(set(names))


def test_real_tables_without_a_folder_are_those_of_scikit_learn(bench, monkeypatch):
    monkeypatch.delenv("CONSILIENCE_DATA", raising=False)
    parts = {part: bench.real_tables(part) for part in ("developing", "confirming")}
    names = {part: [one.name for one in tables] for part, tables in parts.items()}
    assert names == {
        "developing": ["sklearn:breast_cancer"],
        "confirming": ["sklearn:iris", "sklearn:digits", "sklearn:wine"],
    }
    X, y = parts["confirming"][0].make()
    assert X.shape == (150, 4)
    assert np.bincount(y).tolist() == [50, 50, 50]


def test_tables_of_a_folder(bench, tmp_path):
    (tmp_path / "iris.csv").write_text("a,b,label\n1,2,x\n,3,y\n5,4,x\n")
    (tmp_path / "else.csv").write_text("kind,class,b\nu,1,2.5\nv,2,3.5\n")
    (tmp_path / "last.tsv").write_text("a\tb\tgroup\n1\t2\tp\n3\t4\tq\n")
    found = {one.name: one for one in bench.own_tables(tmp_path)}
    assert list(found) == ["else", "iris", "last"]
    X, y = found["iris"].make()
    np.testing.assert_array_equal(X, [[1, 2], [3, 3], [5, 4]])
    assert y.tolist() == [0, 1, 0]
    assert found["else"].make()[0].shape == (2, 2)
    assert found["last"].make()[1].tolist() == [0, 1]
    (real,) = [one for one in bench.real_tables("confirming", tmp_path) if one.path]
    assert (real.name, real.part) == ("iris", "real-confirming")


# ---- runs ----------------------------------------------------------------------------------


def test_what_is_done_is_not_done_again(bench, toy, tmp_path):
    words = ("--candidates", "halves,broken", "--limit", "3")
    run(bench, tmp_path, *words, "--seeds", "2")
    lines = (tmp_path / "results.jsonl").read_text().splitlines()
    assert len(lines) == 3 * (2 + 1)  # what has no seed runs once
    assert toy == [0, 1] * 3
    run(bench, tmp_path, *words, "--seeds", "3")
    assert toy == [0, 1] * 3 + [2] * 3


def test_a_line_cut_short_is_run_again_and_spoils_no_other(bench, toy, tmp_path):
    words = ("--candidates", "halves", "--limit", "2", "--seeds", "1")
    run(bench, tmp_path, *words)
    path = tmp_path / "results.jsonl"
    whole = path.read_text()
    path.write_text(whole[:-30])
    run(bench, tmp_path, *words)
    rows = bench.stored.Store(tmp_path).rows()
    assert len({row["set"] for row in rows}) == len(rows) == 2
    assert len(toy) == 3


def test_what_fails_is_kept_and_counts_as_nothing(bench, toy, tmp_path):
    run(bench, tmp_path, "--candidates", "halves,broken", "--limit", "4", "--seeds", "2")
    rows = [row for row in bench.stored.Store(tmp_path).rows() if row["candidate"] == "broken"]
    assert {row["error"] for row in rows} == {"ArithmeticError: no way"}
    found = bench.shown.figures(bench.stored.Store(tmp_path).rows(), "developing", False)
    broken = found.names.index("broken")
    assert found.failed[:, broken].tolist() == [1] * 4
    assert found.ari[:, broken].tolist() == [0] * 4


def test_a_candidate_that_takes_too_long_has_failed(bench, toy, monkeypatch):
    from quality_candidates import CANDIDATES, Candidate

    if not hasattr(bench.stored.signal, "SIGALRM"):
        pytest.skip("This system has no alarm.")

    def endless(X, k, seed):
        while True:
            pass

    monkeypatch.setitem(CANDIDATES, "endless", Candidate(endless, "never ends"))
    row = bench.stored.measure(bench.split("developing")[0], "endless", 0, 1)
    assert row["error"] == "TimeoutError: stopped after 1 seconds"
    assert 0.9 < row["seconds"] < 5


def test_a_process_that_dies_is_a_line_and_the_others_go_on(bench, monkeypatch):
    from concurrent.futures import Future
    from concurrent.futures.process import BrokenProcessPool

    class Pool:
        """A pool in this process whose worker dies of seed 1, and all that is under way with it."""

        def __init__(self):
            self.dead = False

        def __enter__(self):
            return self

        def __exit__(self, *_):
            return False

        def submit(self, function, table, name, seed, most_seconds):
            one = Future()
            self.dead |= seed == 1
            if self.dead:
                one.set_exception(BrokenProcessPool())
            else:
                one.set_result({"seed": seed, "error": None})
            return one

    monkeypatch.setattr(bench.stored, "_pool", lambda jobs, ours: Pool())
    table = bench.split("developing")[0]
    wanted = [(table, "kmeans", seed) for seed in range(4)]
    rows = list(bench.stored._in_processes(wanted, 2, 60))
    assert {row["seed"]: row["error"] for row in rows} == {
        0: None,
        1: "the process died",
        2: None,
        3: None,
    }


def test_tables_without_groups_are_not_asked_with_a_number(bench, toy):
    tables = [bench.split("developing")[0], bench.split("developing")[-1]]
    asked = [(table.k > 1, name) for table, name, _ in bench.stored.tasks(tables, ["told"], 1)]
    assert asked == [(True, "told")]


def test_runs_of_other_code_are_not_mixed(bench, toy, tmp_path, monkeypatch):
    row = {"part": "developing", "set": "moons/0", "seed": 0, "candidate": "consilience"}
    bench.stored.Store(tmp_path).add(row | {"code": "before", "error": None})
    with pytest.raises(SystemExit, match="'consilience' by other code"):
        run(bench, tmp_path, "--candidates", "consilience", "--limit", "1")


def test_objects_of_no_group_do_not_count_and_noise_is_no_group(bench):
    y = np.array([0, 0, 1, 1, -1, -1])
    got = bench.stored.scores(y, np.array([3, 3, -1, -1, 3, 5]))
    assert got == {"ari": 1.0, "nmi": 1.0, "k": 2, "n_noise": 2}
    with pytest.raises(ValueError, match="6 objects"):
        bench.stored.scores(y, np.zeros(5))


def test_a_limit_takes_tables_from_all_families(bench):
    tables = bench.split("developing")
    n_families = len({one.family for one in tables})
    assert len({one.family for one in bench.spread(tables, n_families)}) == n_families
    assert bench.spread(tables, None) == tables


def test_tables_of_a_size_a_place_and_a_kind(bench):
    words = ("run", "--part", "developing", "--store", "s", "--groups", "with")
    words += ("--most-objects", "500", "--places", "1:3")
    args = bench._parser().parse_args(words)
    tables = bench.split("developing")
    got = bench.selected(tables, args)
    wanted = []
    for family in dict.fromkeys(one.family for one in tables):
        small = [one for one in tables if one.family == family and one.n <= 500 and one.k > 1]
        wanted += small[1:3]
    assert got == wanted
    assert 20 < len(got) < 40


def test_all_methods_are_candidates_by_one_word(bench):
    from consilience.consensus import CONSENSUS

    got = bench._names("kmeans,methods,auto_k,eac")
    assert set(got) == {"kmeans", "auto_k", *CONSENSUS} - {"autoconsensus"}
    assert len(got) == len(set(got))


def test_candidates_by_name(bench):
    from quality_candidates import candidate

    assert candidate("gmm_bic").knows_number is False
    assert candidate("lwea@woec").knows_number
    with pytest.raises(SystemExit, match="no candidate 'nobody'"):
        candidate("nobody")


RIVALS = (
    "gmm_bic gmm_bic_shapes kmeans_silhouette hdbscan ward_silhouette gmm kmeans ward spectral_knn"
)


@pytest.mark.parametrize("name", RIVALS.split())
def test_rivals_find_three_groups_that_nobody_could_miss(bench, name):
    from quality_candidates import candidate, standardised

    rng = np.random.default_rng(1)
    y = np.repeat([0, 1, 2], 16)
    X = np.array([[0, 0, 7], [9, 0, 7], [0, 9, 7]])[y] + rng.normal(size=(48, 3)) * [0.5, 0.5, 0]
    asked = candidate(name)
    with threadpool_limits(1), warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # that the graph falls into three, as it shall
        answer = asked.run(standardised(X), 3 if asked.knows_number else None, 0)
    assert bench.stored.scores(y, answer.labels)["ari"] > 0.9


# ---- figures, page, log --------------------------------------------------------------------


def toy_rows():
    """Two tables with groups, one without; hdbscan against gmm_bic, known by hand."""
    base = {"part": "developing", "family": "f", "commit": "c", "code": "c", "error": None}
    base |= {"seconds": 1.0, "peak_mib": 2.0, "p": None, "clarity": None, "nmi": 0.5}
    rows = [
        {"set": "f/0", "truth": 3, "candidate": "hdbscan", "seed": 0, "ari": 0.8, "k": 3},
        {"set": "f/1", "truth": 2, "candidate": "hdbscan", "seed": 0, "ari": 0.02, "k": 1},
        {"set": "f/0", "truth": 3, "candidate": "gmm_bic", "seed": 0, "ari": 0.6, "k": 3},
        {"set": "f/0", "truth": 3, "candidate": "gmm_bic", "seed": 1, "ari": 0.2, "k": 5},
        {"set": "f/1", "truth": 2, "candidate": "gmm_bic", "seed": 0, "ari": 0.5, "k": 2},
        {"set": "f/1", "truth": 2, "candidate": "gmm_bic", "seed": 1, "ari": None, "k": None}
        | {"error": "x"},
        {"set": "f/2", "truth": 2, "candidate": "hdbscan", "seed": 0, "ari": 1.0, "k": 2},
        {"set": "g/0", "truth": 1, "candidate": "hdbscan", "seed": 0, "ari": 0.0, "k": 4}
        | {"clarity": "clear", "p": 0.03},
        {"set": "g/1", "truth": 1, "candidate": "hdbscan", "seed": 0, "ari": 1.0, "k": 1}
        | {"clarity": "none", "p": 0.4},
    ]
    return [base | row for row in rows]


def test_figures_are_means_over_seeds_then_tables(bench):
    found = bench.shown.figures(toy_rows(), "developing", False)
    assert found.names == ("hdbscan", "gmm_bic")
    assert found.sets == ("f/0", "f/1")  # f/2 was not run by both
    assert found.n_left_out == 1
    np.testing.assert_allclose(found.ari, [[0.8, 0.4], [0.02, 0.25]])
    np.testing.assert_allclose(found.exact, [[1, 0.5], [0, 0.5]])
    np.testing.assert_allclose(found.off, [[0, 1], [1, 0]])
    np.testing.assert_allclose(found.one, [[0, 0], [1, 0]])
    np.testing.assert_allclose(found.same, [[1, 0.5], [1, 0.5]])
    assert found.failed.sum() == 1
    assert bench.shown.figures(toy_rows(), "developing", True) is None


def test_the_page_says_all(bench, tmp_path, capsys):
    store = bench.stored.Store(tmp_path)
    for row in toy_rows():
        store.add(row)
    page, recipes = tmp_path / "page.md", tmp_path / "none.csv"
    words = ["--page", str(page), "--recipes", str(recipes), "--pictures", str(tmp_path / "p")]
    bench.main(["show", "--store", str(tmp_path), "--against", "hdbscan", *words])
    text = page.read_text(encoding="utf-8")
    assert text in capsys.readouterr().out
    assert "Runs of commit c; 0 recipes logged" in text
    assert "--part developing --store FOLDER --candidates hdbscan,gmm_bic" in text
    assert "| hdbscan | 0.410 | 0.020 to 0.800 | 0.500 | 1 | 0.500 | 0.50 | 0.500 | 1.000 |" in text
    assert "| gmm_bic | +0.085 | -0.230 to +0.400 | 1 / 0 / 1 |" in text
    assert "| hdbscan | 2 | 1 of 2 | 1 of 2 | 1 of 2 | 0 |" in text
    assert "Friedman" in text
    drawn = sorted(path.name for path in (tmp_path / "p").iterdir())
    assert [name.rpartition("-")[2] for name in drawn] == ["differences.png", "ranks.png"]
    assert all(f"(p/{name})" in text for name in drawn)


def test_the_interval_is_that_of_the_mean_over_tables(bench):
    values = np.random.default_rng(3).normal(0.5, 0.1, 400)
    low, high = bench.shown.interval(values)
    error = values.std() / 20
    assert low == pytest.approx(values.mean() - 1.96 * error, abs=0.1 * error)
    assert high == pytest.approx(values.mean() + 1.96 * error, abs=0.1 * error)


def test_a_recipe_is_logged_with_its_figures(bench, toy, tmp_path):
    recipes = tmp_path / "recipes.csv"
    run(bench, tmp_path, "--candidates", "halves", "--limit", "29", "--seeds", "2")
    words = ["--store", str(tmp_path), "--candidate", "halves", "--recipes", str(recipes)]
    bench.main(["log", *words, "--what", "two, by the median"])
    (row,) = bench.logged(recipes)
    assert (row["kind"], row["name"], row["what"]) == ("recipe", "halves", "two, by the median")
    found = bench.shown.figures(bench.stored.Store(tmp_path).rows(), "developing", False)
    assert float(row["ari"]) == pytest.approx(found.ari.mean(), abs=6e-4)
    assert (row["tables"], row["seeds"], row["same_number"]) == (str(len(found.sets)), "2", "1.000")
    n_without = 2 * (29 - len(found.sets))
    assert row["groupless_clear"] == f"{n_without} of {n_without}"
    assert row["commit"] == bench.stored.code_state()["commit"]


def test_recipes_are_counted_and_the_log_holds_the_baseline(bench, toy, tmp_path):
    recipes = tmp_path / "recipes.csv"
    run(bench, tmp_path, "--candidates", "halves", "--limit", "2", "--seeds", "1")
    words = ["--store", str(tmp_path), "--candidate", "halves", "--recipes", str(recipes)]
    assert bench.tried(recipes) == 0
    for name, kind in (("a", "recipe"), ("a", "recipe"), ("b", "recipe"), ("old", "baseline")):
        bench.main(["log", *words, "--what", "some", "--name", name, "--kind", kind])
    assert len(bench.logged(recipes)) == 4
    assert bench.tried(recipes) == 2
    assert {row["kind"] for row in bench.logged()} <= {"baseline", "recipe", "opened"}
    assert any(row["kind"] == "baseline" for row in bench.logged())


def test_confirming_is_opened_on_purpose_and_logged(bench, toy, tmp_path, monkeypatch):
    recipes = tmp_path / "recipes.csv"
    words = ("--candidates", "halves", "--limit", "1", "--seeds", "1", "--recipes", str(recipes))
    monkeypatch.setattr(bench.stored, "uncommitted", list)
    for part in ("confirming", "second", "third", "real", "real-confirming"):
        with pytest.raises(SystemExit, match="--open-confirming"):
            run(bench, tmp_path, *words, part=part)
    monkeypatch.setattr(bench.stored, "uncommitted", lambda: ["src/consilience/new.py"])
    with pytest.raises(SystemExit, match=r"Commit the recipe .*new\.py"):
        run(bench, tmp_path, *words, "--open-confirming", part="confirming")
    assert not toy
    assert not recipes.exists()
    monkeypatch.setattr(bench.stored, "uncommitted", list)
    run(bench, tmp_path, *words, "--open-confirming", part="confirming")
    (row,) = bench.logged(recipes)
    assert (row["kind"], row["name"], row["part"]) == ("opened", "halves", "confirming")
    assert row["commit"] == bench.stored.code_state()["commit"]
    assert toy == [0]
    for part in ("second", "third"):
        run(bench, tmp_path, *words, "--open-confirming", part=part)
        found = bench.shown.figures(bench.stored.Store(tmp_path).rows(), part, False)
        assert found.title.startswith(f"Generated, {part} confirming")
    assert [row["part"] for row in bench.logged(recipes)] == ["confirming", "second", "third"]
