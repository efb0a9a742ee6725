"""From raw text to numbers: tokens, stop words, stems, counts, tf-idf, and which terms to keep.

Counts and weights are CSR, one row a document and one column a term; nothing is made dense.
"""

import re
from collections.abc import Callable, Iterable
from functools import lru_cache
from numbers import Integral
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from consilience._validation import Interval, NoneValue, Options, check_value, shown
from consilience.datasets._stems import stem
from consilience.errors import InvalidInputError

__all__ = [
    "STOP_WORDS",
    "count_terms",
    "frequent_terms",
    "informative_terms",
    "stems",
    "tf_idf",
    "tokens",
    "variable_terms",
]

Norm = Literal["l2", "l1"] | None

# Words that serve grammar and say nothing of a subject; our own list, by part of speech.
_FUNCTION_WORDS = (
    # articles, demonstratives, quantifiers
    """a an the this that these those such same other another others each every either neither
    both all any some no none most more less least much many few fewer several enough own"""
    # pronouns
    """ i me my mine myself we us our ours ourselves you your yours yourself yourselves he him his
    himself she her hers herself it its itself they them their theirs themselves one ones oneself
    who whom whose which what whoever whatever whichever someone somebody something anyone anybody
    anything everyone everybody everything nobody nothing"""
    # prepositions
    """ about above across after against along among amongst around as at before behind below
    beneath beside besides between beyond by despite down during except for from in inside into
    like near of off on onto out outside over per since than through throughout till to toward
    towards under until unto up upon versus via with within without"""
    # conjunctions and question words
    """ and but or nor so yet if because although though unless while whereas whether when whenever
    where wherever why how however therefore thus hence then else otherwise"""
    # auxiliaries, and what is left of them when n't goes
    """ am is are was were be been being do does did done doing have has had having can could may
    might must shall should will would ought ca wo sha ai let cannot"""
    # adverbs of place, time and degree
    """ here there now again ever never always often sometimes once just only also too very quite
    rather even still already almost not away back soon later perhaps maybe instead indeed"""
)
STOP_WORDS = frozenset(_FUNCTION_WORDS.split())

# Clitics go with their apostrophe, so that "don't" is "do" and "Bob's" is "bob".
_CLITIC = re.compile(r"(?:n['’]t|['’](?:s|ll|ve|re|d|m))\b")
# Letters, and digits after them: "x11" is a term, "486", "1st" and "1.25" are numbers.
_TOKEN = re.compile(r"(?<![^\W_])[^\W\d_][^\W_]+")

_stem = lru_cache(maxsize=2**16)(stem)  # few words make up most of a text


def tokens(text: str) -> list[str]:
    """Words of a text in lower case and in order, at least two letters or digits each.

    Numbers and whatever else begins with a digit are left out; an apostrophe or hyphen ends
    a word, and the clitics 's, n't, 'll, 've, 're, 'd and 'm are left out.

    Examples
    --------
    >>> tokens("The X11 server doesn't draw Bob's 1st 3-D picture (v. 2.0)!")
    ['the', 'x11', 'server', 'does', 'draw', 'bob', 'picture']
    """
    words = _TOKEN.findall(_CLITIC.sub("", text.lower()))
    return [word for word in words if word[0].isalpha()]  # the pattern takes ² for a letter


def stems(text: str, *, stop_words: frozenset[str] = STOP_WORDS) -> list[str]:
    """Stems of the tokens of a text that are no stop words, in order.

    Stems of fewer than two letters are left out.

    Examples
    --------
    >>> stems("Shippers were reluctant to offer nearby shipments.")
    ['shipper', 'reluct', 'offer', 'nearbi', 'shipment']
    """
    terms = (_stem(token) for token in tokens(text) if token not in stop_words)
    return [term for term in terms if len(term) > 1]


def count_terms(
    texts: Iterable[Any], analyse: Callable[[Any], list[str]] = stems
) -> tuple[Any, NDArray[np.str_]]:
    """How often each document has each term.

    Parameters
    ----------
    texts : iterable of str
        The documents; of anything that ``analyse`` takes.
    analyse : callable, default=stems
        Turns a document into its terms, repeated as often as they occur.

    Returns
    -------
    counts : CSR matrix of shape (n_documents, n_terms), int64
        A document without terms is a row of zeros.
    terms : ndarray of str of shape (n_terms,)
        Sorted.

    Raises
    ------
    InvalidInputError
        If this is no list of documents, or no document has a term.

    Examples
    --------
    >>> counts, terms = count_terms(["ships and shipping", "a red ship"])
    >>> terms.tolist(), counts.toarray().tolist()
    (['red', 'ship'], [[0, 2], [1, 1]])
    """
    from sklearn.feature_extraction.text import CountVectorizer

    if isinstance(texts, str | bytes) or not isinstance(texts, Iterable):
        raise InvalidInputError(
            f"texts of count_terms must be a list of documents. Got {shown(texts)} instead."
        )
    vectorizer = CountVectorizer(analyzer=analyse)
    try:
        counts = vectorizer.fit_transform(texts)
    except ValueError as error:
        if "empty vocabulary" not in str(error):  # of the analyser's own
            raise
        raise InvalidInputError(
            "No document has a term: all are empty, or hold only numbers and stop words."
        ) from error
    return counts, np.asarray(vectorizer.get_feature_names_out(), dtype=np.str_)


def tf_idf(counts: Any, *, norm: Norm = "l2") -> Any:
    """Counts weighted by how rare their term is, ``tf * log(n_documents / df)``.

    Parameters
    ----------
    counts : CSR matrix of shape (n_documents, n_terms)
        How often each document has each term.
    norm : {"l2", "l1"} or None, default="l2"
        Length to which each row is scaled; rows of zeros stay.

    Returns
    -------
    CSR matrix of shape (n_documents, n_terms), float64
        A term of every document has weight 0.

    References
    ----------
    Manning, Raghavan & Schütze (2008), Introduction to information retrieval, section 6.2.

    Examples
    --------
    >>> from scipy.sparse import csr_matrix
    >>> tf_idf(csr_matrix([[2, 1], [0, 3]]), norm=None).toarray().round(3).tolist()
    [[1.386, 0.0], [0.0, 0.0]]
    """
    from sklearn.preprocessing import normalize

    check_value("norm", norm, [Options(("l2", "l1")), NoneValue()], owner="tf_idf")
    weights = counts.astype(np.float64).tocsr()
    if weights is counts:
        weights = counts.copy()
    # A term of no document has no entries that its weight could fall on.
    rarity = np.log(weights.shape[0] / np.maximum(document_frequency(weights), 1))
    weights.data *= rarity[weights.indices]
    weights.eliminate_zeros()
    return weights if norm is None else normalize(weights, norm=norm, copy=False)


def document_frequency(counts: Any) -> NDArray[np.int64]:
    """Number of documents that have each term."""
    return np.bincount(counts.indices[counts.data != 0], minlength=counts.shape[1])


def frequent_terms(counts: Any, min_documents: int) -> NDArray[np.int64]:
    """Columns of the terms that occur in at least so many documents, in order.

    Examples
    --------
    >>> from scipy.sparse import csr_matrix
    >>> frequent_terms(csr_matrix([[1, 0, 2], [4, 0, 1], [0, 3, 1]]), 2).tolist()
    [0, 2]
    """
    check_value("min_documents", min_documents, [Interval(Integral, 1)], owner="frequent_terms")
    return np.flatnonzero(document_frequency(counts) >= min_documents)


def variable_terms(weights: Any, n_terms: int) -> NDArray[np.int64]:
    """Columns of the terms whose weight varies most between documents, in order.

    Parameters
    ----------
    weights : CSR matrix of shape (n_documents, n_terms)
        Counts or tf-idf weights.
    n_terms : int
        How many to keep; all, if there are not more. Ties go to the first.

    Examples
    --------
    >>> from scipy.sparse import csr_matrix
    >>> variable_terms(csr_matrix([[1, 0, 5], [1, 2, 0]]), 2).tolist()
    [1, 2]
    """
    check_value("n_terms", n_terms, [Interval(Integral, 1)], owner="variable_terms")
    mean = np.asarray(weights.mean(axis=0)).ravel()
    square = np.asarray(weights.multiply(weights).mean(axis=0)).ravel()
    return _largest(square - mean**2, n_terms)


def informative_terms(counts: Any, n_terms: int) -> NDArray[np.int64]:
    """Columns of the terms that tell most about which document they stand in, in order.

    The share of a term in the mutual information of terms and documents is
    ``p(t) * sum_d p(d|t) * log(p(d|t) / p(d))``.

    Parameters
    ----------
    counts : CSR matrix of shape (n_documents, n_terms)
        How often each document has each term, at least once in all.
    n_terms : int
        How many to keep; all, if there are not more. Ties go to the first.

    References
    ----------
    Slonim & Tishby (2000), Document clustering using word clusters via the information
    bottleneck method, SIGIR, section 4.

    Examples
    --------
    >>> from scipy.sparse import csr_matrix
    >>> informative_terms(csr_matrix([[4, 4, 0], [4, 0, 4]]), 2).tolist()
    [1, 2]
    """
    check_value("n_terms", n_terms, [Interval(Integral, 1)], owner="informative_terms")
    return _largest(_information(counts), n_terms)


def _information(counts: Any) -> NDArray[np.float64]:
    """Share of each term in the mutual information of terms and documents."""
    entries = counts.tocoo()
    joint = entries.data / entries.data.sum()
    n_documents, n_terms = counts.shape
    document = np.bincount(entries.row, joint, n_documents)
    term = np.bincount(entries.col, joint, n_terms)
    here = joint > 0
    row, col, joint = entries.row[here], entries.col[here], joint[here]
    share = joint * np.log(joint / (document[row] * term[col]))
    return np.asarray(np.bincount(col, share, n_terms), dtype=np.float64)


def _largest(values: NDArray[np.float64], most: int) -> NDArray[np.int64]:
    """Positions of the largest values, in order; equal to 12 digits is a tie."""
    rounded = np.array([float(f"{value:.12e}") for value in values])
    return np.sort(np.argsort(-rounded, kind="stable")[:most])
