"""What the documents promise: their code runs, prints what they show, and leads somewhere.

docs/examples/pages.py says what happens to a block of a page. Docstrings are run by pytest itself
(``--doctest-modules``).
"""

import importlib.util
import inspect
import re
from pathlib import Path

import pytest

import consilience as cs
from consilience.consensus import CONSENSUS

ROOT = Path(__file__).parent.parent
DOCS = ROOT / "docs"

# Pages whose code other tests run, as they need more than running.
ELSEWHERE = {
    "docs/gallery.md": "tests/plot/test_gallery.py",
    "docs/methods": "tests/test_method_cards.py",
}
_WRITTEN = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted(DOCS.rglob("*.md"))]
_RUN = [
    page
    for page in _WRITTEN
    if not any(page.is_relative_to(ROOT / place) for place in ELSEWHERE)
    and "```" in page.read_text(encoding="utf-8")
]


def _names(pages):
    return [page.relative_to(ROOT).as_posix() for page in pages]


def _module(path):
    spec = importlib.util.spec_from_file_location(path.stem, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


pages = _module(DOCS / "examples" / "pages.py")


def _flowers():
    X, kinds = cs.datasets.make_gaussians(90, 3, 4, random_state=0)
    rows = [
        f"flower {i},{','.join(f'{x:.3f}' for x in row)},{'abc'[kind]}"
        for i, (row, kind) in enumerate(zip(X, kinds, strict=True))
    ]
    return ["name,a,b,c,d,species", *rows]


def _stars():
    X, kinds = cs.datasets.make_toy_minority(0.1, random_state=0)
    rows = [
        f"{x:.4f},{y:.4f},{'group' if kind else 'field'}"
        for (x, y), kind in zip(X, kinds, strict=True)
    ]
    return ["right,up,kind", *rows]


def _members():
    X, _ = cs.datasets.make_gaussians(60, 3, random_state=0)
    labels = cs.generate.KMeansEnsemble(10, 3, random_state=0).generate(X).labels
    return [",".join(f"m{i}" for i in range(10)), *(",".join(map(str, row)) for row in labels)]


# Tables that commands of the pages read without making them.
TABLES = {"flowers.csv": _flowers, "stars.csv": _stars, "members.csv": _members}


@pytest.fixture
def reader(tmp_path, monkeypatch):
    """A reader's empty folder, with the tables that pages take for granted."""
    plt = pytest.importorskip("matplotlib.pyplot")
    plt.switch_backend("agg")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "100")
    for name, make in TABLES.items():
        (tmp_path / name).write_text("\n".join(make()) + "\n", encoding="utf-8")
    yield tmp_path
    plt.close("all")


def _by_their_job(page):
    """Pages of docs/ take minutes together: the suite runs the README, `-m documents` the rest."""
    marks = [pytest.mark.documents] if page.is_relative_to(DOCS) else []
    return pytest.param(page, marks=marks, id=page.relative_to(ROOT).as_posix())


@pytest.mark.parametrize("page", [_by_their_job(page) for page in _RUN])
def test_the_code_of_a_page_runs_and_prints_what_it_shows(
    page, reader, few_references, monkeypatch
):
    if "```output" in page.read_text(encoding="utf-8"):
        # Pages show p-values as their readers will see them.
        monkeypatch.setattr("consilience.consensus._clarity.REFERENCES", few_references)
    names = pages.run_page(page)
    if page.name == "README.md":
        assert names["model"].n_clusters_ == 2
        assert cs.metrics.consistency_index(names["truth"], names["model"].labels_) == 1.0


def test_pages_run_elsewhere_are():
    for place, test in ELSEWHERE.items():
        assert (ROOT / place).exists()
        assert (ROOT / test).exists(), f"nothing runs {place}"


def test_every_block_says_what_it_is():
    known = ("python", *pages.SHELL, *pages.OTHERS)
    for page in _WRITTEN:
        for block in pages.blocks(page.read_text(encoding="utf-8")):
            assert block.word in known, f"{page.name}, line {block.line}: {block.word!r}"


def test_a_page_that_shows_something_else_is_found(tmp_path):
    page = tmp_path / "page.md"
    page.write_text("```python\nprint(1)\n```\n\n```output\n2\n```\n", encoding="utf-8")
    with pytest.raises(AssertionError, match="the page shows"):
        pages.run_page(page)


def test_commands_are_taken_from_a_shell_and_the_rest_is_named():
    shell = (
        'pip install ".[cli]" && consilience demo\n\nconsilience cluster a.csv \\\n  -k 3  # ours\n'
    )
    assert pages.commands(shell) == [["demo"], ["cluster", "a.csv", "-k", "3"]]
    with pytest.raises(ValueError, match="curl"):
        pages.commands("curl https://example.org\n")


def test_pictures_of_the_pages_are_there_and_small():
    for page in _WRITTEN:
        for place in re.findall(r"!\[[^]]*\]\(([^)]+)\)", page.read_text(encoding="utf-8")):
            picture = page.parent / place
            assert picture.exists(), f"{page.name} shows {place}"
            assert picture.stat().st_size < 300_000, f"{place} is large"


def test_tutorials_draw_all_their_pictures():
    text = "".join(p.read_text(encoding="utf-8") for p in (DOCS / "tutorials").glob("*.md"))
    drawn = {b.picture for b in pages.blocks(text) if b.word == "python" and b.picture}
    there = {f"../images/tutorials/{p.name}" for p in (DOCS / "images" / "tutorials").iterdir()}
    assert drawn == there


def test_continuous_integration_runs_the_readmes_test_command():
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    shells = [block.code.strip() for block in pages.blocks(readme) if block.word in pages.SHELL]
    assert any(shell.endswith("python -m pytest") for shell in shells)
    lines = (ROOT / ".ci" / "run").read_text(encoding="utf-8").splitlines()
    assert "python -m pytest -q" in [line.strip() for line in lines]


@pytest.mark.parametrize("method", sorted(CONSENSUS))
def test_every_method_stands_in_the_readme(method):
    name = CONSENSUS[method].estimator_name
    rows = (ROOT / "README.md").read_text(encoding="utf-8").splitlines()
    assert any(f"`{name}`" in row and "| ready |" in row for row in rows)


@pytest.mark.parametrize("page", _WRITTEN, ids=_names(_WRITTEN))
def test_links_between_documents_lead_somewhere(page):
    text = page.read_text(encoding="utf-8")
    for target, anchor in re.findall(r"\]\(([^)#\s]*)#?([^)\s]*)\)", text):
        if "://" in target:
            continue
        goal = page.parent / target if target else page
        assert goal.exists(), f"{page.name} links to {target}"
        if anchor and goal.suffix == ".md":
            assert anchor in _anchors(goal), f"{page.name} links to {target}#{anchor}"


def _anchors(page):
    """Names of a page's headings, as links write them."""
    headings = re.findall(r"^#+ (.+)$", page.read_text(encoding="utf-8"), flags=re.MULTILINE)
    plain = (re.sub(r"[^\w\- ]", "", heading.lower()) for heading in headings)
    return {heading.strip().replace(" ", "-") for heading in plain}


def test_every_page_is_in_the_contents():
    listed = set()
    for page in DOCS.rglob("*.md"):
        text = page.read_text(encoding="utf-8")
        for contents in re.findall(r"```\{toctree\}\n(.*?)```", text, flags=re.DOTALL):
            for line in contents.splitlines():
                if line and not line.startswith(":"):
                    listed |= set(page.parent.glob(f"{line.strip()}.md"))
    assert set(DOCS.rglob("*.md")) - listed == {DOCS / "index.md"}


def test_every_room_is_in_the_reference():
    index = (DOCS / "api" / "index.md").read_text(encoding="utf-8")
    rooms = [name for name in cs.__all__ if inspect.ismodule(getattr(cs, name))]
    assert rooms
    for room in rooms:
        assert f"generated/consilience.{room}\n" in index


def test_the_figures_of_the_decision_table_stand_where_it_says():
    """A figure of two decimals beside the trials is one of the trials' own."""
    trials = (DOCS / "methods" / "trials.md").read_text(encoding="utf-8")
    known = set(re.findall(r"\d\.\d\d", trials))
    rows = (DOCS / "which-method.md").read_text(encoding="utf-8").splitlines()
    cited = [row.rsplit("|", 2)[1] for row in rows if row.startswith("|") and "trials" in row]
    assert cited
    for text in cited:
        where = text.partition("trials")[2]
        assert set(re.findall(r"0\.\d\d", where)) <= known, text


@pytest.mark.parametrize("page", sorted(DOCS.glob("tutorials/*.md")), ids=lambda page: page.stem)
def test_tutorials_say_which_extra_brings_what_they_import(page):
    text = page.read_text(encoding="utf-8")
    assert "import matplotlib" not in text or '".[plot]"' in text


def test_the_readme_names_all_files_that_are_written():
    from consilience._cli import folders

    text = (ROOT / "README.md").read_text(encoding="utf-8")
    written = (folders.LABELS, folders.SUMMARY, folders.REPORT, folders.TIMINGS, *folders.MODEL)
    assert all(f"`{name}`" in text for name in (*written, "profile-*.csv"))
