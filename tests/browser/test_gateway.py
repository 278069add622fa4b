"""Agents reach their own site and the public internet, and nothing else on this machine."""

from __future__ import annotations

import asyncio
import socket
import threading
from collections.abc import Iterator
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from ipaddress import ip_address

import pytest

from assay.browser.drive.environment import BrowserEnvironment
from assay.browser.drive.gateway import (
    AddressPolicy,
    AddressRefused,
    is_public,
    own_places,
    unwrapped,
)
from assay.errors import BadParameter
from assay.schema.task import Task

LEADS = """<h1>Own page</h1><p id=o>waiting</p><img src="http://127.0.0.1:{port}/image">
<iframe src="http://localhost:{port}/frame"></iframe><link rel=stylesheet href="http://[::1]:{port}/">
<script>
Promise.allSettled([
  fetch('http://0x7f000001:{port}/fetch', {{mode: 'no-cors'}}),
  fetch('/redirect', {{mode: 'no-cors'}}),
  new Promise(done => {{ const s = new WebSocket('ws://127.0.0.1:{port}/socket');
    s.onopen = s.onerror = done }}),
  new Promise(done => {{ const p = new RTCPeerConnection({{iceServers: [
    {{urls: 'stun:127.0.0.1:{port}'}}]}});
    p.onicegatheringstatechange = () => p.iceGatheringState == 'complete' && done();
    p.createDataChannel('c'); p.createOffer().then(o => p.setLocalDescription(o)) }}),
  new Promise(done => {{ navigator.sendBeacon('http://2130706433:{port}/beacon'); done() }}),
]).then(() => document.getElementById('o').textContent = 'all tried')
</script>"""


class Neighbour:
    """Another server on this machine, such as the viewer; it counts who connects."""

    def __init__(self) -> None:
        self.connections = 0
        self._listening = socket.create_server(("", 0), family=socket.AF_INET6, dualstack_ipv6=True)
        self.port = self._listening.getsockname()[1]
        threading.Thread(target=self._accept, daemon=True).start()
        self._datagrams = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self._datagrams.bind(("127.0.0.1", self.port))
        self._datagrams.setblocking(False)  # noqa: FBT003 - the call has no keyword

    def packets(self) -> int:
        """How many datagrams have come; counted once."""
        count = 0
        with suppress(BlockingIOError):
            while self._datagrams.recv(4096):
                count += 1
        return count

    def _accept(self) -> None:
        while True:
            try:
                connection, _ = self._listening.accept()
            except OSError:
                return
            self.connections += 1
            connection.recv(4096)
            connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nreference")
            connection.close()

    def close(self) -> None:
        self._listening.shutdown(socket.SHUT_RDWR)
        self._listening.close()
        self._datagrams.close()


@pytest.fixture
def neighbour() -> Iterator[Neighbour]:
    running = Neighbour()
    yield running
    running.close()


@pytest.fixture
def own(neighbour: Neighbour) -> Iterator[str]:
    """The address of the benchmark's own site, whose page tries every way to the neighbour."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            redirect = self.path == "/redirect"
            body = b"" if redirect else LEADS.format(port=neighbour.port).encode()
            self.send_response(302 if redirect else 200)
            if redirect:
                self.send_header("Location", f"http://127.0.0.1:{neighbour.port}/redirected")
            self.send_header("Content-Type", "text/html")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    server.server_close()


SPELLINGS = (
    "127.0.0.1 localhost localhost. LOCALHOST 127.1 2130706433 0x7f000001 0x7f.1 0177.0.0.1 "
    "017700000001 0.0.0.0 [::1] [::ffff:127.0.0.1] [::ffff:7f00:1] 127.0.0.2 sub.localhost"
).split()


def test_an_agent_does_not_reach_another_server_of_this_machine(
    own: str, neighbour: Neighbour
) -> None:
    world = BrowserEnvironment(noop_s=0.3)

    async def drive() -> None:
        first = await world.reset(Task(id="t", metadata={"start_url": own}))
        assert "Own page" in first.text
        for host in SPELLINGS:
            for action in ("goto", "fetch_json"):
                seen = await world.step(f'{action}("http://{host}:{neighbour.port}/runs")')
                assert seen.outcome is not None
                assert not seen.outcome.ok, host
                assert "reference" not in seen.text, host
        seen = await world.step(f'goto("{own}/redirect")')
        assert "reference" not in seen.text
        seen = await world.step(f'goto("{own}/again")')
        for _ in range(20):
            if "all tried" in seen.text:
                break
            seen = await world.step("noop()")
        assert "all tried" in seen.text
        await world.close()

    asyncio.run(drive())
    assert neighbour.connections == 0
    assert neighbour.packets() == 0


def test_what_the_benchmark_allows_is_reached(own: str, neighbour: Neighbour) -> None:
    world = BrowserEnvironment(noop_s=0.05, allow=[f"127.0.0.1:{neighbour.port}"])

    async def drive() -> None:
        await world.reset(Task(id="t", metadata={"start_url": f"{own}/redirect"}))
        seen = await world.step(f'goto("http://127.0.0.1:{neighbour.port}/")')
        assert "reference" in seen.text
        await world.close()

    asyncio.run(drive())


def test_a_refusal_says_why(own: str, neighbour: Neighbour) -> None:
    world = BrowserEnvironment(noop_s=0.05)

    async def drive() -> None:
        await world.reset(Task(id="t", metadata={"start_url": own}))
        seen = await world.step(f'goto("http://localhost:{neighbour.port}/")')
        assert "the benchmark does not allow it" in seen.text
        await world.close()

    asyncio.run(drive())


@pytest.mark.parametrize(
    ("text", "public"),
    [
        ("8.8.8.8", True),
        ("2606:4700::1111", True),
        ("127.0.0.1", False),
        ("10.1.2.3", False),
        ("192.168.1.1", False),
        ("172.16.0.1", False),
        ("169.254.169.254", False),
        ("100.64.0.1", False),
        ("0.0.0.0", False),
        ("224.0.0.1", False),
        ("::1", False),
        ("::", False),
        ("fe80::1", False),
        ("fd00::1", False),
        ("::ffff:10.0.0.1", False),
        ("::10.0.0.1", False),
        ("64:ff9b::7f00:1", False),
        ("2002:7f00:1::", False),
        ("64:ff9b:1::7f00:1", False),
        ("fec0::1", False),
    ],
)
def test_an_address_is_public_by_what_it_leads_to(text: str, public: bool) -> None:
    assert is_public(unwrapped(ip_address(text))) is public


@pytest.mark.parametrize(
    ("allowed", "reached"),
    [
        ([], False),
        (["localhost"], True),
        (["localhost:80"], True),
        (["localhost:81"], False),
        (["127.0.0.0/8", "::1/128"], True),
        (["10.0.0.0/8"], False),
        (["*"], True),
    ],
)
def test_an_allowed_address_is_a_host_a_port_or_a_network(
    allowed: list[str], reached: bool
) -> None:
    async def resolve() -> bool:
        try:
            await AddressPolicy.of(allowed).resolve("LOCALHOST.", 80)
        except AddressRefused:
            return False
        return True

    assert asyncio.run(resolve()) is reached


def test_what_is_no_address_is_refused_in_words() -> None:
    with pytest.raises(BadParameter, match="host:port or network"):
        BrowserEnvironment(allow=["http://localhost:3000"])


def test_the_own_places_of_a_benchmark_are_the_private_ones() -> None:
    urls = ("http://127.0.0.1:8000/x", "https://localhost/", "http://8.8.8.8/", "about:blank")
    assert {"127.0.0.1:8000", "127.0.0.1:443"} <= asyncio.run(own_places(urls))
    assert not any("8.8.8.8" in place for place in asyncio.run(own_places(urls)))


def test_a_site_with_several_names_is_reached_under_each(own: str) -> None:
    world = BrowserEnvironment(noop_s=0.05)
    port = own.rpartition(":")[2]

    async def drive() -> None:
        start = f"http://town.localhost:{port}"
        await world.reset(Task(id="t", metadata={"start_url": start}))
        for name in ("search.town.localhost", "127.0.0.1"):
            seen = await world.step(f'goto("http://{name}:{port}/")')
            assert "Own page" in seen.text, name
        await world.close()

    asyncio.run(drive())
