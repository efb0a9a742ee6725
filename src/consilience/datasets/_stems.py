"""Stems of English words by Porter's rules, written from their published definition.

Letters are consonants (c) or vowels (v): a, e, i, o, u, and a y that follows a consonant. The
*measure* of a stem is how often a vowel is followed by a consonant in it; most rules take an
ending off only where what remains has measure enough to be a word.
"""

from collections.abc import Mapping

from consilience._validation import Options, check_value

__all__ = ["stem"]

_VARIANTS = ("author", "1980")

_STEP_1A = {"sses": "ss", "ies": "i", "ss": "ss", "s": ""}
_STEP_2 = {
    "ational": "ate",
    "tional": "tion",
    "enci": "ence",
    "anci": "ance",
    "izer": "ize",
    "alli": "al",
    "entli": "ent",
    "eli": "e",
    "ousli": "ous",
    "ization": "ize",
    "ation": "ate",
    "ator": "ate",
    "alism": "al",
    "iveness": "ive",
    "fulness": "ful",
    "ousness": "ous",
    "aliti": "al",
    "iviti": "ive",
    "biliti": "ble",
}
_STEP_2_OF = {
    "1980": {**_STEP_2, "abli": "able"},
    # The author's own program has these two instead: assembly -> assembl, apology -> apolog.
    "author": {**_STEP_2, "bli": "ble", "logi": "log"},
}
_STEP_3 = {
    "icate": "ic",
    "ative": "",  # codespell:ignore ative
    "alize": "al",
    "iciti": "ic",
    "ical": "ic",
    "ful": "",
    "ness": "",
}
_REMOVED = (
    "al ance ence er ic able ible ant ement ment ent "  # codespell:ignore ment
    "ion ou ism ate iti ous ive ize"
)
_STEP_4 = dict.fromkeys(_REMOVED.split(), "")


def stem(word: str, *, rules: str = "author") -> str:
    """The stem of a lower-case English word; what words of one family share.

    Parameters
    ----------
    word : str
        In lower case. Anything but the letters a to z counts as a consonant.
    rules : {"author", "1980"}, default="author"
        The rules of the author's own program and published vocabulary (words of one or two
        letters stay as they are, ``-bli`` becomes ``-ble``, ``-logi`` becomes ``-log``), or
        those printed in 1980 to the letter.

    Returns
    -------
    str
        Not always a word. Longer than ``word`` never; empty only if ``word`` is, or for the
        word "s" by the rules of 1980.

    References
    ----------
    Porter (1980), An algorithm for suffix stripping, Program 14(3).

    Examples
    --------
    >>> [stem(word) for word in ("connected", "connecting", "connection", "connections")]
    ['connect', 'connect', 'connect', 'connect']
    >>> stem("archaeology"), stem("archaeology", rules="1980")
    ('archaeolog', 'archaeologi')
    """
    check_value("rules", rules, [Options(_VARIANTS)], owner="stem")
    if rules == "author" and len(word) <= 2:
        return word
    word = _replace(word, _STEP_1A, None)
    word = _step_1b(word)
    if word.endswith("y") and "v" in _form(word[:-1]):  # step 1c
        word = word[:-1] + "i"
    word = _replace(word, _STEP_2_OF[rules], 0)
    word = _replace(word, _STEP_3, 0)
    word = _replace(word, _STEP_4, 1)
    return _step_5(word)


def _form(word: str) -> str:
    """A letter c or v for every letter of the word."""
    form = ""
    for letter in word:
        vowel = letter in "aeiou" or (letter == "y" and form[-1:] == "c")
        form += "v" if vowel else "c"
    return form


def _measure(word: str) -> int:
    return _form(word).count("vc")


def _ends_double(word: str) -> bool:
    return len(word) > 1 and word[-1] == word[-2] and _form(word)[-1] == "c"


def _ends_short(word: str) -> bool:
    """Whether it ends consonant, vowel, consonant, the last not w, x or y."""
    return _form(word).endswith("cvc") and word[-1] not in "wxy"


def _replace(word: str, endings: Mapping[str, str], above: int | None) -> str:
    """Replace the longest ending that fits, where the measure before it is large enough.

    If it is not, no shorter ending is tried.
    """
    for length in range(min(len(word), max(map(len, endings))), 0, -1):
        ending = word[-length:]
        if ending in endings:
            before = word[:-length]
            if above is not None and _measure(before) <= above:
                return word
            if ending == "ion" and before[-1:] not in ("s", "t"):
                return word
            return before + endings[ending]
    return word


def _step_1b(word: str) -> str:
    """-eed, -ed and -ing, and the e or the single letter that must come back after them."""
    if word.endswith("eed"):
        return word[:-1] if _measure(word[:-3]) > 0 else word
    ending = next((e for e in ("ed", "ing") if word.endswith(e)), "")
    before = word.removesuffix(ending)
    if not ending or "v" not in _form(before):
        return word
    if before.endswith(("at", "bl", "iz")):
        return before + "e"
    if _ends_double(before) and before[-1] not in "lsz":
        return before[:-1]
    if _measure(before) == 1 and _ends_short(before):
        return before + "e"
    return before


def _step_5(word: str) -> str:
    """A last e, and the second of two l, where the word is long enough without."""
    if word.endswith("e"):
        before = word[:-1]
        measure = _measure(before)
        if measure > 1 or (measure == 1 and not _ends_short(before)):
            word = before
    if word.endswith("ll") and _measure(word) > 1:
        word = word[:-1]
    return word
