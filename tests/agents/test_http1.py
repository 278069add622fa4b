"""The HTTP client of models against servers that send bytes as they please."""

from __future__ import annotations

import asyncio
import gzip
import shutil
import ssl
import subprocess
import zlib
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any

import httpx
import pytest

from assay.agents.models import http1
from assay.agents.models.connections import Connections
from assay.agents.models.endpoint import Endpoint
from assay.agents.models.http1 import NoResponse, Response
from assay.errors import ModelError

OK = b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n{}"
CHUNKED = b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n1\r\n{\r\n1\r\n}\r\n0\r\n\r\n"


async def read_request(reader: asyncio.StreamReader) -> bytes:
    head = await reader.readuntil(b"\r\n\r\n")
    length = int(head.lower().partition(b"content-length:")[2].partition(b"\r\n")[0])
    return head + await reader.readexactly(length)


class Server:
    """Sends prepared bytes for each request; an empty one closes the connection first."""

    def __init__(self, *answers: bytes, then_close: bool = False) -> None:
        self.answers = list(answers)
        self.then_close = then_close
        self.requests: list[bytes] = []
        self.connections = 0

    async def talk(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        try:
            while True:
                self.requests.append(await read_request(reader))
                answer = self.answers[min(len(self.requests), len(self.answers)) - 1]
                writer.write(answer)
                await writer.drain()
                if self.then_close or not answer:
                    break
        except (asyncio.IncompleteReadError, ConnectionError):
            pass
        finally:
            writer.close()

    async def listen(self, **options: Any) -> asyncio.Server:
        return await asyncio.start_server(self.talk, "127.0.0.1", 0, **options)

    @asynccontextmanager
    async def serving(self) -> AsyncIterator[tuple[Connections, httpx.URL]]:
        server = await self.listen()
        port = server.sockets[0].getsockname()[1]
        connections = Connections()
        try:
            yield connections, httpx.URL(f"http://127.0.0.1:{port}/v1?key=a%20b")
        finally:
            await connections.close()
            server.close()
            # Let the connections' other ends see that they are closed.
            await asyncio.sleep(0.01)


def post(server: Server, times: int = 1, *, max_bytes: int = 1_000) -> list[Response]:
    async def all_() -> list[Response]:
        async with server.serving() as (connections, url):
            return [
                await connections.post(url, {"x-a": "b"}, b"hello", max_bytes=max_bytes)
                for _ in range(times)
            ]

    return asyncio.run(all_())


@pytest.mark.parametrize(
    ("answer", "content"),
    [
        (OK, b"{}"),
        (
            b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n1\r\n{\r\n1\r\n}\r\n0\r\n\r\n",
            b"{}",
        ),
        (b"HTTP/1.1 100 Continue\r\n\r\n" + OK, b"{}"),
        (b"HTTP/1.1 204 No Content\r\n\r\n", b""),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n", b""),
    ],
    ids=["length", "chunks", "continue", "no content", "empty"],
)
def test_a_response_is_read_and_the_connection_is_used_again(answer: bytes, content: bytes) -> None:
    server = Server(answer)
    first, second = post(server, 2)
    assert first.content == second.content == content
    assert (server.connections, len(server.requests)) == (1, 2)
    assert server.requests[0].startswith(b"POST /v1?key=a%20b HTTP/1.1\r\n")
    assert b"x-a: b" in server.requests[0].lower()
    assert server.requests[0].endswith(b"\r\n\r\nhello")


@pytest.mark.parametrize(
    "answer",
    [
        b"HTTP/1.1 200 OK\r\nconnection: close\r\n\r\n{}",
        b"HTTP/1.0 200 OK\r\n\r\n{}",
        b"HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-length: 2\r\n\r\n{}",
    ],
    ids=["to the end", "version 1.0", "said"],
)
def test_a_connection_that_the_server_closes_is_not_used_again(answer: bytes) -> None:
    server = Server(answer, then_close=True)
    assert [response.content for response in post(server, 2)] == [b"{}", b"{}"]
    assert server.connections == 2


@pytest.mark.parametrize("pause_s", [0.0, 0.05], ids=["with the response", "later"])
def test_what_a_server_sends_unasked_is_no_response_to_the_next_request(pause_s: float) -> None:
    def answer(text: bytes) -> bytes:
        return OK.replace(b"{}", text)

    async def both() -> list[bytes]:
        class Talkative(Server):
            async def talk(self, reader: Any, writer: asyncio.StreamWriter) -> None:
                self.connections += 1
                with suppress(asyncio.IncompleteReadError, ConnectionError):
                    while request := await read_request(reader):
                        writer.write(answer(request[-2:]))
                        await asyncio.sleep(pause_s)
                        writer.write(answer(b"no"))
                writer.close()

        async with Talkative().serving() as (connections, url):
            contents = []
            for body in (b"q1", b"q2", b"q3"):
                contents.append((await connections.post(url, {}, body, max_bytes=10)).content)
                await asyncio.sleep(2 * pause_s)
            return contents

    assert asyncio.run(both()) == [b"q1", b"q2", b"q3"]


def test_a_loop_for_each_question_leaves_no_connection_open() -> None:
    async def questions() -> tuple[int, int]:
        async with Server(OK).serving() as (connections, url):

            async def ask() -> None:
                await connections.post(url, {}, b"", max_bytes=10)

            await ask()
            before = sum(1 for _ in Path("/proc/self/fd").iterdir())
            for _ in range(20):
                await asyncio.to_thread(asyncio.run, ask())
            await asyncio.sleep(0.05)
            return before, sum(1 for _ in Path("/proc/self/fd").iterdir())

    before, after = asyncio.run(questions())
    assert after < before + 10


def test_a_connection_that_was_closed_while_idle_is_replaced() -> None:
    async def both() -> int:
        server = Server(OK, then_close=True)
        async with server.serving() as (connections, url):
            await connections.post(url, {}, b"", max_bytes=10)
            await asyncio.sleep(0.05)
            await connections.post(url, {}, b"", max_bytes=10)
        return server.connections

    assert asyncio.run(both()) == 2


def test_a_connection_that_was_idle_for_long_is_replaced(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(http1, "IDLE_S", 0.0)
    server = Server(OK)
    post(server, 2)
    assert server.connections == 2


@pytest.mark.parametrize(
    ("answer", "says"),
    [
        (b"", "RemoteProtocolError: Server disconnected"),
        (b"HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\n{}", "RemoteProtocolError"),
        (b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nzz\r\n", "RemoteProtocolError"),
        (b"SSH-2.0-OpenSSH_9.6\r\n", "RemoteProtocolError"),
        (b"HTTP/1.1 200 OK\r\nx: " + b"a" * 200_000, "RemoteProtocolError"),
        (b"HTTP/1.1 200 OK\r\n" + b"x: y\r\n" * 60_000, "RemoteProtocolError"),
        (
            b"HTTP/1.1 200 OK\r\ncontent-encoding: gzip\r\ncontent-length: 3\r\n\r\nabc",
            "error: Error -3",
        ),
    ],
    ids=["nothing", "half", "chunks", "ssh", "a long header", "many headers", "no gzip"],
)
def test_what_is_no_response_is_a_failed_request(answer: bytes, says: str) -> None:
    with pytest.raises(NoResponse, match=says):
        post(Server(answer, then_close=True))


def encoded(content: bytes, encoding: str) -> bytes:
    head = f"HTTP/1.1 200 OK\r\ncontent-encoding: {encoding}\r\ncontent-length: {len(content)}"
    return head.encode() + b"\r\n\r\n" + content


@pytest.mark.parametrize(
    "answer",
    [encoded(gzip.compress(b"{}"), "gzip"), encoded(zlib.compress(b"{}"), "deflate")],
    ids=["gzip", "deflate"],
)
def test_a_compressed_response_is_read(answer: bytes) -> None:
    assert post(Server(answer))[0].content == b"{}"


@pytest.mark.parametrize(
    ("answer", "says"),
    [
        (encoded(gzip.compress(b"a" * 1_000_000), "gzip"), "longer than 1,000 bytes"),
        (b"HTTP/1.1 200 OK\r\ncontent-length: 5000\r\n\r\n" + b"a" * 5000, "longer than 1,000"),
        (encoded(b"x", "br"), "an unsupported content encoding: 'br'"),
    ],
    ids=["a bomb", "long", "brotli"],
)
def test_a_response_is_bounded(answer: bytes, says: str) -> None:
    with pytest.raises(ModelError, match=says):
        post(Server(answer))


def test_a_request_that_is_cancelled_leaves_no_connection_behind() -> None:
    async def twice() -> tuple[int, bytes]:
        server = Server(b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n{", OK)
        async with server.serving() as (connections, url):
            with pytest.raises(TimeoutError):
                async with asyncio.timeout(0.2):
                    await connections.post(url, {}, b"", max_bytes=10)
            response = await connections.post(url, {}, b"", max_bytes=10)
            return server.connections, response.content

    assert asyncio.run(twice()) == (2, b"{}")


def test_connections_of_the_first_loop_alone_are_kept() -> None:
    loops = [asyncio.new_event_loop() for _ in range(2)]
    server, shared = Server(OK), Connections()
    listener = loops[0].run_until_complete(server.listen())
    url = httpx.URL(f"http://127.0.0.1:{listener.sockets[0].getsockname()[1]}/")

    async def post_twice() -> None:
        for _ in range(2):
            await shared.post(url, {}, b"", max_bytes=10)

    def from_the_other_loop() -> None:
        loops[1].run_until_complete(post_twice())

    async def in_both() -> None:
        await post_twice()
        await asyncio.to_thread(from_the_other_loop)
        await shared.close()
        listener.close()

    loops[0].run_until_complete(in_both())
    loops[1].run_until_complete(asyncio.sleep(0.01))
    loops[0].run_until_complete(asyncio.sleep(0.01))
    assert (server.connections, len(server.requests)) == (3, 4)
    for loop in loops:
        loop.close()


def test_user_and_password_of_the_url_are_sent_and_not_shown() -> None:
    async def once() -> bytes:
        server = Server(OK)
        async with server.serving() as (_, url):
            endpoint = Endpoint(str(url.copy_with(userinfo=b"ada:s3cret-word")), headers={})
            await endpoint.post({}, timeout_s=5)
            await endpoint.close()
            assert "s3cret" not in endpoint.public_url
        return server.requests[0]

    assert b"authorization: Basic YWRhOnMzY3JldC13b3Jk" in asyncio.run(once())


def test_a_proxy_of_the_environment_is_used_for_other_machines_alone(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async def by_proxy() -> list[bytes]:
        server = Server(OK)
        async with server.serving() as (connections, url):
            monkeypatch.setenv("http_proxy", f"http://{url.host}:{url.port}")
            other = httpx.URL("http://model.example/v1")
            await connections.post(other, {}, b"", max_bytes=10)
            await connections.post(url, {}, b"", max_bytes=10)
        return server.requests

    proxied, direct = asyncio.run(by_proxy())
    assert proxied.startswith(b"POST http://model.example/v1 HTTP/1.1")
    assert direct.startswith(b"POST /v1?key=a%20b")


@pytest.mark.parametrize("proxy", ["socks5://127.0.0.1:1", "ftp://127.0.0.1:1"])
def test_a_proxy_that_cannot_be_used_is_a_failure_of_the_model(
    proxy: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("all_proxy", proxy)
    endpoint = Endpoint("http://model.example/v1", headers={})
    with pytest.raises(ModelError, match="the proxy in the environment variables cannot be used"):
        asyncio.run(endpoint.post({}, timeout_s=5))


@pytest.mark.parametrize("value", ["a\nb", "é"])
def test_a_header_that_http_does_not_take_is_a_failure_of_the_model(value: str) -> None:
    async def once() -> None:
        async with Server(OK).serving() as (_, url):
            endpoint = Endpoint(str(url), headers={"x-version": value})
            await endpoint.post({}, timeout_s=5)

    with pytest.raises(ModelError, match="the request cannot be sent"):
        asyncio.run(once())


def test_a_certificate_that_nobody_signed_is_refused(tmp_path: Path) -> None:
    openssl = shutil.which("openssl")
    if openssl is None:
        pytest.skip("openssl makes the certificate")
    key, certificate = tmp_path / "key.pem", tmp_path / "certificate.pem"
    make = [openssl, "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-subj", "/CN=127.0.0.1"]
    files = ["-keyout", str(key), "-out", str(certificate)]
    subprocess.run([*make, *files], check=True, capture_output=True)

    async def refused() -> str:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(certificate, key)
        server = await Server(OK).listen(ssl=context)
        port = server.sockets[0].getsockname()[1]
        connections = Connections()
        try:
            await connections.post(httpx.URL(f"https://127.0.0.1:{port}/"), {}, b"", max_bytes=9)
        except NoResponse as error:
            return str(error)
        finally:
            await connections.close()
            server.close()
        return ""

    assert "CERTIFICATE_VERIFY_FAILED" in asyncio.run(refused())
