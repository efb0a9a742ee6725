"""A consensus in the terminal: what was clustered, how, the clusters, where to look twice."""

from typing import TYPE_CHECKING, Any

import numpy as np

from consilience._cli.cluster import Consensus
from consilience._cli.show import show_notes, show_places, table, tell
from consilience._cli.show_profile import show_profile
from consilience._words import percent, plural
from consilience.workflow import ClusterResult

if TYPE_CHECKING:
    from rich.console import Console

    from consilience.compare import Comparison
    from consilience.consensus import NumberChoice

__all__ = ["show_consensus"]

_MOST_ROWS, _MOST_SIZES = 20, 8


def show_consensus(answer: Consensus, console: "Console") -> None:
    """Print all of it, the answer first."""
    result = answer.result
    tell(console, answer.data_in_words())
    tell(console, _how(result))
    if result.choice is not None:
        _show_choice(result.choice, console)
    if result.clarity is not None:
        tell(console, result.clarity.said(given=result.asked is not None))
    _show_alternatives(result, console)
    if result.comparison is not None:
        _show_comparison(result.comparison, console)
    console.print(_clusters(result))
    tell(console, _number(result))
    if result.agreement is not None:
        ci, nmi, ari = (result.agreement[key] for key in ("consistency_index", "nmi", "ari"))
        tell(
            console,
            f"Against the known groups: {ci:.0%} of the objects agree (consistency index "
            f"{ci:.3f}), NMI {nmi:.3f}, adjusted Rand index {ari:.3f}.",
        )
    _show_least_sure(answer, console)
    show_profile(result.profile(), console)
    show_places(result.ran_on, console)
    show_notes(result.notes, console)


def _how(result: ClusterResult) -> str:
    k = result.ensemble.n_clusters
    clusters = f"{k.min()}" if k.min() == k.max() else f"{k.min()} to {k.max()}"
    return (
        f"{plural(result.ensemble.n_members, 'clustering')}, of {clusters} clusters each: "
        f"{result.why_members}\nCombined by {result.method_in_words()}"
    )


def _show_choice(choice: "NumberChoice", console: "Console") -> None:
    """What every criterion says about the number of clusters, and what was made of it."""
    lines = table("How many clusters?", "says", "how clearly", right=("says", "how clearly"))
    for one in choice.criteria:
        seen = one.n_clusters is not None
        style = "bold" if one.name == choice.taken else ""
        cells = (str(one.n_clusters), f"{one.clarity:.0%}") if seen else ("nothing", "")
        lines.add_row(one.title, *cells, style=style)
    if choice.criteria:
        console.print(lines)
    tell(console, choice.words)


def _show_alternatives(result: ClusterResult, console: "Console") -> None:
    """Other divisions that are worth a look, and what they would make of these groups."""
    others = result.to_dict()["alternatives"][1:]
    for one in others:
        sizes = ", ".join(map(str, one["sizes"][:_MOST_SIZES]))
        sizes += ", ..." * (len(one["sizes"]) > _MOST_SIZES)
        looked_at = sum(one["sizes"])
        sizes += f" of {looked_at} looked at" * (looked_at < result.n_objects)
        tell(
            console,
            f"Worth a look: -k {one['n_clusters']} ({sizes}), which {one['difference']}.",
        )


def _show_comparison(result: "Comparison", console: "Console") -> None:
    """The methods beside each other: how they agree with the members, and among themselves."""
    scores = {"consistency_index": "agree with truth", "nmi": "NMI", "ari": "ARI"}
    known = [(key, title) for key, title in scores.items() if result.truth and key in result.truth]
    names = ("method", "clusters", "ANMI", *(title for _, title in known), "seconds")
    lines = table(*names, right=names[1:])
    for i, name in enumerate(result.names):
        cells = [str(result.n_clusters[i]), f"{result.anmi[i]:.3f}"]
        cells += [f"{(result.truth or {})[key][i]:.3f}" for key, _ in known]
        style = "bold" if name == result.best else ""
        lines.add_row(name, *cells, f"{result.seconds[i]:.1f}", style=style)
    console.print(lines)
    if len(result.names) > 1:
        tell(console, "Agreement of the methods with each other (NMI, 1 is the same):")
        pairs = table("", *result.names, right=result.names)
        for name, row in zip(result.names, result.agreement, strict=True):
            pairs.add_row(name, *(f"{value:.2f}" for value in row))
        console.print(pairs)
    for name, why in result.failed.items():
        tell(console, f"{name} was left out: {why}")
    tell(console, f"Taken: {result.best}, which agrees best with all clusterings (ANMI).")


def _number(result: ClusterResult) -> str:
    """How many clusters, and who chose the number."""
    k, asked = result.n_clusters, result.asked
    text = f"{k} cluster{'s' * (k != 1)}"
    if asked is not None:
        return f"{text}, as asked." if k == asked else f"{text}, where {asked} were asked for."
    if result.choice is None:
        return f"{text}, {_by_method(result)}"
    if k != result.choice.n_clusters:
        return f"{text}, where {result.choice.n_clusters} were looked for; ask for others with -k."
    return "Ask for another number of clusters with -k."


def _by_method(result: ClusterResult) -> str:
    """How a method that was named came to its number."""
    if result.lifetimes is None:
        return f"a number chosen by {result.method}; ask for another with -k."
    others = [str(c) for c in result.candidates() if c != result.n_clusters]
    text = "the number with the longest lifetime."
    if others:
        text += f" Next come {', '.join(others)}; ask for one with -k."
    if result.parameters.get("linkage") == "average":
        text += (
            " With average link the lifetime tends to ask for too many: leave out --method and "
            "--linkage, and several kinds of evidence are asked."
        )
    return text


def _clusters(result: ClusterResult) -> Any:
    """The table of clusters, the largest only where there are very many."""
    lines = table("cluster", "objects", "share", "confidence", right=("objects", "share"))
    sizes, n = result.sizes, result.n_objects
    order = range(len(sizes))
    if len(sizes) > _MOST_ROWS:
        order = np.argsort(sizes, kind="stable")[::-1][:_MOST_ROWS].tolist()
    for cluster in order:
        size = sizes[cluster]
        sure = _mean_confidence(result, cluster)
        lines.add_row(str(cluster), str(size), percent(size / n), sure)
    rest = len(sizes) - len(order)
    if rest:
        held = sum(sizes) - sum(sizes[cluster] for cluster in order)
        # In order of size: the last that is shown may be as small as the first that is not.
        others = "smaller" if sizes[order[-1]] > max(np.delete(sizes, order)) else "more"
        lines.add_row(f"{rest} {others}", str(held), percent(held / n), "")
    noise = result.n_noise
    if noise:
        lines.add_row("noise (-1)", str(noise), percent(noise / n), "")
    lines.add_row("all", str(n), "", _mean_confidence(result), style="bold")
    return lines


def _mean_confidence(result: ClusterResult, cluster: int | None = None) -> str:
    # A single cluster has no other that an object could belong to.
    mean = result.mean_confidence(cluster)
    return "" if mean is None else f"{mean:.2f}"


def _show_least_sure(answer: Consensus, console: "Console") -> None:
    from rich.text import Text

    result = answer.result
    if result.n_clusters < 2 or result.confidence is None:
        return
    doubtful, below = int(result.doubtful.sum()), result.doubtful_below
    if not doubtful:
        tell(console, f"No object is doubtful (confidence {below} or more).")
        return
    least = [item for item in result.least_sure(5) if item["confidence"] < below]
    name = "id" if result.data.ids is not None else "row"
    lines = table(name, "cluster", "next best", "confidence")
    for item in least:
        other = item["runner_up"]
        lines.add_row(
            Text(str(item["id"])),  # an identifier may look like markup
            str(item["cluster"]),
            "" if other is None or other < 0 else str(other),
            f"{item['confidence']:.2f}",
        )
    are = "object is" if doubtful == 1 else "objects are"
    tell(
        console,
        f"\n{doubtful} {are} doubtful (confidence below {below}; 1 is certain, 0.5 is torn between "
        "two clusters). The least sure:",
    )
    console.print(lines)
    better = result.n_suited_elsewhere
    if better:
        tell(console, _suited_elsewhere(better, refined=answer.wish.refine))


def _suited_elsewhere(n: int, *, refined: bool) -> str:
    """What a confidence below 0.5 means, of how many objects, and what can be done."""
    have, them = ("object has", "it") if n == 1 else ("objects have", "them")
    text = (
        f"Below 0.5 the clusterings speak for the next best cluster, and the method kept the "
        f"object all the same: {n} {have}"
    )
    if refined:
        return f"{text} less, after one pass; others of their cluster moved."
    return f"{text} less. --refine moves {them} there."
