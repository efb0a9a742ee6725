"""What may be typed after each command, as dataclasses whose docstrings are the help.

Imports nothing that is slow: ``consilience --help`` loads no numpy.
"""

import shlex
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields, is_dataclass
from pathlib import Path
from typing import Annotated, Any, Literal

from cyclopts import Group, Parameter, Token, convert

from consilience._text import readable
from consilience.errors import InvalidParameterError

__all__ = [
    "AmbiguousWish",
    "ClusterWish",
    "MinorityWish",
    "Reading",
    "Whole",
    "WholeOrNone",
    "Writing",
    "as_command",
    "flag",
    "one_flag_each",
]

_DATA, _RESULTS = Group("The data", sort_key=1), Group("The results", sort_key=2)
_Flag = Annotated[bool, Parameter(negative=(), show_default=False)]


def _whole(_: type, tokens: Sequence[Token]) -> int:
    """The number that was typed; cyclopts by itself takes 2.5 for 2."""
    typed = tokens[0].value
    _, point, fraction = typed.partition(".")
    if point and fraction.strip("0"):
        raise ValueError(f"{typed!r} is not a whole number.")
    return int(convert(int, tokens))


Whole = Annotated[int, Parameter(converter=_whole)]
WholeOrNone = Annotated[int | None, Parameter(converter=_whole)]
_Number = Annotated[WholeOrNone, Parameter(name=("-k", "--n-clusters"))]
_SHORT = {"n_clusters": "-k"}


class Default(int):
    """A number that nobody typed, and that a job may know better."""


_MEMBERS = Default(100)


@Parameter(name="*", group=_DATA)
@dataclass(frozen=True, kw_only=True)
class Reading:
    """How the table is read.

    Parameters
    ----------
    id_column : str
        Column of identifiers: not used, but written with the results. [default: recognised,
        and said; "none" takes every column as data]
    truth_column : str
        Column of known groups: not used, only compared with the result.
    columns : tuple[str, ...]
        Columns to use, the others are left out: --columns a,b. [default: all]
    ignore : tuple[str, ...]
        Columns to leave out: --ignore a b, or --ignore a,b.
    impute : str
        What to do about missing values; keep (not of minority) leaves them as gaps, and each
        clustering sees the objects that have its columns. [default: refuse them]
    encode : str
        What to do about columns of text: mixed takes categories as such, onehot makes columns of 0
        and 1 of them, and both days of dates; dates only the latter. [default: refuse them]
    ordinal : tuple[str, ...]
        Categories of a column that have an order, the lowest first: --ordinal stage=I,II,III.
    decimal : str
        Decimal mark of a text file. [default: a point, or a comma where it is sure]
    encoding : str
        Of a text file, such as cp1252. [default: UTF-8, or what Windows writes]
    sheet : str
        Of a workbook (.xlsx). [default: the first]
    layer : str
        Of annotated data (.h5ad): a layer, or obsm/X_pca. [default: X]
    transpose : bool
        The objects are the columns of the file, as in tables with a gene a row.
    """

    id_column: str | None = None
    truth_column: str | None = None
    columns: Annotated[tuple[str, ...], Parameter(negative=(), show_default=False)] = ()
    ignore: Annotated[tuple[str, ...], Parameter(negative=(), show_default=False)] = ()
    impute: Literal["median", "mean", "drop-rows", "keep"] | None = None
    encode: Literal["mixed", "onehot", "dates"] | None = None
    ordinal: Annotated[tuple[str, ...], Parameter(negative=(), show_default=False)] = ()
    decimal: Literal[".", ","] | None = None
    encoding: str | None = None
    sheet: str | None = None
    layer: str | None = None
    transpose: _Flag = False

    def orders(self) -> dict[str, tuple[str, ...]]:
        """Categories of columns from the lowest to the highest."""
        named = named_values(self.ordinal, "--ordinal", "stage=I,II,III")
        return {
            name: tuple(part.strip() for part in words.split(",")) for name, words in named.items()
        }


@Parameter(name="*", group=_RESULTS)
@dataclass(frozen=True, kw_only=True)
class Writing:
    """Where the results go, and what is printed.

    Parameters
    ----------
    out : Path
        Folder for the results. [default: named after the job and the data]
    force : bool
        Replace the results of an earlier run in that folder.
    json : bool
        Print the summary as JSON, for machines; progress goes to the standard error stream.
    quiet : bool
        Print nothing.
    no_data : bool
        A report that holds no object's values: figures of whole groups only.
    """

    out: Path | None = None
    force: _Flag = False
    json: _Flag = False
    quiet: _Flag = False
    no_data: _Flag = False


@Parameter(name="*")
@dataclass(frozen=True, kw_only=True)
class ClusterWish:
    """What the user typed after ``consilience cluster``; None where a default is chosen.

    Parameters
    ----------
    n_clusters : int
        Number of clusters. Without it, the best supported number is found.
    max_k : int
        Most clusters to look for. [default: as far as it is needed]
    effort : str
        How closely to look: quick, default or thorough.
    strict : bool
        One cluster for all where nothing is clear, instead of the best guess, marked.
    method : str
        Consensus method; `consilience methods` lists them. [default: autoconsensus, what
        independent ways to cluster come to]
    methods : str
        Several methods with commas between: each is run, they are compared, and the one
        that agrees best with all clusterings is taken.
    members : int
        Number of clusterings to combine; of a graph 30 where nothing is said.
    labels : Path
        Clusterings you already have, one column each, instead of new ones; an empty cell
        means that a clustering left the object out.
    view : tuple[str, ...]
        Several tables of the same objects, matched by their identifiers, instead of one:
        --view rna=rna.csv --view protein=protein.csv.
    graph : Path
        A graph instead of a table: a list of edges (.csv, .tsv, .txt, .parquet, .feather; two
        columns of nodes, and one of weights), or a matrix (.mtx, .npz). Its communities are found.
    resolution : str
        How fine communities may be, a number or LOW,HIGH. [default: what runs agree about]
    source_column, target_column, weight_column : str
        Columns of the list of edges. [default: recognised by name, else in their order]
    known : Path
        What is known of some objects: a CSV file of first, second, link (must or cannot), or of
        identifier and group.
    linkage : str
        average (compact groups), single (chains), complete or ward, for method eac.
        [default: average]
    refine : bool
        Move objects that another cluster suits better (confidence below 0.5) to it, once.
    no_scale : bool
        Keep the columns as they are. By default each is brought to mean 0 and variance 1.
    log : bool
        Counts: take log(1 + x) of the numbers first.
    compositional : bool
        Shares of a whole: take the centred log-ratios of the numbers first.
    weight : tuple[str, ...]
        How much a column counts, 1 where nothing is said: --weight age=2.
    object_weights : str
        Column that says how often each object counts.
    metric : str
        Other distances than Euclidean: manhattan, chebyshev, cosine, correlation, canberra,
        braycurtis, hamming, jaccard; or precomputed, where the table is the square matrix of the
        distances of all objects.
    seed : int
        Equal seeds give equal results, whatever --jobs.
    jobs : int
        Threads; -1 takes all cores. [default: 1]
    device : str
        A torch device, such as cuda, for what can run there. [default: the processor]
    max_memory : str
        Memory for the job, such as "2 GiB": a table that needs more is read block by block, and
        methods that need a matrix of pairs do without. [default: 4 GiB]
    scheduler : str
        Have the table read and clustered block by block by the workers of a Dask scheduler:
        its address, such as tcp://host:8786, or local, for workers on this machine.
    workers : int
        Number of workers of --scheduler local, which it stands for. [default: 2]
    resume : bool
        Go on with a run that was interrupted: clusterings that were finished are kept.
    no_report : bool
        Leave out report.html and the tables of what makes each cluster (profile-*.csv).
    no_keep : bool
        Leave out model.json and model.npz, which hold the data and what `consilience predict` and
        `consilience.load` need.
    """

    data: Annotated[Path | None, Parameter(parse=False)] = None
    n_clusters: _Number = None
    max_k: WholeOrNone = None
    effort: str = "default"
    strict: _Flag = False
    method: str | None = None
    methods: str | None = None
    members: Whole = _MEMBERS
    labels: Path | None = None
    view: Annotated[tuple[str, ...], Parameter(negative=(), show_default=False)] = ()
    graph: Path | None = None
    resolution: str | None = None
    source_column: str | None = None
    target_column: str | None = None
    weight_column: str | None = None
    known: Path | None = None
    linkage: str | None = None
    refine: _Flag = False
    no_scale: _Flag = False
    log: _Flag = False
    compositional: _Flag = False
    weight: Annotated[tuple[str, ...], Parameter(negative=(), show_default=False)] = ()
    object_weights: str | None = None
    metric: str | None = None
    seed: Whole = 0
    jobs: WholeOrNone = None
    device: str | None = None
    max_memory: str | None = None
    scheduler: str | None = None
    workers: WholeOrNone = None
    resume: _Flag = False
    reading: Reading = Reading()
    no_report: Annotated[_Flag, Parameter(group=_RESULTS)] = False
    no_keep: Annotated[_Flag, Parameter(group=_RESULTS)] = False
    writing: Writing = Writing()

    @property
    def source(self) -> Path:
        """The file that names the run: the data, or the first view, or else the labels."""
        views = list(self.views().values())
        if views and (self.data is not None or self.labels is not None):
            raise InvalidParameterError(
                "--view takes the place of the data and of --labels. Give the table as one more "
                f"view, such as --view clinic={self.data or self.labels}."
            )
        if self.graph is not None:
            return self._source_of_graph()
        for name in ("resolution", "source_column", "target_column", "weight_column"):
            if getattr(self, name) is not None:
                raise InvalidParameterError(f"{flag(name)} belongs to --graph, which is not given.")
        first = views[0] if views else self.data
        return _source(first, self.labels, "consilience cluster", "data.csv")

    def files(self) -> tuple[Path, ...]:
        """All files that are read."""
        named = (self.data, self.labels, self.graph, self.known, *self.views().values())
        return tuple(file for file in named if file is not None)

    def _source_of_graph(self) -> Path:
        assert self.graph is not None
        for name, value in (
            ("the data", self.data),
            ("--labels", self.labels),
            ("--view", self.view),
        ):
            if value:
                raise InvalidParameterError(
                    f"--graph takes the place of {name}. Leave one of them out."
                )
        return self.graph

    def resolutions(self) -> Any:
        """How fine communities may be: a number, a range, or None."""
        if self.resolution is None:
            return None
        try:
            ends = tuple(float(part) for part in self.resolution.split(","))
        except ValueError:
            ends = ()
        if len(ends) not in (1, 2) or not all(0 < part < float("inf") for part in ends):
            raise InvalidParameterError(
                "--resolution must be a number above 0, or two with a comma between, such as 1,20. "
                f"Got {self.resolution!r} instead."
            )
        if ends[0] > ends[-1]:
            raise InvalidParameterError(
                f"--resolution must be LOW,HIGH. Got {self.resolution!r}. Swap the two ends."
            )
        return ends[0] if len(ends) == 1 else ends

    def views(self) -> dict[str, Path]:
        """Files of several views, by name."""
        paths = {}
        for word in self.view:
            name, sign, path = word.partition("=")
            if not sign or not name or not path or name in paths:
                raise InvalidParameterError(
                    f"--view must be NAME=FILE, such as rna=rna.csv, each name once. Got {word!r}."
                )
            paths[name] = Path(path)
        return paths

    def transform(self) -> str | None:
        """What is made of the numbers first."""
        if self.log and self.compositional:
            raise InvalidParameterError(
                "--log and --compositional cannot both be given: log-ratios are logarithms already."
            )
        return "log" if self.log else "compositional" if self.compositional else None

    def column_weights(self) -> dict[str, float]:
        """Weights of columns by name."""
        weights = {}
        for name, value in named_values(self.weight, "--weight", "age=2").items():
            try:
                weights[name] = float(value)
            except ValueError as error:
                raise InvalidParameterError(
                    f"--weight must be a column and a number, such as age=2. Got {name}={value}."
                ) from error
        return weights

    def method_names(self) -> tuple[str, ...]:
        """The methods asked for by name; none if the choice is left to us."""
        if self.method is not None and self.methods is not None:
            raise InvalidParameterError(
                "--method and --methods cannot both be given. Put all of them into --methods, "
                f"with commas between: --methods {self.method},{self.methods}."
            )
        if self.methods is None:
            return () if self.method is None else (self.method,)
        names = tuple(dict.fromkeys(part.strip() for part in self.methods.split(",")))
        if "" in names:
            raise InvalidParameterError(
                "--methods must be names with commas between, such as eac,mcla,wosp. Got "
                f"{self.methods!r} instead."
            )
        return names


@Parameter(name="*")
@dataclass(frozen=True, kw_only=True)
class AmbiguousWish:
    """What the user typed after ``consilience ambiguous``.

    Parameters
    ----------
    n_clusters : int
        Number of groups. Without it, the best supported number is found.
    members : int
        Number of clusterings.
    labels : Path
        Clusterings you already have, one column each, instead of new ones.
    score : str
        confidence (in the groups of `consilience cluster`), relative (overlap of the clusters
        an object is in), or anco (the paper's).
    threshold : str
        otsu, gap, kde, gmm2, quantile, or a number: objects with a lower score are ambiguous.
        [default: 0.75 of the confidence, otsu of the others]
    no_scale : bool
        Keep the columns as they are. By default each is brought to mean 0 and variance 1.
    seed : int
        Equal seeds give equal results, whatever --jobs.
    jobs : int
        Threads; -1 takes all cores. [default: 1]
    resume : bool
        Go on with a run that was interrupted: clusterings that were finished are kept.
    no_report : bool
        Leave out report.html.
    """

    data: Annotated[Path | None, Parameter(parse=False)] = None
    n_clusters: _Number = None
    members: Whole = 100
    labels: Path | None = None
    score: str = "confidence"
    threshold: str | None = None
    no_scale: _Flag = False
    seed: Whole = 0
    jobs: WholeOrNone = None
    resume: _Flag = False
    reading: Reading = Reading()
    no_report: Annotated[_Flag, Parameter(group=_RESULTS)] = False
    writing: Writing = Writing()

    @property
    def source(self) -> Path:
        """The file that names the job: the data, or else the labels."""
        return _source(self.data, self.labels, "consilience ambiguous", "data.csv")

    def files(self) -> tuple[Path, ...]:
        """All files that are read."""
        return tuple(file for file in (self.data, self.labels) if file is not None)

    def limit(self) -> str | float | None:
        """The threshold as the library takes it: a rule's name, or a number."""
        if self.threshold is None:
            return None
        try:
            return float(self.threshold)
        except ValueError:
            return self.threshold


@Parameter(name="*")
@dataclass(frozen=True, kw_only=True)
class MinorityWish:
    """What the user typed after ``consilience minority``.

    Parameters
    ----------
    weak : str
        Weak clusterings: soft or hard (random objects as seeds), split (random hyperplanes).
    divergence : str
        gaussian, euclidean, mahalanobis, kl, itakura-saito, logistic or cosine.
    gamma : str
        Inverse squared width of gaussian; or distance (from the distances between objects),
        contrast or auto, which look for it.
    score : str
        sizes (of the clusters an object falls into) or knn (distance to its nearest neighbours).
    threshold : str
        reference (compares with data without groups, and tests whether there are any), 2gauss,
        dist, ngauss, size (with --n-foreground), best (with --truth-column), or a number:
        objects with at least that score are foreground.
    n_foreground : float
        Number, or share below 1, of foreground objects for --threshold size.
    n_clusters : int
        Groups of the foreground. [default: as many as the clusterings tell apart]
    repetitions : str
        Weak clusterings; auto stops when the scores have settled.
    scaling : str
        auto, none, box, std or robust (for data with far outliers).
    background : str
        The value of the known groups that means background. [default: the most frequent]
    seed : int
        Equal seeds give equal results, whatever --jobs.
    jobs : int
        Threads; -1 takes all cores. [default: 1]
    device : str
        A torch device, such as cuda, for what can run there. [default: the processor]
    max_memory : str
        Memory for the job, such as "2 GiB": a table that needs more is read block by block.
        [default: 4 GiB]
    scheduler : str
        Have the table read and scored block by block by the workers of a Dask scheduler:
        its address, such as tcp://host:8786, or local, for workers on this machine.
    workers : int
        Number of workers of --scheduler local, which it stands for. [default: 2]
    resume : bool
        Go on with a run that was interrupted: weak clusterings that were counted are kept.
    no_report : bool
        Leave out report.html.
    """

    data: Annotated[Path | None, Parameter(parse=False)] = None
    weak: str = "soft"
    divergence: str = "gaussian"
    gamma: str = "distance"
    score: str = "sizes"
    threshold: str = "reference"
    n_foreground: float | None = None
    n_clusters: _Number = None
    repetitions: str = "auto"
    scaling: str = "auto"
    background: str | None = None
    seed: Whole = 0
    jobs: WholeOrNone = None
    device: str | None = None
    max_memory: str | None = None
    scheduler: str | None = None
    workers: WholeOrNone = None
    resume: _Flag = False
    reading: Reading = Reading()
    no_report: Annotated[_Flag, Parameter(group=_RESULTS)] = False
    writing: Writing = Writing()

    @property
    def source(self) -> Path:
        """The file that names the job."""
        assert self.data is not None
        return self.data

    def files(self) -> tuple[Path, ...]:
        """All files that are read."""
        return (self.source,)


def named_values(given: Sequence[str], option: str, example: str) -> dict[str, str]:
    """What was typed as NAME=VALUE; the name goes up to the last equals sign.

    >>> named_values(("age=2", "a=b=3"), "--weight", "age=2")
    {'age': '2', 'a=b': '3'}
    """
    values = {}
    for word in given:
        name, sign, value = word.rpartition("=")
        if not sign or not name or not value:
            raise InvalidParameterError(
                f"{option} must be NAME=VALUE, such as {example}. Got {word!r} instead."
            )
        if name in values:
            raise InvalidParameterError(f"{option} takes each name once. Got {word!r} as well.")
        values[name] = value
    return values


def as_command(job: str, wish: Any) -> str:
    """The command line that asks for the same.

    >>> as_command("cluster", ClusterWish(data=Path("a.csv"), n_clusters=3, no_scale=True))
    'consilience cluster a.csv -k 3 --no-scale'
    """
    words = ["consilience", job, *([] if wish.data is None else [str(wish.data)])]
    for name, value in _given(wish):
        if value is True:
            words.append(flag(name))
        for one in value if isinstance(value, tuple) else () if value is True else (value,):
            words += [flag(name), str(one)]
    return " ".join(map(_quoted, words))


def _quoted(word: str) -> str:
    """A word as a shell takes it; bytes of a file name that are no text by their numbers."""
    shown = readable(word)
    return shlex.quote(word) if shown == word else "$" + shlex.quote(shown)


def flag(name: str) -> str:
    """What is typed for an option.

    >>> flag("id_column"), flag("n_clusters")
    ('--id-column', '-k')
    """
    return _SHORT.get(name, "--" + name.replace("_", "-"))


def _given(wish: Any) -> Iterator[tuple[str, Any]]:
    """Options that are not at their default."""
    for option in fields(wish):
        value = getattr(wish, option.name)
        if is_dataclass(value):
            yield from _given(value)
        elif option.name != "data" and not _is_default(value, option.default):
            yield option.name, value


def _is_default(value: Any, default: Any) -> bool:
    """Whether nobody typed a value: the same number typed may mean more than the default."""
    ours = isinstance(value, Default) or not isinstance(default, Default)
    return bool(value == default) and ours


def one_flag_each(words: Sequence[str], option: str = "--ignore") -> list[str]:
    """The words of a command with the option before each of its values.

    Its values go up to the next option, or to a file that is there where none was named before:
    that is the data.

    >>> one_flag_each(["cluster", "a.csv", "--ignore", "x", "y", "-k", "3"])
    ['cluster', 'a.csv', '--ignore', 'x', '--ignore', 'y', '-k', '3']
    """
    made: list[str] = []
    inside = has_data = False
    for i, word in enumerate(words):
        is_data = not has_data and i > 0 and Path(word).is_file()
        has_data |= is_data
        if word.startswith("-") or is_data:
            inside = False
        elif inside and words[i - 1] != option:
            made.append(option)
        made.append(word)
        inside |= word == option
    return made


def _source(data: Path | None, labels: Path | None, job: str, example: str) -> Path:
    source = labels if data is None else data
    if source is None:
        raise InvalidParameterError(
            f"{job} needs data or labels. Got neither. Name a file, as in '{job} {example}', "
            "or give labels you already have with --labels."
        )
    return source
