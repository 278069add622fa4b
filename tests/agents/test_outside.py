"""Agents behind HTTP and behind a pipe, in any language: what they say, and how they fail."""

from __future__ import annotations

import asyncio
import json
import signal
import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import playwright
import pytest

from assay.agents.outside import StdioAgent
from assay.agents.protocol import EpisodeLimits
from assay.errors import BadParameter, RunStopped
from assay.ledger.run import Run
from assay.runner.run import run
from assay.schema.observation import Observation
from assay.schema.task import Task

EXAMPLES = Path(__file__).parents[2] / "examples"
NODE = Path(playwright.__file__).parent / "driver" / "node"


def ask(agent: str, *, settings: dict[str, Any] | None = None, **more: Any) -> Run:
    questions = EXAMPLES / "my_questions.jsonl"
    rewards = ["math_equal_reward"]
    return run(questions, agent=agent, rewards=rewards, settings=settings or {}, **more)


def endings(result: Run) -> dict[str, tuple[str, str | None]]:
    return {e.task.id: (e.stop_reason, e.final_response) for e in result.final()}


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def test_the_agent_in_javascript_answers_and_resumes() -> None:
    agent = f"stdio:{NODE} {EXAMPLES / 'my_agent.js'}"
    result = ask(agent)
    assert endings(result)["product"] == ("answered", "144")
    assert endings(result)["capital"] == ("answered", "unknown")
    assert result.manifest.config["agent"]["name"] == "stdio"
    path = result.path / "episodes.jsonl"
    path.write_text(path.read_text().splitlines()[0] + "\n")
    again = run(resume=result.path)
    assert len(list(again.final())) == 5
    (episode, *_) = again.final(full=True)
    assert episode.trajectory.steps[-1].think == "looked for a sum"


def program(code: str) -> str:
    Path("program.py").write_text(f"import json, os, sys, time\n{code}\n")
    return f"stdio:{sys.executable} program.py"


@pytest.mark.parametrize(
    ("code", "stop_reason", "words"),
    [
        ("sys.exit('out of luck')", "agent_error", "ended with status 1: out of luck"),
        ("print('hello', flush=True); time.sleep(9)", "agent_error", "not JSON: hello"),
        (
            "input(); print(json.dumps({'error': 'no idea'}), flush=True)",
            "agent_error",
            "no idea",
        ),
        (
            "input(); print(json.dumps({'model_error': 'busy', 'fatal': False}), flush=True)",
            "model_error",
            "busy",
        ),
        ("input(); print(json.dumps({'anser': 1}), flush=True)", "agent_error", "an action has"),
        ("time.sleep(60)", "timeout", ""),
        ("os.fork() or time.sleep(60); time.sleep(60)", "timeout", ""),
    ],
)
def test_a_program_that_fails_ends_its_episode(code: str, stop_reason: str, words: str) -> None:
    settings = {"limits.step_s": 3.0 if stop_reason != "timeout" else 0.3}
    (episode,) = ask(program(code), settings=settings, tasks="sum").final()
    assert episode.stop_reason == stop_reason
    assert words in (episode.failure.message if episode.failure else "")


@pytest.mark.parametrize("code", ["time.sleep(60)", "while True: sys.stderr.write('x' * 9999)"])
def test_a_program_that_is_given_up_is_killed_and_waited_for(code: str) -> None:
    async def give_up() -> int | None:
        agent = StdioAgent(command=program(code).removeprefix("stdio:"))
        await agent.start(Task(id="x"), limits=EpisodeLimits())
        process = agent._process
        assert process is not None
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.3):
                await agent.act(Observation(""), step=1)
        await agent.close()
        return process.returncode

    assert asyncio.run(give_up()) == -signal.SIGKILL


def test_a_program_that_is_not_there_is_refused_before_the_run() -> None:
    with pytest.raises(BadParameter, match="no program named 'no_such_program'"):
        ask("stdio:no_such_program agent.js")
    assert not Path("runs").exists()


class Served(BaseHTTPRequestHandler):
    """Answers by the task's id; says 500, 401 or nonsense where it is told to."""

    protocol_version = "HTTP/1.1"
    status = 200
    requests: list[dict[str, Any]] = []  # noqa: RUF012 - one server at a time

    def do_POST(self) -> None:
        request = json.loads(self.rfile.read(int(self.headers["content-length"])))
        self.requests.append({**request, "token": self.headers.get("authorization")})
        answers = {"sum": "42", "product": {"answer": 144}, "half": {"gave_up": True}}
        answer = answers.get(request["task_id"], {"answer": "?"})
        content = json.dumps(answer if self.status == 200 else {"error": "refused"}).encode()
        self.send_response(self.status)
        self.send_header("content-length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - as inherited
        pass


@pytest.fixture
def url() -> Iterator[str]:
    Served.status, Served.requests = 200, []
    server = ThreadingHTTPServer(("127.0.0.1", 0), Served)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    yield f"http://127.0.0.1:{server.server_address[1]}/act"
    server.shutdown()
    thread.join()
    server.server_close()


def test_an_agent_behind_http_answers(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MY_TOKEN", "token-of-the-test")
    result = ask(url, settings={"token_env": "MY_TOKEN"})
    assert endings(result)["sum"] == ("answered", "42")
    assert endings(result)["product"] == ("answered", "144")
    assert endings(result)["half"] == ("gave_up", None)
    assert {request["token"] for request in Served.requests} == {"Bearer token-of-the-test"}
    (request,) = [each for each in Served.requests if each["task_id"] == "sum"]
    assert (request["question"], request["step"], request["tools"]) == ("What is 17 + 25?", 1, [])
    assert "answer" not in request
    assert "token-of-the-test" not in (result.path / "manifest.json").read_text()


def test_its_failure_is_its_zero_and_being_out_of_reach_is_not(url: str) -> None:
    Served.status = 500
    (episode,) = ask(url, tasks="sum").final()
    assert (episode.stop_reason, float(episode.scores[0])) == ("agent_error", 0.0)
    Served.status = 401
    with pytest.raises(RunStopped, match="status 401"):
        ask(url)
    with pytest.raises(RunStopped, match="the request to the agent failed"):
        ask("http://127.0.0.1:9/act")


def test_a_token_that_is_not_set_is_refused_before_the_run(url: str) -> None:
    with pytest.raises(BadParameter, match="'NO_SUCH_TOKEN' is not set"):
        ask(url, settings={"token_env": "NO_SUCH_TOKEN"})
