"""The explorer's map in software WebGL: time to the first picture, of a frame, of our script.

    python benchmarks/explore.py           # 10,000, 100,000 and 1,000,000 objects
    python benchmarks/explore.py --regl    # beside bare regl-scatterplot, in the same run

``--regl`` needs node, and ``npm install --no-save regl-scatterplot`` in frontend/.
Frames of both are turns of panning, each until the last pixel is there (``readPixels``).
"""

import argparse
import json
import shutil
import statistics
import subprocess
import tempfile
import time
from pathlib import Path

import numpy as np
from playwright.sync_api import sync_playwright

import consilience as cs
from consilience.explain._columns import columns_of
from consilience.explore import serve
from consilience.explore._cuts import cuts_of
from consilience.explore._maps import Map, map_of_evidence
from consilience.explore._pairs import pairs_of
from consilience.explore._view import Answer, View

ROOT = Path(__file__).parents[1]
FLAGS = [
    *("--headless", "--no-sandbox", "--disable-quic", "--no-first-run", "--use-gl=angle"),
    *("--use-angle=swiftshader", "--enable-unsafe-swiftshader", "--disable-background-networking"),
]
FRAMES = 40
# Time every frame's callback until its pixels are there; `script` leaves the pixels out.
MEASURE = """([frames, regl]) => new Promise(done => {
  const raw = window.requestAnimationFrame.bind(window);
  const found = {script: [], whole: []};
  const canvas = document.querySelector(regl ? 'canvas' : '.cs-points');
  const gl = canvas.getContext('webgl2') ?? canvas.getContext('webgl');
  const pixel = new Uint8Array(4);
  window.requestAnimationFrame = work => raw(time => {
    const start = performance.now();
    work(time);
    found.script.push(performance.now() - start);
    gl.readPixels(0, 0, 1, 1, gl.RGBA, gl.UNSIGNED_BYTE, pixel);
    found.whole.push(performance.now() - start);
  });
  const move = regl
    ? i => window.scatterplot.lookAt([0.2 * Math.sin(i), 0.2 * Math.cos(i), 0.8, 0])
    : i => { const {zoom} = document.getElementById('consilience-explore').explorer.map;
             if (!i) zoom.zoomAt(1.25); else zoom.pan(0.1 * Math.sin(i), 0.1 * Math.cos(i)); };
  let i = 0;
  const turn = () => {
    if (i++ >= frames) { window.requestAnimationFrame = raw; return done(found); }
    move(i - 1);
    setTimeout(turn, 5 + (found.whole.at(-1) ?? 0));
  };
  turn();
})"""


def made_view(n, seed=0):
    """A view of n objects in eight groups, by ten members, without a clustering of them."""
    rng = np.random.default_rng(seed)
    labels = rng.integers(0, 8, n).astype(np.int32)
    X = rng.normal(size=(n, 2)) + 6 * np.stack([np.cos(labels * 0.785), np.sin(labels * 0.785)], 1)
    members = [np.where(rng.random(n) < 0.1, rng.integers(0, 8, n), labels) for _ in range(10)]
    ensemble = cs.Ensemble(np.array(members, np.int8).T)
    cuts = cuts_of(ensemble, labels, X)
    maps = (
        Map("columns", "", ("x", "y"), X.astype(np.float32)),
        map_of_evidence(ensemble, labels),
    )
    return View(
        kind="consensus",
        title=f"{n:,} objects",
        n_objects=n,
        n_all=n,
        objects=np.arange(n),
        ids=None,
        answers=(Answer("made", "", labels),),
        names=(),
        cuts=cuts,
        confidence=rng.random(n),
        runner_up=None,
        columns=columns_of(X, n),
        maps=maps,
        ensemble=ensemble,
        pairs=pairs_of(ensemble, cuts),
    )


def measured(browser, view):
    """Seconds to the first picture, and milliseconds of frames."""
    served = serve(view)
    page = browser.new_page(viewport={"width": 1280, "height": 900})
    page.goto(served.url)
    page.wait_for_selector("[data-explored]", timeout=120_000)
    first = page.evaluate("() => performance.getEntriesByName('consilience-explored')[0].startTime")
    page.evaluate("() => document.getElementById('consilience-explore').explorer.store.map.set(0)")
    page.wait_for_timeout(300)
    uploads = "() => document.getElementById('consilience-explore').explorer.map.renderer.uploads"
    before = page.evaluate(uploads)
    found = page.evaluate(MEASURE, [FRAMES, False])
    assert page.evaluate(uploads) == before, "panning sent a buffer to the card"
    size = page.locator(".cs-points").bounding_box()
    page.close()
    served.stop()
    return first / 1000, found, size


REGL = """
import createScatterplot from 'regl-scatterplot';
window.started = async (n, width, height, pointSize) => {
  const canvas = document.querySelector('canvas');
  canvas.width = width; canvas.height = height;
  const x = new Float32Array(n), y = new Float32Array(n), z = new Float32Array(n);
  for (let i = 0; i < n; i++) {
    z[i] = i % 8;
    const angle = z[i] * 0.785, t = 6.283 * Math.random();
    const r = Math.sqrt(-2 * Math.log(1 - Math.random())) / 9;
    x[i] = 0.66 * Math.cos(angle) + r * Math.cos(t);
    y[i] = 0.66 * Math.sin(angle) + r * Math.sin(t);
  }
  const pointColor =
    ['#1b5478', '#d08117', '#6282fc', '#8d1446', '#028261', '#c63c28', '#244210', '#6441bf'];
  const options = {canvas, width, height, pointSize, colorBy: 'category', pointColor};
  window.scatterplot = createScatterplot(options);
  await window.scatterplot.draw({x, y, z, category: z});
};
"""


def beside(browser, n, size):
    """Frames of bare regl-scatterplot with as many points, in a picture of the same size."""
    folder = Path(tempfile.mkdtemp())
    entry = ROOT / "frontend" / "regl-benchmark.js"
    entry.write_text(REGL)
    try:
        command = ["node_modules/.bin/esbuild", entry.name, "--bundle", f"--outfile={folder}/b.js"]
        subprocess.run(command, cwd=ROOT / "frontend", check=True, capture_output=True)
    finally:
        entry.unlink()
    (folder / "p.html").write_text("<!DOCTYPE html><canvas></canvas><script src=b.js></script>")
    page = browser.new_page(viewport={"width": 1280, "height": 900})
    page.goto((folder / "p.html").as_uri())
    diameter = min(9, max(1.6, 260 / n**0.5)) * 1.25**0.35
    page.evaluate("a => window.started(...a)", [n, size["width"], size["height"], diameter])
    page.wait_for_timeout(500)
    found = page.evaluate(MEASURE, [FRAMES, True])
    page.close()
    shutil.rmtree(folder)
    return found


def middle(values):
    return statistics.median(values[3:] or values)


def main():
    """As the command."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sizes", type=int, nargs="*", default=[10_000, 100_000, 1_000_000])
    parser.add_argument("--regl", action="store_true")
    parser.add_argument("--json", type=Path)
    wish = parser.parse_args()
    lines = []
    with sync_playwright() as driver:
        chromium = shutil.which("chromium") or shutil.which("google-chrome")
        browser = driver.chromium.launch(executable_path=chromium, args=FLAGS)
        for n in wish.sizes:
            start = time.perf_counter()
            view = made_view(n)
            making = time.perf_counter() - start
            first, frames, size = measured(browser, view)
            line = {
                "objects": n,
                "view_s": round(making, 2),
                "first_picture_s": round(first, 2),
                "frame_ms": round(middle(frames["whole"]), 2),
                "script_ms": round(middle(frames["script"]), 2),
            }
            if wish.regl:
                other = beside(browser, n, size)
                line["regl_frame_ms"] = round(middle(other["whole"]), 2)
                line["ratio"] = round(line["frame_ms"] / line["regl_frame_ms"], 2)
            lines.append(line)
            print(json.dumps(line), flush=True)
        browser.close()
    if wish.json:
        wish.json.write_text(json.dumps(lines, indent=1))


if __name__ == "__main__":
    main()
