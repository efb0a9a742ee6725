"""Objects at distance zero: the groups that linkage may collapse without changing anything."""

import numpy as np

from consilience._validation import Options, check_value
from consilience.ensemble import NOISE, Ensemble, Signatures, takes_ensemble
from consilience.evidence.coassociation import Missing

__all__ = ["twins"]


@takes_ensemble
def twins(ensemble: Ensemble, *, missing: Missing = "pair") -> Signatures:
    """One object of each group with co-association 1, the group of every object, the sizes.

    Equal labels are not enough: noise is together with nobody, not even with noise, so two
    objects with equal rows that hold noise are apart; so are rows with gaps where all
    members count (``missing="all"``). Such objects stand alone here.

    Returns
    -------
    Signatures
        Groups are numbered as they first appear.

    Examples
    --------
    >>> ens = Ensemble([[0, 0, 1, 1], [0, 0, -1, -1]])
    >>> twins(ens).counts.tolist(), ens.signatures().counts.tolist()
    ([2, 1, 1], [2, 2])
    """
    check_value("missing", missing, [Options(("pair", "all"))], owner="twins")
    signatures = ensemble.signatures()
    labels = signatures.ensemble.members
    if missing == "pair":
        solid = np.asarray((labels != NOISE).all(axis=0) & (labels >= 0).any(axis=0))
    else:
        solid = np.asarray((labels >= 0).all(axis=0))
    if solid.all():
        return signatures
    newest = np.maximum.accumulate(signatures.inverse)
    is_first = np.append(True, newest[1:] > newest[:-1])  # groups are numbered as they appear
    kept = np.flatnonzero(is_first | ~solid[signatures.inverse])
    rank = np.empty(ensemble.n_objects, np.int64)
    rank[kept] = np.arange(len(kept))
    inverse = rank[np.flatnonzero(is_first)][signatures.inverse]
    inverse[kept] = rank[kept]
    rows = Ensemble._trusted(ensemble.members[:, kept])
    return Signatures(rows, inverse, np.bincount(inverse, minlength=len(kept)))
