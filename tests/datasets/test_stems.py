"""Porter's stems: the examples printed with the rules, step by step, and what always holds."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from consilience.datasets import _stems
from consilience.datasets._stems import stem
from consilience.errors import InvalidParameterError

# The examples of the paper, as "word result" pairs under the rule they stand beside there.
STEP_1A = "caresses caress ponies poni ties ti caress caress cats cat"
STEP_1B = """feed feed agreed agree plastered plaster bled bled motoring motor sing sing
    conflated conflate troubled trouble sized size hopping hop tanned tan falling fall
    hissing hiss fizzed fizz failing fail filing file"""
STEP_2 = """relational relate conditional condition rational rational valenci valence
    hesitanci hesitance digitizer digitize conformabli conformable radicalli radical
    differentli different vileli vile analogousli analogous vietnamization vietnamize
    predication predicate operator operate feudalism feudal decisiveness decisive
    hopefulness hopeful callousness callous formaliti formal sensitiviti sensitive
    sensibiliti sensible"""
STEP_3 = """triplicate triplic formative form formalize formal electriciti electric
    electrical electric hopeful hope goodness good"""
STEP_4 = (
    "revival reviv allowance allow inference infer airliner airlin gyroscopic gyroscop "
    "adjustable adjust defensible defens irritant irrit replacement replac adjustment adjust "
    "dependent depend adoption adopt homologou homolog "
    "communism commun activate activ "  # codespell:ignore commun,activ
    "angulariti angular homologous homolog effective effect bowdlerize bowdler"
)
STEP_5 = "probate probat rate rate cease ceas controll control roll roll"  # codespell:ignore

STEPS = {
    "1a": (STEP_1A, lambda word: _stems._replace(word, _stems._STEP_1A, None)),
    "1b": (STEP_1B, _stems._step_1b),
    "2, 1980": (STEP_2, lambda word: _stems._replace(word, _stems._STEP_2_OF["1980"], 0)),
    "2, author": (STEP_2, lambda word: _stems._replace(word, _stems._STEP_2_OF["author"], 0)),
    "3": (STEP_3, lambda word: _stems._replace(word, _stems._STEP_3, 0)),
    "4": (STEP_4, lambda word: _stems._replace(word, _stems._STEP_4, 1)),
    "5": (STEP_5, _stems._step_5),
}


def examples():
    for name, (text, step) in STEPS.items():
        words = text.split()
        for word, result in zip(words[::2], words[1::2], strict=True):
            yield pytest.param(step, word, result, id=f"{name}: {word}")


@pytest.mark.parametrize(("step", "word", "result"), list(examples()))
def test_each_rule_does_what_its_example_says(step, word, result):
    assert step(word) == result


@pytest.mark.parametrize(
    ("measure", "words"),
    [
        (0, "tr ee tree y by"),
        (1, "trouble oats trees ivy"),
        (2, "troubles private oaten orrery"),
    ],
)
def test_measures_of_the_paper(measure, words):
    assert {_stems._measure(word) for word in words.split()} == {measure}


@pytest.mark.parametrize(
    ("word", "result"),
    [
        ("happy", "happi"),
        ("sky", "sky"),
        ("generalizations", "gener"),
        ("oscillators", "oscil"),
        ("relate", "relat"),
        ("relativity", "rel"),
        ("syzygy", "syzygi"),
        ("toy", "toi"),  # codespell:ignore toi
        ("yes", "ye"),
        ("string", "string"),
        ("hopefully", "hopefulli"),
        ("agreed", "agre"),  # codespell:ignore agre
        ("ion", "ion"),
        ("s", "s"),
        ("", ""),
    ],
)
def test_all_steps_in_a_row(word, result):
    assert stem(word) == result


@pytest.mark.parametrize(
    ("word", "author", "printed"),
    [
        ("apology", "apolog", "apologi"),
        ("assembly", "assembl", "assembli"),
        ("possibly", "possibl", "possibli"),
        ("is", "is", "i"),
        ("by", "by", "by"),
        ("s", "s", ""),
    ],
)
def test_the_authors_program_differs_from_the_printed_rules(word, author, printed):
    assert (stem(word), stem(word, rules="1980")) == (author, printed)


@pytest.mark.parametrize(
    "family",
    [
        "connect connected connecting connection connections",
        "compute computes computed computing computer computers computation computational",
        "hope hopes hoped hoping hopeful hopefulness",
    ],
)
def test_a_family_shares_one_stem(family):
    assert len({stem(word) for word in family.split()}) == 1


ENDINGS = sorted({*_stems._STEP_1A, *_stems._STEP_2_OF["author"], *_stems._STEP_3})
ENDINGS += sorted({*_stems._STEP_4, "eed", "ed", "ing", "y", "e", "ll", "abli"})
letters = st.text("aeioybclstz", max_size=6)
words = st.builds("".join, st.tuples(letters, st.sampled_from(ENDINGS), st.sampled_from(ENDINGS)))
anything = words | st.text(st.characters(categories=("Ll", "Nd")), max_size=12)


@given(word=anything, rules=st.sampled_from(("author", "1980")))
def test_a_stem_is_never_longer_and_begins_like_its_word(word, rules):
    found = stem(word, rules=rules)
    assert len(found) <= len(word)
    # Only the last letter can differ: y becomes i, and an e comes back after -ed and -ing.
    assert found == word[: len(found)] or found[:-1] == word[: len(found) - 1]
    assert found or not word or (word, rules) == ("s", "1980")


def measure_by_definition(word):
    """The paper's [C](VC){m}[V], read from runs of consonants and vowels."""
    kinds = ""
    for i, letter in enumerate(word):
        is_vowel = letter in "aeiou" or (letter == "y" and i > 0 and kinds[i - 1] == "c")
        kinds += "v" if is_vowel else "c"
    runs = re.sub(r"c+", "C", re.sub(r"v+", "V", kinds))
    return len(re.fullmatch(r"C?((?:VC)*)V?", runs)[1]) // 2


@given(st.text("aeiouyybcdst", max_size=12))
def test_the_measure_is_its_definition(word):
    assert _stems._measure(word) == measure_by_definition(word)


@given(words)
def test_each_step_takes_only_its_longest_ending(word):
    """Where the longest ending that fits has too small a measure before it, the word stays."""
    for endings, above in ((_stems._STEP_2_OF["author"], 0), (_stems._STEP_3, 0)):
        fitting = [ending for ending in endings if word.endswith(ending)]
        found = _stems._replace(word, endings, above)
        if not fitting:
            assert found == word
            continue
        longest = max(fitting, key=len)
        before = word.removesuffix(longest)
        large = measure_by_definition(before) > above
        assert found == (before + endings[longest] if large else word)


def test_unknown_rules_are_named():
    with pytest.raises(InvalidParameterError, match=r"'rules' parameter of stem .* 'porter2'"):
        stem("word", rules="porter2")


def test_a_short_end_is_not_w_x_or_y():
    from consilience.datasets._stems import _ends_short

    words = ("hop", "snow", "box", "tray", "fail", "syl")
    assert [word for word in words if _ends_short(word)] == ["hop", "syl"]
