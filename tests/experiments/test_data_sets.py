"""Which objects of a data set the papers used, without their files."""

from types import SimpleNamespace

import numpy as np
import pytest

from consilience.experiments import _peace_data, _woec_data, ewocs_convergence, peace
from consilience.experiments._standard import standardised

TRUTH = np.array(["b", "a", "b", "c", "a", "b", "c"])


def test_the_first_objects_of_each_class_are_taken():
    assert _woec_data._first(2)(TRUTH).tolist() == [True, True, True, True, True, False, True]
    assert _woec_data._first(1)(TRUTH).tolist() == [True, True, False, True, False, False, False]
    assert _woec_data._all(TRUTH).tolist() == [True] * 7
    assert _woec_data._classes("a", "c")(TRUTH).tolist() == [
        False,
        True,
        False,
        True,
        True,
        False,
        True,
    ]


@pytest.mark.parametrize(
    ("name", "file", "kept"),
    [
        ("Iris", "iris", [*range(7)]),
        ("Wall", "wall_following_2", [1, 4]),
        ("Yeast", "yeast", [0, 2, 5]),
    ],
)
def test_a_real_set_is_read_cut_and_standardised(name, file, kept, monkeypatch):
    words = {"Wall": {"a": "Move-Forward"}, "Yeast": {"b": "NUC"}}.get(name, {})
    truth = np.array([words.get(one, one) for one in TRUTH])
    X = np.random.default_rng(0).normal(size=(7, 3))
    asked = []

    def load(*given):
        asked.append(given)
        return SimpleNamespace(X=X, truth=truth)

    monkeypatch.setattr(_woec_data, "load", load)
    found, y, k = _woec_data.real(name, "home")
    assert asked == [(file, "home")]
    np.testing.assert_allclose(found, standardised(X[kept]))
    classes = sorted(set(truth[kept]))
    assert k == len(classes)
    assert [classes[code] for code in y] == truth[kept].tolist()


def test_sets_that_the_paper_cut_are_cut_as_it_says():
    many = np.repeat(["a", "b"], 300)
    sizes = {name: int(rule(many).sum()) for name, (_, rule) in _woec_data.REAL.items()}
    assert sizes["Satimage"] == 140
    assert sizes["Spambase"] == 500
    assert (sizes["Wall"], sizes["Yeast"]) == (0, 0)
    cut = {"Satimage", "Spambase", "Wall", "Yeast"}
    assert {sizes[name] for name in sizes.keys() - cut} == {600}


@pytest.mark.parametrize("name", _woec_data.TOYS)
def test_a_toy_has_its_classes_and_another_sample_a_seed(name):
    X, y, found = _woec_data.toy(name, 3)
    assert found == len(np.unique(y))
    np.testing.assert_allclose(X.mean(axis=0), 0, atol=1e-9)
    assert (_woec_data.toy(name, 4)[0] != X).any()


def test_texts_are_read_from_the_folder_by_their_name(monkeypatch):
    for name in ("load_mini_newsgroups", "load_webkb4"):
        monkeypatch.setattr(_peace_data, name, lambda home, name=name: (name, home))
    assert _peace_data.text("miniN", "home") == ("load_mini_newsgroups", "home")
    assert _peace_data.text("webkd", "home") == ("load_webkb4", "home")


def test_members_of_a_text_are_made_of_its_documents(monkeypatch):
    made = []

    class Maker:
        def __init__(self, n_members, random_state):
            made.append((n_members, random_state))

        def generate(self, X):
            return f"members of {X}"

    documents = SimpleNamespace(X="words", truth="truth", classes=("a", "b", "c"))
    monkeypatch.setattr(peace, "text", lambda *given: made.append(given) or documents)
    monkeypatch.setitem(peace._KINDS, "1a", Maker)
    found = peace._text_ensemble("webkd", "a home of nobody", "1a", 7, 5)
    assert found == ("members of words", "truth", 3)
    assert made == [("webkd", "a home of nobody"), (7, 5)]


def test_a_hundred_of_each_digit_are_taken(monkeypatch):
    truth = np.repeat(["0", "1", "2"], [150, 100, 30])[np.random.default_rng(0).permutation(280)]
    X = np.arange(280.0)[:, None]
    asked = []
    table = SimpleNamespace(X=X, truth=truth)
    monkeypatch.setattr(_peace_data, "load", lambda *given: asked.append(given) or table)
    found, y = _peace_data.benchmark("optdigits", "home")
    wanted = sorted(i for d in "012" for i in np.flatnonzero(truth == d)[:100])
    assert found[:, 0].tolist() == wanted
    assert y.tolist() == truth[wanted].tolist()
    whole, y = _peace_data.benchmark("wine", "home")
    assert (len(whole), len(y)) == (280, 280)
    assert asked == [("optdigits_train", "home"), ("wine", "home")]


def test_so_many_pairs_of_a_collection_are_drawn_in_their_order():
    rows = np.arange(40)
    found = ewocs_convergence._objects(ewocs_convergence._RELATIONS, 12, rows, 3)
    assert len(found) == 12
    assert (np.diff(found) > 0).all()
    same = ewocs_convergence._objects(ewocs_convergence._RELATIONS, 12, rows, 3)
    np.testing.assert_array_equal(found, same)
    for n, run in ((12, 4), (13, 3)):
        other = ewocs_convergence._objects(ewocs_convergence._RELATIONS, n, rows, run)
        assert set(found.tolist()) - set(other.tolist())
