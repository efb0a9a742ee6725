"""Pictures of the explorer, taken as a new user comes to it: a table, two commands, a browser.

``python docs/examples/explore.py`` takes them again; it needs Chromium and playwright.
"""

import re
import shutil
import subprocess
import sys
import tempfile
from contextlib import contextmanager
from pathlib import Path

DOCS = Path(__file__).parent.parent
sys.path.insert(0, str(DOCS / "_ext"))
from live import write_wines  # noqa: E402

IMAGES = DOCS / "images"
FLAGS = [
    *("--no-sandbox", "--disable-quic", "--no-first-run", "--disable-background-networking"),
    *("--use-gl=angle", "--use-angle=swiftshader", "--enable-unsafe-swiftshader"),
]


@contextmanager
def explored(folder):
    """The address that the last of the README's three commands prints."""
    command = [sys.executable, "-m", "consilience"]
    cluster = [*command, "cluster", "mine.csv", "--truth-column", "grower"]
    subprocess.run(cluster, cwd=folder, check=True, capture_output=True)
    words = [*command, "explore", "consilience-mine", "--no-browser"]
    server = subprocess.Popen(
        words, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    )
    try:
        for line in server.stdout:
            if found := re.search(r"http://\S+", line):
                yield found[0]
                break
    finally:
        server.terminate()
        server.wait(30)


def opened(browser, url, **options):
    """A page with the explorer, drawn."""
    page = browser.new_page(reduced_motion="reduce", **options)
    page.goto(url)
    page.wait_for_selector("[data-explored]")
    page.wait_for_timeout(500)
    return page


def lasso(page):
    """Draw around the objects between the groups, with Shift held."""
    box = page.locator(".cs-above").bounding_box()
    corners = [(0.25, 0.3), (0.8, 0.3), (0.8, 0.68), (0.25, 0.68), (0.25, 0.3)]
    points = [(box["x"] + u * box["width"], box["y"] + v * box["height"]) for u, v in corners]
    page.keyboard.down("Shift")
    page.mouse.move(*points[0])
    page.mouse.down()
    for point in points[1:]:
        page.mouse.move(*point, steps=4)
    page.mouse.up()
    page.keyboard.up("Shift")
    page.locator('[data-panel="selection"] table').wait_for()


def take(browser, url, images=IMAGES):
    """All pictures."""
    wide = {"viewport": {"width": 1200, "height": 1120}}
    page = opened(browser, url, **wide)
    page.screenshot(path=images / "explore-start.png")
    lasso(page)
    page.locator(".cs-controls").scroll_into_view_if_needed()
    page.screenshot(path=images / "explore-special.png")
    page.locator('[data-panel="torn"] tbody button').first.click()
    page.locator(".cs-votes").wait_for()
    page.locator('[data-panel="find"]').evaluate("one => one.scrollIntoView()")
    page.screenshot(path=images / "explore-why.png")
    page.get_by_label("Beside it").select_option(index=1)
    page.locator('[data-panel="compare"]').evaluate("one => one.scrollIntoView()")
    page.screenshot(path=images / "explore-beside.png")
    page.close()
    small = {"viewport": {"width": 390, "height": 844}, "has_touch": True, "color_scheme": "dark"}
    page = opened(browser, url, **small)
    page.screenshot(path=images / "explore-phone.png")
    page.close()


def main():
    """As the command."""
    from playwright.sync_api import sync_playwright

    with tempfile.TemporaryDirectory() as place, sync_playwright() as driver:
        write_wines(Path(place) / "mine.csv")
        browser = driver.chromium.launch(executable_path=shutil.which("chromium"), args=FLAGS)
        with explored(Path(place)) as url:
            take(browser, url)
        browser.close()


if __name__ == "__main__":
    main()
