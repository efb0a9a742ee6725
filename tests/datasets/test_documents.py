"""The loaders of text: what they keep of small files made here, and of the papers' own files."""

import gzip
import json
import os

import numpy as np
import pytest

from consilience.datasets._documents import load_mini_newsgroups, load_reuters, load_webkb4
from consilience.datasets._json_lines import read_json_lines
from consilience.datasets._text import document_frequency, tf_idf
from consilience.errors import ConsilienceWarning, InvalidInputError, InvalidParameterError

HOME = os.environ.get("CONSILIENCE_DATA")
needs_data = pytest.mark.skipif(
    not HOME, reason="set CONSILIENCE_DATA to the folder of the papers' data sets"
)
LOADERS = [load_mini_newsgroups, load_webkb4, load_reuters]


@pytest.fixture
def put(tmp_path):
    """Write objects, one a line, to NAME.jsonl.gz and return the folder."""

    def write(name, lines):
        with gzip.open(tmp_path / f"{name}.jsonl.gz", "wt", encoding="utf-8") as file:
            file.writelines(json.dumps(line) + "\n" for line in lines)
        return tmp_path

    return write


# ---- small files --------------------------------------------------------------------------------


def message(group, body, number):
    return {"id": f"{group}/{number}", "text": f"From: x\nLines: 9\n\n{body}", "label": group}


def test_newsgroups_are_grouped_by_the_first_part_of_their_name(put):
    home = put(
        "mini_newsgroups",
        [
            message("sci.space", "Orbits, orbiting rockets", 1),
            message("talk.politics.misc", "votes", 2),
            message("sci.med", "a doctor of rockets", 3),
            message("rec.autos", "cars\n\nand a doctor", 4),
        ],
    )
    found = load_mini_newsgroups(home, n_terms=3, min_documents=1)
    assert found.ids.tolist() == ["sci.space/1", "sci.med/3", "rec.autos/4"]
    assert found.classes == ("rec", "sci")
    assert found.truth.tolist() == ["sci", "sci", "rec"]
    # Variances of the counts: orbit 8/9, the others 2/9; the first by the alphabet win.
    assert found.terms.tolist() == ["car", "doctor", "orbit"]
    assert found.counts.toarray().tolist() == [[0, 0, 2], [0, 1, 0], [1, 1, 0]]
    np.testing.assert_allclose(found.X.toarray(), tf_idf(found.counts).toarray())
    assert repr(found) == "Documents('mini_newsgroups': 3 documents, 3 terms, 2 classes)"


@pytest.mark.parametrize(("variance_of", "kept"), [("counts", "data"), ("weights", "fuel")])
def test_a_word_of_every_document_varies_in_counts_only(put, variance_of, kept):
    lines = [message("sci.space", text, i) for i, text in enumerate(["data " * 3, "data fuel"])]
    home = put("mini_newsgroups", lines)
    found = load_mini_newsgroups(home, n_terms=1, min_documents=1, variance_of=variance_of)
    assert found.terms.tolist() == [kept]


def test_headers_are_read_only_if_asked_for(put):
    home = put("mini_newsgroups", [message("sci.space", "rocket", i) for i in range(2)])
    options = {"n_terms": 2, "min_documents": 2}
    with pytest.warns(ConsilienceWarning, match="fewer than n_terms=2; all are kept"):
        assert load_mini_newsgroups(home, **options).terms.tolist() == ["rocket"]
    found = load_mini_newsgroups(home, headers=True, **options)
    assert found.terms.tolist() == ["line", "rocket"]


def test_pages_lose_their_header_and_markup(put):
    page = (
        "Server: X\nDate: now\n\n<html><!WA1><title>Course</title><!-- hidden\n text -->"
        "<script>code()</script><a\nhref='link.html'>home&nbsp;work&amp;exams</a>"
    )
    fields = {"id": "1", "university": "texas", "text": page, "label": "course"}
    other = {**fields, "id": "2", "university": "misc"}
    found = load_webkb4(put("webkb4", [fields, other]), n_terms=4, min_documents=1)
    assert found.ids.tolist() == ["1"]
    assert found.terms.tolist() == ["cours", "exam", "home", "work"]


def news(number, topics):
    return {"id": number, "title": "Profit RISES", "text": f"shrs {number} up", "topics": topics}


def test_reuters_keeps_all_of_earn_and_a_share_of_the_rest(put, seed):
    lines = [news(i, [["acq"], ["earn", "acq"], []][i % 3]) for i in range(600)]
    home = put("reuters21578", lines)
    half = load_reuters(home, background=0.5, random_state=seed)
    assert half.ids[half.y == 1].tolist() == list(range(1, 600, 3))
    assert half.classes == ("background", "earn")
    # Five standard deviations of a coin tossed 400 times.
    assert abs((half.y == 0).sum() - 200) < 50
    assert (np.diff(half.ids) > 0).all()
    assert half.terms.tolist() == ["profit", "rise", "shr"]
    again = load_reuters(home, background=0.5, random_state=seed)
    np.testing.assert_array_equal(half.ids, again.ids)
    more = load_reuters(home, background=0.7, random_state=seed)
    assert set(half.ids) < set(more.ids)
    assert len(load_reuters(home, background=1.0).ids) == 600


def test_rare_stems_may_be_left_out_of_reuters(put):
    lines = [news(1, ["earn"]), {**news(2, []), "text": "wheat"}]
    home = put("reuters21578", lines)
    found = load_reuters(home, background=1.0, min_documents=2)
    assert found.terms.tolist() == ["profit", "rise"]
    with pytest.raises(InvalidInputError, match=r"No term .* 3 documents"):
        load_reuters(home, background=1.0, min_documents=3)


def test_a_document_without_terms_is_a_row_of_zeros(put):
    lines = [message("sci.space", text, i) for i, text in enumerate(["rocket", "fuel", "42"])]
    found = load_mini_newsgroups(put("mini_newsgroups", lines), n_terms=2, min_documents=1)
    lengths = np.sqrt(np.asarray(found.X.multiply(found.X).sum(axis=1)).ravel())
    np.testing.assert_allclose(lengths, [1, 1, 0])


# ---- what is refused ----------------------------------------------------------------------------


@pytest.mark.parametrize("load", LOADERS)
def test_without_a_folder_the_message_says_what_to_do(load, monkeypatch, tmp_path):
    monkeypatch.delenv("CONSILIENCE_DATA", raising=False)
    with pytest.raises(InvalidInputError, match=r"data_home, or set .* CONSILIENCE_DATA .*jsonl"):
        load()
    with pytest.raises(InvalidInputError, match=r"There is no folder .* data_home"):
        load(tmp_path / "nowhere")
    with pytest.raises(InvalidInputError, match=r"There is no file .* It holds no .jsonl.gz files"):
        load(tmp_path)


def test_the_environment_names_the_folder(put, monkeypatch):
    monkeypatch.setenv("CONSILIENCE_DATA", str(put("reuters21578", [news(1, ["earn"])])))
    assert len(load_reuters().ids) == 1


FIELDS = {"id": int, "text": str}


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ('{"id": 1}', r"line 2 must have a field 'text' of type str. Got None"),
        ('{"id": "1", "text": ""}', r"line 2 must have a field 'id' of type int. Got '1'"),
        ("[1]", r"line 2 must be a JSON object. Got \[1\]"),
        ("{", r"line 2 is not JSON"),
        ("[" * 100_000, r"line 2 is not JSON: it is nested too deeply"),
        (
            f'{{"id": 1{"0" * 5000}, "text": ""}}',
            r"line 2 is not JSON: a number of too many digits",
        ),
    ],
)
def test_bad_lines_are_named(tmp_path, line, message):
    raw = f'{{"id": 1, "text": "a"}}\n{line}\n'.encode()
    (tmp_path / "x.jsonl.gz").write_bytes(gzip.compress(raw))
    with pytest.raises(InvalidInputError, match=f"'x.jsonl.gz' {message}"):
        read_json_lines("x", tmp_path, FIELDS)


@pytest.mark.parametrize(
    ("raw", "message"),
    [
        (gzip.compress(b'{"id": 1}' * 999)[:-9], "damaged, cut short"),
        (b"no gzip at all", "damaged, cut short"),
        (gzip.compress(b'{"id": 1, "text": "\xff"}'), "damaged, cut short"),
        (gzip.compress(b""), "is empty"),
    ],
    # Compressed bytes hold the time: as names they would differ from process to process.
    ids=["cut short", "not gzip", "not UTF-8", "nothing"],
)
def test_damaged_files_are_refused(tmp_path, raw, message):
    (tmp_path / "x.jsonl.gz").write_bytes(raw)
    with pytest.raises(InvalidInputError, match=message):
        read_json_lines("x", tmp_path, {})


@pytest.mark.parametrize(
    ("load", "name", "value"),
    [
        (load_mini_newsgroups, "n_terms", 0),
        (load_mini_newsgroups, "headers", 1),
        (load_mini_newsgroups, "variance_of", "ranks"),
        (load_webkb4, "min_documents", 0),
        (load_reuters, "background", 0.0),
        (load_reuters, "background", 1.5),
        (load_reuters, "random_state", -1),
    ],
)
def test_bad_parameters_are_named(load, name, value):
    with pytest.raises(InvalidParameterError, match=f"'{name}' parameter of {load.__name__}"):
        load("nowhere", **{name: value})


# ---- the papers' own collections ----------------------------------------------------------------


@needs_data
def test_mini_newsgroups_as_published():
    found = load_mini_newsgroups()
    assert found.X.shape == (1700, 500)
    sizes = {"comp": 400, "rec": 400, "sci": 400, "talk": 200, "alt": 100, "misc": 100, "soc": 100}
    assert dict(zip(found.classes, np.bincount(found.y).tolist(), strict=True)) == sizes
    assert document_frequency(found.counts).min() >= 40
    assert {"god", "gun", "car", "game"} <= set(found.terms.tolist())


@needs_data
def test_webkb_as_published():
    found = load_webkb4()
    assert found.X.shape == (1041, 335)
    sizes = {"student": 558, "course": 244, "faculty": 153, "project": 86}
    assert dict(zip(found.classes, np.bincount(found.y).tolist(), strict=True)) == sizes
    assert {"homework", "professor", "research"} <= set(found.terms.tolist())


@needs_data
def test_reuters_as_published(seed):
    found = load_reuters(random_state=seed)
    n_background, n_earn = np.bincount(found.y)
    assert n_earn == 3987
    # Five standard deviations of a coin; the paper has 10507.
    assert abs(n_background - 0.6 * 17591) < 5 * np.sqrt(17591 * 0.6 * 0.4)
    # One bubble around the foreground tells how the texts were prepared: the paper's BBOCC has
    # an AUC of 0.971, which neither raw weights (0.78) nor texts without titles (0.89) give.
    assert bubble_auc(found) == pytest.approx(0.971, abs=0.005)


def bubble_auc(found):
    """AUC of the distance to the mean of the nearest 3987 documents, found from a random one."""
    from sklearn.metrics import roc_auc_score

    centre, last = found.X[[0]].toarray().ravel(), None
    while True:
        distance = centre @ centre - 2 * (found.X @ centre)
        inside = np.argsort(distance, kind="stable")[: found.y.sum()]
        if last is not None and set(inside) == last:
            return roc_auc_score(found.y, -distance)
        last = set(inside)
        centre = np.asarray(found.X[inside].mean(axis=0)).ravel()
