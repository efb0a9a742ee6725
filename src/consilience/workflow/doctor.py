"""What this machine offers: cores, memory, packages, devices, and how fast it is at our work."""

import os
import platform
import re
import sys
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from importlib import metadata
from importlib.util import find_spec
from typing import Any

import numpy as np

from consilience import __version__
from consilience._validation import Boolean, check_value
from consilience.evidence import co_association
from consilience.generate import KMeansEnsemble
from consilience.kernels import _jit
from consilience.minority import EWOCS

__all__ = ["Diagnosis", "Timing", "doctor"]

_CORE = ("numpy", "scipy", "scikit-learn", "joblib", "threadpoolctl", "numba", "pymetis")
# What is installed under another name than the one it is imported by.
_MODULES = {"scikit-learn": "sklearn", "scikit-network": "sknetwork"}
# For those who work on the package, not for those who use it.
_NOT_OFFERED = ("all", "test", "docs", "dev")
# Seconds after which no further measurement is begun.
_LONG_ENOUGH = 40.0


@dataclass(frozen=True)
class Timing:
    """Seconds of one piece of work.

    Attributes
    ----------
    work : str
        What was done.
    place : str
        "one core", "all cores", or a device.
    seconds : float
        Of the second of two calls: what is compiled is compiled.
    """

    work: str
    place: str
    seconds: float


@dataclass(frozen=True)
class Diagnosis:
    """What a machine offers.

    Attributes
    ----------
    consilience, python, system : str
    cores : int
        That this process may use.
    memory_total, memory_free : int or None
        Bytes; None where the system does not say.
    packages : dict of str to str or None
        Versions of what is always needed; None where it is missing.
    extras : dict of str to dict
        For each extra its packages and their versions; None where one is missing.
    partitioners : dict of str to bool
        Who can cut graphs and hypergraphs: METIS and Mt-KaHyPar.
    kernel_folder : str or None
        Where compiled kernels are kept; None where nothing can be written.
    torch, triton : str or None
        Versions.
    devices : tuple of dict
        Devices of torch beside the processor: ``name``, ``kind``, ``model``, ``memory_total``,
        ``memory_free``, ``capability``.
    timings : tuple of Timing
        Empty without the benchmark.
    advice : tuple of str
        What could be better here.
    """

    consilience: str
    python: str
    system: str
    cores: int
    memory_total: int | None
    memory_free: int | None
    packages: dict[str, str | None]
    extras: dict[str, dict[str, str | None]]
    partitioners: dict[str, bool]
    kernel_folder: str | None
    torch: str | None
    triton: str | None
    devices: tuple[dict[str, Any], ...]
    timings: tuple[Timing, ...]
    advice: tuple[str, ...]

    def to_dict(self) -> dict[str, Any]:
        """All of it as values that JSON can hold."""
        return asdict(self)


def doctor(*, benchmark: bool = True) -> Diagnosis:
    """What this machine offers, and how fast it is at our work.

    Parameters
    ----------
    benchmark : bool, default=True
        Whether to measure: k-means members, pair counts and weak clusterings, on one core, on all
        cores and on the first device of torch. About ten seconds where kernels are compiled, a
        minute at most.

    Returns
    -------
    Diagnosis

    Examples
    --------
    >>> machine = doctor(benchmark=False)
    >>> machine.cores >= 1, machine.packages["numpy"] is not None, machine.timings
    (True, True, ())
    """
    check_value("benchmark", benchmark, [Boolean()], owner="doctor")
    total, free = _memory()
    folder = _jit._folder()
    versions = {name: _version(name) for name in ("torch", "triton")}
    devices: tuple[dict[str, Any], ...] = ()
    if versions["torch"] is not None:
        from consilience.engines.torch import devices as devices_of_torch

        devices = tuple(devices_of_torch())
    cores = _cores()
    facts: dict[str, Any] = {
        "consilience": __version__,
        "python": f"{platform.python_implementation()} {platform.python_version()}",
        "system": platform.platform(),
        "cores": cores,
        "memory_total": total,
        "memory_free": free,
        "packages": {name: _version(name) for name in _CORE},
        "extras": _extras(),
        "partitioners": {
            "METIS": find_spec("pymetis") is not None,
            "Mt-KaHyPar": find_spec("mtkahypar") is not None,
        },
        "kernel_folder": None if folder is None else str(folder),
        **versions,
        "devices": devices,
    }
    timings = tuple(_measured(cores, devices)) if benchmark else ()
    return Diagnosis(**facts, timings=timings, advice=tuple(_advice(facts)))


def _cores() -> int:
    """Cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _memory() -> tuple[int | None, int | None]:
    """Bytes of memory in all, and free; None where the system does not say."""
    sizes: list[int | None] = []
    for name in ("SC_PHYS_PAGES", "SC_AVPHYS_PAGES"):
        try:
            sizes.append(os.sysconf(name) * os.sysconf("SC_PAGE_SIZE"))
        except (AttributeError, ValueError, OSError):
            sizes.append(None)
    return sizes[0], sizes[1]


def _version(package: str) -> str | None:
    """The version of a package; None where it cannot be imported."""
    if find_spec(_MODULES.get(package, package)) is None:
        return None
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return "unknown"


def _extras() -> dict[str, dict[str, str | None]]:
    """Versions of the packages of every extra."""
    try:
        required = metadata.requires("consilience") or []
    except metadata.PackageNotFoundError:  # run from its sources
        return {}
    extras: dict[str, dict[str, str | None]] = {}
    for line in required:
        extra = re.search(r"extra\s*==\s*['\"]([\w-]+)['\"]", line)
        name = re.match(r"[\w.-]+", line)
        if extra and name and extra[1] not in _NOT_OFFERED and name[0] != "consilience":
            extras.setdefault(extra[1], {})[name[0]] = _version(name[0])
    return extras


def _measured(cores: int, devices: tuple[dict[str, Any], ...]) -> list[Timing]:
    """Seconds of a few pieces of work, each on one core, on all of them, and on a device."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(20_000, 16)) + 4.0 * rng.integers(0, 5, 20_000)[:, None]
    small = KMeansEnsemble(50, (5, 20), random_state=0, max_iter=10).generate(X[:6_000])
    Z = X[:5_000, :4]

    def members(**where: Any) -> Any:
        return KMeansEnsemble(20, (10, 30), random_state=0, max_iter=20, **where).generate(X)

    def pairs(**where: Any) -> Any:
        return co_association(small, values="count", **where)

    def weak(**where: Any) -> Any:
        options: dict[str, Any] = {
            "gamma": 0.1,
            "scaling": "none",
            "threshold": "2gauss",
            "clusterer": None,
        }
        return EWOCS(n_repetitions=100, random_state=0, **options, **where).fit(Z)

    work: dict[str, Callable[..., Any]] = {
        "20 k-means members of 20,000 x 16": members,
        "pair counts of 6,000 objects, 50 members": pairs,
        "100 weak clusterings of 5,000 x 4": weak,
    }
    places: dict[str, dict[str, Any]] = {"one core": {"n_jobs": 1}}
    if cores > 1:
        places["all cores"] = {"n_jobs": cores}
    if devices:
        places[devices[0]["name"]] = {"device": devices[0]["name"]}
    timings: list[Timing] = []
    start = time.perf_counter()
    for name, call in work.items():
        for place, where in places.items():
            if time.perf_counter() - start > _LONG_ENOUGH:
                return timings
            call(**where)
            again = time.perf_counter()
            call(**where)
            timings.append(Timing(name, place, round(time.perf_counter() - again, 4)))
    return timings


def _advice(facts: dict[str, Any]) -> list[str]:
    """What could be better on this machine."""
    said = []
    if facts["kernel_folder"] is None:
        said.append(
            "Compiled kernels cannot be kept: every process compiles them again. Set "
            "NUMBA_CACHE_DIR to a folder that can be written."
        )
    if not any(facts["partitioners"].values()):
        said.append(
            "Neither METIS nor Mt-KaHyPar is here: graphs are cut by spectra. Install one with "
            "pip install 'consilience[graph]'."
        )
    if facts["devices"] and facts["triton"] is None and facts["devices"][0]["kind"] == "cuda":
        said.append(
            "There is a card but no Triton: passes go through plain torch, several times slower."
        )
    if facts["torch"] is not None and not facts["devices"] and sys.platform == "linux":
        said.append(
            f"torch {facts['torch']} sees no device beside the processor: 'device' is of no use "
            "here."
        )
    return said
