"""Cluster stability: the paper's example, selection and what it covers, the extended matrix."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.spatial.distance import squareform
from strategies import ensembles

from consilience import Ensemble
from consilience.errors import InvalidInputError, InvalidParameterError
from consilience.evidence import co_association
from consilience.evidence.stability import (
    cluster_stability,
    extended_co_association,
    kept_members,
    select_clusters,
)
from consilience.metrics import nmi

# Figure 2: a group at the top left, two at the right that touch; twelve objects each.
TRUE = np.repeat([0, 1, 2], 12)  # TL, R1, R2
SPURIOUS = np.repeat([0, 1, 2], [6, 6, 24])  # TL split, R1 and R2 merged
REFERENCES = Ensemble([TRUE] * 36 + [SPURIOUS] * 4)


def test_the_complement_flaw_of_nmi_and_its_cure_by_max():
    """The spurious right-hand cluster comes back in 4 of 40 references, its complement in 36."""
    primary = Ensemble([TRUE, SPURIOUS])
    top_left, right = 0, 5
    by_nmi = cluster_stability(primary, REFERENCES, criterion="nmi")
    assert by_nmi[top_left] == 1.0
    assert by_nmi[right] == 1.0
    by_max = cluster_stability(primary, REFERENCES, criterion="max")
    assert by_max[top_left] == pytest.approx(0.940, abs=5e-4)
    assert by_max[right] == pytest.approx(0.347, abs=5e-4)
    assert by_max.argmax() == top_left


def test_the_most_similar_cluster_must_not_be_found_by_nmi():
    """By NMI the right-hand cluster would be matched with its own complement, and score 1."""
    right = SPURIOUS == 2
    by_nmi = [nmi(right, np.equal(TRUE, c), norm="arithmetic") for c in range(3)]
    assert by_nmi == [1.0, pytest.approx(0.274, abs=5e-4), pytest.approx(0.274, abs=5e-4)]
    found = cluster_stability(Ensemble([right]), Ensemble([TRUE]), criterion="max")
    assert found[1] == pytest.approx(by_nmi[1])


def test_apmm_rewards_fragments():
    fragments = Ensemble([np.repeat([0, 1, 2, 3], [3, 9, 12, 12])])
    found = cluster_stability(fragments, Ensemble([TRUE]), criterion="apmm")
    np.testing.assert_array_equal(found, 1.0)
    merged = cluster_stability(Ensemble([SPURIOUS]), Ensemble([TRUE]), criterion="apmm")
    assert merged[2] < 0.7


@pytest.mark.parametrize("criterion", ["nmi", "max"])
def test_both_sides_of_two_clusters_are_equally_stable(criterion, seed):
    """So that a cut by rank can keep one side only, and ties must be kept."""
    rng = np.random.default_rng(seed)
    members = np.repeat([0, 1], [61, 40]) ^ (rng.random((8, 101)) < 0.1)
    stability = cluster_stability(Ensemble(list(members)), criterion=criterion)
    np.testing.assert_allclose(stability[::2], stability[1::2])


def test_members_judge_each_other_without_a_reference():
    ensemble = Ensemble([[0, 0, 1, 1, 2, 2], [0, 0, 1, 1, 1, 1], [0, 0, 1, 1, 2, 2]])
    found = cluster_stability(ensemble)
    others = [
        cluster_stability(ensemble[[m]], ensemble[[r for r in range(3) if r != m]])
        for m in range(3)
    ]
    np.testing.assert_allclose(found, np.concatenate(others))
    np.testing.assert_array_equal(cluster_stability(Ensemble([[0, 1, 1]])), 1.0)


def test_a_constant_member_is_known_by_nobody_and_knows_nobody():
    ensemble = Ensemble([[0] * 4, [0, 0, 1, 1]])
    for criterion in ("nmi", "max", "apmm"):
        got = cluster_stability(ensemble, criterion=criterion)
        assert got[0] == 0.0
        assert got.tolist()[1:] == ([1.0, 1.0] if criterion == "apmm" else [0.0, 0.0])


def test_objects_nobody_saw_twice_are_left_out():
    first = Ensemble([[0, 0, 1, 1, None, None]])
    again = Ensemble([[0, 0, 1, None, 1, 1]])
    np.testing.assert_array_equal(cluster_stability(first, again), 1.0)


# ---- selection ----------------------------------------------------------------------------


@settings(max_examples=40)
@given(ensembles(), st.sampled_from([0.1, 0.33, 1.0]), st.integers(0, 4), st.data())
def test_the_coverage_rule_keeps_every_object_covered(ensemble, top, min_cover, data):
    n_clusters = int(ensemble.offsets()[-1])
    grades = data.draw(st.lists(st.integers(0, 4), min_size=n_clusters, max_size=n_clusters))
    stability = np.array(grades, float)
    found = select_clusters(ensemble, stability, top=top, min_cover=min_cover)
    indicator = ensemble.indicator().toarray().astype(int)
    np.testing.assert_array_equal(found.cover, indicator[:, found.kept].sum(axis=1))
    placed = indicator.any(axis=1)
    telling = (indicator.sum(axis=0) < placed.sum()) & (indicator.sum(axis=0) > 0)
    assert not found.kept[~telling].any()
    possible = indicator[:, telling].sum(axis=1)
    assert (found.cover >= np.minimum(min_cover, possible)).all()
    # All that tie with the last one kept by rank are kept.
    if found.n_kept:
        assert found.kept[telling & (stability >= found.cut)].all()
        by_rank = found.n_kept - found.n_added
        assert by_rank >= min(np.ceil(top * n_clusters), telling.sum())


def test_clusters_are_added_in_their_order_and_only_where_they_help():
    ensemble = Ensemble([[0, 0, 1, 1], [0, 0, 1, 1], [0, 0, 0, 1]])
    stability = [0.9, 0.8, 0.7, 0.6, 0.5, 0.4]
    plain = select_clusters(ensemble, stability, top=0.1, min_cover=0)
    assert plain.kept.tolist() == [True, False, False, False, False, False]
    assert plain.cover.tolist() == [1, 1, 0, 0]
    once = select_clusters(ensemble, stability, top=0.1, min_cover=1)
    assert once.kept.tolist() == [True, True, False, False, False, False]
    assert (once.cut, once.n_added) == (0.9, 1)
    twice = select_clusters(ensemble, stability, top=0.1, min_cover=2)
    assert twice.kept.tolist() == [True, True, True, True, False, False]


def test_a_threshold_instead_of_a_share():
    ensemble = Ensemble([[0, 0, 1, 1], [0, 1, 1, 1]])
    found = select_clusters(ensemble, [0.9, 0.2, 0.5, 0.4], threshold=0.4, min_cover=0)
    assert found.kept.tolist() == [True, False, True, True]
    assert found.cut == 0.4
    none = select_clusters(ensemble, [0.9, 0.2, 0.5, 0.4], threshold=2.0, min_cover=0)
    assert (none.n_kept, none.cut) == (0, np.inf)
    assert none.cover.tolist() == [0, 0, 0, 0]


def test_nothing_to_select():
    found = select_clusters(Ensemble([[0, 0, 0], [0, 0, 0]]), [1.0, 1.0])
    assert found.n_kept == 0
    assert select_clusters(Ensemble([[-1, -2]]), []).cover.tolist() == [0, 0]


# ---- the extended matrix --------------------------------------------------------------------


def extended_slowly(ensemble, kept):
    """The definition: sets of kept clusters, shared over the larger number held."""
    B = ensemble.indicator().toarray()[:, kept].astype(int)
    joined, held = B @ B.T, B.sum(axis=1)
    S = joined / np.maximum(np.maximum(held[:, None], held), 1)
    np.fill_diagonal(S, 1.0)
    return S


@settings(max_examples=40)
@given(ensembles(), st.data())
def test_the_extended_matrix_equals_its_definition(ensemble, data):
    n_clusters = int(ensemble.offsets()[-1])
    kept = np.array(
        data.draw(st.lists(st.booleans(), min_size=n_clusters, max_size=n_clusters)), bool
    )
    wanted = extended_slowly(ensemble, kept)
    dense = extended_co_association(ensemble, kept)
    np.testing.assert_allclose(dense, wanted, atol=1e-15)
    condensed = extended_co_association(ensemble, kept, form="condensed")
    np.testing.assert_array_equal(condensed, squareform(wanted, checks=False))
    members = kept_members(ensemble, kept)
    assert members.dtype == ensemble.members.dtype
    assert ((members == -1) | (members == ensemble.members)).all()


def test_all_clusters_and_no_gaps_give_the_plain_co_association():
    ensemble = Ensemble(np.random.default_rng(0).integers(0, 3, (9, 5)))
    everything = np.ones(int(ensemble.offsets()[-1]), bool)
    np.testing.assert_allclose(
        extended_co_association(ensemble, everything), co_association(ensemble)
    )


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda e: cluster_stability(e, criterion="mean"), "'criterion' .* Got 'mean'"),
        (lambda e: select_clusters(e, [1, 1], top=0), "'top' .* above 0 .* Got 0"),
        (lambda e: select_clusters(e, [1, 1], threshold="x"), "'threshold' .* Got 'x'"),
        (lambda e: select_clusters(e, [1, 1], min_cover=-1), "'min_cover' .* Got -1"),
        (lambda e: extended_co_association(e, [1, 0]), "'kept' .* each of the 2 clusters"),
        (lambda e: extended_co_association(e, [True]), "'kept' .* shape \\(1,\\)"),
        (lambda e: extended_co_association(e, [True, True], form="x"), "'form' .* Got 'x'"),
    ],
)
def test_bad_parameters_are_named(call, message):
    with pytest.raises(InvalidParameterError, match=message):
        call(Ensemble([[0, 0, 1]]))


def test_bad_input_is_named():
    ensemble = Ensemble([[0, 0, 1]])
    with pytest.raises(InvalidInputError, match=r"it has 2, the ensemble 3"):
        cluster_stability(ensemble, Ensemble([[0, 1]]))
    with pytest.raises(
        InvalidInputError,
        match=r"shape \(2,\), one for each cluster of all members. Got .* shape \(3,\)",
    ):
        select_clusters(ensemble, [1, 2, 3])
    with pytest.raises(InvalidInputError, match="values that are not finite"):
        select_clusters(ensemble, [1, np.nan])


@pytest.mark.parametrize("reference", [5, "members", [[0, 1]]])
def test_a_reference_that_is_no_ensemble_is_refused(reference):
    with pytest.raises(InvalidParameterError, match="'reference' parameter of cluster_stability"):
        cluster_stability(Ensemble([[0, 1]]), reference)
