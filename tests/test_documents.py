"""What the documents promise: the code in the README runs, and its commands are the ones used."""

import re
from pathlib import Path

import pytest

import consilience as cs
from consilience.consensus import CONSENSUS

ROOT = Path(__file__).parent.parent


def _blocks(name, language):
    text = (ROOT / name).read_text(encoding="utf-8")
    return re.findall(rf"```{language}\n(.*?)```", text, flags=re.DOTALL)


def test_the_python_of_the_readme_does_what_it_says():
    names = {}
    for block in _blocks("README.md", "python"):
        exec(compile(block, "README.md", "exec"), names)
    assert names["model"].n_clusters_ == 2
    assert cs.metrics.consistency_index(names["truth"], names["model"].labels_) == 1.0


def test_continuous_integration_runs_the_readmes_test_command():
    _, tests = (block.strip() for block in _blocks("README.md", "")[:2])
    assert tests.endswith("python -m pytest")
    assert "\npython -m pytest" in (ROOT / ".ci" / "run").read_text(encoding="utf-8")


@pytest.mark.parametrize("method", sorted(CONSENSUS))
def test_every_method_stands_in_the_readme(method):
    name = CONSENSUS[method].estimator_name
    rows = (ROOT / "README.md").read_text(encoding="utf-8").splitlines()
    assert any(f"`{name}`" in row and "| ready |" in row for row in rows)


def test_links_between_documents_lead_somewhere():
    for page in [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *(ROOT / "docs").glob("*.md")]:
        for target in re.findall(r"\]\(([^)#]+)", page.read_text(encoding="utf-8")):
            if "://" not in target:
                assert (page.parent / target).exists(), f"{page.name} links to {target}"
