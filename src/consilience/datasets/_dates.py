"""Dates and times written as text, read as days of the calendar.

ISO 8601 first of all; then ``31.12.2024``, ``12/31/2024``, ``31 Dec 2024``, ``Dec 31, 2024``,
months (``2024-12``) and times of the day (``23:59``). All words of a column must be of one
form, and where days and months cannot be told apart nothing is guessed.
"""

import math
import re
from collections.abc import Callable, Sequence
from datetime import datetime, timedelta
from typing import NamedTuple

import numpy as np

from consilience.datasets._columns import Floats

__all__ = ["Days", "read_days"]


class Days(NamedTuple):
    """Days since 1970 of each word, or None where day and month cannot be told apart."""

    days: Floats | None


_EPOCH, _DAY = datetime(1970, 1, 1), timedelta(days=1)
_MONTHS = {
    name: month
    for month, names in enumerate(
        (
            ("jan", "january"),
            ("feb", "february"),
            ("mar", "march"),
            ("apr", "april"),
            ("may",),
            ("jun", "june"),
            ("jul", "july"),
            ("aug", "august"),
            ("sep", "sept", "september"),
            ("oct", "october"),
            ("nov", "november"),
            ("dec", "december"),
        ),
        1,
    )
    for name in names
}
_TIME = r"(?:[T ,]+(?P<time>\d{1,2}:\d{2}(?::\d{2}(?:\.\d+)?)?(?: ?[AaPp]\.?[Mm]\.?)?))?"
_CLOCK = re.compile(r"(\d{1,2}):(\d{2})(?::(\d{2}(?:\.\d+)?))?(?: ?([AaPp])\.?[Mm]\.?)?")
_YEAR_FIRST = re.compile(
    rf"(?P<y>\d{{4}})(?P<s>[-/.])(?P<m>\d{{1,2}})(?P=s)(?P<d>\d{{1,2}}){_TIME}"
)
_MONTH_ONLY = re.compile(r"(?P<y>\d{4})[-/](?P<m>\d{1,2})")
_YEAR_LAST = re.compile(
    rf"(?P<a>\d{{1,2}})(?P<s>[-/.])(?P<b>\d{{1,2}})(?P=s)(?P<y>\d{{4}}|\d{{2}}){_TIME}"
)
_NAMED = (
    re.compile(
        rf"(?P<d>\d{{1,2}})[-. ]+(?P<n>[A-Za-z]{{3,9}})[-., ]+(?P<y>\d{{4}}|\d{{2}}){_TIME}"
    ),
    re.compile(rf"(?P<n>[A-Za-z]{{3,9}})[-. ]+(?P<d>\d{{1,2}}),? +(?P<y>\d{{4}}){_TIME}"),
)


def read_days(words: Sequence[str]) -> Days | None:
    """Days of words that are all dates of one form, or None if they are not.

    >>> read_days(["1970-01-02", "1970-01-02T12:00"]).days.tolist()
    [1.0, 1.5]
    >>> read_days(["31/12/1969", "01/02/1970"]).days.tolist()
    [-1.0, 31.0]
    >>> read_days(["1/2/1970"]).days is None, read_days(["soon"]) is None
    (True, True)
    """
    if not words or not any(character.isdigit() for character in words[0]):
        return None
    forms: tuple[Callable[[str], float | None], ...] = (_iso, _year_first, _month, _clock, _named)
    for form in forms:
        if form(words[0]) is not None:
            days = [form(word) for word in words]
            if all(day is not None for day in days):
                return Days(np.array(days, np.float64))
    return _year_last(words)


def _iso(word: str) -> float | None:
    if not (len(word) >= 10 and word[4] == "-"):  # 20241231 is a number
        return None
    try:
        moment = datetime.fromisoformat(word)
    except ValueError:
        return None
    # As a difference: year 1, which some programs write for nothing, has no hour before it.
    ahead = moment.utcoffset() or timedelta()
    return (moment.replace(tzinfo=None) - _EPOCH - ahead) / _DAY


def _year_first(word: str) -> float | None:
    match = _YEAR_FIRST.fullmatch(word)
    return match and _days(match["y"], int(match["m"]), match["d"], match["time"])


def _month(word: str) -> float | None:
    match = _MONTH_ONLY.fullmatch(word)
    return match and _days(match["y"], int(match["m"]), "1", None)


def _clock(word: str) -> float | None:
    """Part of the day that has passed."""
    match = _CLOCK.fullmatch(word)
    if match is None:
        return None
    hours, minutes, seconds = int(match[1]), int(match[2]), float(match[3] or 0)
    if match[4]:
        if not 1 <= hours <= 12:
            return None
        hours = hours % 12 + 12 * (match[4] in "Pp")
    if hours > 24 or minutes > 59 or seconds >= 61:
        return None
    if hours == 24 and (minutes or seconds):  # the end of the day, and no later
        return None
    return (hours + minutes / 60 + seconds / 3600) / 24


def _named(word: str) -> float | None:
    for pattern in _NAMED:
        match = pattern.fullmatch(word)
        month = _MONTHS.get(match["n"].lower()) if match else None
        if match and month:
            return _days(match["y"], month, match["d"], match["time"])
    return None


def _year_last(words: Sequence[str]) -> Days | None:
    """Dates such as 31/12/2024; a number above 12 anywhere in the column tells the day."""
    matches = [_YEAR_LAST.fullmatch(word) for word in words]
    if not all(matches):
        return None
    parts = [match for match in matches if match]
    firsts, seconds = ([int(match[group]) for match in parts] for group in "ab")
    day_first = max(firsts) > 12 or parts[0]["s"] == "."
    if day_first == (max(seconds) > 12):  # neither may be a month, or both
        return None if day_first else Days(None)
    day, month = ("a", "b") if day_first else ("b", "a")
    days = [_days(m["y"], int(m[month]), m[day], m["time"]) for m in parts]
    if any(value is None for value in days):
        return None
    return Days(np.array(days, np.float64))


def _days(year: str, month: int, day: str, time: str | None) -> float | None:
    whole = int(year)
    if len(year) == 2:  # as POSIX reads them
        whole += 2000 if whole < 69 else 1900
    part = 0.0 if time is None else _clock(time)
    try:
        return None if part is None else (datetime(whole, month, int(day)) - _EPOCH).days + part
    except ValueError:
        return None


def as_text(days: float) -> str:
    """A day as ISO 8601 writes it, for messages.

    >>> as_text(1.5)
    '1970-01-02 12:00'
    """
    try:
        moment = _EPOCH + timedelta(days=days)
    except (OverflowError, ValueError):
        return f"day {days:g}"
    moment = moment.replace(microsecond=0)
    text = moment.isoformat(" ", "minutes" if moment.second == 0 else "seconds")
    return text.removesuffix(" 00:00") if math.floor(days) == days else text
