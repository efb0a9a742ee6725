"""Settings and fixtures of all tests.

``CONSILIENCE_TEST_SEED`` replaces the default seeds by one of your choice;
``CONSILIENCE_TEST_PROFILE`` picks how many examples hypothesis tries: "default", "ci" (more),
"quick" (fewer) or "plain" (fewer still, for kernels as plain Python, where it is taken by itself).
"""

import os
import platform

# Before SciPy is imported: without it scikit-learn skips one of its checks of estimators.
os.environ["SCIPY_ARRAY_API"] = "1"

# Workers of the suite fill the cores; threads of their libraries' own would only be in the way.
os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

# Products of matrices round as the processor's kernels add; with those that every x86 processor of
# the last ten years runs, stored answers are the same on all of them.
if platform.machine() in ("x86_64", "AMD64"):
    os.environ.setdefault("OPENBLAS_CORETYPE", "Haswell")

# What is said in between, on slow machines, is not what tests of commands look at.
os.environ["CONSILIENCE_PROGRESS"] = "0"

import pytest
from hypothesis import HealthCheck, settings

_SEEDS = (
    [int(os.environ["CONSILIENCE_TEST_SEED"])] if "CONSILIENCE_TEST_SEED" in os.environ else [0, 42]
)

# The first example compiles kernels, so time limits of an example say nothing.
_COMMON = {"deadline": None, "suppress_health_check": [HealthCheck.too_slow]}
settings.register_profile("default", max_examples=40, **_COMMON)
settings.register_profile("quick", max_examples=20, **_COMMON)
settings.register_profile("plain", max_examples=15, **_COMMON)
settings.register_profile("ci", max_examples=300, print_blob=True, **_COMMON)
_plain = os.environ.get("NUMBA_DISABLE_JIT", "0") not in ("", "0")
settings.load_profile(
    os.environ.get("CONSILIENCE_TEST_PROFILE") or ("plain" if _plain else "default")
)


@pytest.fixture(params=_SEEDS, ids=lambda value: f"seed{value}")
def seed(request):
    """A seed that a run may vary: a test asserts what holds for every seed."""
    return request.param


@pytest.fixture(autouse=True, scope="session")
def few_references():
    """Tables without groups take most of the time of a fit: enough for the smallest p of 0.05."""
    from consilience.consensus import _clarity

    kept, _clarity.REFERENCES = _clarity.REFERENCES, 19
    yield kept
    _clarity.REFERENCES = kept


@pytest.fixture(autouse=True, scope="session")
def compiled_at_once():
    """Tests of kernels are tests of compiled code; ``kernels/test_plain.py`` is of the other."""
    from consilience.kernels._plain import Patience

    # Not for good (`over`): tests of the other way come in between.
    kept, Patience.lasts = Patience.lasts, lambda self, size: False
    yield
    Patience.lasts = kept
