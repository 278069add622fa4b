"""What is a secret, by its name, its place or its look; and the text that stands in its stead.

The one rule for whatever is written, shown or exported: the configuration in a manifest, and by
value everything that a run records.
"""

from __future__ import annotations

import base64
import os
import re
from collections.abc import Iterable, Mapping
from itertools import pairwise
from typing import Any
from urllib.parse import parse_qsl, quote, unquote, urlencode, urlsplit, urlunsplit

SECRET = "[secret]"  # noqa: S105 - what is shown instead of one
LONGEST_LINE = 500
"""Of source code; a longer one is data, and is cut."""
LEAST_CHARS = 8
"""A shorter value is not looked for in texts: it would be found in innocent ones."""

_WORDS = frozenset(
    "password passwd passphrase passcode pwd secret secrets token auth authorization bearer cookie "
    "cookies credential credentials apikey".split()
)
_GLUED = ("password", "passwd", "token", "secret", "apikey", "accesskey", "secretkey", "privatekey")
"""At the end of a word, as in PGPASSWORD and authtoken."""
_KEY_OF = frozenset(
    "api access private secret signing auth encryption subscription service account license "
    "openai anthropic azure gemini mistral groq openrouter cohere huggingface hf llm".split()
)
"""Before `key` they make a secret of it: a sort key or a reward key is none."""
_IN_AN_ADDRESS = frozenset({"key", "sig", "signature"})
"""At the end of a name in the query of an address: such an address opens what is behind it."""
_NOT_THE_SECRET = frozenset("env file path url uri sock socket name".split())
"""At the end of a name: it says where the secret is."""
_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")
_VARIABLE = re.compile(r"[A-Z_][A-Z0-9_]*")
_FLAG = re.compile(r"(--?[A-Za-z][\w-]*)=(.+)", re.DOTALL)
_HEADER = re.compile(r"([A-Za-z][\w-]*): *(\S.*)", re.DOTALL)
_SETTING = re.compile(r"(?<!\S)(--?[A-Za-z][\w-]*[= ] *|[A-Z_][A-Z0-9_]*=)([^\s-]\S*)")
"""A flag with its value, or a variable with its own, among the words of a command."""
_LOOKS = re.compile(
    r"\b(?:(?:sk|pk|rk)-[\w-]{16,}|gh[pousr]_\w{20,}|github_pat_\w{20,}|glpat-[\w-]{16,}"
    r"|xox[abprs]-[\w-]{10,}|hf_\w{20,}|AKIA[0-9A-Z]{16}|AIza[\w-]{30,}"
    r"|eyJ[\w-]{10,}\.[\w-]{10,}\.[\w-]+)"
    r"|\b(?:sk|rk)_(?:live|test)_\w{16,}"
    r"|(?<=\b[Bb]earer )\S{8,}|(?<=\b[Bb]asic )[A-Za-z0-9+/=]{8,}"
    r"|-----BEGIN [A-Z ]*PRIVATE KEY-----[^-]*(?:-----END [A-Z ]*PRIVATE KEY-----)?"
)
_ASSIGNED = re.compile(
    r"""(?<![\w-])(?P<quote>["']?)(?P<name>[A-Za-z_][\w-]{0,80})(?P=quote)\s{0,9}"""
    r"""(?::[\w.\[\]| ]{1,40}=|[:=])\s{0,9}[rbf]?(?P<mark>["'])(?P<text>[^"'\\]{3,400})(?P=mark)"""
)
"""A name and a text in quotes, as source code and configuration files assign it."""
_BARE = re.compile(r"(\s*[A-Za-z_][\w-]*\s*[:=]\s*)([^\s\"'(){}\[\],]{8,})\s*")
"""A line of its own with a name and a value, as YAML and INI files write it."""
_ADDRESS = re.compile(r"\b[a-zA-Z][a-zA-Z0-9+.-]{1,20}://[^\s\"'<>]+")
_USER = re.compile(
    r"\b([a-zA-Z][a-zA-Z0-9+.-]{1,20}://)([^/?#\s:@]*:(?!\d{1,5}(?:[/?#]|$)).*)@(?=[\w.\[-]+(?:[:/?#]|$))"
)
"""A user and a password before a host, also with characters that an address would escape."""
_PUBLIC_HEADERS = frozenset({"accept", "content-type", "user-agent", "anthropic-version"})


def is_secret_name(name: str) -> bool:
    """Whether a key, a header, an option or a variable of that name holds a secret."""
    words = [word.lower() for word in _WORD.findall(name)]
    if not words or words[-1] in _NOT_THE_SECRET:
        return False
    if not _WORDS.isdisjoint(words) or any(word.endswith(_GLUED) for word in words):
        return True
    if words[-1] == "pass" and len(words) > 1:
        return True
    if any(before in _KEY_OF and word in ("key", "keys") for before, word in pairwise(words)):
        return True
    return words[-1] == "key" and len(words) > 1 and _VARIABLE.fullmatch(name) is not None


def redact(value: Any) -> Any:
    """A JSON value with the secrets in it replaced; the rest of it, and its shape, is the same."""
    return _Redaction().value(value, ())


def redact_source(text: str) -> str:
    """Lines of code or configuration with the secrets in them replaced."""
    redaction = _Redaction()
    return "\n".join(map(redaction.source_line, text.split("\n")))


def secret_values(value: Any) -> frozenset[str]:
    """The texts that `redact` takes out of a value."""
    redaction = _Redaction()
    redaction.value(value, ())
    return frozenset(redaction.removed)


def environment_secrets(environment: Mapping[str, str]) -> frozenset[str]:
    """The values of the variables that hold secrets, by their names."""
    return frozenset(
        value
        for name, value in environment.items()
        if is_secret_name(name) and len(value) >= LEAST_CHARS and not _is_path(value)
    )


def _is_path(value: str) -> bool:
    """Whether it says where the secret is; a secret may begin with a slash too."""
    return value.startswith("/") and os.path.lexists(value)


class SecretMask:
    """Replaces known secrets in whatever passes, also where JSON escapes their characters."""

    def __init__(self, secrets: Iterable[str]) -> None:
        long = sorted((secret for secret in secrets if len(secret) >= LEAST_CHARS), key=len)[::-1]
        self._plain = [form for secret in long for form in _forms(secret)]
        self._escaped = re.compile("|".join(map(_escaped, long)).encode()) if long else None

    def bytes(self, data: bytes) -> bytes:
        """The data without the secrets; the same object where there are none."""
        for secret in self._plain:
            if secret in data:
                data = data.replace(secret, SECRET.encode())
        if self._escaped is not None and b"\\" in data:
            data = self._escaped.sub(SECRET.encode(), data)
        return data

    def text(self, text: str) -> str:
        """The text without the secrets."""
        if self._escaped is None:
            return text
        data = text.encode("utf-8", "surrogatepass")
        clean = self.bytes(data)
        return text if clean is data else clean.decode("utf-8", "surrogatepass")


def _forms(secret: str) -> list[bytes]:
    """The secret as it is, in an address, and within base64 at each of the places it may have."""
    plain = secret.encode("utf-8", "surrogatepass")
    forms = [plain, quote(plain, safe="").encode()]
    if len(plain) >= 2 * LEAST_CHARS:
        for before in range(3):
            coded = base64.b64encode(b"\0" * before + plain)
            # Without the characters that depend on what stands before and after it.
            begin, end = (0, 2, 3)[before], len(coded) - (0, 3, 2)[(before + len(plain)) % 3]
            inner = coded[begin:end]
            forms += [inner, inner.translate(bytes.maketrans(b"+/", b"-_"))]
    return list(dict.fromkeys(forms))


def _escaped(secret: str) -> str:
    """A pattern for the secret in which any character may be written as JSON's escape for it."""
    return "".join(
        rf"(?:\\*{re.escape(char)}|\\+u(?i:{ord(char):04x}))"
        if char in '/"\\'
        else rf"(?:{re.escape(char)}|\\+u(?i:{ord(char):04x}))"
        for char in secret
    )


class _Redaction:
    """One pass over a value; `removed` are the texts that were replaced."""

    def __init__(self) -> None:
        self.removed: set[str] = set()

    def value(self, value: Any, path: tuple[str, ...]) -> Any:
        if isinstance(value, Mapping):
            if is_secret_name(str(value.get("name", ""))) and isinstance(value.get("value"), str):
                value = {**value, "value": self._all(value["value"])}
            return {name: self._member(str(name), item, path) for name, item in value.items()}
        if isinstance(value, (list, tuple)):
            return self._items(value, path)
        return self._text(value) if isinstance(value, str) else value

    def _member(self, name: str, item: Any, path: tuple[str, ...]) -> Any:
        if is_secret_name(name):
            return self._all(item)
        if name.lower().endswith("headers") and isinstance(item, (list, tuple)):
            return [self._pair(pair, path) for pair in item]
        if isinstance(item, Mapping) and name.lower().endswith("headers"):
            return {
                key: text if str(key).lower() in _PUBLIC_HEADERS else self._all(text)
                for key, text in item.items()
            }
        if isinstance(item, Mapping) and _is_environment(name, item, path):
            return {key: self._all(text) for key, text in item.items()}
        return self.value(item, (*path, name))

    def _pair(self, pair: Any, path: tuple[str, ...]) -> Any:
        """A header that is written as its name and its value."""
        if isinstance(pair, (list, tuple)) and len(pair) == 2 and isinstance(pair[0], str):
            public = pair[0].lower() in _PUBLIC_HEADERS
            return [pair[0], pair[1] if public else self._all(pair[1])]
        return self.value(pair, path)

    def _items(self, items: Iterable[Any], path: tuple[str, ...]) -> list[Any]:
        result: list[Any] = []
        flag = False
        for item in items:
            # `--api-key VALUE`, in the words of a command.
            result.append(self._all(item) if flag else self.value(item, path))
            flag = isinstance(item, str) and item.startswith("-") and is_secret_name(item)
        return result

    def _all(self, item: Any) -> Any:
        """Every text of the item replaced; numbers and what is empty are no secrets."""
        if isinstance(item, Mapping):
            return {key: self._all(member) for key, member in item.items()}
        if isinstance(item, (list, tuple)):
            return [self._all(member) for member in item]
        return self._remove(item) if isinstance(item, str) and item else item

    def _remove(self, text: str) -> str:
        if text != SECRET:
            self.removed.add(text)
        return SECRET

    def _text(self, text: str) -> str:
        flag = _FLAG.fullmatch(text)
        if flag is not None and is_secret_name(flag[1]):
            return f"{flag[1]}={self._remove(flag[2])}"
        header = _HEADER.fullmatch(text)
        if header is not None and _is_header(header[1]) and is_secret_name(header[1]):
            return f"{header[1]}: {self._remove(header[2])}"
        text = _SETTING.sub(self._setting, text)
        text = _USER.sub(self._user, text)
        text = _ADDRESS.sub(lambda match: self._address(match[0]), text)
        return _LOOKS.sub(lambda match: self._remove(match[0]), text)

    def source_line(self, line: str) -> str:
        """A line of code or configuration without what it assigns to the name of a secret."""
        if len(line) > LONGEST_LINE:
            return f"{line[:LONGEST_LINE]}…"
        bare = _BARE.fullmatch(line)
        if bare is not None and is_secret_name(bare[1].strip(" :=\t")):
            return bare[1] + self._remove(bare[2])
        return self._text(_ASSIGNED.sub(self._assigned, line))

    def _assigned(self, match: re.Match[str]) -> str:
        if not is_secret_name(match["name"]):
            return match[0]
        start = match.start("text") - match.start()
        return match[0][:start] + self._remove(match["text"]) + match["mark"]

    def _setting(self, match: re.Match[str]) -> str:
        name = match[1].strip("= ")
        return match[1] + self._remove(match[2]) if is_secret_name(name) else match[0]

    def _user(self, match: re.Match[str]) -> str:
        if match[2] != SECRET:
            self._remove(match[2].partition(":")[2])
        return f"{match[1]}{SECRET}@"

    def _address(self, address: str) -> str:
        try:
            parts = urlsplit(address)
        except ValueError:
            return address
        user, at, host = parts.netloc.rpartition("@")
        if at:
            password = user.partition(":")[2] or user
            self._remove(password)
            self._remove(unquote(password))
            parts = parts._replace(netloc=f"{SECRET}@{host}")
        query = parse_qsl(parts.query, keep_blank_values=True)
        if any(_opens(name) and value for name, value in query):
            clean = [
                (name, self._remove(value) if _opens(name) and value else value)
                for name, value in query
            ]
            parts = parts._replace(query=urlencode(clean, safe="[]"))
        return urlunsplit(parts) if at or parts.query else address


def _is_header(name: str) -> bool:
    """Whether it is no word of a sentence that a colon follows."""
    return "-" in name or name.lower() in ("authorization", "cookie")


def _opens(name: str) -> bool:
    """Whether a member of an address's query is a secret."""
    return is_secret_name(name) or (_WORD.findall(name.lower()) or [""])[-1] in _IN_AN_ADDRESS


def _is_environment(name: str, item: Mapping[Any, Any], path: tuple[str, ...]) -> bool:
    """Whether these are variables for a process; a benchmark's environment is something else."""
    if name.lower() not in ("environment", "env"):
        return False
    return path[-1:] == ("model_options",) or all(_VARIABLE.fullmatch(str(key)) for key in item)
