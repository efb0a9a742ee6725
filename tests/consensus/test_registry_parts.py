"""The table of methods: what an entry holds by default, checks, and hands on."""

import pytest

from consilience import Ensemble
from consilience.consensus import _registry
from consilience.consensus._registry import consensus_method, soft_methods
from consilience.errors import InvalidParameterError

ENSEMBLE = Ensemble([[0, 0, 1], [0, 1, 1]])


class Plain:
    pass


@pytest.fixture(autouse=True)
def table(monkeypatch):
    """A table of its own for every test."""
    own = {}
    monkeypatch.setattr(_registry, "CONSENSUS", own)
    return own


def entered(**more):
    def plain(ensemble, n_clusters, *, power=1, random_state=None):
        """Say what was given.

        More of it.

        Parameters
        ----------
        power : int
            Any.
        """
        return ensemble, n_clusters, power, random_state

    given = {"estimator": "Plain", "paper": "Nobody (1900)", "memory": "n R"} | more
    return consensus_method(**given)(plain)


def test_an_entry_is_plain_unless_told(table):
    function = entered()
    one = table["plain"]
    assert (one.name, one.function, one.estimator_name) == ("plain", function, "Plain")
    assert (one.summary, one.paper, one.memory) == ("Say what was given.", "Nobody (1900)", "n R")
    assert (one.needs_data, one.needs_n_clusters, one.balanced) == (False, True, False)
    assert (one.keeps_noise, one.few_clusters, one.by_rows, one.soft) == (True, False, False, False)
    assert one.options == ("power",)
    assert list(one.rules) == ["n_clusters"]
    assert one.estimator is Plain


@pytest.mark.parametrize(
    "name", ["needs_data", "needs_n_clusters", "balanced", "keeps_noise", "few_clusters", "by_rows"]
)
@pytest.mark.parametrize("said", [False, True])
def test_an_entry_says_what_it_was_told(name, said, table):
    entered(**{name: said})
    assert getattr(table["plain"], name) is said


@pytest.mark.parametrize(
    ("by_rows", "soft", "takes"),
    [
        (True, None, True),
        (False, None, False),
        (True, False, False),
        (False, True, True),
    ],
)
def test_rows_are_those_of_memberships_unless_told(by_rows, soft, takes, table):
    entered(by_rows=by_rows, soft=soft)
    assert table["plain"].soft is takes


def test_what_all_have_is_said_of_each():
    said = entered().__doc__
    assert "Labels of n objects by R members" in said
    assert ">>> plain(ens, 2, random_state=0).labels" in said


def test_a_function_without_words_has_an_empty_summary(table):
    def silent(ensemble, n_clusters):
        return n_clusters

    consensus_method(estimator="Plain", paper="", memory="")(silent)
    assert table["silent"].summary == ""
    assert table["silent"].function.__doc__ is None


def test_arguments_are_handed_on_by_place_and_by_name():
    function = entered()
    assert function(ENSEMBLE, 2) == (ENSEMBLE, 2, 1, None)
    assert function(ensemble=ENSEMBLE, n_clusters=2, power=3) == (ENSEMBLE, 2, 3, None)
    with pytest.raises(TypeError, match="n_clusters"):
        function(ENSEMBLE)
    with pytest.raises(TypeError, match="positional"):
        function(ENSEMBLE, 2, 3, 4, 5, 6)


def test_values_are_checked_in_the_name_of_the_estimator():
    function = entered(rules={"power": _registry.COUNT})
    for wrong in ({"power": 0}, {"random_state": "x"}):
        with pytest.raises(InvalidParameterError, match="Plain"):
            function(ENSEMBLE, 2, **wrong)
    with pytest.raises(InvalidParameterError, match="Plain"):
        function(ENSEMBLE, 0)
    with pytest.raises(InvalidParameterError, match="plain"):
        function([[0, 0, 1]], 2)


def test_no_number_is_taken_only_where_the_method_finds_it():
    assert entered(needs_n_clusters=False)(ENSEMBLE, None)[1] is None
    with pytest.raises(InvalidParameterError, match="n_clusters"):
        entered()(ENSEMBLE, None)


def test_a_method_is_run_with_what_it_takes(table):
    entered()
    one = table["plain"]
    assert one.run(ENSEMBLE, 2, [[1.0]], random_state=5, n_jobs=2) == (ENSEMBLE, 2, 1, 5)
    assert one.run(ENSEMBLE, 2, power=7) == (ENSEMBLE, 2, 7, None)
    with pytest.raises(InvalidParameterError, match=r"'plain' has no .* 'size' .* has power\."):
        one.run(ENSEMBLE, 2, size=7)


def test_methods_of_memberships_are_listed_by_name():
    for name in ("zeta", *"bcdefghijkl", "alpha"):

        def one(ensemble, n_clusters):
            return n_clusters

        one.__name__ = name
        consensus_method(estimator="Plain", paper="", memory="", soft=name != "b")(one)
    assert soft_methods() == "alpha, c, d, e, f, g, h, i, j, k, l or zeta"
