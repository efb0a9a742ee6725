"""What all jobs have in common: where members come from, how many, and what is left behind."""

import json
from types import SimpleNamespace

import numpy as np
import pytest

import consilience as cs
from consilience.errors import ConsilienceWarning, InvalidInputError, InvalidParameterError
from consilience.generate import KMeansEnsemble
from consilience.generate.communities import CommunityEnsemble
from consilience.workflow import _members, ambiguity, large, large_minority, minority
from consilience.workflow._consensus import _how_kept

N = 24
X = np.random.default_rng(0).normal(size=(N, 2)) + 6.0 * (np.arange(N) % 3)[:, None]
CLIQUE = np.array([[a, b] for a in range(6) for b in range(a)])
GRAPH = np.vstack([CLIQUE + 6 * g for g in range(4)])
MEMBERS = np.column_stack([np.arange(N) // 6] * 5)
JOBS = {
    "cluster": (lambda **how: cs.cluster(X, 3, method="eac", **how), KMeansEnsemble(5, 3)),
    "ambiguous_objects": (lambda **how: cs.ambiguous_objects(X, 3, **how), KMeansEnsemble(5, 3)),
    "cluster_graph": (lambda **how: cs.cluster_graph(GRAPH, **how), CommunityEnsemble(5)),
}


@pytest.fixture(params=JOBS)
def job(request):
    return (request.param, *JOBS[request.param])


# ---- members ----------------------------------------------------------------------------------


def test_members_that_are_given_are_not_made_too(job, tmp_path):
    owner, run, generator = job
    for name, value in {"generator": generator, "run": tmp_path / "run"}.items():
        with pytest.raises(InvalidParameterError) as caught:
            run(ensemble=MEMBERS, random_state=0, **{name: value})
        assert str(caught.value) == (
            f"The '{name}' parameter of {owner} belongs to members that are to be made, and "
            "'ensemble' gives them. Give one of them."
        )
    assert not (tmp_path / "run").exists()


@pytest.mark.filterwarnings("ignore::consilience.errors.ConsilienceWarning")
def test_a_generator_of_ones_own_may_keep_its_members(job, tmp_path):
    _, run, generator = job
    first = run(generator=generator, random_state=3, run=tmp_path / "run")
    assert first.ensemble.n_members == 5
    assert _members.kept_members(tmp_path / "run") == (5, 5)
    again = run(generator=generator, run=tmp_path / "run")  # its seed is that of the folder
    assert again.seed == 3
    np.testing.assert_array_equal(again.labels, first.labels)
    with pytest.raises(InvalidParameterError, match=r"'run' parameter of .* must be a folder"):
        run(run=3)


def test_members_that_are_given_are_those_of_the_result(job):
    _, run, _ = job
    found = run(ensemble=MEMBERS, random_state=0)
    np.testing.assert_array_equal(found.ensemble.labels, MEMBERS)
    assert found.generator is None


@pytest.mark.parametrize("n_members", [1, 4, 5, 6])
def test_fewer_than_five_members_are_few(job, n_members):
    _, run, _ = job
    notes = run(n_members=n_members, random_state=0).notes
    assert any(" few" in note for note in notes) is (n_members < 5)


@pytest.mark.parametrize(("n", "words"), [(1, "1 clustering is few: "), (2, "2 clusterings are")])
def test_few_members_are_counted_in_words(n, words):
    notes = cs.cluster(X, 3, method="eac", n_members=n, random_state=0).notes
    assert sum(note.startswith(words) for note in notes) == 1


def test_two_objects_are_enough_and_one_is_not():
    for job in (cs.cluster, cs.ambiguous_objects):
        assert len(job(X[:2], 1, n_members=5, random_state=0).labels) == 2
        with pytest.raises(InvalidInputError, match="was given one object"):
            job(X[:1], n_members=5)


def test_objects_are_judged_in_the_groups_of_cluster():
    noise = np.random.default_rng(5).normal(size=(24, 2))
    how = {"n_members": 6, "random_state": 1}
    wanted = cs.cluster(noise, 3, **how)
    found = cs.ambiguous_objects(noise, 3, **how)
    np.testing.assert_array_equal(found.labels, wanted.labels)
    np.testing.assert_array_equal(found.confidence, wanted.confidence)
    np.testing.assert_array_equal(found.runner_up, wanted.runner_up)
    np.testing.assert_array_equal(found.flags, wanted.doubtful)
    # It would show if they were moved afterwards.
    assert cs.cluster(noise, 3, refine=True, **how).n_moved > 0


# ---- what is left behind ----------------------------------------------------------------------


def parts(cls, path, fail=False):
    """Save a result of which only what is written is there."""

    def facts():
        if fail:
            raise OSError("no space")
        return {"n": 3}

    def keep(folder):
        folder.mkdir()
        (folder / "model.json").write_text("{}")

    whole = SimpleNamespace(
        n_objects=3,
        to_dict=facts,
        sample=SimpleNamespace(save=keep),
        labels=np.array([0, 1, -1]),
        confidence=np.ones(3),
        runner_up=np.zeros(3, int),
        scores=np.ones(3),
        undecided=np.zeros(3, bool),
    )
    cls.save(whole, path)


IN_PARTS = (large.LargeResult, large_minority.LargeMinorityResult)


@pytest.mark.parametrize("cls", IN_PARTS)
@pytest.mark.parametrize("was_there", [True, False])
def test_results_in_parts_are_written_whole_or_not_at_all(cls, was_there, tmp_path, monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "pyarrow", None)
    place = tmp_path / "run"
    if was_there:
        place.mkdir()
    with pytest.raises(OSError, match=r"^no space$"):
        parts(cls, place, fail=True)
    assert list(tmp_path.rglob("*")) == ([place] if was_there else [])
    parts(cls, place)
    assert json.loads((place / "summary.json").read_text()) == {"n": 3}
    with np.load(place / "labels" / "part-0001.npz") as part:
        assert part["object"].tolist() == [0, 1, 2]
    before = sorted(place.rglob("*"))
    with pytest.raises(InvalidInputError) as caught:
        parts(cls, place)
    words = f"The folder {str(place)!r} is not empty. Name one that is new or empty."
    assert str(caught.value) == words
    assert sorted(place.rglob("*")) == before
    (tmp_path / "file").write_text("mine")
    with pytest.raises(InvalidInputError, match="is not empty"):
        parts(cls, tmp_path / "file")
    assert (tmp_path / "file").read_text() == "mine"


def test_a_plan_alone_is_removed_and_members_never(tmp_path):
    class Run:
        def __init__(self, bare):
            self.bare, self.cleared = bare, 0

        def is_bare(self):
            return self.bare

        def clear(self):
            self.cleared += 1

    for bare in (True, False):
        run = Run(bare)
        with _members.keeping_something(run):
            pass
        assert run.cleared == 0
        with pytest.raises(KeyboardInterrupt), _members.keeping_something(run):
            raise KeyboardInterrupt
        assert run.cleared == bare
        with pytest.raises(_members.ResumeError), _members.keeping_something(run):
            raise _members.ResumeError("another run", tmp_path)
        assert run.cleared == bare
    with pytest.raises(ValueError, match="x"), _members.keeping_something(None):
        raise ValueError("x")


# ---- what is known ----------------------------------------------------------------------------


def known(must=0, cannot=0, partial=()):
    return SimpleNamespace(
        must=np.zeros((must, 2), int), cannot=np.zeros((cannot, 2), int), partial=np.array(partial)
    )


def pair(kind, first=0, second=1):
    return SimpleNamespace(kind=kind, first=first, second=second)


@pytest.mark.parametrize(
    ("what", "broken", "words"),
    [
        (known(must=1, partial=[-1]), [], "1 must-link kept"),
        (known(must=2, partial=[-1]), [], "2 must-links kept"),
        (known(cannot=1, partial=[-1]), [], "0 of 1 cannot-link broken"),
        (
            known(must=1, cannot=3, partial=[-1]),
            [pair("cannot_link"), pair("cannot_link")],
            "1 must-link kept and 2 of 3 cannot-links broken",
        ),
        (known(partial=[0, -1]), [], "0 of 1 object of known groups not with most of their group"),
        (
            known(cannot=1, partial=[0, 0, 1, 1, 2, -1]),
            [pair("cannot_link"), pair("partial_labels", 0, 1), pair("partial_labels", 0, 2)],
            "1 of 1 cannot-link broken, 1 of 5 objects of known groups not with most of their "
            "group and 1 known group in one cluster with another",
        ),
        (
            known(partial=[0, 0, 1, 2]),
            [pair("partial_labels", 0, 2), pair("partial_labels", 0, 3)],
            "0 of 4 objects of known groups not with most of their group and 2 known groups in "
            "one cluster with another",
        ),
    ],
)
def test_what_became_of_the_knowledge_is_told(what, broken, words):
    assert _how_kept(what, broken) == f"Of what is known: {words}"


def test_where_nothing_is_known_that_is_said():
    X = np.random.default_rng(0).normal(size=(30, 2))
    result = cs.cluster(X, 2, method="kcc", n_members=5, must_link=[], random_state=0)
    assert "Nothing is known of any object." in result.notes


# ---- dense groups -----------------------------------------------------------------------------


def test_sources_are_numbered_in_their_order_behind_the_background():
    truth = ["b", "d", "a", "d", "c", "d", "b"]
    for background, zero, wanted in (
        (None, "d", [2, 0, 1, 0, 3, 0, 2]),
        ("a", "a", [1, 3, 0, 3, 2, 3, 1]),
        ("b", "b", [0, 3, 1, 3, 2, 3, 0]),
    ):
        codes, name = minority._known_sources(truth, background)
        assert (codes.tolist(), name, codes.dtype) == (wanted, zero, np.int64)


def test_a_background_of_that_very_text_goes_before_one_of_that_number():
    names = np.array(["01", "1", "1.0"])
    assert [minority._place_of(one, names) for one in (1, "1", 1.0, "01")] == [1, 1, 2, 0]


@pytest.mark.parametrize(
    ("background", "found"),
    [(0, 0), (0.0, 0), (np.float32(0), 0), ("1.0", 1), (1, 1), (True, None), (2, None),
     ("none", None), (None, 2), (np.bool_(False), None)],
)  # fmt: skip
def test_the_background_is_found_by_its_text_or_its_number(background, found):
    names = np.array(["0", "1.0", "None", "red"])
    if found is not None:
        assert minority._place_of(background, names) == found
        return
    with pytest.raises(InvalidInputError) as caught:
        minority._place_of(background, names)
    assert str(caught.value) == (
        "The 'background' parameter of minority_groups must be a value of 'truth' "
        f"(0, 1.0, None, red). Got {background!r} instead."
    )


def test_the_first_twenty_known_groups_are_named():
    names = np.array([f"k{i:02d}" for i in range(22)])
    with pytest.raises(InvalidInputError, match=r"k18, k19\)\. Got 'x' instead"):
        minority._place_of("x", names)


def minority_result(labels, scores, truth=None):
    labels = np.asarray(labels, np.int32)
    n = len(labels)
    model = SimpleNamespace(
        labels_=labels, scores_=np.asarray(scores, float), n_clusters_=int(labels.max()) + 1,
        undecided_=np.zeros(n, bool), n_foreground_=int((labels >= 0).sum()),
    )  # fmt: skip
    told = {"data": None, "seed": 0, "notes": (), "seconds": {}, "rules": (), "background": None}
    truth = None if truth is None else np.array(truth)
    return minority.MinorityResult(model=model, truth=truth, **told)


def test_scores_are_compared_with_a_truth_of_both_kinds():
    labels, scores = [0, 0, -1, -1], [4, 3, 2, 1]
    assert minority_result(labels, scores).agreement is None
    assert minority_result(labels, scores, [0, 0, 0, 0]).agreement is None
    assert minority_result(labels, scores, [1, 2, 1, 1]).agreement is None
    one = minority_result(labels, scores, [1, 0, 0, 0])
    assert one.agreement == {
        "auc": 1.0,
        "precision": 0.5,
        "recall": 1.0,
        "f1": pytest.approx(2 / 3),
    }
    assert one.backwards == ""
    half = minority_result(labels, scores, [0, 1, 1, 0])  # half of all pairs are in order
    assert (half.agreement["auc"], half.backwards) == (0.5, "")
    wrong = minority_result(labels, scores, [0, 0, 0, 2])
    assert wrong.agreement["auc"] == 0.0
    assert wrong.backwards == (
        ". The AUC is below one half: the known groups do not score higher than the background, "
        "they are no dense groups in these columns"
    )
    assert wrong.rows()[1] == [("0", "2", "3.5")]
    assert [wrong.mean_score(g) for g in (-1, 0)] == [1.5, 3.5]


@pytest.mark.parametrize(
    ("n_foreground", "wanted"), [(None, None), (0.25, 0.25), (1, 1), (2, 1), (10, 2), (40, 10)]
)
def test_a_sample_has_its_share_of_the_foreground(n_foreground, wanted, tmp_path, monkeypatch):
    np.save(tmp_path / "x.npy", np.arange(80.0).reshape(40, 2))
    monkeypatch.setattr(minority, "sample_of", lambda n, seed: np.arange(seed, n, 4))
    asked = []
    every = minority.thresholds.every
    monkeypatch.setattr(
        minority.thresholds, "every", lambda scores, m: asked.append(m) or every(scores, m=m)
    )
    border = every(np.arange(40.0))[0]
    model = SimpleNamespace(
        labels_=np.arange(40) % 8 - 4, scores_=np.arange(40.0), standard_errors_=np.zeros(40),
        undecided_=np.zeros(40, bool), n_foreground=n_foreground, n_foreground_=20,
        threshold_result_=border, scaling_="box",
    )  # fmt: skip
    found = minority._sampled(cs.open_rows(tmp_path / "x.npy"), model, ("said",), seed=2)
    assert asked == [wanted]
    assert found.model.n_foreground == wanted
    assert found.scores.tolist() == list(range(2, 40, 4))
    assert found.data.original[:, 0].tolist() == list(range(4, 80, 8))
    assert found.n_foreground == found.rules[0].n_foreground == 5
    assert found.rules[0].method == border.method
    assert (model.n_foreground, model.n_foreground_, len(model.labels_)) == (n_foreground, 20, 40)
    assert found.data.used_as == "each scaled to the same range"
    assert (found.notes, found.seed) == (("said",), 2)


# ---- misplaced objects ------------------------------------------------------------------------


def agree_by_trying(truth, labels):
    from itertools import permutations

    groups = sorted(set(truth) - {-1, -2})
    clusters = sorted(set(labels) - {-1})
    clusters += [-9] * max(len(groups) - len(clusters), 0)
    return max(
        sum(a >= 0 and b >= 0 and chosen[groups.index(a)] == b
            for a, b in zip(truth, labels, strict=True))
        for chosen in permutations(clusters, len(groups))
    )  # fmt: skip


@pytest.mark.parametrize("seed", range(8))
def test_as_many_objects_as_can_be_are_in_their_group(seed):
    rng = np.random.default_rng(seed)
    truth, labels = rng.integers(-2, 4, 12), rng.integers(-1, 3, 12)
    found = ambiguity._agree(truth, labels)
    assert found.sum() == agree_by_trying(truth.tolist(), labels.tolist())
    assert not found[(truth < 0) | (labels < 0)].any()
    assert not ambiguity._agree(np.full(3, -2), np.zeros(3, int)).any()
    assert not ambiguity._agree(np.zeros(3, int), np.full(3, -1)).any()


@pytest.mark.parametrize(
    ("k", "n", "share"), [(2, 100, 0.2), (3, 100, 0.3), (9, 100, 0.9), (10, 100, 0.9), (1, 5, 0.9)]
)
def test_members_see_ten_objects_a_group_and_a_fifth_at_least(k, n, share):
    made = ambiguity.few_objects_each(7, k, n)
    assert made.get_params()["max_samples"] == pytest.approx(share)
    assert (made.n_members, made.n_clusters) == (7, k)


def test_warnings_are_notes_once_each_and_are_not_shown():
    from consilience.errors import warn
    from consilience.workflow._notes import noting

    with noting() as notes:
        for text in ("b  b\n b", "a", "b b b"):
            warn(text)
        assert notes == []
    assert notes == ["b b b", "a"]
    with pytest.warns(ConsilienceWarning, match="after"):
        warn("after")
