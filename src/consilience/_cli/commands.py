"""The commands, each a few lines: arguments go in, a job is carried out."""

from dataclasses import replace
from pathlib import Path
from typing import Annotated, Literal

from cyclopts import App, Parameter

from consilience import __version__
from consilience._cli.arguments import (
    AmbiguousWish,
    ClusterWish,
    MinorityWish,
    Whole,
    WholeOrNone,
)

__all__ = ["app"]

app = App(
    name="consilience",
    help="""Ensemble clustering: many weak clusterings in, one consensus you can trust out.

Start with `consilience demo`, then `consilience cluster data.csv`.""",
    version=__version__,
    help_format="markdown",
    suppress_keyboard_interrupt=False,  # main() says what was kept
)


def demo(
    *,
    out: Path = Path("consilience-demo"),
    force: Annotated[bool, Parameter(negative=(), show_default=False)] = False,
) -> None:
    """Cluster two spirals, to see what an ensemble can do that one clustering cannot.

    For example:

    - `consilience demo`
    - `consilience demo --out here --force`

    Parameters
    ----------
    out : Path
        Folder for the data and the results.
    force : bool
        Replace the results of an earlier run in that folder.
    """
    from consilience._cli.demo import carry_out_demo

    carry_out_demo(out, force=force)


def cluster(data: Path | None = None, /, *, wish: ClusterWish = ClusterWish()) -> None:
    """Find the consensus clusters of a table, or of clusterings you already have.

    Writes `labels.csv` (id, cluster, confidence, runner_up, ambiguity, doubtful),
    `summary.json`, `report.html`, tables of what makes each cluster (`profile-*.csv`),
    `model.json` and `model.npz` for `consilience predict`, and `timings.json`, and prints a
    summary. Of an .h5ad file also `annotated.h5ad`, a copy with the clusters in obs.

    For example:

    - `consilience cluster iris.csv --truth-column species`
    - `consilience cluster iris.csv -k 3 --methods eac,mcla,wosp`
    - `consilience cluster cells.parquet --linkage single --jobs 4`
    - `consilience cluster --labels my_clusterings.csv -k 5 --json`
    - `consilience cluster big.parquet -k 8 --max-memory 4GiB`
    - `consilience cluster --graph edges.csv`

    A table that does not fit into --max-memory is read block by block; its labels go into
    parts, `labels/part-0001.parquet` and so on, and the report is of a sample.

    Parameters
    ----------
    data : Path
        Table of numbers, one row an object: .csv, .tsv, .txt (also .gz),
        .xlsx, .parquet, .feather, .npy, .npz (also sparse, as SciPy
        writes it), .mtx, .h5ad.
        May be left out with --labels.
    """
    from consilience._cli.cluster import CLUSTER
    from consilience._cli.jobs import carry_out

    carry_out(replace(wish, data=data), CLUSTER)


def ambiguous(data: Path | None = None, /, *, wish: AmbiguousWish = AmbiguousWish()) -> None:
    """Find the objects whose group is in doubt.

    Writes `ambiguous.csv` (id, score, ambiguous, cluster, runner_up), `summary.json` and
    `report.html`, and prints how the scores lie, the threshold and why it is there.

    For example:

    - `consilience ambiguous flowers.csv --truth-column species`
    - `consilience ambiguous --labels my_clusterings.csv --threshold gap`

    Parameters
    ----------
    data : Path
        Table of numbers, one row an object. May be left out with --labels.
    """
    from consilience._cli.ambiguous import AMBIGUITY
    from consilience._cli.jobs import carry_out

    carry_out(replace(wish, data=data), AMBIGUITY)


def minority(data: Path, /, *, wish: MinorityWish = MinorityWish()) -> None:
    """Find the few dense groups in a majority of noise.

    Writes `scores.csv` (id, score, group, undecided), `summary.json` and `report.html`, and
    prints every threshold with the foreground it would give. Group -1 is the background.

    For example:

    - `consilience minority stars.csv`
    - `consilience minority stars.csv --gamma contrast --threshold dist`
    - `consilience minority stars.csv --truth-column kind --background field`

    Parameters
    ----------
    data : Path
        Table of numbers, one row an object: .csv, .tsv, .txt (also .gz),
        .xlsx, .parquet, .feather, .npy, .npz (also sparse, as SciPy
        writes it), .mtx, .h5ad.
    """
    from consilience._cli.jobs import carry_out
    from consilience._cli.minority import MINORITY

    carry_out(replace(wish, data=data), MINORITY)


def predict(
    run: Path,
    new: Path,
    /,
    *,
    out: Path | None = None,
    force: Annotated[bool, Parameter(negative=(), show_default=False)] = False,
    jobs: WholeOrNone = None,
    decimal: Literal[".", ","] | None = None,
    encoding: str | None = None,
) -> None:
    """Place new objects beside those of a run: cluster, confidence, and what is unlike all.

    Columns are matched by name; others are left out, and said. Writes id, cluster, confidence,
    runner_up, unlike and known of every object, and prints how many fell where.

    For example:

    - `consilience predict consilience-march april.csv`
    - `consilience predict consilience-march april.csv --out april-labels.csv --jobs 2`

    Parameters
    ----------
    run : Path
        Folder of a run of `consilience cluster` (without --no-keep), or of a saved result.
    new : Path
        Table of the same columns as that of the run.
    out : Path
        CSV file for the results. [default: consilience-predict-NEW.csv]
    force : bool
        Replace that file.
    jobs : int
        Threads; -1 takes all cores. [default: 1]
    decimal : str
        Decimal mark of a text file. [default: that of the run, if one was
        named; else a point, or a comma where it is sure]
    encoding : str
        Of a text file, such as cp1252. [default: that of the run, if one was
        named; else UTF-8, or what Windows writes]
    """
    from consilience._cli.predict import predict_new

    predict_new(run, new, out=out, force=force, jobs=jobs, decimal=decimal, encoding=encoding)


def compare(
    first: Path, second: Path, /, *, moved: Path | None = None, picture: Path | None = None
) -> None:
    """Put two runs of `consilience cluster` on the same objects beside each other.

    Prints how the clusters map, how far the runs agree, with an interval, and which objects moved.

    For example:

    - `consilience compare run-1 run-2`
    - `consilience compare run-1 run-2 --moved moved.csv --picture moves.svg`

    Parameters
    ----------
    first : Path
        Folder of a run, or its labels.csv.
    second : Path
        Another. Objects are matched by their identifiers.
    moved : Path
        Write the objects that moved to this CSV file.
    picture : Path
        Draw the clusters against each other: .svg, .png or .pdf.
    """
    from consilience._cli.compare import compare_runs

    compare_runs(first, second, moved=moved, picture=picture)


def explore(
    run: Path,
    /,
    *,
    port: Whole = 0,
    host: str = "127.0.0.1",
    no_browser: Annotated[bool, Parameter(negative=(), show_default=False)] = False,
) -> None:
    """Look closer at a run, in the browser.

    Drag the number of groups, lasso objects and see what is special of them, ask why one is where
    it is; rename, join and divide groups and save them. Ends with Ctrl-C.

    For example:

    - `consilience explore consilience-iris`
    - `consilience explore consilience-iris --port 8080 --no-browser`

    Parameters
    ----------
    run : Path
        Folder of a run, or of a saved result.
    port : int
        Port of the server. [default: one that is free]
    host : str
        Address of the server. By default only this machine can ask; another lets in whoever
        can reach it and knows the address that is printed.
    no_browser : bool
        Print the address and open nothing.
    """
    from consilience._cli.explore import explore_run

    explore_run(run, host=host, port=port, browser=not no_browser)


def methods(*, json: Annotated[bool, Parameter(negative=(), show_default=False)] = False) -> None:
    """List the consensus methods.

    For example:

    - `consilience methods`
    - `consilience methods --json`

    Parameters
    ----------
    json : bool
        Print the list as JSON, for machines.
    """
    from consilience._cli.methods import list_methods

    list_methods(json=json)


def doctor(
    *,
    no_benchmark: Annotated[bool, Parameter(negative=(), show_default=False)] = False,
    json: Annotated[bool, Parameter(negative=(), show_default=False)] = False,
) -> None:
    """Say what this machine offers: cores, memory, packages, devices, and how fast it is.

    The benchmark takes some ten seconds, a minute at most; the first one also compiles.

    For example:

    - `consilience doctor`
    - `consilience doctor --no-benchmark --json`

    Parameters
    ----------
    no_benchmark : bool
        Only look, measure nothing.
    json : bool
        Print all of it as JSON, for machines.
    """
    from consilience._cli.doctor import examine

    examine(json=json, benchmark=not no_benchmark)


def reproduce(
    table: str | None = None,
    /,
    *,
    data: Path | None = None,
    runs: Annotated[WholeOrNone, Parameter(name=("--runs", "--datasets-per-dim"))] = None,
    sets: str | None = None,
    members: str | None = None,
    seed: Whole = 0,
    columns: str | None = None,
    jobs: WholeOrNone = None,
    store: Path | None = None,
    stored_only: Annotated[bool, Parameter(negative=(), show_default=False)] = False,
    out: Path | None = None,
    force: Annotated[bool, Parameter(negative=(), show_default=False)] = False,
) -> None:
    """Run a table of a paper again, and put the figures beside the published ones.

    Without TABLE, lists the tables. Prints every cell as it is finished, and writes
    `TABLE.csv` and a page `TABLE.md`.

    For example:

    - `consilience reproduce woec-table2 --runs 10`
    - `consilience reproduce woec-table4 --data DIR --sets Iris,Sony --members 40`
    - `consilience reproduce woec-table4 --data DIR --jobs -1 --store RUNS`

    Parameters
    ----------
    table : str
        Name of the table.
    data : Path
        Folder of the data sets, NAME.csv.gz each. [default: the variable CONSILIENCE_DATA]
    runs : int
        Independent runs; of generated data, data sets of each dimension. [default: the table's]
    sets : str
        Data sets, with commas between. [default: all of the table]
    members : str
        Ensemble sizes, with commas between. [default: those of the paper]
    seed : int
        Number of the first run; equal seeds give equal figures, whatever --jobs. Seeds closer
        than --runs share runs: to add ten runs to ten of seed 0, take --seed 10.
    columns : str
        Columns to run, with commas between, of tables that can run them alone. [default: all]
    jobs : int
        Processes over the runs of all data sets; -1 takes all cores. [default: 1]
    store : Path
        Folder that keeps every run as it is finished; runs found there are not made again.
        Folders filled on several machines can be put together. Empty it when a method changes.
    stored_only : bool
        Make no run: write the page of those that --store keeps.
    out : Path
        Folder for the results. [default: consilience-TABLE]
    force : bool
        Replace the results of an earlier run in that folder.
    """
    from consilience._cli.reproduce import Wish, list_experiments
    from consilience._cli.reproduce import reproduce as run
    from consilience._cli.speech import Speaker

    console = Speaker()
    if table is None:
        list_experiments(console)
        console.close("")
    else:
        asked = (data, runs, sets, members, seed, jobs, out, force, columns, store, stored_only)
        folder = run(Wish(table, *asked), console)
        console.close(f"The results are in {str(folder)!r}.")


app.command(demo)
app.command(cluster, usage="Usage: consilience cluster [DATA] [OPTIONS]")
app.command(ambiguous, usage="Usage: consilience ambiguous [DATA] [OPTIONS]")
app.command(minority, usage="Usage: consilience minority DATA [OPTIONS]")
app.command(predict, usage="Usage: consilience predict RUN NEW [OPTIONS]")
app.command(compare, usage="Usage: consilience compare FIRST SECOND [OPTIONS]")
app.command(explore, usage="Usage: consilience explore RUN [OPTIONS]")
app.command(methods)
app.command(doctor)
app.command(reproduce, usage="Usage: consilience reproduce [TABLE] [OPTIONS]")
