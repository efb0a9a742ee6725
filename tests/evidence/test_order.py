"""VAT is a Prim order, iVAT is minimax, pictures are block means: all against definitions."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as npst
from strategies import ensembles

from consilience.ensemble import Ensemble
from consilience.errors import InvalidInputError, InvalidParameterError
from consilience.evidence.order import VATOrder, ivat, ivat_image, vat, vat_image
from consilience.soft_ensemble import SoftEnsemble

MISSING = st.sampled_from(["pair", "all"])


def distances_slowly(ensemble, missing):
    """Definition: 1 - joined / seen (or / all), one pair at a time; 0 on the diagonal."""
    n = ensemble.n_objects
    out = np.zeros((n, n))
    for i in range(n):
        for j in range(n):
            if i != j:
                a, b = ensemble.labels[i], ensemble.labels[j]
                joined = int(((a == b) & (a >= 0)).sum())
                seen = int(((a != -2) & (b != -2)).sum()) if missing == "pair" else len(a)
                out[i, j] = 1.0 - (joined / seen if seen else 0.0)
    return out


def vat_slowly(distances):
    """Definition: smallest index on ties, parent the earliest of the nearest ones."""
    n = len(distances)
    rows = np.flatnonzero((distances == distances.max()).any(axis=1))
    order, parent, length = [int(rows[0])], [-1], [0.0]
    while len(order) < n:
        rest = [j for j in range(n) if j not in order]
        nearest = [min(distances[i, j] for i in order) for j in rest]
        k = int(np.argmin(nearest))
        parent.append([distances[i, rest[k]] for i in order].index(nearest[k]))
        order.append(rest[k])
        length.append(nearest[k])
    return order, parent, length


def minimax_slowly(distances):
    """Definition by Floyd-Warshall: the path whose longest step is shortest."""
    out = distances.copy()
    for k in range(len(out)):
        out = np.minimum(out, np.maximum(out[:, k, None], out[None, k, :]))
    return out


def ivat_by_recursion(distances, found):
    """The published recursion over the parents."""
    n = len(found.order)
    out = np.zeros((n, n))
    for t in range(1, n):
        s = found.parent[t]
        step = distances[found.order[t], found.order[s]]
        for q in range(t):
            out[t, q] = out[q, t] = step if q == s else max(step, out[s, q])
    return out


def block_means_slowly(matrix, m):
    n = len(matrix)
    m = min(m, n)
    parts = [range(i * n // m, (i + 1) * n // m) for i in range(m)]
    return np.array([[matrix[np.ix_(a, b)].mean() for b in parts] for a in parts])


def assert_is_a_prim_order(found, distances):
    """Each object is a nearest one to those before it, at its distance from its parent."""
    np.testing.assert_array_equal(np.sort(found.order), np.arange(len(distances)))
    assert distances[found.order[0]].max() == distances.max()
    assert found.parent[0] == -1
    assert found.distance[0] == 0
    for t in range(1, len(distances)):
        before, rest = found.order[:t], found.order[t:]
        assert 0 <= found.parent[t] < t
        assert found.distance[t] == distances[found.order[t], found.order[found.parent[t]]]
        assert found.distance[t] == distances[np.ix_(before, rest)].min()


@st.composite
def distance_matrices(draw, max_objects=9):
    """Symmetric, zero diagonal; few distinct values, so that ties are common."""
    n = draw(st.integers(1, max_objects))
    levels = st.sampled_from([0.0, 0.25, 1 / 3, 0.5, 2.0, 7.5])
    upper = np.triu(draw(npst.arrays(np.float64, (n, n), elements=levels)), 1)
    return upper + upper.T


@given(distance_matrices(), st.sampled_from([np.float64, np.float32]))
def test_vat_of_a_matrix_equals_its_definition(distances, dtype):
    distances = distances.astype(dtype)
    found = vat(distances)
    order, parent, length = vat_slowly(distances)
    np.testing.assert_array_equal(found.order, order)
    np.testing.assert_array_equal(found.parent, parent)
    np.testing.assert_array_equal(found.distance, length)
    assert_is_a_prim_order(found, distances)


@given(ensembles(max_objects=9), MISSING)
def test_vat_of_an_ensemble_is_a_prim_order_of_its_distances(ensemble, missing):
    distances = distances_slowly(ensemble, missing)
    found = vat(ensemble, missing=missing)
    assert_is_a_prim_order(found, distances)
    rows = np.flatnonzero((distances == distances.max()).any(axis=1))
    assert found.order[0] == rows[0]
    # Every minimum spanning tree has the same lengths.
    np.testing.assert_array_equal(np.sort(found.distance), np.sort(vat(distances).distance))


@pytest.mark.parametrize(("missing", "first"), [("all", 0), ("pair", 2)])
def test_where_it_begins_is_judged_by_the_distances_it_goes_by(missing, first):
    ensemble = Ensemble(np.array([[1, 1, 1], [-2, 1, -2], [-2, 1, 1], [1, 1, 0]]))
    distances = distances_slowly(ensemble, missing)
    assert distances[first].max() == distances.max()
    assert vat(ensemble, missing=missing).order[0] == first


@given(ensembles(max_objects=9, noise=False, unseen=False))
def test_equal_objects_follow_one_another_and_the_order_is_that_of_the_matrix(ensemble):
    # Without noise and gaps, distance 0 means equal labels: even ties are the matrix's.
    found, wanted = vat(ensemble), vat(distances_slowly(ensemble, "pair"))
    np.testing.assert_array_equal(found.order, wanted.order)
    np.testing.assert_array_equal(found.distance, wanted.distance)
    np.testing.assert_array_equal(found.parent, wanted.parent)


def test_noise_is_apart_even_from_the_same_noise():
    found = vat(Ensemble([[0, -1, -1, 0], [0, -1, -1, 0]]))
    assert sorted(found.distance.tolist()) == [0, 0, 1, 1]
    np.testing.assert_array_equal(found.order, [0, 3, 1, 2])


@given(distance_matrices())
def test_ivat_equals_minimax_and_the_published_recursion(distances):
    found = vat(distances)
    wanted = minimax_slowly(distances)[np.ix_(found.order, found.order)]
    np.testing.assert_array_equal(ivat(distances), wanted)
    np.testing.assert_array_equal(ivat(found), wanted)
    np.testing.assert_array_equal(ivat_by_recursion(distances, found), wanted)


@given(ensembles(max_objects=9), MISSING)
def test_ivat_of_an_ensemble_equals_minimax(ensemble, missing):
    found = vat(ensemble, missing=missing)
    wanted = minimax_slowly(distances_slowly(ensemble, missing))[np.ix_(found.order, found.order)]
    np.testing.assert_array_equal(ivat(ensemble, missing=missing), wanted)


@given(ensembles(max_objects=9), MISSING, st.integers(1, 10))
def test_vat_image_of_an_ensemble_is_block_means(ensemble, missing, size):
    found = vat(ensemble, missing=missing)
    image = vat_image(ensemble, found, missing=missing, max_size=size)
    ordered = distances_slowly(ensemble, missing)[np.ix_(found.order, found.order)]
    np.testing.assert_allclose(image, block_means_slowly(ordered, size), atol=1e-12)
    if size >= ensemble.n_objects:
        np.testing.assert_array_equal(image, ordered)


@given(distance_matrices(), st.integers(1, 10))
def test_images_of_a_matrix_are_block_means(distances, size):
    found = vat(distances)
    ordered = distances[np.ix_(found.order, found.order)]
    np.testing.assert_allclose(
        vat_image(distances, found, max_size=size), block_means_slowly(ordered, size), atol=1e-12
    )
    np.testing.assert_allclose(
        ivat_image(found, max_size=size), block_means_slowly(ivat(found), size), atol=1e-12
    )


def test_ivat_image_of_many_lengths(seed):
    rng = np.random.default_rng(seed)
    n = 203
    found = VATOrder(np.arange(n), np.arange(n) - 1, rng.random(n) ** 3)
    for size in (1, 7, 50, 202):
        wanted = block_means_slowly(ivat(found), size)
        np.testing.assert_allclose(ivat_image(found, max_size=size), wanted, atol=1e-12)


def test_row_blocks_do_not_change_anything(monkeypatch, seed):
    rng = np.random.default_rng(seed)
    ensemble = Ensemble(rng.integers(-2, 4, (40, 6)))
    distances = distances_slowly(ensemble, "pair")
    found = vat(ensemble)
    pictures = [vat_image(e, found, max_size=11) for e in (ensemble, distances)]
    every = vat_image(ensemble, found, missing="all", max_size=11)
    monkeypatch.setattr("consilience.evidence.order._BLOCK_BYTES", 8 * 40 * 3)
    monkeypatch.setattr("consilience.evidence.order._TABLE_CELLS", 20)
    again = vat(ensemble)
    np.testing.assert_array_equal(again.order, found.order)
    for evidence, wanted in zip((ensemble, distances), pictures, strict=True):
        np.testing.assert_allclose(vat_image(evidence, found, max_size=11), wanted, atol=1e-12)
    again = vat_image(ensemble, found, missing="all", max_size=11)
    np.testing.assert_array_equal(again, every)


def test_image_of_members_with_very_many_clusters(seed):
    rng = np.random.default_rng(seed)
    labels = np.stack([rng.permutation(5000), rng.integers(0, 3, 5000)], axis=1)
    image = vat_image(Ensemble(labels), np.arange(5000), max_size=4)
    blocks = labels.reshape(4, 1250, 2)
    for a in range(4):
        for b in range(4):
            joined = (blocks[a, :, None] == blocks[b, None]).sum()
            assert image[a, b] == pytest.approx(1 - joined / (2 * 1250**2), abs=1e-12)


def test_three_groups_are_three_blocks(seed):
    rng = np.random.default_rng(seed)
    truth = np.repeat([0, 1, 2], 20)[rng.permutation(60)]
    ensemble = Ensemble([rng.permutation(3)[truth] for _ in range(5)])
    runs = truth[vat(ensemble).order]
    assert (np.diff(runs) != 0).sum() == 2
    np.testing.assert_array_equal(np.unique(ivat(ensemble)), [0, 1])


def test_one_object_and_any_layout_of_the_matrix():
    assert vat(Ensemble([[0]])).order.tolist() == [0]
    assert ivat(np.zeros((1, 1))).tolist() == [[0.0]]
    matrix = np.array([[0, 1, 9], [1, 0, 5], [9, 5, 0]])
    for form in (matrix, np.asfortranarray(matrix, float), matrix.astype(np.int8), matrix.tolist()):
        assert vat(form).order.tolist() == [0, 1, 2]
    frozen = matrix.astype(float)
    frozen.flags.writeable = False
    assert ivat_image(vat(frozen)).shape == (3, 3)


@pytest.mark.parametrize(
    ("matrix", "got"),
    [
        (np.zeros((2, 3)), r"shape \(2, 3\)"),
        (np.zeros(4), r"shape \(4,\)"),
        (np.zeros((0, 0)), r"shape \(0, 0\)"),
        ([["a"]], "array of shape"),
        (np.array([[0, 1], [2, 0]]), "mirror image by up to 1"),
        (np.array([[0, np.nan], [np.nan, 0]]), "not finite"),
        (np.array([[0, -1], [-1, 0]]), "negative value -1"),
        (np.eye(3), "pass 1 - evidence"),
    ],
)
def test_bad_matrices_are_refused(matrix, got):
    with pytest.raises(InvalidInputError, match=got):
        vat(matrix)
    with pytest.raises(InvalidInputError, match="square, symmetric, finite"):
        vat_image(matrix, np.arange(3))


def test_bad_parameters_are_refused():
    ensemble = Ensemble([[0, 1, 1]])
    with pytest.raises(InvalidParameterError, match="'missing' parameter of vat must be"):
        vat(ensemble, missing="some")
    with pytest.raises(InvalidParameterError, match="'max_size' parameter of vat_image"):
        vat_image(ensemble, vat(ensemble), max_size=0)
    with pytest.raises(InvalidParameterError, match="'max_size' parameter of ivat_image"):
        ivat_image(vat(ensemble), max_size=2.5)
    for order in ([0, 1], [0, 1, 1], [0.0, 1.0, 2.0], vat(Ensemble([[0, 1]]))):
        with pytest.raises(InvalidInputError, match="each of the objects 0 to 2 once"):
            vat_image(ensemble, order)


def test_memberships_are_refused_by_all():
    soft = SoftEnsemble([np.array([[0.9, 0.1], [0.4, 0.6], [0.2, 0.8]])])
    for draw in (vat, ivat, lambda evidence: vat_image(evidence, [0, 1, 2])):
        with pytest.raises(InvalidParameterError, match=r"must hold labels\. Got a SoftEnsemble"):
            draw(soft)


def test_memberships_that_are_all_0_or_1_are_labels():
    crisp = SoftEnsemble([np.array([[1.0, 0.0], [0.0, 1.0], [0.0, 1.0]])])
    wanted = vat_image(Ensemble([[0, 1, 1]]), [0, 1, 2])
    np.testing.assert_array_equal(vat_image(crisp, [0, 1, 2]), wanted)


@pytest.mark.parametrize("order", [np.zeros((3, 3)), [0, 1, 2], Ensemble([[0, 1]]), None])
def test_the_picture_of_paths_needs_what_vat_returned(order):
    with pytest.raises(InvalidParameterError, match=r"'order' parameter of ivat_image .*vat"):
        ivat_image(order)
