"""Send the scores of a run to an OpenTelemetry endpoint as JSON over HTTP."""

from __future__ import annotations

import http.client
import os
import random
import re
import ssl
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from itertools import islice
from urllib.parse import unquote, urlsplit, urlunsplit

from assay.errors import BadParameter, BadRecord, ResourceError
from assay.formats import RunRecords, otel
from assay.formats.lines import dump_json, load_record
from assay.resources.backoff import Backoff, retry_after_s
from assay.schema.secrets import SecretMask, secret_values

PATH = "/v1/logs"
HEADERS = ("OTEL_EXPORTER_OTLP_HEADERS", "OTEL_EXPORTER_OTLP_LOGS_HEADERS")
"""Variables with headers for every request, such as a key: `name=value,name=value`."""
BATCH = 500
TIMEOUT_S = 10.0
BACKOFF = Backoff(attempts=5, base_s=0.5, cap_s=10.0)
RETRIED = frozenset({0, 429, 502, 503, 504})
"""Answers after which the protocol asks for another try; 0 is none at all."""
ANSWER_BYTES = 64 * 1024

_HEADER = re.compile(r"([A-Za-z0-9!#$%&'*+.^_`|~-]+)\s*=(.*)", re.DOTALL)
_VALUE = re.compile(r"[\t\x20-\x7e\xa0-\xff]*")
"""What HTTP takes as a header, and as the value of one."""


def send_scores(
    run: RunRecords,
    url: str,
    *,
    environment: Mapping[str, str] = os.environ,
    sleep: Callable[[float], None] = time.sleep,
    rng: random.Random | None = None,
) -> int:
    """Send an event for every score of the run; return the number of accepted events.

    `url` is that of a Collector (`http://127.0.0.1:4318`) or of its logs (`…/v1/logs`). Raises
    `BadParameter` for what is no such address, and `ResourceError` when the endpoint cannot be
    reached, refuses a request or drops events of it.
    """
    endpoint, headers, rng = logs_endpoint(url), _headers(environment), rng or random.Random()
    # What stands after a word such as Bearer is the key itself, and may be quoted alone.
    keys = [part for value in headers.values() for part in (value, value.rpartition(" ")[2])]
    mask = SecretMask([*keys, *secret_values(endpoint)])
    name = endpoint.partition("?")[0]
    count, remaining = 0, otel.run_events(run)
    while events := list(islice(remaining, BATCH)):
        body = dump_json(otel.to_otlp(*events))
        for sent in range(1, BACKOFF.attempts + 1):
            status, answer, content = _post(endpoint, headers, body)
            content = mask.bytes(content)
            if status not in RETRIED:
                break
            if sent < BACKOFF.attempts:
                asked_s, wait_s = retry_after_s(answer), BACKOFF.wait_s(sent, rng)
                sleep(wait_s if asked_s is None else min(asked_s, BACKOFF.cap_s))
        problem = _problem(status, content)
        if problem:
            again = f", {BACKOFF.attempts} times" if status in RETRIED else ""
            hint = f"; its key is read from {HEADERS[0]}, as authorization=Bearer%20KEY"
            raise ResourceError(
                f"{name} {problem}{again}; {count:,} events were accepted before"
                f"{hint if status in (401, 403) else ''}"
            )
        count += len(events)
    return count


def logs_endpoint(url: str) -> str:
    """The URL for log records; raises `BadParameter` if it does not use HTTP."""
    try:
        parts = urlsplit(url)
        valid = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        valid = False
    if not valid:
        raise BadParameter(
            f"--otlp {url[:200]!r} is not an HTTP address, such as http://127.0.0.1:4318"
        )
    if parts.username or parts.password:
        raise BadParameter(f"--otlp accepts no user and no password; put a key into {HEADERS[0]}")
    path = parts.path.rstrip("/").removesuffix(PATH) + PATH
    return urlunsplit((parts.scheme, parts.netloc, path, parts.query, ""))


def _post(
    endpoint: str, headers: Mapping[str, str], body: bytes
) -> tuple[int, Mapping[str, str], bytes]:
    """The status, headers and content of the response; status 0 for a failed request."""
    parts = urlsplit(endpoint)
    https = parts.scheme == "https"
    make = http.client.HTTPSConnection if https else http.client.HTTPConnection
    connection = make(str(parts.hostname), parts.port, timeout=TIMEOUT_S)
    target = urlunsplit(("", "", parts.path, parts.query, ""))
    try:
        connection.request("POST", target, body, {**headers, "Content-Type": "application/json"})
        response = connection.getresponse()
        answer = {name.lower(): value for name, value in response.getheaders()}
        return response.status, answer, response.read(ANSWER_BYTES)
    except ssl.SSLCertVerificationError as error:
        name = endpoint.partition("?")[0]
        raise ResourceError(f"{name} is not trusted: {error.verify_message}") from error
    except (OSError, http.client.HTTPException) as error:
        return 0, {}, (str(error) or type(error).__name__).encode("utf-8", "replace")
    finally:
        connection.close()


def _problem(status: int, content: bytes) -> str:
    text = " ".join(content[:300].decode("utf-8", "replace").split())
    if not status:
        return f"cannot be reached ({text[:200]})"
    if not 200 <= status < 300:
        return f"answered {status}{f': {text}' if text else ''}"
    # An answer in Protobuf, or none at all: the status is all that it says.
    with suppress(BadRecord, TypeError, ValueError, AttributeError):
        partial = load_record(content).get("partialSuccess") or {}
        if rejected := int(partial.get("rejectedLogRecords") or 0):
            return f"dropped {rejected} events: {str(partial.get('errorMessage', ''))[:300]!r}"
    return ""


def _headers(environment: Mapping[str, str]) -> dict[str, str]:
    headers = {}
    for variable in HEADERS:
        for pair in filter(None, environment.get(variable, "").split(",")):
            match = _HEADER.fullmatch(pair.strip())
            value = "" if match is None else unquote(match[2].strip())
            if match is None or not _VALUE.fullmatch(value):
                # Without the value, which may be a key.
                raise BadParameter(
                    f"{variable} must be name=value,name=value, with valid HTTP names and values"
                )
            headers[match[1]] = value
    return headers
