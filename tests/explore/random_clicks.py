"""Random clicks and keys in the explorer, by a seed: no error, no request that leaves here.

python tests/explore/random_clicks.py --minutes 10 --seed 0
"""

import argparse
import random
import sys
import time
from pathlib import Path

KEYS = [
    *("Tab", "Tab", "Tab", "Enter", "Space", "Escape", "ArrowLeft", "ArrowRight", "ArrowUp"),
    *("ArrowDown", "+", "-", "0", "l", "v", "Control+z", "Control+y", "a", "7"),
]
THINGS = ", ".join(
    f"{one}:visible" for one in ("button", "select", "input", "canvas", "[role=button]", "summary")
)


def clicked(opened, seconds, seed):
    """Act at random until the time is up; how many things were done."""
    rng = random.Random(seed)
    page, done = opened.page, 0
    page.on("dialog", lambda dialog: dialog.dismiss())
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        done += 1
        act = rng.random()
        if act < 0.35:
            page.keyboard.press(rng.choice(KEYS))
        elif act < 0.5:
            opened.lasso([(rng.random(), rng.random()) for _ in range(rng.randint(1, 6))])
        elif act < 0.6:
            page.mouse.move(rng.randint(0, 1200), rng.randint(0, 800))
            page.mouse.wheel(0, rng.randint(-400, 400))
        else:
            _touched(page, rng)
    return done


def _touched(page, rng):
    """One thing that can be clicked, chosen or filled in, where it still is when it is its turn."""
    things = page.query_selector_all(THINGS)
    if not things:
        return
    thing = rng.choice(things)
    try:
        kind = thing.evaluate("one => one.tagName + (one.type ?? '')")
        if kind.startswith("SELECT"):
            count = thing.evaluate("one => one.options.length")
            thing.select_option(index=rng.randrange(count), timeout=1000)
        elif kind == "INPUTrange":
            low, high = (int(float(thing.get_attribute(end))) for end in ("min", "max"))
            thing.fill(str(rng.randint(low, high)), timeout=1000)
        elif kind in ("INPUTtext", "INPUTsearch"):
            thing.fill(rng.choice(["", "a", "object 1", "<b>", "=1+1", "ü" * 40]), timeout=1000)
            page.keyboard.press("Enter")
        elif kind == "INPUTnumber":
            thing.fill(rng.choice(["", "0", "1e9", "-3"]), timeout=1000)
        else:
            thing.click(timeout=1000, force=True)
    except Exception as error:  # it was taken away, or lies outside: another turn
        if (
            "Timeout" not in str(error)
            and "attached" not in str(error)
            and "outside" not in str(error)
        ):
            raise


def main():
    """As the command."""
    sys.path.insert(0, str(Path(__file__).parents[1]))
    from browsers import CHROMIUM
    from explore.browsing import FLAGS, WEBGL, Opened, sync_api

    import consilience as cs
    from consilience.explore import serve, view

    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--minutes", type=float, default=10)
    parser.add_argument("--seed", type=int, default=0)
    wish = parser.parse_args()
    X, truth = cs.datasets.make_gaussians(600, 5, random_state=wish.seed)
    result = cs.cluster(X, 5, methods=["eac", "mcla"], n_members=20, truth=truth, random_state=0)
    served = serve(view(result))
    with sync_api.sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=CHROMIUM, args=FLAGS + WEBGL)
        opened = Opened(browser, served.url)
        done = clicked(opened, 60 * wish.minutes, wish.seed)
        home = served.url.partition("?")[0]
        away = [url for url in opened.asked if not url.startswith((home, "blob:", "data:"))]
        browser.close()
    served.stop()
    print(f"{done} acts, {len(opened.errors)} errors, {len(away)} requests elsewhere")
    print("\n".join(opened.errors + away))
    return 1 if opened.errors or away else 0


if __name__ == "__main__":
    sys.exit(main())
