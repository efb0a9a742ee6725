"""Results to look at, made once."""

import pytest
from explore.made import made_minority, made_result, made_table, made_views


@pytest.fixture(scope="session")
def table():
    return made_table()


@pytest.fixture(scope="session")
def result():
    return made_result()


@pytest.fixture(scope="session")
def minority():
    return made_minority()


@pytest.fixture(scope="session")
def of_views():
    return made_views()
