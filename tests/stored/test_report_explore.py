"""Stored answers of the explorer: cuts, maps, pictures of pairs, views, what is sent and asked."""

import base64
from dataclasses import fields
from pathlib import Path
from tempfile import TemporaryDirectory
from types import SimpleNamespace
from unittest.mock import patch

import numpy as np
import pytest
from scipy import sparse
from stored.small import blobs, ensembles, few_drawn, minority, truth
from stored.store import Cases, attempt

import consilience as cs
from consilience.explore import _cuts, _make, _maps, _opened, _page, _pairs, _wire
from consilience.explore._questions import groups_inside, member_votes, special, why
from consilience.explore._sent import sent, sent_column, sent_member
from consilience.explore._view import Known, listed_columns

pytest.importorskip("jinja2")

CASES = Cases(__file__)
_SIZES = (26, 17, 11, 6)


def _uneven(n_members=9, wrong=0.25):
    """Groups of unlike sizes that members take for others now and then, some not seen or noise."""
    rng = np.random.default_rng(8)
    groups = np.repeat(np.arange(4), _SIZES)
    drawn = rng.random((n_members, 60)) < wrong
    members = np.where(drawn, rng.integers(0, 5, (n_members, 60)), groups)
    members[rng.random(members.shape) < 0.05] = cs.NOISE
    members[rng.random(members.shape) < 0.1] = cs.UNSEEN
    points = rng.normal(size=(60, 3)) + 4 * np.eye(4, 3)[groups]
    return cs.Ensemble(members.T), groups.astype(np.int32), points


def _labelings():
    _, groups, _ = _uneven()
    yield "four", groups
    yield "two", groups // 2
    yield "one", groups * 0
    yield "some", np.where(np.arange(60) % 7 == 0, -1, groups).astype(np.int32)
    yield "many", (np.arange(60) % 12).astype(np.int32)
    yield "none", np.full(60, -1, np.int32)


def _cut(key, cuts):
    for one in fields(cuts):
        yield f"{key} {one.name}", getattr(cuts, one.name)
    yield f"{key} most", cuts.most
    yield f"{key} labels", [cuts.labels(k) for k in range(max(1, cuts.least), cuts.most + 1)]


@CASES
def cuts():
    ensemble, groups, points = _uneven()
    for name, labels in _labelings():
        yield from _cut(name, _cuts.cuts_of(ensemble, labels, None, seed=0))
        yield from _cut(f"{name} placed", _cuts.cuts_of(ensemble, labels, points, seed=0))
    for kind, other in ensembles().items():
        yield from _cut(kind, _cuts.cuts_of(other, truth().astype(np.int32), blobs(), seed=0))
    # Few of the objects are looked at, and the others are placed a few at a time.
    for seed in (0, 1):
        with patch.object(_cuts, "_PAIRS", 20), patch.object(_cuts, "_SHARES", 70):
            yield from _cut(f"few {seed}", _cuts.cuts_of(ensemble, groups, points, seed=seed))
    with patch.object(_cuts, "LEAST_CUTS", 5):
        yield from _cut("least", _cuts.cuts_of(ensemble, groups, points, seed=0))
    for labels in (groups, groups * 0 - 1):
        yield from _cut(f"only {labels[0]}", _cuts.only_cut(labels))


@CASES
def parts_of_cuts():
    ensemble, groups, _ = _uneven()
    for n in (0, 1, 2, 9):
        yield f"ward {n}", _cuts._ward(ensemble, np.arange(n) * 6)
    tree = _cuts._ward(ensemble, np.arange(8) * 7)
    yield "under", [_cuts._under(tree, node, 8) for node in range(15)]
    yield "weight", [_cuts._weight(tree, node) for node in range(15)]
    yield "shares", _cuts.shares_with(ensemble, groups.astype(np.int64), 4, np.arange(0, 60, 5))
    left = np.where(np.arange(60) % 4 == 0, -1, groups).astype(np.int64)
    yield "some shares", _cuts.shares_with(ensemble, left, 5, np.arange(60))
    yield "sums", _cuts.pair_sums(ensemble, left, 5)
    for form in ("dense", "condensed"):
        yield form, attempt(_cuts.joined_shares, ensemble.take(np.arange(9) * 6), form)
    yield "default form", _cuts.joined_shares(ensemble.take(np.arange(5)))


@CASES
def maps():
    ensemble, groups, points = _uneven()
    for name, labels in _labelings():
        for seed in (0, 3):
            found = _maps.map_of_evidence(ensemble, labels, seed=seed)
            yield f"evidence {name} {seed}", found
    with patch.object(_maps, "_ROWS", 30):
        yield "evidence of some", _maps.map_of_evidence(ensemble, groups, seed=1)
    with patch.object(_maps, "_MOST_AXES", 5):
        yield "evidence of few axes", _maps.map_of_evidence(ensemble, groups, seed=1)
    for n in (1, 2, 3):
        some = ensemble.take(np.arange(n) * 19)
        found = _maps.map_of_evidence(some, np.arange(n, dtype=np.int32), seed=0)
        yield f"evidence {n}", [found.places.shape, np.isfinite(found.places)]
    silent = cs.Ensemble(np.full((6, 3), cs.UNSEEN))
    yield "evidence of nothing", _maps.map_of_evidence(silent, np.zeros(6, np.int32), seed=0)
    for key, X in {
        "three": points, "two": points[:, :2], "one": points[:, :1], "none": None,
        "huge": points * 2.0**200, "tiny": points[:, :2] * 2.0**-200,
        "unlike": points[:, :2] * [1.0, 2.0**150],
        "sparse": sparse.csr_array(np.where(points > 1, points, 0)), "text": ["ab"] * 60,
        "gaps": np.full((60, 2), np.nan),
    }.items():  # fmt: skip
        for columns in ((), ("a", "b", "c")[: X.shape[1] if hasattr(X, "shape") else 0]):
            found = _maps.map_of_columns(X, columns)
            yield (
                f"{key} {len(columns)}",
                found._replace(places=np.abs(found.places))
                if not isinstance(found, str)
                else found,
            )


@CASES
def parts_of_maps():
    ensemble, groups, points = _uneven()
    gaps = np.sqrt(((points[:7, None] - points[None, ::9]) ** 2).sum(axis=2))
    gaps = gaps[:, :7] + gaps[:, :7].T
    np.fill_diagonal(gaps, 0)
    yield "laid out", [_maps._laid_out(gaps[:k, :k]) for k in (3, 4, 7)]
    with patch.object(_maps, "_STEPS", 1):
        yield "laid out at first", _maps._laid_out(gaps)
    yield "equal", np.abs(np.diff(_maps._laid_out(np.ones((3, 3)) - np.eye(3)), axis=0)).shape
    axes = np.column_stack([points, points[:, :2] ** 2])
    yield "along", [_maps._along(axes, axes[i] - axes[0]) for i in (0, 5, 40)]
    for name, labels in _labelings():
        yield f"turned {name}", _maps._turned(axes, labels)
    yield "scaled", _maps._scaled(ensemble)
    yield "axes", np.abs(_maps._axes(ensemble, groups, 0)[:, :3])
    yield (
        "shapes",
        [
            _maps._axes(ensemble, np.arange(60, dtype=np.int32) % k, 0).shape
            for k in (1, 2, 3, 9, 40)
        ],
    )


@CASES
def pairs():
    ensemble, _, points = _uneven()
    for name, labels in _labelings():
        made = _cuts.cuts_of(ensemble, labels, points, seed=0)
        yield name, _pairs.pairs_of(ensemble, made, seed=0)
        with patch.object(_pairs, "MOST_ROWS", 15):
            for seed in (0, 2):
                yield f"{name} few {seed}", _pairs.pairs_of(ensemble, made, seed=seed)
    for n in (1, 2):
        some = ensemble.take(np.arange(n))
        made = _cuts.cuts_of(some, np.zeros(n, np.int32), None, seed=0)
        yield f"{n} objects", _pairs.pairs_of(some, made, seed=0)


def _results():
    ensemble, groups, points = _uneven()
    names = np.array(["a", "b", "c", "d"])[groups]
    few = {"n_members": 6, "random_state": 0}
    yield "members", cs.cluster(ensemble=ensemble, n_clusters=4, method="eac", random_state=0)
    yield (
        "methods",
        cs.cluster(
            points, 4, methods=["eac", "mcla", "hbgf"], truth=names, ids=np.arange(60) + 7, **few
        ),
    )
    yield "one", cs.cluster(points[:, :1], 1, method="eac", **few)
    yield "ambiguous", cs.ambiguous_objects(ensemble=ensemble, n_clusters=4, random_state=0)
    both = {"first": points[:, :2], "second": np.sin(points) + points[::-1]}
    yield "views", cs.cluster(both, 3, method="eac", n_members=16, random_state=0)
    X, y = minority()
    with few_drawn():
        yield "minority", cs.minority_groups(X, n_repetitions=15, random_state=0)
        yield "told", cs.minority_groups(X, truth=y, n_repetitions=15, random_state=0)


def _shown(key, shown):
    for one in fields(shown):
        if one.name != "columns":
            yield f"{key} {one.name}", getattr(shown, one.name)
    yield f"{key} columns", listed_columns(shown.columns)
    yield f"{key} called", [shown.id_of(i) for i in range(min(5, shown.n_objects))]


def _asked(key, shown):
    rows = [np.arange(7), np.array([3, 3, 20, 41]), np.arange(0, 60, 2), np.array([59])]
    for place, some in enumerate(rows):
        yield f"{key} special {place}", attempt(special, shown, some)
        yield f"{key} special most {place}", attempt(special, shown, some, most=1)
        for k in (None, 1, 3, 7):
            yield f"{key} inside {place} {k}", attempt(groups_inside, shown, some, k)
    for row in (0, 30, 59, 60, -1):
        for k in (None, 2):
            yield f"{key} why {row} {k}", attempt(why, shown, row, k)
    for wrong in ([0.5], [[1]], [60], [-1], []):
        yield f"{key} wrong {wrong}", attempt(groups_inside, shown, np.array(wrong))


def _unpacked(packed):
    return attempt(_wire.unpack, packed)


@CASES
def views():
    for key, result in _results():
        shown = _make.view(result)
        yield from _shown(key, shown)
        yield from _asked(key, shown)
        some = np.arange(1, 60, 3)
        yield from _shown(f"{key} some", shown.take(some))
        yield f"{key} thin", _page.thin(shown, 25).objects
        yield f"{key} all", _page.thin(shown, 60).n_objects
        yield f"{key} sent", _unpacked(sent(shown))
        for live, room in ((False, 0), (True, 241), (True, 1000)):
            packed = sent(shown, column_bytes=room, member_bytes=room, live=live)
            yield f"{key} sent {room}", _unpacked(packed)
        yield f"{key} sent some", _unpacked(sent(shown.take(some)))
        yield (
            f"{key} column",
            [attempt(lambda j=j, shown=shown: _wire.unpack(sent_column(shown, j))) for j in (0, 2)],
        )
        if shown.ensemble is not None:
            yield f"{key} member", _unpacked(sent_member(shown, 1))
        yield f"{key} report", _unpacked(base64.b64decode(_page.report_data(result)))
        for share in (1.0, 1e-5):
            text = _page.static_data(shown, 40, share=share)
            yield f"{key} static {share}", _unpacked(base64.b64decode(text))
        # What there is room for in a page: of columns and of members a share of what is usual.
        with patch.object(_page, "_COLUMN_BYTES", 500), patch.object(_page, "_MEMBER_BYTES", 200):
            for options in ({}, {"share": 0.4}):
                text = _page.static_data(shown, **options)
                yield f"{key} room {options}", _unpacked(base64.b64decode(text))


@CASES
def votes_and_doubt():
    ensemble, groups, _ = _uneven()
    members = ensemble.members
    for k, labels in (("all", groups), ("some", np.where(groups == 1, -1, groups))):
        yield k, [member_votes(members, labels.astype(np.int64), row) for row in range(0, 60, 4)]
    alone = np.where(np.arange(60) == 5, 4, groups).astype(np.int64)
    yield "alone", member_votes(members, alone, 5)
    for most in (3, 2000):
        with patch.object(_make, "_MOST_TORN", most):
            for order in (None, np.cos(np.arange(60.0))):
                doubt = np.arange(0, 60, 6)
                yield (
                    f"torn {most} {order is None}",
                    _make._torn(ensemble, groups, doubt, order),
                )
    for labels, doubt in ((groups * 0, np.arange(3)), (groups, np.arange(0))):
        yield f"not torn {len(doubt)}", _make._torn(ensemble, labels, doubt, None)
    for known in (None, ["b", "a", "b"], [2, 2, 5], ["x", None, "y"]):
        yield f"known {known}", attempt(Known.of, known)
    yield "rows", [_make._in_a_row(4), _make._in_a_row(3, np.array([0.5, 0.1, 0.2]))]


_TABLES = {
    "labels.csv": (
        "id,cluster,confidence,runner_up\na,4,0.9,1\nb,1,0.6,4\nc,-1,,\nd,4,x,1\n",
        "# one\n# two\nid,cluster\na,-3\nb,0\n#c,1\n",
        "id,cluster\n",
        "id,cluster\na,0\nshort\nb,1\n",
        "id,cluster\n'=a,1\n",
        "name,cluster\na,1\n",
        "id,cluster\na,1.5\n",
    ),
    "ambiguous.csv": ("id,cluster,score\na,0,0.2\nb,1,0.7\nc,0,\n", "id,score\na,1\n"),
    "scores.csv": (
        "id,score,group\na,0.2,-1\nb,0.9,0\nc,0.7,2\nd,,2\n",
        "id,score,group\na,0.2,-1\n",
        "id,group\na,-1\nb,0\n",
    ),
}


@CASES
def opened():
    for name, texts in _TABLES.items():
        for place, text in enumerate(texts):
            with TemporaryDirectory() as folder:
                home = Path(folder, "run")
                home.mkdir()
                (home / name).write_text(text, encoding="utf-8")
                try:
                    shown = _opened.open_run(home)
                except cs.errors.ConsilienceError as error:
                    yield f"{name} {place}", str(error).replace(str(home), "run")
                    continue
                yield from _shown(f"{name} {place}", shown)
                yield f"{name} {place} sent", _unpacked(sent(shown))
    gaps = map(np.array, ([5, 2, -1, 5], [-1], [0, 3]))
    yield "gaps", [_opened._without_gaps(x, x) for x in gaps]
    scores = np.array([0.5, 0.2, np.nan, 0.9])
    for high in (True, False):
        for labels in ([0, -1, 0, 0], [-1] * 4, [0, 0, 0, 0]):
            yield f"border {high} {labels}", _opened._border(scores, np.array(labels), high)


@CASES
def wire():
    arrays = {
        "bytes": np.arange(3, dtype=np.uint8), "table": np.arange(6.0).reshape(2, 3),
        "empty": np.empty(0, np.int16), "big": np.arange(2, dtype=">i4"),
        "eight": np.arange(8, dtype=np.int8),
    }  # fmt: skip
    packed = _wire.pack({"a": [1, None, "é"]}, arrays)
    yield "packed", list(packed)
    yield "unpacked", _unpacked(packed)
    yield "none", list(_wire.pack({}, {}))
    yield "refused", attempt(_wire.pack, {}, {"x": np.arange(2)})
    yield "nan", attempt(_wire.pack, {"a": float("nan")}, {})
    yield "damaged", _unpacked(b"x" + packed)
    yield "texts", [_wire.texts("x", one) for one in ([], ["", "äö"], ["a", "bc", ""])]
    for values in ([0.5], [np.inf, 1], [2**40], [], [1.0, 2.0], [1, 300], [np.nan], [0.1, np.nan]):
        yield f"narrow {values}", _wire.narrow(np.array(values))
    data = SimpleNamespace(ids=np.array([3, 5]))
    yield "ids", [_make._ids(data), _make._ids(SimpleNamespace(ids=None))]


test_stored = CASES.test()
