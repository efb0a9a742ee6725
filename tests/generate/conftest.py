"""Data of three groups, for runs that are kept."""

import pytest
from generate.run_folders import make_data


@pytest.fixture
def X():
    return make_data()
