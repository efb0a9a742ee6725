"""The section that says what makes each group: what it holds, and when it is left out."""

import numpy as np
import pytest
from report.summary_contract import check_section, check_summary, figures_of, section_of

from consilience.ensemble import Ensemble
from consilience.explain import profile
from consilience.report import render, summarise_consensus
from consilience.report._profile import profile_section


def made(n=60, d=5, k=3, **more):
    rng = np.random.default_rng(0)
    labels = np.arange(n) % k
    X = rng.normal(size=(n, d)) + 4 * np.eye(k, d)[labels]
    members = np.where(rng.random((n, 9)) < 0.25, rng.integers(0, k, (n, 9)), labels[:, None])
    sure = np.linspace(0.4, 1, n)
    found = profile(X, labels, ensemble=Ensemble(members), confidence=sure, **more)
    return Ensemble(members), labels, found


def test_a_summary_with_a_profile_keeps_the_contract():
    ensemble, labels, found = made()
    summary = summarise_consensus(ensemble, labels, profile=found)
    check_summary(summary)
    assert [part["id"] for part in summary["sections"]][:2] == ["objects", "profile"]
    importance, cards, differences, doubtful = figures_of(section_of(summary, "profile"))
    assert importance["labels"] == found.columns["column"].tolist()
    assert [card["cluster"] for card in cards["cards"]] == [0, 1, 2]
    assert len(differences["rows"]) == len(found.differences["p"])
    assert {row[0] for row in differences["rows"]} == {0, 1, 2}
    assert "clusterings put it with cluster" in doubtful["rows"][0][-1]
    assert "profile" in render(summary)


def test_thousands_of_columns_are_cut_and_it_is_said():
    rng = np.random.default_rng(0)
    labels = np.arange(40) % 2
    X = rng.normal(size=(40, 3000))
    X[:, 7] += 9 * labels
    notes = []
    part = profile_section(profile(X, labels), notes)
    check_section(part, 40)
    _, _, differences = figures_of(part)
    assert len(differences["rows"]) == 200
    assert differences["rows"][0][1] == "c7"
    assert differences["rows"][100][:2] == [1, "c7"]
    assert "Of 6,000 differences of groups in columns the 200 are listed" in notes[0]


def test_one_group_has_no_section():
    assert profile_section(profile(np.ones((4, 2)), np.zeros(4, int)), []) is None


@pytest.mark.parametrize("labels", [[0, 0, 1, 1], [0, 0, -1, -1], ["a", "a", "b", "b"]])
def test_few_objects_noise_and_names(labels):
    found = profile(np.arange(8.0).reshape(4, 2), labels)
    part = profile_section(found, [])
    check_section(part, 4)
    summary = summarise_consensus(Ensemble([[0, 0, 1, 1]]), labels, profile=found)
    check_summary(summary)


def test_other_columns_say_so():
    _, _, found = made(clustered=False)
    read = profile_section(found, [])["read"]
    assert "made without these columns" in read
    assert "not tests" not in read


def test_very_many_groups_are_cut():
    labels = np.repeat(np.arange(60), 3)
    rng = np.random.default_rng(0)
    notes = []
    part = profile_section(profile(rng.normal(size=(180, 2)), labels), notes)
    check_section(part, 180)
    assert len(figures_of(part)[1]["cards"]) == 50
    assert "The 50 largest of 60 groups are explained." in notes
