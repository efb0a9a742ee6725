"""Pages that hold their data: the report with the explorer inside, and one without any object."""

import base64
import importlib
import json
import re
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("jinja2")

from consilience.errors import InvalidInputError
from consilience.explore import static_page, view
from consilience.explore._page import thin
from consilience.explore._wire import unpack
from consilience.report import render, without_objects


def held(page):
    """The view inside a page."""
    text = re.search(r'id="consilience-view">([^<]*)<', page)[1]
    return unpack(base64.b64decode(text))


def test_a_page_holds_the_numbers_of_its_view(result):
    facts, arrays = held(static_page(view(result)))
    np.testing.assert_array_equal(arrays["answer0"], result.labels)
    assert facts["live"] is False


def test_pages_ask_nothing_of_the_network(result):
    policy = re.search(r'Security-Policy" content="([^"]*)"', static_page(view(result)))[1]
    assert "connect-src" not in policy
    assert "default-src &#x27;none&#x27;" in policy


def test_many_objects_are_thinned_with_a_share_of_every_group(result):
    few = thin(view(result), 40)
    assert 30 < few.n_objects <= 40
    assert few.n_all == 240
    assert set(few.labels.tolist()) == set(result.labels.tolist())


def test_a_report_can_be_explored(result, tmp_path):
    result.report(tmp_path / "report.html")
    page = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert '<section id="explore">' in page
    np.testing.assert_array_equal(held(page)[1]["answer0"], result.labels)


def test_a_report_without_data_holds_no_objects_values(result, table, tmp_path):
    result.report(tmp_path / "report.html", data=False)
    page = (tmp_path / "report.html").read_text(encoding="utf-8")
    body = page[: page.index('<script type="module">')]
    body = body[: body.index("<style>")] + body[body.index("</style>") :]
    assert "consilience-view" not in page.partition('<script type="module">')[0]
    assert "object 17" not in body
    summary = json.loads(re.search(r'id="consilience-summary">(.*?)</script>', page)[1])
    assert summary["objects"]["columns"] == []
    numbers = set(re.findall(r"-?\d+\.\d{4,}", body))
    X, _ = table
    for value in X[:, :2].ravel():
        assert not numbers & {repr(float(value)), *(f"{value:.{d}f}" for d in (4, 5, 6))}
    # What is said of whole groups is still there.
    assert [row["size"] for row in summary["clusters"]] == result.sizes
    assert "profile" in [section["id"] for section in summary["sections"]]


def test_small_groups_can_be_passed_on_without_their_scores(minority):
    page = without_objects(minority.page())
    assert "scores" not in [section["id"] for section in page["sections"]]
    render(page)


def test_only_base64_is_put_into_a_page(result):
    with pytest.raises(InvalidInputError, match="base64"):
        render(result.page(), view="</script><script>alert(1)</script>")


def test_the_sites_example_can_be_explored(monkeypatch, tmp_path):
    monkeypatch.syspath_prepend(Path(__file__).parents[2] / "docs" / "_ext")
    live = importlib.import_module("live")

    class App:
        outdir = tmp_path
        builder = type("Builder", (), {"format": "html"})

    live._write(App, None)
    facts, arrays = held((tmp_path / live.NAME).read_text(encoding="utf-8"))
    assert (facts["n"], len(facts["columns"]), facts["live"]) == (178, 13, False)
    assert arrays["answer0"].max() == 2
    page = (Path(__file__).parents[2] / "docs" / "explore.md").read_text(encoding="utf-8")
    assert f'href="{live.NAME}"' in page


def test_texts_of_the_explorer_are_in_one_file():
    sources = Path(__file__).parents[2] / "frontend" / "src"
    # What people read begins with a capital letter, or is an attribute that is read out.
    words = re.compile(
        r"""(?:aria-label|title|placeholder)"?: ["`][A-Za-z]|[,(] ["`][A-Z][a-z]+[ .…]"""
    )
    for path in [*(sources / "explore").glob("*.js"), sources / "zoom.js"]:
        lines = path.read_text(encoding="utf-8").splitlines()
        assert [line for line in lines if words.search(line) and "Error(" not in line] == [], path
