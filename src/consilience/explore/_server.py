"""The server behind ``consilience explore``: one view, one page, and answers to questions.

It reads no file and writes none: everything it can hand out is in the view. Nobody gets anything
without the token that is in the page's address, from another page, or by another name than this
machine's.
"""

import json
import re
from collections.abc import Awaitable, Callable
from hmac import compare_digest
from typing import Any

import numpy as np
from numpy.typing import NDArray

from consilience._optional import optional
from consilience.errors import ConsilienceError, InvalidParameterError
from consilience.explore._page import live_page, live_policy
from consilience.explore._questions import groups_inside, special, why
from consilience.explore._sent import sent, sent_column, sent_member
from consilience.explore._view import View, listed_columns

__all__ = ["application"]

_WHAT = "consilience explore"
_BINARY = "application/octet-stream"
_HEADERS = {
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "cross-origin-resource-policy": "same-origin",
    "cross-origin-opener-policy": "same-origin",
    "x-frame-options": "DENY",
    "cache-control": "no-store",
}
_PORT = re.compile(r":\d{1,5}\Z")

_Scope = dict[str, Any]
_Asgi = Callable[[_Scope, Any, Any], Awaitable[None]]


def application(view: View, token: str, hosts: frozenset[str]) -> Any:
    """A Starlette application that shows one view.

    Parameters
    ----------
    view : View
    token : str
        Whoever asks must know it.
    hosts : frozenset of str
        Values of the ``Host`` header that are answered, with their port.
    """
    applications = optional("starlette.applications", extra="explore", what=_WHAT)
    routing = optional("starlette.routing", extra="explore", what=_WHAT)
    answers = _Answers(view)
    routes = [
        routing.Route("/", answers.page, methods=["GET"]),
        routing.Route("/view", answers.view, methods=["GET"]),
        routing.Route("/column/{j:int}", answers.column, methods=["GET"]),
        routing.Route("/member/{j:int}", answers.member, methods=["GET"]),
        routing.Route("/why/{row:int}", answers.why, methods=["GET"]),
        routing.Route("/special", answers.special, methods=["POST"]),
        routing.Route("/inside", answers.inside, methods=["POST"]),
    ]
    return _Guard(applications.Starlette(routes=routes), token, hosts)


class _Guard:
    """Turns away whoever does not come from our own page, before anything is looked up."""

    def __init__(self, inner: _Asgi, token: str, hosts: frozenset[str]) -> None:
        self.inner, self.token, self.hosts = inner, token, hosts
        self.policy = live_policy()

    async def __call__(self, scope: _Scope, receive: Any, send: Any) -> None:
        if scope["type"] != "http":  # no sockets, nothing at start or end
            return
        refusal = self._refusal(scope)

        async def guarded(message: dict[str, Any]) -> None:
            if message["type"] == "http.response.start":
                extra = {**_HEADERS, "content-security-policy": self.policy}
                fields = [(name.encode(), value.encode()) for name, value in extra.items()]
                message = {**message, "headers": [*message.get("headers", ()), *fields]}
            await send(message)

        if refusal is None:
            await self.inner(scope, receive, guarded)
        else:
            responses = optional("starlette.responses", extra="explore", what=_WHAT)
            await responses.PlainTextResponse(refusal, 403)(scope, receive, guarded)

    def _refusal(self, scope: _Scope) -> str | None:
        """Why a request is not answered, without a word on what would be."""
        headers = [
            (name.decode("latin-1"), value.decode("latin-1")) for name, value in scope["headers"]
        ]
        named = [value for name, value in headers if name == "host"]
        if len(named) != 1 or named[0].lower() not in self.hosts:
            return "This address is not served here."
        origins = [value for name, value in headers if name == "origin"]
        if any(origin.lower() != f"http://{named[0].lower()}" for origin in origins):
            return "Other pages are not answered."
        sites = [value for name, value in headers if name == "sec-fetch-site"]
        if any(site not in ("same-origin", "none") for site in sites):
            return "Other pages are not answered."
        given = [value for name, value in headers if name == "x-consilience-token"]
        token = given[0] if given else _token_of(scope)
        if not compare_digest(token.encode(), self.token.encode()):
            return "The address is not complete: take the one that was printed, with its token."
        return None


def _token_of(scope: _Scope) -> str:
    """The token in the address; only the page itself is asked for so."""
    datastructures = optional("starlette.datastructures", extra="explore", what=_WHAT)
    if scope["path"] != "/":
        return ""
    return str(datastructures.QueryParams(scope["query_string"]).get("token", ""))


class _Answers:
    """One method a route."""

    def __init__(self, view: View) -> None:
        self.shown = view
        self.responses = optional("starlette.responses", extra="explore", what=_WHAT)
        self._sent: bytes | None = None

    async def page(self, request: Any) -> Any:
        return self.responses.HTMLResponse(live_page(self.shown.title))

    async def view(self, request: Any) -> Any:
        if self._sent is None:
            self._sent = sent(self.shown)
        return self._bytes(self._sent)

    async def column(self, request: Any) -> Any:
        j = request.path_params["j"]
        if j >= len(listed_columns(self.shown.columns)):
            return self._refused(f"There is no column {j}.", 404)
        return self._bytes(sent_column(self.shown, j))

    async def member(self, request: Any) -> Any:
        j, ensemble = request.path_params["j"], self.shown.ensemble
        if ensemble is None or j >= ensemble.n_members:
            return self._refused(f"There is no member {j}.", 404)
        return self._bytes(sent_member(self.shown, j))

    async def why(self, request: Any) -> Any:
        return self._said(lambda: why(self.shown, request.path_params["row"], self._cut(request)))

    async def special(self, request: Any) -> Any:
        rows = await self._rows(request)
        if rows is None:
            return self._refused("The selection has more objects than there are.", 413)
        return self._said(lambda: special(self.shown, rows))

    async def inside(self, request: Any) -> Any:
        rows = await self._rows(request)
        if rows is None:
            return self._refused("The selection has more objects than there are.", 413)
        return self._said(lambda: groups_inside(self.shown, rows, self._cut(request)))

    def _cut(self, request: Any) -> int | None:
        """The number of groups that a question is about."""
        text, cuts = request.query_params.get("k", ""), self.shown.cuts
        if not text:
            return None
        if not (text.isascii() and text.isdigit() and len(text) < 6):
            raise InvalidParameterError(f"'k' must be a number of groups. Got {text!r} instead.")
        if not cuts.least <= int(text) <= cuts.most:
            raise InvalidParameterError(
                f"'k' must be from {cuts.least} to {cuts.most}. Got {text} instead."
            )
        return int(text)

    async def _rows(self, request: Any) -> NDArray[np.uint32] | None:
        """Row numbers of four bytes each; None if there are more than objects."""
        parts, length = [], 0
        async for part in request.stream():
            length += len(part)
            if length > 4 * self.shown.n_objects:
                return None
            parts.append(part)
        data = b"".join(parts)
        return np.frombuffer(data[: len(data) // 4 * 4], "<u4")

    def _said(self, answer: Callable[[], Any]) -> Any:
        try:
            text = json.dumps(answer(), allow_nan=False)
        except ConsilienceError as error:
            return self._refused(str(error), 400)
        return self.responses.Response(text, media_type="application/json")

    def _bytes(self, data: bytes) -> Any:
        return self.responses.Response(data, media_type=_BINARY)

    def _refused(self, words: str, status: int) -> Any:
        return self.responses.PlainTextResponse(words, status)
