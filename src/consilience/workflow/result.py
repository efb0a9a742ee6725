"""What every job returns: what was found, how, and many views of it."""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar

from consilience._optional import optional
from consilience._validation import NoneValue, Satisfies, check_value
from consilience.workflow._data import Data
from consilience.workflow._faces import face
from consilience.workflow._html import as_html
from consilience.workflow._places import in_words

__all__ = ["Result"]

_TEXT = Satisfies(lambda value: isinstance(value, str), "a text")
_LINES = Satisfies(lambda value: isinstance(value, Mapping), "a mapping of names to texts")


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Result(ABC):
    """What a job found in its data.

    Attributes
    ----------
    data : Data
        The objects as they were used: scaled, with names, identifiers and known groups.
    seed : int
        ``random_state`` of a run that gives the same.
    notes : tuple of str
        Warnings on the way, in words.
    seconds : dict of str to float
        Time of each stage.
    ran_on : dict of str to str
        Where each stage ran: "cpu", or a torch device.
    """

    job: ClassVar[str]
    views: ClassVar[str]  # what to look at next, for whoever prints a result

    data: Data
    seed: int
    notes: tuple[str, ...]
    seconds: dict[str, float]
    ran_on: dict[str, str] = field(default_factory=dict)

    @property
    def ids(self) -> Any:
        """Identifier of each object; row numbers where there are none."""
        return self.data.identifiers()

    @property
    def n_objects(self) -> int:
        """Objects of the job."""
        return self.data.n_objects

    @abstractmethod
    def to_dict(self) -> dict[str, Any]:
        """All of it but what there is one of for each object, as values that JSON can hold."""

    @abstractmethod
    def to_pandas(self) -> Any:
        """A pandas frame, one row an object, with the index of the data."""

    @abstractmethod
    def headline(self) -> list[tuple[str, str]]:
        """What was found and how, as lines of a name and words."""

    @abstractmethod
    def rows(self) -> tuple[Sequence[str], Sequence[Sequence[str]]]:
        """The clusters or groups as a table: names of its columns, and its lines, as text."""

    def timings(self) -> dict[str, Any]:
        """All that differs between equal runs."""
        return {"seconds": self.seconds} | ({"ran_on": self.ran_on} if self.ran_on else {})

    def __repr__(self) -> str:
        notes = (("note", note) for note in self.notes)
        places = in_words(self.ran_on)
        where = [] if places is None else [("ran on", places)]
        lines = [*self.headline(), *where, *notes, ("see", self.views)]
        width = max(len(name) for name, _ in lines) + 2
        return "\n".join(
            [f"{type(self).__name__}:", *(f"  {name:<{width}}{words}" for name, words in lines)]
        )

    def _repr_html_(self) -> str:
        return as_html(type(self).__name__, self.headline(), *self.rows(), self.notes)

    def _frame(self, columns: Mapping[str, Any]) -> Any:
        """Columns as a pandas frame with the index of the data."""
        what = f"{type(self).__name__}.to_pandas"
        pandas = optional("pandas", extra=None, what=what)
        index = self.data.index
        if index is None and self.data.ids is not None:
            index = pandas.Index(self.data.ids, name="id")
        return pandas.DataFrame(dict(columns), index=index)

    def _about(self, **more: str) -> dict[str, str]:
        """What a report says was done."""
        name = f"{self.data.name}: " if self.data.name else ""
        return {"Data": f"{name}{self.data.in_words()}", **more, "Seed": str(self.seed)}


def check_page(title: Any, about: Any) -> None:
    """Raise `InvalidParameterError` unless a page has a title of text and lines of a mapping."""
    check_value("title", title, [_TEXT, NoneValue()], owner="page")
    check_value("about", about, [_LINES, NoneValue()], owner="page")


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Reported(Result):
    """A result that can be shown on a page."""

    @abstractmethod
    def page(
        self, *, title: str | None = None, about: Mapping[str, str] | None = None
    ) -> dict[str, Any]:
        """What the report says and shows, as values that JSON can hold.

        Parameters
        ----------
        title : str, optional
            By default the name of the data.
        about : mapping of str to str, optional
            More lines about what was done, or others in place of ours.
        """

    def report(self, path: str | Path, *, title: str | None = None, data: bool = True) -> None:
        """Write the report, one HTML page that needs nothing else.

        Parameters
        ----------
        path : str or path
            A file; one that is there is replaced.
        title : str, optional
            By default the name of the data.
        data : bool, default=True
            Whether the page holds objects: a table, a map, and what it can be explored by.
            Without, it has figures of groups only, for people who may not pass their data on.
        """
        page = self.page(title=title)
        if data:
            view = face("explore").report_data(self)
            face("report").write_report(page, path, view=view)
        else:
            face("report").write_report(face("report").without_objects(page), path)

    def explore(self, *, host: str = "127.0.0.1", port: int = 0, browser: bool = True) -> Any:
        """Look closer: another number of groups, what is special of some objects, and why.

        In a notebook (extra ``notebook``) this is a widget, whose ``selected`` are the rows that
        were last selected; it is the one by which the result shows itself there, so that
        ``result.explore().selected`` are the rows selected where it is shown. Anywhere else
        (extra ``explore``) a server on this machine shows the same in a browser.

        Parameters
        ----------
        host : str, default="127.0.0.1"
            Address of the server; by default nobody but this machine can ask it.
        port : int, default=0
            Its port; 0 takes one that is free.
        browser : bool, default=True
            Whether the browser is opened.

        Returns
        -------
        Explorer or Served
            The widget; or what has the ``url`` of the server, and ``stop()`` to end it.
        """
        return face("explore").explore(self, host=host, port=port, browser=browser)

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> Any:
        """In a notebook the explorer; None, and `_repr_html_`, where there is none."""
        return face("explore").shown(self)
