"""A proxy for an agent's browser that reaches only the addresses that the benchmark allows.

A name can resolve to another machine a moment later, so each host is resolved once, here, and
only an address that passed the policy is connected to.
"""

from __future__ import annotations

import asyncio
import base64
import socket
from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv6Address, ip_address, ip_network
from typing import Final, TypeAlias
from urllib.parse import SplitResult, unquote, urlsplit
from urllib.request import getproxies_environment, proxy_bypass

from assay.errors import BadParameter

Address: TypeAlias = IPv4Address | IPv6Address

ANYWHERE: Final = "*"
"""In a list of allowed addresses: all of them."""
HEAD_BYTES: Final = 256 * 1024
PIECE_BYTES: Final = 64 * 1024
CONNECT_S: Final = 30.0
PORTS: Final = {"http": 80, "https": 443, "ws": 80, "wss": 443}
_NAT64: Final = ip_network("64:ff9b::/96")
_LOCAL: Final = (ip_network("64:ff9b:1::/48"), ip_network("fec0::/10"))
"""Of one network, which not every Python knows: its own NAT64, and the old site-local addresses."""
_OWN_HEADERS: Final = (
    b"proxy-connection:", b"proxy-authorization:", b"connection:", b"keep-alive:"
)  # fmt: skip


class AddressRefused(Exception):
    """The policy forbids the agent to reach the address."""


@dataclass(frozen=True, slots=True)
class AddressPolicy:
    """The private addresses that an agent's browser may reach."""

    allowed: frozenset[str] = frozenset()
    """`host`, `host:port`, an address, a network such as `10.0.0.0/8`, or `*`; in lower case."""

    @classmethod
    def of(cls, allowed: Iterable[str]) -> AddressPolicy:
        """Read a policy; raise `BadParameter` for an entry that is not a host, port or network."""
        entries = frozenset(str(entry).strip().lower() for entry in allowed)
        for entry in entries:
            if not entry or "://" in entry or " " in entry:
                raise BadParameter(
                    f"allow: {entry!r} is not a host, host:port or network; write it like "
                    "'localhost:3000', '10.0.0.0/8' or 'shop.lab'"
                )
        return cls(entries)

    async def resolve(self, host: str, port: int) -> list[str]:
        """Resolve a host to its permitted addresses; raise `AddressRefused` if there is none."""
        name = host.lower().rstrip(".")
        # A browser takes every name below `localhost` for it, which a resolver may not.
        host_known = "localhost" if f".{name}".endswith(".localhost") else host
        entries = await asyncio.get_running_loop().getaddrinfo(
            host_known, port, type=socket.SOCK_STREAM, proto=socket.IPPROTO_TCP
        )
        addresses = list(dict.fromkeys(str(entry[4][0]) for entry in entries))
        permitted = [text for text in addresses if self._permits(host, port, text)]
        if not permitted:
            raise AddressRefused(
                f"{host}:{port} is in a private network, or on this machine, and the benchmark "
                "does not allow it"
            )
        return permitted

    def _permits(self, host: str, port: int, text: str) -> bool:
        name, address = host.lower().rstrip(".").strip("[]"), _address(text)
        names = {ANYWHERE, name, f"{name}:{port}", str(address), f"{address}:{port}"}
        if is_public(address) or not self.allowed.isdisjoint(names):
            return True
        return any(address in network for network in map(_network, self.allowed) if network)


def _address(text: str) -> Address:
    """Parse a resolver's address, without the network interface after `%`."""
    return unwrapped(ip_address(text.partition("%")[0]))


def _network(entry: str) -> list[Address] | None:
    """The network that an entry names; `None` if the entry is not a network."""
    with suppress(ValueError):
        if "/" in entry:
            return ip_network(entry, strict=False)  # type: ignore[return-value]  # asked with `in`
    return None


def unwrapped(address: Address) -> Address:
    """The IPv4 address inside an IPv6 address, or else the address itself."""
    if isinstance(address, IPv4Address):
        return address
    inner = address.ipv4_mapped or address.sixtofour
    if inner is None and address.teredo is not None:
        inner = address.teredo[1]
    if inner is None and (address in _NAT64 or int(address) < 2**32):
        inner = IPv4Address(int(address) & 0xFFFFFFFF)
    # `::` and `::1` are themselves.
    return address if inner is None or int(address) < 2 else inner


def is_public(address: Address) -> bool:
    """Whether the address belongs to the public internet."""
    local = any(address in network for network in _LOCAL)
    return address.is_global and not address.is_multicast and not local


async def own_places(urls: Iterable[str]) -> frozenset[str]:
    """The `address:port` of each of the benchmark's pages in a private network."""
    places: set[str] = set()
    for url in urls:
        with suppress(ValueError, OSError):
            parts = urlsplit(url)
            port = parts.port or PORTS.get(parts.scheme, 0)
            if parts.hostname and port:
                addresses = await AddressPolicy.of(ANYWHERE).resolve(parts.hostname, port)
                private = [text for text in addresses if not is_public(_address(text))]
                # By address: a server may have its pages under several names.
                places.update(f"{_address(text)}:{port}" for text in private)
    return frozenset(places)


class Gateway:
    """A proxy on a free local port that refuses addresses by a policy."""

    def __init__(self, policy: AddressPolicy) -> None:
        self.port = 0
        self._policy = policy
        self._server: asyncio.Server | None = None
        self._connections: set[asyncio.Task[None]] = set()

    async def start(self) -> None:
        """Listen on a free port, on the current event loop."""
        self._server = await asyncio.start_server(self._accept, "127.0.0.1", 0, limit=HEAD_BYTES)
        self.port = self._server.sockets[0].getsockname()[1]

    async def close(self) -> None:
        if self._server is not None:
            self._server.close()
        for connection in self._connections:
            connection.cancel()
        await asyncio.gather(*self._connections, return_exceptions=True)

    def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        connection = asyncio.get_running_loop().create_task(self._serve(reader, writer))
        self._connections.add(connection)
        connection.add_done_callback(self._connections.discard)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            # What cannot be reached is a connection without an answer: the browser says so.
            with suppress(OSError, EOFError, ValueError, AddressRefused, asyncio.LimitOverrunError):
                await _forward(self._policy, reader, writer)
        finally:
            writer.close()


async def start_gateway(policy: AddressPolicy) -> Gateway:
    gateway = Gateway(policy)
    await gateway.start()
    return gateway


async def _forward(
    policy: AddressPolicy, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
) -> None:
    head = await reader.readuntil(b"\r\n\r\n")
    line, _, headers = head.partition(b"\r\n")
    method, target, version = line.split(b" ")
    if method == b"CONNECT":
        parts = urlsplit("//" + target.decode("ascii"))
        async with _connection(policy, "https", parts) as (upstream, out, proxied):
            if proxied:
                out.write(b"CONNECT " + target + b" HTTP/1.1\r\nHost: " + target + b"\r\n")
                out.write(proxied + b"\r\n")
                writer.write(await upstream.readuntil(b"\r\n\r\n"))
            else:
                writer.write(b"HTTP/1.1 200 Connection established\r\n\r\n")
            await _relay(reader, writer, upstream, out)
        return
    address = target.decode("ascii")
    parts = urlsplit(address)
    async with _connection(policy, parts.scheme, parts) as (upstream, out, proxied):
        path = address if proxied else (parts.path or "/") + (parts.query and f"?{parts.query}")
        out.write(b" ".join((method, path.encode("ascii"), version)) + b"\r\n" + proxied)
        out.write(_own(headers))
        await _relay(reader, writer, upstream, out, answer=True)


def _own(headers: bytes) -> bytes:
    """The headers to forward on a connection that closes after one exchange."""
    lines = (line for line in headers.split(b"\r\n") if line)
    end_to_end = [line for line in lines if not line.lower().startswith(_OWN_HEADERS)]
    return b"\r\n".join([*end_to_end, b"Connection: close", b"", b""])


@asynccontextmanager
async def _connection(
    policy: AddressPolicy, scheme: str, parts: SplitResult
) -> AsyncIterator[tuple[asyncio.StreamReader, asyncio.StreamWriter, bytes]]:
    """Connect to the address itself or to the configured proxy; also return the proxy's headers."""
    host, port = parts.hostname or "", parts.port or PORTS.get(scheme, 80)
    proxy = getproxies_environment().get(scheme)
    if proxy and proxy_bypass(host):
        proxy = None
    try:
        permitted = await policy.resolve(host, port)
    except OSError:
        # A lab whose machines do not resolve public names: its proxy does.
        if not proxy:
            raise
        permitted = []
    upstream = urlsplit(proxy if proxy and "://" in proxy else f"http://{proxy or ''}")
    direct = not proxy or not is_public(_address(permitted[0])) if permitted else False
    place = (permitted[0], port) if direct else (upstream.hostname or "", upstream.port or 3128)
    async with asyncio.timeout(CONNECT_S):
        reader, writer = await asyncio.open_connection(*place, limit=HEAD_BYTES)
    try:
        yield reader, writer, b"" if direct else _credentials(upstream)
    finally:
        writer.close()


def _credentials(proxy: SplitResult) -> bytes:
    if proxy.username is None:
        return b"Proxy-Connection: close\r\n"
    pair = f"{unquote(proxy.username)}:{unquote(proxy.password or '')}"
    return b"Proxy-Authorization: Basic " + base64.b64encode(pair.encode()) + b"\r\n"


async def _relay(
    reader: asyncio.StreamReader, writer: asyncio.StreamWriter,
    upstream: asyncio.StreamReader, out: asyncio.StreamWriter,
    *, answer: bool = False,
) -> None:  # fmt: skip
    """Copy in both directions until the server ends; with `answer`, rewrite HTTP headers."""
    sending = asyncio.create_task(_copy(reader, out))
    try:
        if answer:
            await _copy_heads(upstream, writer)
        await _copy(upstream, writer)
    finally:
        sending.cancel()
        await asyncio.gather(sending, return_exceptions=True)


async def _copy_heads(upstream: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Forward the head of an answer, and earlier interim heads such as `100 Continue`."""
    while True:
        line, _, headers = (await upstream.readuntil(b"\r\n\r\n")).partition(b"\r\n")
        interim = line.split(b" ", 2)[1].startswith(b"1")
        writer.write(line + b"\r\n" + (headers if interim else _own(headers)))
        if not interim:
            return


async def _copy(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    with suppress(ConnectionError):
        while piece := await reader.read(PIECE_BYTES):
            writer.write(piece)
            await writer.drain()
