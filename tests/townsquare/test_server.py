from __future__ import annotations

import asyncio
import http.client
import socket
import threading
from collections.abc import Iterator
from contextlib import suppress

import pytest

from assay.errors import ResourceError
from tests.townsquare.reader import Reader
from townsquare.server import MAX_BODY_BYTES, Town

HOST = "townsquare.localhost"


@pytest.fixture(scope="module")
def town() -> Iterator[Town]:
    with Town(7) as running:
        yield running


def exchange(port: int, request: bytes) -> bytes:
    """Everything that the server says to these bytes before it closes the connection."""
    with socket.create_connection(("127.0.0.1", port), timeout=10) as connection:
        connection.sendall(request)
        connection.shutdown(socket.SHUT_WR)
        response = b""
        while chunk := connection.recv(65_536):
            response += chunk
        return response


def status(response: bytes) -> int:
    return int(response.split()[1]) if response else 0


def town_threads() -> list[threading.Thread]:
    return [thread for thread in threading.enumerate() if thread.name == "townsquare"]


def test_it_listens_on_loopback_only(town: Town) -> None:
    with socket.socket() as other:
        # Were every address taken, this one of the same machine would not be free.
        other.bind(("127.0.0.2", town.port))


def test_the_portal_leads_to_every_official_site(town: Town) -> None:
    with Reader(town.base_url) as reader:
        portal = reader.open(f"{town.base_url}/")
        official = [link for link in portal.links if "//" in link.href]
        assert len(official) == 9
        for link in official:
            assert reader.open(link.href).status == 200


def test_a_plain_address_is_sent_to_the_portal(town: Town) -> None:
    response = exchange(
        town.port, b"GET /x HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n"
    )
    assert status(response) == 302
    assert f"Location: {town.base_url}/".encode() in response


@pytest.mark.parametrize(
    ("request_", "expected"),
    [
        pytest.param(b"GET / HTTP/1.1\r\nHost: evil.example\r\n\r\n", 400, id="another host"),
        pytest.param(b"GET / HTTP/1.1\r\n\r\n", 400, id="no host"),
        pytest.param(b"GET / HTTP/1.1\r\nHost: nope.%s\r\n\r\n", 404, id="no such site"),
        pytest.param(b"DELETE / HTTP/1.1\r\nHost: %s\r\n\r\n", 405, id="another method"),
        pytest.param(b"nonsense\r\n\r\n", 405, id="no request line"),
        pytest.param(b"\x00\xff\xfe\r\n\r\n", 405, id="no text"),
        pytest.param(b"GET / HTTP/1.1\r\nX: " + b"a" * 40_000, 431, id="a head without end"),
        pytest.param(
            b"POST / HTTP/1.1\r\nHost: %s\r\nContent-Length: 99999999999\r\n\r\n",
            413,
            id="a body without end",
        ),
        pytest.param(
            b"POST / HTTP/1.1\r\nHost: %s\r\nContent-Length: -1\r\n\r\n", 400, id="a bad length"
        ),
        pytest.param(
            b"POST / HTTP/1.1\r\nHost: %s\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
            400,
            id="a body in chunks",
        ),
        pytest.param(b"GET /%%ff HTTP/1.1\r\nHost: %s\r\n\r\n", 400, id="not UTF-8"),
        pytest.param(b"GET http://[ HTTP/1.1\r\nHost: %s\r\n\r\n", 400, id="not an address"),
        pytest.param(
            b"GET /?" + b"a=1&" * 60 + b" HTTP/1.1\r\nHost: %s\r\n\r\n", 400, id="too many fields"
        ),
    ],
)
def test_what_breaks_the_rules_is_refused(town: Town, request_: bytes, expected: int) -> None:
    response = exchange(town.port, request_.replace(b"%s", HOST.encode()).replace(b"%%", b"%"))
    assert status(response) == expected


def test_a_body_up_to_the_limit_is_read_and_forgotten(town: Town) -> None:
    head = f"POST /login HTTP/1.1\r\nHost: gazette.{HOST}\r\nContent-Length: {MAX_BODY_BYTES}\r\n"
    response = exchange(town.port, head.encode() + b"\r\n" + b"a" * MAX_BODY_BYTES)
    assert status(response) == 401


@pytest.mark.parametrize(
    "path",
    ["/../../etc/passwd", "/..%2f..%2fetc/passwd", "/business/../../x", "//etc/passwd", "/%00"],
)
def test_no_path_leads_to_a_file(town: Town, path: str) -> None:
    for site in ("", "directory.", "shops.", "weather."):
        response = exchange(
            town.port, f"GET {path} HTTP/1.1\r\nHost: {site}{HOST}\r\n\r\n".encode()
        )
        assert status(response) == 404
        assert b"root:" not in response


def test_one_connection_carries_many_requests_and_head_has_no_body(town: Town) -> None:
    connection = http.client.HTTPConnection("127.0.0.1", town.port, timeout=10)
    for method in ("GET", "HEAD", "GET"):
        connection.request(method, "/", headers={"Host": HOST})
        response = connection.getresponse()
        assert (response.status, bool(response.read())) == (200, method == "GET")
    connection.close()


def test_stopping_ends_a_page_that_hangs_and_leaves_no_thread() -> None:
    before = len(town_threads())
    town = Town(7)
    town.start()
    waiting = socket.create_connection(("127.0.0.1", town.port), timeout=10)
    waiting.sendall(f"GET / HTTP/1.1\r\nHost: tides.{HOST}\r\n\r\n".encode())
    idle = socket.create_connection(("127.0.0.1", town.port), timeout=10)
    half = socket.create_connection(("127.0.0.1", town.port), timeout=10)
    half.sendall(b"GET / HT")
    town.stop()
    assert len(town_threads()) == before
    for connection in (waiting, idle, half):
        with suppress(ConnectionResetError):
            assert connection.recv(1) == b""
        connection.close()


def test_a_page_that_hangs_is_given_up_by_the_server() -> None:
    with Town(7, hang_s=0.05) as town:
        request = f"GET / HTTP/1.1\r\nHost: tides.{HOST}\r\n\r\n".encode()
        with socket.create_connection(("127.0.0.1", town.port), timeout=10) as connection:
            connection.sendall(request)
            assert connection.recv(1) == b""


def test_a_town_can_be_stopped_twice_and_started_again() -> None:
    town = Town(7)
    first = town.start()
    assert town.start() == first
    town.stop()
    town.stop()
    with pytest.raises(ResourceError, match="not running"):
        _ = town.base_url
    with town, Reader(town.base_url) as reader:
        assert reader.open(f"{town.base_url}/").status == 200


def test_a_port_that_is_taken_is_said_to_be(town: Town) -> None:
    with pytest.raises(ResourceError, match=f"cannot listen on 127.0.0.1:{town.port}"):
        Town(7, port=town.port).start()


def test_it_works_in_an_event_loop() -> None:
    async def visit() -> bytes:
        async with Town(7) as town:
            reader, writer = await asyncio.open_connection("127.0.0.1", town.port)
            writer.write(f"GET / HTTP/1.1\r\nHost: {HOST}\r\nConnection: close\r\n\r\n".encode())
            response = await reader.read()
            writer.close()
            await writer.wait_closed()
            return response

    assert b"Welcome to Brindle Quay" in asyncio.run(visit())
