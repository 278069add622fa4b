"""Scores arrive at an OpenTelemetry endpoint whole, or the error says what happened."""

from __future__ import annotations

import json
import random
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, HTTPServer
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from assay.cli.main import main
from assay.errors import BadParameter, ResourceError
from assay.ledger import otlp
from assay.ledger.run import Run
from assay.ledger.writer import RunWriter
from assay.resources.backoff import Backoff
from assay.schema.task import Task
from tests.ledger.example import MANIFEST, episode, write_example


@dataclass
class Endpoint:
    """A server that answers as it is told, and keeps what it was sent."""

    url: str = ""
    answers: list[tuple[int, dict[str, str], bytes]] = field(default_factory=list)
    """One for each request; `200 {}` when there is none left."""
    requests: list[tuple[str, dict[str, str], bytes]] = field(default_factory=list)


@contextmanager
def endpoint(*answers: tuple[int, dict[str, str], bytes]) -> Iterator[Endpoint]:
    record = Endpoint(answers=list(answers))

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["content-length"]))
            record.requests.append((self.path, dict(self.headers.items()), body))
            status, headers, text = record.answers.pop(0) if record.answers else (200, {}, b"{}")
            self.send_response(status)
            for name, value in {**headers, "Content-Length": str(len(text))}.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(text)

        def log_message(self, *arguments: Any) -> None:
            """Nothing is logged."""

    with HTTPServer(("127.0.0.1", 0), Handler) as server:
        record.url = f"http://127.0.0.1:{server.server_port}"
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        try:
            yield record
        finally:
            server.shutdown()
            thread.join()


def send(run: Run, url: str, **environment: str) -> tuple[int, list[float]]:
    waits: list[float] = []
    count = otlp.send_scores(
        run, url, environment=environment, sleep=waits.append, rng=random.Random(0)
    )
    return count, waits


def test_the_official_messages_decode_what_is_sent(tmp_path: Path) -> None:
    messages = import_module("opentelemetry.proto.collector.logs.v1.logs_service_pb2")
    json_format = import_module("google.protobuf.json_format")
    run = write_example(tmp_path)
    with endpoint() as server:
        assert main(["export", str(run.path), "--otlp", server.url]) == 0
    ((path, headers, body),) = server.requests
    assert (path, headers["Content-Type"]) == ("/v1/logs", "application/json")
    # Unknown fields are an error of this parser.
    request = json_format.Parse(body, messages.ExportLogsServiceRequest())
    records = request.resource_logs[0].scope_logs[0].log_records
    scores = [score for each in run.episodes() for score in each.scores]
    assert len(records) == len(scores) > 0
    for record, score in zip(records, scores, strict=True):
        assert record.event_name == "gen_ai.evaluation.result"
        values = {each.key: each.value for each in record.attributes}
        name, _, version = score.scorer.partition("@")
        assert values["gen_ai.evaluation.name"].string_value == score.name
        assert values["assay.scorer.name"].string_value == name
        assert values["assay.scorer.version"].string_value == version
        assert values["assay.run.id"].string_value == run.id
        assert values["gen_ai.agent.name"].string_value == run.manifest.agent
        if score["reward"] is None:
            assert values["error.type"].string_value
        else:
            assert values["gen_ai.evaluation.score.value"].double_value == score["reward"]
    resource = {each.key: each.value for each in request.resource_logs[0].resource.attributes}
    assert resource["service.name"].string_value == "assay"


def test_hostile_text_is_sent_as_valid_unicode(tmp_path: Path) -> None:
    with RunWriter.create(tmp_path, MANIFEST) as writer:
        writer.append(episode("one", Task(id="half \ud800 \x00", goal="")))
    with endpoint() as server:
        assert send(Run(writer.path), server.url)[0] == 1
    json.dumps(json.loads(server.requests[0][2]), ensure_ascii=False).encode("utf-8")


def test_a_large_run_is_sent_in_batches(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(otlp, "BATCH", 2)
    run = write_example(tmp_path)
    n = sum(len(each.scores) for each in run.episodes())
    with endpoint() as server:
        assert send(run, f"{server.url}/collect/v1/logs/") == (n, [])
    sizes = [
        len(json.loads(body)["resourceLogs"][0]["scopeLogs"][0]["logRecords"])
        for _, _, body in server.requests
    ]
    assert (sum(sizes), max(sizes)) == (n, 2)
    assert {path for path, _, _ in server.requests} == {"/collect/v1/logs"}


def test_a_busy_endpoint_is_asked_again_when_it_says(tmp_path: Path) -> None:
    busy = [(503, {"Retry-After": "3"}, b"later"), (429, {}, b"")]
    with endpoint(*busy) as server:
        count, (first, second) = send(write_example(tmp_path), server.url)
    assert count > 0
    assert first == 3.0
    assert 0.5 <= second <= 1.0
    assert len({body for _, _, body in server.requests}) == 1


def test_an_endpoint_that_stays_busy_is_an_error(tmp_path: Path) -> None:
    with (
        endpoint(*[(503, {}, b"no room")] * 5) as server,
        pytest.raises(ResourceError, match=r"answered 503: no room, 5 times; 0 events"),
    ):
        send(write_example(tmp_path), server.url)


def test_a_refusal_is_not_repeated_and_names_where_the_key_goes(tmp_path: Path) -> None:
    with endpoint((401, {}, b"who are you?")) as server:
        with pytest.raises(ResourceError, match=r"401: who are you\?.*OTEL_EXPORTER_OTLP_HEADERS"):
            send(write_example(tmp_path), server.url)
        assert len(server.requests) == 1
        headers = "authorization=Bearer%20a-key,x-team = blue"
        send(write_example(tmp_path / "b"), server.url, OTEL_EXPORTER_OTLP_HEADERS=headers)
    sent = server.requests[1][1]
    assert (sent["authorization"], sent["x-team"]) == ("Bearer a-key", "blue")


def test_events_that_an_endpoint_drops_are_an_error(tmp_path: Path) -> None:
    partial = {"partialSuccess": {"rejectedLogRecords": "2", "errorMessage": "too old"}}
    with (
        endpoint((200, {}, json.dumps(partial).encode())) as server,
        pytest.raises(ResourceError, match=r"dropped 2 events: 'too old'"),
    ):
        send(write_example(tmp_path), server.url)


def test_an_endpoint_that_is_not_there_is_an_error(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{free.getsockname()[1]}"
    monkeypatch.setattr(otlp, "BACKOFF", Backoff(attempts=2, base_s=0.0))
    run = write_example(tmp_path)
    assert main(["export", str(run.path), "--otlp", url]) == 1
    message = capsys.readouterr().err
    assert f"{url}/v1/logs cannot be reached" in message
    assert "Traceback" not in message


@pytest.mark.parametrize(
    "url", ["localhost:4318", "ftp://a", "http://", "http://u:secret@a", "http://[", "http://a:x"]
)
def test_what_is_no_address_is_refused_before_anything_is_sent(url: str) -> None:
    with pytest.raises(BadParameter, match="--otlp") as caught:
        otlp.logs_endpoint(url)
    assert "secret" not in str(caught.value)


def test_an_answer_that_repeats_the_key_does_not_show_it(tmp_path: Path) -> None:
    run = write_example(tmp_path)
    answers: list[tuple[int, dict[str, str], bytes]] = [
        (401, {}, b"Bearer sk-abcdef123456 is wrong"),
        (400, {}, b"no sk-abcdef123456"),
        (
            200,
            {},
            b'{"partialSuccess": {"rejectedLogRecords": 1, "errorMessage": "sk-abcdef123456"}}',
        ),
    ]
    with endpoint(*answers) as server:
        for _ in answers:
            with pytest.raises(ResourceError) as raised:
                send(run, server.url, OTEL_EXPORTER_OTLP_HEADERS="a=Bearer%20sk-abcdef123456")
            assert "sk-abcdef" not in str(raised.value)
            assert "[secret]" in str(raised.value)


@pytest.mark.parametrize("pair", ["a=sk-abcdef%0A", "a=sk-abcdef%20%E2%82%AC", "a b=sk-abcdef"])
def test_a_header_that_http_does_not_take_is_refused_without_its_value(
    pair: str, tmp_path: Path
) -> None:
    with pytest.raises(BadParameter, match="OTEL_EXPORTER_OTLP_HEADERS") as raised:
        send(write_example(tmp_path), "http://127.0.0.1:1", OTEL_EXPORTER_OTLP_HEADERS=pair)
    assert "sk-abcdef" not in str(raised.value)
