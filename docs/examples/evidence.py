"""What an ensemble says, in three pictures: blocks, ambiguous objects, stable clusters.

    python docs/examples/evidence.py [folder]

Draws the co-association of five Gaussians before and after VAT puts it in order, the
histogram of the overlap scores with the threshold that Otsu's rule sets, and how good a
consensus of only the most stable clusters is.
"""

import sys
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

import consilience as cs

BLUE, ORANGE, GREY = "#3b6fb6", "#d95f30", "#999999"


def main(folder):
    """Draw all three and print what they show."""
    plt.rcParams["svg.hashsalt"] = "consilience"
    X, truth = cs.datasets.make_gaussians(500, 5, 2, separation=3.5, random_state=3)
    generator = cs.generate.KMeansEnsemble(100, 5, max_samples=0.2, random_state=0)
    ensemble = generator.generate(X)
    draw_order(X, folder / "vat.png")
    draw_ambiguity(X, truth, ensemble, folder / "ambiguity.svg")
    draw_stability(folder / "stability.svg")


def draw_order(X, path):
    """The co-association as the objects come, by VAT, and by iVAT."""
    ensemble = cs.generate.split_and_merge(100, random_state=0).generate(X)
    shuffled = np.random.default_rng(0).permutation(len(X))
    ensemble = ensemble.take(shuffled)
    panels = {
        "objects as they come": 1 - cs.evidence.co_association(ensemble),
        "ordered by VAT": cs.evidence.vat_image(ensemble, cs.evidence.vat(ensemble)),
        "by iVAT": cs.evidence.ivat(ensemble),
    }
    figure, axes = plt.subplots(1, 3, figsize=(10, 3.6), layout="constrained")
    for ax, (title, image) in zip(axes, panels.items(), strict=True):
        ax.imshow(image, cmap="gray", interpolation="nearest")
        ax.set_title(title, fontsize=10)
        ax.set_xticks([])
        ax.set_yticks([])
    figure.savefig(path, dpi=110)
    print(f"drawn to {path.name}")


def draw_ambiguity(X, truth, ensemble, path):
    """Scores of the objects, the threshold, and where the flagged objects lie."""
    labels = cs.MCLA(5, random_state=0).fit(ensemble=ensemble).labels_
    found = cs.evidence.ambiguous(ensemble, labels=labels)
    wrong = cs.metrics.match_labels(truth, labels) != truth
    print(f"{found.n_flagged} of {len(X)} flagged: {found.why}")
    for name, part in (("flagged", found.flags), ("the rest", ~found.flags)):
        print(f"  {name}: {wrong[part].mean():.1%} in the wrong cluster")
    figure, (left, right) = plt.subplots(1, 2, figsize=(10, 3.6), layout="constrained")
    counts, edges = found.histogram(40)
    left.bar(edges[:-1], counts, np.diff(edges), align="edge", color=BLUE)
    left.axvline(found.threshold, color=ORANGE)
    left.set(xlabel="mean overlap of the object's clusters", ylabel="objects", yscale="log")
    left.set_title(f"{found.n_flagged} objects below {found.threshold:.2f}", fontsize=10)
    right.scatter(*X[~found.flags].T, s=8, color=GREY, label="clear")
    right.scatter(*X[found.flags].T, s=14, color=ORANGE, label="ambiguous")
    right.set_title("where they are", fontsize=10)
    right.legend(frameon=False)
    right.set_aspect("equal")
    right.set_axis_off()
    figure.savefig(path, metadata={"Date": None})
    print(f"drawn to {path.name}")


def draw_stability(path, runs=10):
    """Agreement with the truth of a consensus from the most stable clusters only."""
    shares = np.array([0.1, 0.2, 0.33, 0.5, 0.7, 1.0])
    figure, ax = plt.subplots(figsize=(6, 3.6), layout="constrained")
    curves = {"max": BLUE, "nmi": ORANGE}
    found = {criterion: np.zeros((runs, len(shares))) for criterion in curves}
    for run in range(runs):
        X, truth = cs.datasets.make_gaussians(300, 4, 2, separation=2.8, random_state=run)
        members = cs.generate.full_ensemble(4, random_state=run).generate(X)
        again = cs.generate.KMeansEnsemble(
            40, 4, max_samples=0.9, assign="unseen", random_state=1000 + run
        ).generate(X)
        for criterion in curves:
            for place, share in enumerate(shares):
                model = cs.EEAC(4, reference=again, criterion=criterion, top=share)
                labels = model.fit(ensemble=members).labels_
                found[criterion][run, place] = cs.metrics.consistency_index(truth, labels)
    for criterion, colour in curves.items():
        mean = found[criterion].mean(axis=0)
        error = found[criterion].std(axis=0, ddof=1) / np.sqrt(runs)
        ax.errorbar(shares, mean, error, color=colour, marker="o", capsize=3, label=criterion)
        print(f"stability by {criterion}: " + ", ".join(f"{value:.3f}" for value in mean))
    ax.set(xlabel="share of the clusters kept, the most stable first", ylabel="consistency index")
    ax.legend(title="stability by", frameon=False)
    figure.savefig(path, metadata={"Date": None})
    print(f"drawn to {path.name}")


if __name__ == "__main__":
    images = Path(__file__).parent.parent / "images"
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else images)
