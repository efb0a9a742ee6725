"""Folders of runs: what can be shown is shown, the rest says why."""

import json
import shutil

import numpy as np
import pytest

from consilience.errors import InvalidInputError
from consilience.explore import open_run, view


@pytest.fixture(scope="module")
def saved(result, tmp_path_factory):
    folder = tmp_path_factory.mktemp("runs") / "whole"
    result.save(folder)
    return folder


@pytest.fixture
def run(saved, tmp_path):
    shutil.copytree(saved, tmp_path / "run")
    return tmp_path / "run"


def write_labels(folder, text="id,cluster,confidence,runner_up\na,0,0.9,1\nb,1,0.6,0\nc,-1,,\n"):
    (folder / "labels.csv").write_text(text, encoding="utf-8")


def test_a_kept_run_is_shown_whole(run, result):
    found, wanted = open_run(run), view(result)
    np.testing.assert_array_equal(found.labels, result.labels)
    np.testing.assert_array_equal(found.cuts.numbers, wanted.cuts.numbers)
    np.testing.assert_array_equal(found.maps[1].places, wanted.maps[1].places)
    assert found.missing == ()


def test_a_run_of_a_later_version_shows_its_labels(run):
    facts = json.loads((run / "model.json").read_text())
    (run / "model.json").write_text(json.dumps({**facts, "format": 99, "consilience": "9.0"}))
    write_labels(run)
    found = open_run(run)
    assert found.labels.tolist() == [0, 1, -1]
    assert found.confidence[:2].tolist() == [0.9, 0.6]
    assert "written by consilience 9.0" in found.missing[0]
    assert "no members" in found.missing[1]


def test_a_half_written_run_shows_its_labels(run):
    (run / "model.npz").unlink()
    write_labels(run)
    assert "There is no model.npz" in open_run(run).missing[0]


def test_a_run_without_anything_kept_shows_its_labels(tmp_path):
    write_labels(tmp_path)
    found = open_run(tmp_path)
    assert found.kind == "labels"
    assert "no model.json" in found.missing[0]
    assert found.ids == ("a", "b", "c")


def test_scores_of_small_groups_are_shown(tmp_path):
    text = "id,score,group,undecided\n1,0.2,-1,0\n2,0.9,0,0\n3,0.8,0,1\n"
    (tmp_path / "scores.csv").write_text(text, encoding="utf-8")
    found = open_run(tmp_path)
    assert found.scores.values.tolist() == [0.2, 0.9, 0.8]
    assert (found.scores.threshold, found.labels.tolist()) == (0.8, [-1, 0, 0])


def test_nothing_to_show_says_so(tmp_path, run):
    with pytest.raises(InvalidInputError, match="holds nothing to explore"):
        open_run(tmp_path / "run" / "..")
    with pytest.raises(InvalidInputError, match="is no folder"):
        open_run(tmp_path / "none")
    (run / "model.npz").unlink()
    with pytest.raises(InvalidInputError, match=r"There is no model.npz"):
        open_run(run)


def test_an_interrupted_run_says_how_to_go_on(tmp_path):
    (tmp_path / "plan.json").write_text("{}")
    with pytest.raises(InvalidInputError, match="--resume"):
        open_run(tmp_path)


@pytest.mark.parametrize(
    "text",
    [
        "id,cluster\na,x\n",
        "id,cluster\na,99999999999\n",
        "name,group\na,0\n",
        "",
        "id,cluster\n\xff",
    ],
)
def test_damaged_labels_are_refused_in_words(tmp_path, text):
    (tmp_path / "labels.csv").write_bytes(text.encode("latin-1"))
    with pytest.raises(InvalidInputError, match=r"labels.csv"):
        open_run(tmp_path)


def test_links_that_lead_out_of_the_folder_are_not_followed(tmp_path):
    outside = tmp_path / "outside"
    inside = tmp_path / "inside"
    outside.mkdir()
    inside.mkdir()
    write_labels(outside)
    (inside / "labels.csv").symlink_to(outside / "labels.csv")
    with pytest.raises(InvalidInputError, match="nothing to explore"):
        open_run(inside)


def test_comments_above_the_header_are_left_out(tmp_path):
    write_labels(tmp_path, "# what was done\n# more\nid,cluster\na,3\nb,0\n")
    assert open_run(tmp_path).labels.tolist() == [1, 0]


def test_groups_and_second_groups_are_numbered_alike(tmp_path):
    lines = ["a,0,4", "b,2,4", "c,4,2", "d,-1,", "e,2,3", "f,2,inf", "g,2,1e12"]
    write_labels(tmp_path, "id,cluster,runner_up\n" + "\n".join(lines) + "\n")
    opened = open_run(tmp_path)
    assert opened.labels.tolist() == [0, 1, 2, -1, 1, 1, 1]
    assert opened.runner_up.tolist() == [2, 2, 1, -1, -1, -1, -1]
    assert opened.runner_up.dtype == np.int32
