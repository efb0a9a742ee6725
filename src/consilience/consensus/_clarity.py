"""Is there anything? Borders and valleys between groups, beside data of the same kind without."""

from collections.abc import Callable
from dataclasses import dataclass, fields
from functools import partial
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.cluster.hierarchy import fcluster, linkage
from scipy.ndimage import gaussian_filter1d
from scipy.spatial.distance import pdist, squareform
from scipy.special import ndtri
from scipy.stats import rankdata
from sklearn.cluster import KMeans

from consilience.consensus._atoms import Sources, distinct, has_atoms, permuted, sources, told
from consilience.consensus._lines import narrow
from consilience.consensus._support import border_sparsity, reach
from consilience.consensus._valleys import valleys

__all__ = ["REFERENCES", "Clarity", "DoubtedClarity", "Verdict", "doubted", "judge"]

Floats = NDArray[np.float64]
Labels = NDArray[np.int32]
Draw = Callable[[np.random.RandomState], Floats]
Verdict = Literal["clear", "weak", "none"]

#: Reference tables of each kind.
REFERENCES = 99
_LEVEL = 0.05
# Density at the borders of groups that can be called clear, as the logarithm of the share that
# chance has there: about half. Sparsity is one of distances, times the columns one of densities;
# more columns than that are no reason to be sure, the p-value could be off as well.
_DROP, _MOST_COLUMNS = 0.7, 5.0
# The same without reference tables, and valleys that can be called clear.
_SPARSER, _VALLEY = 0.2, 0.55
# Of the variance that groups of permuted columns leave, the share that clear groups take.
_TOLD = 0.1
# So much of it is enough by itself: among steps there are hardly any borders to be empty.
_MUCH_TOLD = 0.25
# Starts of k-means there.
_STARTS = 5
# Neighbours that say how many columns there are in effect.
_NEIGHBOURS = 10
# So few rows that differ may each be a group.
_FEW_ROWS = 10
# A column's peaks are looked for on a grid, its strays left out.
_GRID, _HALVINGS, _STRAYS = 128, 12, 0.02
# Numbers of groups that are chosen most often.
_COMMON = (2, 3, 5)
# So far do the other lines come to the same groups, at least, where something is clear.
_AGREED = 0.5


@dataclass(frozen=True)
class Clarity:
    """How clear groups are.

    Attributes
    ----------
    verdict : {"clear", "weak", "none"}
    p_value : float or None
        Share of tables without groups in which borders or valleys stand out as much, the larger of
        two kinds of tables; where columns have few values or many ties, at least the share of
        tables of which groups say as much when these columns are permuted. None where there are no
        data to compare with.
    n_references : int
        Tables of each kind.
    n_objects : int
        Objects of each, and of the data, that were looked at.
    sparsity : float
        Of the borders, see `border_sparsity`; of the objects looked at.
    expected : float
        The same in tables without groups: the mean of the kind that has more.
    agreement : float
        How far other ways to cluster come to the same groups.
    valley : float or None
        How rare objects are along the line from one group to the next, see `valleys`; None without
        data, and in results of earlier versions.
    expected_valley : float or None
        The same in tables without groups.
    seen_by : {"borders", "valleys", "both", "", "columns"}
        Which of the two stands out by itself; "columns" where a few rows are all there are.
    """

    verdict: Verdict
    p_value: float | None
    n_references: int
    n_objects: int
    sparsity: float
    expected: float
    agreement: float
    valley: float | None = None
    expected_valley: float | None = None
    seen_by: str = "borders"

    @property
    def words(self) -> str:
        """How clear the groups are, in a sentence or two."""
        return self.said(given=False)

    def said(self, *, given: bool) -> str:
        """The same, also of groups whose number was given: others may be clear."""
        if self.p_value is None:
            return _WITHOUT_DATA[self.verdict]
        shown = f"p = {self.p_value:.2g}, {self.n_references} reference tables of each kind"
        if self.verdict == "none" and given:
            return (
                "These groups are not clear: data of the same kind without groups, divided into as "
                f"many, look as divided ({shown}). Another number of groups may be clearer."
            )
        if self.verdict == "none":
            return (
                f"No clear structure: data of the same kind without groups look as divided "
                f"({shown}); take the groups as the best guess."
            )
        seen = f"{_SEEN[self.seen_by]} than in data of the same kind without groups "
        if self.verdict == "clear":
            return f"They are clear: {seen}({shown}), and several ways to cluster come to them."
        return f"They are weak: {seen}({shown}), {self._but}."

    @property
    def _but(self) -> str:
        """Why they are no more than weak."""
        return "but by little" if self.agreement >= _AGREED else "but ways to cluster disagree"


@dataclass(frozen=True)
class DoubtedClarity(Clarity):
    """Of groups that would be clear, but that most objects are not sure of; see `doubted`."""

    @property
    def _but(self) -> str:
        return "but most objects are doubtful"


def doubted(clarity: Clarity) -> Clarity:
    """The same where most objects are in doubt about their group: nothing is clear then."""
    if clarity.verdict != "clear":
        return clarity
    said = {field.name: getattr(clarity, field.name) for field in fields(clarity)}
    return DoubtedClarity(**said | {"verdict": "weak"})


_SEEN = {
    "borders": "the borders are sparser",
    "valleys": "from one group to the next objects are rarer in between",
    "both": "the borders are sparser, and objects rarer between one group and the next,",
    "columns": "the columns hang together more",
    "": "borders and what lies between groups are, together, sparser",
}
_WITHOUT_DATA = {
    "clear": "They are clear: the members agree about them. (Without data there are no reference "
    "tables, so there is no p-value.)",
    "weak": "They are weak: the members hardly agree about them, or are too few to say. (Without "
    "data there are no reference tables, so there is no p-value.)",
    "none": "There is nothing to tell apart.",
}


def judge(
    points: Floats | None,
    distances: Floats,
    labels: Labels,
    agreement: float,
    *,
    n_objects: int,
    rng: np.random.RandomState,
) -> Clarity:
    """How clear the groups of ``labels`` are.

    Parameters
    ----------
    points, distances
        Data, or None, and distances of the objects.
    labels : ndarray
        Groups.
    agreement : float
        How far other lines come to the same.
    n_objects : int
        Objects to look at, at most.
    rng : RandomState
    """
    some = np.sort(rng.permutation(len(labels))[:n_objects])
    once = None if points is None else distinct(points[some])
    some = some if once is None else some[once[0]]
    labels = np.unique(labels[some], return_inverse=True)[1].astype(np.int32)
    near = distances[np.ix_(some, some)]
    sparsity = border_sparsity(labels, *reach(near)).mean
    k = int(labels.max()) + 1
    if points is None or k < 2:
        sees = sparsity >= _SPARSER and agreement >= _AGREED
        verdict: Verdict = "none" if k < 2 else ("clear" if sees else "weak")
        return Clarity(verdict, None, 0, len(some), sparsity, 0.0, agreement)
    points = points[some]
    seen = _borders(points, near, labels, rng)
    p_value, enough, seen_by = seen.p_value, seen.enough, _SEEN_BY[seen.stands_out]
    atoms = sources(points)
    if atoms and len(atoms[0]) < points.shape[1]:
        shown = _beside_permuted(points, labels, atoms, rng)
        # Groups of equal rows have no borders: columns can only hang together or not.
        alone = shown.all_told and k <= _FEW_ROWS
        p_value = shown.p_value if alone else max(p_value, shown.p_value)
        enough = (enough or alone or shown.much) and shown.enough
        seen_by = "columns" if alone else seen_by
    return Clarity(
        _verdict(p_value, enough, agreement),
        p_value,
        REFERENCES,
        len(some),
        sparsity,
        seen.expected[0],
        agreement,
        seen.valley,
        seen.expected[1],
        seen_by,
    )


class _Borders(NamedTuple):
    """How borders and valleys stand out, and whether by enough for groups that are clear."""

    p_value: float
    enough: bool
    valley: float
    expected: tuple[float, float]
    stands_out: tuple[bool, bool]


def _borders(
    points: Floats, distances: Floats, labels: Labels, rng: np.random.RandomState
) -> _Borders:
    """Borders and valleys beside those of tables without groups."""
    k = int(labels.max()) + 1
    sparsity = border_sparsity(labels, *reach(distances)).mean
    valley = valleys(narrow(points), labels, rng)
    chance = [_references(draw, k, rng) for draw in _kinds(points)]
    seen = _against((sparsity, valley), chance)
    drop = (sparsity - seen.expected[0]) * min(_columns_in_effect(distances), _MOST_COLUMNS)
    stands_out = (seen.each[0] <= _LEVEL, seen.each[1] <= _LEVEL)
    enough = (stands_out[0] and drop >= _DROP) or (stands_out[1] and valley >= _VALLEY)
    return _Borders(seen.p_value, enough, valley, seen.expected, stands_out)


_SEEN_BY = {
    (True, True): "both",
    (True, False): "borders",
    (False, True): "valleys",
    (False, False): "",
}


def _verdict(p: float, enough: bool, agreement: float) -> Verdict:
    if p > _LEVEL:
        return "none"
    return "clear" if enough and agreement >= _AGREED else "weak"


class _Shown(NamedTuple):
    """What groups say of a table, beside those of permuted columns; whether that is enough.

    ``much`` where it is by so much that borders need not show it; ``all_told`` where nothing is
    left to say.
    """

    p_value: float
    enough: bool
    much: bool
    all_told: bool


def _beside_permuted(
    points: Floats, labels: Labels, atoms: Sources, rng: np.random.RandomState
) -> _Shown:
    """Whether groups say more of columns than groups of columns that know nothing of each other.

    Only the number of the groups is asked for: more of them always say more. What the columns
    without atoms show by themselves no others can take away.
    """
    k = int(labels.max()) + 1
    rest = np.setdiff1d(np.arange(points.shape[1]), np.concatenate(atoms))
    others = points[:, rest]
    draw = partial(_permuted, points, atoms, rest, _one_peak_widths(others))
    chance = np.array([_most_told(draw(rng), k, rng) for _ in range(REFERENCES)])
    own = told(points, labels)
    # Sums in another order are no less.
    p_value = float((1 + (chance >= own - 1e-9).sum()) / (1 + REFERENCES))
    expected = float(chance.mean())
    more = (own - expected) / max(1 - expected, 1e-9)
    enough = p_value <= _LEVEL and more >= _TOLD
    much = enough and more >= _MUCH_TOLD
    if not enough and len(rest):
        seen = _borders(others, squareform(pdist(others)), labels, rng)
        p_value, enough = min(p_value, seen.p_value), seen.enough
    return _Shown(p_value, enough, much, own > 1 - 1e-9)


def _permuted(
    points: Floats,
    atoms: Sources,
    rest: NDArray[np.intp],
    widths: Floats,
    rng: np.random.RandomState,
) -> Floats:
    """Columns with atoms each in an order of its own; the others together, with one peak each."""
    table = points.copy()
    if len(rest):
        table[:, rest] = _same_columns(points[:, rest], widths, rng)
    return permuted(table, points, atoms, rng)


def _most_told(table: Floats, k: int, rng: np.random.RandomState) -> float:
    """The most that k groups say of a table."""
    seed = int(rng.randint(2**31 - 1))
    # Groups of the data are the best of many ways: those of chance must be about as good.
    ways = [
        KMeans(k, n_init=_STARTS, random_state=seed).fit(table).labels_,
        fcluster(linkage(table, "ward"), k, "maxclust") - 1,
    ]
    return max(told(table, np.asarray(one, np.int32)) for one in ways)


class _Seen(NamedTuple):
    """What was seen beside tables without groups: p-values of all, and of each; expectations."""

    p_value: float
    each: tuple[float, float]
    expected: tuple[float, float]


def _against(seen: tuple[float, float], chance: list[Floats]) -> _Seen:
    """One p-value for two things that are looked at: what stands out most, in units of its spread.

    The data are one table among the others there, so that every one of them is as likely to
    stand out most if the data are like them.
    """
    both, each = [], []
    for kind in chance:
        every = np.vstack([np.array(seen), kind])
        spread = np.maximum(every.std(axis=0), np.finfo(float).tiny)
        most = ((every - every.mean(axis=0)) / spread).max(axis=1)
        both.append(float((most >= most[0]).mean()))
        each.append((every >= every[0]).mean(axis=0))
    expected = np.max([kind.mean(axis=0) for kind in chance], axis=0)
    apart = np.max(each, axis=0)
    return _Seen(
        max(both), (float(apart[0]), float(apart[1])), (float(expected[0]), float(expected[1]))
    )


def _columns_in_effect(distances: Floats) -> float:
    """In how many directions the neighbourhoods of objects extend, on average.

    Levina & Bickel (2004), averaged as MacKay and Ghahramani advise.
    """
    count = min(_NEIGHBOURS, len(distances) - 1)
    if count < 3:
        return 1.0
    nearest = np.partition(distances, count, axis=1)[:, : count + 1]
    nearest = np.sort(nearest, axis=1)[:, 1:]
    nearest = np.maximum(nearest, 1e-9 * max(float(distances.max()), np.finfo(float).tiny))
    inverse = np.log(nearest[:, -1:] / nearest[:, :-1]).sum(axis=1) / (count - 2)
    return float(1 / max(inverse.mean(), 1e-9))


def _kinds(points: Floats) -> list[Draw]:
    """Ways to draw tables like this one, but without groups."""
    kinds: list[Draw] = [partial(_same_columns, points, _one_peak_widths(points))]
    if np.linalg.matrix_rank(points - points.mean(axis=0)) > 1:
        # On a line there are two directions only, and two groups would stay two.
        kinds.append(partial(_elliptical, points))
    return kinds


def _references(draw: Draw, k: int, rng: np.random.RandomState) -> Floats:
    """Sparsest borders and deepest valleys in each of the reference tables, two columns.

    Of k groups, and of the commonest numbers: the number was chosen with the data in sight;
    references that could not choose would make chance look like more.
    """
    return np.array([_divided(draw(rng), k, rng) for _ in range(REFERENCES)])


def _divided(table: Floats, k: int, rng: np.random.RandomState) -> tuple[float, float]:
    """Sparsest borders and deepest valleys of the ways to divide a table."""
    between = pdist(table)
    far = reach(squareform(between))
    seed = int(rng.randint(2**31 - 1))
    tree = linkage(between, "ward")
    ways: list[Any] = [KMeans(k, n_init=1, random_state=seed).fit(table).labels_]
    ways += [fcluster(tree, number, "maxclust") - 1 for number in sorted({*_COMMON, k})]
    groups = [np.asarray(one, np.int32) for one in ways]
    seen = narrow(table)
    return (
        max(border_sparsity(one, *far).mean for one in groups),
        max(valleys(seen, one, rng) for one in groups),
    )


def _elliptical(points: Floats, rng: np.random.RandomState) -> Floats:
    """The same spread and the same distances from the middle, in directions drawn anew."""
    middle = points.mean(axis=0)
    left, values, axes = np.linalg.svd(points - middle, full_matrices=False)
    kept = values > 1e-9 * max(values[0], np.finfo(float).tiny)
    radii = np.linalg.norm(left[:, kept], axis=1)
    # Drawn along the columns: axes point one way on one machine, the other way on another.
    directions = rng.normal(size=points.shape) @ axes[kept].T
    directions /= np.linalg.norm(directions, axis=1, keepdims=True)
    white = directions * rng.permutation(radii)[:, None]
    return np.asarray(white * values[kept] @ axes[kept] + middle)


def _same_columns(points: Floats, widths: Floats, rng: np.random.RandomState) -> Floats:
    """Columns drawn anew with the same correlations of ranks, each with one peak only."""
    n, d = points.shape
    normal = ndtri((rankdata(points, axis=0) - 0.5) / n)
    # A column of one value has no correlation with any other.
    normal -= normal.mean(axis=0)
    normal /= np.maximum(np.linalg.norm(normal, axis=0), np.finfo(float).tiny)
    values, axes = np.linalg.eigh(normal.T @ normal)
    root = axes * np.sqrt(np.maximum(values, 0)) @ axes.T
    drawn = rng.normal(size=(n, d)) @ root
    columns = points + rng.normal(size=(n, d)) * widths
    ranks = drawn.argsort(axis=0).argsort(axis=0)
    return np.take_along_axis(np.sort(columns, axis=0), ranks, axis=0)


def _one_peak_widths(points: Floats) -> Floats:
    """How far the values of each column must be smeared to have one peak.

    Else two groups that a column shows would be in every table without groups as well. Columns of
    few values, such as counts, or of many zeros, stay as they are: a smeared one would be of
    another kind.
    """
    return np.array([_one_peak_width(column) for column in points.T])


def _one_peak_width(column: Floats) -> float:
    values = np.sort(column)
    if len(np.unique(values)) <= len(values) // 2 or has_atoms(values):
        return 0.0
    low, high = 0.0, float(values[-1] - values[0])
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        low, high = (low, middle) if _one_peak(values, middle) else (middle, high)
    return high


def _one_peak(values: Floats, width: float) -> bool:
    """Whether smeared values have one peak; strays beyond a valley are none."""
    edges = np.linspace(values[0], values[-1], _GRID + 1)
    counts = np.histogram(values, edges)[0].astype(float)
    smeared = gaussian_filter1d(counts, max(width / (edges[1] - edges[0]), 1e-3), mode="constant")
    inner = smeared[1:-1]
    valleys = np.flatnonzero((inner < smeared[:-2]) & (inner <= smeared[2:])) + 1
    below = np.cumsum(counts)[valleys] / len(values)
    return not ((below > _STRAYS) & (below < 1 - _STRAYS)).any()
