"""What a command says beside its figures, and how a run ends."""

import io
import os
import re
import time
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from unittest.mock import Mock

import numpy as np
import pytest
from cli_values.read_back import GIVEN, summary_of
from numba import config as numba_config

from consilience import Ensemble
from consilience._cli.folders import MODEL, PROFILE
from consilience.cli import main
from consilience.compare import compare_methods

pytest.importorskip("cyclopts")
app = pytest.importorskip("consilience._cli.commands").app
Console = pytest.importorskip("rich.console").Console
pytestmark = pytest.mark.skipif(bool(numba_config.DISABLE_JIT), reason="slow as plain Python")

COMMANDS = [name for name in app if not name.startswith("-")]
EAC = ["--method", "eac"]  # where the method is no matter, one that is quick


@pytest.mark.parametrize(
    ("error", "status", "said"),
    [
        (MemoryError(), 2, "not enough memory"),
        (OSError(28, "No space left on device"), 2, "No space left on device"),
        (OSError(13, "Permission denied", "there.csv"), 2, "Permission denied: there.csv"),
        (KeyboardInterrupt(), 130, "nothing was written"),
    ],
)
def test_whatever_stops_a_run_is_one_line(blobs, capsys, monkeypatch, error, status, said):
    from consilience._cli import inputs as job

    def stop(*args, **kwargs):
        raise error

    monkeypatch.setattr(job, "gather", stop)
    assert main(["cluster", *GIVEN, "-k", "2"]) == status
    captured = capsys.readouterr()
    assert said in captured.err
    assert captured.out == ""
    assert len(captured.err.splitlines()) == 1
    assert sorted(path.name for path in Path().iterdir()) == ["blobs.csv"]


@pytest.mark.parametrize(
    ("words", "hint"),
    [
        (["cluster", "--colour", "red"], "See 'consilience cluster --help'."),
        *(([name, "--colour"], f"See 'consilience {name} --help'.") for name in COMMANDS),
        (["bogus"], "See 'consilience --help'."),
    ],
)
def test_whoever_mistypes_is_sent_to_the_help_of_that_command(words, hint, capsys):
    assert main(words) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.startswith("consilience: ")
    assert captured.err.endswith(f"{hint}\n")
    assert len(captured.err.splitlines()) == 1


def test_a_reader_that_leaves_before_anything_is_said_ends_the_run_with_1(monkeypatch, capsys):
    from consilience._cli import methods as job

    def leave(*args, **kwargs):
        raise BrokenPipeError

    monkeypatch.setattr(job, "tell", leave)
    assert main(["methods"]) == 1
    assert capsys.readouterr().err == ""


def test_a_failure_of_threads_is_told_and_any_other_is_a_defect(blobs, monkeypatch, capsys):
    from consilience._cli import inputs as job

    said = "can't start new thread"

    def stop(*args, **kwargs):
        raise RuntimeError(said)

    monkeypatch.setattr(job, "gather", stop)
    assert main(["cluster", *GIVEN]) == 2
    assert "lets no more threads start" in capsys.readouterr().err
    said = "something else"
    with pytest.raises(RuntimeError, match="something else"):
        main(["cluster", *GIVEN])


@pytest.mark.parametrize(
    ("words", "files"),
    [
        (["cluster", "-k", "2", "--members", "5"], ["labels.csv", *PROFILE, *MODEL, "report.html"]),
        (["cluster", "-k", "2", "--members", "5", *EAC, "--no-report"], ["labels.csv", *MODEL]),
        (["ambiguous", "-k", "2", "--members", "5"], ["ambiguous.csv", "report.html"]),
        (["minority", "--repetitions", "5"], ["scores.csv", "report.html"]),
    ],
)
def test_every_file_is_named_with_the_seconds_of_all_and_nothing_else_is_said(
    blobs, words, files, capsys
):
    assert main([words[0], *GIVEN, *words[1:], "--out", "out"]) == 0
    said = capsys.readouterr().out
    *_, last = said.splitlines()
    names = [str(Path("out", name)) for name in [*files, "timings.json", "summary.json"]]
    told = re.fullmatch(r"Wrote (.*) and (.*) \((\d+\.\d) s in all\)\.", last)
    assert [*told.group(1).split(", "), told.group(2)] == names
    assert float(told.group(3)) < 60
    assert sorted(path.name for path in Path("out").iterdir()) == sorted(
        Path(name).name for name in names
    )
    assert summary_of("out")["files"] == [Path(name).name for name in names]
    assert said.startswith("blobs.csv: 40 objects")
    # Nobody asked to go on with anything.
    assert "nothing to go on with" not in said


def test_a_run_that_was_to_go_on_says_that_it_began_anew(blobs, capsys):
    words = ["cluster", *GIVEN, "-k", "2", "--members", "5", *EAC, "--no-report", "--resume"]
    assert main(words) == 0
    note = "Note: There was nothing to go on with in 'consilience-blobs'"
    assert note in capsys.readouterr().out
    # How a run went is no part of its results.
    found = summary_of("consilience-blobs")
    (warning,) = found["warnings"]
    assert warning.startswith("How clear these groups are was not judged")
    assert "resume" not in found["options"]
    assert "--resume" not in found["command"]


def test_force_throws_away_what_an_interrupted_run_left_unless_it_is_to_go_on(blobs, monkeypatch):
    words = ["cluster", *GIVEN, "-k", "2", "--members", "5", "--quiet", "--no-report"]
    for how, is_kept in ((["--force"], False), (["--force", "--resume"], True)):
        with monkeypatch.context() as patch:
            patch.setattr("consilience.workflow._groups.consensus", Mock(side_effect=MemoryError))
            assert main([*words, "--force"]) == 2
            found = [*Path("consilience-blobs").rglob("*.npz")]
            assert len(found) >= 5
            for path in found:
                os.utime(path, (1, 1))
            assert main([*words, *how]) == 2
        assert all((path.stat().st_mtime == 1) is is_kept for path in found)


@pytest.mark.parametrize("words", [["demo"], ["minority", *GIVEN, "--repetitions", "5"]])
def test_a_job_that_cannot_go_on_with_a_run_refuses_its_folder(blobs, words, capsys):
    Path("out").mkdir()
    Path("out/plan.json").write_text('{"consilience_run": 1}')
    assert main([*words, "--out", "out"]) == 2
    assert "holds a run that was interrupted" in capsys.readouterr().err


def test_results_are_replaced_though_some_of_them_are_gone(blobs):
    words = ["cluster", *GIVEN, "-k", "2", "--members", "5", *EAC, "--quiet", "--out", "a/b/c"]
    assert main(words) == 0
    Path("a/b/c/report.html").unlink()
    assert main([*words, "--no-report", "--no-keep", "--force"]) == 0
    assert sorted(path.name for path in Path("a/b/c").iterdir()) == [
        "labels.csv",
        "summary.json",
        "timings.json",
    ]


def test_names_are_printed_as_they_are_on_any_terminal(blobs, capsys, monkeypatch):
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("TERM", "xterm-256color")
    Path("blobs.csv").rename("[red]7[.csv")
    given = ["[red]7[.csv", *GIVEN[1:], "-k", "2", "--members", "4", *EAC, "--out", "[bold]1[x]"]
    assert main(["cluster", *given, "--no-report"]) == 0
    said = capsys.readouterr().out
    assert said.startswith("[red]7[.csv: 40 objects, 2 columns of numbers, standardised\n")
    note = next(line for line in said.splitlines() if "Note:" in line)
    assert re.fullmatch(r"\x1b\[33mNote: 4 clusterings are few[^\x1b]*\x1b\[0m", note)
    assert f"Wrote {Path('[bold]1[x]', 'labels.csv')}, " in said
    # Numbers in a sentence are not coloured.
    assert "\x1b[1;36m" not in said


def test_a_note_is_printed_as_it_is():
    from consilience._cli.show import show_notes

    out = io.StringIO()
    show_notes(["column [bold]x was dropped"], Console(file=out, width=80))
    assert out.getvalue() == "Note: column [bold]x was dropped\n"


def test_a_table_stands_at_the_edge_and_its_numbers_at_the_right():
    from consilience._cli.show import table

    lines = table("name", "count", right=("count",))
    lines.add_row("a", "1")
    lines.add_row("long name", "100")
    out = io.StringIO()
    Console(file=out, width=60).print(lines)
    assert [line.rstrip() for line in out.getvalue().splitlines() if line.strip()] == [
        " name        count",
        " " + "─" * 17,
        " a               1",
        " long name     100",
    ]


def test_objects_moved_and_objects_kept_are_counted_in_words():
    from consilience._cli.show_cluster import _suited_elsewhere

    assert "1 object has less. --refine moves it there." in _suited_elsewhere(1, refined=False)
    assert "2 objects have less. --refine moves them" in _suited_elsewhere(2, refined=False)
    after = _suited_elsewhere(2, refined=True)
    assert "2 objects have less, after one pass" in after
    assert "--refine" not in after


def test_moved_objects_are_told_by_their_number(blobs):
    from consilience._cli.arguments import ClusterWish, Reading
    from consilience._cli.cluster import find

    reading = Reading(id_column="name", truth_column="group")
    wish = ClusterWish(data=Path("blobs.csv"), n_clusters=2, members=5, reading=reading)
    found = find(wish, Path("run")).result
    assert found.n_moved is None
    assert "moved" not in found.method_in_words()
    for n, words in ((0, "0 objects were"), (1, "1 object was"), (2, "2 objects were")):
        told = replace(found, n_moved=n).method_in_words()
        assert told.endswith(f" {words} then moved to the cluster they are most often with.")


def test_one_method_beside_none_is_not_compared_with_itself():
    from consilience._cli.show_cluster import _show_comparison

    ensemble = Ensemble([[0, 0, 1, 1], [0, 1, 1, 1]])
    for names, told in ((["eac"], False), (["eac", "voting"], True)):
        out = io.StringIO()
        found = compare_methods(ensemble, names, 2, random_state=0)
        _show_comparison(found, Console(file=out, width=200))
        assert ("Agreement of the methods with each other" in out.getvalue()) == told
        assert f"Taken: {found.best}, " in out.getvalue()


def test_methods_that_were_left_out_are_told_with_the_reason():
    from consilience._cli.show_cluster import _show_comparison

    found = compare_methods(Ensemble([[0, 0, 1, 1], [0, 1, 1, 1]]), ["eac", "voting"], 2)
    out = io.StringIO()
    _show_comparison(replace(found, failed={"cspa": "no METIS."}), Console(file=out, width=200))
    assert "cspa was left out: no METIS." in out.getvalue()


@pytest.mark.parametrize(
    ("asked", "chosen", "words"),
    [
        (3, None, "3 clusters, as asked."),
        (4, None, "3 clusters, where 4 were asked for."),
        (None, 5, "3 clusters, where 5 were looked for; ask for others with -k."),
        (None, 3, "Ask for another number of clusters with -k."),
        (None, None, "3 clusters, a number chosen by lwea; ask for another with -k."),
    ],
)
def test_who_chose_the_number_is_told(asked, chosen, words):
    from consilience._cli.show_cluster import _number

    choice = None if chosen is None else SimpleNamespace(n_clusters=chosen)
    found = SimpleNamespace(
        n_clusters=3, asked=asked, choice=choice, lifetimes=None, method="lwea", parameters={}
    )
    assert _number(found) == words


@pytest.mark.parametrize(
    ("candidates", "linkage", "words"),
    [
        ([1], "single", "1 cluster, the number with the longest lifetime."),
        ([1, 4, 2], "single", "lifetime. Next come 4, 2; ask for one with -k."),
        ([1], "average", "lifetime. With average link the lifetime tends to ask for too many"),
    ],
)
def test_the_longest_lifetime_is_told_with_the_next_ones(candidates, linkage, words):
    from consilience._cli.show_cluster import _number

    found = SimpleNamespace(
        n_clusters=1, asked=None, choice=None, lifetimes=np.ones(3), method="eac",
        parameters={"linkage": linkage}, candidates=lambda: candidates,
    )  # fmt: skip
    assert words in _number(found)
    assert ("average link" in _number(found)) == (linkage == "average")


def test_json_holds_plain_values_only():
    from consilience._cli.outputs import as_json
    from consilience.workflow._data import Data

    def plain(ids):
        return [Data(len(ids), ids=np.array(ids)).plain_id(i) for i in range(len(ids))]

    assert plain([1.5, np.nan, np.inf]) == [1.5, "nan", "inf"]
    assert plain([3]) == [3]
    assert plain(["a"]) == ["a"]
    assert all(
        type(value) in (int, float, str) for ids in ([3], [1.5], ["a"]) for value in plain(ids)
    )
    with pytest.raises(ValueError, match="JSON"):
        as_json({"a": float("nan")})


def test_the_demonstration_replaces_only_by_force_and_gives_commands_to_copy(capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "60")
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("TERM", "xterm-256color")
    place = "a folder [bold]of 7 words whose name is longer than any line"
    assert main(["demo", "--out", place]) == 0
    said = capsys.readouterr().out
    assert "\x1b[1;36m" not in said
    data = f"'{Path(place, 'spirals.csv')}'"
    tried = re.findall(r"^  (consilience .*)$", said, re.MULTILINE)
    assert tried == [
        f"consilience cluster {data} --truth-column arm",
        f"consilience cluster {data} --linkage single --truth-column arm --force",
        "consilience methods",
    ]
    assert float(re.search(r"\((\d+\.\d)\s+s\s+in\s+all\)", said).group(1)) < 60
    assert main(["demo", "--out", place]) == 2
    assert "--force" in capsys.readouterr().err


def test_the_pictures_of_the_demonstration_fit_and_show_every_cluster(monkeypatch):
    from consilience._cli import demo

    X = np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0], [1.0, 1.0], [0.5, 0.5], [0.5, 0.5]])
    # Two clusters in the middle: the one with more objects shows, here the fifth.
    X = np.vstack([X, [0.5, 0.5]])
    assert demo._picture(X, np.array([0, 1, 2, 3, 1, 4, 4]), 4).split("\n") == ["+  x", ". .o"]
    # A line of objects has no height.
    flat = X * [1, 0]
    assert demo._picture(flat, np.zeros(7, int), 4).split("\n")[1] == ". .."
    taken = []

    def draw(X, labels, width):
        taken.append(width)
        return "o" * width

    monkeypatch.setattr(demo, "_picture", draw)
    for width, wanted in ((20, 20), (60, 26), (61, 26), (200, 48)):
        taken.clear()
        out = io.StringIO()
        demo._show_pictures(X, {"left": 0, "right": 1}, Console(file=out, width=width))
        assert taken == [wanted, wanted]
        if width > 2 * wanted:
            assert out.getvalue().splitlines()[1].split() == ["o" * wanted, "o" * wanted]


def test_what_cannot_be_printed_is_tried_once_and_told_at_the_end():
    from consilience._cli.speech import Speaker

    class Full(io.StringIO):
        tries = 0

        def write(self, text):
            self.tries += 1
            raise OSError(28, f"No space left, try {self.tries}")

    stream = Full()
    console = Speaker(file=stream)
    for _ in range(3):
        console.print("a line")
    assert stream.tries == 1
    with pytest.raises(OSError, match="try 1") as caught:
        console.close("The results are there.")
    assert caught.value.__notes__ == ["The results are there."]


@pytest.mark.parametrize("live", [True, False])
def test_what_is_being_done_is_seen_at_once(live):
    from consilience._cli.stages import Teller

    class Kept(io.StringIO):
        """A stream that shows only what was flushed."""

        seen = ""

        def flush(self):
            self.seen = self.getvalue()

    first = Kept()
    with Teller(first, live=live, moment=0.0, again=60.0).stage("read"):
        time.sleep(0.1)
        assert "reading" in first.seen
    stream = Kept()
    with Teller(stream, live=live, moment=0.0, again=0.01).stage("read"):
        time.sleep(0.1)
        assert "reading" in stream.seen
        if not live:
            assert "still reading" in stream.seen
    assert stream.seen == stream.getvalue()


@pytest.mark.parametrize(
    ("n", "words"),
    [(0, "No object is doubtful"), (1, "1 object is doub"), (2, "2 objects are doub")],
)
def test_doubtful_objects_are_counted_in_words(n, words):
    from consilience._cli.show_cluster import _show_least_sure

    least = [
        {"id": f"[b]{i}", "cluster": i, "runner_up": (None, -1, 3)[i], "confidence": 0.7 + 0.02 * i}
        for i in range(3)
    ]
    result = SimpleNamespace(
        n_clusters=2, confidence=np.ones(3), doubtful=np.arange(3) < n, doubtful_below=0.73,
        least_sure=lambda most: least[:most], data=SimpleNamespace(ids=None), n_suited_elsewhere=0,
    )  # fmt: skip
    out = io.StringIO()
    found = SimpleNamespace(result=result, wish=SimpleNamespace(refine=False))
    _show_least_sure(found, Console(file=out, width=100))
    assert words in out.getvalue()
    cells = [line.split() for line in out.getvalue().splitlines() if "[b]" in line]
    assert cells == ([["[b]0", "0", "0.70"], ["[b]1", "1", "0.72"]] if n else [])
    assert ("row" in out.getvalue()) == bool(n)
    for quiet in ({"n_clusters": 1}, {"confidence": None}):
        silent = io.StringIO()
        without = SimpleNamespace(**vars(result) | quiet)
        _show_least_sure(SimpleNamespace(result=without), Console(file=silent))
        assert silent.getvalue() == ""
