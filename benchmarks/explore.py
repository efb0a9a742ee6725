"""The explorer's map in software WebGL: time to the first picture, of a frame, of our script.

    python benchmarks/explore.py           # 10,000, 100,000 and 1,000,000 objects

    npm install --prefix build/bare regl-scatterplot esbuild
    python benchmarks/explore.py --bare build/bare     # beside bare regl-scatterplot, turn by turn

A frame is a turn of panning until the last pixel is there (``readPixels``); the script is what the
page's own thread does of it. Other programs on the machine make all of it longer: of several rounds
the least median is printed, and the load beside it.
"""

import argparse
import base64
import json
import os
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

FLAGS = [
    *("--headless", "--no-sandbox", "--disable-quic", "--no-first-run", "--use-gl=angle"),
    *("--use-angle=swiftshader", "--enable-unsafe-swiftshader", "--disable-background-networking"),
]
FRAMES = 30
EXPLORER = "document.querySelector('[data-explored]').explorer"
# Time every frame's callback until its pixels are there; `script` leaves the pixels out.
MEASURE = """({frames, target}) => new Promise(done => {
  const raw = window.requestAnimationFrame.bind(window);
  const found = {script: [], whole: [], sent: 0};
  const {gl, move} = window[target]();
  const pixel = new Uint8Array(4);
  let drew = false;
  const undo = [];
  const watch = (name, work) => {
    const own = gl[name];
    gl[name] = (...all) => { work(); return own.apply(gl, all); };
    undo.push(() => { gl[name] = own; });
  };
  for (const name of ['drawArrays', 'drawElements']) watch(name, () => { drew = true; });
  for (const name of ['bufferData', 'bufferSubData']) watch(name, () => { found.sent++; });
  window.requestAnimationFrame = work => raw(time => {
    const start = performance.now();
    drew = false;
    work(time);
    if (!drew) return;
    found.script.push(performance.now() - start);
    gl.readPixels(0, 0, 1, 1, gl.RGBA, gl.UNSIGNED_BYTE, pixel);
    found.whole.push(performance.now() - start);
  });
  let i = 0;
  const turn = () => {
    if (i++ >= frames) {
      window.requestAnimationFrame = raw;
      undo.forEach(one => one());
      return done(found);
    }
    const [before, since] = [found.whole.length, performance.now()];
    move(i);
    // The next move comes when this one is on the screen.
    const wait = () => {
      const drawn = found.whole.length > before || performance.now() - since > 5000;
      setTimeout(drawn ? turn : wait, 4);
    };
    wait();
  };
  turn();
})"""
# What MEASURE moves: ours, and theirs by the same share of the picture.
OURS = (
    """() => { window.ours = () => {
  const {zoom} = EXPLORER.map;
  zoom.reset();
  zoom.zoomAt(1.25);
  return {
    gl: document.querySelector('.cs-points').getContext('webgl2'),
    move: i => zoom.pan(0.1 * Math.sin(i), 0.1 * Math.cos(i)),
  };
}; }"""
).replace("EXPLORER", EXPLORER)
THEIRS = """
import createScatterplot from 'regl-scatterplot';
window.draw = async ({text, width, height, size}) => {
  const bytes = Uint8Array.from(atob(text), one => one.charCodeAt(0));
  const places = new Float32Array(bytes.buffer);
  const n = places.length / 2;
  const [x, y, z] = [new Float32Array(n), new Float32Array(n), new Float32Array(n)];
  for (let i = 0; i < n; i++) {
    x[i] = 2 * places[2 * i] - 1;
    y[i] = 1 - 2 * places[2 * i + 1];
    z[i] = i % 8;
  }
  const canvas = document.querySelector('canvas');
  const plot = createScatterplot({
    canvas, width, height, pointSize: size, opacity: 0.85, colorBy: 'valueA',
    pointColor: [
      '#1b5478', '#d08117', '#6282fc', '#8d1446', '#028261', '#c63c28', '#244210', '#6441bf',
    ],
  });
  await plot.draw({x, y, z});
  window.bare = () => ({
    gl: plot.get('regl')._gl,
    move: i => {
      const view = new Float32Array(16);
      [view[0], view[5], view[10], view[15]] = [1.25, 1.25, 1, 1];
      [view[12], view[13]] = [0.2 * Math.sin(i), 0.2 * Math.cos(i)];
      plot.view(view);
    },
  });
};
"""


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


class Rounds:
    """Pages of one size: ours, and bare regl-scatterplot with the same places."""

    def __init__(self, browser, view, bare):
        self.browser, self.view, self.bare = browser, view, bare
        self.found = {
            name: [] for name in ("first", "frame", "script", "bare_frame", "bare_script")
        }

    def once(self):
        """One round: the first picture, our frames, their frames."""
        served = serve(self.view)
        page = self.browser.new_page(viewport={"width": 1280, "height": 900})
        page.goto(served.url)
        page.wait_for_selector("[data-explored]", timeout=120_000)
        mark = "() => performance.getEntriesByName('consilience-explored')[0].startTime"
        self.found["first"].append(page.evaluate(mark) / 1000)
        page.evaluate(f"() => {EXPLORER}.store.map.set(0)")
        page.wait_for_timeout(300)
        page.evaluate(OURS)
        frames = page.evaluate(MEASURE, {"frames": FRAMES, "target": "ours"})
        assert frames["sent"] == 0, "panning sent a buffer to the card"
        self._keep("", frames)
        if self.bare:
            self._theirs(page)
        page.close()
        served.stop()

    def _theirs(self, page):
        places = np.array(page.evaluate(f"() => Array.from({EXPLORER}.map.places())"), np.float32)
        box = page.locator(".cs-points").bounding_box()
        # As large as ours are where one sees nearly everything.
        size = min(9, max(1.6, 260 / self.view.n_objects**0.5)) * 1.25**0.35
        other = self.browser.new_page(viewport={"width": 1280, "height": 900})
        other.goto(self.bare.as_uri())
        text = base64.b64encode(places.tobytes()).decode()
        told = {"text": text, "width": box["width"], "height": box["height"], "size": size}
        other.evaluate("told => window.draw(told)", told)
        other.wait_for_timeout(300)
        self._keep("bare_", other.evaluate(MEASURE, {"frames": FRAMES, "target": "bare"}))
        other.close()

    def _keep(self, whose, frames):
        for name, values in (("frame", frames["whole"]), ("script", frames["script"])):
            self.found[whose + name].append(statistics.median(values[3:] or values))

    def line(self):
        """The least of the rounds."""
        best = {name: min(values) for name, values in self.found.items() if values}
        line = {
            "objects": self.view.n_objects,
            "first_picture_s": round(best["first"], 2),
            "frame_ms": round(best["frame"], 2),
            "script_ms": round(best["script"], 2),
        }
        if self.bare:
            line["bare_frame_ms"] = round(best["bare_frame"], 2)
            line["bare_script_ms"] = round(best["bare_script"], 2)
            line["frame_over_bare"] = round(best["frame"] / best["bare_frame"], 2)
        return line


def bare_page(packages, folder):
    """A page with nothing but regl-scatterplot, bundled from where npm put it."""
    (packages / "bare.js").write_text(THEIRS)
    bundled = subprocess.run(
        [packages / "node_modules" / ".bin" / "esbuild", "bare.js", "--bundle", "--minify"],
        cwd=packages,
        check=True,
        capture_output=True,
        text=True,
    ).stdout
    path = folder / "bare.html"
    path.write_text(f"<!doctype html><canvas></canvas><script>{bundled}</script>", encoding="utf-8")
    return path


def main():
    """As the command."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sizes", type=int, nargs="*", default=[10_000, 100_000, 1_000_000])
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--bare", type=Path, help="where npm installed regl-scatterplot, esbuild")
    parser.add_argument("--json", type=Path)
    wish = parser.parse_args()
    lines = []
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as driver:
        bare = bare_page(wish.bare.resolve(), Path(folder)) if wish.bare else None
        chromium = shutil.which("chromium") or shutil.which("google-chrome")
        browser = driver.chromium.launch(executable_path=chromium, args=FLAGS)
        for n in wish.sizes:
            start = time.perf_counter()
            rounds = Rounds(browser, made_view(n), bare)
            making = time.perf_counter() - start
            for _ in range(wish.rounds):
                rounds.once()
            load = [round(one, 1) for one in os.getloadavg()[:2]]
            lines.append({**rounds.line(), "view_s": round(making, 2), "load": load})
            print(json.dumps(lines[-1]), flush=True)
        browser.close()
    if wish.json:
        wish.json.write_text(json.dumps(lines, indent=1))


if __name__ == "__main__":
    main()
