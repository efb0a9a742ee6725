"""The explorer in Firefox: that it is drawn, can be used, and says what Python says."""

import numpy as np
import pytest
from browsers import FIREFOX
from explore.firefox import started

from consilience.explore import serve, special, view

pytestmark = pytest.mark.skipif(FIREFOX is None, reason="Firefox is not installed")


@pytest.fixture(scope="module")
def firefox(tmp_path_factory):
    with started(tmp_path_factory.mktemp("profile")) as window:
        yield window


@pytest.mark.parametrize("host", ["server", "report"])
def test_firefox_shows_and_explores(firefox, host, result, tmp_path):
    shown = view(result)
    served = None
    if host == "server":
        served = serve(shown)
        firefox.open(served.url)
    else:
        result.report(tmp_path / "report.html")
        firefox.open((tmp_path / "report.html").as_uri())
        firefox.of("document.querySelector('.cs-start').click()")
    firefox.until("return Boolean(root)")
    assert firefox.of("return explorer.map.renderer.kind") in ("webgl", "canvas")
    firefox.of(
        "const slider = root.querySelector('.cs-slider'); slider.value = '7';"
        "slider.dispatchEvent(new Event('input', {bubbles: true}));"
    )
    groups = firefox.of("return Array.from(explorer.store.grouping.value.labels())")
    np.testing.assert_array_equal(groups, shown.cuts.labels(7))
    left, top, width, height = firefox.of(
        "const map = root.querySelector('.cs-above'); "
        "map.scrollIntoView({block: 'center', behavior: 'instant'});"
        "const box = map.getBoundingClientRect();"
        "return [box.x, box.y, box.width, box.height]"
    )
    corners = [(0.02, 0.02), (0.98, 0.02), (0.98, 0.6), (0.5, 0.6), (0.02, 0.6)]
    firefox.drag([(left + u * width, top + v * height) for u, v in corners])
    rows = firefox.until(
        "const rows = Array.from(explorer.store.selection.value.rows);"
        "return rows.length ? rows : null"
    )
    firefox.until("return root.querySelector('[data-panel=selection] tbody tr')")
    lines = firefox.of(
        "return Array.from(root.querySelectorAll('[data-panel=selection] tbody tr'),"
        " one => one.textContent)"
    )
    for text, line in zip(lines, special(shown, np.array(rows)), strict=True):
        assert line["column"] in text
        assert f"{line['effect']:.2f}" in text
    assert firefox.of("return document.querySelectorAll('.cs-failed').length") == 0
    if served is not None:
        served.stop()
