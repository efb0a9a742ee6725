"""The cards of the methods say what the code says: parameters, papers, parts, and examples."""

import ast
import importlib.util
import inspect
import re
from dataclasses import MISSING
from pathlib import Path

import pytest
from sklearn.base import BaseEstimator

import consilience as cs
from consilience.consensus import CONSENSUS
from consilience.generate import recipes
from consilience.minority import weak

ROOT = Path(__file__).parent.parent
METHODS = ROOT / "docs" / "methods"
PARTS = ["Idea", "Paper", "Equation", "Parameters", "Cost", "When it fails", "See also"]
# What the pages without cards are for.
OTHERS = {"index.md", "trials.md"}


def _read(name):
    return (METHODS / name).read_text(encoding="utf-8")


def _cards():
    """Title to text of every card; the recipes share one."""
    found = {}
    for page in sorted({path.name for path in METHODS.glob("*.md")} - OTHERS):
        for section in re.split(r"^## ", _read(page), flags=re.MULTILINE)[1:]:
            title, _, text = section.partition("\n")
            assert title not in found, f"two cards of {title}"
            found[title] = text
    return found


CARDS = _cards()


def _public():
    """Every estimator and generator that users can type, by name."""
    found = {name: getattr(cs, name) for name in cs.__all__}
    found |= {name: getattr(cs.generate, name) for name in cs.generate.__all__}
    found |= {name: getattr(weak, name) for name in ("RandomBregman", "RandomSplit")}
    kept = (BaseEstimator, weak.WeakClusterer)
    return {name: it for name, it in found.items() if inspect.isclass(it) and issubclass(it, kept)}


PUBLIC = _public()


def _parts(title):
    """The parts of a card by their heading, each without it."""
    text = CARDS[title].partition("```python")[0]
    pieces = re.split(r"^\*\*([^*]+)\.\*\*", text, flags=re.MULTILINE)
    return dict(zip(pieces[1::2], (" ".join(p.split()) for p in pieces[2::2]), strict=True))


def _example(title):
    (code,) = re.findall(r"```python\n(.*?)```", CARDS[title], flags=re.DOTALL)
    return code


def test_every_public_estimator_has_a_card():
    assert set(CARDS) == set(PUBLIC) | {"Recipes"}
    assert {method.estimator_name for method in CONSENSUS.values()} <= set(CARDS)


@pytest.mark.parametrize("title", sorted(PUBLIC))
def test_a_card_has_all_parts(title):
    parts = _parts(title)
    assert list(parts) == PARTS
    assert all(parts.values())
    assert len(re.findall(r"[^.!?]+[.!?](?= |$)", parts["Idea"])) == 3
    assert parts["Equation"].count("$$") == 2
    assert parts["When it fails"].startswith("- ")
    first = CARDS[title].strip().splitlines()[0]
    assert f".{title}`" in first, "the first line says how to type it"


def _default(owner, parameter):
    """As the card writes it."""
    if parameter.default is parameter.empty:
        return "required"
    field = getattr(owner, "__dataclass_fields__", {}).get(parameter.name)
    made = field is not None and field.default_factory is not MISSING
    return f"`{(field.default_factory() if made else parameter.default)!r}`"


@pytest.mark.parametrize("title", sorted(PUBLIC))
def test_parameters_are_those_of_the_signature(title):
    told = re.findall(r"^\| `(\w+)` \| (.+?) \| (.+) \|$", CARDS[title], flags=re.MULTILINE)
    owner = PUBLIC[title]
    signature = inspect.signature(owner).parameters.values()
    assert [(name, default) for name, default, _ in told] == [
        (parameter.name, _default(owner, parameter)) for parameter in signature
    ]


@pytest.mark.parametrize("name", sorted(CONSENSUS))
def test_the_paper_is_that_of_the_table(name):
    method = CONSENSUS[name]
    assert _parts(method.estimator_name)["Paper"].startswith(method.paper)
    assert f"`cs.consensus.{name}`" in CARDS[method.estimator_name]


@pytest.mark.parametrize("title", sorted(CARDS))
def test_the_example_of_a_card_runs(title):
    if title == "HGPA":
        pytest.importorskip("mtkahypar", reason="HGPA needs the extra 'graph'")
    code = _example(title)
    assert len(ast.parse(code).body) <= 4
    names = {}
    exec(compile(code, f"card of {title}", "exec"), names)
    n = len(names["X"]) if "X" in names else None
    if "model" in names:
        model = names["model"]
        assert type(model).__name__ == title or title == "RandomSplit"
        found = model.labels_ if hasattr(model, "labels_") else model.scores_
        assert n is None or len(found) == n
    elif "labels" in names:
        assert names["labels"].shape == (n,)
    elif "ens" in names:
        assert names["ens"].n_members > 1
    else:
        assert names["grades"].sum(axis=1) == pytest.approx(1)


def test_recipes_are_listed_with_their_signatures():
    told = dict(re.findall(r"^\| `(\w+)\((.*?)\)` \|", CARDS["Recipes"], flags=re.MULTILINE))
    assert set(told) == set(recipes.__all__)
    for name, text in told.items():
        parts = []
        for parameter in inspect.signature(getattr(recipes, name)).parameters.values():
            if parameter.kind is parameter.KEYWORD_ONLY and "*" not in parts:
                parts.append("*")
            given = parameter.default is not parameter.empty
            parts.append(f"{parameter.name}={parameter.default!r}" if given else parameter.name)
        assert text == ", ".join(parts)


def _script():
    place = ROOT / "docs" / "make_cards.py"
    spec = importlib.util.spec_from_file_location("make_cards", place)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_table_of_the_index_is_up_to_date():
    inside = re.search(r"<!-- methods -->\n(.*?)\n<!-- /methods -->", _read("index.md"), re.DOTALL)
    assert inside[1].splitlines() == _script().methods_table()


def _slug(heading):
    return re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-")


@pytest.mark.parametrize("page", sorted(path.name for path in METHODS.glob("*.md")))
def test_links_lead_to_a_page_and_a_heading_of_it(page):
    for target, _, anchor in (
        link.partition("#") for link in re.findall(r"\]\(([^)\s]+)\)", _read(page))
    ):
        place = METHODS / (target or page)
        assert place.exists(), target
        if anchor:
            text = place.read_text(encoding="utf-8")
            slugs = map(_slug, re.findall(r"^#+ (.+)$", text, flags=re.MULTILINE))
            assert anchor in slugs, f"{target}#{anchor}"


def _trials():
    """The table of the trials: its columns, and rows by method and settings."""
    rows = [line for line in _read("trials.md").splitlines() if line.startswith("| `")]
    head = next(line for line in _read("trials.md").splitlines() if line.startswith("| method"))
    columns = [cell.strip() for cell in head.split("|")[2:-1]]
    cells = ([cell.strip() for cell in row.split("|")[1:-1]] for row in rows)
    return columns, {c[0].strip("`"): c[1:] for c in cells if len(c) == len(columns) + 1}


def test_every_method_stands_in_the_trials():
    _, rows = _trials()
    assert {method.estimator_name for method in CONSENSUS.values()} <= set(rows)


def test_figures_quoted_from_the_trials_are_in_their_table():
    columns, rows = _trials()
    quoted = 0
    for method in CONSENSUS.values():
        own = [row for title, row in rows.items() if title.split("(")[0] == method.estimator_name]
        text = _parts(method.estimator_name)["When it fails"]
        pattern = r"(\d\.\d\d) on (?:the )?(?:trial |\[trials?\]\(trials\.md\) )?\*([a-z ]+)\*"
        for figure, trial in re.findall(pattern, text):
            quoted += 1
            place = columns.index(trial)
            means = {row[place].split(" ± ")[0] for row in own}
            assert figure in means, f"{method.estimator_name}: {trial}"
    assert quoted > 30
