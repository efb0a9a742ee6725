"""From runs to figures: means with intervals, paired differences, ranks, pictures, a page.

A figure of a table is the mean over its seeds; intervals are those of the mean over tables, by
10,000 draws of the tables with replacement. A run that failed counts as an ARI and NMI of 0.
Only tables that every candidate shown was run on count.
"""

import warnings
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from quality_candidates import candidate

from consilience.compare import bergmann_hommel, rank_diagram, rank_text
from consilience.errors import ConsilienceWarning

QUESTIONS = {False: "number unknown", True: "number known"}
PARTS = {
    "developing": "Generated, developing",
    "confirming": "Generated, confirming",
    "second": "Generated, second confirming",
    "third": "Generated, third confirming",
    "real-developing": "Real, developing",
    "real-confirming": "Real, confirming",
    "yours": "Your tables",
}
_DRAWS = 10_000
_NOTHING = 0.05


@dataclass(frozen=True)
class Figures:
    """What candidates made of the tables of one part; arrays are tables by candidates."""

    part: str
    question: str
    names: tuple
    sets: tuple
    families: tuple
    ari: np.ndarray
    nmi: np.ndarray
    exact: np.ndarray
    off: np.ndarray
    one: np.ndarray
    same: np.ndarray
    seconds: np.ndarray
    peak: np.ndarray
    failed: np.ndarray
    n_seeds: int
    n_left_out: int

    @property
    def title(self):
        """Part, question and how many tables."""
        n, left = len(self.sets), self.n_left_out
        also = f"; {left} not yet run by all are left out" if left else ""
        seeds = f"{self.n_seeds} seed{'s' * (self.n_seeds > 1)}"
        return f"{PARTS[self.part]}, {self.question} ({n} tables, {seeds}{also})"


def figures(rows, part, knows_number, names=None):
    """The figures of one part and question; None where there are no runs."""
    rows = [
        row
        for row in rows
        if row["part"] == part
        and row["truth"] != 1
        and candidate(row["candidate"]).knows_number == knows_number
        and (names is None or row["candidate"] in names)
    ]
    runs, families = {}, {}
    for row in rows:
        runs.setdefault((row["set"], row["candidate"]), []).append(row)
        families[row["set"]] = row["family"]
    shown = tuple(dict.fromkeys(row["candidate"] for row in rows))
    sets = tuple(one for one in families if all((one, name) in runs for name in shown))
    if not sets:
        return None
    cells = [[_of_table(runs[one, name]) for name in shown] for one in sets]
    measures = {
        key: np.array([[cell[key] for cell in line] for line in cells], float)
        for key in cells[0][0]
    }
    return Figures(
        part,
        QUESTIONS[knows_number],
        shown,
        sets,
        tuple(families[one] for one in sets),
        **measures,
        n_seeds=max(len(found) for found in runs.values()),
        n_left_out=len(families) - len(sets),
    )


def _of_table(runs):
    """Figures of one candidate on one table, over its seeds."""
    good = [row for row in runs if not row["error"]]
    found = [row["k"] for row in good]
    commonest = Counter(found).most_common(1)
    return {
        "ari": sum(row["ari"] for row in good) / len(runs),
        "nmi": sum(row["nmi"] for row in good) / len(runs),
        "exact": sum(row["k"] == row["truth"] for row in good) / len(runs),
        "off": _mean([abs(row["k"] - row["truth"]) for row in good]),
        "one": sum(k <= 1 for k in found) / len(runs),
        "same": commonest[0][1] / len(runs) if commonest else 0.0,
        "seconds": _mean([row["seconds"] for row in runs if row["seconds"] is not None]),
        "peak": _mean([row["peak_mib"] for row in runs if row["peak_mib"] is not None]),
        "failed": len(runs) - len(good),
    }


def _mean(values):
    return float(np.mean(values)) if values else np.nan


def interval(values):
    """Bounds of the 95 % interval of the mean over tables."""
    rng = np.random.default_rng(0)
    drawn = rng.integers(len(values), size=(_DRAWS, len(values)))
    low, high = np.quantile(values[drawn].mean(axis=1), [0.025, 0.975])
    return float(low), float(high)


# ---- tables --------------------------------------------------------------------------------


def means(found):
    """Every candidate's means, the best ARI first, as a Markdown table."""
    unknown = found.question == QUESTIONS[False]
    head = ["candidate", "mean ARI", "95 % interval", "NMI", "ARI < .05"]
    head += ["number exact", "number off by", "one group", "same number"] * unknown
    lines = []
    for j in np.argsort(-found.ari.mean(axis=0), kind="stable"):
        ari = found.ari[:, j]
        cells = [found.names[j], _decimal(ari.mean()), _bounds(interval(ari))]
        cells += [_decimal(found.nmi[:, j].mean()), int((ari < _NOTHING).sum())]
        if unknown:
            cells += [_decimal(found.exact[:, j].mean()), f"{np.nanmean(found.off[:, j]):.2f}"]
            same = found.same[:, j].mean() if found.n_seeds > 1 else None
            cells += [_decimal(found.one[:, j].mean()), "–" if same is None else _decimal(same)]
        cells += [f"{np.nanmean(found.seconds[:, j]):.2f}", f"{np.nanmax(found.peak[:, j]):.0f}"]
        lines.append([*cells, int(found.failed[:, j].sum())])
    return _markdown([*head, "seconds", "largest MiB", "failed runs"], lines)


def differences(found, against):
    """Mean ARI of ``against`` less that of every other, table by table."""
    lines = []
    for name, gaps in _gaps(found, against):
        wins, losses = int((gaps > 1e-9).sum()), int((gaps < -1e-9).sum())
        score = f"{wins} / {len(gaps) - wins - losses} / {losses}"
        lines.append([name, f"{gaps.mean():+.3f}", _bounds(interval(gaps), "+.3f"), score])
    head = [f"{against} against", "mean difference", "95 % interval", "better / alike / worse"]
    return _markdown(head, lines)


def _gaps(found, against):
    j = found.names.index(against)
    gaps = [(name, found.ari[:, j] - found.ari[:, i]) for i, name in enumerate(found.names)]
    return sorted((one for one in gaps if one[0] != against), key=lambda one: one[1].mean())


def by_family(found):
    """Mean ARI of each family and candidate."""
    families = np.array(found.families)
    lines = [
        [family, int((families == family).sum())]
        + [_decimal(mean) for mean in found.ari[families == family].mean(axis=0)]
        for family in dict.fromkeys(found.families)
    ]
    return _markdown(["family", "tables", *found.names], lines)


def groupless(rows, part, names=None):
    """What was said of tables without groups, over all runs; empty where there are none."""
    runs = {}
    for row in rows:
        if row["part"] == part and row["truth"] == 1:
            runs.setdefault(row["candidate"], []).append(row)
    lines = []
    for name, found in runs.items():
        if names is not None and name not in names:
            continue
        good = [row for row in found if not row["error"]]
        stated = [row for row in good if row["clarity"] is not None]
        tested = [row["p"] for row in good if row["p"] is not None]
        clear = f"{sum(row['clarity'] == 'clear' for row in stated)} of {len(stated)}"
        small = f"{sum(p <= 0.05 for p in tested)} of {len(tested)}"
        split = f"{sum(row['k'] > 1 for row in good)} of {len(found)}"
        n_sets = len({row["set"] for row in found})
        said = [clear if stated else "–", small if tested else "–"]
        lines.append([name, n_sets, split, *said, len(found) - len(good)])
    head = ["candidate", "tables", "runs split", "runs called clear", "p ≤ .05", "failed runs"]
    return _markdown(head, lines) if lines else ""


def ranks(found):
    """Friedman's test and the mean ranks with bars over those that do not differ."""
    tests = tested(found)
    if tests is None:
        return ""
    said = (
        f"Friedman: chi² = {tests.ranks.chi2:.1f}, p = {tests.ranks.chi2_p:.2g}; "
        f"Iman and Davenport: F = {tests.ranks.f:.2f}, p = {tests.ranks.f_p:.2g}."
    )
    return f"{said}\n\n```text\n{rank_text(tests)}\n```"


def tested(found):
    """Bergmann and Hommel's tests; None of a single candidate or table."""
    if len(found.names) < 2 or len(found.sets) < 2:
        return None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConsilienceWarning)
        return bergmann_hommel(np.round(found.ari, 9), names=found.names)


def _markdown(head, lines):
    rows = [head, ["---"] * len(head), *lines]
    return "\n".join("| " + " | ".join(map(str, row)) + " |" for row in rows)


def _decimal(value):
    return f"{value:.3f}"


def _bounds(bounds, form=".3f"):
    return " to ".join(format(bound, form) for bound in bounds)


# ---- pictures and the page -----------------------------------------------------------------


def draw(found, against, folder):
    """Rank diagram and paired differences as PNG files; returns their paths."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    stem, paths = f"{found.part}-{found.question.replace(' ', '-')}", []
    tests = tested(found)
    if tests is None:
        return paths
    pictures = [("ranks", rank_diagram(tests))]
    if against in found.names:
        pictures.append(("differences", _dots(plt, found, against)))
    for kind, ax in pictures:
        paths.append(folder / f"{stem}-{kind}.png")
        ax.figure.savefig(paths[-1], dpi=120, bbox_inches="tight")
        plt.close(ax.figure)
    return paths


def _dots(plt, found, against):
    """Mean difference to every other with its interval, over a dot for every table."""
    gaps = _gaps(found, against)
    _, ax = plt.subplots(figsize=(7, 0.9 + 0.5 * len(gaps)))
    rng = np.random.default_rng(0)
    for place, (_, values) in enumerate(gaps):
        spread = place + rng.uniform(-0.18, 0.18, len(values))
        ax.plot(values, spread, ".", color="0.75", markersize=3, zorder=1)
        low, high = interval(values)
        ax.plot([low, high], [place, place], color="C0", lw=3, zorder=2)
        ax.plot(values.mean(), place, "o", color="C0", zorder=3)
    ax.axvline(0, color="0.3", lw=0.8)
    ax.set_yticks(range(len(gaps)), [name for name, _ in gaps])
    ax.set_xlabel(f"ARI of {against} less ARI of the other, by table; mean and 95 % interval")
    return ax


def page(rows, parts, *, names=None, against="consilience", pictures=None, head=""):
    """All of it as one text in Markdown."""
    blocks = [head] if head else []
    for part in parts:
        for knows_number in QUESTIONS:
            found = figures(rows, part, knows_number, names)
            if found is not None:
                blocks += _section(found, against, pictures)
        without = groupless(rows, part, names)
        if without:
            blocks += [f"## {PARTS[part]}, no groups", without]
    return "\n\n".join(blocks) + "\n"


def _section(found, against, pictures):
    own = f"{against}_k" if found.question == QUESTIONS[True] else against
    own = own if own in found.names else found.names[0]
    blocks = [f"## {found.title}", means(found)]
    if len(found.names) > 1:
        blocks += [differences(found, own), ranks(found)]
    if pictures is not None:
        for path in draw(found, own, pictures):
            blocks.append(f"![{path.stem}]({Path(pictures).name}/{path.name})")
    if len(set(found.families)) > 1:
        blocks.append(by_family(found))
    return [block for block in blocks if block]
