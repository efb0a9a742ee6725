"""The gallery: its code runs, draws every plot, and its pictures are small and all there."""

import importlib.util
import re
from pathlib import Path

import pytest

from consilience import plot

DOCS = Path(__file__).parent.parent.parent / "docs"
PAGE = (DOCS / "gallery.md").read_text(encoding="utf-8")


def test_every_plot_has_a_section():
    drawn = set(re.findall(r"plot\.(\w+)\(", PAGE))
    assert drawn >= {name for name in plot.__all__ if name.startswith("plot_")}
    assert "rank_diagram" in drawn


def test_pictures_are_there_and_small():
    named = set(re.findall(r"images/gallery/([a-z_]+\.png)", PAGE))
    there = {path.name: path.stat().st_size for path in (DOCS / "images" / "gallery").iterdir()}
    assert set(there) == named
    assert max(there.values()) < 60_000


@pytest.mark.documents
def test_the_page_draws_its_pictures(plt, tmp_path):
    pytest.importorskip("PIL")
    path = DOCS / "examples" / "gallery.py"
    spec = importlib.util.spec_from_file_location("gallery", path)
    gallery = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(gallery)
    gallery.main(tmp_path)
    drawn = {path.name for path in tmp_path.iterdir()}
    assert drawn == set(re.findall(r"images/gallery/([a-z_]+\.png)", PAGE))
    assert not plt.get_fignums()
