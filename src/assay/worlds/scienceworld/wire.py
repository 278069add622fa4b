"""A client for the text protocol of py4j's gateway server.

The client library of py4j reports every lost connection to the root logger and releases Java
objects from Python's garbage collector, in whatever thread that runs. A simulator that is killed
on purpose needs neither, so the few commands that it understands are spoken here.
"""

from __future__ import annotations

import re
import socket
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import Final, TypeAlias

from assay.errors import ResourceError

CONNECT_TIMEOUT_S: Final = 10.0


@dataclass(frozen=True, slots=True)
class JavaObjectReference:
    """A reference to an object in the Java process."""

    id: str


Value: TypeAlias = str | int | float | bool | JavaObjectReference | None
"""What a call takes and gives."""


class GatewayError(ResourceError):
    """The connection to the gateway broke, or Java raised an exception."""


class GatewayDisconnected(GatewayError):
    """The gateway went away."""


class GatewayConnection:
    """An authenticated connection to the Java gateway."""

    def __init__(self, port: int, token: str) -> None:
        try:
            self._socket = socket.create_connection(("127.0.0.1", port), CONNECT_TIMEOUT_S)
        except OSError as error:
            raise GatewayError(f"no reply from the Java gateway on port {port}: {error}") from error
        self._socket.settimeout(None)
        self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._lines = self._socket.makefile("rb")
        try:
            self._ask(f"A\n{token}\n")
        except GatewayError:
            self.close()
            raise

    def new(self, java_class: str, *arguments: Value) -> JavaObjectReference:
        """Create an object of the Java class."""
        value = self._ask(f"i\n{java_class}\n{_write_all(arguments)}e\n")
        assert isinstance(value, JavaObjectReference)
        return value

    def call(self, target: JavaObjectReference | str, method: str, *arguments: Value) -> Value:
        """Call a method of an object, or a static method of the class named by `target`."""
        name = target.id if isinstance(target, JavaObjectReference) else f"z:{target}"
        return self._ask(f"c\n{name}\n{method}\n{_write_all(arguments)}e\n")

    def text(self, target: JavaObjectReference | str, method: str, *arguments: Value) -> str:
        """Call a Java method, and return its result as text."""
        value = self.call(target, method, *arguments)
        if not isinstance(value, JavaObjectReference):
            return str(value)
        printed = str(self.call(value, "toString"))
        self._ask(f"m\nd\n{value.id}\ne\n")
        return printed

    def lines(self, target: JavaObjectReference | str, method: str, *arguments: Value) -> list[str]:
        """Call a Java method that returns a list, and return the texts in the list."""
        value = self.call(target, method, *arguments)
        assert isinstance(value, JavaObjectReference)
        text = str(self.call("java.lang.String", "join", "\n", value))
        self._ask(f"m\nd\n{value.id}\ne\n")
        return text.splitlines()

    def hang_up(self) -> None:
        """Shut the connection down: waiting and later calls fail."""
        with suppress(OSError):
            self._socket.shutdown(socket.SHUT_RDWR)

    def close(self) -> None:
        """Close the connection; no call may be under way."""
        self._lines.close()
        self._socket.close()

    def _ask(self, command: str) -> Value:
        try:
            self._socket.sendall(command.encode("utf-8", "replace"))
            answer = self._lines.readline().decode("utf-8", "replace")
        except (OSError, ValueError) as error:
            raise GatewayDisconnected(f"the connection to the simulator broke: {error}") from error
        if not answer.endswith("\n"):
            raise GatewayDisconnected("the simulator closed the connection")
        return _read(answer[:-1])


def _write_all(arguments: tuple[Value, ...]) -> str:
    return "".join(_write(argument) + "\n" for argument in arguments)


def _write(value: Value) -> str:
    match value:
        case None:
            return "n"
        case bool():
            return f"b{str(value).lower()}"
        case int():
            return f"i{value}"
        case float():
            return f"d{value!r}"
        case str():
            escaped = value.replace("\\", "\\\\").replace("\r", "\\r").replace("\n", "\\n")
            return f"s{escaped}"
        case JavaObjectReference():
            return f"r{value.id}"


def _read(answer: str) -> Value:
    """Return the value in a reply such as `!ysGood day`; a reply `!x…` is an error."""
    if not answer.startswith("!y"):
        raise GatewayError(f"the simulator refused: {_unescape(answer[2:])[:500]}")
    read = _READERS.get(answer[2:3], JavaObjectReference)
    return read(answer[3:])


def _unescape(text: str) -> str:
    letters = {"n": "\n", "r": "\r"}
    return re.sub(r"(?s)\\(.)", lambda match: letters.get(match[1], match[1]), text)


_READERS: Final[dict[str, Callable[[str], Value]]] = {
    **dict.fromkeys(("", "v", "n"), lambda _: None),
    **dict.fromkeys(("i", "L"), int),
    "s": _unescape,
    "d": float,
    "b": lambda text: text.lower() == "true",
}
"""By the letter of a kind of value; every other kind is an object."""
