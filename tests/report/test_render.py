"""The page as text: complete without a script, closed to the network and to what users write."""

import base64
import hashlib
import json
import re
import shutil
import subprocess
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pytest
from report.made_summaries import consensus_summary, minority_summary

from consilience.errors import InvalidInputError
from consilience.report import render, write_report

pytest.importorskip("jinja2")

ROOT = Path(__file__).parents[2]
STATIC = ROOT / "src/consilience/report/static"
FRONTEND = ROOT / "frontend"
EVIL = "<img src=x onerror=alert(1)></script><!--\u2028&\"'"


class Page(HTMLParser):
    """Elements and texts of a page, scripts and style apart."""

    def __init__(self, text):
        super().__init__()
        self.elements, self.words, self.raw, self.inside = [], [], {}, None
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.elements.append((tag, dict(attrs)))
        self.inside = (tag, dict(attrs).get("type")) if tag in ("script", "style") else None

    def handle_endtag(self, tag):
        if tag in ("script", "style"):
            self.inside = None

    def handle_data(self, data):
        if self.inside:
            self.raw[self.inside] = self.raw.get(self.inside, "") + data
        else:
            self.words.append(data)


@pytest.fixture(params=[consensus_summary, minority_summary])
def summary(request):
    return request.param(120)


def with_evil_text():
    """A summary in which everything a user can name is an attack."""
    made = consensus_summary(60, ids=[f"{EVIL} {i}" for i in range(60)])
    made["title"] = made["headline"][0] = made["notes"][0] = made["done"][0]["value"] = EVIL
    made["done"][0]["what"] = made["sections"][0]["title"] = made["sections"][0]["read"] = EVIL
    made["sections"][0]["figure"]["xlabel"] = EVIL
    made["objects"]["columns"].append({"name": EVIL, "kind": "text", "values": [EVIL] * 60})
    made["sections"][-1]["figures"][1]["columns"][0] = EVIL
    made["sections"][-1]["figures"][0]["names"][0] = EVIL
    return made


def test_the_words_are_there_without_a_script(summary):
    words = " ".join(Page(render(summary)).words)
    wanted = [summary["title"], *summary["headline"], *summary["notes"]]
    wanted += [part[key] for part in summary["sections"] for key in ("title", "read")]
    wanted += [text for row in summary["done"] for text in row.values()]
    assert [text for text in wanted if text not in words] == []


def test_the_clusters_are_there_without_a_script():
    made = consensus_summary(120, k=3)
    made["clusters"][0] = {
        "cluster": 0, "size": 1234, "share": 0.1234, "confidence": 0.5, "stability": None,
    }  # fmt: skip
    page = render(made)
    row = re.search(r'<tr data-cluster="0">(.*?)</tr>', page, re.DOTALL).group(1)
    cells = re.findall(r"<t[hd][^>]*>([^<]*)</t[hd]>", row)
    assert cells == ["cluster 0", "1,234", "12.3 %", "0.50", "–"]


def test_columns_nobody_knows_are_left_out():
    page = render(minority_summary(120))
    assert "Confidence</th>" not in page
    assert ">background</th>" in page


def test_the_summary_comes_back_from_the_page(summary):
    raw = Page(render(summary)).raw["script", "application/json"]
    assert json.loads(raw) == summary


def test_no_text_becomes_markup():
    made = with_evil_text()
    page = Page(render(made))
    assert [tag for tag, _ in page.elements if tag == "img"] == []
    assert [name for _, attrs in page.elements for name in attrs if name.startswith("on")] == []
    assert json.loads(page.raw["script", "application/json"]) == made
    assert sum(tag == "script" for tag, _ in page.elements) == 2
    assert EVIL in " ".join(page.words)


def test_the_policy_allows_our_script_and_style_and_nothing_else(summary):
    text = render(summary)
    page = Page(text)
    policy = next(
        attrs["content"]
        for tag, attrs in page.elements
        if tag == "meta" and attrs.get("http-equiv") == "Content-Security-Policy"
    )
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy
    assert "http" not in policy
    for part in (page.raw["script", "module"], page.raw["style", None]):
        digest = base64.b64encode(hashlib.sha256(part.encode()).digest()).decode()
        assert f"'sha256-{digest}'" in policy
    # A hash allows elements only: a style attribute would be ignored.
    assert [attrs for _, attrs in page.elements if "style" in attrs] == []


def test_every_anchor_leads_somewhere(summary):
    elements = Page(render(summary)).elements
    targets = {attrs["href"][1:] for tag, attrs in elements if tag == "a"}
    assert targets <= {attrs.get("id") for _, attrs in elements}
    assert len(targets) == len(summary["sections"]) + 3


def test_nothing_is_asked_of_a_network(summary):
    elements = Page(render(summary)).elements
    asked = [attrs[key] for _, attrs in elements for key in ("src", "href") if key in attrs]
    assert [one for one in asked if not one.startswith(("#", "data:"))] == []


@pytest.mark.parametrize("value", [float("nan"), float("inf"), np.float64(1), {1}])
def test_values_that_json_cannot_hold_are_refused(value):
    made = consensus_summary(60)
    made["objects"]["columns"][2]["values"][0] = value
    if isinstance(value, np.float64):  # a float like any other
        assert render(made)
        return
    with pytest.raises(InvalidInputError, match="cannot be written as JSON"):
        render(made)


@pytest.mark.parametrize(
    ("key", "value", "words"),
    [("schema", 2, "'schema' must be 1"), ("kind", "other", "'kind' of a summary must be one of")],
)
def test_other_summaries_are_refused(key, value, words):
    with pytest.raises(InvalidInputError, match=words):
        render(consensus_summary(60) | {key: value})


def test_a_missing_part_is_named():
    made = consensus_summary(60)
    del made["clusters"]
    with pytest.raises(InvalidInputError, match="has no 'clusters'"):
        render(made)


def test_the_file_is_written_whole(tmp_path, summary):
    path = tmp_path / "report.html"
    path.write_text("old")
    with pytest.raises(InvalidInputError):
        write_report(summary | {"kind": 3}, path)
    assert path.read_text() == "old"
    write_report(summary, path)
    assert path.read_text(encoding="utf-8") == render(summary)
    assert list(tmp_path.iterdir()) == [path]


def test_names_that_are_no_text_can_be_written(tmp_path):
    path = tmp_path / "report.html"
    write_report(consensus_summary(60) | {"title": "data\udcff.csv"}, str(path))
    assert "data\\xff.csv" in path.read_text(encoding="utf-8")


def test_built_files_belong_to_the_sources():
    # The build writes a hash of everything it depends on; here it is computed again.
    if not FRONTEND.is_dir():
        pytest.skip("the sources of the page are not beside the tests")
    hashed = hashlib.sha256()
    files = (path for path in (FRONTEND / "src").rglob("*") if path.is_file())
    sources = sorted(path.relative_to(FRONTEND).as_posix() for path in files)
    for name in ["build.mjs", "package-lock.json", *sources]:
        hashed.update(name.encode() + b"\0" + (FRONTEND / name).read_bytes() + b"\0")
    wanted = f"consilience report, sources {hashed.hexdigest()}"
    remedy = "run `npm ci && npm run build` in frontend/ and commit what it writes"
    for name in ("report.js", "report.css", "LICENSES.txt"):
        assert wanted in (STATIC / name).read_text(encoding="utf-8"), remedy


def test_built_files_are_small_and_carry_the_licence():
    assert sum(path.stat().st_size for path in STATIC.iterdir()) < 400_000
    for name in ("report.js", "report.css", "LICENSES.txt"):
        text = (STATIC / name).read_text(encoding="utf-8")
        assert "uPlot" in text
        assert "Permission is hereby granted, free of charge" in text


def test_sources_make_no_markup_of_text():
    for path in (FRONTEND / "src").rglob("*.js"):
        text = path.read_text(encoding="utf-8")
        assert not re.search(r"innerHTML|outerHTML|insertAdjacentHTML|document\.write", text), path


def _colours(name):
    text = (FRONTEND / "src/colours.js").read_text(encoding="utf-8")
    block = re.search(rf"const {name} = \[(.*?)\];", text, re.DOTALL).group(1)
    return _linear(re.findall(r"#([0-9a-f]{6})", block))


def _linear(codes):
    """Linear red, green, blue of hexadecimal colours."""
    rgb = np.array([[int(code[i : i + 2], 16) for i in (0, 2, 4)] for code in codes]) / 255
    return np.where(rgb <= 0.04045, rgb / 12.92, ((rgb + 0.055) / 1.055) ** 2.4)


def _contrast(a, b):
    a, b = (np.atleast_2d(one) @ [0.2126, 0.7152, 0.0722] + 0.05 for one in (a, b))
    return np.maximum(a, b) / np.minimum(a, b)


def _oklab(rgb):
    lms = rgb @ np.array(
        [
            [0.4122214708, 0.2119034982, 0.0883024619],
            [0.5363325363, 0.6806995451, 0.2817188376],
            [0.0514459929, 0.1073969566, 0.6299787005],
        ]
    )
    return np.cbrt(lms) @ np.array(
        [
            [0.2104542553, 1.9779984951, 0.0259040371],
            [0.7936177850, -2.4285922050, 0.7827717662],
            [-0.0040720468, 0.4505937099, -0.8086757660],
        ]
    )


# What is left of red, green, blue for an eye without one kind of cone: Machado, Oliveira &
# Fernandes (2009), A physiologically-based model for simulation of color vision deficiency.
EYES = {
    "normal": np.eye(3),
    "protan": [
        [0.152286, 1.052583, -0.204868],
        [0.114503, 0.786281, 0.099216],
        [-0.003882, -0.048116, 1.051998],
    ],
    "deutan": [
        [0.367322, 0.860646, -0.227968],
        [0.280085, 0.672501, 0.047413],
        [-0.011820, 0.042940, 0.968881],
    ],
    "tritan": [
        [1.255528, -0.076749, -0.178779],
        [-0.078411, 0.930809, 0.147602],
        [0.004733, 0.691367, 0.303900],
    ],
}


@pytest.mark.parametrize(("name", "paper"), [("LIGHT", "ffffff"), ("DARK", "15181d")])
@pytest.mark.parametrize("eye", EYES)
def test_ten_clusters_can_be_told_apart_by_any_eye(name, paper, eye):
    rgb = _colours(name)
    assert len(rgb) == 10
    assert (_contrast(rgb, _linear([paper])) >= 3).all()
    seen = _oklab(np.clip(rgb @ np.array(EYES[eye]).T, 0, 1))
    gaps = np.linalg.norm(seen[:, None] - seen, axis=2)[np.triu_indices(10, 1)]
    # About 0.02 is the least difference an eye notices side by side.
    assert gaps.min() > 0.07


def test_text_has_enough_contrast_in_both_themes():
    css = (FRONTEND / "src/report.css").read_text(encoding="utf-8")
    themes = re.findall(r"--scheme: (\w+);(.*?)color-scheme", css, re.DOTALL)
    assert [name for name, _ in themes] == ["light", "dark"]
    for _, block in themes:
        colour = {key: _linear([code]) for key, code in re.findall(r"--(\S+): #(\w{6})", block)}
        for text in ("ink", "muted", "accent"):
            assert _contrast(colour[text], colour["paper"]) >= 4.5, text
            assert _contrast(colour[text], colour["raised"]) >= 4.5, text
        assert _contrast(colour["warn"], colour["warn-paper"]) >= 4.5


def test_the_build_gives_the_committed_files():
    if shutil.which("node") is None or not (FRONTEND / "node_modules/esbuild").is_dir():
        pytest.skip("node, or what `npm ci` installs in frontend/, is missing")
    before = {path.name: path.read_bytes() for path in STATIC.iterdir()}
    done = subprocess.run(
        ["node", "build.mjs", "--check"], cwd=FRONTEND, capture_output=True, text=True, timeout=60
    )
    assert done.returncode == 0, done.stderr
    assert {path.name: path.read_bytes() for path in STATIC.iterdir()} == before
