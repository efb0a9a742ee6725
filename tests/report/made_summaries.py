"""Summaries made by hand: what a report shows, without any clustering behind it."""

import base64

import numpy as np
from scipy.cluster.hierarchy import linkage
from scipy.spatial.distance import pdist, squareform

READ = "This sentence says what is drawn. This one says what to look for in it."


def consensus_summary(n=300, k=4, seed=0, max_points=5000, max_matrix=200, ids=None):
    """A consensus of n objects in k round groups, every kind of figure in it."""
    rng = np.random.default_rng(seed)
    angles = 2 * np.pi * np.arange(k) / k
    centres = 7 * np.column_stack([np.cos(angles), 0.6 * np.sin(angles)])
    labels = np.sort(rng.integers(0, k, n))
    places = centres[labels] + rng.normal(size=(n, 2)) * 1.6
    gaps = np.sort(np.linalg.norm(places[:, None] - centres, axis=2), axis=1)
    confidence = gaps[:, 1] / (gaps[:, 0] + gaps[:, 1])
    nearest = np.argsort(np.linalg.norm(places[:, None] - centres, axis=2), axis=1)
    labels = nearest[:, 0].copy()
    labels[gaps[:, 0] > 4.5] = -1
    shown = np.sort(rng.permutation(n)[:max_points])
    pairs = np.sort(rng.permutation(len(shown))[: min(max_matrix, len(shown))])
    pairs = pairs[np.argsort(labels[shown[pairs]], kind="stable")]
    evidence = np.exp(-squareform(pdist(places[shown[pairs]])) / 4)
    names = [f"object {i}" for i in range(n)] if ids is None else ids
    columns = [
        {"name": "id", "kind": "text", "values": [names[i] for i in shown]},
        {"name": "cluster", "kind": "cluster", "values": labels[shown].tolist()},
        _numbers("confidence", confidence[shown]),
        {"name": "runner_up", "kind": "cluster", "values": nearest[shown, 1].tolist()},
        _numbers("ambiguity", 2 - 2 * confidence[shown]),
        {"name": "doubtful", "kind": "flag", "values": (confidence[shown] < 0.55).tolist()},
    ]
    return {
        "schema": 1,
        "kind": "consensus",
        "title": "Penguins of three islands",
        "headline": [
            f"The {n:,} objects fall into {k} groups; the clusterings support them firmly.",
            "Where 1 is certain and 0.5 is torn between two groups, objects have 0.91 on average.",
            f"{int((confidence < 0.55).sum())} objects are doubtful: the clusterings disagree.",
        ],
        "done": [
            {"what": "Data", "value": f"penguins.csv: {n:,} objects, 4 columns, standardised"},
            {"what": "Clusterings", "value": "100 of k-means, with 2 to 20 groups each"},
            {"what": "Method", "value": "EAC with average link"},
            {"what": "Seed", "value": "0"},
            {"what": "Command", "value": "consilience cluster penguins.csv --report report.html"},
        ],
        "notes": ["Of the objects some are shown: small clusters keep more than their share."],
        "clusters": _clusters(labels, confidence, rng),
        "objects": {"total": n, "shown": len(shown), "columns": columns},
        "sections": [
            _section("objects", "The objects in two dimensions", _points(places[shown])),
            _section("profile", "What makes each group", _cards(k), _differences(k)),
            _section("number", "How many groups", _criteria(), _delta()),
            _section(
                "co-association", "Who goes with whom", _matrix(evidence, pairs, labels[shown])
            ),
            _section("dendrogram", "The tree of groups", _tree(evidence, labels[shown[pairs]], k)),
            _section("doubtful", "Doubtful objects", _histogram(2 - 2 * confidence, 0.9)),
            _section("stability", "Stability of the clusters", _bars(k, rng)),
            _section("methods", "Methods compared", _agreement(), _method_table()),
        ],
    }


def minority_summary(n=600, seed=0):
    """Two small groups in noise: scores with thresholds, fitted components, a curve of truth."""
    rng = np.random.default_rng(seed)
    places = rng.uniform(-10, 10, (n, 2))
    small = n // 12
    places[:small] = rng.normal(size=(small, 2)) * 0.5 + 4
    places[small : 2 * small] = rng.normal(size=(small, 2)) * 0.4 - 5
    labels = np.repeat([0, 1, -1], [small, small, n - 2 * small])
    scores = np.where(labels >= 0, rng.normal(0.7, 0.1, n), rng.normal(0.3, 0.1, n))
    ordered = np.sort(scores)[::-1]
    columns = [
        {"name": "id", "kind": "number", "values": list(range(n))},
        {"name": "cluster", "kind": "cluster", "values": labels.tolist()},
        _numbers("score", scores),
        {"name": "truth", "kind": "flag", "values": (labels >= 0).tolist()},
    ]
    marks = [
        {"at": at, "label": label, "taken": label == "distance"}
        for at, label in [(0.48, "distance"), (0.52, "knee"), (0.55, "mixture"), (0.61, "share")]
    ]
    drop = [np.searchsorted(-ordered, -mark["at"]) for mark in marks]
    ranks = [
        {"axis": "x", "at": int(at), "label": mark["label"], "taken": mark["taken"]}
        for at, mark in zip(drop, marks, strict=True)
    ]
    level = {"axis": "y", "at": 0.48, "label": "threshold 0.48", "taken": True}
    found = np.cumsum(np.arange(n) < 2 * small)
    roc = {
        "label": "EWOCS",
        "x": (np.arange(1, n + 1) - found).tolist(),
        "y": (found / found[-1]).tolist(),
        "style": "steps",
    }
    roc["x"] = (np.array(roc["x"]) / max(1, n - 2 * small)).tolist()
    chance = {"label": "chance", "x": [0, 1], "y": [0, 1], "style": "dashed"}
    return {
        "schema": 1,
        "kind": "minority",
        "title": "Small groups among stars",
        "headline": [f"{2 * small} of the {n} objects stand out from the rest, in 2 groups."],
        "done": [{"what": "Method", "value": "EWOCS"}],
        "notes": [],
        "clusters": [_cluster(c, labels, None, None) for c in (0, 1, -1)],
        "objects": {"total": n, "shown": n, "columns": columns},
        "sections": [
            _section("objects", "Where the groups lie", _points(places)),
            _section(
                "scores",
                "Sorted scores",
                {
                    "kind": "curves",
                    "series": [
                        {"label": "score", "x": list(range(n)), "y": ordered.round(4).tolist()}
                    ],
                    "xlabel": "rank",
                    "ylabel": "score",
                    "marks": [*ranks, level],
                },
            ),
            _section("histogram", "How the scores spread", _histogram(scores, 0.48, marks, True)),
            _section(
                "roc",
                "Against the truth",
                {
                    "kind": "curves",
                    "series": [roc, chance],
                    "xlabel": "share of the background taken",
                    "ylabel": "share of the foreground found",
                    "marks": [],
                },
            ),
        ],
    }


def _section(name, title, *figures):
    made = {"id": name, "title": title, "read": READ, "figure": None}
    if len(figures) == 1:
        return made | {"figure": figures[0]}
    return made | {"figures": list(figures)}


def _numbers(name, values):
    return {"name": name, "kind": "number", "values": np.round(values, 3).tolist()}


def _cluster(cluster, labels, confidence, stability):
    own = labels == cluster
    return {
        "cluster": int(cluster),
        "size": int(own.sum()),
        "share": float(own.mean()),
        "confidence": None if confidence is None else round(float(confidence[own].mean()), 3),
        "stability": stability,
    }


def _clusters(labels, confidence, rng):
    found = [c for c in np.unique(labels) if c >= 0] + [-1] * bool((labels < 0).any())
    return [
        _cluster(c, labels, confidence, None if c < 0 else round(float(rng.uniform(0.7, 1)), 3))
        for c in found
    ]


def _points(places):
    return {
        "kind": "points",
        "x": places[:, 0].round(3).tolist(),
        "y": places[:, 1].round(3).tolist(),
        "objects": list(range(len(places))),
        "xlabel": "first principal component (61 %)",
        "ylabel": "second (23 %)",
    }


def _matrix(evidence, rows, labels):
    return {
        "kind": "matrix",
        "size": len(evidence),
        "values": base64.b64encode(np.rint(255 * evidence).astype(np.uint8).tobytes()).decode(),
        "low": 0.0,
        "high": 1.0,
        "objects": rows.tolist(),
        "names": None,
        "bounds": (np.flatnonzero(np.diff(labels[rows])) + 1).tolist(),
    }


def _agreement():
    names = ["eac", "cspa", "mcla", "wosp"]
    values = np.array(
        [[1, 0.8, 0.7, 0.2], [0.8, 1, 0.75, 0.3], [0.7, 0.75, 1, 0.1], [0.2, 0.3, 0.1, 1]]
    )
    made = _matrix(values, np.arange(4), np.zeros(4))
    return made | {"objects": None, "names": names, "bounds": [], "title": "Agreement of methods"}


def _tree(evidence, labels, k):
    tree = linkage(1 - evidence[np.triu_indices(len(evidence), 1)], "average")
    return {
        "kind": "dendrogram",
        "heights": tree[:, 2].round(5).tolist(),
        "left": tree[:, 0].astype(int).tolist(),
        "right": tree[:, 1].astype(int).tolist(),
        "sizes": tree[:, 3].astype(int).tolist(),
        "cut": float((tree[-k, 2] + tree[1 - k, 2]) / 2),
        "n_clusters": k,
        "clusters": labels.tolist(),
    }


def _histogram(values, threshold, marks=None, fitted=False):
    counts, edges = np.histogram(values, 30)
    made = {
        "kind": "histogram",
        "edges": edges.round(5).tolist(),
        "counts": counts.tolist(),
        "xlabel": "score",
        "marks": marks or [{"at": threshold, "label": "threshold", "taken": True}],
        "curves": [],
    }
    if fitted:
        x = np.linspace(edges[0], edges[-1], 101)
        for label, centre, share in [("background", 0.3, 0.83), ("foreground", 0.7, 0.17)]:
            density = np.exp(-(((x - centre) / 0.1) ** 2) / 2) / (0.1 * np.sqrt(2 * np.pi))
            y = share * density * len(values) * (edges[1] - edges[0])
            made["curves"].append({"label": label, "x": x.tolist(), "y": y.tolist()})
    return made


def _criteria():
    x = list(range(2, 11))
    return {
        "kind": "curves",
        "title": "Consensus index",
        "series": [
            {"label": "data", "x": x, "y": [0.5, 0.7, 0.9, 0.8, 0.7, 0.66, 0.6, 0.58, 0.55]},
            {
                "label": "reference",
                "x": x[:6],
                "y": [0.5, 0.5, 0.49, 0.5, 0.48, 0.5],
                "style": "dashed",
            },
            {"label": "choices", "x": [4, 7], "y": [0.9, 0.66], "style": "dots"},
        ],
        "xlabel": "number of groups",
        "ylabel": "index",
        "marks": [{"axis": "x", "at": 4, "label": "taken: 4", "taken": True}],
    }


def _delta():
    return {
        "kind": "curves",
        "title": "Change, on a logarithmic scale",
        "series": [{"label": "change", "x": [2, 3, 4, 5, 6], "y": [1, 0.3, 0.1, 0.01, 0.002]}],
        "xlabel": "number of groups",
        "ylabel": "change",
        "marks": [],
        "log": "y",
    }


def _bars(k, rng):
    return {
        "kind": "bars",
        "labels": [f"cluster {c}" for c in range(k)],
        "values": rng.uniform(0.6, 1, k).round(3).tolist(),
        "clusters": list(range(k)),
        "xlabel": "stability",
        "marks": [{"at": 0.75, "label": "usual bound", "taken": False}],
    }


def _cards(k):
    lines = [
        ["typical", "height 3 (2 to 4)"],
        ["apart", "height higher: 3 against 1"],
        ["", "more"],
    ]
    return {"kind": "cards", "cards": [{"cluster": c, "lines": lines} for c in range(k)]}


def _differences(k):
    rows = [[c, f"column {j}", f"{j} (1 to 9)", 0.5 - j / 100] for c in range(k) for j in range(50)]
    names = ["Cluster", "Column", "Here", "Effect"]
    return {"kind": "table", "columns": names, "rows": rows, "search": "Find a column"}


def _method_table():
    rows = [["eac", 4, 0.91], ["cspa", 4, 0.88], ["mcla", 5, None], ["wosp", 4, 0.4]]
    return {"kind": "table", "columns": ["Method", "Clusters", "ANMI"], "rows": rows}
