"""The objects an estimator was fitted to, until somebody asks where new ones belong."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from consilience.errors import InvalidInputError
from consilience.generate.models import Centres
from consilience.predict._hashes import Hashes, row_hashes
from consilience.predict._learn import learn
from consilience.predict._placer import Placer

__all__ = ["Seen"]


class Seen:
    """Data that were clustered, and what the members left behind: a reference, not a copy.

    Parameters
    ----------
    X : ndarray or CSR matrix
        As it was clustered.
    models : sequence of Centres or None
        Of the members, where they were made here.
    hashes : ndarray of uint64, optional
        Of the rows as they came; by default those of X.
    placer : Placer, optional
        Where it is known already: of what was loaded.
    """

    def __init__(
        self,
        X: Any,
        models: Sequence[Centres | None] | None = None,
        hashes: Hashes | None = None,
        placer: Placer | None = None,
    ) -> None:
        self._X, self._models = X, models
        # Rows as they came may be the user's own array; what was scaled is ours.
        self._checked = hashes is None
        self._hashes = row_hashes(X) if hashes is None and X is not None else hashes
        self._placer = placer

    def placer(self, owner: str, ensemble: Any, labels: Any, **judged: Any) -> Placer:
        """What places new objects; made once, when it is asked for.

        Parameters
        ----------
        owner : str
            Who was fitted, for messages.
        ensemble, labels, **judged
            As in `learn`.
        """
        if self._placer is None:
            assert self._hashes is not None
            if self._checked and not np.array_equal(row_hashes(self._X), self._hashes):
                raise InvalidInputError(
                    f"The data that {owner} was fitted to were changed in place since. Fit it "
                    "again, or fit it to a copy."
                )
            self._placer = learn(
                self._X, ensemble, labels, hashes=self._hashes, models=self._models, **judged
            )
            self._X = None
        return self._placer

    def regrouped(self, X: Any) -> "Seen":
        """The same objects, for an answer with other groups: what places new ones is made anew.

        Parameters
        ----------
        X : ndarray or CSR matrix
            They, as they were clustered.
        """
        models, hashes = self._models, self._hashes
        if self._placer is not None and models is None and not self._placer.power:
            models = self._placer.models  # of what was loaded
        if self._placer is not None and hashes is None:
            hashes = self._placer.hashes
        return Seen(X, models, hashes)
