"""Sends the scores of a run to an OpenTelemetry endpoint, over OTLP/HTTP in its JSON form."""

from __future__ import annotations

import http.client
import os
import random
import re
import ssl
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
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
RETRIED = frozenset({429, 502, 503, 504})
"""Answers after which the protocol asks for another try."""
ANSWER_BYTES = 64 * 1024

_NAME = re.compile(r"[A-Za-z0-9!#$%&'*+.^_`|~-]+")
_VALUE = re.compile(r"[\t\x20-\x7e\xa0-\xff]*")
"""What HTTP takes as the name and the value of a header."""


def send_scores(
    run: RunRecords,
    url: str,
    *,
    environment: Mapping[str, str] = os.environ,
    sleep: Callable[[float], None] = time.sleep,
    rng: random.Random | None = None,
) -> int:
    """Send an event for every score of the run; how many were accepted.

    `url` is that of a Collector (`http://127.0.0.1:4318`) or of its logs (`…/v1/logs`). Raises
    `BadParameter` for what is no such address, and `ResourceError` when the endpoint cannot be
    reached, refuses a request or drops events of it.
    """
    endpoint, headers = logs_endpoint(url), _headers(environment)
    # What stands after a word such as Bearer is the key itself, and may be quoted alone.
    keys = [part for value in headers.values() for part in (value, value.rpartition(" ")[2])]
    mask = SecretMask([*keys, *secret_values(endpoint)])
    sender = _Sender(endpoint, headers, mask, sleep, rng or random.Random())
    count, remaining = 0, otel.run_events(run)
    while events := list(islice(remaining, BATCH)):
        sender.send(dump_json(otel.to_otlp(*events)), count)
        count += len(events)
    return count


def logs_endpoint(url: str) -> str:
    """The address that log records go to; raises `BadParameter` for one that is not HTTP."""
    try:
        parts = urlsplit(url)
        valid = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        valid = False
    if not valid:
        raise BadParameter(
            f"--otlp {url[:200]!r} is no address of HTTP, such as http://127.0.0.1:4318"
        )
    if parts.username or parts.password:
        raise BadParameter(f"--otlp takes no user or password; a key is read from {HEADERS[0]}")
    path = parts.path.rstrip("/")
    path = path if path.endswith(PATH) else path + PATH
    return urlunsplit((parts.scheme, parts.netloc, path, parts.query, ""))


@dataclass(frozen=True, slots=True)
class _Sender:
    endpoint: str
    headers: Mapping[str, str]
    mask: SecretMask
    """Takes the keys out of whatever the endpoint answers."""
    sleep: Callable[[float], None]
    rng: random.Random

    def send(self, body: bytes, n_before: int) -> None:
        """The endpoint has the body; `n_before` is how many it took already."""
        problem = ""
        for sent in range(1, BACKOFF.attempts + 1):
            status, headers, content = self._post(body)
            text = " ".join(content[:300].decode("utf-8", "replace").split())
            problem = f"answered {status}{f': {text}' if text else ''}"
            if not status:
                problem = f"cannot be reached ({text[:200]})"
            elif status not in RETRIED:
                self._check(status, content, problem, n_before)
                return
            if sent < BACKOFF.attempts:
                asked_s, wait_s = retry_after_s(headers), BACKOFF.wait_s(sent, self.rng)
                self.sleep(wait_s if asked_s is None else min(asked_s, BACKOFF.cap_s))
        raise ResourceError(
            f"{self._name} {problem}, {BACKOFF.attempts} times; it has {n_before:,} events of "
            "the run"
        )

    def _check(self, status: int, content: bytes, problem: str, n_before: int) -> None:
        if not 200 <= status < 300:
            hint = f"; its key is read from {HEADERS[0]}, as authorization=Bearer%20KEY"
            raise ResourceError(
                f"{self._name} {problem}; it has {n_before:,} events of the run"
                f"{hint if status in (401, 403) else ''}"
            )
        rejected, why = _rejected(content)
        if rejected:
            raise ResourceError(f"{self._name} dropped {rejected} events: {why[:300]!r}")

    def _post(self, body: bytes) -> tuple[int, dict[str, str], bytes]:
        """The status, headers and content of the answer; status 0, and why, where there is none."""
        parts = urlsplit(self.endpoint)
        https = parts.scheme == "https"
        make = http.client.HTTPSConnection if https else http.client.HTTPConnection
        connection = make(str(parts.hostname), parts.port, timeout=TIMEOUT_S)
        target = urlunsplit(("", "", parts.path, parts.query, ""))
        try:
            own = {**self.headers, "Content-Type": "application/json"}
            connection.request("POST", target, body, own)
            response = connection.getresponse()
            headers = {name.lower(): value for name, value in response.getheaders()}
            return response.status, headers, self.mask.bytes(response.read(ANSWER_BYTES))
        except ssl.SSLCertVerificationError as error:
            raise ResourceError(f"{self._name} is not trusted: {error.verify_message}") from error
        except (OSError, http.client.HTTPException) as error:
            return 0, {}, (str(error) or type(error).__name__).encode("utf-8", "replace")
        finally:
            connection.close()

    @property
    def _name(self) -> str:
        """The address without a user, a password or a query, which may hold a key."""
        parts = urlsplit(self.endpoint)
        host = parts.netloc.rpartition("@")[2]
        return urlunsplit((parts.scheme, host, parts.path, "", ""))


def _headers(environment: Mapping[str, str]) -> dict[str, str]:
    headers = {}
    for variable in HEADERS:
        for pair in filter(None, environment.get(variable, "").split(",")):
            name, equals, value = pair.partition("=")
            header = unquote(value.strip())
            if not equals or not _NAME.fullmatch(name.strip()) or not _VALUE.fullmatch(header):
                # Without the value, which may be a key.
                raise BadParameter(
                    f"{variable} is not name=value,name=value with names and values that HTTP takes"
                )
            headers[name.strip()] = header
    return headers


def _rejected(body: bytes) -> tuple[int, str]:
    """How many events an endpoint that took the request dropped of it, and why."""
    try:
        partial = load_record(body).get("partialSuccess")
        if not isinstance(partial, dict):
            return 0, ""
        return int(partial.get("rejectedLogRecords") or 0), str(partial.get("errorMessage", ""))
    except (BadRecord, TypeError, ValueError):
        # An answer in Protobuf, or none at all: the status is all that it says.
        return 0, ""
