"""Words for sentences: lists, numbers with their nouns, values as messages show them."""

from collections.abc import Iterable

__all__ = ["listed", "percent", "plural", "shown"]


def listed(items: Iterable[object], last: str = "and", most: int = 10) -> str:
    """Items as a sentence would list them, the end of a long list only counted.

    >>> listed(["'a'", "'b'", "'c'"])
    "'a', 'b' and 'c'"
    >>> listed("abcd", most=2)
    'a, b and 2 more'
    """
    texts = [str(item) for item in items]
    if len(texts) > most:
        return f"{', '.join(texts[:most])} and {len(texts) - most} more"
    return f" {last} ".join(part for part in (", ".join(texts[:-1]), *texts[-1:]) if part)


def plural(count: int, noun: str, many: str | None = None) -> str:
    """A number with its noun.

    >>> plural(1, "row"), plural(2, "row"), plural(2, "category", "categories")
    ('1 row', '2 rows', '2 categories')
    """
    return f"{count} {noun if count == 1 else many or noun + 's'}"


def percent(share: float) -> str:
    """A share in whole percent, which is 0% or 100% only where it is nothing or all.

    >>> percent(0), percent(1 / 300), percent(0.337), percent(299 / 300), percent(1)
    ('0%', 'under 1%', '34%', 'over 99%', '100%')
    """
    if 0 < share < 0.01:
        return "under 1%"
    return "over 99%" if 0.99 < share < 1 else f"{share:.0%}"


def shown(value: object, most: int = 40) -> str:
    """A value as an error message shows it."""
    text = repr(value)
    return text if len(text) <= most else text[: most - 4] + "..." + text[-1]
