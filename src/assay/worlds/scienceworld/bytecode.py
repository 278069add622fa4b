"""Changes Java class files: replaces a body, a call or a `new`, and adds methods.

Only code without branches can be put in, because code with branches needs a map of its stack for
the verifier; a call of a method elsewhere is enough.
"""

from __future__ import annotations

import struct
from typing import Final

from assay.errors import BadRecord

ALOAD_0, ALOAD_1, ALOAD_2, ALOAD_3 = b"\x2a", b"\x2b", b"\x2c", b"\x2d"
LONG_TO_INT: Final = b"\x88"
RETURN_INT: Final = b"\xac"
RETURN_OBJECT: Final = b"\xb0"
RETURN: Final = b"\xb1"
_NOTHING: Final = b"\x00"
_NEW: Final = b"\xbb"
_DUPLICATE: Final = b"\x59"
_CALL_SPECIAL: Final = b"\xb7"
_CALL_VIRTUAL: Final = b"\xb6"
_CALL_STATIC: Final = b"\xb8"
_PUBLIC: Final = 1

_TEXT, _CLASS, _METHOD, _NAME_AND_TYPE = 1, 7, 10, 12
_SIZES: Final = {
    **dict.fromkeys((5, 6), 8),
    **dict.fromkeys((3, 4, 9, _METHOD, 11, _NAME_AND_TYPE, 17, 18), 4),
    **dict.fromkeys((_CLASS, 8, 16, 19, 20), 2),
    15: 3,
}
"""Bytes of a constant after its tag; a text says its own length."""


class ClassFile:
    """A parsed Java class file; `to_bytes` returns the changed file."""

    def __init__(self, content: bytes) -> None:
        if content[:4] != b"\xca\xfe\xba\xbe":
            raise BadRecord(f"not a Java class file; its first bytes are {content[:4]!r}")
        self._content = content
        self._texts: dict[int, str] = {}
        self._numbers: dict[tuple[int, bytes], int] = {}
        self._added = b""
        self._count = self._u2(8)
        self._constants_end = self._read_constants()
        at = self._constants_end + 6
        at += 2 + 2 * self._u2(at)
        at = self._read_members(at)[1]
        self._methods_begin = at
        self._methods, self._methods_end = self._read_members(at)

    def replace_body(
        self, name: str, signature: str, code: bytes, *, size: tuple[int, int]
    ) -> None:
        """Replace the code of a method; `size` is its stack depth and number of variables."""
        index = self._find(name, signature)
        self._methods[index] = self._methods[index][:6] + self._body(code, size)

    def add_method(self, name: str, signature: str, code: bytes, *, size: tuple[int, int]) -> None:
        """Add a public method to the class."""
        head = struct.pack(">HHH", _PUBLIC, self._text(name), self._text(signature))
        self._methods.append(head + self._body(code, size))

    def replace_new(self, name: str, signature: str, owner: str, code: bytes) -> None:
        """Replace the only `new owner()` of a method with code that makes such an object.

        It has the same length, so that every jump of the method still ends where it did.
        """
        make = _NEW + struct.pack(">H", self._class(owner)) + _DUPLICATE
        old = make + _CALL_SPECIAL + self._method(owner, "<init>", "()V")
        self.replace_once(name, signature, old, code.ljust(len(old), _NOTHING))

    def call_static(self, owner: str, name: str, signature: str) -> bytes:
        """Return the instruction that calls a static method."""
        return _CALL_STATIC + self._method(owner, name, signature)

    def call(self, owner: str, name: str, signature: str) -> bytes:
        """Return the instruction that calls a method of the object on the stack."""
        return _CALL_VIRTUAL + self._method(owner, name, signature)

    def to_bytes(self) -> bytes:
        content = self._content
        return b"".join(
            (
                content[:8],
                struct.pack(">H", self._count),
                content[10 : self._constants_end],
                self._added,
                content[self._constants_end : self._methods_begin],
                struct.pack(">H", len(self._methods)),
                *self._methods,
                content[self._methods_end :],
            )
        )

    def replace_once(self, name: str, signature: str, old: bytes, new: bytes) -> None:
        """Replace the only occurrence of `old` in a method with code of the same length."""
        index = self._find(name, signature)
        if len(new) != len(old) or self._methods[index].count(old) != 1:
            raise BadRecord(f"{name}{signature} does not contain the code {old.hex()} exactly once")
        self._methods[index] = self._methods[index].replace(old, new)

    def _find(self, name: str, signature: str) -> int:
        for index, method in enumerate(self._methods):
            _, name_index, signature_index = struct.unpack_from(">HHH", method)
            if (self._texts[name_index], self._texts[signature_index]) == (name, signature):
                return index
        raise BadRecord(f"the class has no method {name}{signature}")

    def _u2(self, at: int) -> int:
        return int.from_bytes(self._content[at : at + 2], "big")

    def _read_constants(self) -> int:
        at, number = 10, 1
        while number < self._count:
            tag = self._content[at]
            if tag == _TEXT:
                end = at + 3 + self._u2(at + 1)
                self._texts[number] = self._content[at + 3 : end].decode("utf-8", "replace")
            else:
                end = at + 1 + _SIZES[tag]
                self._numbers[tag, self._content[at + 1 : end]] = number
            at = end
            # Numbers of eight bytes take two places.
            number += 2 if _SIZES.get(tag) == 8 else 1
        return at

    def _read_members(self, at: int) -> tuple[list[bytes], int]:
        """Return the fields or the methods of a list, and where the list ends."""
        members = []
        count, at = self._u2(at), at + 2
        for _ in range(count):
            end = at + 8
            for _ in range(self._u2(at + 6)):
                end += 6 + int.from_bytes(self._content[end + 2 : end + 6], "big")
            members.append(self._content[at:end])
            at = end
        return members, at

    def _constant(self, tag: int, content: bytes) -> int:
        """Return the number of a constant, and add the constant if it is missing."""
        if (tag, content) not in self._numbers:
            self._added += bytes([tag]) + content
            self._numbers[tag, content] = self._count
            self._count += 1
        return self._numbers[tag, content]

    def _text(self, text: str) -> int:
        for number, existing in self._texts.items():
            if existing == text:
                return number
        encoded = text.encode()
        number = self._constant(_TEXT, struct.pack(">H", len(encoded)) + encoded)
        self._texts[number] = text
        return number

    def _class(self, name: str) -> int:
        return self._constant(_CLASS, struct.pack(">H", self._text(name)))

    def _method(self, owner: str, name: str, signature: str) -> bytes:
        owner_index = self._class(owner)
        words = struct.pack(">HH", self._text(name), self._text(signature))
        type_index = self._constant(_NAME_AND_TYPE, words)
        return struct.pack(
            ">H", self._constant(_METHOD, struct.pack(">HH", owner_index, type_index))
        )

    def _body(self, code: bytes, size: tuple[int, int]) -> bytes:
        body = struct.pack(">HHI", *size, len(code)) + code + struct.pack(">HH", 0, 0)
        return struct.pack(">HHI", 1, self._text("Code"), len(body)) + body
