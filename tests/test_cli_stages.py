"""What a command says: at once, in lines that can be copied, and into nothing where nobody is."""

import io
import shlex
import sys
import time
from pathlib import Path
from types import SimpleNamespace

import pytest

from consilience._cli import demo
from consilience._cli.arguments import ClusterWish
from consilience._cli.stages import Teller, shown_stage, stages_shown
from consilience.cli import main

Console = pytest.importorskip("rich.console").Console


@pytest.mark.parametrize(
    ("live", "again", "said"),
    [
        (True, 60.0, [b"reading ... 0 s"]),
        (False, 60.0, [b": reading ...\n"]),
        (False, 0.01, [b": reading ...\n", b": still reading (0 s) ...\n"]),
    ],
)
def test_what_is_said_is_seen_at_once(live, again, said):
    seen = io.BytesIO()
    teller = Teller(io.TextIOWrapper(seen, encoding="utf-8"), live=live, moment=0.0, again=again)
    end = time.monotonic() + 10
    with teller.stage("read"):
        while not all(words in seen.getvalue() for words in said) and time.monotonic() < end:
            time.sleep(0.001)
        assert all(words in seen.getvalue() for words in said)
    # On a terminal the line is gone when the stage is left, before anything else is printed.
    assert not live or seen.getvalue().endswith(b" \r")


def test_stages_are_told_unless_asked_not_to(monkeypatch):
    monkeypatch.delenv("CONSILIENCE_PROGRESS", raising=False)
    told = []
    monkeypatch.setattr(Teller, "_speak", lambda self, words, over: told.append(words))
    for options, wanted in (({}, ["reading"]), ({"silent": True}, [])):
        with stages_shown(**options), shown_stage("read"):
            pass
        assert told == wanted
        told.clear()


@pytest.mark.parametrize(("words", "status"), [(["methods"], 0), (["no-such-command"], 2)])
def test_a_process_without_output_works_into_nothing(words, status, monkeypatch):
    for name in ("stdout", "stderr"):
        monkeypatch.setattr(sys, name, None)
    try:
        assert main(words) == status
    finally:
        for stream in (sys.stdout, sys.stderr):
            if stream is not None:
                stream.close()


def test_commands_of_the_demo_survive_copying_from_a_narrow_terminal(monkeypatch):
    for name in ("_show_pictures", "show_consensus", "show_written"):
        monkeypatch.setattr(demo, name, lambda *args: None)
    wish = ClusterWish(data=Path("a-folder-of-a-long-name") / "spirals.csv")
    result = SimpleNamespace(agreement={"consistency_index": 1.0}, labels=[])
    consensus = SimpleNamespace(result=result, wish=wish)
    stream = io.StringIO()
    demo._show(demo.Demo(None, None, 0.5, consensus, []), 1.0, Console(file=stream, width=30))
    command = f"  consilience cluster {shlex.quote(str(wish.data))}"
    lines = [line.rstrip() for line in stream.getvalue().splitlines()]
    assert command in lines
    assert f"{command} --linkage single --force" in lines


def test_the_address_of_the_explorer_survives_copying_from_a_narrow_terminal(monkeypatch, capsys):
    pytest.importorskip("jinja2")
    from consilience._cli import explore

    url = "http://127.0.0.1:12345/?token=" + "x" * 40
    monkeypatch.setenv("COLUMNS", "30")
    view = SimpleNamespace(missing=(), title="T", n_objects=3)
    monkeypatch.setattr(explore, "open_run", lambda run: view)
    served = SimpleNamespace(url=url, wait=lambda: None)
    monkeypatch.setattr(explore, "serve", lambda *_, **__: served)
    explore.explore_run(Path("run"), host="h", port=0, browser=False)
    assert url in capsys.readouterr().out.splitlines()
