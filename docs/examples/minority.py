"""Few dense groups in a majority of noise, in three pictures: scores, thresholds, groups.

    python docs/examples/minority.py [folder]

Draws five groups of different shapes in noise with the surface of EWOCS scores over them, the
sorted scores with the cut of every threshold rule, and the groups that are found.
"""

import sys
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

import consilience as cs
from consilience.compare import auc, precision_recall_f1

GREY = "#b5b5b5"
GROUPS = ("#3b6fb6", "#d95f30", "#3f9b5f", "#8c5fb0", "#c9a227", "#4bb3c4", "#b64a7a", "#6b4f3a")
RULES = {
    "best": "#222222",
    "size": "#8c5fb0",
    "2gauss": "#3b6fb6",
    "dist": "#3f9b5f",
    "ngauss+var": "#d95f30",
    "ngauss+best": "#c9a227",
}


def main(folder):
    """Draw all three and print what they show."""
    plt.rcParams["svg.hashsalt"] = "consilience"
    X, truth = cs.datasets.make_toy_minority(random_state=0)
    model = cs.EWOCS(random_state=0).fit(X)
    found = precision_recall_f1(model.labels_, truth)
    print(f"{model.n_repetitions_} repetitions, AUC {auc(model.scores_, truth):.3f}")
    print(f"precision {found.precision:.1%}, recall {found.recall:.1%}, F1 {found.f1:.1%}")
    draw_scores(X, model, folder / "minority_scores.png")
    draw_thresholds(truth, model, folder / "minority_thresholds.svg")
    draw_groups(X, truth, model, folder / "minority_groups.png")


def draw_scores(X, model, path):
    """The objects as they come, and the score of every place between them."""
    figure, (left, right) = plt.subplots(1, 2, figsize=(10, 4.4), layout="constrained")
    left.scatter(*X.T, s=3, color="0.35", linewidths=0)
    left.set_title(f"{len(X)} objects, most of them noise", fontsize=10)
    side = np.linspace(-5, 5, 160)
    places = np.column_stack([axis.ravel() for axis in np.meshgrid(side, side)])
    surface = model.score_samples(places).reshape(len(side), -1)
    image = right.contourf(side, side, surface, levels=30, cmap="viridis")
    right.contour(side, side, surface, levels=[model.threshold_], colors="white", linewidths=1.2)
    right.set_title("score of every place; white: the threshold", fontsize=10)
    figure.colorbar(image, ax=right, label="score")
    _square(left, right)
    figure.savefig(path, dpi=110)
    print(f"drawn to {path.name}")


def draw_thresholds(truth, model, path):
    """The scores from the highest to the lowest, and where each rule cuts them."""
    order = np.argsort(-model.scores_, kind="stable")
    scores = model.scores_[order]
    figure, ax = plt.subplots(figsize=(8, 4.2), layout="constrained")
    ax.plot(np.arange(1, len(scores) + 1), scores, color="0.35", lw=2)
    cuts = cs.minority.thresholds.every(model.scores_, y=truth, m=int((truth > 0).sum()))
    for cut in sorted(cuts, key=lambda cut: cut.n_foreground):
        f1 = precision_recall_f1(model.scores_ >= cut.value, truth).f1
        words = f"{cut.method}: {cut.n_foreground} objects, F1 {f1:.1%}"
        knows = cut.method in ("best", "size", "ngauss+best")
        style = "--" if knows else "-"
        ax.axvline(cut.n_foreground, color=RULES[cut.method], ls=style, lw=1.4, label=words)
        ax.plot(cut.n_foreground, cut.value, "o", color=RULES[cut.method], ms=5)
        print(f"  {words}")
    ax.set(xlabel="objects, the highest score first", ylabel="score", xlim=(0, len(scores)))
    ax.legend(title="cut by (dashed: knows the truth or its size)", frameon=False)
    figure.savefig(path, metadata={"Date": None})
    print(f"drawn to {path.name}")


def draw_groups(X, truth, model, path):
    """The groups as they were drawn, and as they were found."""
    figure, (left, right) = plt.subplots(1, 2, figsize=(9.4, 5), layout="constrained")
    _scatter(left, X, truth - 1)
    left.set_title("five groups in noise", fontsize=10)
    _scatter(right, X, _matched(model.labels_, truth))
    words = f"{model.n_clusters_} groups found, {model.n_foreground_} objects"
    right.set_title(words, fontsize=10)
    _square(left, right)
    figure.savefig(path, dpi=110)
    print(f"{words}; drawn to {path.name}")


def _matched(labels, truth):
    """Groups numbered like the true group most of their objects are of; parts get new numbers."""
    found = np.full_like(labels, -1)
    sizes = np.bincount(labels[labels >= 0])
    taken = set()
    for group in np.argsort(-sizes, kind="stable"):
        mine = truth[(labels == group) & (truth > 0)]
        number = int(np.bincount(mine).argmax()) - 1 if len(mine) else truth.max()
        while number in taken:
            number = max(number + 1, truth.max())
        taken.add(number)
        found[labels == group] = number
    return found


def _scatter(ax, X, labels):
    """Background in grey, each group in its colour."""
    ax.scatter(*X[labels < 0].T, s=3, color=GREY, linewidths=0)
    for group in range(labels.max() + 1):
        colour = GROUPS[group % len(GROUPS)]
        ax.scatter(*X[labels == group].T, s=6, color=colour, linewidths=0)


def _square(*axes):
    for ax in axes:
        ax.set(xlim=(-5, 5), ylim=(-5, 5), xticks=[], yticks=[], aspect="equal")


if __name__ == "__main__":
    images = Path(__file__).parent.parent / "images"
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else images)
