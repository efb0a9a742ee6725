# ruff: noqa: E402
"""Numbers that exist at once: as many as a constant says, and none of the answers hangs on it."""

import os

import numpy as np
import pytest

torch = pytest.importorskip(
    "torch", reason="torch is not installed; pip install 'consilience[gpu]' brings it"
)

from torch.overrides import TorchFunctionMode

from consilience import Ensemble
from consilience.engines._device import kmeans, label_kmeans, many, overlap, pairs, tree
from consilience.engines._device.columns import column_facts
from consilience.engines.cpu import Cpu
from consilience.engines.torch import label_rows
from consilience.evidence import anco, relative_overlap
from consilience.kernels.kmeans.labels import lloyd as lloyd_on_labels
from consilience.kernels.links.prim import prim_order
from consilience.kernels.pairs.counts import has_unseen

pytestmark = [pytest.mark.torch, pytest.mark.filterwarnings("ignore::RuntimeWarning")]
DEVICE = os.environ.get("CONSILIENCE_TEST_DEVICE", "cpu")
HERE = torch.device(DEVICE)


class Shapes(TorchFunctionMode):
    """Notes the shapes of what functions of these names make inside."""

    def __init__(self, *names):
        super().__init__()
        self.names, self.made = names, []

    def __torch_function__(self, function, types, args=(), kwargs=None):
        out = function(*args, **(kwargs or {}))
        if getattr(function, "__name__", "").strip("_") in self.names:
            self.made.append(tuple(out.shape))
        return out


def shapes_of(call, *names):
    """What a call returns, and the shapes that functions of these names made meanwhile."""
    with Shapes(*names) as shapes:
        answer = call()
    assert shapes.made
    return answer, shapes.made


def steps(n, step):
    """Lengths of the steps through n."""
    return [min(step, n - start) for start in range(0, n, step)]


def part_of(X):
    mean, _, low, high = column_facts(X)
    return kmeans.Table(X, mean, low, high).part(None, None)


@pytest.mark.parametrize(("most", "step"), [(7 * 11 + 6, 11), (7 * 11, 11), (7, 1), (1, 1)])
def test_distances_to_centres_are_made_for_so_many_objects(monkeypatch, most, step):
    # On a grid there are ties, which are judged anew.
    X = torch.as_tensor(np.random.default_rng(0).integers(0, 2, (40, 2)).astype(float)).to(HERE)
    part, centres = part_of(X), X[:7].clone()
    wanted = ((X[:, None] - centres[None]) ** 2).sum(dim=2).cpu().numpy().argmin(axis=1)
    np.testing.assert_array_equal(part.nearest(centres).cpu(), wanted)
    monkeypatch.setattr(kmeans, "_DISTANCES", most)
    got, made = shapes_of(lambda: part.nearest(centres), "matmul")
    np.testing.assert_array_equal(got.cpu(), wanted)
    assert made == [(one, 7) for one in steps(40, step)]
    got, made = shapes_of(lambda: kmeans._judged(X, centres), "where")
    np.testing.assert_array_equal(got.cpu(), wanted)
    assert made == [(one, 7) for one in steps(40, step)]


@pytest.mark.parametrize(("most", "step"), [(5 * 11 + 4, 11), (5 * 11, 11), (1, 1), (1000, 40)])
def test_sums_of_clusters_are_made_of_so_many_objects(monkeypatch, most, step):
    X = torch.as_tensor(np.random.default_rng(0).normal(size=(40, 2))).to(HERE)
    part, own = part_of(X), torch.arange(40, device=HERE) % 4  # the last are of no cluster
    monkeypatch.setattr(kmeans, "_DISTANCES", most)
    sums, made = shapes_of(lambda: part.sums(own, 3), "round")
    assert made == [(one, 2) for one in steps(40, step) for _ in range(2)]
    values = sums[0] * part.unit + sums[1] * part.fine
    for c in range(3):
        np.testing.assert_allclose(values[c].cpu(), X[own == c].sum(dim=0).cpu(), rtol=1e-14)


@pytest.mark.skipif(DEVICE != "cpu", reason="a card's kernel counts in blocks of its own")
@pytest.mark.parametrize("by_pair", [False, True])
@pytest.mark.parametrize(("most", "step"), [(30 * 4 + 29, 4), (30 * 4, 4), (1, 1), (10**6, 30)])
def test_pairs_are_counted_for_so_many_objects(by_pair, most, step):
    members = np.random.default_rng(1).integers(-2, 3, (5, 30)).astype(np.int8)
    there = torch.as_tensor(members)
    blocks = [(one, 30) for one in steps(30, step)]
    for condensed in (False, True):
        options = {"with_seen": by_pair, "condensed": condensed}
        wanted = Cpu(members).pair_counts(**options)
        for here in (False, True):
            got, made = shapes_of(
                lambda options=options, here=here: pairs.pair_counts(
                    there, **options, most=most, here=here
                ),
                "matmul",
            )
            assert made == blocks * (1 + by_pair)
            for one, other in zip(got, wanted, strict=True):
                np.testing.assert_array_equal(one, other)
    _, made = shapes_of(lambda: pairs.nearest_pairs(there, 4, by_pair=by_pair, most=most), "matmul")
    assert sorted(made) == sorted(blocks * (1 + by_pair))


@pytest.mark.parametrize("call", [anco, relative_overlap])
@pytest.mark.parametrize("rows", [1, 3, 5])
def test_cells_of_pairs_of_members_are_judged_so_many_at_once(monkeypatch, call, rows):
    table = np.random.default_rng(0).integers(-2, 3, (60, 4))
    ensemble = Ensemble(table)
    wanted = call(ensemble, device=DEVICE)
    np.testing.assert_allclose(wanted, call(ensemble), rtol=1e-12, atol=1e-12)
    # A row for every cluster, noise and unseen.
    n = int(ensemble.offsets()[-1]) + 2 * 4
    chunks, whole = [], overlap._Cells._counts
    monkeypatch.setattr(
        overlap._Cells,
        "_counts",
        lambda self, some: chunks.append(some.stop - some.start) or whole(self, some),
    )
    for most in (rows * n, rows * n + n - 1):
        monkeypatch.setattr(overlap, "_CELLS", most)
        chunks.clear()
        np.testing.assert_array_equal(call(ensemble, device=DEVICE), wanted)
        assert chunks == [rows] * (n // rows) + [n % rows] * (n % rows > 0)
    monkeypatch.setattr(overlap, "_CELLS", 1)
    np.testing.assert_array_equal(call(ensemble, device=DEVICE), wanted)
    assert chunks[-1] == 1


# ---- values in digits ------------------------------------------------------------------------


@pytest.mark.parametrize("kind", [torch.float32, torch.float64])
@pytest.mark.parametrize("n", [1, 16, 33])
def test_digits_of_eight_bits_are_the_values(kind, n):
    rng = np.random.default_rng(n)
    X = torch.as_tensor(rng.normal(0, [1.0, 1e-3, 1e5], (n, 3))).to(kind).to(HERE)
    X[0, 0] = 0.0
    mean, _, low, high = column_facts(X)
    digits = many.Digits(kmeans.Table(X, mean, low, high))
    count = {torch.float32: 6, torch.float64: 8}[kind]
    assert digits.digits.dtype == torch.int8
    assert digits.digits.shape == (count * 3, -(-n // 16) * 16)
    assert not digits.digits[:, n:].any()
    assert torch.equal(digits.centred, (X.double() - mean).to(kind).float())
    np.testing.assert_allclose(
        digits.lengths.cpu(), np.linalg.norm(digits.centred.cpu(), axis=1), rtol=1e-6
    )
    each = digits.digits[:, :n].cpu().double().reshape(count, 3, n)
    values = sum(each[place] * 2.0 ** (8 * place) for place in range(count))
    # The lowest digit's unit is what is lost at most; the highest bit of the largest is kept.
    assert torch.equal(values.T * digits.unit.cpu(), torch.round(
        X.double().cpu() / digits.unit.cpu()) * digits.unit.cpu())  # fmt: skip
    largest = X.abs().amax(dim=0).double().cpu()
    bits = torch.log2(largest / digits.unit.cpu())
    there = largest > 0
    assert ((bits >= 8 * count - 3) & (bits <= 8 * count - 2))[there].all()


def test_sums_of_digits_are_sums_of_values():
    X = torch.as_tensor(np.random.default_rng(0).normal(3.0, 5.0, (70, 2))).to(HERE)
    mean, _, low, high = column_facts(X)
    digits = many.Digits(kmeans.Table(X, mean, low, high))
    own = torch.arange(70, device=HERE) % 3
    each = digits.digits[:, :70].to(torch.int64)
    sums = torch.stack([each[:, own == c].sum(dim=1) for c in range(3)], dim=1)[None]
    got = digits.sums(sums)
    assert got.shape == (1, 3, 2)
    for c in range(3):
        np.testing.assert_allclose(got[0, c].cpu(), X[own == c].sum(dim=0).cpu(), rtol=1e-15)


def test_digits_of_some_objects_lie_side_by_side():
    X = torch.as_tensor(np.random.default_rng(0).normal(size=(40, 2))).to(HERE)
    mean, _, low, high = column_facts(X)
    whole = many.Digits(kmeans.Table(X, mean, low, high))
    own = [torch.tensor([5, 0, 7], device=HERE), torch.arange(17, device=HERE)]
    some = whole.taken(own)
    assert len(some.rows) == 2 * 32
    for place, objects in enumerate(own):
        at = slice(32 * place, 32 * place + len(objects))
        assert torch.equal(some.rows[at], X[objects])
        assert torch.equal(some.centred[at], whole.centred[objects])
        assert torch.equal(some.lengths[at], whole.lengths[objects])
        assert torch.equal(some.digits[:, at], whole.digits[:, objects])
    assert len(whole.taken([own[0][:1], own[1][:16]]).rows) == 2 * 16


# ---- a whole tree, with its first object ------------------------------------------------------


@pytest.mark.parametrize("way", ["plain", "kernels"])
@pytest.mark.parametrize("by_pair", [False, True])
@pytest.mark.parametrize(("n", "n_members"), [(1, 3), (16, 2), (40, 33)])
def test_a_tree_grows_as_on_the_processor(monkeypatch, way, by_pair, n, n_members):
    if way == "kernels":
        pytest.importorskip("triton", reason="triton is not installed; torch with CUDA brings it")
        monkeypatch.setenv("TRITON_INTERPRET", "1")
    members = np.random.default_rng(n).integers(-2, 4, (n_members, n)).astype(np.int8)
    members[:, -1] = -2  # nobody saw the last
    assert has_unseen(members)
    got = tree.prim_order(torch.as_tensor(members).to(HERE), by_pair=by_pair)
    order, parent, distance = prim_order(members, missing="pair" if by_pair else "all")
    np.testing.assert_array_equal(got[0], order)
    np.testing.assert_array_equal(got[1], parent)
    share = got[2] if by_pair else got[2] / n_members
    np.testing.assert_array_equal(1.0 - share[1:], distance[1:])
    assert got[2][0] == 0


# ---- rounds on label rows --------------------------------------------------------------------


def squared(counts, sizes):
    """Costs, offsets and objective of means of one-hot rows."""
    shares = counts / np.maximum(sizes, 1)
    return -2.0 * shares, (shares**2).sum(axis=0), -float((counts * shares).sum())


def rising(counts, sizes):
    """Every round is dearer than the one before."""
    costs, offset, _ = squared(counts, sizes)
    rising.objective += 1.0
    return costs, offset, rising.objective


@pytest.mark.parametrize("way", ["plain", "kernels"])
@pytest.mark.parametrize("price", [squared, rising])
@pytest.mark.parametrize(("n", "k"), [(30, 3), (30, 1), (2, 5)])
@pytest.mark.parametrize("most", [1, 2, 200])
def test_rounds_on_label_rows_end_as_on_the_processor(monkeypatch, way, price, n, k, most):
    if way == "kernels":
        pytest.importorskip("triton", reason="triton is not installed; torch with CUDA brings it")
        monkeypatch.setenv("TRITON_INTERPRET", "1")
    rng = np.random.default_rng(n + k)
    ensemble = Ensemble(rng.integers(-1, 4, (n, 5)))
    members, starts = np.ascontiguousarray(ensemble.members), ensemble.offsets()
    weights = np.full(n, most) if most < 3 else rng.integers(1, most, n)  # all alike, or not
    scale, shift = rng.uniform(0.5, 1.5, n), rng.uniform(0.0, 1.0, n)
    first = np.minimum(rng.integers(0, k, n), max(k - 2, 0)).astype(np.int32)  # one is empty
    problem = label_kmeans.LabelProblem(label_rows(members, starts, DEVICE), weights, scale, shift)
    assert problem.none().tolist() == [0] * n
    for max_iter in (1, 2, 20):
        rising.objective = 0.0
        got = problem.run(first, k, price, max_iter)
        rising.objective = 0.0
        wanted = lloyd_on_labels(
            members, starts, weights, scale, shift, first, k, price, max_iter=max_iter
        )
        np.testing.assert_array_equal(got[0], wanted.labels)
        assert got[0].dtype == np.int32
        assert got[1:] == tuple(wanted)[1:]


def test_means_of_unit_length_have_every_digit():
    """torch's roots on processors are off by a last digit now and then, which decides ties."""
    means = np.arange(1.0, 3001.0).reshape(1000, 3)[:, ::-1] / 7
    squares = means[:, 0] * means[:, 0] + means[:, 1] * means[:, 1] + means[:, 2] * means[:, 2]
    found = kmeans.unit_length(torch.as_tensor(means.copy()).to(HERE)).cpu().numpy()
    np.testing.assert_array_equal(found, means / np.sqrt(squares)[:, None])
