"""What is kept of estimators on disk, and how they are made of it again."""

from importlib import import_module
from typing import Any

import numpy as np

from consilience import generate
from consilience._labels import UNSEEN
from consilience.consensus._auto_choice import Alternative
from consilience.consensus._clarity import Clarity, DoubtedClarity
from consilience.consensus._number_judge import Criterion, NumberChoice
from consilience.consensus._predicts import Predicts
from consilience.ensemble import Ensemble
from consilience.generate.models import Centres
from consilience.keep import Kind, Omitted, dataclass_kind
from consilience.predict import Placer
from consilience.predict._seen import Seen
from consilience.rows import here, is_dask
from consilience.soft_ensemble import SoftEnsemble

__all__ = ["kinds"]

# Fitted attributes that may hold anything.
_LEFT_OUT = ("details_", "consensus_")


def _ensemble_fields(ensemble: Ensemble) -> dict[str, Any]:
    # How long a member took is no part of it: equal runs keep equal files.
    records = [{k: v for k, v in one.items() if k != "seconds"} for one in ensemble.records]
    return {
        "members": ensemble.members,
        "index": ensemble.index,
        "names": ensemble.names,
        "records": records,
    }


def _ensemble(fields: dict[str, Any]) -> Ensemble:
    return Ensemble._trusted(fields["members"], fields["index"], fields["names"], fields["records"])


def _soft_fields(ensemble: SoftEnsemble) -> dict[str, Any]:
    more = {"memberships": ensemble.memberships, "widths": ensemble.n_clusters}
    return _ensemble_fields(ensemble) | more


def _soft(fields: dict[str, Any]) -> SoftEnsemble:
    unseen = np.asarray(fields["members"]).T == UNSEEN
    with_it = fields["index"], fields["names"], fields["records"]
    return SoftEnsemble._of(fields["memberships"], fields["widths"], unseen, *with_it)


def _generator_kind(owner: Any) -> Kind:
    def fields(generator: Any) -> dict[str, Any]:
        given: dict[str, Any] = generator.get_params(deep=False)
        return {name: value for name, value in given.items() if name != "n_jobs"}

    def made(parameters: dict[str, Any]) -> Any:
        if any(isinstance(value, Omitted) for value in parameters.values()):
            return Omitted(owner.__name__)
        return owner(**parameters)

    return Kind(owner.__name__, owner, fields, made)


def _estimator_fields(estimator: Any) -> dict[str, Any]:
    fitted = {
        name: here(value) if is_dask(value) else value
        for name, value in vars(estimator).items()
        if name.endswith("_") and not name.startswith("_") and name not in _LEFT_OUT
    }
    return {
        "class": type(estimator).__name__,
        "parameters": estimator.get_params(deep=False),
        "fitted": fitted,
        "placer": None if getattr(estimator, "_seen", None) is None else estimator._placer(),
    }


def _estimator(fields: dict[str, Any]) -> Any:
    room = import_module("consilience.consensus")
    owner = getattr(room, fields["class"]) if fields["class"] in room.__all__ else None
    if not (isinstance(owner, type) and issubclass(owner, Predicts)):
        raise ValueError(f"there is no estimator {fields['class']!r}")
    given = {k: v for k, v in fields["parameters"].items() if not isinstance(v, Omitted)}
    model: Any = owner(**given)
    for name, value in fields["fitted"].items():
        setattr(model, name, None if isinstance(value, Omitted) else value)
    if not fields["fitted"]:
        return model
    model.details_ = {}
    model._seen = None if fields["placer"] is None else Seen(None, placer=fields["placer"])
    return model


def kinds() -> dict[str, Kind]:
    """Everything of this room and those below that can be kept, by name."""
    generators = (
        "Combined",
        "DistanceEnsemble",
        "GraphEnsemble",
        "KMeansEnsemble",
        "LACEnsemble",
        "MixedEnsemble",
        "USPECEnsemble",
    )
    all_kinds = [
        Kind("Ensemble", Ensemble, _ensemble_fields, _ensemble),
        Kind("SoftEnsemble", SoftEnsemble, _soft_fields, _soft),
        Kind("estimator", Predicts, _estimator_fields, _estimator),
        *(dataclass_kind(one) for one in (Placer, Centres, Clarity, NumberChoice, Criterion)),
        dataclass_kind(Alternative),
        dataclass_kind(DoubtedClarity),
        *(_generator_kind(getattr(generate, name)) for name in generators),
    ]
    return {kind.name: kind for kind in all_kinds}
