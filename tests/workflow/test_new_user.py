"""What a new user tried first and found wrong: numbers of groups, seeds, members, scaling."""

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_breast_cancer, load_digits, load_iris, load_wine, make_blobs
from sklearn.metrics import adjusted_rand_score

import consilience as cs
from consilience.errors import InvalidInputError
from consilience.generate import KMeansEnsemble
from consilience.minority import EWOCS


def test_digits_are_seen_as_more_than_data_without_groups():
    X, y = load_digits(return_X_y=True)
    some = np.random.default_rng(0).permutation(len(y))[:500]
    result = cs.cluster(X[some], random_state=0)
    assert result.n_clusters > 5
    assert result.clarity.verdict != "none"
    assert adjusted_rand_score(y[some], result.labels) > 0.5


@pytest.mark.parametrize("k", [20, 30])
def test_there_is_no_hidden_ceiling(k):
    X, y = make_blobs(20 * k, 8, centers=k, random_state=1)
    result = cs.cluster(X, random_state=0)
    assert result.n_clusters == k
    assert adjusted_rand_score(y, result.labels) == 1.0


def test_another_seed_says_the_same_of_two_kinds_of_tumours():
    X, y = load_breast_cancer(return_X_y=True)
    found = [cs.cluster(X, 2, random_state=seed).labels for seed in range(3)]
    # From 0.35 to 0.86 by seed once.
    assert min(adjusted_rand_score(y, labels) for labels in found) > 0.6
    assert min(adjusted_rand_score(found[0], labels) for labels in found[1:]) > 0.8


def test_members_fit_the_method():
    X, y = load_iris(return_X_y=True)
    result = cs.cluster(X, 3, method="mcla", random_state=0)
    # Not of about the root of n clusters, which its card advises against.
    assert max(result.ensemble.n_clusters) < 9
    assert adjusted_rand_score(y, result.labels) > 0.55


def test_columns_are_standardised_unless_the_user_says_otherwise():
    X, y = load_wine(return_X_y=True)
    result = cs.cluster(X, random_state=0)
    assert adjusted_rand_score(y, result.labels) > 0.85
    units = cs.cluster(X * np.logspace(-3, 3, X.shape[1]), random_state=0)
    np.testing.assert_array_equal(units.labels, result.labels)
    assert adjusted_rand_score(y, cs.cluster(X, 3, scale=False, random_state=0).labels) < 0.5


GAPPY = np.where(np.eye(30, 3, dtype=bool), np.nan, np.random.default_rng(0).normal(size=(30, 3)))
# Options of files, which no call in Python has.
OF_FILES = ("--", "impute=", "id_column", "ignore (", "encode='mixed'")


@pytest.mark.parametrize(
    "X",
    [
        pd.DataFrame({"a": np.arange(30.0), "code": [f"w{i}" for i in range(30)]}),
        pd.DataFrame({"a": np.arange(30.0), "price": ["1.234,50", "2.000,25", "7,5"] * 10}),
        pd.DataFrame(GAPPY).assign(kind=list("xyz") * 10),
    ],
    ids=["words", "prices", "gaps"],
)
@pytest.mark.parametrize("job", [cs.cluster, cs.ambiguous_objects])
def test_a_frame_is_refused_with_what_its_owner_can_do(job, X):
    with pytest.raises(InvalidInputError) as caught:
        job(X)
    assert not any(word in str(caught.value) for word in OF_FILES)
    assert "gaps='keep'" in str(caught.value) or "X.drop(columns=[" in str(caught.value)


@pytest.mark.parametrize("X", [GAPPY, pd.DataFrame(GAPPY)], ids=["array", "frame"])
def test_gaps_are_refused_with_what_each_job_can_do(X):
    for job, keeps in ((cs.cluster, True), (cs.ambiguous_objects, False), (cs.minority_groups, 0)):
        with pytest.raises(InvalidInputError, match=r"contains NaN\. .*fill|Fill") as caught:
            job(X)
        assert ("gaps='keep'" in str(caught.value)) == keeps
        assert "read_table(file, impute='median')" in str(caught.value)
    with pytest.raises(InvalidInputError, match=r"contains infinity.*leave out those objects"):
        cs.cluster(np.nan_to_num(GAPPY, nan=np.inf))
    with pytest.raises(InvalidInputError, match=r"convert.*X\.drop.*get_dummies"):
        cs.minority_groups(pd.DataFrame({"a": np.arange(30.0), "b": list("xyz") * 10}))


@pytest.mark.parametrize("estimator", [cs.EAC(3), EWOCS(), KMeansEnsemble()])
def test_estimators_refuse_gaps_with_a_remedy_of_ours(estimator):
    act = getattr(estimator, "fit", None) or estimator.generate
    with pytest.raises(
        InvalidInputError, match=r"NaN[\s\S]*SimpleImputer[\s\S]*gaps='keep'"
    ) as caught:
        act(GAPPY)
    assert "supervised" not in str(caught.value)
    with pytest.raises(InvalidInputError, match=r"inf[\s\S]*leave out those objects"):
        act(np.nan_to_num(GAPPY, nan=np.inf))


@pytest.mark.parametrize("gaps", [None, "keep"])
def test_columns_of_one_name_are_named(gaps):
    frame = pd.DataFrame(np.nan_to_num(GAPPY), columns=["a", "b", "a"])
    with pytest.raises(InvalidInputError, match=r"2 columns named 'a', numbers 1 and 3\. Rename"):
        cs.cluster(frame, gaps=gaps)
    with pytest.raises(InvalidInputError, match=r"2 columns named 'a', numbers 1 and 3\. Rename"):
        cs.cluster(frame.where(frame != 0), gaps=gaps)
    with pytest.raises(InvalidInputError, match="columns named 'a'"):
        cs.EAC(3).fit(frame)


def notes_on_flat(X, **more):
    result = cs.cluster(X, 2, n_members=5, method="eac", random_state=0, **more)
    return [note for note in result.notes if "far from all others" in note]


def test_a_mad_value_is_noted_with_column_object_and_remedy():
    X = load_iris().data.copy()
    frame = pd.DataFrame(X, columns=list("abcd"), index=[f"flower{i}" for i in range(150)])
    assert not notes_on_flat(frame)
    frame.iloc[7, 1] = 1e9
    (note,) = notes_on_flat(frame)
    for part in ("'b'", "1e+09 in object flower7", "between 2 and 4.4", "Correct the value"):
        assert part in note
    frame.iloc[7, 1] = -1e200
    assert "-1e+200 in object flower7" in notes_on_flat(frame)[0]
    frame.iloc[3, 0] = np.nan
    assert "'b'" in notes_on_flat(frame, gaps="keep")[0]
    X[7, 1] = 1e9
    assert "'c1' has" in notes_on_flat(X)[0]
    assert "in row 7," in notes_on_flat(X)[0]
    assert not notes_on_flat(X, scale=False)


@pytest.mark.parametrize("n", [20, 2_000])
@pytest.mark.parametrize("sign", [1, -1])
def test_a_value_is_mad_if_the_others_span_less_than_a_twentieth(n, sign):
    for share, mad in ((0.047, True), (0.053, False)):
        far = np.sqrt(n) / share  # the standard deviation is nearly far / sqrt(n)
        column = np.r_[np.zeros(n - 2), 1.0, far + 1.0]
        table = np.column_stack([sign * column, np.arange(n)])
        assert bool(notes_on_flat(table)) == mad


@pytest.mark.parametrize("n", [100, 1_000])
def test_heavy_tails_are_not_mad(n):
    rng = np.random.default_rng(0)
    draws = [
        rng.normal(size=(n, 50)), rng.standard_t(2, size=(n, 50)), rng.lognormal(size=(n, 50)),
        rng.exponential(size=(n, 50)), np.eye(n)[:, :1],  # and an event that happened once
    ]  # fmt: skip
    assert not notes_on_flat(np.hstack(draws))


def test_equal_rows_that_were_divided_are_noted():
    X = np.repeat([[0.0, 0], [5, 1], [9, 9]], [18, 1, 1], axis=0)
    asked = {"n_members": 10, "random_state": 0}
    assert any("only 3 different rows, and 5" in note for note in cs.cluster(X, 5, **asked).notes)
    assert not any("different rows" in note for note in cs.cluster(X, 3, **asked).notes)
