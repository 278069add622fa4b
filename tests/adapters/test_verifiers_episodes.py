"""verifiers' half that is ours: tasks, the exchange, the record on the trace, and failures.

`examples/trainers/verifiers_worlds.py` plays the same with the real library.
"""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import SimpleNamespace
from typing import Any

import pytest

from assay.adapters.episodes import Episodes
from assay.errors import BadParameter, DeadResource, NoScore
from assay.schema.observation import Observation
from assay.schema.task import Task
from assay.worlds.alfworld.environment import AlfWorld
from assay.worlds.alfworld.tasks import GameLoader
from tests.adapters.stand_ins import adapter, stand_in

GAME = "look_at_obj_in_light-AlarmClock-None-DeskLamp-308/trial_T20190908_222951_616606"
WALKTHROUGH = GameLoader().load(GAME).walkthrough


class Seat:
    """An agent that recites; after its last line verifiers ends the exchange."""

    def __init__(self, lines: Sequence[str], errors: Sequence[str] = ()) -> None:
        self._lines = iter(lines)
        self.seen: list[str] = []
        self.trace = SimpleNamespace(info={}, errors=list(errors), stop=self._stop)
        self.stops: list[str] = []

    def _stop(self, condition: str) -> None:
        self.stops.append(condition)

    @asynccontextmanager
    async def interaction(self, task: Any) -> AsyncIterator[Seat]:
        assert task.data.prompt is None, "the environment opens the exchange"
        yield self

    async def turn(self, message: str) -> Any:
        self.seen.append(message)
        line = next(self._lines, None)
        return SimpleNamespace(terminated=line is None, last_reply=line)


@pytest.fixture(scope="module", autouse=True)
def verifiers() -> Iterator[Any]:
    with stand_in():
        yield adapter("verifiers_episodes")


def household(environment: type = AlfWorld, **options: Any) -> Episodes:
    return Episodes(environment, "alfworld_episode_reward", tasks=[Task(id=GAME)], **options)


def play(verifiers: Any, episodes: Episodes, *seats: Seat) -> Any:
    """The task, after each seat has played it at the same time as the others."""
    tasks, play, _ = verifiers.environment(episodes, seed=7)
    (task,) = tasks(SimpleNamespace(task=None)).load()
    env = play(None)

    async def run() -> None:
        await asyncio.gather(*(env.run(task, SimpleNamespace(agent=seat)) for seat in seats))

    asyncio.run(run())
    return task


def test_the_environment_speaks_and_the_outcome_is_the_reward(verifiers: Any) -> None:
    with household() as episodes:
        seat = Seat(WALKTHROUGH)
        task = play(verifiers, episodes, seat)
    record = seat.trace.info["episode"]
    assert len(seat.seen) == 3
    assert "You are in the middle of a room." in seat.seen[0]
    assert asyncio.run(task.outcome(seat.trace)) == 1.0
    assert asyncio.run(task.episode_metrics(seat.trace)) == {
        "episode/turns": 3.0,
        "episode/turn_rewards": 1.0,
    }
    assert record["turn_rewards"] == [0.0, 0.0, 1.0]
    assert (record["group"], record["seed"], record["member"]) == (f"{GAME}#7", 7, 0)
    assert (task.key, seat.stops) == (GAME, ["finished"])
    assert json.loads(json.dumps(record)) == record


def test_a_group_has_one_start(verifiers: Any) -> None:
    with household() as episodes:
        seats = [Seat(WALKTHROUGH[:number]) for number in range(8)]
        play(verifiers, episodes, *seats)
    records = [seat.trace.info["episode"] for seat in seats]
    assert len({record["start"] for record in records}) == 1
    assert len({seat.seen[0] for seat in seats}) == 1
    assert sorted(record["member"] for record in records) == list(range(8))
    assert [record["outcome"] for record in records] == [0.0] * 3 + [1.0] * 5


class Burning(AlfWorld):
    async def step(self, action: str) -> Observation:
        raise DeadResource(f"burnt down at {action!r}")


class Dead(AlfWorld):
    async def reset(self, task: Task) -> Observation:
        raise DeadResource(f"dead before {task.id[:4]!r}")


def test_a_failure_of_the_environment_is_an_error_and_no_reward(verifiers: Any) -> None:
    with household(Burning) as episodes:
        seat = Seat(["look"])
        task = play(verifiers, episodes, seat)
    with pytest.raises(NoScore, match="burnt down at 'look'"):
        asyncio.run(task.outcome(seat.trace))
    assert seat.stops == ["env_error"]


def test_an_environment_that_cannot_be_reset_is_an_error_of_the_episode(verifiers: Any) -> None:
    with household(Dead) as episodes, pytest.raises(DeadResource, match="dead before 'look'"):
        play(verifiers, episodes, Seat(["look"]))


def test_a_model_that_cannot_be_asked_has_no_score(verifiers: Any) -> None:
    with household() as episodes:
        seats = [Seat(["look"], errors=["timeout"]), Seat(["look"])]
        task = play(verifiers, episodes, *seats)
    with pytest.raises(NoScore):
        asyncio.run(task.outcome(seats[0].trace))
    assert asyncio.run(task.outcome(seats[1].trace)) == 0.0, "a limit of verifiers is an ending"
    assert [seat.stops for seat in seats] == [["model_error"], ["budget_limit"]]


def test_episodes_without_a_reward_are_refused(verifiers: Any) -> None:
    episodes = Episodes(AlfWorld, tasks=[Task(id=GAME)])
    with pytest.raises(BadParameter, match="have no reward"):
        verifiers.environment(episodes)


class Echo(BaseHTTPRequestHandler):
    def do_POST(self) -> None:
        request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        body = json.dumps([self.path, self.headers["Authorization"], request]).encode()
        self.send_response(200 if request["model"] == "mine" else 500)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: Any) -> None: ...


def test_the_program_asks_for_one_reply_to_the_whole_conversation(verifiers: Any) -> None:
    server = ThreadingHTTPServer(("127.0.0.1", 0), Echo)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    prompt = [{"role": "user", "content": "a"}, {"role": "assistant", "content": "b"}]
    data = SimpleNamespace(system_prompt="Play.", prompt=prompt)
    address = f"http://127.0.0.1:{server.server_address[1]}"

    def ask(model: str) -> Any:
        context = SimpleNamespace(model=model)
        program = verifiers.OneReplyHarness(None)
        return asyncio.run(program.launch(context, None, None, address, "key", {}, data))

    try:
        exit_code, output, _ = ask("mine")
        failure, *_ = ask("other")
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
    assert (exit_code, failure) == (0, 1)
    messages = [{"role": "system", "content": "Play."}, *prompt]
    expected = ["/chat/completions", "Bearer key", {"model": "mine", "messages": messages}]
    assert json.loads(output) == expected
