"""Labels larger than memory: distinct rows block by block give what all objects give at once."""

import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from strategies import label_tables

import consilience as cs
from consilience.consensus import CONSENSUS, combine_blocks, large
from consilience.consensus.large import collapse
from consilience.engines import _pieces
from consilience.ensemble import Collapsed, Ensemble
from consilience.errors import InvalidParameterError, MemoryBudgetError
from consilience.evidence import confidence, never_seen

BY_ROWS = sorted(name for name, method in CONSENSUS.items() if method.by_rows)
LISTED = "cumulativevoting ecpcsmc hbgf kcc lwgp mcla sec usenc voting womc"


def test_the_methods_are_those_of_the_documentation():
    assert " ".join(BY_ROWS) == LISTED
    assert all(name in combine_blocks.__doc__ for name in BY_ROWS)


def outcome(call):
    """What a call gives, and the warnings it makes; or the error."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            found = call()
        except InvalidParameterError as error:
            return str(error), []
    return found, sorted(str(one.message) for one in caught)


def planted(seed, n=400, k=3, noise=True):
    """Members that agree on groups up to some objects."""
    rng = np.random.default_rng(seed)
    truth = rng.integers(0, k, n)
    members = []
    for _ in range(int(rng.integers(3, 9))):
        width = int(rng.integers(2, 5))
        member = (truth + (rng.random(n) < 0.2) * rng.integers(0, k, n)) % k * width
        member += (rng.integers(0, 3, n) == 0) * rng.integers(0, width, n)
        member[rng.random(n) < (0.05 if noise else 0)] = rng.choice([-1, -2])
        members.append(member)
    return Ensemble(members)


@pytest.mark.parametrize("name", BY_ROWS)
@given(seed=st.integers(0, 2**32 - 1), k=st.integers(1, 5), block=st.integers(1, 500))
@settings(max_examples=6)
def test_a_method_by_blocks_is_the_method(name, seed, k, block):
    ensemble, own = planted(seed), large._SETTINGS.get(name, {})
    wanted, said = outcome(lambda: CONSENSUS[name].run(ensemble, k, random_state=0, **own))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(large, "_BLOCK", block)
        found, also = outcome(lambda: combine_blocks(ensemble, k, name, random_state=0))
    if not never_seen(ensemble).any():  # of whom blocks speak in other words
        assert also == said
    if isinstance(wanted, str):
        assert found == wanted
        return
    np.testing.assert_array_equal(found.labels, wanted.labels)
    assert found.n_clusters == wanted.n_clusters
    sure = confidence(ensemble, wanted.labels, exact=False)
    np.testing.assert_array_equal(found.confidence, sure.confidence.astype(np.float32))
    np.testing.assert_array_equal(found.runner_up, sure.runner_up)
    if wanted.memberships is not None:
        spread = found.of_rows.memberships[collapse(ensemble)[1]]
        np.testing.assert_array_equal(spread, wanted.memberships)


@pytest.mark.parametrize("name", BY_ROWS)
@given(seed=st.integers(0, 2**32 - 1), n_unseen=st.integers(1, 300))
@settings(max_examples=6)
def test_objects_that_nobody_saw_are_as_in_memory(name, seed, n_unseen):
    """Labels, memberships, and all that the method says of itself."""
    ensemble, own = planted(seed, noise=False), large._SETTINGS.get(name, {})
    nobody = np.full((n_unseen, ensemble.n_members), -2)
    unseen = Ensemble(np.concatenate([nobody, ensemble.labels]))
    wanted, _ = outcome(lambda: CONSENSUS[name].run(unseen, 3, random_state=0, **own))
    result, said = outcome(lambda: combine_blocks(unseen, 3, name, random_state=0))
    assert any(f"{n_unseen} object" in one and "seen by no member" in one for one in said)
    rows, numbers = collapse(unseen)
    np.testing.assert_array_equal(result.labels, wanted.labels)
    assert not result.confidence[:n_unseen].any()
    for part in ("objective", "solver", "n_iter", "converged", "n_clusters"):
        assert getattr(result.of_rows, part) == getattr(wanted, part)
    if wanted.memberships is not None:
        np.testing.assert_array_equal(result.of_rows.memberships[numbers], wanted.memberships)
    for part, value in wanted.details.items():
        if isinstance(value, np.ndarray) and len(value) == unseen.n_objects:
            assert len(result.of_rows.details[part]) == rows.n_objects
            np.testing.assert_array_equal(result.of_rows.details[part][numbers], value)


@given(labels=label_tables(), k=st.integers(1, 4))
def test_few_objects_noise_and_unseen_are_decided_as_in_memory(labels, k):
    ensemble = Ensemble(labels)
    k = min(k, ensemble.n_objects)
    wanted, said = outcome(lambda: cs.consensus.sec(ensemble, k, random_state=0))
    found, also = outcome(lambda: combine_blocks(ensemble, k, random_state=0))
    np.testing.assert_array_equal(found.labels, wanted.labels)
    if not never_seen(ensemble).any():
        assert also == said
    assert not found.confidence[never_seen(ensemble)].any()


@given(label_tables(), st.integers(1, 7))
def test_rows_of_blocks_are_the_signatures_of_all(labels, block):
    ensemble = Ensemble(labels)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(large, "_BLOCK", block)
        rows, numbers = collapse(ensemble)
    wanted = ensemble.signatures()
    np.testing.assert_array_equal(rows.members, wanted.ensemble.members)
    np.testing.assert_array_equal(numbers, wanted.inverse)
    np.testing.assert_array_equal(rows.counts, wanted.counts)


def test_labels_of_many_objects_are_on_disk(monkeypatch):
    monkeypatch.setattr(_pieces, "_IN_MEMORY", 0)
    found = combine_blocks(planted(0), 3, "lwgp", random_state=0)
    for values in (found.labels, found.confidence, found.runner_up):
        assert isinstance(values, np.memmap)


def test_rows_that_stand_for_objects_keep_their_numbers():
    rows = Collapsed._of(Ensemble([[0, 1, 0], [0, 0, 1]]), np.array([5, 2, 1]))
    assert rows.take([2, 0]).counts.tolist() == [1, 5]
    one = rows[[0]]
    assert one.signatures().counts.tolist() == [6, 2]
    assert rows[1].tolist() == [0, 0, 1]


def test_methods_that_cannot_name_the_nearest_that_can():
    ensemble = planted(0)
    with pytest.raises(InvalidParameterError, match=r"Got 'eac' instead. Take 'lwgp', the nearest"):
        combine_blocks(ensemble, 2, "eac")
    for name in set(CONSENSUS) - set(BY_ROWS):
        with pytest.raises(InvalidParameterError, match=r"Take '(\w+)', the nearest") as caught:
            combine_blocks(ensemble, 2, name)
        assert str(caught.value).split("Take '")[1].split("'")[0] in BY_ROWS
    with pytest.raises(InvalidParameterError, match=r"Got 'nonsense' instead\.$"):
        combine_blocks(ensemble, 2, "nonsense")
    with pytest.raises(
        InvalidParameterError, match="'solver' parameter of hbgf must be 'spectral'"
    ):
        combine_blocks(ensemble, 2, "hbgf", solver="metis")
    with pytest.raises(
        InvalidParameterError, match="'weights' parameter of womc must be 'one-shot'"
    ):
        combine_blocks(ensemble, 2, "womc", weights=np.ones(400))
    with pytest.raises(InvalidParameterError, match="has no parameter 'linkage'"):
        combine_blocks(ensemble, 2, linkage="single")
    with pytest.raises(InvalidParameterError, match="n_clusters"):
        combine_blocks(ensemble, 401)


def test_too_many_different_rows_are_refused_with_what_to_do():
    rng = np.random.default_rng(0)
    ensemble = Ensemble(rng.integers(0, 100, (5000, 4)))
    with pytest.raises(MemoryBudgetError, match=r"different rows.*Raise it, or take fewer members"):
        combine_blocks(ensemble, 2, max_memory="100 KiB")


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("n_clusters", [2, 3]),
        ("n_clusters", 0),
        ("n_clusters", 2.0),
        ("random_state", "x"),
        ("max_memory", "much"),
        ("n_jobs", 0),
        ("n_jobs", "x"),
    ],
)
def test_wrong_numbers_and_seeds_of_blocks_are_refused_by_name(name, value):
    given = {"n_clusters": 2, "random_state": 0} | {name: value}
    words = f"'{name}' parameter of combine_blocks must be"
    with pytest.raises(InvalidParameterError, match=words):
        combine_blocks(Ensemble([[0, 0, 1, 1], [0, 1, 1, 1]]), **given)


def test_options_of_others_are_refused_before_labels_are_read(monkeypatch):
    monkeypatch.setattr(large, "collapse", None)
    for options in ({"theta": 0.4, "balance": "all"}, {"solver": "spectral"}):
        with pytest.raises(InvalidParameterError, match="'lwgp' has no parameter"):
            combine_blocks(Ensemble([[0, 0, 1, 1], [0, 1, 1, 1]]), 2, "lwgp", **options)


@pytest.mark.parametrize("method", sorted(large._SETTINGS))
def test_what_a_method_needs_by_blocks_is_set_and_nothing_else_is_taken(method):
    for name, value in large._SETTINGS[method].items():
        for options in ({}, {name: value}, {name: "auto"}):
            assert large.options_by_rows(method, options)[name] == value
        with pytest.raises(InvalidParameterError, match=f"'{name}' parameter of {method} must be"):
            large.options_by_rows(method, {name: "other"})


def test_rows_may_take_all_of_the_memory_and_not_a_byte_more():
    ensemble = Ensemble(np.random.default_rng(0).integers(0, 3, (50, 4)))
    table = large.RowTable(4, ensemble.members.dtype)
    table.add(ensemble.members, None)
    rows, numbers = collapse(ensemble, max_bytes=table.nbytes)
    assert (rows.members[:, numbers] == ensemble.members).all()
    with pytest.raises(MemoryBudgetError, match=f"first 50 of 50 objects have {table.n_rows} diff"):
        collapse(ensemble, max_bytes=table.nbytes - 1)
