"""Listen addresses: loopback without a token, other addresses only with a token."""

from __future__ import annotations

import errno
import socket
from collections.abc import Iterable
from typing import NamedTuple

from assay.errors import UsageError
from assay.resources.loopback import is_loopback
from assay.web.guards import ANY_HOST

LOOPBACK_NAMES = frozenset({"localhost", "127.0.0.1", "::1"})
TOKEN_CHARS = 16
"""Off loopback a token has at least this many characters."""
BACKLOG = 2048


class ListenAddress(NamedTuple):
    """Host, port and access token of a server."""

    host: str
    port: int
    """0 for any that is free."""
    token: str | None

    @property
    def url(self) -> str:
        """URL that a client on this machine calls."""
        name = {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(self.host, self.host)  # noqa: S104
        return f"http://{f'[{name}]' if ':' in name else name}:{self.port}"


def fits_header(token: str) -> bool:
    """Whether the token fits into an `Authorization: Bearer …` header."""
    return token.isascii() and token.isprintable() and " " not in token


def check_address(host: str, port: int, token: str | None) -> ListenAddress:
    """Check a listen address; raise `UsageError` if it is invalid or needs a better token."""
    if not 0 <= port <= 65535:
        raise UsageError(f"port {port!r} is not between 0 and 65535")
    if token is not None and not fits_header(token):
        raise UsageError(
            "the token has characters that an HTTP header cannot hold; use letters and digits"
        )
    if not is_loopback(host):
        if not token:
            raise UsageError(
                f"{host!r} is reachable from the network, so a token is needed: set ASSAY_TOKEN "
                "(for example to the output of `openssl rand -hex 24`), or listen on 127.0.0.1"
            )
        if len(token) < TOKEN_CHARS:
            raise UsageError(
                f"{host!r} is reachable from the network, and the token has only {len(token)} "
                f"characters; use at least {TOKEN_CHARS} (`openssl rand -hex 24` makes a token)"
            )
    return ListenAddress(host.strip("[]"), port, token or None)


def allowed_hosts(host: str, names: Iterable[str] = ()) -> frozenset[str]:
    """Return the names that a Host header may contain.

    Off loopback the token protects the server, and its names are not known here (a service name, a
    proxy), so any is allowed unless `names` says which.
    """
    further = frozenset(name.lower() for name in names)
    if not further and not is_loopback(host):
        return frozenset({ANY_HOST})
    return LOOPBACK_NAMES | further | {host.strip("[]").lower()}


def listen(address: ListenAddress) -> tuple[socket.socket, ListenAddress]:
    """Open a socket and return its address; raise `UsageError` on failure."""
    try:
        addresses = socket.getaddrinfo(
            address.host, address.port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )
    except (socket.gaierror, UnicodeError) as error:
        raise UsageError(f"{address.host!r} is not an address of this machine: {error}") from error
    family, kind, protocol, _, place = addresses[0]
    listening = socket.socket(family, kind, protocol)
    try:
        # A port whose last server has just ended is free; one that is listened on is not.
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.bind(place)
        listening.listen(BACKLOG)
    except OSError as error:
        listening.close()
        raise UsageError(_problem(address, error)) from error
    return listening, address._replace(port=listening.getsockname()[1])


def _problem(address: ListenAddress, error: OSError) -> str:
    if error.errno == errno.EADDRINUSE:
        return (
            f"port {address.port} of {address.host} is taken; choose another with --port, "
            "or --port 0 for any that is free"
        )
    return f"cannot listen on {address.host} port {address.port}: {error.strerror or error}"
