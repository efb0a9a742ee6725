"""Start the explorer's server: on this machine alone unless told otherwise."""

import secrets
import socket
import threading
import time
from contextlib import suppress
from dataclasses import dataclass, field
from ipaddress import ip_address
from typing import Any

from consilience._optional import optional
from consilience.errors import InvalidParameterError
from consilience.explore._server import application
from consilience.explore._view import View

__all__ = ["Served", "serve"]

_WHAT = "consilience explore"
_LOOPBACK = "127.0.0.1"
_PATIENCE = 30.0


@dataclass(eq=False)
class Served:
    """A view that a server shows.

    Attributes
    ----------
    url : str
        Where to look; its token lets whoever knows it in.
    """

    url: str
    _server: Any = field(repr=False)
    _thread: threading.Thread = field(repr=False)

    def wait(self) -> None:
        """Until the server ends."""
        while self._thread.is_alive():
            self._thread.join(0.5)

    def stop(self) -> None:
        """End it."""
        self._server.should_exit = True
        self._thread.join(_PATIENCE)


def serve(view: View, *, host: str = _LOOPBACK, port: int = 0) -> Served:
    """Show a view by a server of its own.

    Parameters
    ----------
    view : View
    host : str, default="127.0.0.1"
        Address to listen at. By default only this machine can ask; any other address lets in
        whoever can reach it and knows the token.
    port : int, default=0
        0 takes one that is free.

    Returns
    -------
    Served
        ``url`` to open, ``stop()`` to end it.

    Raises
    ------
    InvalidParameterError
        If the port is taken, or the address is not one of this machine.
    MissingPackageError
        If starlette or uvicorn are not installed (extra ``explore``).
    """
    uvicorn = optional("uvicorn", extra="explore", what=_WHAT)
    listening = _bound(host, port)
    port = listening.getsockname()[1]
    token = secrets.token_urlsafe(24)
    shown = application(view, token, _hosts(host, port))
    config = uvicorn.Config(
        shown,
        log_level="warning",
        access_log=False,
        lifespan="off",
        server_header=False,
        date_header=False,
        timeout_graceful_shutdown=1,
    )
    server = uvicorn.Server(config)
    thread = threading.Thread(
        target=server.run, kwargs={"sockets": [listening]}, name="consilience-explore", daemon=True
    )
    thread.start()
    until = time.monotonic() + _PATIENCE
    while not server.started and thread.is_alive() and time.monotonic() < until:
        time.sleep(0.01)
    named = socket.gethostname() if _is_any(host) else host
    shown_host = f"[{named}]" if ":" in named else named
    return Served(f"http://{shown_host}:{port}/?token={token}", server, thread)


def _bound(host: str, port: int) -> socket.socket:
    if not 0 <= port <= 65535:
        raise InvalidParameterError(
            f"The 'port' must be from 0 (any that is free) to 65535. Got {port} instead."
        )
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listening = socket.socket(family, socket.SOCK_STREAM)
    try:
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.bind((host, port))
        listening.listen(64)
    except OSError as error:
        listening.close()
        raise InvalidParameterError(
            f"The explorer cannot listen at {host}, port {port}: {error.strerror or error}. Name "
            "another port with --port, or none, which takes one that is free."
        ) from error
    return listening


def _is_any(host: str) -> bool:
    """Whether it listens at every address that the machine has."""
    return host in ("0.0.0.0", "::")


def _hosts(host: str, port: int) -> frozenset[str]:
    """Names by which a browser on this machine, or at the address asked for, may call us."""
    names = {host}
    try:
        loopback = ip_address(host).is_loopback
    except ValueError:
        loopback = host == "localhost"
    if loopback or _is_any(host):
        names |= {"127.0.0.1", "localhost", "::1"}
    if _is_any(host):
        own = socket.gethostname()
        with suppress(OSError):
            names |= {str(address[4][0]) for address in socket.getaddrinfo(own, None)}
        names.add(own)
    shown = {(f"[{name}]" if ":" in name else name).lower() for name in names}
    # A browser leaves out the port that an address has by itself.
    return frozenset(f"{name}:{port}" for name in shown) | (shown if port == 80 else frozenset())
