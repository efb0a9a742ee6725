"""Every action of the explorer in a real browser: from a server, in a report, in JupyterLab."""

import csv
import io
import os
import warnings
from pathlib import Path

import numpy as np
import pytest
from browsers import CHROMIUM
from explore.browsing import EXPLORER, FLAGS, PHONE, WEBGL, Opened, sync_api
from explore.lab import making, notebook, started
from explore.made import made_minority, made_result, made_views
from sklearn.metrics import adjusted_rand_score, precision_recall_fscore_support

from consilience.datasets import read_table
from consilience.errors import ConsilienceWarning
from consilience.explain._columns import columns_of
from consilience.explore import groups_inside, open_run, serve, special, static_page, view, why
from consilience.explore._cuts import only_cut
from consilience.explore._maps import Map
from consilience.explore._view import Answer, View

pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="Chromium is not installed")


@pytest.fixture(scope="module")
def browser():
    with sync_api.sync_playwright() as driver:
        started = driver.chromium.launch(executable_path=CHROMIUM, args=FLAGS + WEBGL)
        yield started
        started.close()


@pytest.fixture(scope="module")
def shown(result):
    return view(result)


AXE = os.environ.get("CONSILIENCE_AXE")
HOSTS = ["server", "report", pytest.param("notebook", marks=pytest.mark.notebook)]
RESULTS = {"result": made_result, "minority": made_minority, "views": made_views}


@pytest.fixture(scope="module")
def lab(tmp_path_factory):
    """JupyterLab with a notebook a result, which ends with the result."""
    pytest.importorskip("jupyterlab", reason="the job `browsers` of .ci/run installs JupyterLab")
    books = {name: notebook(making(name)) for name in RESULTS}
    with started(tmp_path_factory.mktemp("lab"), books) as found:
        yield found


@pytest.fixture(scope="module")
def results(result, minority, of_views):
    return {"result": result, "minority": minority, "views": of_views}


@pytest.fixture(scope="module")
def pages(browser, results, tmp_path_factory, request):
    """A page for a host and a result, opened once: that takes most of the time."""
    folder, opened, servers = tmp_path_factory.mktemp("pages"), {}, []

    def open_(host, name="result"):
        if (host, name) in opened:
            return opened[host, name]
        if host == "server":
            servers.append(serve(view(results[name])))
            made = Opened(browser, servers[-1].url)
        elif host == "report":
            results[name].report(folder / f"{name}.html")
            made = Opened(browser, (folder / f"{name}.html").as_uri(), start=press_start)
        else:
            lab = request.getfixturevalue("lab")
            # Modules of widgets come from addresses of their own; JupyterLab's words are its own.
            made = Opened(
                browser, lab.url(name), start=lab.run_all, blames=lambda url: "blob:" in url
            )
        opened[host, name] = made
        return made

    yield open_
    for one in opened.values():
        one.close()
    for one in servers:
        one.stop()


def press_start(page):
    """A report is read before it is explored."""
    page.get_by_role("button", name="Start the explorer").click()


@pytest.fixture(params=HOSTS)
def page(request, pages):
    """A page as it was first shown, of each host; none may have complained."""
    one = pages(request.param)
    one.host = request.param
    one.reset()
    yield one
    assert one.errors == []


@pytest.fixture(scope="module")
def alone(shown, tmp_path_factory):
    """The address of a page of its own, with its data inside."""
    path = tmp_path_factory.mktemp("alone") / "page.html"
    path.write_text(static_page(shown), encoding="utf-8")
    return path.as_uri()


def test_all_numbers_of_groups_are_those_of_python(page, shown):
    slider = page.root.get_by_role("slider", name="Number of groups")
    for k in (1, 3, 4, 9, 20):
        slider.fill(str(k))
        np.testing.assert_array_equal(page.groups(), shown.cuts.labels(k))
        assert page.panel("groups").locator("tbody tr").count() == k
    slider.focus()
    page.page.keyboard.press("ArrowLeft")
    np.testing.assert_array_equal(page.groups(), shown.cuts.labels(19))
    assert page.of("map.renderer.kind") == "webgl"


def test_its_colours_are_those_of_the_style_sheet(page):
    # A notebook draws before its element is in the page, where it has no style yet.
    assert page.of("theme.value.paper") == "#ffffff"
    assert page.of("theme.value.ink") == "#1c2733"


def test_another_number_of_groups_sends_nothing_to_the_card_but_colours(page):
    before = page.of("map.renderer.uploads")
    page.root.get_by_role("slider", name="Number of groups").fill("12")
    page.root.locator(".cs-above").focus()
    for key in ("+", "+", "ArrowLeft", "ArrowUp", "-", "0"):
        page.page.keyboard.press(key)
    assert page.of("map.renderer.uploads") == before


def test_drawing_around_objects_selects_them_everywhere(page, shown):
    page.lasso([(0.02, 0.02), (0.98, 0.02), (0.98, 0.55), (0.02, 0.55)])
    rows = np.array(page.selected())
    places = np.array(page.numbers("map.places()")).reshape(-1, 2)
    inside = (np.abs(places[:, 0] - 0.5) < 0.47) & (places[:, 1] > 0.03) & (places[:, 1] < 0.54)
    assert set(np.flatnonzero(inside)) <= set(rows.tolist())
    assert not set(rows.tolist()) & set(np.flatnonzero(places[:, 1] > 0.56).tolist())
    assert 0 < len(rows) < 240
    panel = page.panel("selection")
    assert panel.locator(".cs-count").inner_text() == f"{len(rows)} objects"
    # The table lists the same objects.
    assert f"{len(rows)} selected objects" in page.panel("objects").inner_text()
    said = groups_inside(shown, rows)
    first = said["groups"][0]
    assert f"{first['inside']} of {first['size']}" in panel.locator(".cs-inside").inner_text()
    assert f"Mean confidence {said['confidence']:.4g}" in panel.inner_text()
    # What is special is what Python says, from the server and computed in the page alike.
    panel.locator("table").wait_for()
    lines = special(shown, rows)
    cells = panel.locator("tbody tr").all_inner_texts()
    assert len(cells) == len(lines)
    for text, line in zip(cells, lines, strict=True):
        assert line["column"] in text
        assert f"{line['effect']:.2f}" in text
        assert f"{line['low']:.2f} to {line['high']:.2f}" in text
    page.page.keyboard.press("Escape")
    assert page.selected() == []


def test_effects_of_the_page_are_pythons_to_many_digits(pages, shown):
    one = pages("report")
    rng = np.random.default_rng(5)
    for size in (1, 2, 7, 100, 239):
        rows = np.sort(rng.choice(240, size, replace=False))
        one.page.evaluate(
            "async rows => { const {store, answers} = "
            "document.querySelector('[data-explored]').explorer;"
            " window.told = await answers.special(Uint32Array.from(rows)); }",
            rows.tolist(),
        )
        told = one.page.evaluate("() => window.told")
        wanted = special(shown, rows)
        assert [line["column"] for line in told] == [line["column"] for line in wanted]
        for line, figures in zip(told, wanted, strict=True):
            for name in ("effect", "low", "high", "here", "rest"):
                assert line[name] == pytest.approx(figures[name], abs=1e-9)


def test_clicking_an_object_says_why_it_is_there(page, shown, result):
    row = int(shown.torn.objects[0])
    page.page.mouse.click(*page.place(row))
    assert page.of("store.focus.value") >= 0
    row = page.of("store.focus.value")
    said = why(shown, row)
    panel = page.panel("find")
    panel.locator(".cs-votes").wait_for()
    text = panel.inner_text()
    assert f"Why object {row} is where it is" in text
    own = int(result.labels[row])
    assert f"group {own}: {said['votes'].count(own)} of 20 clusterings" in text
    nearest = panel.locator("tbody tr").all_inner_texts()
    assert len(nearest) == 10
    for line, one in zip(nearest, said["nearest"], strict=True):
        assert one["id"] in line
        assert f"{one['together']:.3f}" in line


def test_objects_are_found_by_name_with_the_keyboard(page):
    page.root.get_by_role("searchbox").fill("object 17")
    page.page.keyboard.press("Enter")
    assert page.of("store.focus.value") == 17
    page.root.get_by_role("searchbox").fill("nobody")
    page.page.keyboard.press("Enter")
    assert "No object is called" in page.panel("find").inner_text()


def test_groups_branches_rows_and_leaves_select_their_objects(page, shown, result):
    page.panel("groups").locator('tr[data-group="2"]').get_by_role("button", name="Select").click()
    np.testing.assert_array_equal(page.selected(), np.flatnonzero(result.labels == 2))
    branch = page.root.locator('.cs-branch[data-from="9"]').first
    branch.focus()
    page.page.keyboard.press("Enter")
    group = int(branch.get_attribute("data-group"))
    np.testing.assert_array_equal(page.selected(), np.flatnonzero(shown.cuts.labels(9) == group))
    matrix = page.panel("matrix").locator("canvas")
    matrix.focus()
    page.page.keyboard.press("ArrowDown")
    page.page.keyboard.press("Enter")
    leaf = int(shown.cuts.order[1])
    np.testing.assert_array_equal(page.selected(), np.flatnonzero(shown.cuts.leaf == leaf))
    page.panel("matrix").get_by_role("button", name="240 objects").click()
    matrix.scroll_into_view_if_needed()
    box = matrix.bounding_box()
    page.page.mouse.click(box["x"] + 80, box["y"] + 100)
    assert len(page.selected()) == 1
    page.root.locator(".cs-above").focus()
    page.page.keyboard.press("v")
    assert len(page.selected()) == 240


def test_groups_are_renamed_joined_divided_undone_and_saved(page, result, tmp_path):
    groups = page.panel("groups")
    groups.get_by_role("textbox", name="Name of group 0").fill('=cold, "blue"')
    page.page.keyboard.press("Enter")
    for group in (1, 3):
        groups.locator(f'tr[data-group="{group}"] input[type=checkbox]').check()
    groups.get_by_role("button", name="Join ticked").click()
    joined = np.where(result.labels == 3, 1, result.labels)
    np.testing.assert_array_equal(page.groups(), joined)
    groups.locator('tr[data-group="2"]').get_by_role("button", name="Divide").click()
    labels = np.array(page.groups())
    assert set(labels[result.labels == 2].tolist()) == {2, 3}
    page.page.evaluate(
        "() => document.querySelector('[data-explored]').explorer.store"
        ".select(Uint32Array.of(4, 5, 6), 'three')"
    )
    groups.get_by_role("button", name="Make the selection a group").click()
    labels[4:7] = 4
    np.testing.assert_array_equal(page.groups(), labels)
    saved = page.download(lambda: groups.get_by_role("button", name="Save labels.csv").click())
    text = saved.path().read_text(encoding="utf-8")
    comments = [line for line in text.splitlines() if line.startswith("#")]
    assert any("Groups 1, 3 were joined" in line for line in comments)
    assert any("3 selected objects became group 4" in line for line in comments)
    lines = list(csv.DictReader(io.StringIO("\n".join(text.splitlines()[len(comments) :]))))
    assert [int(line["cluster"]) for line in lines] == labels.tolist()
    assert [line["id"] for line in lines] == [f"object {i}" for i in range(240)]
    assert lines[int(np.flatnonzero(labels == 0)[0])]["name"] == '\'=cold, "blue"'
    saved.save_as(tmp_path / "labels.csv")
    with warnings.catch_warnings():  # lines of comments, and names that are categories
        warnings.simplefilter("ignore", ConsilienceWarning)
        again = read_table(tmp_path / "labels.csv", id_column="id", encode="onehot")
    assert again.X.shape[0] == 240
    for _ in range(2):
        groups.get_by_role("button", name="Undo").click()
    np.testing.assert_array_equal(page.groups(), joined)
    page.root.locator(".cs-above").focus()
    page.page.keyboard.press("Control+y")
    assert len(set(page.groups())) == 4
    for _ in range(5):
        page.page.keyboard.press("Control+z")
    np.testing.assert_array_equal(page.groups(), result.labels)


def test_the_selection_is_downloaded_with_its_definition(page, result):
    page.panel("groups").locator('tr[data-group="1"]').get_by_role("button", name="Select").click()
    saved = page.download(
        lambda: page.root.get_by_role("button", name="Download the selection").click()
    )
    text = saved.path().read_text(encoding="utf-8").splitlines()
    own = np.flatnonzero(result.labels == 1)
    assert "objects of group 1" in text[0]
    assert len(text) == 3 + len(own)
    assert text[3].startswith(f"object {own[0]},1,")


def test_answers_are_switched_and_compared(page, result):
    compare = page.panel("compare")
    other = next(name for name in ("eac", "mcla") if name != result.method)
    compare.get_by_label("Beside it").select_option(label=other)
    wanted = adjusted_rand_score(result.labels, result.comparison.labels[other])
    assert f"Adjusted Rand index {wanted:.4g}" in compare.inner_text()
    compare.locator("tbody button").first.click()
    assert page.selected()
    compare.get_by_label("Answer", exact=True).select_option(label=other)
    np.testing.assert_array_equal(page.groups(), result.comparison.labels[other])
    compare.get_by_label("Answer", exact=True).select_option(label="the result")
    np.testing.assert_array_equal(page.groups(), result.labels)
    compare.get_by_label("Beside it").select_option(label="known groups")
    wanted = adjusted_rand_score(result.labels, result.data.truth)
    assert f"Adjusted Rand index {wanted:.4g}" in compare.inner_text()


@pytest.mark.parametrize("colour", ["confidence", "known groups", "c0", "clustering 3"])
def test_objects_are_coloured_by_anything(page, colour):
    box = page.root.get_by_label("Colour by")
    before = page.root.locator(".cs-map").screenshot()
    box.select_option(label=colour)
    page.of("map.renderer.kind")
    assert page.root.locator(".cs-map").screenshot() != before
    if colour == "c0":
        assert "c0" in page.root.locator(".cs-tones").inner_text()


def cells(place):
    """A table's lines as lists of texts."""
    lines = place.locator("tbody tr").all()
    return [line.locator("th, td").all_inner_texts() for line in lines]


def same(text, value, digits=4):
    """Whether a page says this number, to so many digits."""
    shown = float(text.replace(",", "").replace("−", "-"))
    return shown == pytest.approx(value, rel=0.6 * 10.0 ** (1 - digits), abs=1e-12)


def test_every_table_has_the_results_numbers(page, shown, result):
    for line, group in zip(cells(page.panel("groups")), range(4), strict=True):
        own = result.labels == group
        assert int(line[2]) == own.sum()
        assert same(line[3], result.confidence[own].mean())
    for name in ("cuts", "matrix"):
        page.panel(name).locator("summary").click()
    splits = cells(page.panel("cuts"))
    for line, split in zip(splits, shown.cuts.splits, strict=True):
        assert int(line[0]) == split.n_groups
        assert line[1:4] == [
            f"group {split.group}",
            f"group {split.group}, group {split.new}",
            f"{split.sizes[0]}, {split.sizes[1]}",
        ]
        assert same(line[4], split.together)
    order = shown.cuts.order
    together = shown.cuts.together[np.ix_(order, order)]
    for line, row in zip(cells(page.panel("matrix")), together, strict=True):
        assert line[1:] == ["–" if np.isnan(value) else f"{value:.2f}" for value in row]
    for name in ("cuts", "matrix"):
        page.panel(name).locator("summary").click()
    for i, line in enumerate(cells(page.panel("objects"))):
        assert line[:2] == [result.ids[i], f"group {result.labels[i]}"]
        assert same(line[2], result.confidence[i])
        assert line[3] == f"group {result.runner_up[i]}"
        assert line[4] == str(result.data.truth[i])
        for text, value in zip(line[5:8], shown.columns.numbers[i], strict=True):
            assert same(text, value)
    torn = cells(page.panel("torn"))
    for line, groups, shares in zip(torn, shown.torn.groups, shown.torn.shares, strict=False):
        for group, share in zip(groups, shares, strict=True):
            if share >= 0.005:
                percent = np.floor(100.0 * float(share) + 0.5)
                assert f"group {group} {percent / 100:g}" in " ".join(line[2].split())
    said = page.panel("done").inner_text()
    for what, words in result.headline():
        assert what in said
        assert " ".join(words.split()) in " ".join(said.split())


def test_rows_of_the_matrix_are_chosen_by_keys(page, shown):
    matrix = page.panel("matrix").locator("canvas")
    page.panel("matrix").get_by_role("button", name="Groups of the finest cut").click()
    matrix.focus()
    page.page.keyboard.press("ArrowDown")
    page.page.keyboard.press("Shift+ArrowDown")
    page.page.keyboard.press("Shift+ArrowDown")
    page.page.keyboard.press("Enter")
    wanted = np.isin(shown.cuts.leaf, shown.cuts.order[1:4])
    np.testing.assert_array_equal(page.selected(), np.flatnonzero(wanted))


def test_objects_in_doubt_show_who_claims_them(page, shown):
    panel = page.panel("torn")
    first = panel.locator("tbody tr").first
    assert shown.id_of(int(shown.torn.objects[0])) in first.inner_text()
    for group in shown.torn.groups[0][:2]:
        assert f"group {group}" in first.inner_text()
    first.get_by_role("button").click()
    assert page.of("store.focus.value") == int(shown.torn.objects[0])


def test_the_state_is_in_the_address_and_in_the_widget(browser, page, shown, request):
    page.root.get_by_role("slider", name="Number of groups").fill("7")
    page.root.get_by_label("Places by").select_option(label="the columns")
    page.root.get_by_label("Colour by").select_option(label="confidence")
    page.panel("groups").locator('tr[data-group="6"]').get_by_role("button", name="Select").click()
    if page.host == "notebook":
        lab = request.getfixturevalue("lab")
        state = page.of("state()")
        assert lab.python("print(result.explore().state)") == state
        # Whoever opens the notebook again sees the same: the kernel has kept it.
        lab.save(page.page)
        other = Opened(browser, lab.url("result"))
    else:
        page.page.wait_for_function(f"() => location.hash === '#explore:' + {EXPLORER}.state()")
        other = Opened(browser, page.page.url)
    try:
        np.testing.assert_array_equal(other.groups(), shown.cuts.labels(7))
        assert other.selected() == page.selected()
        assert other.of("store.map.value") == 0
        assert other.of("store.colour.value") == "confidence"
    finally:
        other.close()


@pytest.mark.parametrize(
    "text",
    ["steps=[{]", 'steps=[{"op":"x"}]', "rows=zz-1.-.99999999", "map=9&colour=<b>&object=1e9"],
)
def test_an_address_that_makes_no_sense_does_no_harm(browser, alone, text):
    one = Opened(browser, f"{alone}#explore:{text}")
    assert one.selected() == []
    assert one.errors == []
    one.close()


@pytest.mark.parametrize("host", HOSTS)
def test_the_threshold_moves_precision_and_recall(pages, minority, host):
    one = pages(host, "minority")
    panel = one.panel("scores")
    values, truth = minority.scores, minority.truth > 0
    for at in (float(np.quantile(values, 0.5)), float(np.quantile(values, 0.9))):
        panel.locator("input[type=number]").fill(repr(at))
        one.page.keyboard.press("Tab")
        wanted = precision_recall_fscore_support(truth, values >= at, average="binary")
        text = panel.locator(".cs-judged").inner_text()
        assert text == "Precision {:.4g}, recall {:.4g}, F1 {:.4g}".format(*wanted[:3])
        panel.get_by_role("button", name="Select them").click()
        np.testing.assert_array_equal(one.selected(), np.flatnonzero(values >= at))
    panel.get_by_role("slider").focus()
    one.page.keyboard.press("ArrowRight")
    assert one.of("store.threshold.value") > float(np.quantile(values, 0.9))
    assert one.errors == []


@pytest.mark.parametrize("host", HOSTS)
def test_nothing_is_asked_of_anybody_else(pages, host):
    one = pages(host)
    home = one.page.url.partition("#")[0].partition("doc/")[0].partition("?")[0]
    assert one.asked
    assert all(url.startswith((home, f"blob:{home}", "data:")) for url in one.asked)
    if host == "report":
        assert len(one.asked) == 1


def test_without_webgl_a_canvas_draws(browser, alone):
    one = Opened(browser, alone + "?canvas")
    assert one.of("map.renderer.kind") == "canvas"
    one.lasso([(0.02, 0.02), (0.98, 0.02), (0.98, 0.98), (0.02, 0.98)])
    assert len(one.selected()) > 200
    assert one.errors == []
    one.close()


def test_a_phone_shows_it_without_scrolling_sideways(browser, alone):
    one = Opened(browser, alone, **PHONE, color_scheme="dark")
    width = one.page.evaluate("() => document.documentElement.scrollWidth")
    assert width <= PHONE["viewport"]["width"]
    assert (
        one.page.evaluate("() => getComputedStyle(document.body).backgroundColor")
        == "rgb(21, 24, 29)"
    )
    one.page.emulate_media(media="print")
    assert one.errors == []
    one.close()


@pytest.mark.skipif(
    AXE is None, reason="CONSILIENCE_AXE names no axe.min.js; .ci/run browsers does"
)
@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("name", ["result", "minority"])
def test_axe_finds_nothing_that_bars_anybody(browser, results, tmp_path, name, scheme):
    results[name].report(tmp_path / "report.html")
    (tmp_path / "alone.html").write_text(static_page(view(results[name])), encoding="utf-8")
    for path, start in (("report.html", press_start), ("alone.html", None)):
        # The page's own rules would not let axe in.
        how = {"start": start, "color_scheme": scheme, "bypass_csp": True}
        one = Opened(browser, (tmp_path / path).as_uri(), **how)
        one.page.evaluate(
            f"() => {{ const {{store}} = {EXPLORER}; store.focus.set(3); store.compare.set(-1);"
            " store.select(Uint32Array.of(1, 2, 3, 4, 5), 'five'); }"
        )
        one.panel("selection").locator("table").wait_for()
        one.page.evaluate(Path(AXE).read_text(encoding="utf-8"))
        found = one.page.evaluate("async () => (await axe.run()).violations")
        assert [(line["id"], line["nodes"][0]["html"]) for line in found] == []
        one.close()


def test_everything_can_be_reached_and_is_named(page):
    unnamed = page.page.evaluate(
        """() => [...document.querySelector('[data-explored]').querySelectorAll(
            'button, input, select, canvas[tabindex], [role=button]')]
          .filter(one => !(one.getAttribute('aria-label') || one.textContent.trim()))
          .filter(one => !one.labels?.length)
          .map(one => one.outerHTML.slice(0, 80))"""
    )
    assert unnamed == []
    assert page.root.locator("[tabindex]:not([tabindex='0'])").count() == 0
    assert page.root.locator("details table").count() >= 2


def test_without_any_webgl_it_says_so(browser, alone):
    plain = browser.browser_type.launch(
        executable_path=CHROMIUM, args=[*FLAGS, "--disable-3d-apis"]
    )
    one = Opened(plain, alone)
    assert one.of("map.renderer.kind") == "canvas"
    assert "This browser has no WebGL" in one.root.locator(".cs-map-notes").inner_text()
    one.lasso([(0.02, 0.02), (0.98, 0.02), (0.98, 0.98), (0.02, 0.98)])
    assert len(one.selected()) > 200
    plain.close()


def test_a_phone_draws_a_part_of_many_and_says_so(browser):
    n = 400_001
    labels = (np.arange(n) % 3).astype(np.int32)
    places = np.random.default_rng(0).normal(size=(n, 2)).astype(np.float32)
    many = View(
        kind="labels",
        title="many",
        n_objects=n,
        n_all=n,
        objects=np.arange(n),
        ids=None,
        answers=(Answer("made", "", labels),),
        names=(),
        cuts=only_cut(labels),
        confidence=None,
        runner_up=None,
        columns=columns_of(None, n),
        maps=(Map("columns", "", ("x", "y"), places),),
    )
    served = serve(many)
    one = Opened(browser, served.url, **PHONE)
    words = one.root.locator(".cs-map-notes").inner_text()
    assert words.startswith(
        "The map draws 133,334 objects of 400,001, because this screen is small"
    )
    one.root.get_by_role("searchbox").fill("400000")
    one.page.keyboard.press("Enter")
    assert one.of("store.focus.value") == 400_000
    assert one.errors == []
    one.close()
    served.stop()


def test_a_run_without_members_shows_what_there_is_and_says_why(browser, tmp_path):
    text = "id,cluster,confidence,runner_up\na,0,0.9,1\nb,1,0.6,0\nc,-1,,\n"
    (tmp_path / "labels.csv").write_text(text, encoding="utf-8")
    (tmp_path / "page.html").write_text(static_page(open_run(tmp_path)), encoding="utf-8")
    one = Opened(browser, (tmp_path / "page.html").as_uri())
    notes = one.root.locator(".cs-notes").inner_text()
    assert "Only labels.csv can be shown" in notes
    assert "This result has no members" in notes
    assert one.groups() == [0, 1, -1]
    one.root.get_by_role("searchbox").fill("b")
    one.page.keyboard.press("Enter")
    assert "There are no members that could be asked" in one.panel("find").inner_text()
    assert one.errors == []
    one.close()


@pytest.mark.parametrize("name", ["result", "minority", "views"])
def test_a_report_without_data_is_drawn_whole(browser, results, tmp_path, name):
    results[name].report(tmp_path / "report.html", data=False)
    page = browser.new_page()
    errors, asked = [], []
    page.on("pageerror", lambda error: errors.append(str(error)))
    page.on("console", lambda said: errors.append(said.text) if said.type == "error" else None)
    page.on("request", lambda request: asked.append(request.url))
    page.goto((tmp_path / "report.html").as_uri())
    page.wait_for_selector("[data-drawn]")
    assert (errors, len(asked)) == ([], 1)
    assert page.get_by_role("button", name="Start the explorer").count() == 0
    assert page.locator(".cs-failed, .cs-objects").count() == 0
    page.close()


def test_paper_is_light_and_has_no_buttons(browser, alone):
    one = Opened(browser, alone, color_scheme="dark")
    one.page.emulate_media(media="print", color_scheme="dark")
    one.page.evaluate("() => window.dispatchEvent(new Event('beforeprint'))")
    one.page.evaluate("() => 0")
    paper = "() => getComputedStyle(document.querySelector('.cs-explore')).backgroundColor"
    assert one.page.evaluate(paper) == "rgb(255, 255, 255)"
    assert one.root.locator(".cs-tools:visible, .cs-slider:visible").count() == 0
    one.close()


@pytest.mark.parametrize("host", HOSTS)
def test_objects_are_coloured_by_how_sure_a_view_is(pages, of_views, host):
    one = pages(host, "views")
    one.reset()
    for j, name in enumerate(("rna", "protein")):
        one.root.get_by_label("Colour by").select_option(label=f"confidence by {name} alone")
        values = np.array(one.numbers(f"model.views[{j}].values"), float)
        known = np.isfinite(values)
        assert known.sum() == of_views.view_agreement.n_objects[j]
        assert values[known].mean() == pytest.approx(of_views.view_agreement.confidence[j])
        assert name in one.root.locator(".cs-tones").inner_text()
    assert one.errors == []


def test_texts_of_the_data_are_never_markup(browser, result, tmp_path):
    from dataclasses import replace

    evil = "<img src=x onerror=\"document.title='hit'\">"
    ids = np.array([evil, *(f"o{i}" for i in range(1, 240))])
    data = replace(result.data, ids=ids, name=evil)
    (tmp_path / "evil.html").write_text(static_page(view(replace(result, data=data))))
    one = Opened(browser, (tmp_path / "evil.html").as_uri())
    one.page.get_by_role("searchbox").fill("<img")
    one.page.keyboard.press("Enter")
    one.of("map.renderer.kind")
    assert one.of("store.focus.value") == 0
    assert one.page.title() == evil
    assert one.page.locator("img").count() == 0
    assert one.errors == []
    one.close()
