"""What is asked for, measured and shown, exactly at its limits."""

import io
import json
import re
import time
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from cli_values.read_back import rows_of, table_rows

from consilience._cli import (
    ambiguous,
    by_blocks,
    cluster,
    demo,
    members,
    minority,
    predict,
    show_cluster,
    show_profile,
)
from consilience._cli import large as large_words
from consilience._cli.arguments import ClusterWish, MinorityWish, Reading, Writing
from consilience._cli.checks import check_enough_objects, check_methods
from consilience._cli.stages import Clock, Teller
from consilience.cli import main
from consilience.datasets import make_spirals
from consilience.errors import ConsilienceWarning, InvalidInputError, InvalidParameterError
from consilience.predict import Prediction
from consilience.workflow._members import NewRun, ResumeError, RunFolder
from consilience.workflow._methods import method_table, own_options

Console = pytest.importorskip("rich.console").Console
GIVEN = ["cluster", "--labels", "l.csv", "--method", "voting", "-k2", "--no-report", "--no-keep"]


def said_by(show, *args, width=120):
    out = io.StringIO()
    show(*args, Console(file=out, width=width))
    return out.getvalue()


@pytest.mark.parametrize(
    ("words", "stages"),
    [
        (GIVEN, ["read", "generate", "consensus"]),
        (
            ["ambiguous", "--labels", "l.csv", "-k2", "--no-report"],
            ["read", "generate", "consensus", "ambiguity"],
        ),
        (
            ["minority", "blobs.csv", "--repetitions", "5", "--no-report", "--columns", "x,y"],
            ["read", "score", "thresholds"],
        ),
        (
            ["cluster", "--graph", "e.csv", "--members", "3", "--no-report", "--no-keep"],
            ["read", "generate", "consensus"],
        ),
    ],
)
def test_the_seconds_of_stages_are_no_more_than_passed(blobs, words, stages):
    if "--graph" in words:
        pytest.importorskip("sknetwork")
    Path("l.csv").write_text("a,b\n" + "0,0\n0,1\n1,1\n" * 5)
    Path("e.csv").write_text("from,to\n" + "".join(f"{a},{a + 1}\n" for a in range(9)))
    start = time.perf_counter()
    assert main([*words, "--out", "out"]) == 0
    passed = time.perf_counter() - start
    seconds = json.loads(Path("out/timings.json").read_text())["seconds"]
    assert list(seconds) == stages
    assert all(taken >= 0 for taken in seconds.values())
    assert sum(seconds.values()) <= passed + 0.01


def test_a_clock_measures_what_happens_inside_and_keeps_the_order():
    clock, start = Clock(), time.perf_counter()
    with clock.stage("write"):
        time.sleep(0.05)
    with clock.stage("read"):
        pass
    passed = time.perf_counter() - start
    assert list(clock.seconds) == ["write", "read"]
    assert 0.05 <= clock.seconds["write"] <= passed + 0.001
    assert 0 <= clock.seconds["read"] <= passed


@pytest.mark.parametrize(
    ("text", "wanted"),
    [("0.5", 0.5), ("1e-3", 0.001), ("2,2", (2.0, 2.0)), ("0.1, 20", (0.1, 20.0)), (None, None)],
)
def test_resolutions_are_a_number_or_two_that_may_be_equal(text, wanted):
    assert ClusterWish(resolution=text).resolutions() == wanted


@pytest.mark.parametrize(
    "text", ["0", "-1", "inf", "nan", "1,0", "3,2", "1,2,3", "", ",", "1,", "x"]
)
def test_resolutions_that_cannot_be_are_refused(text):
    with pytest.raises(InvalidParameterError, match="--resolution must be"):
        ClusterWish(resolution=text).resolutions()


def test_one_worker_is_enough():
    asked = ClusterWish(data=Path("a.npy"), workers=1)
    why = by_blocks.goes_by_blocks(asked, n_values=1, owner="x")
    assert why == "It is read block by block by the workers of 'local'."
    with pytest.raises(InvalidParameterError, match=r"at least 1. Got 0"):
        by_blocks.goes_by_blocks(ClusterWish(data=Path("a.npy"), workers=0), n_values=1, owner="x")


@pytest.mark.parametrize(
    ("reading", "names", "warned"),
    [
        (Reading(), ("name", "x", "y", "group"), False),
        (Reading(id_column="none", ignore=("x,y",)), ("name", "group"), False),
        (Reading(id_column="name"), ("x", "y", "group"), True),
        (Reading(id_column="name", ignore=("group",)), ("x", "y"), True),
    ],
)
def test_the_column_of_identifiers_is_no_number_of_blocks(reading, names, warned, recwarn):
    pa, pq = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    table = {name: [1.0, 2.0, 3.0] for name in ("name", "x", "y", "group")}
    pq.write_table(pa.table(table), "t.parquet")
    rows = by_blocks.opened(ClusterWish(data=Path("t.parquet"), reading=reading), False)
    assert rows.names == names
    said = [str(one.message) for one in recwarn if one.category is ConsilienceWarning]
    assert said == ["Parts number objects by row: 'name' is not in them."] * warned


@pytest.mark.parametrize("words", [["--bogus", "cluster"], ["bogus", "cluster"]])
def test_help_is_that_of_the_command_only_where_it_stands_first(words, capsys):
    assert main(words) == 2
    assert "See 'consilience --help'." in capsys.readouterr().err


@pytest.mark.parametrize(
    ("asked", "wanted"),
    [
        ({}, None),
        ({"max_memory": "1 GiB"}, None),
        ({"workers": 3}, ("local", 3, "4 GiB")),
        ({"scheduler": "local", "workers": 1}, ("local", 1, "4 GiB")),
        ({"scheduler": "tcp://a:1", "max_memory": "1 GiB"}, ("tcp://a:1", None, "1 GiB")),
    ],
)
@pytest.mark.parametrize("kind", [ClusterWish, MinorityWish])
def test_workers_are_started_only_where_they_are_asked_for(kind, asked, wanted, monkeypatch):
    made = []

    @contextmanager
    def workers_at(where, n, *, max_memory):
        made.append((where, n, max_memory))
        yield
        made.append("gone")

    monkeypatch.setattr(by_blocks, "workers_at", workers_at)
    with by_blocks.workers_for(kind(data=Path("a.npy"), **asked)) as by_workers:
        assert by_workers is (wanted is not None)
        assert made == [wanted] * by_workers
    assert made == [wanted, "gone"] * by_workers


def test_what_does_not_fit_goes_by_blocks_unless_labels_are_given(monkeypatch):
    def does_not_fit(data, n_values, max_memory, *, owner):
        assert (data, n_values, max_memory, owner) == (Path("a.npy"), 7, "1 GiB", "me")
        return "It is large."

    monkeypatch.setattr(by_blocks, "does_not_fit", does_not_fit)
    how = {"data": Path("a.npy"), "max_memory": "1 GiB"}
    for wish, why in (
        (ClusterWish(**how), "It is large."),
        (MinorityWish(**how), "It is large."),
        (ClusterWish(**how, labels=Path("l.csv")), None),
        (ClusterWish(labels=Path("l.csv")), None),
    ):
        assert by_blocks.goes_by_blocks(wish, n_values=7, owner="me") == why


@pytest.mark.parametrize(
    ("force", "resume", "kind"),
    [
        (False, False, RunFolder),
        (False, True, RunFolder),
        (True, True, RunFolder),
        (True, False, NewRun),
    ],
)
def test_force_alone_begins_anew(force, resume, kind):
    wish = ClusterWish(data=Path("a.csv"), resume=resume, writing=Writing(force=force))
    with members.run_in(Path("out"), wish) as run:
        assert type(run) is kind
    other = ResumeError("no", Path("out"), ("a is 1", "b is 2"))
    same = ResumeError("damaged", Path("out"))
    said = r"^'out' holds another run, .* mixed: a is 1; b is 2\. Repeat"
    with pytest.raises(InvalidParameterError, match=said), members.run_in(Path("out"), wish):
        raise other
    with pytest.raises(ResumeError, match="damaged"), members.run_in(Path("out"), wish):
        raise same


@pytest.mark.parametrize("typed", [None, "typed"])
@pytest.mark.parametrize("kept", [None, "kept"])
def test_how_a_second_file_is_read_is_what_was_typed_or_else_kept(typed, kept, monkeypatch):
    @dataclass
    class Recipe:
        decimal: str | None
        encoding: str | None

    asked = []
    result = SimpleNamespace(data=SimpleNamespace(dropped=("z",)))
    monkeypatch.setattr(predict, "recipe_of", lambda data: Recipe(kept, None if kept else "x"))
    monkeypatch.setattr(predict, "read_like", lambda *one, **more: asked.append((*one, more)))
    predict._read(Path("n.csv"), result, typed, None)
    predict._read(Path("n.csv"), result, None, typed)
    more = {"may_lack": ("z",)}
    own = None if kept else "x"
    assert asked == [
        (Path("n.csv"), Recipe(typed or kept, own), more),
        (Path("n.csv"), Recipe(kept, typed or own), more),
    ]
    monkeypatch.setattr(predict, "recipe_of", lambda data: None)
    monkeypatch.setattr(predict, "read_table", lambda *one, **more: (*one, more))
    assert predict._read(Path("n.csv"), result, typed, kept) == (
        Path("n.csv"), {"decimal": typed, "encoding": kept},
    )  # fmt: skip


@pytest.mark.parametrize(
    ("name", "transpose", "n_left_out", "is_kept"),
    [
        ("a.h5ad", False, 0, True), ("A.H5AD", False, 0, True), ("a.csv", False, 0, False),
        ("a.h5ad", True, 0, False), ("a.h5ad", False, 1, False), (None, False, 0, False),
    ],
)  # fmt: skip
def test_annotated_data_are_kept_where_the_clusters_are_of_their_rows(
    name, transpose, n_left_out, is_kept, monkeypatch
):
    written = []
    monkeypatch.setattr(cluster, "write_annotated", lambda *one: written.append(one))
    result = SimpleNamespace(
        data=SimpleNamespace(ids=None, n_left_out=n_left_out), labels="l", confidence="c",
        runner_up=None, ambiguity=None, doubtful=None,
    )  # fmt: skip
    wish = ClusterWish(
        data=None if name is None else Path(name), labels=Path("l.csv"), no_report=True,
        no_keep=True, reading=Reading(transpose=transpose),
    )  # fmt: skip
    writers = cluster.Consensus(wish=wish, result=result).writers()
    assert list(writers) == ["labels.csv", *["annotated.h5ad"] * is_kept]
    if is_kept:
        writers["annotated.h5ad"](Path("to"))
        assert written == [(Path(name), Path("to"), "l", "c")]


OPTIONS = {name: own_options(method) for name, method in method_table().items()}


@pytest.mark.parametrize("first", sorted(OPTIONS))
def test_options_are_refused_where_no_method_or_not_every_one_knows_them(first):
    for second in OPTIONS:
        names = f"{first},{second}"
        for option, value, every in (("linkage", "single", True), ("max_memory", "1 GiB", False)):
            knows = [option in OPTIONS[name] for name in (first, second)]
            wish = ClusterWish(data=Path("a.csv"), methods=names, **{option: value})
            if all(knows) if every else any(knows):
                assert check_methods(wish) == tuple(dict.fromkeys([first, second]))
                continue
            lacking = (first, second)[knows.index(False)]
            said = f"^The method '{lacking}' has no option --{option.replace('_', '-')}. Leave"
            with pytest.raises(InvalidParameterError, match=said):
                check_methods(wish)
    needs = method_table()[first].needs_data
    check_methods(ClusterWish(view=("a=b",), method=first))
    if needs:
        with pytest.raises(InvalidParameterError, match=r"needs the data, not only labels.*l\.csv"):
            check_methods(ClusterWish(labels=Path("l.csv"), method=first))
    else:
        check_methods(ClusterWish(labels=Path("l.csv"), method=first))


@pytest.mark.parametrize(("k", "n", "fits"), [(None, 2, True), (2, 2, True), (3, 2, False)])
def test_there_may_be_as_many_clusters_as_objects(k, n, fits):
    wish = ClusterWish(data=Path("a.csv"), n_clusters=k)
    if fits:
        check_enough_objects(wish, n)
    else:
        with pytest.raises(InvalidParameterError, match=f"^-k {k} asks for more .* holds {n}"):
            check_enough_objects(wish, n)
    with pytest.raises(InvalidInputError, match=r"^'a.csv' holds one object"):
        check_enough_objects(wish, 1)


# ---- what is shown ------------------------------------------------------------------------------


def test_clusters_that_are_not_shown_are_called_smaller_only_if_they_are():
    result = SimpleNamespace(
        sizes=[1] * 22, n_objects=300, n_noise=299, mean_confidence=lambda cluster=None: 0.5
    )
    text = said_by(lambda console: console.print(show_cluster._clusters(result)))
    rows = table_rows(text, "cluster", "objects", "share", "confidence")
    assert rows[0][:3] == ["21", "1", "under 1%"]
    assert rows[20][:3] == ["2 more", "2", "under 1%"]
    assert rows[21][:3] == ["noise (-1)", "299", "over 99%"]


@pytest.mark.parametrize("n", [1, 2, 19, 20, 21])
def test_clusters_keep_their_order_up_to_twenty(n):
    sizes = list(range(1, n + 1))
    result = SimpleNamespace(
        sizes=sizes, n_objects=sum(sizes) + 3, n_noise=3,
        mean_confidence=lambda cluster=None: None if n == 1 else 0.5 + 0.001 * (cluster or 0),
    )  # fmt: skip
    text = said_by(lambda console: console.print(show_cluster._clusters(result)))
    rows = table_rows(text, "cluster", "objects", "share", "confidence")
    order = range(n) if n <= 20 else range(n - 1, n - 21, -1)
    assert [row[:2] for row in rows[: len(order)]] == [[str(c), str(c + 1)] for c in order]
    rest = rows[len(order) :]
    assert [row[0] for row in rest] == [*["1 smaller"] * (n > 20), "noise (-1)", "all"]
    assert n <= 20 or rest[0][1] == "1"
    assert rest[-1] == ["all", str(sum(sizes) + 3), *["0.50"] * (n > 1)]


def test_the_least_sure_are_five_at_most_and_none_that_is_sure_enough():
    items = [
        {"id": f"o{i}", "cluster": 1, "runner_up": 0, "confidence": 0.1 * i} for i in range(3, 11)
    ]

    def shown(below, doubtful):
        result = SimpleNamespace(
            n_clusters=2, confidence=np.ones(9), doubtful=np.arange(9) < doubtful,
            doubtful_below=below, least_sure=lambda most: items[:most], n_suited_elsewhere=0,
            data=SimpleNamespace(ids=np.arange(9)),
        )  # fmt: skip
        answer = SimpleNamespace(result=result, wish=SimpleNamespace(refine=False))
        text = said_by(show_cluster._show_least_sure, answer)
        return table_rows(text, "id", "cluster", "next best", "confidence")

    assert shown(2.0, 8) == [[f"o{i}", "1", "0", f"{0.1 * i:.2f}"] for i in range(3, 8)]
    assert [row[0] for row in shown(0.1 * 5, 2)] == ["o3", "o4"]


@pytest.mark.parametrize("names", [["eac"], ["eac", "mcla"], ["eac", "mcla", "sec"]])
def test_methods_are_compared_with_each_other_where_there_are_two(names):
    n = len(names)
    compared = SimpleNamespace(
        names=names, n_clusters=[2] * n, anmi=np.full(n, 0.5), truth=None, seconds=[0.25] * n,
        best=names[0], agreement=np.eye(n), failed={},
    )  # fmt: skip
    text = said_by(show_cluster._show_comparison, compared)
    rows = table_rows(text, "method", "clusters", "ANMI", "seconds")
    assert rows == [[name, "2", "0.500", "0.2"] for name in names]
    assert ("with each other" in text) == (n > 1)
    assert text.endswith(f"Taken: {names[0]}, which agrees best with all clusterings (ANMI).\n")


def test_what_was_taken_stands_out():
    def bold(show, found, *names):
        out = io.StringIO()
        show(found, Console(file=out, width=120, force_terminal=True, color_system="standard"))
        assert all(name in out.getvalue() for name in names)
        return [name for name in names if re.search(rf"\x1b\[1m\s*{name}\b", out.getvalue())]

    one, two = (SimpleNamespace(name=n, title=n, n_clusters=2, clarity=0.5) for n in ("ga", "gb"))
    choice = SimpleNamespace(criteria=[one, two], taken="ga", words="So.")
    assert bold(show_cluster._show_choice, choice, "ga", "gb") == ["ga"]
    for best in ("eac", "other"):
        compared = SimpleNamespace(
            names=["eac"], n_clusters=[2], anmi=[0.5], truth=None, seconds=[0.0], best=best,
            agreement=np.eye(1), failed={},
        )  # fmt: skip
        assert bold(show_cluster._show_comparison, compared, "eac") == ["eac"] * (best == "eac")


@pytest.mark.parametrize("k", [1, 2, 10, 11, 12])
def test_ten_clusters_are_told_apart_and_the_others_counted(k, monkeypatch):
    monkeypatch.setattr(show_profile, "matter_words", lambda profile: "a 0.5")
    monkeypatch.setattr(show_profile, "apart_words", lambda profile, c, most: [f"high {c}"] * most)
    monkeypatch.setattr(show_profile, "rule_words", lambda profile, i: "a > 1" if i == 0 else "")
    profile = SimpleNamespace(
        clusters={"cluster": np.arange(k) - 1}, level=0.95,
        columns={"column": ["a"], "kind": ["number"]},
    )  # fmt: skip
    lines = [line.rstrip() for line in said_by(show_profile.show_profile, profile).splitlines()]
    if k == 1:
        assert lines == []
        return
    names = ["noise (-1)", *(f"cluster {c}" for c in range(k - 1))][:10]
    wanted = [f"  {names[0]}  high -1", *["  high -1"] * 2, "  rule: a > 1"]
    for c, name in enumerate(names[1:]):
        wanted += [f"  {name}  high {c}", *[f"  high {c}"] * 2]
    wanted += [f"  ... and {k - 10} more cluster{'s' * (k > 11)}"] if k > 10 else []
    start = lines.index("Columns that matter most (0 nothing, 1 no overlap): a 0.5.")
    assert lines[:start] == ["", "What makes each cluster:"]
    assert [re.sub(r" {2,}", "  ", line) for line in lines[start + 1 : -2]] == wanted
    width = max(map(len, names)) + 2
    assert lines[start + 2] == " " * (width + 2) + "high -1"
    assert lines[-2].startswith("An effect runs from -1 to 1, with its 95 % interval.")


@pytest.mark.parametrize("k", [1, 2, 3])
def test_two_clusters_of_blocks_have_a_confidence_each(k):
    found = SimpleNamespace(
        sizes=[4] * k, n_clusters=k, n_objects=4 * k, mean_confidences=lambda: [0.875] * k
    )
    text = said_by(lambda console: console.print(large_words._clusters(found)))
    rows = table_rows(text, "cluster", "objects", "share", "confidence")
    sure = ["0.88"] if k > 1 else []
    assert rows == [[str(c), "4", f"{1 / k:.0%}", *sure] for c in range(k)]


def test_bars_of_the_histogram_are_shares_of_the_highest_and_the_line_is_where_it_divides():
    counts, edges = np.array([1, 8, 0, 3]), np.array([0.0, 0.25, 0.5, 0.75, 1.0])
    for threshold, at in ((0.5, 1), (np.nextafter(0.5, 1), 2), (0.0, None), (1.0, 3)):
        result = SimpleNamespace(
            score="confidence", threshold=threshold, histogram=lambda n: (counts, edges)
        )
        head, *lines = ambiguous._histogram(result)
        assert head == f"Confidence (low: in doubt), threshold {threshold:.4g}:"
        assert lines == [
            f"{low:8.3f} {'<' if i == at else ' '} {'#' * bar} {count}"
            for i, (low, bar, count) in enumerate(zip(edges, (5, 40, 0, 15), counts, strict=False))
        ]
    assert ambiguous._histogram(SimpleNamespace(histogram=lambda n: None)) == []


def test_new_objects_are_counted_by_cluster_and_what_is_unlike_all_beside_them():
    found = Prediction(
        np.array([1, 0, -1, 0], np.int32), np.array([0.5, 1.0, 0.0, 0.75]),
        np.array([0, 1, -1, 1], np.int32), np.array([False, True, False, False]),
        np.zeros(4, bool),
    )  # fmt: skip
    text = said_by(predict._show, found)
    rows = table_rows(text, "cluster", "objects", "confidence", "unlike")
    assert rows == [["none", "1", "0.00"], ["0", "2", "0.88", "1"], ["1", "1", "0.50"]]
    assert "1 object is unlike anything seen: its cluster is only the nearest." in text
    found.unlike[:2] = True
    assert "2 objects are unlike anything seen: their cluster" in said_by(predict._show, found)
    found.unlike[:] = False
    assert "unlike anything" not in said_by(predict._show, found)


@pytest.mark.parametrize("choice", [None, SimpleNamespace(words="Three, says one of two.")])
def test_a_consensus_of_blocks_says_how_its_number_was_found(choice, monkeypatch):
    monkeypatch.setattr(large_words, "show_profile", lambda profile, console: None)
    result = SimpleNamespace(
        n_objects=1200, columns=("a", "b"), of_how_many="100 of them", why_members="Why.",
        ensemble=SimpleNamespace(n_members=7), method="sec", n_rows=1050, why_method="So.",
        sample=SimpleNamespace(choice=choice), profile=lambda: None, notes=("A note.",),
        sizes=[1200], n_clusters=1, mean_confidences=lambda: [1.0],
    )  # fmt: skip
    found = large_words.LargeConsensus(wish=ClusterWish(data=Path("t.npy")), result=result)
    lines = said_by(found.show).splitlines()
    head = [
        "t.npy: 1,200 objects, 2 columns, read block by block; tables and pictures are of 100 of "
        "them.",
        "7 clusterings: Why.",
        "Combined by sec on 1,050 distinct rows of labels. So.",
        *([] if choice is None else [choice.words]),
    ]
    assert lines[: len(head)] == head
    assert lines[len(head)].strip() == ""
    assert lines[-1] == "Note: A note."


def test_seconds_on_a_terminal_are_told_every_second():
    class Over:
        waits = ()

        def is_set(self):
            return len(self.waits) == 3

        def wait(self, seconds):
            self.waits += (seconds,)

    over, stream = Over(), io.StringIO()
    Teller(stream, live=True)._count("reading", over, time.monotonic() - 7.2)
    assert over.waits == (1.0, 1.0, 1.0)
    assert stream.getvalue() == "\rreading ... 7 s" * 3 + "\r" + " " * 15 + "\r"


# ---- what is written ----------------------------------------------------------------------------


def test_the_first_cluster_is_a_runner_up_as_any_other():
    scores = np.array([0.25, np.nan, 1 / 3])
    result = SimpleNamespace(
        scores=scores, runner_up=np.array([0, -1, 2]), ids=np.array(["a", "b", "=c"]),
        flags=np.array([True, False, False]), labels=np.array([1, 0, 0]), n_objects=3,
    )  # fmt: skip
    found = ambiguous.Flagged(wish=None, result=result)
    found.writers()["ambiguous.csv"](Path("a.csv"))
    assert Path("a.csv").read_bytes() == (
        b"id,score,ambiguous,cluster,runner_up\na,0.25,1,1,0\nb,,0,0,\n'=c,0.333333,0,0,2\n"
    )
    result.runner_up = None
    found.writers()["ambiguous.csv"](Path("a.csv"))
    assert [row["runner_up"] for row in rows_of("a.csv")] == ["", "", ""]


def test_scores_are_written_in_nine_digits():
    result = SimpleNamespace(
        ids=np.arange(2), scores=np.array([1 / 3, 2e-10]), labels=np.array([0, -1]),
        undecided=np.array([False, True]),
    )  # fmt: skip
    minority.Minority(wish=None, result=result).writers()["scores.csv"](Path("s.csv"))
    assert Path("s.csv").read_text() == (
        "id,score,group,undecided\n0,0.333333333,0,0\n1,0.0,-1,1\n"
    )


def test_the_demonstration_clusters_the_table_that_it_leaves(monkeypatch):
    read = []

    def find(wish, folder, callbacks):
        read.append((wish.source.read_bytes(), wish.reading.truth_column))
        raise KeyboardInterrupt

    monkeypatch.setattr(demo, "find", find)
    assert main(["demo", "--out", "out"]) == 130
    assert not Path("out").exists()
    X, arms = make_spirals(random_state=0)
    lines = [
        f"{x},{y},{'second' if arm else 'first'}"
        for (x, y), arm in zip(X.round(6).tolist(), arms, strict=True)
    ]
    assert read == [("\n".join(["x,y,arm", *lines, ""]).encode(), "arm")]


def test_pictures_stand_two_blanks_apart(monkeypatch):
    monkeypatch.setattr(demo, "_picture", lambda X, labels, width: "o" * width)
    for n, width in ((1, 40), (2, 61), (3, 100), (4, 90)):
        taken = max(20, min(48, (width - 4 * n) // n))
        pictures = {f"p{i}": i for i in range(n)}
        out = io.StringIO()
        demo._show_pictures(None, pictures, Console(file=out, width=width))
        lines = out.getvalue().splitlines()
        assert lines[1].rstrip() == "  ".join(["o" * taken] * n)
        assert lines[0].split() == list(pictures)
        assert len(lines) == 2
