"""Which entities of a sentence are related? The minority-clustering paper's protocol in small.

The paper clusters pairs of entities of one corpus (APW) and judges on another (ACE); both are
sold under licence. Here sentences of CoNLL-2004 are divided: systems see the pairs of one part,
without their relations, and score those of the other.
"""

from collections.abc import Iterator, Sequence
from math import nan
from typing import Any

import numpy as np

from consilience.datasets import load_conll04
from consilience.experiments._cells import Cell, Claim, Plan, of
from consilience.experiments._ewocs_systems import Scores, measures
from consilience.experiments._table import experiment, wanted
from consilience.kernels._parallel import Parallel, delayed
from consilience.minority import BBOCC, EWOCS, GRAMS, BBCPress

__all__ = ["ewocs_relations"]

RUNS = 5
REPETITIONS = 1000
PAIRS = {
    "LOC-PER": ("Loc", "Peop"),
    "LOC-ORG": ("Loc", "Org"),
    "ORG-PER": ("Org", "Peop"),
    "PER-PER": ("Peop", "Peop"),
    "LOC-LOC": ("Loc", "Loc"),
}
EW = "EW-SRBC x100 G(0.1,0.1)"


def _claims(cells: Sequence[Cell]) -> list[Claim]:
    """The bubbles and the ensemble against GRAMS, over the pairs of types."""
    claims = []
    for row in ("AUC", "F1"):
        for column in ("BBOCC EUC", "BBCPRESS/10 EUC", EW):
            gaps = []
            for data in PAIRS:
                ours = of(cells, data=data, row=row, column=column)
                theirs = of(cells, data=data, row=row, column="GRAMS")
                if ours is not None and theirs is not None:
                    gaps.append(ours.measured - theirs.measured)
            if gaps:
                won = sum(gap > 0 for gap in gaps)
                words = f"{column} above GRAMS in {row} ({won} of {len(gaps)} pairs of types)"
                held = won == len(gaps)
                claims.append(Claim(words, held, float(np.mean(gaps)), nan, len(gaps)))
    return claims


@experiment(
    "ewocs-relations",
    title="Related pairs of entities in CoNLL-2004: GRAMS against minority clustering",
    paper="After Gonzàlez & Turmo (2015), Unsupervised ensemble minority clustering, Table 8",
    judge=_claims,
    remarks=(
        "Another corpus than the paper's, which is under licence, so nothing is published beside "
        "these figures. There, GRAMS has the lowest AUC on all eleven pairs of types, and the "
        "other systems are within about 0.03 of each other.",
        "70 % of the sentences to learn from, without their relations, 30 % to judge by; every "
        "run divides them anew, so runs share sentences. F1 in per cent at the best threshold.",
        "BBOCC and BBCPRESS are told the number of related pairs to learn from.",
    ),
)
def ewocs_relations(plan: Plan) -> Iterator[list[Cell]]:
    """AUC and best F1 of related pairs, held out.

    Parameters
    ----------
    plan : Plan
        ``runs`` divisions of the sentences (default 5), ``sets`` (pairs of types), ``members``
        repetitions of EW-SRBC (1000).

    Yields
    ------
    list of Cell
        The cells of one pair of types.
    """
    n_repetitions = (plan.members or (REPETITIONS,))[0]
    seeds = range(plan.seed, plan.seed + (RUNS if plan.runs is None else plan.runs))
    for name in wanted("ewocs-relations", "sets", plan.sets, tuple(PAIRS)):
        pairs = load_conll04(PAIRS[name], plan.data_home)
        jobs = Parallel(n_jobs=plan.n_jobs)
        found = list(jobs(delayed(_held_out)(pairs, n_repetitions, seed) for seed in seeds))
        yield [
            Cell("8", name, row, column, tuple(one[column][row] for one in found))
            for row in ("AUC", "Precision", "Recall", "F1")
            for column in found[0]
        ]


def _held_out(pairs: Any, n_repetitions: int, seed: int) -> dict[str, Scores]:
    """Every system on one division of the sentences."""
    learn, judge = pairs.hold_out(random_state=seed)
    n_related = int(learn.y.sum())
    grams = GRAMS().fit(learn.sequences)
    found = {"GRAMS": measures(grams.score_samples(judge.sequences), judge.y)}
    rivals: dict[str, Any] = {
        "BBOCC EUC": BBOCC(n_related, divergence="euclidean"),
        "BBCPRESS/10 EUC": BBCPress(10, n_related, divergence="euclidean"),
        EW: EWOCS.preset(
            "paper",
            alpha=0.1,
            gamma=0.1,
            n_repetitions=n_repetitions,
            threshold="dist",
            clusterer=None,
        ),
    }
    for column, model in rivals.items():
        model.set_params(random_state=seed).fit(learn.X)
        found[column] = measures(model.score_samples(judge.X), judge.y)
    return found
