"""What the tests say of a mutant."""

import json

import pytest
from mutation.forked import Forge, _Listed

GONE, KEPT = "tests/a.py::gone", "tests/a.py::kept"


@pytest.fixture
def forge(tmp_path, monkeypatch):
    """One whose pytest refuses names that are gone, and whose suite notices by what is kept."""
    made = Forge.__new__(Forge)
    made._told, made._sound, made._copy = tmp_path / "told.json", {KEPT: True}, tmp_path

    def run(source, task, limit):
        made._told.write_text(json.dumps([KEPT]))
        return 0, [KEPT]

    def asked(source, names, limit):
        return (4, "") if GONE in names else (1, KEPT) if KEPT in names else (0, "")

    monkeypatch.setattr(made, "_run", run)
    monkeypatch.setattr(made, "_pytest", asked)
    return made


def test_a_test_that_is_gone_does_not_hide_what_the_others_notice(forge, capsys):
    assert forge._by([GONE, KEPT], 1.0) == ("caught", KEPT)
    assert "left out, 1 that are gone, such as tests/a.py::gone" in capsys.readouterr().out


def test_where_all_are_gone_nobody_noticed(forge):
    assert forge._by([GONE], 1.0) == ("survived", "")


def test_names_are_told_as_they_are_collected(tmp_path):
    class Session:
        items = (type("Item", (), {"nodeid": KEPT}),)

    _Listed(tmp_path / "told.json").pytest_collection_finish(Session())
    assert json.loads((tmp_path / "told.json").read_text()) == [KEPT]
