"""What a command says while it works: on standard error, never on standard output."""

import io
import logging
import os
import sys
import threading
import time
from pathlib import Path

import pytest

import consilience as cs
from consilience._cli import progress as shown
from consilience._cli.speech import Speaker, silence
from consilience._cli.stages import Clock, Teller, shown_detail, stages_shown
from consilience.cli import main

LABELS = "id,a,b,c\n" + "".join(f"o{i},{i // 4},{i // 3},{i // 4}\n" for i in range(8))


def told(teller, name, seconds):
    with teller.stage(name):
        time.sleep(seconds)
    return teller.stream.getvalue()


def test_a_stage_of_a_moment_is_not_told():
    assert told(Teller(io.StringIO(), live=False, moment=60.0), "read", 0.0) == ""


def test_in_a_pipe_a_stage_is_a_line_and_now_and_then_another():
    teller = Teller(io.StringIO(), live=False, moment=0.0, again=0.01)
    lines = told(teller, "consensus", 0.5).splitlines()
    assert lines[0] == "consilience: combining the clusterings ..."
    assert all(line.startswith("consilience: still combining") for line in lines[1:])
    # Every pause is as long as all before it: few lines, however long it takes.
    assert 1 < len(lines) <= 8


def test_on_a_terminal_seconds_run_and_the_line_is_gone_in_the_end():
    text = told(Teller(io.StringIO(), live=True, moment=0.0), "number of clusters", 0.2)
    assert "looking for the number of clusters ... 0 s" in text
    assert "\n" not in text
    assert text.endswith("\r")
    assert text.split("\r")[-2].strip() == ""


def test_a_bar_tells_the_block_that_a_pass_is_at(monkeypatch):
    rich = pytest.importorskip("rich.console")
    monkeypatch.delenv("CONSILIENCE_PROGRESS", raising=False)
    page = rich.Console(file=io.StringIO(), width=120)
    with stages_shown():
        bar = shown._bar()
        bar.add_task("generate", total=2)
        shown_detail(3, 8)
        threading.Thread(target=lambda: page.print(bar.get_renderable())).start()
        until = time.monotonic() + 20.0
        while time.monotonic() < until and "generate" not in page.file.getvalue():
            time.sleep(0.01)
    assert "block 3 of 8" in page.file.getvalue()


@pytest.mark.parametrize("live", [False, True])
def test_what_is_told_leaves_the_buffer_at_once(live):
    """A pipe keeps text until there is much of it; whoever waits is to read it now."""
    came = io.BytesIO()
    stream = io.TextIOWrapper(io.BufferedWriter(came, 10**6), encoding="utf-8")
    wanted = [
        b"combining the clusterings ...",
        *([] if live else [b"consilience: still combining"]),
    ]
    with Teller(stream, live=live, moment=0.0, again=0.01).stage("consensus"):
        until = time.monotonic() + 20.0
        while time.monotonic() < until and not all(text in came.getvalue() for text in wanted):
            time.sleep(0.01)
        heard = came.getvalue()
    assert all(text in heard for text in wanted)
    assert live == came.getvalue().endswith(b"\r")


def test_a_stage_with_a_bar_is_left_to_the_bar_on_a_terminal():
    assert told(Teller(io.StringIO(), live=True, moment=0.0), "generate", 0.1) == ""
    piped = told(Teller(io.StringIO(), live=False, moment=0.0), "generate", 0.1)
    assert "making the clusterings" in piped


def test_errors_pass_and_nothing_is_left_running():
    before = set(threading.enumerate())
    teller = Teller(io.StringIO(), live=False, moment=0.0)
    with pytest.raises(KeyError), teller.stage("read"):
        raise KeyError
    assert set(threading.enumerate()) <= before


def test_a_listener_that_has_gone_and_threads_that_cannot_start_stop_no_work(monkeypatch):
    gone = io.StringIO()
    gone.close()
    with Teller(gone, live=False, moment=0.0).stage("read"):
        time.sleep(0.05)

    def start(self):
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(threading.Thread, "start", start)
    with Teller(io.StringIO(), live=False, moment=0.0).stage("read"):
        pass


def test_stages_are_told_only_inside_and_unless_silent(monkeypatch):
    monkeypatch.delenv("CONSILIENCE_PROGRESS")
    monkeypatch.setattr(Teller, "moment", 0.0)
    made = []
    monkeypatch.setattr(Teller, "_speak", lambda self, words, over: made.append(words))
    clock = Clock()
    with clock.stage("read"):
        pass
    with stages_shown(silent=True), clock.stage("read"):
        pass
    assert made == []
    with stages_shown(), clock.stage("read"):
        pass
    assert made == ["reading"]
    monkeypatch.setenv("CONSILIENCE_PROGRESS", "0")
    with stages_shown(), clock.stage("read"):
        pass
    assert made == ["reading"]


def test_a_command_tells_its_stages_and_keeps_its_output_clean(monkeypatch, tmp_path, capsys):
    monkeypatch.delenv("CONSILIENCE_PROGRESS")
    said = []
    speak = lambda self, words, over: said.append((words, self.stream is sys.stderr))  # noqa: E731
    monkeypatch.setattr(Teller, "_speak", speak)
    monkeypatch.chdir(tmp_path)
    (tmp_path / "labels.csv").write_text(LABELS)
    assert main(["cluster", "--labels", "labels.csv", "--json", "--method", "voting", "-k2"]) == 0
    words = ["reading", "making the clusterings", "combining the clusterings"]
    assert said == [(word, True) for word in [*words, "writing the results"]]
    assert capsys.readouterr().out.startswith("{")
    said.clear()
    asked = ["cluster", "--labels", "labels.csv", "--quiet", "--force", "--method", "voting", "-k2"]
    assert main(asked) == 0
    assert said == []


def test_a_command_tells_that_it_looks_for_the_number(monkeypatch, tmp_path):
    monkeypatch.delenv("CONSILIENCE_PROGRESS")
    said = []
    monkeypatch.setattr(Teller, "_speak", lambda self, words, over: said.append(words))
    monkeypatch.chdir(tmp_path)
    (tmp_path / "labels.csv").write_text(LABELS)
    assert main(["cluster", "--labels", "labels.csv", "--strict", "--no-report"]) == 0
    assert said[2:4] == ["looking for the number of clusters", "combining the clusterings"]


@pytest.mark.parametrize("silent", [False, True])
def test_that_kernels_are_compiled_is_told_inside_and_unless_silent(monkeypatch, capsys, silent):
    monkeypatch.delenv("CONSILIENCE_PROGRESS")
    kernels = logging.getLogger("consilience.kernels")
    before = (kernels.level, list(kernels.handlers))
    with stages_shown(silent=silent):
        kernels.info("compiling, only this once")
    kernels.info("compiling, only this once")
    said = "" if silent else "consilience: compiling, only this once ...\n"
    assert capsys.readouterr().err == said
    assert (kernels.level, list(kernels.handlers)) == before


class Told:
    """A bar that keeps what it is told."""

    def __init__(self):
        self.said = []

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.said.append("closed")

    def add_task(self, name, total):
        self.said.append((name, total))

    def advance(self, task):
        self.said.append("one")

    def update(self, task, **how):
        self.said.append(how)


@pytest.fixture
def bar(monkeypatch):
    made = Told()
    monkeypatch.setattr(shown, "_bar", lambda: made)
    return made


def test_a_bar_runs_where_many_clusterings_are_made_and_nowhere_else(bar):
    X = [[float(i % 7), float(i // 20)] for i in range(40)]
    cs.cluster(X, 2, n_members=5, random_state=0, callbacks=[shown.Bars()])
    whole = {"completed": 1, "total": 1}
    assert bar.said == [("KMeansEnsemble - generate", 5), *["one"] * 5, whole, "closed"]
    bar.said.clear()
    cs.cluster(ensemble=[[0, 0, 1, 1]] * 5, n_clusters=2, callbacks=[shown.Bars()])
    assert bar.said == []


def test_a_bar_is_closed_and_a_voice_ends_with_a_job_that_fails(bar, monkeypatch):
    def fail(*_, **__):
        raise MemoryError

    monkeypatch.delenv("CONSILIENCE_PROGRESS")
    monkeypatch.setattr("consilience.generate.KMeansEnsemble._members", fail)
    before = set(threading.enumerate())
    with stages_shown(), pytest.raises(MemoryError):
        cs.cluster([[1.0], [2.0], [9.0]], 2, callbacks=[shown.Voice(), shown.Bars()])
    assert bar.said[-1] == "closed"
    assert set(threading.enumerate()) <= before


def test_bars_are_for_terminals(monkeypatch):
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True, raising=False)
    assert [type(one) for one in shown.progress()] == [shown.Voice, shown.Bars]
    assert [type(one) for one in shown.progress(bars=False)] == [shown.Voice]
    monkeypatch.setattr(sys.stdout, "isatty", lambda: False, raising=False)
    assert [type(one) for one in shown.progress()] == [shown.Voice]


@pytest.mark.parametrize(("words", "bars"), [([], True), (["--quiet"], False), (["--json"], False)])
def test_bars_are_not_for_those_who_want_no_words(monkeypatch, tmp_path, words, bars):
    monkeypatch.chdir(tmp_path)
    Path("labels.csv").write_text("a,b\n0,0\n0,1\n1,1\n1,1\n")
    asked = []
    monkeypatch.setattr(
        "consilience._cli.jobs.progress", lambda *, bars: asked.append(bars) or (shown.Voice(),)
    )
    told = ["cluster", "--labels", "labels.csv", "--method", "voting", "-k2", "--no-report"]
    assert main([*told, *words]) == 0
    assert asked == [bars]


@pytest.mark.skipif(not Path("/proc/self/fd").is_dir(), reason="open files cannot be counted here")
def test_silence_sends_the_rest_nowhere_and_leaves_nothing_open(monkeypatch, tmp_path):
    with (tmp_path / "said").open("wb") as file:
        monkeypatch.setattr(sys, "stdout", file)
        before = len(os.listdir("/proc/self/fd"))
        os.write(file.fileno(), b"heard")
        silence()
        os.write(file.fileno(), b", not heard")
        assert len(os.listdir("/proc/self/fd")) == before
    assert (tmp_path / "said").read_bytes() == b"heard"


def test_text_is_flushed_while_its_failure_can_still_be_told(monkeypatch):
    class Full(io.StringIO):
        def flush(self):
            raise OSError(28, "No space left on device")

    monkeypatch.setattr(sys, "stdout", Full())
    speaker = Speaker(file=io.StringIO())
    speaker.write("text")
    assert speaker.failed.errno == 28


def test_a_bar_says_what_is_left_and_in_the_end_what_it_took():
    pytest.importorskip("rich")
    made = shown._bar()
    assert [type(column).__name__ for column in made.columns] == [
        "TextColumn", "BarColumn", "TaskProgressColumn", "TimeRemainingColumn", "Detail",
    ]  # fmt: skip
    assert made.columns[3].elapsed_when_finished is True
    assert made.columns[2].text_format == "{task.percentage:>3.0f}%"
