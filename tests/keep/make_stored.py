"""Write the small stored files of today's format; for a new format, under new names.

python tests/keep/make_stored.py FORMAT
"""

import json
import sys
from pathlib import Path

import numpy as np

import consilience as cs
from consilience.generate import Combined, GraphEnsemble, KMeansEnsemble


def main(number):
    """A result of a frame, and an estimator whose members have centres and have none."""
    rng = np.random.default_rng(0)
    X, new = (np.concatenate([rng.normal(c, 1, (12, 2)) for c in (0, 8)]).round(3) for _ in "ab")
    result = cs.cluster(X, n_members=4, effort="quick", random_state=0)
    both = Combined([KMeansEnsemble(3, 3, max_features=1), GraphEnsemble(2, 3)])
    model = cs.EAC(2, generator=both, random_state=0).fit(X)
    for name, kept in ((f"result-{number}", result), (f"estimator-{number}", model)):
        folder = Path(__file__).parent / "stored" / name
        if folder.exists():
            raise SystemExit(f"{folder} is there: what was stored is never made again.")
        kept.save(folder)
        found = kept.predict(new)
        facts = {
            "new": new.tolist(),
            "labels": getattr(found, "labels", found).tolist(),
            "own": (kept.labels if name.startswith("result") else kept.labels_).tolist(),
        }
        folder.with_name(f"{name}.json").write_text(json.dumps(facts) + "\n")


if __name__ == "__main__":
    main(int(sys.argv[1]))
