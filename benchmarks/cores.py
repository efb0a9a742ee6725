"""How much more threads gain: seconds by number of threads, beside a plain loop and a product.

    python benchmarks/cores.py                      all parts on 1, 2, 4, ... threads
    python benchmarks/cores.py kmeans ewocs         only these
    python benchmarks/cores.py --cores 1 8 16       these numbers of threads
    python benchmarks/cores.py --small              a tenth of the objects, to try it out
    python benchmarks/cores.py --million            what takes ensembles on 1,000,000 x 50
    python benchmarks/cores.py --copies             and separate processes that do the same work
    python benchmarks/cores.py --rounds 5           more of them

In a round a part runs once with every number of threads; what is printed is the median of the
rounds, since one core alone may be faster or slower by half from one moment to the next.

The plain loop is compiled, touches no memory and waits for its own last result at every step: what
processors gain at most, also where two of them are halves of one core. The busy loop has more to
do at every step. The product is the library's, float32. The fill writes an array as large as the
co-association matrix. Seconds inside METIS, which has one thread, are taken off where a method
calls it.

``--copies`` runs a part in as many separate processes at once as there are threads, each on one
thread, and prints how much more they get done than one alone: what this machine gains on this
very work if nobody waits for anybody. Below the plain loop's gain are shared cores and memory.
"""

import argparse
import multiprocessing
import time
import warnings
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from os import cpu_count

import numpy as np
from numba import njit
from threadpoolctl import threadpool_limits

import consilience as cs
from consilience import evidence, partition
from consilience.consensus import CONSENSUS
from consilience.generate import KMeansEnsemble

# Seconds of a run that is not made twice.
_LONG = 10.0
# Objects and members of the ensembles.
_size = {"n": 200_000, "n_members": 64}


def main(argv=None):
    """Parse the command line, run, print a line for each part."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("only", nargs="*", help="parts to run")
    most = cpu_count() or 1
    powers = [t for t in (1, 2, 4, 8, 16, 32, 64) if t <= most]
    parser.add_argument("--cores", type=int, nargs="+", default=powers)
    parser.add_argument("--small", action="store_true", help="a tenth of the objects")
    parser.add_argument("--million", action="store_true", help="ensembles of 1,000,000 x 50")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--copies", action="store_true", help="also separate processes")
    asked = parser.parse_args(argv)
    warnings.simplefilter("ignore")
    scale = 10 if asked.small else 1
    if asked.million:
        _size.update(n=1_000_000, n_members=50)
    print(f"{'':28}" + "".join(f"{t:>9d}" for t in asked.cores) + "  gains", flush=True)
    for name, make in PARTS.items():
        if not asked.only or name in asked.only:
            make(50)(1)  # compiles
            run = make(scale)
            rounds = []
            while len(rounds) < (1 if rounds and rounds[0][0] > _LONG else asked.rounds):
                rounds.append([_seconds(run, threads) for threads in asked.cores])
            seconds = np.median(rounds, axis=0)
            gains = "".join(f"{seconds[0] / s:7.2f}" for s in seconds)
            if asked.copies:
                copies = [[_copies(run, t) for t in asked.cores[1:]] for _ in rounds]
                gains += "  copies" + "".join(f"{c:7.2f}" for c in np.median(copies, axis=0))
            print(f"{name:28}" + "".join(f"{s:9.3f}" for s in seconds) + gains, flush=True)


def _seconds(run, threads):
    """Of a run, without what METIS took."""
    start, before = time.perf_counter(), _metis.seconds
    run(threads)
    return time.perf_counter() - start - (_metis.seconds - before)


def _copies(run, n):
    """How much more n processes get done at once than one alone, each on one thread."""
    context = multiprocessing.get_context("fork")  # what is to be run cannot be sent
    begin, ended = context.Barrier(n), context.SimpleQueue()

    def work():
        run(1)
        begin.wait()
        ended.put(_seconds(run, 1))

    alone = _seconds(run, 1)
    processes = [context.Process(target=work) for _ in range(n)]
    for process in processes:
        process.start()
    seconds = [ended.get() for _ in processes]
    for process in processes:
        process.join()
    return sum(alone / s for s in seconds)


# ---- what a machine can gain ----------------------------------------------------------------


@njit(nogil=True)
def _spin(n):
    x = 0.0
    for i in range(n):
        x += 1.0 / (1.0 + x * x + i)
    return x


@njit(nogil=True, fastmath=True)
def _work(n):
    sums = np.zeros(128, np.float32)
    for i in range(n):
        factor = np.float32(1.0) / np.float32(i + 2)
        for j in range(128):
            sums[j] = sums[j] * factor + np.float32(0.5)
    return sums[0]


@njit(nogil=True)
def _fill(out):
    for i in range(out.shape[0]):
        out[i] = i


def _shared(call, pieces, threads):
    with ThreadPoolExecutor(threads) as pool:
        list(pool.map(call, pieces))


def plain_loop(scale):
    """A compiled loop without memory."""
    return lambda threads: _shared(_spin, [4_000_000 // scale] * 256, threads)


def busy_loop(scale):
    """A compiled loop that keeps the arithmetic of a core busy, in its nearest cache."""
    return lambda threads: _shared(_work, [4_000_000 // scale] * 256, threads)


def plain_product(scale):
    """A product of two matrices."""
    A = np.ones((8192 // scale, 8192 // scale), np.float32)

    def run(threads):
        with threadpool_limits(threads):
            return A @ A

    return run


def plain_fill(scale):
    """An array as large as the co-association of `co_association`."""

    def run(threads):
        whole = np.empty((20_000 // scale) ** 2)
        _shared(_fill, np.array_split(whole, 4 * threads), threads)

    return run


# ---- ours -----------------------------------------------------------------------------------


def make_data(n, d=16, seed=0):
    """Twelve groups of different width, and one object in five from uniform noise."""
    rng = np.random.default_rng(seed)
    groups, widths = rng.uniform(-10, 10, (12, d)), rng.uniform(0.5, 2.0, 12)
    which = rng.integers(0, 12, n)
    X = groups[which] + widths[which, None] * rng.normal(size=(n, d))
    return np.where(rng.random((n, 1)) < 0.2, rng.uniform(-14, 14, (n, d)), X)


def make_ensemble(n, n_members=64, k=20, wrong=0.3, unseen=0.0, seed=0):
    """Members that know k planted groups and give each object a wrong one now and then."""
    rng = np.random.default_rng(seed)
    truth = rng.integers(0, k, n)
    labels = np.tile(truth[:, None], n_members)
    changed = rng.random(labels.shape) < wrong
    labels[changed] = rng.integers(0, k, int(changed.sum()))
    if unseen:
        labels[rng.random(labels.shape) < unseen] = cs.UNSEEN
    return cs.Ensemble(labels)


def kmeans(scale):
    """64 k-means of 200,000 objects."""
    X = make_data(200_000 // scale)
    return lambda threads: KMeansEnsemble(64, (2, 30), random_state=0, n_jobs=threads).generate(X)


def ewocs(scale):
    """100 repetitions on 200,000 objects."""
    X = make_data(200_000 // scale)
    return lambda threads: cs.EWOCS(
        n_repetitions=100, threshold="2gauss", random_state=0, n_jobs=threads
    ).fit(X)


def co_association(scale):
    """All pairs of 20,000 objects, as users get them."""
    ensemble = make_ensemble(20_000 // scale)
    return lambda threads: evidence.co_association(ensemble, n_jobs=threads)


def _of_ensemble(call, scale, n=None, **options):
    return partial(call, _ensemble(scale, n, **options))


def _ensemble(scale, n=None, **options):
    size = _size if n is None else {"n": n}
    return make_ensemble(**{**size, "n": size["n"] // scale}, **options)


def _method(name, scale, n=None, **options):
    ensemble = _ensemble(scale, n)
    method = CONSENSUS[name]

    def run(threads):
        return method.function(ensemble, 20, random_state=0, n_jobs=threads, **options)

    return run


def _confidence(ensemble, threads):
    labels = ensemble.members[0].astype(int)
    return evidence.confidence(ensemble, np.where(labels < 0, 0, labels), n_jobs=threads)


class _Metis:
    """METIS as it is, with its seconds counted."""

    seconds = 0.0

    def __init__(self, call):
        self.call = call

    def __call__(self, *args, **options):
        start = time.perf_counter()
        try:
            return self.call(*args, **options)
        finally:
            self.seconds += time.perf_counter() - start


def _counted_metis():
    if not partition.has_metis():
        return _Metis(None)
    import pymetis

    pymetis.part_graph = counted = _Metis(pymetis.part_graph)
    return counted


_metis = _counted_metis()

PARTS = {
    "plain-loop": plain_loop,
    "busy-loop": busy_loop,
    "plain-product": plain_product,
    "plain-fill": plain_fill,
    "kmeans": kmeans,
    "ewocs": ewocs,
    "co_association": co_association,
    "anco": partial(_of_ensemble, lambda e, t: evidence.anco(e, n_jobs=t)),
    "weights": partial(_of_ensemble, lambda e, t: evidence.object_weights(e, n_jobs=t)),
    "confidence": partial(_of_ensemble, _confidence),
    "confidence-unseen": partial(_of_ensemble, _confidence, n=20_000, unseen=0.3),
    **{
        name: partial(_method, name)
        for name in ("mcla", "hbgf", "womc", "lwgp", "sec", "kcc", "voting", "cumulativevoting")
    },
    "hbgf-spectral": partial(_method, "hbgf", solver="spectral"),
    "eac": partial(_method, "eac", n=20_000),
}


if __name__ == "__main__":
    main()
