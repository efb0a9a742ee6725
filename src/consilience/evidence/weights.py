"""How hard each object is to cluster: what members disagree on, summed over all other objects.

The weights of Ren et al. need row sums of a function of the co-association only, so the
matrix is never made: the quadratic form comes from the small table of clusters x clusters.
"""

from collections.abc import Callable
from numbers import Integral, Real
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_random_state

from consilience._threads import one_thread
from consilience._validation import (
    DEVICE,
    Boolean,
    Interval,
    NoneValue,
    Options,
    RandomState,
    check_jobs,
    check_value,
)
from consilience.ensemble import Ensemble, takes_ensemble
from consilience.errors import InvalidParameterError
from consilience.evidence.coassociation import Missing
from consilience.kernels._parallel import by_rows, in_threads
from consilience.kernels.pairs.compare import count_type
from consilience.kernels.pairs.confusion import pair_moments, sum_over_pairs
from consilience.kernels.pairs.counts import count_pairs_block
from consilience.soft_ensemble import SoftEnsemble

__all__ = ["Confusion", "object_weights"]

Confusion = Literal["quadratic", "entropy"]
Floats = NDArray[np.float64]

_OWNER = "object_weights"
# Rows of pair counts that exist at once, in bytes.
_BLOCK_BYTES = 2**25
# Objects of a slice for work that is short.
_LARGE = 1 << 14


@takes_ensemble(soft=True)
def object_weights(
    ensemble: Ensemble,
    *,
    confusion: Confusion = "quadratic",
    e: float = 0.01,
    missing: Missing = "all",
    n_samples: int | None = None,
    return_error: bool = False,
    random_state: Any = None,
    n_jobs: int | None = None,
    device: str | None = None,
) -> Any:
    """Weight of each object: large where members disagree about whom it belongs with.

    With the co-association A the weight is ``(w' + e) / (1 + e)``, where ``w'`` is the mean
    over all objects j of how confused the members are about the pair: ``4 A (1 - A)``, or
    the entropy of A in bits. Both are 0 where members agree and 1 where half of them join
    the pair.

    Parameters
    ----------
    ensemble : Ensemble
        Labels of n objects by R members. Noise is together with nobody. Memberships
        (`SoftEnsemble`) for the quadratic function of all members only.
    confusion : {"quadratic", "entropy"}, default="quadratic"
        The paper's quadratic function, or the entropy.
    e : float, default=0.01
        Keeps weights above 0; at least ``e / (1 + e)``, which is what every object gets
        from one member or from unanimous ones.
    missing : {"all", "pair"}, default="all"
        Divide pair counts by all members, as the paper does, or by those that saw both
        objects.
    n_samples : int or None, default=None
        Estimate the mean from that many random objects j instead of all n, without
        replacement. The standard error is at most ``1 / (2 sqrt(n_samples))``.
    return_error : bool, default=False
        Also return the standard error of each weight; zeros without sampling.
    random_state : int, RandomState or None
        For the sample.
    n_jobs : int or None
        Threads; None means one. The result does not depend on it.
    device : str or None, default=None
        A torch device, such as "cuda", for the quadratic form: the same weights. Others stay on
        the processor.

    Returns
    -------
    weights : ndarray of shape (n_objects,), float64
        In (0, 1].
    errors : ndarray of shape (n_objects,), float64
        Only with ``return_error=True``.

    Notes
    -----
    All forms work on distinct label rows, of which there are u. Quadratic: time O(u R^2),
    memory O(u R) and 64 MiB of tables, or those of one pair of members. Entropy, and
    ``missing="pair"`` where objects are unseen: time O(u^2 R) by row blocks of pair counts,
    memory O(u R). Sampled: O(u m R) for m samples.

    References
    ----------
    Ren, Domeniconi, Zhang & Yu (2017), Weighted-object ensemble clustering, Knowledge and
    Information Systems 51, section 3.2, equations 1 to 4. The paper builds the n x n matrix.

    Examples
    --------
    >>> ens = Ensemble([[0, 0, 0, 1, 1, 1], [0, 0, 1, 1, 1, 1]])
    >>> object_weights(ens).round(3).tolist()
    [0.175, 0.175, 0.835, 0.175, 0.175, 0.175]
    """
    _check(confusion, e, missing, n_samples, return_error, random_state)
    check_jobs(n_jobs, owner=_OWNER)
    check_value("device", device, DEVICE, owner=_OWNER)
    jobs = 1 if n_jobs is None else n_jobs
    pairwise = missing == "pair" and ensemble.has_unseen
    sampled = n_samples is not None and n_samples < ensemble.n_objects
    errors = np.zeros(ensemble.n_objects)
    if isinstance(ensemble, SoftEnsemble):
        if sampled or pairwise or confusion == "entropy":
            raise InvalidParameterError(
                f"{_OWNER} of memberships takes confusion='quadratic', missing='all' and all "
                "objects (n_samples=None). Leave the others out, or take ensemble.harden()."
            )
        raw = _of_memberships(ensemble)
    elif sampled:
        chosen = check_random_state(random_state).permutation(ensemble.n_objects)[:n_samples]
        raw, errors = _sampled(ensemble, confusion, pairwise, np.sort(chosen), jobs)
    elif pairwise or confusion == "entropy":
        raw = _over_rows(ensemble, confusion, pairwise, jobs)
    else:
        raw = _through_tables(ensemble, jobs, device)
    weights = np.maximum(raw, 0.0, out=raw)
    weights += e
    weights /= 1.0 + e
    return (weights, errors / (1.0 + e)) if return_error else weights


def _check(
    confusion: Any, e: Any, missing: Any, n_samples: Any, return_error: Any, random_state: Any
) -> None:
    check_value("confusion", confusion, [Options(("quadratic", "entropy"))], owner=_OWNER)
    check_value("e", e, [Interval(Real, 0, open_low=True)], owner=_OWNER)
    check_value("missing", missing, [Options(("all", "pair"))], owner=_OWNER)
    check_value("n_samples", n_samples, [Interval(Integral, 2), NoneValue()], owner=_OWNER)
    check_value("return_error", return_error, [Boolean()], owner=_OWNER)
    check_value("random_state", random_state, [RandomState()], owner=_OWNER)


def _through_tables(ensemble: Ensemble, n_jobs: int, device: str | None) -> Floats:
    """Mean quadratic confusion of each object, from contingency tables: no pair is looked at."""
    if device is not None:
        from consilience.engines.torch import label_rows, tables_fit

        if tables_fit(int(ensemble.offsets()[-1]), device, same_bits=True):
            there = label_rows(ensemble.members, ensemble.offsets(), device)
            # Numbers on the device: what divides by one of the host there multiplies instead.
            size = there.there(np.array([ensemble.n_members, ensemble.n_objects], np.float64))
            means = _mean_confusion(*there.moments(), size[0], size[1])
            return np.asarray(means.cpu().numpy())
    rows, inverse, counts = ensemble.signatures(n_jobs=n_jobs)
    first, second = pair_moments(rows.members, counts, starts=rows.offsets(), n_jobs=n_jobs)
    R, n = ensemble.n_members, int(counts.sum())
    raw, everywhere = np.empty(rows.n_objects), rows._lowest >= 0

    def judge(some: slice) -> None:
        placed = R if everywhere else (rows.members[:, some] >= 0).sum(axis=0)
        raw[some] = _mean_confusion(first[some], second[some], placed, R, n)

    by_rows(judge, len(raw), n_jobs, size=_LARGE)
    return raw if len(raw) == len(inverse) else raw[inverse]


def _of_memberships(ensemble: SoftEnsemble) -> Floats:
    """The same of memberships H: sums over j of A = H H^T / R, and of its squares."""
    H, R = ensemble.memberships, ensemble.n_members
    with one_thread():
        first = H @ H.sum(axis=0)
        second = ((H @ (H.T @ H)) * H).sum(axis=1)
    own = _quadratic((H**2).sum(axis=1) / R)
    return np.asarray((4.0 * (first / R - second / R**2) - own) / len(H))


def _mean_confusion(first: Any, second: Any, placed: Any, R: Any, n: Any) -> Any:
    """Mean of 4 A (1 - A) over n objects, from the sums of pair counts and of their squares.

    Arrays, or tensors of one device.
    """
    # An object is with itself for certain, also where some member leaves it out.
    own = _quadratic(placed / R)
    return (4.0 * (first / R - second / (R * R)) - own) / n


def _over_rows(ensemble: Ensemble, confusion: Confusion, pairwise: bool, n_jobs: int) -> Floats:
    """Mean confusion of each object by row blocks of pair counts."""
    rows, inverse, counts = ensemble.signatures(n_jobs=n_jobs)
    members, n_rows = rows.members, rows.n_objects
    table = _values(confusion, ensemble.n_members, pairwise)
    sums = np.empty(n_rows)
    step = max(1, _BLOCK_BYTES // (n_rows * np.dtype(count_type(len(members))).itemsize))

    def fill(start: int) -> None:
        stop = min(n_rows, start + step)
        sums[start:stop] = _block_sums(members, start, stop, counts, table, pairwise)[0]

    _for_blocks(fill, n_rows, step, n_jobs)
    raw = (sums - _own(members, table, pairwise)) / int(counts.sum())
    return np.asarray(raw[inverse])


def _sampled(
    ensemble: Ensemble, confusion: Confusion, pairwise: bool, chosen: NDArray[Any], n_jobs: int
) -> tuple[Floats, Floats]:
    """Mean confusion of each object with the chosen ones, and its standard error."""
    rows, inverse, _ = ensemble.signatures(n_jobs=n_jobs)
    members, n_rows, m = rows.members, rows.n_objects, len(chosen)
    pool, often = np.unique(inverse[chosen], return_counts=True)
    table = _values(confusion, ensemble.n_members, pairwise)
    moments = np.empty((2, n_rows))
    # Rows are counted against themselves, too: few rows for a pool keep that small.
    step = max(64, len(pool) // 8)

    def fill(start: int) -> None:
        stop = min(n_rows, start + step)
        some = np.concatenate([members[:, start:stop], members[:, pool]], axis=1)
        weights = np.concatenate([np.zeros(stop - start), often])
        moments[:, start:stop] = _block_sums(some, 0, stop - start, weights, table, pairwise)

    _for_blocks(fill, n_rows, step, n_jobs)
    sums, squares = moments[:, inverse]
    own = _own(members, table, pairwise)[inverse[chosen]]
    sums[chosen] -= own
    squares[chosen] -= own**2
    mean = sums / m
    spread = np.maximum(squares / m - mean**2, 0.0) * m / (m - 1)
    return mean, np.sqrt(spread / m * (1.0 - m / ensemble.n_objects))


def _block_sums(
    members: NDArray[Any],
    start: int,
    stop: int,
    weights: NDArray[Any],
    table: Floats,
    pairwise: bool,
) -> tuple[Floats, Floats]:
    """Weighted sums of confusion, and of its square, for some objects against all."""
    joined: NDArray[Any] = np.empty((stop - start, members.shape[1]), count_type(len(members)))
    seen = np.empty_like(joined) if pairwise else None
    count_pairs_block(members, start, stop, joined, seen)
    sums, squares = np.empty(stop - start), np.empty(stop - start)
    sum_over_pairs(joined, seen, weights.astype(np.float64), table, sums, squares)
    return sums, squares


def _own(members: NDArray[Any], table: Floats, pairwise: bool) -> Floats:
    """What pair counts say of an object with itself, where it should be certain."""
    placed = _n_placed(members)
    seen = (members > -2).sum(axis=0) if pairwise else 0
    return np.asarray(table[seen, placed])


def _n_placed(members: NDArray[Any]) -> NDArray[np.int64]:
    """How many members put each object into a cluster."""
    if members.min() >= 0:
        return np.full(members.shape[1], len(members))
    return np.asarray((members >= 0).sum(axis=0))


def _values(confusion: Confusion, n_members: int, pairwise: bool) -> Floats:
    """The confusion for every possible pair count: rows seen (or one row: all), columns joined."""
    joined = np.arange(n_members + 1.0)
    seen = np.arange(n_members + 1.0)[:, None] if pairwise else np.array([[float(n_members)]])
    shares = np.minimum(joined / np.maximum(seen, 1.0), 1.0)
    return _FUNCTIONS[confusion](shares)


def _quadratic(shares: Any) -> Any:
    """Equation 2, scaled to 1 at a half."""
    return 4.0 * shares * (1.0 - shares)


def _entropy(shares: Floats) -> Floats:
    """Bits of a coin that falls on one side with these probabilities."""
    logs = [np.log2(p, out=np.zeros_like(p), where=p > 0) for p in (shares, 1.0 - shares)]
    return -(shares * logs[0] + (1.0 - shares) * logs[1])


_FUNCTIONS: dict[str, Callable[[Floats], Floats]] = {
    "quadratic": _quadratic,
    "entropy": _entropy,
}


def _for_blocks(fill: Callable[[int], None], n_rows: int, step: int, n_jobs: int) -> None:
    in_threads(fill, range(0, n_rows, step), n_jobs)
