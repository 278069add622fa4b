"""Recognise secrets by their names, places and patterns, and replace them."""

from __future__ import annotations

import base64
import json
import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import pairwise
from typing import Any
from urllib.parse import parse_qsl, quote, unquote, urlencode, urlsplit, urlunsplit

from assay.lazy import read_toml

SECRET = "[secret]"  # noqa: S105 - what is shown instead of one
LONGEST_LINE = 500
"""Of source code; a longer one is data, and is cut."""
SEARCHED_CHARS = 8_000
"""Of a line of source code that is cut: a secret that the cut would halve is not recognised."""
LEAST_CHARS = 8
"""A shorter value is not looked for in texts: it would be found in innocent ones."""

_WORDS = {
    name: tuple(words.split()) for name, words in read_toml("assay.schema", "secrets").items()
}
"""Words in the names of secrets, and of what is none."""
_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")
_VARIABLE = re.compile(r"[A-Z_][A-Z0-9_]*")
_FLAG = re.compile(r"(--?[A-Za-z][\w-]*)=(.+)", re.DOTALL)
_HEADER = re.compile(r"([A-Za-z][\w-]*): *(\S.*)", re.DOTALL)
_SETTING = re.compile(
    r"(?<![^\s;])(--?[A-Za-z][\w-]*[= ] *|[A-Za-z_][\w.-]*=)"
    r"(\"[^\"]+\"|'[^']+'|[^\s-]\S*?(?=;[A-Za-z][\w ]*=|;?(?:\s|\Z)))"
)
"""A flag with its value, or a variable with its own, in a command or a connection string."""
_JSON_MEMBER = re.compile(
    r"(?P<slashes>\\{0,7})(?P<quote>[\"'])(?P<name>[\w.-]{1,80})(?P=slashes)(?P=quote)\s{0,9}:\s{0,9}"
    r"(?P=slashes)(?P=quote)(?P<value>.{1,4096}?)(?<!\\)(?P=slashes)(?P=quote)",
    re.DOTALL,
)
"""A member of a JSON object within a text, which may itself have been written as JSON."""
_RANDOM = re.compile(r"(?=\D*\d)(?=[^A-Za-z]*[A-Za-z])[\w+/=.~-]{20,}")
_LOOKS = re.compile(
    r"\b(?:(?:sk|pk|rk)-[\w-]{16,}|gh[pousr]_\w{20,}|github_pat_\w{20,}|glpat-[\w-]{16,}"
    r"|xox[abprs]-[\w-]{10,}|hf_\w{20,}|AKIA[0-9A-Z]{16}|AIza[\w-]{30,}"
    r"|(?<![\w-])eyJ[\w-]{10,}+\.[\w-]{10,}+\.[\w-]+)"
    r"|\b(?:sk|rk)_(?:live|test)_\w{16,}"
    r"|(?<=\b[Bb]earer )\S{8,}|(?<=\b[Bb]asic )[A-Za-z0-9+/=]{8,}"
    r"|-----BEGIN [A-Z ]*PRIVATE KEY-----[^-]*(?:-----END [A-Z ]*PRIVATE KEY-----)?"
)
_ASSIGNED = re.compile(
    r"""(?<![\w-])(?P<quote>["'`])?(?P<name>[A-Za-z_][\w-]{0,80})(?(quote)(?P=quote))[\])]{0,3}"""
    r"""\s{0,9}(?::[\w.\[\]| ]{1,40}=|:=|[:=]|(?(quote),|(?!)))\s{0,9}[rbfuRBFU]{0,2}"""
    r"""(?P<mark>\"{3}|'{3}|["'`])(?P<text>(?:\\.|(?!(?P=mark))[^\\]){3,8000})(?P<end>(?P=mark)|$)"""
)
"""A name and a text in quotes, as source code and configuration files assign it, also by the key of
a mapping or as the argument after the name. The text may go on in the next line."""
_OPENED = re.compile(
    r"""(?<![\w-])([A-Za-z_][\w-]{0,80})["'`]?[\])]{0,3}\s{0,9}[:=]{1,2}\s{0,9}[rbfuRBFU]{0,2}"""
    r"""(\"{3}|'{3}|`)\s*$"""
)
"""The end of a line in which a text of several lines is assigned, and begins in the next."""
_BLOCK = re.compile(r"""(\s*)(?:- )?["']?([A-Za-z_][\w-]*)["']?\s*:\s*[|>][+-]?\d?[+-]?\s*""")
"""A name whose value is the lines below it, further to the right, as in YAML."""
_PRIVATE_KEY = re.compile(r"-----BEGIN [A-Z ]*PRIVATE KEY-----(?!.*-----END)")
_OF_A_PRIVATE_KEY = re.compile(
    r"""[\s"'`,()\[\]]*(?:[A-Za-z0-9+/=]+(?:\\n)?|(?:Proc-Type|DEK-Info): .*|-----END .*)?"""
    r"""[\s"'`+,()\[\]\\]*"""
)
_BARE = re.compile(r"(\s*[A-Za-z_][\w-]*\s*[:=]\s*)([^\s\"'(){}\[\],]{8,})\s*")
"""A line of its own with a name and a value, as YAML and INI files write it."""
_ADDRESS = re.compile(r"\b[a-zA-Z][a-zA-Z0-9+.-]{1,20}://[^\s\"'<>]+")
_USER = re.compile(r"\b([a-zA-Z][a-zA-Z0-9+.-]{1,20}://)[^/?#\s:@]*:(?!\d{1,5}(?:[/?#]|$))")
"""The beginning of an address with a user, up to the password, which may hold any character."""
_HOST = re.compile(r"@(?=[\w.\[-]+(?:[:/?#]|$))")
_PUBLIC_HEADERS = frozenset({"accept", "content-type", "user-agent", "anthropic-version"})


def is_secret_name(name: str) -> bool:
    """Whether the name of a key, header, option or variable suggests a secret."""
    words = _without_text_tokens([word.lower() for word in _WORD.findall(name)])
    if not words or words[-1] in _WORDS["place"]:
        return False
    if not set(words).isdisjoint(_WORDS["secret"]) or any(
        word.endswith(_WORDS["glued"]) for word in words
    ):
        return True
    if words[-1] == "pass" and len(words) > 1:
        return True
    if any(
        before in _WORDS["key_of"] and word in _WORDS["key"] for before, word in pairwise(words)
    ):
        return True
    return words[-1] == "key" and len(words) > 1 and _VARIABLE.fullmatch(name) is not None


def redact(value: Any) -> Any:
    """Replace the secrets in a JSON value; the rest of the value stays the same."""
    return _Redaction().value(value, ())


def redact_source(text: str) -> str:
    """Replace the secrets in lines of code or configuration."""
    return "\n".join(_Redaction().source_lines(text.split("\n")))


def secret_values(value: Any) -> frozenset[str]:
    """The secret texts that `redact` removes from a value."""
    redaction = _Redaction()
    redaction.value(value, ())
    return frozenset(redaction.removed)


def environment_secrets(environment: Mapping[str, str]) -> frozenset[str]:
    """The values of environment variables whose names suggest secrets."""
    return frozenset(
        value
        for name, value in environment.items()
        if is_secret_name(name)
        and len(value) >= LEAST_CHARS
        # A path says where the secret is; a secret may begin with a slash too.
        and not (value.startswith("/") and os.path.lexists(value))
    )


class SecretMask:
    """Replaces known secrets in texts and bytes, also where JSON escapes their characters."""

    def __init__(self, secrets: Iterable[str]) -> None:
        long = sorted((secret for secret in secrets if len(secret) >= LEAST_CHARS), key=len)[::-1]
        self._plain = [form for secret in long for form in _forms(secret)]
        self._escaped = re.compile("|".join(map(_escaped, long)).encode()) if long else None

    def bytes(self, data: bytes) -> bytes:
        """Replace the secrets in the data; data without secrets is returned unchanged."""
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
    """The encodings in which a secret may occur: plain, in a URL and in base64."""
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
    """A pattern that finds the secret even if JSON escapes some of its characters.

    It reads each run of backslashes once, from its beginning, so that it takes linear time.
    """
    pattern, start, run = "", r"(?<!\\)", r"\\++"
    for char in secret:
        escape = rf"{start}{run}u(?i:{ord(char):04x})"
        if char == "\\":
            pattern += rf"(?:{start}{run}(?!u005c)|{escape})"
        else:
            slashed = rf"{start}\\*+{char}|" if char in '/"' else ""
            pattern += rf"(?:{re.escape(char)}|{slashed}{escape})"
        # The backslashes after one of the secret belong to the same run.
        start, run = "", r"\\*+" if char == "\\" else r"\\++"
    return pattern


class _Redaction:
    """Replaces the secrets of one value, and collects them in `removed`."""

    def __init__(self) -> None:
        self.removed: set[str] = set()

    def value(self, value: Any, path: tuple[str, ...]) -> Any:
        if isinstance(value, Mapping):
            if is_secret_name(str(value.get("name", ""))) and isinstance(value.get("value"), str):
                value = {**value, "value": self._all(value["value"])}
            return self._members(value, path)
        if isinstance(value, (list, tuple)):
            return self._items(value, path)
        return self._text(value) if isinstance(value, str) else value

    def _members(self, mapping: Mapping[Any, Any], path: tuple[str, ...]) -> dict[Any, Any]:
        members: dict[Any, Any] = {}
        for name, item in mapping.items():
            clean = key = self._text(name) if isinstance(name, str) else name
            count = 1
            # Two names may be secrets: neither takes the other's place.
            while key in members:
                count += 1
                key = f"{clean} {count}"
            members[key] = self._member(str(name), item, path)
        return members

    def _member(self, name: str, item: Any, path: tuple[str, ...]) -> Any:
        if is_secret_name(name) and SECRET not in name:
            return self._number(item) if _is_number(item) else self._all(item)
        if isinstance(item, str) and _opens(name) and _RANDOM.fullmatch(item):
            return self._remove(item)
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
        """Replace every non-empty text in the item; numbers stay unchanged."""
        if isinstance(item, Mapping):
            return {key: self._all(member) for key, member in item.items()}
        if isinstance(item, (list, tuple)):
            return [self._all(member) for member in item]
        return self._remove(item) if isinstance(item, str) and item else item

    def _number(self, number: float) -> Any:
        """Replace a number that is stored under a secret name; 0 stays unchanged."""
        return self._remove(str(number)) if number else number

    def _remove(self, text: str) -> str:
        if text != SECRET:
            self.removed.add(text)
        return SECRET

    def _json(self, text: str) -> str:
        try:
            record = json.loads(text)
            clean = self.value(record, ())
        except (ValueError, RecursionError):
            return text
        return text if clean == record else json.dumps(clean, ensure_ascii=False)

    def _text(self, text: str) -> str:
        if text.lstrip()[:1] in ("{", "["):
            text = self._json(text)
        flag = _FLAG.fullmatch(text)
        if flag is not None and is_secret_name(flag[1]):
            return f"{flag[1]}={self._remove(flag[2])}"
        header = _HEADER.fullmatch(text)
        # Any other single word with a colon after it may be one of a sentence.
        if header is not None and (
            ("-" in header[1] and is_secret_name(header[1]))
            or header[1].lower() in ("authorization", "cookie")
        ):
            return f"{header[1]}: {self._remove(header[2])}"
        text = _JSON_MEMBER.sub(self._json_member, text)
        text = _SETTING.sub(self._setting, text)
        if "@" in text and "://" in text:
            text = "\n".join(map(self._user, text.split("\n")))
        text = _ADDRESS.sub(lambda match: self._address(match[0]), text)
        return _LOOKS.sub(lambda match: self._remove(match[0]), text)

    def source_lines(self, lines: Iterable[str]) -> Iterator[str]:
        """Redact the secrets in the lines; the number of lines stays the same."""
        goes_on: Callable[[str], bool] | None = None
        """Whether a line belongs to the secret that began above it."""
        for line in lines:
            if goes_on is not None and goes_on(line):
                yield self._remove(line) if line.strip() else line
                continue
            goes_on = _lines_below(line)
            clean = self._source_line(line[:SEARCHED_CHARS])
            is_long = len(line) > SEARCHED_CHARS or len(clean) > LONGEST_LINE
            yield f"{clean[:LONGEST_LINE]}…" if is_long else clean

    def _source_line(self, line: str) -> str:
        bare = _BARE.fullmatch(line)
        if bare is not None and is_secret_name(bare[1].strip(" :=\t")):
            return bare[1] + self._remove(bare[2])
        return self._text(_ASSIGNED.sub(self._assigned, line))

    def _assigned(self, match: re.Match[str]) -> str:
        if not is_secret_name(match["name"]):
            return match[0]
        start = match.start("text") - match.start()
        return match[0][:start] + self._remove(match["text"]) + match["end"]

    def _setting(self, match: re.Match[str]) -> str:
        name = match[1].strip("= ")
        return match[1] + self._remove(match[2]) if is_secret_name(name) else match[0]

    def _json_member(self, match: re.Match[str]) -> str:
        value = match["value"]
        if is_secret_name(match["name"]):
            value = self._remove(value)
        elif ":" in value:
            value = _JSON_MEMBER.sub(self._json_member, value)
        start, end = (place - match.start() for place in match.span("value"))
        return match[0][:start] + value + match[0][end:]

    def _user(self, line: str) -> str:
        """The line without the user and password before a host: up to the last host in it."""
        user = _USER.search(line)
        end = max((match.start() for match in _HOST.finditer(line)), default=-1)
        if user is None or end < user.end():
            return line
        self._remove(line[user.end() : end])
        return f"{line[: user.start()]}{user[1]}{SECRET}{line[end:]}"

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
        # What follows a route in the fragment of a page is its query.
        route, mark, last = parts.fragment.rpartition("?")
        query, fragment = self._query(parts.query), route + mark + self._query(last)
        if not at and (query, fragment) == (parts.query, parts.fragment):
            return address
        return urlunsplit(parts._replace(query=query, fragment=fragment))

    def _query(self, query: str) -> str:
        members = parse_qsl(query, keep_blank_values=True)
        if not any(_opens(name) and value for name, value in members):
            return query
        clean = [
            (name, self._remove(value) if _opens(name) and value else value)
            for name, value in members
        ]
        return urlencode(clean, safe="[]")


def _lines_below(line: str) -> Callable[[str], bool] | None:
    """Return a test for the following lines of a multi-line secret, or `None`."""
    if _PRIVATE_KEY.search(line[:SEARCHED_CHARS]):
        return lambda below: _OF_A_PRIVATE_KEY.fullmatch(below[:SEARCHED_CHARS]) is not None
    block = _BLOCK.fullmatch(line[:SEARCHED_CHARS])
    if block is not None and is_secret_name(block[2]):
        indent = len(block[1])
        return lambda below: not below.strip() or len(below) - len(below.lstrip()) > indent
    mark = _open_text(line[:SEARCHED_CHARS])
    return _until(mark) if mark else None


def _open_text(line: str) -> str:
    """The opening quotes of a secret text that continues on the next line."""
    for match in _ASSIGNED.finditer(line):
        is_open = not match["end"] and match["mark"] not in ('"', "'")
        if is_open and is_secret_name(match["name"]):
            return match["mark"]
    opened = _OPENED.search(line)
    return opened[2] if opened is not None and is_secret_name(opened[1]) else ""


def _until(mark: str) -> Callable[[str], bool]:
    """Return a test that accepts all lines up to the closing quotes."""
    is_over = False

    def goes_on(line: str) -> bool:
        nonlocal is_over
        was_over, is_over = is_over, is_over or mark in line
        return not was_over

    return goes_on


def _opens(name: str) -> bool:
    """Whether the name of a URL query parameter suggests a secret."""
    return is_secret_name(name) or (_WORD.findall(name.lower()) or [""])[-1] in _WORDS["opens"]


def _is_number(item: Any) -> bool:
    return isinstance(item, (int, float)) and not isinstance(item, bool)


def _without_text_tokens(words: list[str]) -> list[str]:
    """Remove the word `token` from a name where it means a text token, as in `eos_token`."""
    for at, word in enumerate(words):
        if word == "token" and (
            (at and words[at - 1] in _WORDS["before_token"])
            or (at + 1 < len(words) and words[at + 1] in _WORDS["after_token"])
        ):
            return words[:at] + words[at + 1 :]
    return words


def _is_environment(name: str, item: Mapping[Any, Any], path: tuple[str, ...]) -> bool:
    """Whether the mapping holds the environment variables of a process."""
    if name.lower() not in ("environment", "env"):
        return False
    return path[-1:] == ("model_options",) or all(_VARIABLE.fullmatch(str(key)) for key in item)
