"""An agent of anyone's making: named by its address or passed as a value, and remembered."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import assay
from assay.agents import Action
from assay.cli.main import main
from assay.errors import BadParameter, ModelError, UnknownName
from assay.ledger.run import Run
from assay.runner.run import run
from tests.runner.corridor import BENCHMARK

AGENTS = '''
"""Agents in a file that is installed nowhere."""
from assay.errors import ModelError

def walk(observation, *, word: str = "north"):
    return word

async def count_and_answer(goal, step, messages):
    return "north" if step == 1 else f'answer("{goal[-2]} after {len(messages)} messages")'

def crash(observation):
    raise ValueError("broken on purpose")

def unreachable(observation):
    raise ModelError("the model is gone")

def nothing(observation):
    return None

class Bare:
    def __init__(self, *, word="north"):
        self.word = word
    def act(self, observation):
        assert observation.text
        return self.word

class Starts:
    async def start(self, task, *, limits):
        self.left = 2
    async def act(self, observation, *, step):
        self.left -= 1
        return {"action": "north"} if self.left else {"answer": 7, "think": "enough"}

class Calls:
    def __call__(self, observation):
        return "north"

class NoAgent:
    pass

ready = Bare()
number = 5
'''


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest) -> str:
    """A folder with a benchmark and a module of agents, whose name no other test has."""
    module = f"agents_{abs(hash(request.node.nodeid))}"
    (tmp_path / "corridor.toml").write_text(BENCHMARK)
    (tmp_path / f"{module}.py").write_text(AGENTS)
    monkeypatch.chdir(tmp_path)
    return module


def endings(result: Run) -> list[tuple[str, str | None]]:
    return sorted({(episode.stop_reason, episode.final_response) for episode in result.final()})


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("walk", [("finished", None)]),
        ("count_and_answer", [("answered", f"{x} after 3 messages") for x in "abc"]),
        ("crash", [("agent_error", None)]),
        ("nothing", [("agent_error", None)]),
        ("Bare", [("finished", None)]),
        ("Starts", [("answered", "7")]),
        ("Calls", [("finished", None)]),
        ("ready", [("finished", None)]),
    ],
)
def test_a_file_or_module_names_an_agent(here: str, name: str, expected: list[Any]) -> None:
    assert endings(run("corridor.toml", agent=f"{here}.py:{name}")) == expected
    assert endings(run("corridor.toml", agent=f"{here}:{name}")) == expected


def test_an_agents_failure_is_its_zero_and_its_models_is_nobodys(here: str) -> None:
    result = run("corridor.toml", agent=f"{here}.py:nothing")
    assert {float(episode.scores[0]) for episode in result.final()} == {0.0}
    with pytest.raises(assay.errors.RunStopped) as stopped:
        run("corridor.toml", agent=f"{here}.py:unreachable")
    assert endings(Run(stopped.value.path)) == [("model_error", None)]


def test_options_and_the_address_are_remembered(
    here: str, capfd: pytest.CaptureFixture[str]
) -> None:
    arguments = ["run", "corridor.toml", "--agent", f"{here}.py:walk", "--set", "word=south"]
    assert main([*arguments, "--tasks", "a", "--json"]) == 0
    record = json.loads(capfd.readouterr().out)
    manifest = Run(record["path"]).manifest
    assert manifest.config["agent"] == {"name": f"{here}.py:walk", "options": {"word": "south"}}
    lines = Path(record["path"]) / "episodes.jsonl"
    lines.write_text("")
    assert main(["run", "--resume", record["run_id"], "--json"]) == 0
    assert json.loads(capfd.readouterr().out)["endings"] == {"step_limit": 1}


def test_the_conversation_of_a_function_is_recorded(here: str) -> None:
    result = run("corridor.toml", agent=f"{here}.py:count_and_answer", tasks="a")
    (episode,) = result.final(full=True)
    roles = [message.role for message in episode.trajectory.messages]
    assert roles == ["user", "assistant", "tool", "assistant"]


@pytest.mark.parametrize(
    ("agent", "words"),
    [
        ("nobody", "for an object of your own, write FILE.py:NAME or MODULE:NAME"),
        ("gone.py:walk", "there is no file 'gone.py' (looked in "),
        ("no_such_module:walk", "No module named 'no_such_module'"),
        ("{here}.py:wolk", "has no 'wolk'; did you mean 'walk'?"),
        ("{here}.py:", "is not an address; write FILE.py:NAME"),
        ("{here}.py:number", "it must be a class with `act`, or a function"),
        ("{here}.py:NoAgent", "it has no method `act`"),
    ],
)
def test_an_unknown_agent_names_the_way(here: str, agent: str, words: str) -> None:
    with pytest.raises((UnknownName, BadParameter)) as error:
        run("corridor.toml", agent=agent.replace("{here}", here))
    assert words in str(error.value)
    assert not Path("runs").exists()


def test_a_file_that_raises_is_named_with_its_line() -> None:
    Path("raises_at_import.py").write_text("x = 1\n1 / 0\n")
    with pytest.raises(assay.errors.UsageError, match=r"ZeroDivisionError.*raises_at_import.py, l"):
        run("corridor.toml", agent="raises_at_import.py:x")


def function(observation: str) -> str:
    return "north"


class Unknown:
    def act(self, observation: object) -> object:
        return object()


@pytest.mark.parametrize(
    ("agent", "expected"),
    [
        (function, "finished"),
        (lambda observation: "north", "finished"),
        (lambda: Unknown(), "agent_error"),
        (Unknown(), "agent_error"),
        (lambda text: Action("north"), "finished"),
    ],
)
def test_an_agent_may_be_a_value(agent: Callable[..., Any], expected: str) -> None:
    result = run("corridor.toml", agent=agent, tasks="a")
    assert [episode.stop_reason for episode in result.final()] == [expected]


def test_a_function_asks_for_columns_and_never_for_the_reference() -> None:
    def reads(observation: str, colour: str) -> str:
        return f'answer("{colour}")'

    def cheats(question: str, answer: str) -> str:
        return answer

    settings = {"tasks.colour": "red"}
    result = run("corridor.toml", agent=reads, settings=settings, tasks="a")
    assert endings(result) == [("answered", "red")]
    with pytest.raises(BadParameter, match=r"needs 'colour', but task 'a' has no such value"):
        run("corridor.toml", agent=reads)
    with pytest.raises(BadParameter, match="the reference, which is secret"):
        run("corridor.toml", agent=cheats)


def test_a_function_that_never_returns_is_out_of_time() -> None:
    import threading

    forever = threading.Event()

    def hangs(observation: str) -> str:
        forever.wait(30)
        return "north"

    settings = {"limits.step_s": 0.2}
    result = run("corridor.toml", agent=hangs, settings=settings, tasks="a")
    forever.set()
    assert endings(result) == [("timeout", None)]


def test_model_errors_of_a_thread_pass_as_they_are() -> None:
    def asks(observation: str) -> str:
        raise ModelError("busy", fatal=False)

    result = run("corridor.toml", agent=asks)
    assert endings(result) == [("model_error", None)]
