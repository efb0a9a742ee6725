"""The explorer in JupyterLab: what kernel and page tell each other, and exported notebooks."""

import json
import subprocess
import sys

import numpy as np
import pytest

pytest.importorskip("jupyterlab", reason="the job `browsers` of .ci/run installs JupyterLab")
from browsers import CHROMIUM
from explore.browsing import FLAGS, WEBGL, Opened, sync_api
from explore.lab import making, notebook, started

pytestmark = [
    pytest.mark.notebook,
    pytest.mark.skipif(CHROMIUM is None, reason="Chromium is not installed"),
]


@pytest.fixture(scope="module")
def browser():
    with sync_api.sync_playwright() as driver:
        made = driver.chromium.launch(executable_path=CHROMIUM, args=FLAGS + WEBGL)
        yield made
        made.close()


@pytest.fixture(scope="module")
def lab(tmp_path_factory):
    books = {"book": notebook(making("result"), "1 + 1")}
    with started(tmp_path_factory.mktemp("lab"), books) as found:
        yield found


@pytest.fixture(scope="module")
def page(browser, lab):
    one = Opened(browser, lab.url("book"), start=lab.run_all, blames=lambda url: "blob:" in url)
    yield one
    one.close()


def test_what_is_selected_where_a_result_shows_itself_is_an_array_in_python(page, lab, result):
    page.panel("groups").locator('tr[data-group="2"]').get_by_role("button", name="Select").click()
    page.of("state()")
    code = "chosen = result.explore().selected; print(type(chosen).__name__, chosen.tolist())"
    kind, _, rows = lab.python(code).partition(" ")
    assert kind == "ndarray"
    assert json.loads(rows) == np.flatnonzero(result.labels == 2).tolist()
    lab.python("result.explore().selected = [5, 3]")
    page.page.wait_for_function(
        "() => document.querySelector('[data-explored]').explorer"
        ".store.selection.value.rows.length === 2"
    )
    assert page.selected() == [3, 5]


def test_keys_pressed_in_the_explorer_are_not_the_notebooks(page):
    cells = page.page.locator(".jp-Cell").count()
    page.root.locator(".cs-above").focus()
    # In command mode: insert above and below, paste, cut, delete, and restart the kernel.
    for key in "abvxdd00l":
        page.page.keyboard.press(key)
    assert len(page.selected()) == 240
    assert page.page.locator(".jp-Cell").count() == cells
    assert page.page.locator(".jp-Dialog").count() == 0


def test_a_busy_kernel_does_not_keep_the_page_waiting(page):
    page.page.evaluate(
        "() => void jupyterapp.shell.currentWidget.sessionContext.session.kernel"
        ".requestExecute({code: 'import time; time.sleep(8)'})"
    )
    page.panel("groups").locator('tr[data-group="1"]').get_by_role("button", name="Select").click()
    page.panel("selection").locator("table").wait_for(timeout=7000)
    assert page.errors == []


def test_exported_notebooks_keep_a_page_that_works(page, lab, browser, result, tmp_path):
    lab.save(page.page)
    command = [sys.executable, "-m", "nbconvert", "--to", "html", "--output-dir", str(tmp_path)]
    path = lab.folder / "work" / "book.ipynb"
    subprocess.run([*command, str(path)], check=True, capture_output=True, timeout=120)
    works(browser, tmp_path / "book.html", result)


def test_notebooks_run_without_a_browser_keep_a_page_that_works(browser, result, tmp_path):
    (tmp_path / "run.ipynb").write_text(notebook(making("result")), encoding="utf-8")
    command = [
        *(sys.executable, "-m", "nbconvert", "--to", "html", "--execute"),
        "--ExecutePreprocessor.store_widget_state=False",
    ]
    subprocess.run(
        [*command, str(tmp_path / "run.ipynb")], check=True, capture_output=True, timeout=120
    )
    works(browser, tmp_path / "run.html", result)


def works(browser, path, result):
    """The page inside an exported one can be explored."""
    page = browser.new_page()
    page.goto(path.as_uri(), wait_until="commit")
    inside = page.frame_locator("iframe")
    inside.locator("[data-explored]").wait_for(timeout=60_000)
    inside.get_by_role("slider", name="Number of groups").fill("7")
    assert inside.locator('[data-panel="groups"] tbody tr').count() == 7
    inside.get_by_role("button", name="Back to the answer").click()
    inside.get_by_role("button", name="Select the objects of group 0").click()
    size = int((result.labels == 0).sum())
    assert inside.locator(".cs-count").inner_text() == f"{size} objects"
    inside.locator('[data-panel="selection"] table').wait_for()
    page.close()
