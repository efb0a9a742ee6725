"""Docstrings that are filled up: what is there stays, what is missing comes in its place."""

from consilience._docs import Entry, entries, filled, with_example

DOC = """Cut.

    Parameters
    ----------
    b, c : int
        Both.

    Notes
    -----
    None.
    """
MORE = [Entry(("a",), "str", ("    First.",)), Entry(("c", "d"), "", ("    See `cut`.",))]


def test_missing_entries_come_in_the_order_of_the_names():
    doc = filled(DOC, "Parameters", MORE, ["a", "b", "c", "d"])
    found = [(entry.names, entry.kind) for entry in entries(doc, "Parameters")]
    assert found == [(("a",), "str"), (("b", "c"), "int"), (("d",), "")]
    assert doc.endswith("Notes\n-----\nNone.")
    assert filled(doc, "Parameters", MORE, ["a", "b", "c", "d"]) == doc


def test_a_name_is_taken_from_the_first_that_says_it():
    twice = [Entry(("a",), "", ("    One.",)), Entry(("a",), "", ("    Two.",))]
    assert entries(filled("Cut.", "Parameters", twice, []), "Parameters") == twice[:1]


def test_a_section_that_is_missing_stands_in_its_place():
    doc = filled(DOC, "Attributes", [Entry(("x_",), "", ())], [])
    assert doc.index("Parameters") < doc.index("Attributes") < doc.index("Notes")
    doc = with_example(doc, ">>> 1\n1")
    assert doc.endswith("Examples\n--------\n>>> 1\n1")
    assert with_example(doc, ">>> 2\n2") == doc


def test_nothing_to_add_adds_no_section():
    assert filled("Cut.", "Attributes", [], []) == "Cut."
