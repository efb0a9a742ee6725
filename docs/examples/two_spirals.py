"""Two spirals: what k-means cannot find, evidence accumulation can.

    python docs/examples/two_spirals.py [picture.svg]

Prints the consistency index of both against the arms and draws the picture of the guide.
"""

import sys
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

import consilience as cs

COLOURS = np.array(["#3b6fb6", "#d95f30", "#4a9c5d", "#8c6bb1", "#999999"])


def main(path):
    """Cluster two spirals in two ways and draw both."""
    X, truth = cs.datasets.make_spirals(400, random_state=0)
    alone = cs.generate.KMeansEnsemble(1, 2, random_state=0).generate(X)[0]
    generator = cs.generate.KMeansEnsemble(100, (25, 40), random_state=0)
    model = cs.EAC(linkage="single", generator=generator).fit(X)
    scores = [cs.metrics.consistency_index(truth, labels) for labels in (alone, model.labels_)]
    print(f"k-means, k = 2: consistency {scores[0]:.3f}")
    print(f"EAC, single link: k = {model.n_clusters_} by lifetime, consistency {scores[1]:.3f}")

    panels = [
        (f"k-means, k = 2: {scores[0]:.0%} right", alone),
        ("one member: k-means with many clusters", None),
        (f"consensus of 100 members: {scores[1]:.0%} right", model.labels_),
    ]
    figure, axes = plt.subplots(1, 3, figsize=(10, 3.5), layout="constrained")
    for ax, (title, labels) in zip(axes, panels, strict=True):
        if labels is None:
            member = model.ensemble_[0]
            ax.scatter(*X.T, c=member, cmap="tab20", s=9)
        else:
            ax.scatter(*X.T, c=COLOURS[np.minimum(labels, 4)], s=9)
        ax.set_title(title, fontsize=10)
        ax.set_aspect("equal")
        ax.set_axis_off()
    # Fixed, so that the same picture is the same file.
    plt.rcParams["svg.hashsalt"] = "consilience"
    figure.savefig(path, metadata={"Date": None} if path.suffix == ".svg" else None)
    print(f"drawn to {path}")


if __name__ == "__main__":
    default = Path(__file__).parent.parent / "images" / "two_spirals.svg"
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else default)
