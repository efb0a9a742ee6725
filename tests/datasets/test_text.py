"""Text preparation: tokens, counts and weights are their definitions; selections keep the best."""

from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, arrays
from scipy.sparse import csr_matrix

from consilience.datasets._stems import stem
from consilience.datasets._text import (
    STOP_WORDS,
    count_terms,
    frequent_terms,
    informative_terms,
    stems,
    tf_idf,
    tokens,
    variable_terms,
)
from consilience.errors import InvalidInputError, InvalidParameterError

FEW = settings(max_examples=40)
tables = arrays(
    np.int64, array_shapes(min_dims=2, max_dims=2, max_side=6), elements=st.integers(0, 3)
)


# ---- tokens, stop words, stems ------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("", []),
        ("1986/87 1.25 155,221 486 1st 3-D a ²0 ½x", []),
        ("X11 cs415", ["x11", "cs415"]),
        ("snake_case e-mail semi;colon", ["snake", "case", "mail", "semi", "colon"]),
        ("Bob's dogs' can't they’ll", ["bob", "dogs", "ca", "they"]),
        ("Société GmbH", ["société", "gmbh"]),
        ("o'clock", ["clock"]),
    ],
)
def test_tokens_of(text, wanted):
    assert tokens(text) == wanted


@given(st.text(max_size=60))
def test_tokens_are_words_and_reading_them_again_changes_nothing(text):
    found = tokens(text)
    assert all(len(word) >= 2 and word.isalnum() and word[0].isalpha() for word in found)
    assert tokens(" ".join(found)) == found


def test_every_stop_word_can_be_met():
    """A stop word that the tokeniser never returns would stop nothing."""
    assert [word for word in STOP_WORDS if len(word) > 1 and tokens(word) != [word]] == []
    assert 200 < len(STOP_WORDS) < 400


def test_contractions_of_stop_words_leave_nothing():
    text = """I'm you're he's it'll we've they'd isn't aren't wasn't weren't don't doesn't didn't
        haven't hasn't hadn't can't couldn't mustn't won't wouldn't shan't shouldn't ain't let's"""
    assert stems(text) == []


def test_stems_are_stemmed_tokens_without_stop_words():
    text = "The companies were reporting their earnings; no dividends."
    assert stems(text) == ["compani", "report", "earn", "dividend"]
    assert stems(text, stop_words=frozenset({"companies"}))[:2] == ["the", "were"]


# ---- counts and weights -----------------------------------------------------------------------


@FEW
@given(st.lists(st.lists(st.sampled_from(["red", "ships", "and", "go"]), max_size=5), min_size=1))
def test_counts_are_what_a_counter_says(documents):
    wanted = [Counter(stem(w) for w in words if w != "and") for words in documents]
    if not any(wanted):
        with pytest.raises(InvalidInputError, match="No document has a term"):
            count_terms(" ".join(words) for words in documents)
        return
    counts, terms = count_terms(" ".join(words) for words in documents)
    assert terms.tolist() == sorted(set().union(*wanted))
    assert counts.toarray().tolist() == [[row[t] for t in terms.tolist()] for row in wanted]


@pytest.mark.parametrize("texts", ["hello world", b"hello", 5, None])
def test_documents_are_a_list(texts):
    with pytest.raises(InvalidInputError, match="texts of count_terms must be a list of documents"):
        count_terms(texts)


def test_an_error_of_the_analyser_is_its_own():
    with pytest.raises(ValueError, match="invalid literal"):
        count_terms(["1 2", "three"], lambda text: [str(int(word)) for word in text.split()])


@FEW
@given(counts=tables, norm=st.sampled_from(["l1", "l2", None]))
def test_tf_idf_is_its_definition(counts, norm):
    given_matrix = csr_matrix(counts)
    n, df = len(counts), (counts > 0).sum(axis=0)
    wanted = counts * np.log(n / np.where(df > 0, df, n))
    if norm is not None:
        length = np.linalg.norm(wanted, ord=int(norm[1]), axis=1, keepdims=True)
        wanted = np.divide(wanted, length, out=np.zeros_like(wanted), where=length > 0)
    found = tf_idf(given_matrix, norm=norm)
    np.testing.assert_allclose(found.toarray(), wanted, atol=1e-12)
    np.testing.assert_array_equal(given_matrix.toarray(), counts)
    floats = csr_matrix(counts.astype(np.float64))
    tf_idf(floats)
    np.testing.assert_array_equal(floats.toarray(), counts)


def test_stored_zeros_are_no_occurrences():
    counts = csr_matrix([[1, 2], [3, 4]])
    counts.data[1] = 0
    assert frequent_terms(counts, 2).tolist() == [0]
    assert tf_idf(counts, norm=None)[1, 1] == pytest.approx(4 * np.log(2))


# ---- which terms to keep ----------------------------------------------------------------------


@FEW
@given(counts=tables, least=st.integers(1, 7))
def test_frequent_terms_are_in_enough_documents(counts, least):
    wanted = [j for j in range(counts.shape[1]) if (counts[:, j] > 0).sum() >= least]
    assert frequent_terms(csr_matrix(counts), least).tolist() == wanted


def mutual_information_by_definition(counts):
    """Of each term: p(t) times the divergence of its documents from all documents."""
    total = counts.sum()
    p_document = counts.sum(axis=1) / total
    found = []
    for column in counts.T:
        p_term, share = column.sum() / total, 0.0
        for document, count in enumerate(column):
            if count:
                p = count / column.sum()
                share += p * np.log(p / p_document[document])
        found.append(p_term * share)
    return np.array(found)


def mutual_information_of_scikit_learn(counts):
    from sklearn.metrics import mutual_info_score

    return mutual_info_score(None, None, contingency=counts)


@FEW
@given(counts=tables.filter(np.any))
def test_information_is_its_definition(counts):
    from consilience.datasets._text import _information

    found = _information(csr_matrix(counts))
    np.testing.assert_allclose(found, mutual_information_by_definition(counts), atol=1e-12)
    assert found.sum() == pytest.approx(mutual_information_of_scikit_learn(counts), abs=1e-12)


CASES = [(variable_terms, lambda c: c.var(axis=0))]
CASES += [(informative_terms, mutual_information_by_definition)]


@pytest.mark.parametrize(("select", "value"), CASES, ids=["variable", "informative"])
@FEW
@given(counts=tables.filter(np.any), most=st.integers(1, 8))
def test_selections_keep_the_largest_in_order(select, value, counts, most):
    found = select(csr_matrix(counts), most).tolist()
    values = value(counts)
    assert found == sorted(set(found))
    assert len(found) == min(most, len(values))
    left = np.delete(values, found)
    assert not left.size or values[found].min() >= left.max() - 1e-12


@pytest.mark.parametrize("select", [variable_terms, informative_terms])
def test_ties_go_to_the_first(select):
    # All columns are equal in value, though their sums run in another order.
    counts = csr_matrix([[1, 3, 2, 0], [0, 1, 3, 2], [2, 0, 1, 3], [3, 2, 0, 1]])
    assert select(counts, 2).tolist() == [0, 1]
    assert select(counts[::-1], 2).tolist() == [0, 1]


@pytest.mark.parametrize(
    ("function", "name", "bad"),
    [
        (frequent_terms, "min_documents", 0),
        (variable_terms, "n_terms", 0),
        (informative_terms, "n_terms", 2.5),
    ],
)
def test_bad_parameters_are_named(function, name, bad):
    with pytest.raises(InvalidParameterError, match=rf"'{name}' parameter of {function.__name__}"):
        function(csr_matrix([[1, 2]]), bad)
    with pytest.raises(InvalidParameterError, match="'norm' parameter of tf_idf"):
        tf_idf(csr_matrix([[1, 2]]), norm="max")
