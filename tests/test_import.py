"""Importing the package is quick, loads nothing heavy, and changes nothing."""

import subprocess
import sys

import pytest

import consilience

HEAVY = ["numba", "sklearn", "scipy", "pandas", "polars", "matplotlib", "pyarrow", "joblib"]
CLUSTER = ["dask", "distributed"]


def run(code):
    """What a fresh interpreter prints."""
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=120
    )
    return done.stdout.split()


def cpu_seconds(statement):
    """CPU time of one import in a fresh interpreter, best of several."""
    code = f"import time; t = time.process_time(); {statement}; print(time.process_time() - t)"
    return min(float(run(code)[0]) for _ in range(5))


def test_import_loads_nothing_heavy():
    code = f"import sys, consilience; print(*[m for m in {HEAVY + CLUSTER} if m in sys.modules])"
    assert run(code) == []


def test_work_in_memory_never_loads_dask():
    code = f"""
import sys, numpy as np, consilience as cs
cs.generate.KMeansEnsemble(2, 2, random_state=0).generate(np.eye(4))
print(*[m for m in {CLUSTER} if m in sys.modules])
"""
    assert run(code) == []


def test_import_takes_little_more_than_numpy():
    # CPU time, not wall time, so that a busy machine does not matter.
    assert cpu_seconds("import numpy, consilience") <= cpu_seconds("import numpy") + 0.1


def test_import_changes_nothing_global():
    code = """
import locale, os, warnings
import numpy as np
def state():
    return (np.geterr(), np.get_printoptions(), warnings.filters[:], dict(os.environ),
            locale.setlocale(locale.LC_ALL), np.random.get_state()[1].tolist())
import numba, scipy, sklearn.metrics, joblib  # their own doings are not ours
before = state()
import consilience.metrics, consilience.ensemble, consilience.evidence.order
print(*[a == b for a, b in zip(before, state())])
"""
    assert run(code) == ["True"] * 6


def test_every_public_name_loads():
    for name in consilience.__all__:
        assert getattr(consilience, name) is not None
    assert dir(consilience) == sorted(consilience.__all__)


def test_unknown_names_are_attribute_errors():
    with pytest.raises(AttributeError, match="module 'consilience' has no attribute 'nothing'"):
        _ = consilience.nothing
