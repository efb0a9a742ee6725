"""Values near the largest and the smallest numbers: a right result or a clear refusal."""

import numpy as np
import pytest
from scipy import sparse
from stored.small import few_drawn

from consilience._units import exponents, without_unit
from consilience.errors import ConsilienceError, InvalidInputError
from consilience.minority import (
    BBOCC,
    DGRADE,
    EWOCS,
    KMD,
    AutoHDS,
    BBCPress,
    SoftBBC,
    tune_gaussian,
)
from consilience.minority._scaling import fit_scaling

FEW = {"n_repetitions": 20, "random_state": 0}
# Powers of two, so that no result may differ in a single digit.
HUGE, TINY = 2.0**1022, 2.0**-1060
UNITLESS = {
    "gaussian": lambda: EWOCS(**FEW),
    "std": lambda: EWOCS(scaling="std", **FEW),
    "robust": lambda: EWOCS(scaling="robust", **FEW),
    "split": lambda: EWOCS("split", **FEW),
    "mahalanobis": lambda: EWOCS("hard", divergence="mahalanobis", **FEW),
}
WITH_UNIT = {
    "unscaled": lambda: EWOCS(scaling="none", **FEW),
    "euclidean": lambda: EWOCS(divergence="euclidean", **FEW),
    "contrast": lambda: EWOCS(gamma="contrast", **FEW),
    "auto": lambda: EWOCS(gamma="auto", **FEW),
    "BBOCC": lambda: BBOCC(random_state=0),
    "BBCPress": lambda: BBCPress(random_state=0),
    "SoftBBC": lambda: SoftBBC(random_state=0),
    "DGRADE": DGRADE,
    "AutoHDS": lambda: AutoHDS(n_eps=5, n_part=5),
    "KMD": lambda: KMD(start_size=30, min_size=8, random_state=0),
}


def group_in_noise():
    """Values of few digits, which keep them as the smallest numbers."""
    X = np.random.default_rng(0).normal(size=(60, 3))
    X[:15] = X[0] + 0.05 * X[:15]
    return np.clip(np.round(X * 256), -500, 500) / 256


@pytest.fixture(autouse=True)
def small_references():
    """The unit matters to the references as well, their size does not."""
    with few_drawn():
        yield


@pytest.mark.parametrize("name", sorted(UNITLESS))
@pytest.mark.parametrize("unit", [HUGE, TINY, [HUGE, 1.0, TINY]], ids=["huge", "tiny", "mixed"])
def test_methods_without_a_unit_give_the_same_result(name, unit):
    X = group_in_noise()
    wanted, model = (UNITLESS[name]().fit(Z) for Z in (X, X * unit))
    np.testing.assert_array_equal(model.labels_, wanted.labels_)
    np.testing.assert_allclose(model.scores_, wanted.scores_, rtol=1e-12, atol=1e-12)
    np.testing.assert_array_equal(model.predict(X * unit), wanted.labels_)
    model.more(X * unit, 5)


@pytest.mark.parametrize("name", sorted(WITH_UNIT))
@pytest.mark.parametrize("unit", [HUGE, 1e200, 1e-200, TINY, [HUGE, 1.0, TINY]])
def test_methods_with_a_unit_refuse(name, unit):
    with pytest.raises(InvalidInputError, match=r"leave the range of numbers.*another unit"):
        WITH_UNIT[name]().fit(group_in_noise() * unit)


# Squared distances of 1e-200 make grades equal, which the model says.
@pytest.mark.filterwarnings("ignore:Nothing stands out")
@pytest.mark.parametrize("name", sorted(WITH_UNIT | UNITLESS))
def test_units_of_everyday_extremes_are_taken(name):
    for unit in (1e-100, 1e100):
        model = (WITH_UNIT | UNITLESS)[name]().fit(group_in_noise() * unit)
        assert np.isfinite(getattr(model, "scores_", 0.0)).all()


def test_single_precision_has_its_own_range():
    X = group_in_noise().astype(np.float32)
    with pytest.raises(InvalidInputError, match="leave the range"):
        WITH_UNIT["euclidean"]().fit(X * np.float32(1e30))
    wanted, model = (UNITLESS["gaussian"]().fit(Z) for Z in (X, X * np.float32(2.0**125)))
    np.testing.assert_array_equal(model.labels_, wanted.labels_)


def test_new_objects_out_of_range_are_refused():
    model = EWOCS(**FEW).fit(group_in_noise())
    for far in (1e200, 1e308):
        with pytest.raises(InvalidInputError, match="of X, scaled, is"):
            model.predict([[far, 0.0, 0.0]])
    with pytest.raises(ConsilienceError):
        BBOCC(random_state=0).fit(group_in_noise()).predict([[1e308, 0.0, 0.0]])


def test_an_outlier_at_the_end_of_numbers_is_seen_or_refused():
    X = np.r_[group_in_noise(), [[1e308, -1e308, 0.0]]]
    model = EWOCS(**FEW).fit(X)
    assert np.isfinite(model.scores_).all()
    with pytest.raises(InvalidInputError, match="of X, scaled, is"):
        EWOCS(scaling="robust", **FEW).fit(X)


@pytest.mark.parametrize("kind", ["box", "std", "robust"])
@pytest.mark.parametrize("unit", [HUGE, TINY])
def test_scaling_does_not_feel_the_unit(kind, unit):
    X = group_in_noise()
    wanted, found = (fit_scaling(kind, Z, owner="EWOCS").apply(Z) for Z in (X, X * unit))
    np.testing.assert_array_equal(found, wanted)


@pytest.mark.parametrize("unit", [HUGE, TINY])
def test_sparse_scaling_does_not_feel_the_unit(unit):
    X = sparse.csr_array(np.where(group_in_noise() > 0.5, group_in_noise(), 0))
    scaled = sparse.csr_array(X * unit)
    wanted, found = (fit_scaling("std", Z, owner="EWOCS").apply(Z) for Z in (X, scaled))
    np.testing.assert_array_equal(found.toarray(), wanted.toarray())


def test_a_unit_is_a_power_of_two_and_comes_back_exactly(seed):
    X = np.random.default_rng(seed).normal(size=(20, 3)) * [1e-300, 1.0, 1e300]
    powers = exponents(X)
    plain = without_unit(X, powers)
    assert (np.abs(plain).max(axis=0) < 1).all()
    assert (np.abs(plain).max(axis=0) >= 0.5).all()
    np.testing.assert_array_equal(np.ldexp(plain, powers), X)
    np.testing.assert_array_equal(without_unit(sparse.csr_array(X), powers).toarray(), plain)
    assert exponents(np.zeros((4, 2))).tolist() == [0, 0]


def test_tuning_refuses_too():
    with pytest.raises(InvalidInputError, match="tune_gaussian needs between"):
        tune_gaussian(group_in_noise() * HUGE)


def test_a_run_goes_on_where_the_sums_of_the_columns_are_no_numbers(seed):
    signs = np.repeat([1.0, -1.0], 300)
    X = (1e308 * signs * np.random.default_rng(seed).uniform(0.5, 1, 600))[:, None]
    told = {"divergence": "mahalanobis", "scaling": "none", "threshold": "dist", "random_state": 0}
    whole = EWOCS(n_repetitions=8, **told).fit(X)
    model = EWOCS(n_repetitions=5, **told).fit(X).more(X, 3)
    np.testing.assert_array_equal(model.scores_, whole.scores_)
    with pytest.raises(InvalidInputError, match="needs the objects the model was fitted on"):
        model.more(X[:599], 3)
