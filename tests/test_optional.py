"""Without an optional package: the rest works, and the error says what to install."""

import subprocess
import sys

import pytest

from consilience._optional import optional
from consilience.ensemble import Ensemble
from consilience.errors import MissingPackageError

EXTRAS = ["pyarrow", "zarr", "matplotlib", "jinja2", "pandas", "polars", "cyclopts", "mtkahypar"]


@pytest.fixture
def without(monkeypatch):
    """A function that makes packages look as if they were not installed."""

    def hide(*packages):
        for name in list(sys.modules):
            if name.partition(".")[0] in packages:
                monkeypatch.setitem(sys.modules, name, None)
        for package in packages:
            monkeypatch.setitem(sys.modules, package, None)

    return hide


def test_optional_imports_what_is_there():
    assert optional("json.decoder", extra=None, what="this").__name__ == "json.decoder"


def test_optional_names_feature_package_and_extra():
    with pytest.raises(MissingPackageError) as caught:
        optional("no_such_package.part", extra="plot", what="plot_evidence")
    assert str(caught.value) == (
        "plot_evidence needs the package 'no_such_package', which is not installed. "
        "Install it with:\npip install 'consilience[plot]'"
    )
    with pytest.raises(ImportError, match=r"pip install no_such_package$"):
        optional("no_such_package", extra=None, what="this")


def test_parquet_without_pyarrow(without, tmp_path):
    ensemble = Ensemble([[0, 1]])
    path = tmp_path / "e.parquet"
    ensemble.save(path)
    without("pyarrow")
    wanted = r"Ensemble.save to '.parquet' needs the package 'pyarrow'.*\n.*consilience\[store\]"
    with pytest.raises(MissingPackageError, match=wanted):
        ensemble.save(tmp_path / "f.parquet")
    wanted = r"Ensemble.load of '.parquet' needs the package 'pyarrow'.*\n.*consilience\[store\]"
    with pytest.raises(MissingPackageError, match=wanted):
        Ensemble.load(path)
    assert [p.name for p in tmp_path.iterdir()] == ["e.parquet"]
    ensemble.save(tmp_path / "e.npz")
    assert Ensemble.load(tmp_path / "e.npz").n_objects == 2


def test_frames_without_pandas_and_polars(without):
    ensemble = Ensemble([[0, 1]])
    without("pandas", "polars")
    with pytest.raises(MissingPackageError, match=r"to_pandas needs .*\npip install pandas$"):
        ensemble.to_pandas()
    with pytest.raises(MissingPackageError, match=r"to_polars needs .*\npip install polars$"):
        ensemble.to_polars()


def test_the_core_works_without_any_optional_package(tmp_path):
    code = f"""
import sys
class Blocker:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in {EXTRAS}:
            raise ModuleNotFoundError(f"No module named {{name!r}}", name=name)
sys.meta_path.insert(0, Blocker())
import consilience as cs
from consilience.evidence.order import vat
ensemble = cs.Ensemble([["a", "a", "b"], [0, None, 1]])
ensemble.save({str(tmp_path / "e.npz")!r})
again = cs.Ensemble.load({str(tmp_path / "e.npz")!r})
print(again.n_objects, cs.metrics.nmi([0, 0, 1], again[0]), len(vat(again).order))
"""
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=False, timeout=300
    )
    assert done.stdout.split() == ["3", "1.0", "3"], done.stderr
