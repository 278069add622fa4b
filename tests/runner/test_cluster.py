"""On Ray the bytes are those of this machine, whatever dies on the way; the ledger has one writer.

One cluster of two nodes, a core each, serves all tests here; the one that loses a node is the last.
"""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

import psutil
import pytest

import assay
from assay.errors import BadParameter, BadRecord, MissingExtra, ResourceError, RunStopped
from assay.ledger.run import Run
from assay.registry import ENVIRONMENTS
from assay.runner import cluster, retries
from assay.runner.cluster_actor import pack, unpack
from assay.runner.progress import RunProgress
from assay.schema.observation import Observation
from assay.schema.score import score_to_record
from assay.scoring.files.folders import score_folder
from tests.agents.faulty_endpoint import free_port
from tests.runner.corridor import BENCHMARK, Corridor
from tests.runner.rewards_for_tests import length

ray = import_module("ray")
cluster_utils = import_module("ray.cluster_utils")

ROWS = 4_000
SHARD_BYTES = 24_000
NODE: dict[str, Any] = {"num_cpus": 1, "object_store_memory": 80 * 2**20}
SOON_MISSED = {"health_check_period_ms": 500, "health_check_failure_threshold": 3}
"""Unless configured, Ray takes a quarter of a minute to give up a node that went silent."""


@pytest.fixture(scope="module")
def nodes() -> Iterator[tuple[Any, Any]]:
    """The cluster, to which this process is connected, and its second node."""
    before = set(psutil.Process().children(recursive=True))
    os.environ["RAY_USAGE_STATS_ENABLED"] = "0"
    two = cluster_utils.Cluster(
        initialize_head=True,
        head_node_args={**NODE, "include_dashboard": False, "_system_config": SOON_MISSED},
    )
    second = two.add_node(**NODE)
    ray.init(two.address, log_to_driver=False)
    ours = set(psutil.Process().children(recursive=True)) - before
    try:
        yield two, second
    finally:
        ours |= set(psutil.Process().children(recursive=True)) - before
        ray.shutdown()
        two.shutdown()
        del os.environ["RAY_USAGE_STATS_ENABLED"]
        _, alive = psutil.wait_procs(list(ours), timeout=20)
        assert alive == []


@pytest.fixture(scope="module")
def rows(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Three files of rows, some of which a reward can be told to die or to wait at."""
    folder = tmp_path_factory.mktemp("rows")
    for part in range(3):
        with (folder / f"{part}.jsonl").open("w") as stream:
            for index in range(part, ROWS, 3):
                word = {0: "halt", 500: "die"}.get(index % 1000, "é" * (index % 40))
                stream.write(json.dumps({"id": index, "final_response": word}) + "\n")
    return folder


@pytest.fixture(scope="module")
def calm(rows: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    """What the same rows give on this machine."""
    out = tmp_path_factory.mktemp("calm") / "out"
    score_folder(rows, [length, hazard], out, shard_bytes=SHARD_BYTES)
    return contents(out)


def contents(out: Path) -> dict[str, bytes]:
    found = {str(path.relative_to(out)): path.read_bytes() for path in out.rglob("*.*")}
    assert sum(name.startswith("part-") for name in found) > 6
    return found


@assay.reward(name="hazard", version=3, register=False)
def hazard(final_response: str, *, die: str = "", halt: str = "", log: str = "") -> float:
    """The length, at some risk to the worker: `die` and `halt` say where to leave a mark."""
    if log:
        with Path(log, str(os.getpid())).open("a") as stream:
            stream.write("row\n")
    if die and final_response == "die" and not Path(die).exists():
        Path(die).touch()
        os.kill(os.getpid(), signal.SIGKILL)
    if halt and final_response == "halt":
        node, mark = halt.split(":", 1)
        if ray.get_runtime_context().get_node_id() == node:
            Path(mark).touch()
            threading.Event().wait()
        while not Path(mark).exists():
            # The other node goes on when the doomed one has begun, so that something is lost.
            threading.Event().wait(0.01)
    return float(len(final_response))


def watchful(**params: str) -> Any:
    """The reward whose parameters do not show in what it writes."""

    @assay.reward(name="hazard", version=3, register=False)
    def hazard_(final_response: str) -> float:
        return hazard(final_response, **params)

    return hazard_


def scored(log: Path) -> int:
    """How many rows were scored, every time counted."""
    return sum(len(path.read_text().splitlines()) for path in log.iterdir())


def test_two_nodes_write_what_one_process_writes(
    nodes: object,
    rows: Path,
    calm: dict[str, bytes],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("assay.scoring.files.folders.PLANNED_HERE_BYTES", 0)
    with cluster.connect() as engine:
        report = score_folder(
            rows, [length, hazard], tmp_path / "out", engine=engine, shard_bytes=SHARD_BYTES
        )
    assert contents(tmp_path / "out") == calm
    assert (report.rows, report.rewards["length"].scored) == (ROWS, ROWS)
    assert ray.is_initialized()


def test_queries_run_in_processes_of_the_workers(nodes: object, tmp_path: Path) -> None:
    database = {"script": "CREATE TABLE t (x); INSERT INTO t VALUES (1), (2);"}
    queries = ("SELECT x FROM t", "DROP TABLE t", "SELECT max(x) FROM t")
    row = {"answer": "SELECT x FROM t", "database": database}
    folder = tmp_path / "rows"
    folder.mkdir()
    lines = (json.dumps({**row, "final_response": queries[at % 3]}) for at in range(60))
    (folder / "rows.jsonl").write_text("\n".join(lines))
    with cluster.connect() as engine:
        report = score_folder(
            folder, ["sql_reward"], tmp_path / "out", engine=engine, shard_bytes=2_000
        )
    counts = report.rewards["sql_reward"]
    assert counts.scored == 60
    assert counts.mean == pytest.approx(1 / 3)


def test_rows_lost_with_their_worker_are_scored_again(
    nodes: object, rows: Path, calm: dict[str, bytes], tmp_path: Path
) -> None:
    (tmp_path / "log").mkdir()
    reward = watchful(die=str(tmp_path / "died"), log=str(tmp_path / "log"))
    with cluster.connect() as engine:
        score_folder(
            rows, [length, reward], tmp_path / "out", engine=engine, shard_bytes=SHARD_BYTES
        )
    assert (tmp_path / "died").exists()
    assert scored(tmp_path / "log") > ROWS
    assert contents(tmp_path / "out") == calm


def test_a_shard_that_kills_every_worker_is_named_and_the_rest_is_kept(
    nodes: object, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def deadly(final_response: str) -> float:
        if final_response == "3":
            os.kill(os.getpid(), signal.SIGKILL)
        return 1.0

    monkeypatch.setattr(cluster, "SHARD_RETRIES", 0)
    source = tmp_path / "in.jsonl"
    source.write_text("".join(json.dumps({"final_response": str(n)}) + "\n" for n in range(5)))
    with (
        cluster.connect() as engine,
        pytest.raises(ResourceError, match=r"1 of 5 shards.*in\.jsonl"),
    ):
        score_folder(source, [deadly], tmp_path / "out", engine=engine, shard_bytes=1)
    parts = sorted(path.name for path in (tmp_path / "out").glob("part-*"))
    assert parts == [f"part-0000{n}.parquet" for n in (0, 1, 2, 4)]


def unruly(final_response: str) -> float:
    """Does what it is told, and never ends the job."""
    if final_response == "fork":
        os.fork()
    if final_response == "orphan" and os.fork() == 0:
        os.setsid()
        signal.alarm(30)
        signal.pause()
    if final_response == "exit":
        sys.exit(3)
    if final_response == "memory":
        bytearray(2**42)
    return float(len(final_response))


@pytest.mark.parametrize("shard_bytes", [1, SHARD_BYTES])
def test_a_reward_that_forks_leaves_or_takes_all_memory_does_not_end_the_job(
    nodes: object, tmp_path: Path, shard_bytes: int
) -> None:
    source = tmp_path / "in.jsonl"
    texts = ["a", "fork", "exit", "memory", "orphan", "bb"]
    source.write_text("".join(json.dumps({"final_response": text}) + "\n" for text in texts))
    with cluster.connect() as engine:
        report = score_folder(
            source, [unruly], tmp_path / "out", engine=engine, shard_bytes=shard_bytes
        )
    counts = report.rewards["unruly"]
    assert (report.rows, counts.scored, sum(counts.abstained.values())) == (6, 4, 2)


def test_a_cluster_that_shrinks_goes_on_with_less(
    nodes: object, monkeypatch: pytest.MonkeyPatch
) -> None:
    capacities = iter([5, 2, 1, 1, 3])
    monkeypatch.setattr(cluster.RayEngine, "_capacity", lambda self, ray: next(capacities, 1))
    with cluster.connect() as engine:
        assert sorted(engine.map(str, range(10))) == list("0123456789")


class Stop(Exception):
    """Raised by a progress callback to stop a job half-way."""


def test_a_job_begun_here_is_finished_there(
    nodes: object, rows: Path, calm: dict[str, bytes], tmp_path: Path
) -> None:
    def stop(done: int, total: int) -> None:
        if done:
            raise Stop

    (tmp_path / "log").mkdir()
    rewards = [length, watchful(log=str(tmp_path / "log"))]
    with pytest.raises(Stop):
        score_folder(rows, rewards, tmp_path / "out", shard_bytes=SHARD_BYTES, progress=stop)
    with cluster.connect(workers=1) as engine:
        report = score_folder(
            rows, rewards, tmp_path / "out", engine=engine, shard_bytes=SHARD_BYTES, resume=True
        )
    assert 0 < report.resumed_rows < ROWS
    assert scored(tmp_path / "log") == ROWS
    assert contents(tmp_path / "out") == calm


def test_an_error_of_a_worker_is_raised_as_itself(
    nodes: object, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("assay.scoring.files.folders.PLANNED_HERE_BYTES", 0)
    (tmp_path / "in.parquet").write_text("no")
    with cluster.connect() as engine, pytest.raises(BadRecord, match="not a Parquet file"):
        score_folder(tmp_path / "in.parquet", [length], tmp_path / "out", engine=engine)


class Trapdoor(Corridor):
    """A corridor in which some tasks end the whole process, so many times."""

    name = "trapdoor"

    async def step(self, action: str) -> Observation:
        assert self._task is not None
        marks = Path(str(self._task.metadata.get("marks", "")))
        fallen = marks / f"{self._task.id}{len(list(marks.glob(f'{self._task.id}*')))}"
        if self._walked == 1 and int(fallen.name[1:]) < self._task.metadata.get(fallen.name[0], 0):
            fallen.touch()
            os.kill(os.getpid(), signal.SIGKILL)
        return await super().step(action)


ENVIRONMENTS.add("trapdoor", Trapdoor)


@pytest.fixture
def trapdoor(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Run]:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "marks").mkdir()
    text = BENCHMARK.replace('environment]\nname = "corridor"', 'environment]\nname = "trapdoor"')
    (tmp_path / "trapdoor.toml").write_text(text)

    def run(falls: dict[str, int] | None = None, **arguments: Any) -> Run:
        settings = {
            "actions": ["north"] * 3,
            "limits.attempts": 1,
            "tasks.marks": str(tmp_path / "marks"),
            **{f"tasks.{task}": count for task, count in (falls or {}).items()},
        }
        return assay.run("trapdoor.toml", agent="scripted", settings=settings, **arguments)

    return run


def outcomes(run: Run) -> dict[tuple[str, int], Any]:
    """Everything of each episode that must not depend on where it was played."""
    return {
        (episode.task.id, episode.repeat): (
            episode.stop_reason,
            [score_to_record(score) for score in episode.scores],
            [
                (step.action, run.text(step.observation), step.reward)
                for step in episode.trajectory.steps
            ],
        )
        for episode in run.final(full=True)
    }


def test_episodes_played_by_actors_are_those_of_this_process(
    nodes: object, trapdoor: Callable[..., Run]
) -> None:
    here = trapdoor(repeats=2, runs_dir="here")
    there = trapdoor(repeats=2, runs_dir="there", engine="ray", workers=2)
    assert outcomes(there) == outcomes(here)
    assert len(outcomes(there)) == 6
    assert there.manifest.config == here.manifest.config


def test_an_episode_lost_with_its_actor_is_played_again(
    nodes: object, trapdoor: Callable[..., Run], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(retries, "WORKER_LOSSES", 2)
    done = trapdoor({"b": 1, "c": 9}, engine="ray", workers=1)
    endings = {episode.task.id: episode for episode in done.episodes()}
    assert [episode.attempt[-2:] for episode in endings.values()] == ["a1", "a2", "a2"]
    assert (endings["a"].stop_reason, endings["a"].metadata) == ("finished", {})
    assert (endings["b"].stop_reason, endings["b"].metadata) == ("finished", {"lost_attempts": 1})
    # One that takes down every worker is the environment's failure: it is no zero of the agent's.
    assert (endings["c"].stop_reason, endings["c"].scores[0]["reward"]) == ("env_error", None)
    assert endings["c"].failure is not None
    assert "lost, 2 times in all" in endings["c"].failure.message
    cut_short = done.unfinished()
    assert [attempt[0] for attempt in cut_short] == ["b", "c"]
    # What had not arrived when the worker died is not there.
    assert [step.action for step in done.steps(cut_short[0])] in ([], [""], ["", "north"])


def test_a_model_that_cannot_be_asked_ends_the_run_there_too(
    nodes: object, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("corridor.toml").write_text(BENCHMARK)
    url = f"http://127.0.0.1:{free_port()}"
    settings = {
        "auto_scrolls": 0,
        "model_options": {"model": "m", "base_url": url, "timeout_s": 1.0},
    }
    with pytest.raises(RunStopped) as stopped:
        assay.run("corridor.toml", agent="web_research", settings=settings, engine="ray", workers=1)
    done = Run(stopped.value.path)
    assert [each.stop_reason for each in done.final()] == ["model_error"] * 3
    with pytest.raises(RunStopped):
        assay.run(resume=done.path, retry_errors=True, engine="ray", workers=1)
    attempts = Run(done.path).attempts()
    assert (len(attempts.attempts), len(attempts.final)) == (6, 3)


def test_a_run_stopped_on_the_cluster_is_finished_here(
    nodes: object, trapdoor: Callable[..., Run]
) -> None:
    def stop(progress: RunProgress) -> None:
        if progress.done == 1:
            signal.raise_signal(signal.SIGINT)

    with pytest.raises(KeyboardInterrupt):
        trapdoor(engine="ray", workers=1, progress=stop)
    (manifest,) = Path("runs").glob("*/manifest.json")
    assert len(list(Run(manifest.parent).episodes())) == 1
    done = assay.run(resume=manifest.parent)
    assert sorted(episode.task.id for episode in done.episodes()) == ["a", "b", "c"]


REWARD = """
import assay
from beside import bonus

@assay.reward(version=2)
def mine(final_response: str) -> float:
    return len(final_response) + bonus()
"""


def test_the_command_takes_a_reward_of_its_own_to_a_cluster_of_its_own(
    rows: Path, tmp_path: Path
) -> None:
    (tmp_path / "rewards.py").write_text(REWARD)
    (tmp_path / "beside.py").write_text("def bonus() -> float:\n    return 0.5\n")
    found = []
    for engine in ("local", "ray"):
        command = [sys.executable, "-m", "assay.cli.main", "score", str(rows), "--json"]
        command += ["--reward", "mine", "--import", str(tmp_path / "rewards.py")]
        command += ["--engine", engine, "--workers", "1", "--out", f"{tmp_path / engine}/"]
        completed = subprocess.run(command, cwd="/", check=True, capture_output=True, text=True)
        report = json.loads(completed.stdout)
        assert (report["rows"], report["rewards"]["mine"]["abstained"]) == (ROWS, {})
        parts = (tmp_path / engine).glob("part-*")
        found.append({path.name: path.read_bytes() for path in parts})
    assert found[0] == found[1]
    assert len(found[0]) == 3


def test_a_composed_reward_travels_with_its_components() -> None:
    gated = {"reward": "format_reward", "gate": "size", "opens_at": 3.0}
    reward = assay.compose("sent", {"size": length, "form": gated}, register=False)
    copy = unpack(pack(reward, ray.cloudpickle))
    for response in ("", "<think>a</think><answer>b</answer>"):
        assert assay.score(copy, final_response=response) == assay.score(
            reward, final_response=response
        )


def test_what_cannot_travel_is_refused_before_anything_runs() -> None:
    lock = threading.Lock()

    def locked(final_response: str) -> float:
        with lock:
            return float(len(final_response))

    with pytest.raises(BadParameter, match="the job cannot be sent to a worker"):
        pack(locked, ray.cloudpickle)


def test_a_worker_with_another_version_of_assay_refuses(monkeypatch: pytest.MonkeyPatch) -> None:
    payload = pack(length, ray.cloudpickle)
    monkeypatch.setattr("assay.runner.cluster_actor.__version__", "0.0.1")
    with pytest.raises(ResourceError, match=r"a worker has assay 0\.0\.1"):
        unpack(payload)


def test_without_ray_the_line_to_install_it_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises(MissingExtra, match=r"pip install 'assay\[ray\]'"), cluster.connect():
        pass


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"address": "ray://head:10001"}, "on a node of the cluster"),  # the results are not here
        ({"workers": 0}, "at least 1"),
    ],
)
def test_a_connection_that_makes_no_sense_is_refused(arguments: dict[str, Any], words: str) -> None:
    with pytest.raises(BadParameter, match=words), cluster.connect(**arguments):
        pass


def test_a_cluster_that_is_not_there_is_said_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ray, "is_initialized", lambda: False)
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        address = f"127.0.0.1:{taken.getsockname()[1]}"
        with pytest.raises(ResourceError, match=f"Ray at '{address}' cannot be used"):
            cluster.connect(address).__enter__()


def test_rows_lost_with_their_node_are_scored_again(
    nodes: tuple[Any, Any], rows: Path, calm: dict[str, bytes], tmp_path: Path
) -> None:
    two, second = nodes
    (tmp_path / "log").mkdir()
    mark = tmp_path / "halted"
    reward = watchful(halt=f"{second.node_id}:{mark}", log=str(tmp_path / "log"))
    done = threading.Event()

    def pull_the_plug() -> None:
        while not mark.exists() and not done.wait(0.02):
            pass
        two.remove_node(second, allow_graceful=False)

    plug = threading.Thread(target=pull_the_plug)
    plug.start()
    try:
        with cluster.connect() as engine:
            score_folder(
                rows, [length, reward], tmp_path / "out", engine=engine, shard_bytes=SHARD_BYTES
            )
    finally:
        done.set()
        plug.join()
    assert mark.exists()
    assert scored(tmp_path / "log") > ROWS
    assert contents(tmp_path / "out") == calm
