"""A browser for the explorer's tests: headless Chromium with software WebGL, or without any."""

import pytest

sync_api = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")

FLAGS = [
    *("--headless", "--no-sandbox", "--disable-quic", "--no-first-run", "--disable-sync"),
    *("--disable-background-networking", "--disable-component-update"),
]
WEBGL = ["--use-gl=angle", "--use-angle=swiftshader", "--enable-unsafe-swiftshader"]
DESKTOP = {"viewport": {"width": 1280, "height": 900}, "reduced_motion": "reduce"}
PHONE = {"viewport": {"width": 360, "height": 740}, "has_touch": True}
# The explorer of the page, for looking at what it holds.
EXPLORER = "document.querySelector('[data-explored]').explorer"
FRAMES = "() => new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))"


class Opened:
    """A page with an explorer, what it asked for and complained about.

    ``start`` brings the explorer about where it does not come by itself; ``blames`` says which
    complaints count where the page is not all ours.
    """

    def __init__(self, browser, url, *, start=None, blames=None, **options):
        self.context = browser.new_context(accept_downloads=True, **(DESKTOP | options))
        self.page = self.context.new_page()
        self.asked, self.errors = [], []
        self.blames = blames or (lambda address: True)
        self.page.on("request", lambda request: self.asked.append(request.url))
        self.page.on("console", self._heard)
        self.page.on("pageerror", lambda error: self.errors.append(str(error)))
        self.page.goto(url)
        if start is not None:
            start(self.page)
        self.page.wait_for_selector("[data-explored]", timeout=120_000)
        # A report has tables and fields beside the explorer's.
        self.root = self.page.locator("[data-explored]")

    def _heard(self, message):
        # What Chromium says of software WebGL, and of pixels that only tests read.
        known = ("GPU stall", "willReadFrequently", "software WebGL", "GroupMarkerNotSet")
        serious = message.type in ("error", "warning") and self.blames(message.location["url"])
        if serious and not any(one in message.text for one in known):
            self.errors.append(message.text)

    def of(self, script):
        """A value of the explorer."""
        self.page.evaluate(FRAMES)
        return self.page.evaluate(f"() => {EXPLORER}.{script}")

    def panel(self, name):
        return self.root.locator(f'[data-panel="{name}"]')

    def numbers(self, script):
        """An array of the explorer, as a list."""
        self.page.evaluate(FRAMES)
        return self.page.evaluate(f"() => Array.from({EXPLORER}.{script})")

    def selected(self):
        return self.numbers("store.selection.value.rows")

    def groups(self):
        return self.numbers("store.grouping.value.labels()")

    def place(self, row):
        """Where an object is on the page."""
        box = self.page.locator(".cs-above").bounding_box()
        u, v = self.numbers(f"map.places().slice({2 * row}, {2 * row + 2})")
        left, top, span = (self.of(f"map.zoom.view.{name}") for name in ("left", "top", "span"))
        return (
            box["x"] + (u - left) / span * box["width"],
            box["y"] + (v - top) / span * box["height"],
        )

    def lasso(self, corners):
        """Draw around with Shift held; corners as shares of the map."""
        box = self.page.locator(".cs-above").bounding_box()
        points = [(box["x"] + u * box["width"], box["y"] + v * box["height"]) for u, v in corners]
        self.page.keyboard.down("Shift")
        self.page.mouse.move(*points[0])
        self.page.mouse.down()
        for point in [*points[1:], points[0]]:
            self.page.mouse.move(*point, steps=4)
        self.page.mouse.up()
        self.page.keyboard.up("Shift")

    def download(self, click):
        with self.page.expect_download() as waiting:
            click()
        return waiting.value

    def reset(self):
        """As it was first shown."""
        self.page.evaluate(
            f"""() => {{
              const {{store, map}} = {EXPLORER};
              store.steps.set([{{op: 'base', answer: 0, k: store.model.cuts.default}}]);
              store.redo.set([]); store.select([], null); store.focus.set(-1);
              store.map.set(store.model.maps.length > 1 ? 1 : 0);
              store.colour.set('groups'); store.compare.set(0); map.zoom.reset();
              document.querySelector('.cs-map').scrollIntoView({{block: 'center'}});
            }}"""
        )

    def close(self):
        self.context.close()
