"""The commands: arguments and their help; the work is done elsewhere and imported late."""

import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from cyclopts import App, Parameter
from rich.console import Console

from consilience import __version__
from consilience._cli.folders import check_folder, default_folder

if TYPE_CHECKING:
    from consilience._cli.run import Options

__all__ = ["app"]

app = App(
    name="consilience",
    help="""Ensemble clustering: many weak clusterings in, one consensus you can trust out.

Start with `consilience demo`, then `consilience cluster data.csv`.""",
    version=__version__,
    help_format="markdown",
    suppress_keyboard_interrupt=False,  # main() says that nothing was written
)


def demo(*, out: Path = Path("consilience-demo")) -> None:
    """Cluster two spirals, to see what an ensemble can do that one clustering cannot.

    Parameters
    ----------
    out : Path
        Folder for the data and the results.
    """
    check_folder(out)
    console = Console(highlight=False)
    start = time.perf_counter()
    console.print("Two spirals of 200 points each. One run of k-means cuts straight through them;")
    console.print("100 runs, combined by evidence accumulation, follow the arms.")
    console.print("(The very first run compiles the numerical code: allow some seconds.)\n")

    from consilience._cli.demo import run_demo
    from consilience._cli.show import show_demo

    show_demo(run_demo(out, callbacks=_progress()), time.perf_counter() - start, console)


def cluster(
    data: Path | None = None,
    /,
    *,
    n_clusters: Annotated[int | None, Parameter(name=("-k", "--n-clusters"))] = None,
    method: str = "eac",
    members: int = 100,
    seed: int = 0,
    out: Path | None = None,
    labels: Path | None = None,
    id_column: str | None = None,
    truth_column: str | None = None,
    linkage: str | None = None,
    no_scale: Annotated[bool, Parameter(negative=(), show_default=False)] = False,
    jobs: int | None = None,
    max_memory: str | None = None,
) -> None:
    """Find the consensus clusters of a table, or of clusterings you already have.

    Writes `labels.csv` (id, cluster, confidence) and `summary.json`, and prints a summary.

    Examples:

    - `consilience cluster iris.csv -k 3 --truth-column species`
    - `consilience cluster cells.parquet --linkage single --jobs 4`
    - `consilience cluster --labels my_clusterings.csv -k 5`

    Parameters
    ----------
    data : Path
        Table of numbers, one row an object: .csv, .csv.gz, .tsv, .parquet, .npy or .npz.
        May be left out with --labels.
    n_clusters : int
        Number of clusters. Without it, the method chooses, if it can.
    method : str
        Consensus method; `consilience methods` lists them.
    members : int
        Number of k-means clusterings to combine.
    seed : int
        Equal seeds give equal results, whatever --jobs.
    out : Path
        Folder for the results. [default: consilience-NAME, after the data]
    labels : Path
        Clusterings you already have, one column each, instead of k-means; an empty cell
        means that a clustering left the object out.
    id_column : str
        Column of identifiers: not clustered, but written with the labels.
    truth_column : str
        Column of known groups: not clustered, only compared with the result.
    linkage : str
        average (compact groups), single (chains) or complete, for method eac.
        [default: average]
    no_scale : bool
        Keep the columns as they are. By default each is brought to mean 0 and variance 1.
    jobs : int
        Threads; -1 takes all cores. [default: 1]
    max_memory : str
        Memory for the matrix of pairs, such as "2 GiB"; past it a path without the matrix
        is taken. [default: 4 GiB]
    """
    from consilience._cli.run import Options

    _cluster(
        Options(
            data=data,
            n_clusters=n_clusters,
            method=method,
            members=members,
            seed=seed,
            out=out,
            labels=labels,
            id_column=id_column,
            truth_column=truth_column,
            linkage=linkage,
            scale=not no_scale,
            jobs=jobs,
            max_memory=max_memory,
        )
    )


def _cluster(options: "Options") -> None:
    """Run, write, and only then print."""
    start = time.perf_counter()
    from consilience._cli.outputs import outcome_writers, write_files
    from consilience._cli.run import run
    from consilience._cli.show import show_outcome, show_written

    folder = default_folder(options.source) if options.out is None else options.out
    check_folder(folder)
    outcome = run(options, callbacks=_progress())
    written = write_files(folder, outcome_writers(outcome))
    console = Console(highlight=False)
    show_outcome(outcome, console)
    show_written(written, time.perf_counter() - start, console)


def methods() -> None:
    """List the consensus methods."""
    from consilience._cli.show import show_methods

    show_methods(Console(highlight=False))


def ambiguous(
    data: Path | None = None,
    /,
    *,
    n_clusters: Annotated[int | None, Parameter(name=("-k", "--n-clusters"))] = None,
    members: int = 100,
    score: str = "relative",
    threshold: str = "otsu",
    seed: int = 0,
    out: Path | None = None,
    labels: Path | None = None,
    id_column: str | None = None,
    truth_column: str | None = None,
    no_scale: Annotated[bool, Parameter(negative=(), show_default=False)] = False,
    jobs: int | None = None,
) -> None:
    """Find the objects about which many clusterings disagree.

    Writes `ambiguous.csv` (id, score, ambiguous) and `summary.json`, and prints how the
    scores lie, the threshold and why it is there.

    Examples:

    - `consilience ambiguous flowers.csv -k 3 --truth-column species`
    - `consilience ambiguous --labels my_clusterings.csv --threshold gap`

    Parameters
    ----------
    data : Path
        Table of numbers, one row an object. May be left out with --labels.
    n_clusters : int
        Clusters of every k-means clustering; not needed with --labels.
    members : int
        Number of k-means clusterings.
    score : str
        relative (overlap of the clusters an object is in), or anco (the paper's).
    threshold : str
        otsu, gap, kde, gmm2, quantile, or a number: objects with a lower score are ambiguous.
    seed : int
        Equal seeds give equal results, whatever --jobs.
    out : Path
        Folder for the results. [default: consilience-ambiguous-NAME, after the data]
    labels : Path
        Clusterings you already have, one column each, instead of k-means.
    id_column : str
        Column of identifiers: not clustered, but written with the scores.
    truth_column : str
        Column of known groups: left out.
    no_scale : bool
        Keep the columns as they are. By default each is brought to mean 0 and variance 1.
    jobs : int
        Threads; -1 takes all cores. [default: 1]
    """
    start = time.perf_counter()
    from consilience._cli.ambiguous import Wish, find, found_writers, show_found
    from consilience._cli.folders import AMBIGUOUS
    from consilience._cli.outputs import write_files
    from consilience._cli.show import show_written

    wish = Wish(
        data=data,
        labels=labels,
        n_clusters=n_clusters,
        members=members,
        score=score,
        threshold=threshold,
        seed=seed,
        id_column=id_column,
        truth_column=truth_column,
        scale=not no_scale,
        jobs=jobs,
    )
    folder = default_folder(wish.source, "ambiguous-") if out is None else out
    check_folder(folder, AMBIGUOUS)
    found = find(wish, callbacks=_progress())
    written = write_files(folder, found_writers(found))
    console = Console(highlight=False)
    show_found(found, console)
    show_written(written, time.perf_counter() - start, console)


def minority(
    data: Path,
    /,
    *,
    weak: str = "soft",
    divergence: str = "gaussian",
    gamma: str = "10",
    threshold: str = "2gauss",
    n_foreground: float | None = None,
    n_clusters: Annotated[int | None, Parameter(name=("-k", "--n-clusters"))] = None,
    repetitions: str = "auto",
    seed: int = 0,
    out: Path | None = None,
    id_column: str | None = None,
    truth_column: str | None = None,
    background: str | None = None,
    scaling: str = "auto",
    jobs: int | None = None,
) -> None:
    """Find the few dense groups in a majority of noise.

    Writes `scores.csv` (id, score, group, undecided) and `summary.json`, and prints every
    threshold with the foreground it would give. Group -1 is the background.

    Examples:

    - `consilience minority stars.csv`
    - `consilience minority stars.csv --gamma contrast --threshold dist`
    - `consilience minority stars.csv --truth-column kind --background field`

    Parameters
    ----------
    data : Path
        Table of numbers, one row an object: .csv, .csv.gz, .tsv, .parquet, .npy or .npz.
    weak : str
        Weak clusterings: soft or hard (random objects as seeds), split (random hyperplanes).
    divergence : str
        gaussian, euclidean, mahalanobis, kl, itakura-saito, logistic or cosine.
    gamma : str
        Inverse squared width of gaussian; or contrast or auto, which look for it.
    threshold : str
        2gauss, dist, ngauss, size (with --n-foreground), best (with --truth-column), or a
        number: objects with at least that score are foreground.
    n_foreground : float
        Number, or share below 1, of foreground objects for --threshold size.
    n_clusters : int
        Groups of the foreground. [default: as many as the clusterings tell apart]
    repetitions : str
        Weak clusterings; auto stops when the scores have settled.
    seed : int
        Equal seeds give equal results, whatever --jobs.
    out : Path
        Folder for the results. [default: consilience-minority-NAME, after the data]
    id_column : str
        Column of identifiers: not used, but written with the scores.
    truth_column : str
        Column of known sources: only compared with the result.
    background : str
        Its value that means background. [default: the most frequent]
    scaling : str
        auto, none, box, std or robust (for data with far outliers).
    jobs : int
        Threads; -1 takes all cores. [default: 1]
    """
    start = time.perf_counter()
    from consilience._cli.folders import SCORES
    from consilience._cli.minority import Wish, find, found_writers, show_found
    from consilience._cli.outputs import write_files
    from consilience._cli.show import show_written

    folder = default_folder(data, "minority-") if out is None else out
    check_folder(folder, SCORES)
    wish = Wish(
        data=data,
        weak=weak,
        divergence=divergence,
        gamma=gamma,
        threshold=threshold,
        n_foreground=n_foreground,
        n_clusters=n_clusters,
        repetitions=repetitions,
        seed=seed,
        id_column=id_column,
        truth_column=truth_column,
        background=background,
        scaling=scaling,
        jobs=jobs,
    )
    found = find(wish, callbacks=_progress())
    written = write_files(folder, found_writers(found))
    console = Console(highlight=False)
    show_found(found, console)
    show_written(written, time.perf_counter() - start, console)


def reproduce(
    table: str | None = None,
    /,
    *,
    data: Path | None = None,
    runs: int | None = None,
    sets: str | None = None,
    members: str | None = None,
    seed: int = 0,
    jobs: int | None = None,
    out: Path | None = None,
) -> None:
    """Run a table of a paper again, and put the figures beside the published ones.

    Without TABLE, lists the tables. Prints every cell as it is finished, and writes
    `TABLE.csv` and a page `TABLE.md`.

    Examples:

    - `consilience reproduce woec-table2 --runs 10`
    - `consilience reproduce woec-table4 --data DIR --sets Iris,Sony --members 40`

    Parameters
    ----------
    table : str
        Name of the table.
    data : Path
        Folder of the data sets, NAME.csv.gz each. [default: the variable CONSILIENCE_DATA]
    runs : int
        Independent runs. [default: 20]
    sets : str
        Data sets, with commas between. [default: all of the table]
    members : str
        Ensemble sizes, with commas between. [default: those of the paper]
    seed : int
        Equal seeds give equal figures, whatever --jobs.
    jobs : int
        Processes over the runs; -1 takes all cores. [default: 1]
    out : Path
        Folder for the results. [default: consilience-TABLE]
    """
    from consilience._cli.reproduce import Wish, list_experiments
    from consilience._cli.reproduce import reproduce as run

    console = Console(highlight=False)
    if table is None:
        list_experiments(console)
    else:
        run(Wish(table, data, runs, sets, members, seed, jobs, out), console)


app.command(demo)
app.command(cluster, usage="Usage: consilience cluster [DATA] [OPTIONS]")
app.command(ambiguous, usage="Usage: consilience ambiguous [DATA] [OPTIONS]")
app.command(minority, usage="Usage: consilience minority DATA [OPTIONS]")
app.command(methods)
app.command(reproduce, usage="Usage: consilience reproduce [TABLE] [OPTIONS]")


def _progress() -> list[Any]:
    """scikit-learn's progress bars on a terminal, nothing in a pipe."""
    if not sys.stdout.isatty():
        return []
    from sklearn.callback import ProgressBar

    return [ProgressBar()]
