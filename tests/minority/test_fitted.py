"""What a fit does to data before they are measured: their scale, and who needs a range."""

import numpy as np
import pytest
from scipy import sparse

from consilience.errors import InvalidInputError
from consilience.minority import EWOCS, ewocs
from consilience.minority._fitted import Fitted, chosen_scaling, scaled_objects, takes_sparse
from consilience.minority._scaling import fit_scaling
from consilience.minority._stopping import Progress
from consilience.minority.divergences import Euclidean, Gaussian, Kernel, Mahalanobis, Precomputed
from consilience.minority.scores import Running
from consilience.minority.weak import Draw, weak_clusterer

X = np.random.default_rng(0).normal(size=(30, 3))
FAR = 1e200 * X


def linear(A, B):
    return np.asarray(A) @ np.asarray(B).T


@pytest.mark.parametrize("divergence", ["gaussian", "euclidean", "cosine", Gaussian()])
def test_distances_need_numbers_that_have_squares(divergence):
    assert scaled_objects(None, X, divergence) is X
    for unit in (1e200, 1e-200):
        with pytest.raises(InvalidInputError, match="The largest value of X is"):
            scaled_objects(None, X * unit, divergence)
    box = fit_scaling("box", X, owner="EWOCS")
    with pytest.raises(InvalidInputError, match="The largest value of X, scaled, is"):
        scaled_objects(box, FAR, divergence)


@pytest.mark.parametrize(
    "divergence",
    ["mahalanobis", Mahalanobis(), Kernel(linear), "precomputed", Precomputed("distance")],
)
def test_what_has_no_unit_or_is_no_distance_yet_needs_no_range(divergence):
    assert scaled_objects(None, FAR, divergence) is FAR


def test_objects_that_are_no_table_are_the_business_of_the_kernel():
    words = ["a", "b"]
    assert scaled_objects(None, words, Kernel(linear)) is words


@pytest.mark.parametrize(
    ("params", "kind"),
    [
        ({"gamma": "distance"}, "robust"),
        ({"gamma": 1.0}, "box"),
        ({"gamma": "contrast"}, None),
        ({"gamma": "auto"}, None),
        ({"divergence": "euclidean"}, None),
        ({"weak": "split"}, "box"),
        ({"weak": "split", "gamma": 1.0}, "box"),
        ({"scaling": "std"}, "std"),
        ({"scaling": "none"}, None),
    ],
)
def test_the_scale_follows_the_width_of_the_kernel(params, kind):
    found = chosen_scaling(EWOCS(**params), X)
    assert (None if found is None else found.kind) == kind


def test_zeros_of_sparse_data_stay_where_nothing_is_asked():
    assert chosen_scaling(EWOCS(gamma="distance"), sparse.csr_array(X)) is None
    assert chosen_scaling(EWOCS("split"), sparse.csr_array(X)) is None


def test_outliers_too_far_for_the_middle_set_the_scale():
    far = np.tile(X, (5, 1))  # one of 150 is none of the middle
    far[0, 0] = 1e300
    assert chosen_scaling(EWOCS(gamma="distance"), far).kind == "box"
    assert chosen_scaling(EWOCS(gamma="distance", scaling="robust"), far).kind == "robust"


@pytest.mark.parametrize("given", [linear(X, X), ["a", "b"]], ids=["matrix", "words"])
def test_a_scale_needs_columns(given):
    with pytest.raises(InvalidInputError, match="scaling='box' needs columns"):
        chosen_scaling(EWOCS(divergence="precomputed", scaling="box"), given)
    assert chosen_scaling(EWOCS(divergence="precomputed"), given) is None


def test_sparse_rows_are_taken_where_zeros_need_not_be_looked_at():
    for params in ({}, {"divergence": "euclidean"}, {"weak": "split", "divergence": "mahalanobis"}):
        assert takes_sparse(EWOCS(**params)), params
    for divergence in ("mahalanobis", Mahalanobis(), "precomputed", Precomputed("distance")):
        assert not takes_sparse(EWOCS(divergence=divergence)), divergence


def run_of(n_objects, draws):
    """A run on so many objects in a line, of hard clusterings by the nearest seed."""
    line = np.arange(float(n_objects))[:, None]
    weak = weak_clusterer("hard", divergence="euclidean").fit(line)
    running = Running.empty(n_objects, "mean")
    return Fitted(weak, running, Progress(), None, kept=line, draws=draws), line


@pytest.mark.parametrize(
    ("counts", "wanted"),
    [
        ([21] * 10 + [20] * 50 + [22] * 30, 50),  # the root of 100 objects, twice
        ([30, 29, 28] * 20, 20),
        ([20] * 130, 100),
        ([2, 3], 2),
        ([50] * 5 + [2] * 21, 21),
        ([50] * 5 + [2] * 19, 20),
    ],
)
def test_groups_are_told_apart_by_the_coarse_clusterings(counts, wanted):
    draws = [Draw(k, rows=np.full(1, i)) for i, k in enumerate(counts)]
    fitted, _ = run_of(100, draws)
    found = fitted.informative_draws()
    # The coarse ones as they were drawn, then the least fine.
    order = np.argsort([max(k - 20, 0) for k in counts], kind="stable")[:wanted]
    assert [int(draw.rows[0]) for draw in found] == order.tolist()


@pytest.mark.parametrize("k", [2, 2**15 - 1, 2**15, 40_000])
def test_clusters_of_any_number_have_their_numbers(k):
    fitted, line = run_of(k, [Draw(k, rows=np.arange(k))])
    rows = np.array([0, k // 2, k - 1])
    assert fitted.members(line, rows, 1).tolist() == [rows.tolist()]


@pytest.mark.parametrize("weak", ["soft", "hard", "split"])
@pytest.mark.parametrize("aggregate", ["mean", "log"])
@pytest.mark.parametrize("divergence", ["euclidean", linear])
def test_one_repetition_scores_its_objects_as_it_did(weak, aggregate, divergence):
    model = EWOCS(
        weak, divergence=divergence, aggregate=aggregate, scaling="none", n_repetitions=1,
        threshold="dist", random_state=0,
    ).fit(X)  # fmt: skip
    np.testing.assert_allclose(model.score_samples(X), model.scores_, atol=1e-9)
    assert model.scores_.max() > model.scores_.min()


class Filled(Euclidean):
    """Distances that go by full rows, whatever came."""

    def objects(self, X):
        """Rows with their zeros."""
        return super().objects(X.toarray() if sparse.issparse(X) else X)


@pytest.mark.parametrize("weak", ["soft", "hard"])
def test_sparse_rows_may_be_filled_by_a_divergence(weak):
    counts = np.where(X > 0.5, X, 0.0)
    how = {"scaling": "none", "n_repetitions": 8, "threshold": "dist", "random_state": 0}
    wanted = EWOCS(weak, divergence=Euclidean(), **how).fit(counts)
    found = EWOCS(weak, divergence=Filled(), **how).fit(sparse.csr_array(counts))
    np.testing.assert_allclose(found.scores_, wanted.scores_, atol=1e-9)


def test_a_run_that_is_asked_to_stop_stops_after_what_it_was_counting(monkeypatch):
    lines = []

    class Told:
        def __init__(self, owner, name, total):
            assert (name, total) == ("fit", 5)

        def done(self, line):
            lines.append(line())
            return len(lines) == 2

        def end(self):
            lines.append("end")

    monkeypatch.setattr(ewocs, "Steps", Told)
    model = EWOCS("hard", divergence="euclidean", n_repetitions=450, threshold="dist").fit(X)
    assert model.n_repetitions_ == 200
    assert [line.split(",")[0] for line in lines] == ["100 repetitions", "200 repetitions", "end"]
    assert lines[1].endswith(f"reliability {model.reliability_:.4f}")


def test_lines_of_progress_are_made_where_somebody_listens(monkeypatch):
    asked, said = [], []
    reliability = Running.reliability
    monkeypatch.setattr(Running, "reliability", lambda run: asked.append(1) or reliability(run))

    class Listener:
        def setup(self, estimator, context):
            pass

        def on_fit_task_begin(self, estimator, context):
            said.append(context.task_name)

        def on_fit_task_end(self, estimator, context):
            pass

        def teardown(self, estimator, context):
            pass

    model = EWOCS("hard", divergence="euclidean", n_repetitions=250, threshold="dist")
    model.fit(X)
    alone = len(asked)
    model.set_callbacks(Listener()).fit(X)
    lines = [name.split(",")[0] for name in said if "repetitions" in name]
    assert lines == [f"{n} repetitions" for n in (100, 200, 250)]
    assert len(asked) == 2 * alone + 3
