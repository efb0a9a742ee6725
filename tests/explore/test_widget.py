"""The explorer in a notebook: what the kernel's side of it does."""

import re

import numpy as np
import pytest

pytest.importorskip("anywidget")

from consilience.errors import MissingPackageError
from consilience.explore import special, view, why
from consilience.explore._wire import unpack


@pytest.fixture
def shown(result):
    from consilience.explore._widget import widget

    made = widget(view(result))
    yield made
    made.close()


def test_it_holds_the_view(shown, result):
    np.testing.assert_array_equal(unpack(shown.data)[1]["answer0"], result.labels)
    assert "export" in str(shown._esm)


def test_selections_come_back_as_arrays(shown):
    # As a message of the page sets it.
    shown.set_state({"chosen": memoryview(np.array([3, 7], "<u4").tobytes())})
    np.testing.assert_array_equal(shown.selected, [3, 7])
    shown.selected = [9, 2, 2]
    np.testing.assert_array_equal(shown.selected, [2, 9])


def test_questions_of_the_page_are_answered(shown):
    said = []
    shown.send = lambda content, buffers=None: said.append((content, buffers))
    rows = np.arange(30, dtype="<u4").tobytes()
    shown._asked(shown, {"ask": "special", "number": 1}, [rows])
    assert said[-1][0] == {"to": 1, "said": special(shown.view, np.arange(30))}
    shown._asked(shown, {"ask": "why", "row": 5, "k": 3, "number": 2}, [])
    assert said[-1][0]["said"] == why(shown.view, 5, 3)
    shown._asked(shown, {"ask": "member", "j": 1, "number": 3}, [])
    values = unpack(said[-1][1][0])[1]["values"]
    np.testing.assert_array_equal(values, shown.view.ensemble.members[1])
    for wrong in ({"ask": "files"}, {"ask": "why", "row": 999}, {"ask": "column", "j": 99}):
        shown._asked(shown, {**wrong, "number": 4}, [])
        assert "error" in said[-1][0]


def test_exported_notebooks_keep_a_page_that_works(shown):
    bundle = shown._repr_mimebundle_()
    bundle = bundle[0] if isinstance(bundle, tuple) else bundle
    assert "application/vnd.jupyter.widget-view+json" in bundle
    page = bundle["text/html"]
    assert page.startswith('<iframe srcdoc="')
    assert 'sandbox="allow-scripts' in page
    inside = re.search(r'srcdoc="([^"]*)"', page)[1]
    assert "consilience-view" in inside


@pytest.fixture
def kernel(monkeypatch):
    monkeypatch.setattr("consilience.explore._door.in_notebook", lambda: True)


def test_a_result_in_a_notebook_is_shown_by_the_widget_it_gives(result, kernel):
    found = result.explore()
    assert type(found).__name__ == "Explorer"
    bundle, _ = result._repr_mimebundle_()
    shown = bundle["application/vnd.jupyter.widget-view+json"]["model_id"]
    assert (shown, result.explore()) == (found.model_id, found)
    assert bundle["text/html"].startswith("<iframe srcdoc=")
    assert bundle["text/plain"] == repr(result)
    found.close()
    again = result.explore()
    assert again is not found
    again.close()


def test_elsewhere_a_result_is_a_table(result, kernel, monkeypatch):
    monkeypatch.setattr("consilience.explore._door._MOST_BY_ITSELF", 239)
    assert result._repr_mimebundle_() is None
    monkeypatch.undo()
    assert result._repr_mimebundle_() is None  # no kernel
    assert "<table>" in result._repr_html_()


def test_without_its_package_a_result_is_a_table(result, kernel, monkeypatch):
    monkeypatch.setattr("consilience.explore._widget._MADE", {})
    monkeypatch.setattr("consilience.explore._widget._class", missing)
    assert result._repr_mimebundle_() is None


def missing():
    raise MissingPackageError("anywidget is not installed")
