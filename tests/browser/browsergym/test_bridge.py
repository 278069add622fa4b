"""The bridge to BrowserGym, on a fake gym that hangs, crashes and chatters when it is told to.

The child that runs here is the real one. `make browsergym` runs it on the real BrowserGym.
"""

from __future__ import annotations

import asyncio
import os
import re
import subprocess
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any, TypeVar

import pytest

from assay.browser.drive.browsergym import environment as bridge_environment
from assay.browser.drive.browsergym.environment import BrowserGym
from assay.errors import BadParameter, DeadResource, MissingExtra, NotReset
from assay.isolation.child import STANDALONE
from assay.schema.task import Task
from tests.ended import has_ended

T = TypeVar("T")
FAKE = Path(__file__).parent / "fake"
OBEY = Task(id="fake.obey/7")
HANDS_OVER = """
import asyncio, sys
from assay.browser.drive.browsergym.environment import BrowserGym
from assay.schema.task import Task

async def main():
    world = BrowserGym(python=sys.executable, environment={"PYTHONPATH": sys.argv[1]})
    await world.reset(Task(id="fake.obey"))
    print(world.pid, flush=True)
    await world.step("hang()")

asyncio.run(main())
"""


def play(act: Callable[[BrowserGym], Awaitable[T]], **options: Any) -> T:
    """What `act` returns, with a bridge to the fake that is closed afterwards."""

    async def run() -> T:
        environment = {"PYTHONPATH": str(FAKE)}
        world = BrowserGym(python=sys.executable, environment=environment, **options)
        try:
            return await act(world)
        finally:
            await world.close()

    return asyncio.run(run())


def test_an_episode_is_relayed_in_browsergyms_own_words() -> None:
    async def episode(world: BrowserGym) -> None:
        seen = await world.reset(OBEY)
        assert seen.text.splitlines()[:3] == [
            "goal: Do as told.",
            "url: http://fake/",
            "title: Fake",
        ]
        assert "seed 7, options ['action_mapping', 'headless']" in seen.text
        assert "without LineBreak InlineTextBox" in seen.text
        assert (seen.reward, seen.done, seen.evidence) == (0.0, False, world.evidence())
        seen = await world.step("win()")
        assert (seen.reward, seen.raw_reward, seen.done) == (1.0, 1.0, True)
        evidence = world.evidence()
        assert (evidence.world, evidence.task_id, evidence.score, evidence.won) == (
            "browsergym",
            OBEY.id,
            1.0,
            True,
        )
        assert (await world.step("lose()")).text == "the episode is over"
        assert world.evidence() == evidence

    play(episode)


def test_a_loss_pays_nothing_and_keeps_the_raw_reward_that_browsergym_drops() -> None:
    async def lose(world: BrowserGym) -> tuple[float | None, float | None, bool | None]:
        await world.reset(OBEY)
        seen = await world.step("lose()")
        return seen.reward, seen.raw_reward, world.evidence().won

    assert play(lose) == (0.0, -1.0, False)


def test_a_step_limit_of_the_gym_ends_the_episode_without_a_win() -> None:
    async def run_out(world: BrowserGym) -> None:
        await world.reset(OBEY)
        assert (await world.step("look()")).done
        assert world.evidence().progress["truncated"] is True
        assert world.evidence().won is False

    play(run_out)


def test_an_action_that_fails_is_told_and_costs_nothing_else() -> None:
    async def fail(world: BrowserGym) -> None:
        await world.reset(OBEY)
        seen = await world.step("nonsense('\ud800\x00')")
        assert "error: NameError: name 'nonsense' is not defined" in seen.text
        assert seen.outcome is not None
        assert (seen.outcome.ok, seen.done) == (False, False)

    play(fail)


def test_what_libraries_print_does_not_get_between_the_answers() -> None:
    async def chatter(world: BrowserGym) -> str:
        await world.reset(OBEY)
        return (await world.step("chatter()")).text

    assert "noise" not in play(chatter)


def test_a_long_page_is_cut_visibly() -> None:
    async def read(world: BrowserGym) -> None:
        await world.reset(OBEY)
        seen = await world.step("long()")
        assert seen.truncated
        assert len(seen.text) < 1_200
        assert re.search(r"… 49\d,\d{3} characters not shown", seen.text)

    play(read, chars=1_000)


def test_a_step_over_its_limit_ends_the_process_and_all_that_it_started() -> None:
    async def hang(world: BrowserGym) -> None:
        await world.reset(OBEY)
        spawned = int((await world.step("spawn()")).text.partition("spawned ")[2].split()[0])
        pid = world.pid
        assert pid is not None
        with pytest.raises(DeadResource, match="a step took longer than 2 s"):
            await world.step("hang()")
        assert has_ended(pid)
        assert has_ended(spawned)
        assert not world.alive()
        with pytest.raises(DeadResource, match="longer than"):
            world.evidence()
        with pytest.raises(DeadResource, match="longer than"):
            await world.reset(OBEY)

    play(hang, step_s=2.0)


def test_a_cancelled_step_ends_the_process() -> None:
    async def cancel(world: BrowserGym) -> None:
        await world.reset(OBEY)
        pid = world.pid
        assert pid is not None
        step = asyncio.create_task(world.step("hang()"))
        await asyncio.sleep(0)
        step.cancel()
        with pytest.raises(asyncio.CancelledError):
            await step
        assert has_ended(pid)
        assert not world.alive()

    play(cancel)


def test_an_exception_in_the_tasks_own_check_is_the_episodes_death_and_not_a_score() -> None:
    async def check(world: BrowserGym) -> None:
        await world.reset(OBEY)
        pid = world.pid
        with pytest.raises(
            DeadResource, match=r"own check failed: ValueError: the task's check met"
        ):
            await world.step("break_check()")
        with pytest.raises(DeadResource, match="own check failed"):
            world.evidence()
        assert world.alive()
        assert not (await world.reset(OBEY)).done
        assert world.pid == pid

    play(check)


def test_a_process_that_dies_is_reported_with_the_end_of_its_error_output() -> None:
    async def die(world: BrowserGym) -> None:
        await world.reset(OBEY)
        with pytest.raises(DeadResource, match="the gym burned down"):
            await world.step("exit()")
        assert not world.alive()

    play(die)


def test_a_start_page_that_cannot_be_reached_is_a_dead_world() -> None:
    async def begin(world: BrowserGym) -> None:
        with pytest.raises(DeadResource, match="ERR_CONNECTION_REFUSED"):
            await world.reset(Task(id="fake.unreachable"))

    play(begin)


@pytest.mark.parametrize(
    ("task", "why"),
    [
        (Task(id="fake.unknown"), "the family is there, the task is not"),
        (Task(id="nowhere.at_all"), "no such family"),
        (Task(id="../x"), "no identifier"),
        (Task(id=""), "no name"),
        (Task(id="fake.obey/seven"), "no number after the slash"),
        (Task(id="fake.obey", metadata={"seed": "7"}), "a text as seed"),
    ],
)
def test_a_task_that_is_not_registered_is_refused_and_leaves_no_episode(
    task: Task, why: str
) -> None:
    async def refuse(world: BrowserGym) -> None:
        with pytest.raises(BadParameter):
            await world.reset(task)
        with pytest.raises(NotReset):
            world.evidence()
        with pytest.raises(NotReset):
            await world.step("look()")

    play(refuse)


def test_an_interpreter_without_browsergym_says_how_to_make_one() -> None:
    async def begin() -> None:
        world = BrowserGym(python=sys.executable, environment={"PYTHONPATH": ""})
        try:
            await world.reset(OBEY)
        finally:
            await world.close()

    with pytest.raises(MissingExtra, match="make browsergym"):
        asyncio.run(begin())


@pytest.mark.parametrize("python", ["", "/no/such/python"])
def test_no_interpreter_says_how_to_make_one(python: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("ASSAY_BROWSERGYM_PYTHON", raising=False)
    with pytest.raises(MissingExtra, match="make browsergym"):
        BrowserGym(python=python)


def test_the_process_ends_when_the_one_that_started_it_is_killed() -> None:
    command = [sys.executable, "-c", HANDS_OVER, str(FAKE)]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as parent:
        assert parent.stdout is not None
        pid = int(parent.stdout.readline())
        parent.kill()
    assert has_ended(pid)


def test_closing_twice_is_closing_once() -> None:
    async def close(world: BrowserGym) -> None:
        await world.reset(OBEY)
        await world.close()
        await world.close()
        with pytest.raises(DeadResource):
            await world.step("look()")

    play(close)


def test_the_child_ends_in_silence_when_its_pipe_closes() -> None:
    script = Path(bridge_environment.__file__).with_name("bridge_child.py")
    requests, answers = os.pipe(), os.pipe()
    process = subprocess.Popen(
        [sys.executable, str(script), str(requests[0]), str(answers[1])],
        pass_fds=(requests[0], answers[1]),
        env={**os.environ, "PYTHONPATH": STANDALONE},
        stderr=subprocess.PIPE,
    )
    for fd in (requests[0], answers[1], requests[1]):
        os.close(fd)
    _, errors = process.communicate(timeout=60)
    os.close(answers[0])
    assert (process.returncode, errors) == (1, b"")
