"""Excel workbooks: what is read, and what hostile ones are refused for."""

import datetime
import zipfile

import numpy as np
import pytest

from consilience.datasets import _workbooks, read_like, read_table
from consilience.errors import ConsilienceWarning, InvalidInputError

openpyxl = pytest.importorskip("openpyxl")

pytestmark = pytest.mark.filterwarnings("ignore::consilience.errors.ConsilienceWarning")


def saved(path, rows, title="data", more=()):
    book = openpyxl.Workbook()
    book.active.title = title
    for row in rows:
        book.active.append(row)
    for name in more:
        book.create_sheet(name).append(["z", 1])
    book.save(path)
    return path


def changed(path, parts, target="bad.xlsx"):
    """A copy of a workbook with some parts replaced or added."""
    copy = path.with_name(target)
    with zipfile.ZipFile(path) as old, zipfile.ZipFile(copy, "w", zipfile.ZIP_DEFLATED) as new:
        for name in old.namelist():
            if name not in parts:
                new.writestr(name, old.read(name))
        for name, content in parts.items():
            new.writestr(name, content)
    return copy


@pytest.fixture
def book(tmp_path):
    rows = [["id", "x", "flag", "kind", "when"]]
    for i in range(6):
        when = datetime.datetime(2020, 1, 1 + i)
        rows.append([f"p{i}", i / 4, i % 2 == 0, "ab"[i % 2], when])
    return saved(tmp_path / "book.xlsx", rows)


def test_numbers_flags_categories_and_dates_are_as_in_a_text_file(book, tmp_path):
    text = tmp_path / "book.csv"
    lines = [f"p{i},{i / 4!r},{i % 2 == 0},{'ab'[i % 2]},2020-01-0{1 + i}" for i in range(6)]
    text.write_text("\n".join(["id,x,flag,kind,when", *lines]))
    one, other = (read_table(path, encode="onehot") for path in (book, text))
    np.testing.assert_array_equal(one.X, other.X)
    assert one.columns == other.columns
    assert one.ids.tolist() == other.ids.tolist() == [f"p{i}" for i in range(6)]
    assert one.name == "book"


def test_a_new_workbook_is_read_like_the_first(book, tmp_path):
    first = read_table(book, encode="onehot")
    new = saved(
        tmp_path / "new.xlsx",
        [["kind", "x", "flag", "when"], ["b", 7, True, datetime.date(2020, 1, 3)]],
    )
    second = read_like(new, first.recipe)
    assert second.columns == first.columns
    assert second.X[0, 0] == 7
    assert second.X[0, list(second.columns).index("when")] == 2


def test_the_first_sheet_is_taken_and_said_others_by_name(tmp_path):
    path = saved(tmp_path / "b.xlsx", [["x", "y"], [1, 2], [3, 4]], more=["second"])
    with pytest.warns(ConsilienceWarning, match="2 sheets: 'data' is read"):
        assert read_table(path).X.tolist() == [[1, 2], [3, 4]]
    named = read_table(path, sheet="data")
    assert named.recipe.sheet == "data"
    with pytest.raises(InvalidInputError, match="no sheet 'third'"):
        read_table(path, sheet="third")
    (tmp_path / "a.csv").write_text("x,y\n1,2\n3,4\n")
    with pytest.raises(InvalidInputError, match=r"belongs to \.xlsx"):
        read_table(tmp_path / "a.csv", sheet="x")


def test_errors_of_formulas_are_missing_and_short_rows_are_filled(tmp_path):
    rows = [["x", "y", "z"], [1, 2, 3], [4, "#DIV/0!", 6], [7, 8], [], []]
    path = saved(tmp_path / "b.xlsx", rows)
    with pytest.raises(InvalidInputError, match="missing"):
        read_table(path)
    with pytest.warns(ConsilienceWarning, match="error of a formula"):
        table = read_table(path, impute="keep")
    np.testing.assert_array_equal(table.X, [[1, 2, 3], [4, np.nan, 6], [7, 8, np.nan]])


def test_formulas_are_not_computed_their_stored_values_are_read(tmp_path):
    path = saved(tmp_path / "b.xlsx", [["x", "y"], [1, 2], [3, 4]])
    sheet = "xl/worksheets/sheet1.xml"
    with zipfile.ZipFile(path) as archive:
        text = archive.read(sheet).decode()
    with_formula = text.replace("<v>4</v>", '<f>WEBSERVICE("http://example.invalid")</f><v>9</v>')
    assert with_formula != text
    assert read_table(changed(path, {sheet: with_formula})).X[1, 1] == 9


def test_macros_and_links_are_left_alone(tmp_path):
    path = saved(tmp_path / "b.xlsx", [["x", "y"], [1, 2], [3, 4]])
    parts = {
        "xl/vbaProject.bin": b"\x00macro",
        "xl/externalLinks/externalLink1.xml": '<?xml version="1.0"?><externalLink xmlns="u"/>',
    }
    assert read_table(changed(path, parts)).X.tolist() == [[1, 2], [3, 4]]


def test_a_bomb_is_refused_before_it_is_unpacked(tmp_path, monkeypatch):
    path = saved(tmp_path / "b.xlsx", [["x", "y"], [1, 2]])
    bomb = changed(path, {"xl/worksheets/sheet1.xml": b"<x>" + b" " * (20 << 20)})
    monkeypatch.setattr(zipfile.ZipFile, "open", lambda *_, **__: pytest.fail("it was unpacked"))
    with pytest.raises(InvalidInputError, match="times its size"):
        read_table(bomb)


def test_a_large_total_and_many_parts_are_refused(tmp_path, monkeypatch):
    path = saved(tmp_path / "b.xlsx", [["x", "y"], [1, 2]])
    monkeypatch.setattr(_workbooks, "_MOST_BYTES", 2000)
    with pytest.raises(InvalidInputError, match="unpacks to"):
        read_table(path)
    monkeypatch.undo()
    monkeypatch.setattr(_workbooks, "_MOST_PARTS", 3)
    with pytest.raises(InvalidInputError, match="parts"):
        read_table(path)
    monkeypatch.undo()
    monkeypatch.setattr(_workbooks, "_MOST_OTHER", 100)
    with pytest.raises(InvalidInputError, match="which is no sheet"):
        read_table(path)


LAUGHS = """<?xml version="1.0"?><!DOCTYPE lolz [<!ENTITY lol "lol">
<!ENTITY lol2 "&lol;&lol;&lol;&lol;">]><worksheet>&lol2;</worksheet>"""
OUTSIDE = (
    """<?xml version="1.0"?><!DOCTYPE a [<!ENTITY x SYSTEM "file:///etc/passwd">]><a>&x;</a>"""
)


@pytest.mark.parametrize("text", [LAUGHS, OUTSIDE, LAUGHS.encode("utf-16")])
@pytest.mark.parametrize("part", ["xl/worksheets/sheet1.xml", "xl/sharedStrings.xml"])
def test_entities_are_refused(tmp_path, text, part):
    path = saved(tmp_path / "b.xlsx", [["x", "y"], [1, 2]])
    with pytest.raises(InvalidInputError, match=r"declares a document type|no XML"):
        read_table(changed(path, {part: text}))


def sheet(rows, dimension="A1:B3"):
    return (
        '<?xml version="1.0"?><worksheet xmlns="http://schemas.openxmlformats.org/spreadsheetml/'
        f'2006/main"><dimension ref="{dimension}"/><sheetData>{rows}</sheetData></worksheet>'
    )


ROWS = (
    '<row r="1"><c r="A1" t="inlineStr"><is><t>x</t></is></c>'
    '<c r="B1" t="inlineStr"><is><t>y</t></is></c></row>'
    '<row r="2"><c r="A2"><v>1</v></c><c r="B2"><v>2</v></c></row>'
    '<row r="3"><c r="A3"><v>3</v></c><c r="B3"><v>4</v></c></row>'
)


def test_what_a_sheet_says_of_its_size_is_not_believed(tmp_path):
    path = saved(tmp_path / "b.xlsx", [["x"]])
    parts = {"xl/worksheets/sheet1.xml": sheet(ROWS, "A1:XFD1048576")}
    assert read_table(changed(path, parts)).X.tolist() == [[1, 2], [3, 4]]


def test_millions_of_empty_cells_are_refused(tmp_path, monkeypatch):
    path = saved(tmp_path / "b.xlsx", [["x"]])
    far = ROWS + '<row r="90000"><c r="A90000"><v>1</v></c></row>'
    monkeypatch.setattr(_workbooks, "_MOST_EMPTY", 50_000)
    with pytest.raises(InvalidInputError, match="empty cells"):
        read_table(changed(path, {"xl/worksheets/sheet1.xml": sheet(far)}))
    wide = ROWS + "".join(f'<row r="{r}"><c r="XFD{r}"/></row>' for r in range(4, 9))
    with pytest.raises(InvalidInputError, match="empty cells"):
        read_table(changed(path, {"xl/worksheets/sheet1.xml": sheet(wide)}))


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"\xd0\xcf\x11\xe0" + b"x" * 100, "password"),
        (b"id,x\n1,2\n", "damaged"),
        (b"PK\x03\x04 not really", "damaged"),
    ],
)
def test_what_is_no_workbook_is_refused(tmp_path, content, words):
    path = tmp_path / "b.xlsx"
    path.write_bytes(content)
    with pytest.raises(InvalidInputError, match=words):
        read_table(path)


def test_other_archives_and_damaged_workbooks_are_refused(tmp_path):
    other = tmp_path / "o.xlsx"
    with zipfile.ZipFile(other, "w") as archive:
        archive.writestr("a.txt", "hello")
    with pytest.raises(InvalidInputError, match="no workbook"):
        read_table(other)
    path = saved(tmp_path / "b.xlsx", [["x", "y"], [1, 2]])
    with pytest.raises(InvalidInputError, match="no sheet"):
        read_table(changed(path, {"xl/workbook.xml": '<?xml version="1.0"?><a/>'}))
    empty = saved(tmp_path / "e.xlsx", [])
    with pytest.raises(InvalidInputError, match="is empty"):
        read_table(empty)
