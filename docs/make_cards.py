"""Try every consensus method on ensembles that are known to be hard, and write what came out.

``python docs/make_cards.py`` writes ``docs/methods/trials.md`` (half an hour on one core,
``--jobs`` takes several) and the table of methods in ``docs/methods/index.md``; ``--table``
writes the second only.
The cards quote these figures where they say when a method fails.
"""

import argparse
import re
import time
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from joblib import Parallel, delayed
from sklearn.metrics import adjusted_rand_score
from threadpoolctl import threadpool_limits

import consilience as cs
from consilience.consensus import CONSENSUS
from consilience.errors import ConsilienceWarning

METHODS = Path(__file__).parent / "methods"
N_SEEDS = 5
# Settings whose answer differs enough from the default's to be worth a line of their own.
VARIANTS: dict[str, list[dict[str, Any]]] = {
    "eac": [{"linkage": "single"}, {"linkage": "ward"}],
    "lwea": [{"normalise": True}],
    "lwgp": [{"normalise": True}],
    "cspa": [{"solver": "spectral"}],
    "mcla": [{"solver": "spectral"}],
    "hbgf": [{"solver": "spectral"}],
    "wosp": [{"solver": "spectral"}],
    "wohb": [{"solver": "spectral"}],
    "peace": [{"two_rates": True}],
    "eeac": [{"top": 1.0}],
    "srs": [{"n_iter": 1}],
    "pta": [{"n_neighbors": None, "n_steps": None}],
    "ptgp": [{"n_neighbors": None, "n_steps": None}],
    "ecmc": [{"reading": "published"}],
    "mixtureconsensus": [{"start": "random"}],
    "cumulativevoting": [{"reference": "entropy"}],
    "nmfconsensus": [{"reading": "published"}],
    "womc": [{"solver": "spectral"}],
    "wokmeans": [{"weights": None}],
}


class Trial(NamedTuple):
    """Data, members and truth of one trial."""

    X: Any
    ensemble: cs.Ensemble
    truth: Any


def blobs(sizes: list[int], gap: float, rng: np.random.Generator) -> tuple[Any, Any]:
    """Round Gaussians on a circle, neighbours ``gap`` standard deviations apart."""
    k = len(sizes)
    angle = 2 * np.pi * np.arange(k) / k
    centres = np.column_stack([np.cos(angle), np.sin(angle)]) * gap / (2 * np.sin(np.pi / k))
    truth = np.repeat(np.arange(k), sizes)
    return centres[truth] + rng.normal(size=(len(truth), 2)), truth


def k_means(X: Any, low: int, high: int, seed: int) -> cs.Ensemble:
    """Forty k-means with between ``low`` and ``high`` clusters."""
    return cs.generate.KMeansEnsemble(40, (low, high), random_state=seed).generate(X)


def planted(truth: Any, rng: np.random.Generator, wrong: Any, unseen: float = 0.0) -> cs.Ensemble:
    """Forty copies of the truth with a share of wrong labels each, and unseen objects."""
    labels = np.repeat(truth[:, None], 40, axis=1)
    drawn = rng.random(labels.shape) < np.asarray(wrong)
    labels[drawn] = rng.integers(0, truth.max() + 1, int(drawn.sum()))
    labels[rng.random(labels.shape) < unseen] = cs.UNSEEN
    return cs.Ensemble(labels)


def even(seed: int) -> Trial:
    """Three Gaussians of 100 objects; k-means with 2 to 6 clusters."""
    X, truth = blobs([100, 100, 100], 6.0, np.random.default_rng(seed))
    return Trial(X, k_means(X, 2, 6, seed), truth)


def unequal(seed: int) -> Trial:
    """Three Gaussians of 240, 40 and 20 objects; k-means with 2 to 6 clusters."""
    X, truth = blobs([240, 40, 20], 8.0, np.random.default_rng(seed))
    return Trial(X, k_means(X, 2, 6, seed), truth)


def rings(seed: int) -> Trial:
    """Two half rings of 150 objects; k-means with 15 to 25 clusters, far more than wanted."""
    X, truth = cs.datasets.make_half_rings(300, random_state=seed)
    return Trial(X, k_means(X, 15, 25, seed), truth)


def bridge(seed: int) -> Trial:
    """Two Gaussians of 135 objects, joined by a line of 30; k-means with 10 to 15 clusters."""
    rng = np.random.default_rng(seed)
    X, truth = blobs([150, 150], 10.0, rng)
    line = np.r_[135:150, 285:300]
    X[line, 0] = np.concatenate([np.linspace(5, 0.2, 15), np.linspace(-5, -0.2, 15)])
    X[line, 1] = rng.normal(0, 0.1, 30)
    return Trial(X, k_means(X, 10, 15, seed), truth)


def noisy(seed: int) -> Trial:
    """Three groups of 100; members know them, but 30 % of their labels are random."""
    rng = np.random.default_rng(seed)
    X, truth = blobs([100, 100, 100], 6.0, rng)
    return Trial(X, planted(truth, rng, 0.3), truth)


def bad_members(seed: int) -> Trial:
    """The same, but of 40 members 28 are random throughout and 12 have 10 % random labels."""
    rng = np.random.default_rng(seed)
    X, truth = blobs([100, 100, 100], 6.0, rng)
    return Trial(X, planted(truth, rng, np.repeat([0.1, 1.0], [12, 28])), truth)


def unseen(seed: int) -> Trial:
    """The same, 10 % of the labels random, 60 % of the objects unseen by each member."""
    rng = np.random.default_rng(seed)
    X, truth = blobs([100, 100, 100], 6.0, rng)
    return Trial(X, planted(truth, rng, 0.1, 0.6), truth)


TRIALS: dict[str, Callable[[int], Trial]] = {
    "even": even,
    "unequal": unequal,
    "rings": rings,
    "bridge": bridge,
    "noisy": noisy,
    "bad members": bad_members,
    "unseen": unseen,
}


def settings() -> Iterator[tuple[str, str, dict[str, Any]]]:
    """Title, method and parameters of every line."""
    for name, method in CONSENSUS.items():
        yield method.estimator_name, name, {}
        for params in VARIANTS.get(name, []):
            words = ", ".join(f"{key}={value!r}" for key, value in params.items())
            yield f"{method.estimator_name}({words})", name, params


def run(name: str, params: dict[str, Any], trial: Trial, seed: int) -> tuple[float, float]:
    """Adjusted Rand index and seconds of processor time of one run."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConsilienceWarning)
        model = CONSENSUS[name].estimator(int(trial.truth.max()) + 1, **params)
        model.set_params(random_state=seed)
        began = time.process_time()
        labels = model.fit(trial.X, ensemble=trial.ensemble).labels_
        return adjusted_rand_score(trial.truth, labels), time.process_time() - began


def large(seed: int) -> Trial:
    """Where time is taken: 1000 objects, 10 groups, 20 % of the labels random."""
    rng = np.random.default_rng(seed)
    X, truth = blobs([100] * 10, 6.0, rng)
    return Trial(X, planted(truth, rng, 0.2), truth)


def half_rings(generator: Any) -> list[float]:
    """Adjusted Rand index of USENC on two half rings of 500 objects."""
    found = []
    for seed in range(N_SEEDS):
        X, truth = cs.datasets.make_half_rings(1000, random_state=seed)
        model = cs.USENC(2, generator=generator, random_state=seed).fit(X)
        found.append(adjusted_rand_score(truth, model.labels_))
    return found


def n_found(generator: Any) -> str:
    """Clusters that CorrelationClustering finds in three Gaussians of 100."""
    found = []
    for seed in range(N_SEEDS):
        model = cs.CorrelationClustering(generator=generator, random_state=seed)
        found.append(model.fit(even(seed).X).n_clusters_)
    return ", ".join(map(str, found))


def flagged(n_bad: int) -> list[float]:
    """Share of ambiguous objects: members with 5 % random labels, some of them all random."""
    found = []
    for seed in range(N_SEEDS):
        rng = np.random.default_rng(seed)
        truth = np.repeat([0, 1, 2], 100)
        ensemble = planted(truth, rng, np.repeat([0.05, 1.0], [40 - n_bad, n_bad]))
        found.append(cs.evidence.ambiguous(ensemble).flags.mean())
    return found


def chosen(criterion: Any) -> str:
    """Number of clusters MontiConsensus takes, of 2 to 10, for 200 objects drawn evenly."""
    found = []
    for seed in range(N_SEEDS):
        X = np.random.default_rng(seed).uniform(size=(200, 2))
        model = cs.MontiConsensus((2, 10), n_resamples=50, criterion=criterion, random_state=seed)
        found.append(model.fit(X).n_clusters_)
    return ", ".join(map(str, found))


def copied(name: str) -> list[float]:
    """Three groups of 100; half of the members are right but for 10 %, half share one mistake."""
    found = []
    for seed in range(N_SEEDS):
        rng = np.random.default_rng(seed)
        truth = np.repeat([0, 1, 2], 100)
        right = planted(truth, rng, 0.1)[:20]
        wrong = planted(rng.permutation(truth), rng, 0.02)[:20]
        model = CONSENSUS[name].estimator(3, random_state=seed).fit(ensemble=right + wrong)
        found.append(adjusted_rand_score(truth, model.labels_))
    return found


def three_members(name: str) -> list[float]:
    """Adjusted Rand index on the first three members of the trial *noisy*."""
    found = []
    for seed in range(N_SEEDS):
        trial = noisy(seed)
        model = CONSENSUS[name].estimator(3).fit(ensemble=trial.ensemble[:3])
        found.append(adjusted_rand_score(trial.truth, model.labels_))
    return found


def stable_halves() -> str:
    """Clusters that MontiConsensus takes for two half rings, and how right they are."""
    found = []
    for seed in range(N_SEEDS):
        X, truth = cs.datasets.make_half_rings(300, random_state=seed)
        model = cs.MontiConsensus((2, 6), n_resamples=50, random_state=seed).fit(X)
        score = adjusted_rand_score(truth, model.labels_)
        found.append(f"{model.n_clusters_} ({score:.2f})")
    return ", ".join(found)


def by_width(scale: Any) -> list[float]:
    """Adjusted Rand index of NJW spectral clustering on two half rings of 150 objects."""
    found = []
    for seed in range(N_SEEDS):
        X, truth = cs.datasets.make_half_rings(300, random_state=seed)
        labels = cs.generate.NJW(2, scale=scale, random_state=seed).fit_predict(X)
        found.append(adjusted_rand_score(truth, labels))
    return found


def closer_looks() -> list[str]:
    """Lines of a table of single figures that the cards quote."""
    published = cs.generate.USPECEnsemble(n_representatives=1000)
    small = cs.generate.KMeansEnsemble(20, (2, 4))
    lines: list[tuple[str, Any]] = [
        ("`USENC`, two half rings, 1,000 objects, default members: ARI", half_rings(None)),
        ("the same with 1,000 representatives, as published: ARI", half_rings(published)),
        ("`CorrelationClustering`, *even*, default members: clusters found", n_found(None)),
        ("the same with members of 2 to 4 clusters", n_found(small)),
        ("`MontiConsensus`, 200 objects drawn evenly, `criterion='pac'`: k", chosen("pac")),
        ("the same, `criterion='reference'`", chosen("reference")),
        ("`MontiConsensus`, two half rings, 300 objects: k (ARI)", stable_halves()),
        ("`NJW`, two half rings, 300 objects, `scale='median'`: ARI", by_width("median")),
        ("the same, `scale=0.1`: ARI", by_width(0.1)),
        ("`EAC`, *noisy*, three members: ARI", three_members("eac")),
        ("`CTS`, *noisy*, three members: ARI", three_members("cts")),
    ]
    lines += [
        (f"ambiguous objects, 5 % random labels, {n} of 40 members all random: share", flagged(n))
        for n in (0, 4, 12)
    ]
    lines += [
        (f"`{CONSENSUS[name].estimator_name}`, half of the members share one mistake: ARI", value)
        for name, value in ((name, copied(name)) for name in ("eac", "mcla", "kcc", "wcc", "lwea"))
    ]
    return [f"| {what} | {v if isinstance(v, str) else figure(v)} |" for what, v in lines]


def figure(found: list[float]) -> str:
    """Mean and standard error, without the sign of a mean that rounds to nothing."""
    error = np.std(found, ddof=1) / np.sqrt(len(found))
    return f"{round(float(np.mean(found)), 2) + 0.0:.2f} ± {error:.2f}"


def lines_of_trials(n_jobs: int) -> list[str]:
    """Lines of the table: one a method, one column a trial."""
    made = {title: [make(seed) for seed in range(N_SEEDS)] for title, make in TRIALS.items()}
    heads = [*TRIALS, "seconds"]
    lines = ["| method | " + " | ".join(heads) + " |", "|---" * (len(heads) + 1) + "|"]
    parallel = Parallel(n_jobs, return_as="generator", batch_size=1)
    for line in parallel(delayed(line_of)(*setting, made) for setting in settings()):
        lines.append(line)
        print(line, flush=True)
    return lines


def line_of(title: str, name: str, params: dict[str, Any], made: dict[str, list[Trial]]) -> str:
    """One method on every trial."""
    with threadpool_limits(1):
        # Compiles what has to be compiled, so that it is not timed.
        run(name, params, made["even"][0], 0)
        cells = [
            figure([run(name, params, case, seed)[0] for seed, case in enumerate(cases)])
            for cases in made.values()
        ]
        cells.append(f"{run(name, params, large(0), 0)[1]:.2g}")
    return f"| `{title}` | " + " | ".join(cells) + " |"


PAGE = """\
# Trials: every method on seven small ensembles

Adjusted Rand index, mean ± standard error over {n_seeds} draws, defaults unless said otherwise, the right number of clusters given; made
by `python docs/make_cards.py`. 1 is perfect, 0 is chance. Small made-up cases: they show what a method presumes, not
which one is best.

| trial | what it is |
|---|---|
{about}

Methods that need the data (WOSP, WOHB, WOKMeans, WSPA, WBPA) see those of the groups, so wrong or missing labels harm
them less. The last column is processor time, in seconds on one core of a busy machine, of one fit: 1,000 objects in ten
groups, 20 % of the labels random, 40 members.

{lines}

## Closer looks

Means ± standard errors over {n_seeds} draws, or one figure a draw.

| what | figure |
|---|---|
{looks}
"""  # noqa: E501


def trials_page(n_jobs: int) -> str:
    """The page of all trials."""
    about = [f"| {title} | {make.__doc__} |" for title, make in TRIALS.items()]
    return PAGE.format(
        n_seeds=N_SEEDS,
        about="\n".join(about),
        lines="\n".join(lines_of_trials(n_jobs)),
        looks="\n".join(closer_looks()),
    )


def methods_table() -> list[str]:
    """Lines of the table of all methods: what each needs, its memory, its paper, its card."""
    lines = [
        "| method | needs | balanced | memory | paper |",
        "|---|---|---|---|---|",
    ]
    where = cards()
    for name in sorted(CONSENSUS, key=lambda key: CONSENSUS[key].estimator_name.lower()):
        method = CONSENSUS[name]
        title = method.estimator_name
        needs = ", ".join(
            word
            for word, wanted in (
                ("number of clusters", method.needs_n_clusters),
                ("data", method.needs_data),
            )
            if wanted
        )
        link = f"[`{title}`]({where[title]}#{title.lower()})"
        balanced = "yes" if method.balanced else ""
        lines.append(
            f"| {link} | {needs or 'labels only'} | {balanced} | {method.memory} | {method.paper} |"
        )
    return lines


def cards() -> dict[str, str]:
    """The page of every card, by its title."""
    found = {}
    for page in sorted(METHODS.glob("*.md")):
        for title in re.findall(r"^## (\S+)$", page.read_text(encoding="utf-8"), re.MULTILINE):
            found[title] = page.name
    return found


def write_table() -> None:
    """Replace the table of methods in the index."""
    page = METHODS / "index.md"
    text = page.read_text(encoding="utf-8")
    begin, end = "<!-- methods -->", "<!-- /methods -->"
    before, rest = text.split(begin)
    after = rest.split(end)[1]
    table = "\n".join(methods_table())
    page.write_text(f"{before}{begin}\n{table}\n{end}{after}", encoding="utf-8")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--table", action="store_true", help="only the table of methods")
    parser.add_argument("--jobs", type=int, default=1, help="processes over the methods")
    asked = parser.parse_args()
    if not asked.table:
        (METHODS / "trials.md").write_text(trials_page(asked.jobs), encoding="utf-8")
    write_table()
