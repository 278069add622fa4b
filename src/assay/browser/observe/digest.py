"""Digests of a page: short hashes that show whether two pages are equal.

Clocks, counters, nonces, tracking parameters and the order of lists do not count. Text of low
entropy can be guessed from its digest, so give a `key` where digests leave the machine.
"""

from __future__ import annotations

import hmac
import json
import re
from collections import Counter
from collections.abc import Iterable, Mapping
from hashlib import sha256
from typing import Any, Final, Literal, TypeAlias
from urllib.parse import parse_qsl, urlencode, urlsplit

from assay.schema.evidence import NetworkFact, PageEvidence

DIGEST_SCHEMA: Final = "d1"
TEXT_LIMIT: Final = 1_000_000
"""Characters of the visible text that count; beyond them only the rough length does."""
NODE_LIMIT: Final = 64
DEPTH_LIMIT: Final = 3

DigestChannel: TypeAlias = Literal["url", "dom", "text", "net", "refs", "call", "info"]
DomTree: TypeAlias = tuple[str, str, "list[DomTree]"]
"""Tag, role, children; lists do as well as tuples, so that it can come as JSON from the page."""

_TRACKING: Final = re.compile(
    r"utm_\w*|gclid|gbraid|wbraid|dclid|fbclid|msclkid|yclid|igshid|mc_[ce]id|_ga|_gl|ref_src",
    re.IGNORECASE,
)
_DIGIT: Final = re.compile(r"\d")
_NOISE: Final = re.compile(
    r"\d{1,2}:\d{2}(?::\d{2})?(?:[ap]m)?"  # a clock
    r"|\d{9,}"  # an epoch or a running number
    r"|[0-9a-f]{16,}"  # a nonce
    r"|[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}",
    re.IGNORECASE,
)
_NUMBER: Final = re.compile(r"\d[\d.,]*[km]?", re.IGNORECASE)
_COUNTED_BY_ITSELF: Final = frozenset(
    f"{noun}{plural}"
    for noun in ("second", "sec", "minute", "min", "hour", "view", "viewer", "visitor", "like")
    for plural in ("", "s")
) | {"online", "watching"}
_AROUND_WORDS: Final = "()[]{}<>.,;:!?\"'"
_ID_SEGMENT: Final = re.compile(r"\d+|[0-9a-f-]{16,}", re.IGNORECASE)
_ANALYTICS: Final = re.compile(
    r"(?:^|[/.])(?:google-analytics|analytics|googletagmanager|doubleclick|segment|sentry|hotjar"
    r"|mixpanel|amplitude|beacon|collect|telemetry|metrics|pixel|rum|csp-report)(?:[/.?]|$)",
    re.IGNORECASE,
)
MUTATING: Final = frozenset(("POST", "PUT", "PATCH", "DELETE"))
_VOLATILE: Final = frozenset(
    ("timestamp", "ts", "nonce", "request_id", "requestid", "trace_id", "timeout", "timeout_ms")
)


def digest(channel: DigestChannel, content: str, *, key: bytes = b"") -> str:
    """The digest of a text that is already in its canonical form."""
    data = content.encode("utf-8", "surrogatepass")
    hexadecimal = hmac.digest(key, data, "sha256").hex() if key else sha256(data).hexdigest()
    return f"{DIGEST_SCHEMA}:{channel}:{hexadecimal[:16]}"


def url_digest(url: str, *, key: bytes = b"") -> str:
    """The digest of an address, without tracking parameters and the order of its query."""
    return digest("url", normalise_url(url), key=key)


def normalise_url(url: str) -> str:
    """The address in canonical form; an unreadable address stays unchanged."""
    try:
        parts = urlsplit(url.strip())
        port = parts.port
        query = [
            pair
            for pair in parse_qsl(parts.query, keep_blank_values=True, max_num_fields=1_000)
            if not _TRACKING.fullmatch(pair[0])
        ]
    except ValueError:
        return url
    host = (parts.hostname or "").lower()
    if port is not None and (parts.scheme, port) not in (("http", 80), ("https", 443)):
        host = f"{host}:{port}"
    line = urlencode(sorted(query), errors="surrogatepass")
    path = parts.path or "/"
    return f"{parts.scheme}://{host}{path}?{line}#{parts.fragment}"


def text_digest(text: str, *, key: bytes = b"") -> str:
    """The digest of a visible text, with clocks, counters and nonces masked."""
    return digest("text", normalise_text(text), key=key)


def normalise_text(text: str) -> str:
    """The text with clocks, counters and nonces masked; small numbers stay."""
    words = text[:TEXT_LIMIT].split()
    for index, word in enumerate(words):
        if not word.isalpha() and _DIGIT.search(word):
            after = words[index + 1] if index + 1 < len(words) else ""
            if _is_noise(word[:200].strip(_AROUND_WORDS), after):
                words[index] = "~"
    folded = " ".join(words)
    return folded if len(text) <= TEXT_LIMIT else f"{folded}+{len(text).bit_length()}"


def _is_noise(word: str, after: str) -> bool:
    """Whether a word with a digit is a clock, a nonce or a counter."""
    if _NOISE.fullmatch(word):
        return True
    unit = after[:20].strip(_AROUND_WORDS).lower()
    return unit in _COUNTED_BY_ITSELF and _NUMBER.fullmatch(word) is not None


def dom_digest(
    tree: DomTree | None,
    *,
    landmarks: Iterable[str] = (),
    counts: Mapping[str, int] | None = None,
    key: bytes = b"",
) -> str:
    """The digest of a page's structure: its upper levels, landmarks and rough counts."""
    skeleton = {
        "tree": [] if tree is None else _outline(tree),
        "landmarks": sorted(set(landmarks)),
        "counts": {name: max(n, 0).bit_length() for name, n in sorted((counts or {}).items())},
    }
    return digest("dom", _canonical(skeleton), key=key)


def _outline(tree: DomTree) -> list[str]:
    """The depth, tag and role of the first nodes, level by level."""
    lines: list[str] = []
    level = [tree]
    for depth in range(DEPTH_LIMIT + 1):
        below: list[DomTree] = []
        for tag, role, children in level:
            if len(lines) == NODE_LIMIT:
                return lines
            lines.append(f"{depth}{tag.lower()}[{role.lower()}]{min(len(children), NODE_LIMIT)}")
            below.extend(children[:NODE_LIMIT])
        level = below[:NODE_LIMIT]
    return lines


def net_digest(entries: Iterable[NetworkFact], *, key: bytes = b"") -> str:
    """The digest of all successful requests that change something, without analytics.

    Give all requests since the tab was opened: equal digests mean that nothing was sent in between.
    """
    return sent_digest(Counter(filter(None, map(net_line, entries))), key=key)


def net_line(entry: NetworkFact) -> str | None:
    """The text of a request for the digest; `None` for a request that does not count."""
    method, status = entry.method.upper(), entry.status or 0
    if method not in MUTATING or not 200 <= status < 400 or is_analytics(entry.url):
        return None
    return f"{method} {request_line(entry.url)} {status // 100}xx"


def is_analytics(url: str) -> bool:
    """Whether an address belongs to web analytics."""
    return _ANALYTICS.search("".join(_host_and_path(url[:8_192]))) is not None


def request_line(url: str) -> str:
    """The host and the path of an address, without the numbers in it."""
    host, path = _host_and_path(url[:8_192])
    return host + "/".join("{}" if _ID_SEGMENT.fullmatch(s) else s for s in path.split("/"))


def sent_digest(sent: Mapping[str, int], *, key: bytes = b"") -> str:
    """The digest of rough request counts; regular polling soon stops changing the digest."""
    lines = sorted(f"{line} {count.bit_length()}" for line, count in sent.items())
    return digest("net", "\n".join(lines), key=key)


def _host_and_path(url: str) -> tuple[str, str]:
    try:
        parts = urlsplit(url)
    except ValueError:
        return "", url
    return parts.netloc.lower(), parts.path


def refs_digest(refs: Iterable[tuple[str, str]], *, key: bytes = b"") -> str:
    """The digest of the elements that can be acted on, in any order."""
    lines = sorted(json.dumps([role, " ".join(name.split())]) for role, name in refs)
    return digest("refs", f"{len(lines)}\n" + "\n".join(lines), key=key)


def call_signature(tool: str, arguments: Mapping[str, Any], *, key: bytes = b"") -> str:
    """The digest of a tool and its arguments, without arguments such as time stamps."""
    stable = {k: v for k, v in arguments.items() if k.lower() not in _VOLATILE}
    return digest("call", _canonical([tool, stable]), key=key)


def info_digest(result: str, *, key: bytes = b"") -> str:
    """The digest of a call's result, with clocks, counters and nonces masked."""
    return digest("info", normalise_text(result), key=key)


def _canonical(value: Any) -> str:
    return json.dumps(value, sort_keys=True, separators=(",", ":"), default=repr)


def page_evidence(
    *,
    url: str | None = None,
    text: str | None = None,
    tree: DomTree | None = None,
    landmarks: Iterable[str] = (),
    counts: Mapping[str, int] | None = None,
    network: Iterable[NetworkFact] | None = None,
    sent: Mapping[str, int] | None = None,
    refs: Iterable[tuple[str, str]] | None = None,
    shot: int | None = None,
    tiles: str | None = None,
    dialog: bool | None = None,
    key: bytes = b"",
) -> PageEvidence:
    """Build the evidence of a page; requests are a list (`network`) or counts (`sent`)."""
    net = None if network is None else net_digest(network, key=key)
    if sent is not None:
        net = sent_digest(sent, key=key)
    elements = None if refs is None else list(refs)
    has_dom = tree is not None or counts is not None
    return PageEvidence(
        url=None if url is None else url_digest(url, key=key),
        dom=dom_digest(tree, landmarks=landmarks, counts=counts, key=key) if has_dom else None,
        text=None if text is None else text_digest(text, key=key),
        net=net,
        refs=None if elements is None else refs_digest(elements, key=key),
        n_refs=None if elements is None else len(elements),
        shot=shot,
        tiles=tiles,
        dialog=dialog,
        schema=DIGEST_SCHEMA,
    )
