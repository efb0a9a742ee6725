"""What checks the checks: lower bounds and test profiles are read, not only written down."""

import importlib.util
import os
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]


def lowest():
    spec = importlib.util.spec_from_file_location("lowest", ROOT / ".ci/lowest.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.lowest


def test_lowest_versions_are_those_of_the_project_and_its_extras():
    project = {
        "name": "own",
        "dependencies": ["a>=1.2", "b>=2025.2.1; sys_platform != 'win32'"],
        "optional-dependencies": {
            "x": ["c>=3"],
            "all": ["own[x,all]", "d-e>=0.4.post1"],
            "bad": ["f"],
        },
    }
    base = ["a==1.2", "b==2025.2.1; sys_platform != 'win32'"]
    assert lowest()(project, []) == base
    assert sorted(lowest()(project, ["all"])) == [*base, "c==3", "d-e==0.4.post1"]
    with pytest.raises(SystemExit, match="no lowest version of 'f'"):
        lowest()(project, ["bad"])


def test_every_package_of_ours_has_a_lowest_version():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    found = lowest()(project, ["dev"])
    metis = "pymetis==2025.2.1; sys_platform != 'win32'"
    assert {"numpy==2.2", "scipy==1.15", "numba==0.61.2", "zarr==3.0.8", metis} <= set(found)


@pytest.mark.parametrize(
    ("variables", "examples"),
    [
        ({}, 40),
        ({"NUMBA_DISABLE_JIT": "1"}, 15),
        ({"CONSILIENCE_TEST_PROFILE": "plain"}, 15),
        ({"CONSILIENCE_TEST_PROFILE": "ci", "NUMBA_DISABLE_JIT": "1"}, 300),
    ],
)
def test_the_profile_is_read(variables, examples):
    code = "import conftest; from hypothesis import settings; print(settings.default.max_examples)"
    drop = ("CONSILIENCE_TEST_PROFILE", "NUMBA_DISABLE_JIT")
    environment = {name: value for name, value in os.environ.items() if name not in drop}
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=ROOT / "tests",
        env=environment | variables,
        capture_output=True,
        text=True,
        check=True,
    )
    assert int(done.stdout) == examples
