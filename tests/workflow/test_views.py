"""Results in a notebook and on a page: valid, and nothing of the data becomes markup."""

import subprocess
import sys
from html.parser import HTMLParser

import numpy as np
import pytest

import consilience as cs
from consilience.workflow._html import as_html

EVIL = "<script>alert('1 & 2')</script>"


class Balanced(HTMLParser):
    """Reads a piece of HTML, and fails on tags that do not match."""

    def __init__(self, text):
        super().__init__()
        self.open, self.tags, self.text = [], set(), ""
        self.feed(text)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag, attrs):
        self.open.append(tag)
        self.tags.add(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.text += data


def test_a_piece_of_html_shows_text_as_text():
    page = Balanced(as_html(EVIL, [(EVIL, EVIL)], (EVIL,), [(EVIL,)], [EVIL]))
    assert "script" not in page.tags
    assert page.text.count(EVIL) == 6


def test_every_result_shows_itself(numbers):
    ids = [f"{EVIL} {i}" for i in range(75)]
    frame = pytest.importorskip("pandas").DataFrame(numbers, columns=["x", "y", "z", EVIL])
    results = (
        cs.cluster(frame, 3, ids=ids, n_members=5, random_state=0),
        cs.minority_groups(frame, ids=ids, n_repetitions=20, random_state=0),
        cs.ambiguous_objects(frame, 3, ids=ids, n_members=5, random_state=0),
    )
    for result in results:
        page = Balanced(result._repr_html_())
        assert "script" not in page.tags
        assert type(result).__name__ in page.text
        assert all(note in page.text for note in result.notes)
    assert EVIL in Balanced(results[0]._repr_html_()).text  # the constant column, in a note
    assert EVIL in Balanced(results[2]._repr_html_()).text  # an ambiguous object


def test_what_a_printed_result_advises_to_look_at_is_there(numbers):
    for result in (
        cs.cluster(numbers, 3, n_members=5),
        cs.minority_groups(numbers, n_repetitions=20),
        cs.ambiguous_objects(numbers, 3, n_members=5),
    ):
        assert result.views in repr(result)
        for view in result.views.split(", "):
            assert getattr(result, view.partition("(")[0]) is not None


def test_very_many_clusters_are_not_all_listed():
    result = cs.cluster(ensemble=[np.arange(60)], n_clusters=60)
    _, lines = result.rows()
    assert len(lines) == 21
    assert lines[-1][:2] == ("40 more", "40")
    assert len(repr(result)) < 2000


def test_a_page_of_each_job_that_has_one(numbers, tmp_path):
    pytest.importorskip("jinja2")
    for name, result in (
        ("a.html", cs.cluster(numbers, 3, n_members=5)),
        ("b.html", cs.minority_groups(numbers, n_repetitions=20)),
    ):
        result.report(tmp_path / name, title="Things <i>")
        assert "<h1>Things &lt;i&gt;</h1>" in (tmp_path / name).read_text()


def test_the_package_runs_as_a_program():
    done = subprocess.run(
        [sys.executable, "-m", "consilience", "--version"], capture_output=True, text=True
    )
    assert (done.returncode, done.stdout.strip()) == (0, cs.__version__)
    refused = subprocess.run(
        [sys.executable, "-m", "consilience", "bogus"], capture_output=True, text=True
    )
    assert refused.returncode == 2
    assert refused.stderr.startswith("consilience: ")
