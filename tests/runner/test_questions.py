"""A file of questions and a model, a function or a program are a benchmark; no TOML is needed."""

from __future__ import annotations

import asyncio
import json
import re
import threading
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from assay.agents.models.connections import RateGate
from assay.cli.main import main
from assay.errors import BadParameter, RunStopped
from assay.ledger.run import Run
from assay.runner.run import run
from tests.agents.faulty_endpoint import Request, script, serving

QUESTIONS = [
    {"question": "What is 1 + 1?", "answer": "2"},
    {"prompt": "What is 2 + 2?", "answer": "4"},
    {"problem": "What is 3 + 3?", "solution": "6"},
]
TOOLS = '''
import time

def add(a: int, b: int) -> int:
    """The sum of two numbers."""
    return a + b

async def fail(text):
    raise ValueError(text)

def slow():
    time.sleep(5)
'''


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    Path(tmp_path, "questions.jsonl").write_text("\n".join(map(json.dumps, QUESTIONS)))
    monkeypatch.chdir(tmp_path)


def summary(capfd: pytest.CaptureFixture[str], *arguments: str) -> dict[str, Any]:
    code: Any = main(["run", *arguments, "--json"])
    shown = capfd.readouterr()
    assert code == 0, shown.err
    record: dict[str, Any] = json.loads(shown.out)
    return record


def total(text: str) -> str:
    a, b = map(int, re.findall(r"\d+", text)[:2])
    return str(a + b)


def reply(request: Request) -> str:
    return f"It is \\boxed{{{total(request.body['messages'][-1]['content'])}}}."


def test_questions_and_a_model_are_a_benchmark(capfd: pytest.CaptureFixture[str]) -> None:
    with serving(script("ok"), reply=reply) as endpoint:
        model = ("--model", "openai:m", "--set", f"model_options.base_url={endpoint.url}/v1")
        record = summary(capfd, "questions.jsonl", *model, "--reward", "math_equal_reward")
        assert (record["mean"], record["counts"]["n"]) == (1.0, 3)
        assert {task["task_id"] for task in record["tasks"]} == {"line.1", "line.2", "line.3"}
        assert record["usage"]["calls"] == 3
    (first, *_) = Run(record["path"]).final(full=True)
    assert [message.role for message in first.trajectory.messages] == ["user", "assistant"]
    config = Run(record["path"]).manifest.config
    assert config["agent"]["options"]["model_options"]["model"] == "m"
    assert config["benchmark"]["environment"]["name"] == "chat"


def test_questions_and_a_function_are_a_benchmark_and_resume(
    capfd: pytest.CaptureFixture[str],
) -> None:
    Path("sums_for_questions.py").write_text(
        "import re\ndef answer(question):\n"
        "    return sum(map(int, re.findall(r'\\d+', question)))\n"
        "def exact(final_response, answer):\n    return float(final_response == answer)\n"
    )
    rewards = ("--reward", "sums_for_questions.py:exact,qa_f1_reward")
    agent = ("--agent", "sums_for_questions.py:answer")
    record = summary(capfd, "questions.jsonl", *agent, *rewards)
    assert (record["mean"], record["scorer"]) == (1.0, "exact@1")
    path = Path(record["path"], "episodes.jsonl")
    path.write_text(path.read_text().splitlines()[0] + "\n")
    again = summary(capfd, "--resume", record["run_id"])
    assert (again["mean"], again["counts"]["n"]) == (1.0, 3)


def test_columns_are_named(capfd: pytest.CaptureFixture[str]) -> None:
    Path("other.jsonl").write_text('{"Q": "say hi", "gold_text": "hi", "nr": 4}')
    Path("says_hi.py").write_text("def answer(question, nr): return 'hi' if nr == 4 else ''")
    columns = ("--column", "question=Q", "--column", "answer=gold_text")
    arguments = ("other.jsonl", "--agent", "says_hi.py:answer", "--reward", "qa_f1_reward")
    assert summary(capfd, *arguments, *columns)["mean"] == 1.0


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--agent", "scripted"], "name a reward for the answers, such as --reward"),
        (["--reward", "qa_f1_reward"], "--model openai:NAME asks a model"),
        (["--reward", "qa_f1_reward", "--model", "opnai:m"], "did you mean 'openai'?"),
        (["--reward", "qa_f1_reward", "--model", "openai:"], "write KIND:NAME"),
        (["--reward", "nobody", "--agent", "scripted"], "no reward named 'nobody'"),
        (["--reward", "gone.py:x", "--agent", "scripted"], "there is no file 'gone.py'"),
    ],
)
def test_what_is_missing_is_said(
    capfd: pytest.CaptureFixture[str], arguments: list[str], words: str
) -> None:
    assert main(["run", "questions.jsonl", *arguments]) == 2
    assert words in capfd.readouterr().err
    assert not Path("runs").exists()


def test_a_refused_key_costs_few_attempts_and_is_no_zero(capfd: pytest.CaptureFixture[str]) -> None:
    lines = [json.dumps({"question": f"{n}?", "answer": "1"}) for n in range(100)]
    Path("many.jsonl").write_text("\n".join(lines))
    with serving(script("unauthorized")) as endpoint:
        settings = {"model_options.base_url": f"{endpoint.url}/v1"}
        with pytest.raises(RunStopped) as stopped:
            run("many.jsonl", model="openai:m", rewards=["qa_f1_reward"], settings=settings)
    episodes = list(Run(stopped.value.path).final())
    assert {episode.stop_reason for episode in episodes} == {"model_error"}
    assert len(episodes) <= 4


def test_tools_are_functions_and_their_results_come_back() -> None:
    Path("tools_for_chat.py").write_text(TOOLS)
    Path("chat.toml").write_text(
        'name = "chat"\n[tasks]\nsource = "jsonl"\npath = "questions.jsonl"\n'
        '[environment]\nname = "chat"\ntool_s = 0.2\n'
        'tools = ["tools_for_chat.py:add", "tools_for_chat:fail", "tools_for_chat:slow"]\n'
        '[rewards]\nnames = ["math_equal_reward", "math_equal_reward_tool"]\n'
    )
    seen: list[str] = []

    def agent(observation: str, step: int) -> str:
        seen.append(observation)
        return [
            'I call it.\n`add({"a": 1, "b": 1})`',
            "add(1, b=1)",
            'fail("on purpose")',
            "slow()",
            "add(1)",
            "add(1; 2)",
            "The answer is 2, since add(1, 1) is 2.",
        ][step - 1]

    (episode,) = run("chat.toml", agent=agent, tasks="1").final(full=True)
    assert "There are tools." in seen[0]
    assert '- add({"a": …, "b": …}): The sum of two numbers.' in seen[0]
    assert seen[1:3] == ["2", "2"]
    assert seen[3].startswith("error: ValueError: on purpose")
    assert seen[4] == "error: slow did not return within 0.2 s"
    assert seen[5].startswith("error: missing a required argument: 'b'")
    assert seen[6].startswith("error: the arguments are no JSON; call it as add({")
    assert (episode.stop_reason, episode.n_steps) == ("answered", 7)
    assert [float(score) for score in episode.scores] == [1.0, 1.0]
    calls = [m["tool_calls"] for m in episode.trajectory.messages if m["tool_calls"]]
    assert calls[0][0].function.name == "add"
    assert json.loads(calls[0][0].function.arguments) == {"a": 1, "b": 1}


def test_everything_in_a_benchmark_may_be_an_address_beside_its_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    Path("own_parts.py").write_text(
        "from assay import Task\nfrom assay.worlds import Chat\n"
        "class World(Chat):\n    name = 'world'\n"
        "def tasks(*, n: int = 2):\n"
        "    return [Task(id=str(i), goal=str(i), answer=str(i)) for i in range(n)]\n"
        "def exact(final_response, answer, *, pay: float = 1.0):\n"
        "    return pay * (final_response == answer)\n"
        "def double(text):\n    return text + text\n"
    )
    Path("own.toml").write_text(
        'name = "own"\n[tasks]\nsource = "own_parts.py:tasks"\nn = 3\n'
        '[environment]\nname = "own_parts.py:World"\ntools = ["own_parts.py:double"]\n'
        '[rewards]\nnames = ["own_parts.py:exact"]\n'
        '[rewards.options."own_parts.py:exact"]\npay = 0.5\n'
    )
    Path("elsewhere").mkdir()
    monkeypatch.chdir("elsewhere")
    result = run(tmp_path / "own.toml", agent=lambda question: question)
    assert (result.mean, len(list(result))) == (0.5, 3)
    assert run(resume=result.path, agent=lambda question: question).mean == 0.5


def test_many_questions_are_in_flight_at_once() -> None:
    """Once one is answered, forty wait for each other: fewer at a time would wait for ever."""
    lines = [json.dumps({"question": f"{n}", "answer": f"{n}"}) for n in range(41)]
    Path("many.jsonl").write_text("\n".join(lines))
    together = threading.Barrier(40, timeout=30)

    def agent(question: str) -> str:
        if question != "0":
            together.wait()
        return question

    result = run("many.jsonl", agent=agent, rewards=["qa_f1_reward"], workers=40)
    assert {float(episode.scores[0]) for episode in result.final()} == {1.0}


class Limited(BaseHTTPRequestHandler):
    """A server that refuses whoever comes within half a second of a refusal."""

    protocol_version = "HTTP/1.1"
    lock = threading.Lock()
    arrivals: list[float] = []  # noqa: RUF012 - one server, one list
    refuse_until = 0.0
    too_early = 0

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        with self.lock:
            now = time.monotonic()
            kind = type(self)
            kind.arrivals.append(now)
            refuse = len(kind.arrivals) == 9 or now < kind.refuse_until
            kind.too_early += now < kind.refuse_until
            if len(kind.arrivals) == 9:
                kind.refuse_until = now + 0.95
        text = total(body["messages"][-1]["content"])
        message = {"choices": [{"message": {"content": text}}]}
        content = json.dumps({"error": "slow down"} if refuse else message).encode()
        self.send_response(429 if refuse else 200)
        if refuse:
            self.send_header("retry-after", "1")
        self.send_header("content-length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - as inherited
        pass


@pytest.fixture
def limited() -> Iterator[str]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), Limited)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    yield f"http://127.0.0.1:{server.server_address[1]}/v1"
    server.shutdown()
    thread.join()
    server.server_close()


def test_a_rate_limit_pauses_every_caller_of_the_endpoint(limited: str) -> None:
    lines = [json.dumps({"question": f"{n} + 1", "answer": f"{n + 1}"}) for n in range(60)]
    Path("many.jsonl").write_text("\n".join(lines))
    settings = {"model_options.base_url": limited}
    result = run(
        "many.jsonl", model="openai:m", rewards=["qa_f1_reward"], settings=settings, workers=8
    )
    assert {float(episode.scores[0]) for episode in result.final()} == {1.0}
    # Only those that were under way when the first one was refused.
    assert Limited.too_early <= 7
    assert len(Limited.arrivals) <= 60 + 8


def test_a_gate_halves_once_for_requests_that_were_sent_together_and_opens_again() -> None:
    async def story() -> list[int]:
        gate, clock = RateGate(), time.monotonic
        most: list[int] = []
        under_way = 0

        async def ask(refused: bool) -> None:
            nonlocal under_way
            async with gate.request(clock, asyncio.sleep) as turn:
                under_way += 1
                most.append(under_way)
                await asyncio.sleep(0)
                if refused:
                    gate.slow_down(turn, clock() + 0.01)
                under_way -= 1

        for refused in (True, False, False):
            most.append(0)
            await asyncio.gather(*(ask(refused) for _ in range(8)))
        return [max(most[:9]), max(most[9:18]), max(most[18:])]

    first, second, third = asyncio.run(story())
    assert (first, second) == (8, 5) or (first, second) == (8, 4)
    assert second <= third <= 8


def test_model_must_be_named_with_its_kind() -> None:
    with pytest.raises(BadParameter, match="write KIND:NAME"):
        run("questions.jsonl", model=":x", rewards=["qa_f1_reward"])
