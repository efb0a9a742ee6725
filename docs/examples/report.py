"""Pictures of two reports: a consensus job and a minority job, as a browser shows them.

``python docs/examples/report.py`` draws them again; it needs Chromium and playwright.
"""

import shutil
import tempfile
from pathlib import Path

import numpy as np

from consilience.cli import main
from consilience.datasets import make_gaussians, make_toy_minority

IMAGES = Path(__file__).parent.parent / "images" / "reports"
ARGUMENTS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]


def write_tables(folder):
    """Write flowers.csv (four groups, two of which touch) and stars.csv (groups in noise)."""
    X, kinds = make_gaussians(400, 4, 5, separation=3.6, random_state=2)
    save(folder / "flowers.csv", X, np.array(list("abcd"))[kinds], "species")
    X, kinds = make_toy_minority(0.3, random_state=0)
    save(folder / "stars.csv", X, np.where(kinds > 0, "group", "field"), "kind")


def save(path, X, kinds, title):
    """Write a table with a name and a known kind for every object."""
    header = ["name", *"abcdefgh"[: X.shape[1]], title]
    rows = [
        [f"{path.stem[:-1]} {i}", *(f"{value:.3f}" for value in row), kind]
        for i, (row, kind) in enumerate(zip(X, kinds, strict=True))
    ]
    path.write_text("\n".join(",".join(row) for row in [header, *rows]) + "\n", encoding="utf-8")


def make_reports(folder):
    """Run both jobs; the two pages."""
    known = ["--id-column", "name", "--truth-column"]
    words = ["cluster", folder / "flowers.csv", *known, "species"]
    words += ["--out", folder / "consensus", "--quiet"]
    assert main([str(word) for word in words]) == 0
    words = ["minority", folder / "stars.csv", *known, "kind", "--background", "field"]
    words += ["--out", folder / "minority", "--quiet"]
    assert main([str(word) for word in words]) == 0
    return {name: folder / name / "report.html" for name in ("consensus", "minority")}


def photograph(pages, images=IMAGES):
    """Take the first screen of each page, and the figures below it."""
    from playwright.sync_api import sync_playwright

    images.mkdir(parents=True, exist_ok=True)
    shots = (("", 900, 1000, None), ("-figures", 900, 1700, "section-objects"))
    with sync_playwright() as play:
        browser = play.chromium.launch(
            executable_path=shutil.which("chromium"), args=ARGUMENTS, headless=True
        )
        for name, path in pages.items():
            for kind, width, height, below in shots:
                page = browser.new_page(viewport={"width": width, "height": height})
                page.goto(path.absolute().as_uri())
                page.wait_for_selector("[data-drawn]")
                if below:
                    page.evaluate(f"document.getElementById('{below}').scrollIntoView()")
                    page.wait_for_timeout(300)
                page.screenshot(path=images / f"{name}{kind}.png")
                page.close()
        browser.close()


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as place:
        write_tables(Path(place))
        photograph(make_reports(Path(place)))
