"""The explorer's map in software WebGL: time to the first picture, of a frame, of our script.

    python benchmarks/explore.py           # 10,000, 100,000 and 1,000,000 objects

A frame is a turn of panning until the last pixel is there (``readPixels``).
"""

import argparse
import json
import shutil
import statistics
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

FLAGS = [
    *("--headless", "--no-sandbox", "--disable-quic", "--no-first-run", "--use-gl=angle"),
    *("--use-angle=swiftshader", "--enable-unsafe-swiftshader", "--disable-background-networking"),
]
FRAMES = 30
# Time every frame's callback until its pixels are there; `script` leaves the pixels out.
MEASURE = """frames => new Promise(done => {
  const raw = window.requestAnimationFrame.bind(window);
  const found = {script: [], whole: []};
  const gl = document.querySelector('.cs-points').getContext('webgl2');
  const pixel = new Uint8Array(4);
  let drew = false;
  for (const name of ['drawArrays', 'drawElements']) {
    const own = gl[name].bind(gl);
    gl[name] = (...all) => { drew = true; own(...all); };
  }
  window.requestAnimationFrame = work => raw(time => {
    const start = performance.now();
    drew = false;
    work(time);
    if (!drew) return;
    found.script.push(performance.now() - start);
    gl.readPixels(0, 0, 1, 1, gl.RGBA, gl.UNSIGNED_BYTE, pixel);
    found.whole.push(performance.now() - start);
  });
  const {zoom} = document.getElementById('consilience-explore').explorer.map;
  const move = i => i ? zoom.pan(0.1 * Math.sin(i), 0.1 * Math.cos(i)) : zoom.zoomAt(1.25);
  let i = 0;
  const turn = () => {
    if (i++ >= frames) { window.requestAnimationFrame = raw; return done(found); }
    const [before, since] = [found.whole.length, performance.now()];
    move(i - 1);
    // The next move comes when this one is on the screen.
    const wait = () => {
      const drawn = found.whole.length > before || performance.now() - since > 5000;
      setTimeout(drawn ? turn : wait, 4);
    };
    wait();
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
    found = page.evaluate(MEASURE, FRAMES)
    assert page.evaluate(uploads) == before, "panning sent a buffer to the card"
    page.close()
    served.stop()
    return first / 1000, found


def middle(values):
    return statistics.median(values[3:] or values)


def main():
    """As the command."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sizes", type=int, nargs="*", default=[10_000, 100_000, 1_000_000])
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
            first, frames = measured(browser, view)
            line = {
                "objects": n,
                "view_s": round(making, 2),
                "first_picture_s": round(first, 2),
                "frame_ms": round(middle(frames["whole"]), 2),
                "script_ms": round(middle(frames["script"]), 2),
            }
            lines.append(line)
            print(json.dumps(line), flush=True)
        browser.close()
    if wish.json:
        wish.json.write_text(json.dumps(lines, indent=1))


if __name__ == "__main__":
    main()
