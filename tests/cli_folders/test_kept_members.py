"""Members that an interrupted run kept in its folder, and the plan beside them."""

import json
import os
from contextlib import ExitStack
from pathlib import Path

import pytest
from cli_folders.runs import (
    AMBIGUOUS,
    CLUSTER,
    MINORITY,
    elsewhere,
    held,
    members,
    stopped,
    timeless,
)

from consilience.cli import main
from consilience.generate import KMeansEnsemble

pytest.importorskip("cyclopts")


@pytest.mark.skipif(os.name == "nt", reason="the folder of a run has no lock there")
def test_whoever_reads_the_members_does_not_spoil_the_results(monkeypatch):
    from consilience._cli import jobs
    from consilience.generate._chunks import locked

    with ExitStack() as stack:

        def meanwhile(found):
            assert stack.enter_context(locked(Path("out")))
            return writers(found)

        writers = jobs.all_writers
        monkeypatch.setattr(jobs, "all_writers", meanwhile)
        assert main(CLUSTER) == 0
    assert {"labels.csv", "summary.json", "timings.json", "plan.json"} <= held().keys()
    assert len(members()) == 6


def test_force_and_resume_together_keep_the_members(monkeypatch):
    assert main([*CLUSTER, "--seed", "3"]) == 0
    stopped([*CLUSTER, "--force"], monkeypatch)
    assert len(members()) == 6

    def none(*_, **__):
        raise AssertionError("a member is made anew")

    with monkeypatch.context() as patch:
        patch.setattr(KMeansEnsemble, "_members", none)
        assert main([*CLUSTER, "--force", "--resume"]) == 0
    assert main(elsewhere(CLUSTER, "calm")) == 0
    assert timeless("out") == timeless("calm")


@pytest.mark.parametrize(("error", "status"), [(KeyboardInterrupt, 130), (MemoryError, 2)])
def test_a_run_that_fails_while_it_is_gone_on_with_keeps_its_members(error, status, monkeypatch):
    stopped(CLUSTER, monkeypatch)
    for number in (1, 4):
        Path(f"out/members/000{number}.npz").unlink()
    before = held()

    def fail(*_, **__):
        raise error

    with monkeypatch.context() as patch:
        patch.setattr(KMeansEnsemble, "_members", fail)
        assert main([*CLUSTER, "--resume"]) == status
    assert held() == before
    plan = json.loads(Path("out/plan.json").read_text())
    Path("out/plan.json").write_text(json.dumps(plan | {"seeds": plan["seeds"][::-1]}))
    with monkeypatch.context() as patch:  # members of another run are somebody's work as well
        patch.setattr("consilience._cli.members.RunFolder.finished", [])
        assert main([*CLUSTER, "--resume"]) == 2
    assert held().keys() == before.keys()


def test_a_run_begun_by_force_is_gone_on_with_beside_the_results_it_replaces(monkeypatch):
    assert main([*CLUSTER, "--seed", "3"]) == 0
    before = held()
    stopped([*CLUSTER, "--force"], monkeypatch)
    assert {name: held()[name] for name in before} == before
    assert main([*CLUSTER, "--resume"]) == 0
    assert main(elsewhere(CLUSTER, "calm")) == 0
    assert timeless("out") == timeless("calm")


def _changed(plan, path):
    inner = plan
    for key in path[:-1]:
        inner = inner[key]
    value = inner[path[-1]]
    inner[path[-1]] = value + 1 if isinstance(value, int) else "1" + str(value)[1:]
    return plan


@pytest.mark.parametrize(
    "path",
    [
        ("n_members",),
        ("seeds", 2),
        ("data", "shape", 0),
        ("data", "shape", 1),
        ("data", "rows", 1),
        ("data", "digests", 0),
        ("versions", "numpy"),
        ("parameters", "random_state"),
    ],
)
def test_a_changed_plan_is_refused_and_no_member_is_lost(path, capsys, monkeypatch):
    stopped(CLUSTER, monkeypatch)
    plan = Path("out/plan.json")
    text = plan.read_text()
    plan.write_text(json.dumps(_changed(json.loads(text), path)))
    before = held()
    capsys.readouterr()
    assert main([*CLUSTER, "--resume"]) == 2
    said = capsys.readouterr().err
    assert "holds another run, and clusterings of two runs must not be mixed" in said
    assert "begin anew with --force" in said
    assert held() == before
    plan.write_text(text)
    assert main([*CLUSTER, "--resume"]) == 0
    assert sorted(held()) == ["labels.csv", "summary.json", "timings.json"]


DAMAGE = {
    "data": [{}, [], None, {"shape": [], "type": "", "rows": [], "digests": []}],
    "parameters": [[], None, "x"],
    "job": [None, 3],
    "versions": [None, []],
    "seeds": [None, "12", ["a"], [1.5]],
    "n_members": [None, "6", [], True],
    "generator": [None, 7],
}


@pytest.mark.parametrize("part", DAMAGE)
def test_a_damaged_plan_is_told_in_words_and_nothing_is_lost(part, capsys, monkeypatch):
    stopped(AMBIGUOUS, monkeypatch)
    plan = Path("out/plan.json")
    sound = json.loads(plan.read_text())
    for value in DAMAGE[part]:
        plan.write_text(json.dumps(sound | {part: value}))
        before = held()
        capsys.readouterr()
        for how in ("--resume", "--force"):
            assert main([*AMBIGUOUS, how]) == 2
            said = capsys.readouterr().err
            assert f"is damaged ('{part}' is missing" in said, value
            assert "Remove this file" in said
            assert len(said.splitlines()) == 1
        assert held() == before
    plan.unlink()
    with monkeypatch.context() as patch:  # what it advises finds the members again
        patch.setattr(KMeansEnsemble, "_members", None)
        assert main(AMBIGUOUS) == 0


@pytest.mark.parametrize("how", ["--resume", "--force"])
def test_a_plan_that_is_nested_or_huge_is_told_in_words(how, capsys, monkeypatch):
    for place in ("_cli.folders", "generate._plan"):
        monkeypatch.setattr(f"consilience.{place}._LARGEST", 1 << 20)
    stopped(AMBIGUOUS, monkeypatch)
    plan = Path("out/plan.json")
    text = plan.read_text().rstrip()[:-1]
    deep = '{"a":' * 300 + "1" + "}" * 300
    for more in (f', "job": {deep}', ', "job": ' + "[" * 100_000, " " * (1 << 20)):
        plan.write_text(f"{text}{more}}}")
        before = members()
        capsys.readouterr()
        assert main([*AMBIGUOUS, how]) == 2
        said = capsys.readouterr().err
        assert "damaged" in said
        assert "emove" in said
        assert members() == before


def test_a_plan_that_lost_its_contents_is_not_left_behind(monkeypatch):
    stopped(CLUSTER, monkeypatch)
    Path("out/plan.json").write_bytes(b"\0" * 10)
    assert main([*MINORITY, "--force"]) == 0
    assert sorted(held()) == ["scores.csv", "summary.json", "timings.json"]
