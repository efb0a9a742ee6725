"""Rules for parameters: a table beside each class, one error format for all.

A class lists its rules as ``_constraints: ClassVar = {"linkage": [Options(...)]}`` and
calls `check_params` first thing in ``fit`` or ``generate``; a value passes if any rule
of its list accepts it. Functions call `check_value` for one parameter.

>>> check_value("linkage", "ward", [Options(("average", "single"))], owner="EAC")
Traceback (most recent call last):
...
consilience.errors.InvalidParameterError: The 'linkage' parameter of EAC must be one of 'average', \
'single'. Got 'ward' instead.
"""

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from consilience.errors import InvalidInputError, InvalidParameterError

__all__ = [
    "COUNT",
    "DEVICE",
    "MEMORY",
    "NOT_NEGATIVE",
    "NO_NUMBERS",
    "N_JOBS",
    "N_MEMBERS",
    "POSITIVE",
    "Boolean",
    "HasMethods",
    "Interval",
    "NoneValue",
    "Options",
    "RandomState",
    "Rule",
    "Satisfies",
    "as_array",
    "as_numbers",
    "check_jobs",
    "check_n_clusters",
    "check_params",
    "check_value",
    "memory_in_bytes",
    "positive_numbers",
    "shown",
]


#: What numpy raises for values that are no numbers, or whole numbers too large for a float.
NO_NUMBERS = (TypeError, ValueError, OverflowError)


class Rule(Protocol):
    """One way for a value to be right."""

    def accepts(self, value: Any) -> bool:
        """Whether the value keeps the rule."""

    def __str__(self) -> str:
        """The rule in words, to follow 'must be'."""


@dataclass(frozen=True)
class Interval:
    """A number of ``kind`` between ``low`` and ``high``, both included unless open."""

    kind: type
    low: float | None = None
    high: float | None = None
    open_low: bool = False

    def accepts(self, value: Any) -> bool:
        """Whether the value keeps the rule."""
        if isinstance(value, bool | np.bool_) or not isinstance(value, self.kind):
            return False
        return self._holds(value)

    def _holds(self, value: Any) -> bool:
        """Whether a number of the right kind is finite and between the ends."""
        if isinstance(value, np.generic):
            value = value.item()  # an end may be beyond the range of its type
        if not _is_finite(value):
            return False
        if self.low is not None and (value <= self.low if self.open_low else value < self.low):
            return False
        return self.high is None or value <= self.high

    def __str__(self) -> str:
        """The rule in words."""
        noun = "a whole number" if self.kind is Integral else "a number"
        if self.low is None and self.high is None:
            return noun
        low = "" if self.low is None else f"{'above' if self.open_low else 'at least'} {self.low:g}"
        high = "" if self.high is None else f"at most {self.high:g}"
        return f"{noun} {' and '.join(part for part in (low, high) if part)}"


def _is_finite(value: Any) -> bool:
    """Whether a number is finite; whole numbers beyond all floats count as infinite."""
    try:
        return math.isfinite(value)
    except OverflowError:
        return False


@dataclass(frozen=True)
class Options:
    """One of a few strings."""

    allowed: tuple[str, ...]

    def accepts(self, value: Any) -> bool:
        """Whether the value keeps the rule."""
        return isinstance(value, str) and value in self.allowed

    def __str__(self) -> str:
        """The rule in words."""
        return "one of " + ", ".join(repr(option) for option in self.allowed)


@dataclass(frozen=True)
class NoneValue:
    """None, where a parameter may be left out."""

    def accepts(self, value: Any) -> bool:
        """Whether the value keeps the rule."""
        return value is None

    def __str__(self) -> str:
        """The rule in words."""
        return "None"


@dataclass(frozen=True)
class Boolean:
    """True or False."""

    def accepts(self, value: Any) -> bool:
        """Whether the value keeps the rule."""
        return isinstance(value, bool | np.bool_)

    def __str__(self) -> str:
        """The rule in words."""
        return "True or False"


@dataclass(frozen=True)
class RandomState:
    """What scikit-learn takes as ``random_state``."""

    def accepts(self, value: Any) -> bool:
        """Whether the value keeps the rule."""
        if value is None or isinstance(value, np.random.RandomState):
            return True
        return Interval(Integral, 0, 2**32 - 1).accepts(value)

    def __str__(self) -> str:
        """The rule in words."""
        return "None, a whole number from 0 to 2**32 - 1, or a numpy RandomState"


@dataclass(frozen=True)
class HasMethods:
    """An object with the methods named, such as a generator or a clusterer."""

    methods: tuple[str, ...]
    noun: str

    def accepts(self, value: Any) -> bool:
        """Whether the value keeps the rule."""
        return not isinstance(value, type) and all(hasattr(value, m) for m in self.methods)

    def __str__(self) -> str:
        """The rule in words."""
        names = ", ".join(f"{name}()" for name in self.methods)
        return f"{self.noun} (an object with {names}, not a class)"


@dataclass(frozen=True)
class Satisfies:
    """Whatever a test accepts; ``words`` says what that is."""

    test: Callable[[Any], bool]
    words: str

    def accepts(self, value: Any) -> bool:
        """Whether the value keeps the rule."""
        return bool(self.test(value))

    def __str__(self) -> str:
        """The rule in words."""
        return self.words


def _floats(values: Any) -> NDArray[np.float64]:
    """Numbers as an array; one of `NO_NUMBERS` is raised for what numpy would only make one."""
    given = np.asarray(values)
    texts = given.dtype.kind == "O" and any(isinstance(one, str | bytes) for one in given.flat)
    # Texts, dates, and complex numbers, of which numpy would drop half with a warning.
    if texts or given.dtype.kind not in "biufO":
        raise TypeError
    return given.astype(np.float64, copy=False)


def _are_positive(value: Any) -> bool:
    try:
        values = _floats(value)
    except NO_NUMBERS:
        return False
    return bool(values.ndim == 1 and np.isfinite(values).all() and (values > 0).all())


def positive_numbers(each: str) -> Rule:
    """A list of positive numbers, one for each of what is named."""
    return Satisfies(_are_positive, f"one positive number for each {each}")


def _is_memory(value: Any) -> bool:
    try:
        memory_in_bytes(value, owner="")
    except InvalidParameterError:
        return False
    return True


COUNT: list[Rule] = [Interval(Integral, 1)]
NOT_NEGATIVE: list[Rule] = [Interval(Real, 0)]
POSITIVE: list[Rule] = [Interval(Real, 0, open_low=True)]
#: How two clusters are compared by a tree, and what counts for pairs that a member did not see.
LINKS: list[Rule] = [Options(("average", "complete", "single"))]
MISSING: list[Rule] = [Options(("pair", "all"))]
#: A budget, for `memory_in_bytes`.
MEMORY: list[Rule] = [Satisfies(_is_memory, "a number of bytes or a text such as '2 GiB'")]
#: Members of an ensemble: past a million they would not fit into any memory with their objects.
N_MEMBERS: Rule = Interval(Integral, 1, 1_000_000)
#: Threads or processes; joblib knows no meaning of 0.
N_JOBS: list[Rule] = [
    Satisfies(
        lambda value: Interval(Integral).accepts(value) and value != 0,
        "a whole number other than 0 (-1 takes all cores)",
    ),
    NoneValue(),
]
#: Where passes over the data run: None is the processor.
DEVICE: list[Rule] = [
    Satisfies(lambda value: isinstance(value, str), "the name of a torch device, such as 'cuda'"),
    NoneValue(),
]


def check_jobs(n_jobs: Any, *, owner: str) -> None:
    """Raise `InvalidParameterError` unless ``n_jobs`` is a number of workers, or None."""
    check_value("n_jobs", n_jobs, N_JOBS, owner=owner)


def check_value(name: str, value: Any, rules: Iterable[Rule], *, owner: str) -> None:
    """Raise `InvalidParameterError` unless one of the rules accepts the value."""
    rules = list(rules)
    if any(rule.accepts(value) for rule in rules):
        return
    raise InvalidParameterError(
        f"The {name!r} parameter of {owner} must be {' or '.join(map(str, rules))}. "
        f"Got {shown(value)} instead."
    )


def check_params(estimator: Any) -> None:
    """Check every constructor parameter of an estimator against its ``_constraints``."""
    values = estimator.get_params(deep=False)
    for name, rules in estimator._constraints.items():
        check_value(name, values[name], rules, owner=type(estimator).__name__)


def check_n_clusters(n_clusters: int, n_objects: int, *, owner: str) -> None:
    """Raise `InvalidParameterError` if more clusters are wanted than there are objects."""
    if n_clusters > n_objects:
        raise InvalidParameterError(
            f"The 'n_clusters' parameter of {owner} must be at most the number of objects, "
            f"n_samples={n_objects}. Got {n_clusters} instead."
        )


_UNITS = {"B": 1, "KB": 10**3, "MB": 10**6, "GB": 10**9, "TB": 10**12}
_UNITS |= {"KIB": 2**10, "MIB": 2**20, "GIB": 2**30, "TIB": 2**40}


def memory_in_bytes(value: float | str, *, owner: str, name: str = "max_memory") -> int:
    """Bytes of a memory budget given as a number of bytes or as text such as '2 GiB'.

    >>> memory_in_bytes("1.5 GiB", owner="EAC")
    1610612736
    """
    if isinstance(value, str):
        text = value.strip().upper()
        number = text.rstrip("KMGTIB ")
        unit = text[len(number) :].strip() or "B"
        try:
            amount = float(number) * _UNITS[unit]
        except (ValueError, KeyError):
            amount = float("nan")
        if np.isfinite(amount) and amount >= 1:
            return int(amount)
    elif Interval(Real, 1).accepts(value):
        return int(value)
    raise InvalidParameterError(
        f"The {name!r} parameter of {owner} must be a number of bytes or a text such as '2 GiB'. "
        f"Got {shown(value)} instead."
    )


def as_array(values: Any) -> NDArray[Any]:
    """What numpy makes of values, and of lists of different lengths a row of objects.

    Numpy refuses those with words of its own; as objects they are refused by whoever looks at the
    shape or the type, as everything else that is no row of numbers.

    >>> as_array([1, 2]).dtype.kind, as_array([[1], [2, 3]]).dtype.kind
    ('i', 'O')
    """
    try:
        return np.asarray(values)
    except ValueError:
        row = np.empty(len(values), object)
        for place, value in enumerate(values):
            row[place] = value
        return row


def as_numbers(
    name: str,
    values: Any,
    *,
    owner: str,
    shape: tuple[int | None, ...] | None = None,
    each: str = "",
) -> NDArray[np.float64]:
    """Finite numbers as an array, of this shape if one is given (None: any length).

    ``each`` says in a message what there is one number for.

    Raises `InvalidInputError` for anything else.

    >>> as_numbers("weights", [1, 2.5], owner="transfer_cut", shape=(2,))
    array([1. , 2.5])
    """
    try:
        numbers = _floats(values)
    except NO_NUMBERS:
        got = shown(values)
    else:
        if shape is not None and not _fits(numbers.shape, shape):
            got = f"an array of shape {numbers.shape}"
        elif not np.isfinite(numbers).all():
            got = "values that are not finite"
        else:
            return numbers
    wanted = "" if shape is None else f" of shape {shape}".replace("None", "any")
    if each:
        wanted += f", one for each {each}"
    raise InvalidInputError(f"{name} of {owner} must be finite numbers{wanted}. Got {got} instead.")


def _fits(shape: tuple[int, ...], wanted: tuple[int | None, ...]) -> bool:
    return len(shape) == len(wanted) and all(
        length is None or length == got for got, length in zip(shape, wanted, strict=True)
    )


def same_length(lengths: Sequence[int], *, what: str) -> None:
    """Raise `InvalidInputError` unless all lengths agree, naming the first that does not."""
    for position, length in enumerate(lengths):
        if length != lengths[0]:
            raise InvalidInputError(
                f"{what} must have the same length: number 0 has {lengths[0]} objects, "
                f"number {position} has {length}. Give every object a label in every member; "
                "mark objects a member never saw with None (or -2 among integers)."
            )


def shown(value: Any) -> str:
    """Short text of a value for an error message."""
    try:
        text = repr(value)
    except ValueError:  # Python writes no number of more than some thousand digits
        text = f"a value of type {type(value).__name__}"
    return text if len(text) <= 80 else text[:77] + "..."
