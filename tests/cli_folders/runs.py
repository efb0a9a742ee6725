"""The commands that are run, and what they leave in their folder."""

import sys
from pathlib import Path

from consilience.cli import main

COMMAND = [sys.executable, "-c", "import sys; from consilience.cli import main; sys.exit(main())"]
KEEPING = ["cluster", "--labels", "made.csv", "-k", "2", "--out", "out"]
LABELS = [*KEEPING, "--no-keep"]
# A quick method: what it finds is no matter of folders.
QUICK = ["-k", "2", "--members", "6", "--method", "eac"]
CLUSTER = ["cluster", "data.csv", *QUICK, "--no-report", "--no-keep", "--out", "out"]
MINORITY = ["minority", "data.csv", "--repetitions", "5", "--no-report", "--out", "out"]
AMBIGUOUS = ["ambiguous", "data.csv", "-k", "2", "--members", "6", "--out", "out", "--no-report"]
STOPS = {
    "cluster": "consilience.workflow._groups.consensus",
    "ambiguous": "consilience._cli.ambiguous.Flagged",
}


def held(folder="out"):
    """Files of a folder with their contents."""
    paths = sorted(path for path in Path(folder).rglob("*") if path.is_file())
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in paths}


def timeless(folder):
    return {name: text for name, text in held(folder).items() if name != "timings.json"}


def elsewhere(words, folder):
    return [folder if word == "out" else word for word in words]


def stopped(words, monkeypatch):
    """Interrupt a run when its members are made."""

    def stop(*_, **__):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(STOPS[words[0]], stop)
        assert main(words) == 130


def members():
    return {name: text for name, text in held().items() if name.startswith("members/")}
