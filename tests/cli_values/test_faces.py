"""Values in what the command says of machines, blocks, devices and the explorer."""

import io
import json
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from rich.console import Console

from consilience._cli import doctor as doctor_words
from consilience._cli import explore as explore_command
from consilience._cli import large as large_words
from consilience._cli import stages
from consilience._cli.arguments import ClusterWish
from consilience._cli.by_blocks import goes_by_blocks
from consilience._cli.show import show_places, show_written
from consilience._cli.stages import shown_detail, stages_shown
from consilience.cli import main
from consilience.errors import ConsilienceWarning, InvalidParameterError
from consilience.workflow import _places
from consilience.workflow.doctor import Diagnosis, Timing

GIB = 2**30


def heard():
    stream = io.StringIO()
    return stream, Console(file=stream, width=200, color_system=None)


def words_of(stream):
    return [" ".join(line.split()) for line in stream.getvalue().splitlines() if line.strip()]


def diagnosis(**changes):
    facts = {
        "consilience": "1.2", "python": "CPython 3.11", "system": "Linux", "cores": 3,
        "memory_total": 8 * GIB, "memory_free": 3 * GIB // 2, "packages": {"numpy": "2.2"},
        "extras": {"store": {"pyarrow": "17", "zarr": None}},
        "partitioners": {"METIS": True, "Mt-KaHyPar": False}, "kernel_folder": "kept",
        "torch": None, "triton": None, "devices": (), "timings": (), "advice": (),
    }  # fmt: skip
    return Diagnosis(**(facts | changes))


def test_what_the_machine_offers_is_a_line_each():
    stream, console = heard()
    doctor_words._show(diagnosis(), console)
    said = words_of(stream)
    for line in (
        "consilience 1.2, CPython 3.11, Linux", "cores 3", "memory 8.0 GiB, 1.5 GiB free",
        "packages numpy 2.2", "partitioners METIS", "compiled kernels kept",
        "torch not installed", "Triton not installed", "devices none beside the processor",
        "store pyarrow 17, zarr (missing)", "Nothing to complain of.",
    ):  # fmt: skip
        assert line in said
    assert not any("seconds" in line or "Note" in line for line in said)


def test_devices_times_and_advice_are_told():
    card = {"name": "cuda:0", "model": "A card", "memory_total": 4 * GIB, "memory_free": None}
    times = (Timing("pairs", "one core", 1.5), Timing("pairs", "cuda:0", 0.25),
             Timing("members", "one core", 2.0))  # fmt: skip
    stream, console = heard()
    found = diagnosis(
        devices=(card,), timings=times, advice=("Buy more.",), kernel_folder=None,
        partitioners={"METIS": False, "Mt-KaHyPar": False}, memory_total=None, torch="2.4",
    )  # fmt: skip
    doctor_words._show(found, console)
    said = words_of(stream)
    for line in (
        "cuda:0 A card, 4.0 GiB, unknown free", "seconds one core cuda:0", "pairs 1.500 0.250",
        "members 2.000", "Note: Buy more.", "compiled kernels cannot be kept",
        "partitioners none", "memory unknown, 1.5 GiB free", "torch 2.4",
    ):  # fmt: skip
        assert line in said
    assert not any("none beside" in line or "Nothing to complain" in line for line in said)


def test_every_piece_of_work_is_measured_at_every_place(monkeypatch):
    # The room exports the function of that name.
    module = __import__("consilience.workflow.doctor", fromlist=["x"])
    asked = []

    class Members:
        def __init__(self, n_members, n_clusters, **options):
            self.options = {"n_members": n_members, "n_clusters": n_clusters, **options}

        def generate(self, X):
            asked.append(("members", X.shape, self.options))
            return "an ensemble"

    class Weak:
        def __init__(self, **options):
            self.options = options

        def fit(self, Z):
            asked.append(("weak", Z.shape, self.options))

    def pairs(ensemble, **options):
        asked.append(("pairs", ensemble, options))

    monkeypatch.setattr(module, "KMeansEnsemble", Members)
    monkeypatch.setattr(module, "EWOCS", Weak)
    monkeypatch.setattr(module, "co_association", pairs)
    found = module._measured(3, ({"name": "cuda:0"},))
    places = ["one core", "all cores", "cuda:0"]
    assert [one.place for one in found] == 3 * places
    assert [one.work.split()[0] for one in found] == ["20"] * 3 + ["pair"] * 3 + ["100"] * 3
    assert all(0 <= one.seconds < 5 for one in found)
    assert asked[0][:2] == ("members", (6_000, 16))  # what pairs are counted of
    # Each twice: the first call compiles and warms up.
    where = [{"n_jobs": 1}, {"n_jobs": 3}, {"device": "cuda:0"}]
    kinds = {"members": (20_000, 16), "pairs": "an ensemble", "weak": (5_000, 4)}
    for number, (kind, what) in enumerate(kinds.items()):
        calls = asked[1 + 6 * number : 7 + 6 * number]
        assert [call[:2] for call in calls] == 6 * [(kind, what)]
        for place, call in zip(np.repeat(range(3), 2), calls, strict=True):
            assert where[place].items() <= call[2].items()
    assert asked[1][2]["n_members"] == 20
    assert asked[7][2]["values"] == "count"
    assert asked[-1][2]["n_repetitions"] == 100
    assert [one.place for one in module._measured(1, ())] == 3 * ["one core"]


def test_clusters_of_blocks_are_shown_with_shares_and_the_rest():
    found = SimpleNamespace(
        sizes=[40] + [1] * 31, n_clusters=32, n_objects=80, mean_confidences=lambda: [0.875] * 32
    )
    stream, console = heard()
    console.print(large_words._clusters(found))
    said = words_of(stream)
    assert said[0] == "cluster objects share confidence"
    assert "0 40 50% 0.88" in said
    assert "29 1 1% 0.88" in said
    assert not any(line.startswith("30 ") for line in said)
    assert "2 more 2" in said
    assert said[-1] == "noise (-1) 9 11%"
    alone = SimpleNamespace(
        sizes=[5], n_clusters=1, n_objects=5, mean_confidences=lambda: [float("nan")]
    )
    stream, console = heard()
    console.print(large_words._clusters(alone))
    assert words_of(stream)[-1] == "0 5 100%"


HOW = {"n_values": 100, "owner": "consilience cluster"}


@pytest.mark.parametrize(
    ("asked", "why"),
    [
        ({"scheduler": "tcp://a:1"}, "by the workers of 'tcp://a:1'"),
        ({"workers": 2}, "by the workers of 'local'"),
        ({"scheduler": "local", "workers": 1}, "by the workers of 'local'"),
    ],
)
def test_workers_that_are_asked_for_read_blocks(asked, why):
    assert why in goes_by_blocks(ClusterWish(data=Path("a.npy"), **asked), **HOW)


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ({"scheduler": "tcp://a:1", "workers": 2, "data": Path("a.npy")}, "has its own"),
        ({"workers": 0, "data": Path("a.npy")}, "--workers must be at least 1. Got 0"),
        ({"workers": 1}, "need data"),
        ({"scheduler": "local"}, "need data"),
    ],
)
def test_workers_that_cannot_be_are_refused(asked, said):
    with pytest.raises(InvalidParameterError, match=said):
        goes_by_blocks(ClusterWish(**asked), **HOW)
    assert goes_by_blocks(ClusterWish(labels=Path("b.csv")), **HOW) is None


def test_of_many_parts_the_first_and_the_last_are_named():
    parts = [Path(f"out/labels/part-000{i}.parquet") for i in range(1, 5)]
    stream, console = heard()
    show_written([*parts, Path("out/summary.json")], 2.34, console)
    said = " ".join(words_of(stream))
    first, last = str(parts[0]), parts[-1].name
    assert said == f"Wrote {first} to {last} and {Path('out/summary.json')} (2.3 s in all)."


def test_places_are_told_where_one_is_a_device():
    stream, console = heard()
    show_places({"read": "cpu", "generate": "cpu"}, console)
    assert stream.getvalue() == ""
    show_places({"a": "cuda:0", "b": "cpu", "c": "cuda:0", "d": "cuda:0"}, console)
    show_places({"a": "cuda:0"}, console)
    assert words_of(stream) == [
        "Ran on: a, c and d on cuda:0, the rest on the processor.", "Ran on: a on cuda:0."
    ]  # fmt: skip


def test_advice_is_given_where_a_card_is_not_worth_it():
    assert _places.place_of_members([]) == "cpu"
    assert _places.place_of_members([{"device": "cuda:0"}, {}]) == "cpu and cuda:0"
    for place in (None, "cpu", "cpu:0"):
        _places.advise(1, 1, 1, place)
    _places.advise(10**6, 10, 10, "cuda:0")  # exactly enough
    with pytest.warns(ConsilienceWarning, match=r"cuda:0: 999,999 objects by 10 columns and 10"):
        _places.advise(999_999, 10, 10, "cuda:0")


def test_blocks_are_told_only_where_stages_are(monkeypatch):
    monkeypatch.delenv("CONSILIENCE_PROGRESS", raising=False)
    shown_detail(1, 2)  # nobody asked
    with stages_shown():
        shown_detail(1_000, 2_345)
        assert stages._TELLER.get().detail == ", block 1,000 of 2,345"


def test_the_explorer_is_told_opened_and_stopped(monkeypatch, tmp_path, capsys):
    calls = []

    class Served:
        url = f"http://127.0.0.1:1/?key={'x' * 90}"  # longer than a line, and to be copied

        def wait(self):
            raise KeyboardInterrupt

        def stop(self):
            calls.append("stopped")

    view = SimpleNamespace(title="Iris", n_objects=150, missing=("No map of the columns.",))
    monkeypatch.setattr(explore_command, "open_run", lambda run: calls.append(run) or view)
    monkeypatch.setattr(
        explore_command, "serve", lambda view, **options: calls.append(options) or Served()
    )
    monkeypatch.setattr(explore_command.webbrowser, "open", calls.append)
    run = tmp_path / "run"
    run.mkdir()
    assert main(["explore", str(run), "--port", "77"]) == 0
    assert calls == [run, {"host": "127.0.0.1", "port": 77}, Served.url, "stopped"]
    said = " ".join(capsys.readouterr().out.split())
    assert "Note: No map of the columns." in said
    assert "Iris: 150 objects. Look at them here, Ctrl-C ends it:" in said
    assert said.endswith(Served.url)
    calls.clear()
    assert main(["explore", str(run), "--no-browser"]) == 0
    assert Served.url not in calls
    assert json.dumps(calls[1]) == json.dumps({"host": "127.0.0.1", "port": 0})
