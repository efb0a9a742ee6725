"""Stored answers of the engine and of the rows it works on."""

import numpy as np
import pandas as pd
from scipy import sparse
from stored.small import blobs, ensembles, tables, truth
from stored.store import Cases, attempt

from consilience.engines import engine_for
from consilience.rows import Rows, rows_of, same_objects

CASES = Cases(__file__)


@CASES
def passes():
    for key, X in tables().items():
        engine = engine_for(X)
        dense = X.toarray() if sparse.issparse(X) else X
        starts = [dense[[0, 20, 35]].astype(float), dense[[1, 30]].astype(float)]
        yield f"{key} kind", type(engine).__name__
        yield f"{key} facts", attempt(engine.column_facts)
        yield f"{key} some facts", attempt(engine.column_facts, objects=np.arange(7))
        for options in (
            {},
            {"max_iter": 1},
            {"tol": 0.5},
            {"spherical": True},
            {"assign_all": False},
            {"online": True, "max_iter": 3},
        ):
            yield f"{key} lloyd {options}", attempt(engine.lloyd, starts, **options)
        objects = [np.arange(0, 40, 2), np.arange(40)]
        yield f"{key} objects", attempt(engine.lloyd, starts, objects=objects, assign_all=False)
        yield f"{key} all", attempt(engine.lloyd, starts, objects=objects)
        features = [np.array([0, 2]), np.array([1])]
        narrow = [s[:, f] for s, f in zip(starts, features, strict=True)]
        yield f"{key} features", attempt(engine.lloyd, narrow, features=features)
        batches = [np.arange(20).reshape(4, 5), np.arange(12).reshape(3, 4)]
        yield f"{key} batches", attempt(engine.lloyd, starts, batches=batches)
        yield f"{key} assign", attempt(engine.assign, starts)
        yield f"{key} assign features", attempt(engine.assign, narrow, features=features)


@CASES
def pairs():
    for kind, ensemble in ensembles().items():
        engine = engine_for(ensemble.members)
        for seen in (True, False):
            for condensed in (True, False):
                yield (
                    f"{kind} {seen} {condensed}",
                    attempt(engine.pair_counts, with_seen=seen, condensed=condensed),
                )


@CASES
def rows():
    frame = pd.DataFrame(blobs()[:4], columns=list("abc"), index=list("wxyz"))
    given = {
        "array": blobs(),
        "single": blobs().astype(np.float32),
        "ints": truth()[:, None],
        "frame": frame,
        "list": blobs()[:3].tolist(),
        "csr": tables()["words"],
        "coo": sparse.coo_array(blobs()),
        "bool": blobs() > 0,
        "rows": Rows(blobs()),
        "flat": truth(),
        "nan": np.full((3, 2), np.nan),
        "text": [["a"]],
        "none": None,
        "empty": np.ones((0, 2)),
        "narrow": np.ones((3, 0)),
        "complex": blobs() * 1j,
    }
    for key, X in given.items():
        for options in ({}, {"kind": "float64"}, {"allow_sparse": False}, {"min_objects": 5}):
            yield (
                f"{key} {options}",
                attempt(lambda X=X, o=options: _facts(rows_of(X, owner="x", **o))),
            )
    yield "same", [attempt(lambda n=n: _facts(same_objects(Rows(blobs()), n))) for n in (48, 47)]


def _facts(found):
    some = found.take([0, 1])
    return [
        list(found.shape),
        str(found.dtype),
        found.is_sparse,
        found.names,
        len(found),
        None if found.index is None else list(found.index),
        some.values,
        some.names,
        [[start, block.sum()] for start, block in found.blocks(10)],
    ]


test_stored = CASES.test()
