"""A short walk of random clicks; `random_clicks.py` is the long one."""

import os

import pytest
from browsers import CHROMIUM
from explore.browsing import FLAGS, WEBGL, Opened, sync_api
from explore.random_clicks import clicked

from consilience.explore import serve, view

SECONDS = float(os.environ.get("CONSILIENCE_CLICK_SECONDS", "8"))


@pytest.mark.skipif(CHROMIUM is None, reason="Chromium is not installed")
def test_random_clicks_and_keys_do_no_harm(result):
    served = serve(view(result))
    with sync_api.sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=CHROMIUM, args=FLAGS + WEBGL)
        opened = Opened(browser, served.url)
        done = clicked(opened, SECONDS, seed=len(result.labels))
        browser.close()
    served.stop()
    home = served.url.partition("?")[0]
    away = [url for url in opened.asked if not url.startswith((home, "blob:", "data:"))]
    assert (opened.errors, away) == ([], [])
    assert done > 3
