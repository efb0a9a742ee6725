"""A small table with identifiers and known groups, as a file and as it is read."""

import numpy as np
import pytest

from consilience.datasets import read_table


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "100")
    return tmp_path


@pytest.fixture
def numbers():
    """Three groups of 25 objects in 3 columns of different scales, and one constant column."""
    rng = np.random.default_rng(3)
    centres = np.array([[0, 0, 0], [6, 0, 200], [0, 6, -200]])
    X = np.concatenate([rng.normal(c, (1, 1, 30), (25, 3)) for c in centres]).round(4)
    return np.column_stack([X, np.full(75, 7.0)])


@pytest.fixture
def file(folder, numbers):
    kinds = np.repeat(["a", "b", "c"], 25)
    lines = [
        f"thing <{i}>,{','.join(map(str, row))},{kind}"
        for i, (row, kind) in enumerate(zip(numbers, kinds, strict=True))
    ]
    path = folder / "things.csv"
    path.write_text("\n".join(["name,x,y & z,w,same,kind", *lines]) + "\n")
    return path


@pytest.fixture
def table(file):
    return read_table(file, id_column="name", truth_column="kind")


class Seen:
    """A callback that keeps the names of the tasks of the job itself."""

    def __init__(self):
        self.begun, self.ended, self.closed = [], [], 0

    def setup(self, estimator, context):
        self.job = context.task_name

    def on_fit_task_begin(self, estimator, context):
        self.begun.append(context.task_name)

    def on_fit_task_end(self, estimator, context):
        self.ended.append(context.task_name)

    def teardown(self, estimator, context):
        self.closed += 1


class StopAt(Seen):
    """One that looks into every stage, and raises at the task of that name and number."""

    max_propagation_depth = None

    def __init__(self, name, number, error):
        super().__init__()
        self.name, self.number, self.error = name, number, error

    def on_fit_task_end(self, estimator, context):
        super().on_fit_task_end(estimator, context)
        if self.ended.count(self.name) == self.number:
            raise self.error


@pytest.fixture
def seen():
    return Seen()


@pytest.fixture
def stop_at():
    return StopAt
