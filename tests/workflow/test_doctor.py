"""What `doctor` says of the machine, and the command that prints it."""

import json
import os
from importlib import metadata

import numpy
import pytest

from consilience import __version__
from consilience.cli import main
from consilience.errors import InvalidParameterError
from consilience.workflow import doctor
from consilience.workflow import doctor as module_function


def test_what_is_here_is_told():
    found = doctor(benchmark=False)
    assert found.consilience == __version__
    assert 1 <= found.cores <= (os.cpu_count() or 1)
    assert found.packages["numpy"] == numpy.__version__
    assert found.memory_total is None or 0 < found.memory_free <= found.memory_total
    assert found.timings == ()
    assert found.extras["store"].keys() == {"pyarrow", "zarr"}
    assert "pytest" not in str(found.extras)
    assert found.partitioners.keys() == {"METIS", "Mt-KaHyPar"}
    assert os.path.isdir(found.kernel_folder)


def test_packages_are_found_by_the_name_they_are_imported_by():
    offered: dict = {}
    for extra in doctor(benchmark=False).extras.values():
        offered |= extra
    here = {one.metadata["Name"].lower().replace("_", "-") for one in metadata.distributions()}
    for name, version in offered.items():
        assert (version is not None) == (name in here), name


def test_a_folder_that_cannot_be_written_is_advised_of(monkeypatch):
    monkeypatch.setattr("consilience.kernels._jit._folder", lambda: None)
    found = module_function(benchmark=False)
    assert found.kernel_folder is None
    assert any("NUMBA_CACHE_DIR" in words for words in found.advice)


def test_every_piece_of_work_is_measured_once_a_place(monkeypatch):
    from consilience.workflow.doctor import _measured

    module = __import__("consilience.workflow.doctor", fromlist=["_LONG_ENOUGH"])
    monkeypatch.setattr(module, "_LONG_ENOUGH", 0.0)  # none is begun after the first moment
    assert _measured(2, ()) == []


def test_measuring_is_on_or_off():
    with pytest.raises(InvalidParameterError, match="benchmark"):
        doctor(benchmark="quick")


def test_the_command_prints_for_people_and_for_machines(capsys):
    assert main(["doctor", "--no-benchmark", "--json"]) == 0
    facts = json.loads(capsys.readouterr().out)
    assert facts["packages"]["numpy"] == numpy.__version__
    assert main(["doctor", "--no-benchmark"]) == 0
    text = capsys.readouterr().out
    assert "cores" in text
    assert "numpy" in text
