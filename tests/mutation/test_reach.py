"""Tests are chosen by the lines they run."""

import json

import pytest
from mutation.reach import Reach

MAP = {
    "tests": [["tests/a.py::slow", 2.0], ["tests/a.py::quick", 0.1], ["tests/a.py::other", 0.2]],
    "lines": {"src/m.py": {"x = 1": "1", "f()": "3", "y = 2": "2"}},
}


@pytest.fixture
def reach(tmp_path):
    (tmp_path / "a.json").write_text(json.dumps(MAP))
    return Reach(tmp_path)


def test_those_that_run_the_line_come_first_then_their_neighbours(reach):
    assert reach.files == {"tests/a.py"}
    found = [name.split("::")[1] for name, _ in reach.tests("src/m.py", "x = 1", "f")]
    assert found == ["slow", "quick", "other"]
    found = [name.split("::")[1] for name, _ in reach.tests("src/m.py", "y = 2", "f")]
    assert found == ["quick", "other", "slow"]


def test_a_line_that_nobody_ran_goes_by_its_function(reach):
    found = [name.split("::")[1] for name, _ in reach.tests("src/m.py", "z = 3", "f")]
    assert found == ["quick", "slow", "other"]
    assert reach.tests("src/m.py", "z = 3", "g") == []
    assert reach.tests("src/n.py", "x = 1", "f") == []


def test_lines_of_one_text_in_two_functions_are_told_apart(tmp_path):
    lines = {"return None": "7", "f()": "1", "g()": "6"}
    (tmp_path / "a.json").write_text(json.dumps(MAP | {"lines": {"src/m.py": lines}}))
    both = Reach(tmp_path)
    for function, near in (("f", ["slow"]), ("g", ["quick", "other"])):
        found = [name.split("::")[1] for name, _ in both.tests("src/m.py", "return None", function)]
        assert found[: len(near)] == near
        assert len(found) == 3


def test_files_about_the_module_come_before_quicker_ones(tmp_path):
    (tmp_path / "a.json").write_text(json.dumps(MAP))
    other = MAP | {"tests": [["tests/b.py::slowest", 9.0]], "lines": {"src/m.py": {"x = 1": "1"}}}
    (tmp_path / "b.json").write_text(json.dumps(other))
    found = Reach(tmp_path).tests("src/m.py", "x = 1", "", ["tests/b.py"])
    assert [name.split("::")[1] for name, _ in found[:2]] == ["slowest", "slow"]
