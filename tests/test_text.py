"""Words: what is cut where, and what no terminal or file can hold."""

import io

import pytest

from consilience import _text, _validation, _words


@pytest.mark.parametrize(
    ("shown", "most", "end"), [(_words.shown, 40, "'"), (_validation.shown, 80, "")]
)
def test_values_are_cut_where_they_are_longer_than_a_message_may_show(shown, most, end):
    whole = "x" * (most - 2)  # with its quotes as long as may be
    assert shown(whole) == repr(whole)
    cut = shown(whole + "x")
    assert len(cut) == most
    assert cut == "'" + "x" * (most - 4 - len(end)) + "..." + end


def test_lists_are_cut_where_they_are_longer_than_ten():
    assert _words.listed("abcdefghij") == "a, b, c, d, e, f, g, h, i and j"
    assert _words.listed("abcdefghijk") == "a, b, c, d, e, f, g, h, i, j and 1 more"
    assert _words.listed("ab", last="or", most=2) == "a or b"
    assert _words.listed("abc", last="or", most=2) == "a, b and 1 more"


def test_bytes_that_are_no_text_are_written_by_their_numbers():
    """They are carried as U+DC80 to U+DCFF; other halves of letters are no bytes."""
    for letter, wanted in (
        ("\udc7f", r"\udc7f"),
        ("\udc80", r"\x80"),
        ("\udcff", r"\xff"),
        ("\udd00", r"\udd00"),
        ("\ud800", r"\ud800"),
        ("\udfff", r"\udfff"),
        ("\ue000", "\ue000"),
    ):
        assert _text.readable(letter) == wanted
        assert _text.readable({letter: (letter, [letter, 1])}) == {wanted: [wanted, [wanted, 1]]}


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("e\u0301", "e"),  # a mark of its own
        ("é", "e"),
        ("≠", "!="),
        ("=\u0338", "=?"),
        ("漢", "?"),
        ("½", "1/2"),
        ("±≤≥", "+/-<=>="),
        ("a\udce9b", r"a\xe9b"),
    ],
)
def test_a_terminal_without_a_letter_shows_the_nearest_and_never_the_opposite(text, wanted):
    stream = io.TextIOWrapper(io.BytesIO(), encoding="ascii", errors="strict")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("sys.stdout", stream)
        with _text.any_terminal():
            print(text, end="", flush=True)
    assert stream.buffer.getvalue().decode("ascii") == wanted
    assert stream.errors == "strict"
