"""How a target is named, and how each shape is called and read."""

from __future__ import annotations

import json
import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any

import pytest

from assay.audit.data import built_in
from assay.audit.findings import CallResult, GraderCall
from assay.audit.isolation import AuditSession
from assay.audit.target import parse_target
from assay.errors import BadParameter, UnknownName, UsageError
from assay.schema.audit import Shape

SHAPES = """
import asyncio, math

def same(text, gold):
    return 1.0 if str(text).endswith(str(gold)) else 0.0

def ours(final_response, answer, *, option=3):
    return {"reward": same(final_response, answer), "acc": 1.0}

async def ours_async(final_response, answer, **columns):
    await asyncio.sleep(0)
    return same(final_response, columns["extra"])

def trl(prompts, completions, solution, **kwargs):
    return [None if s is None else same(c[0]["content"], s) for c, s in zip(completions, solution)]

def trl_text(completions, answer):
    return [same(c.strip(), a) for c, a in zip(completions, answer)]

async def trl_async(prompts, completions, answer, trainer_state=None):
    return [same(c[-1]["content"], a) for c, a in zip(completions, answer)]

def verl(data_source, solution_str, ground_truth, extra_info=None):
    return {"score": same(solution_str, ground_truth), "length": len(solution_str)}

def openrlhf(queries, prompts, labels, **kwargs):
    scores = [same(q.removeprefix(p), l) for q, p, l in zip(queries, prompts, labels)]
    return {"rewards": scores, "scores": scores, "extra_logs": {"acc": scores}}

def verifiers(completion, answer, state, parser):
    assert state["answer"] == answer
    return same(parser.parse_answer(completion), answer)

def plain(given, truth):
    return same(given, truth)

def lonely(x):
    return 1.0

def returns_nan(final_response, answer): return math.nan
def returns_text(final_response, answer): return "1.0"
def returns_none(final_response, answer): return None
def returns_bool(final_response, answer): return True
def returns_list(final_response, answer): return [1.0]
def returns_keyless(final_response, answer): return {"points": 1.0}
def raises(final_response, answer): raise KeyError("x")
def returns_huge(final_response, answer): return 10 ** 400
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "shapes.py").write_text(SHAPES)
    return tmp_path


def _ask(folder: Path, name: str, text: str, gold: Any, shape: Shape | None = None) -> CallResult:
    spec = parse_target(f"shapes.py:{name}", folder=folder, shape=shape)
    with AuditSession(spec) as session:
        session.settle_shape("qa", built_in("qa")[:3])
        columns = {"prompt": "How many? ", "answer": gold, "extra": gold}
        return session.ask([GraderCall(text, columns)])[0]


@pytest.mark.parametrize(
    ("name", "shape"),
    [
        ("ours", "assay"),
        ("ours_async", "assay"),
        ("trl", "trl"),
        ("trl_text", "trl-text"),
        ("trl_async", "trl"),
        ("verl", "verl"),
        ("openrlhf", "openrlhf"),
        ("verifiers", "verifiers"),
        ("plain", "plain"),
    ],
)
def test_each_shape_is_told_by_its_signature_and_called_so(
    name: str, shape: str, folder: Path
) -> None:
    with AuditSession(parse_target(f"shapes.py:{name}", folder=folder)) as session:
        session.settle_shape("qa", built_in("qa")[:3])
        assert session.target.shape == shape
        columns = {"prompt": "How many? ", "answer": "42", "extra": "42"}
        right, wrong = session.ask(
            [GraderCall("It is 42", columns), GraderCall("It is 41", columns)]
        )
    assert (right.value, wrong.value) == (1.0, 0.0)


@pytest.mark.parametrize(
    ("name", "status", "value", "kind"),
    [
        ("returns_text", "raised", None, "str"),
        ("returns_none", "abstained", None, "NoneType"),
        ("returns_bool", "scored", 1.0, "bool"),
        ("returns_list", "raised", None, "list"),
        ("returns_keyless", "raised", None, "dict"),
        ("raises", "raised", None, ""),
        ("returns_huge", "scored", float("inf"), "int"),
    ],
)
def test_what_is_returned_is_read_as_a_trainer_would(
    name: str, status: str, value: float | None, kind: str, folder: Path
) -> None:
    verdict = _ask(folder, name, "x", "1")
    assert (verdict.status, verdict.value, verdict.raw_type) == (status, value, kind)


def test_nan_is_seen_as_nan(folder: Path) -> None:
    verdict = _ask(folder, "returns_nan", "x", "1")
    assert verdict.status == "scored"
    assert verdict.value is not None
    assert verdict.value != verdict.value


def test_none_in_a_batch_abstains(folder: Path) -> None:
    assert _ask(folder, "trl", "x", None, shape="trl").status == "abstained"


def test_metrics_beside_the_score_are_kept(folder: Path) -> None:
    assert _ask(folder, "verl", "ab42", "42").parts == {"length": 4.0}
    assert _ask(folder, "openrlhf", "42", "42").parts == {"acc": 1.0}


def test_a_shape_that_cannot_be_told_has_to_be_named(folder: Path) -> None:
    with (
        AuditSession(parse_target("shapes.py:lonely", folder=folder)) as session,
        pytest.raises(BadParameter, match=r"lonely\(x\); set its calling convention with --shape"),
    ):
        session.target  # noqa: B018 - reading it loads the target


@pytest.mark.parametrize(
    ("text", "error", "because"),
    [
        ("math_equal_rewad", UnknownName, "did you mean 'math_equal_reward'"),
        ("no/such.py:f", UnknownName, "there is no file 'no/such.py'"),
        (":f", UnknownName, "neither"),
        ("http://127.0.0.1:1/v1/score", BadParameter, "add a name after '#'"),
    ],
)
def test_a_target_that_names_nothing_is_refused(
    text: str, error: type[UsageError], because: str
) -> None:
    with pytest.raises(error, match=because):
        parse_target(text)


def test_an_agentfly_file_needs_no_agentfly(tmp_path: Path) -> None:
    (tmp_path / "fly.py").write_text(
        "from agentfly.rewards import reward\n"
        "@reward(name='short')\n"
        "def short(final_response, answer, **kwargs):\n"
        "    assert not kwargs\n"
        "    return {'reward': float(final_response == answer), 'words': 1.0}\n"
    )
    with AuditSession(parse_target("fly.py:short", folder=tmp_path)) as session:
        assert session.target.shape == "agentfly"
        (verdict,) = session.ask([GraderCall("a", {"answer": "a"})])
    assert (verdict.value, verdict.parts) == (1.0, {"words": 1.0})


def test_another_interpreter_needs_no_assay(tmp_path: Path) -> None:
    (tmp_path / "guest.py").write_text(
        "import sys\ndef f(given, truth):\n    return float('assay' not in sys.modules)\n"
    )
    bare = tmp_path / "python"
    bare.write_text(f'#!/bin/sh\nexec {sys.executable} -S "$@"\n')
    bare.chmod(0o755)
    spec = parse_target("guest.py:f", python="./python", folder=tmp_path)
    with AuditSession(spec) as session:
        places = [
            session.run_calls([GraderCall("a", {})], place=place)[0] for place in ("main", "spawn")
        ]
    assert [answer.result.value for answer in places] == [1.0, 1.0]


class _Answers(BaseHTTPRequestHandler):
    """Both shapes of a reward over HTTP."""

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        response: Any
        if self.path == "/get_reward":
            response = {"rewards": [float(body["query"][0].endswith(body["labels"][0]))]}
        elif body["reward"] in ("500", "422"):
            self.send_error(int(body["reward"]))
            return
        else:
            row = body["row"]
            paid = float(row["final_response"] == row["answer"])
            score = {"value": paid, "because": "equal", "parts": {"acc": paid}}
            response = {"results": [{"line": 1, "scores": {body["reward"]: score}}]}
        data = json.dumps(response).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - the library's name
        """Nothing."""


@pytest.fixture
def address() -> Iterator[str]:
    server = HTTPServer(("127.0.0.1", 0), _Answers)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    thread.join()
    server.server_close()


def test_a_reward_behind_an_address_is_asked_in_either_shape(address: str) -> None:
    calls = [GraderCall("a", {"answer": "a"}), GraderCall("b", {"answer": "a"})]
    for target in (f"{address}/v1/score#same", f"{address}/get_reward", f"{address}#same"):
        with AuditSession(parse_target(target)) as session:
            assert [verdict.value for verdict in session.ask(calls)] == [1.0, 0.0], target
            assert session.target.name == ("same" if "#" in target else target)


@pytest.mark.parametrize(("code", "status"), [("500", "raised"), ("422", "abstained")])
def test_a_server_that_refuses_a_row_is_not_one_that_fails(
    code: str, status: str, address: str
) -> None:
    with AuditSession(parse_target(f"{address}#{code}")) as session:
        (verdict,) = session.ask([GraderCall("a", {"answer": "a"})])
    assert verdict.status == status
    assert code in verdict.because
