"""A model that cannot be asked is the endpoint's failure: no zero, said once, and run again."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, cast

import pytest

import assay
from assay.agents.models.openai import OpenAIModel
from assay.agents.models.timeouts import model_call
from assay.agents.protocol import Action, EpisodeLimits
from assay.cli.main import main
from assay.errors import BadParameter, ModelError, PromptTooLong, RunStopped
from assay.ledger.index import LedgerIndex
from assay.ledger.layout import list_runs
from assay.ledger.run import Run
from assay.ledger.summary import summarise
from assay.registry import AGENTS, reward
from assay.report.comparison import compare
from assay.report.diagnosis import diagnose
from assay.report.timeline import history
from assay.runner.limits import RunLimits
from assay.runner.rescore import rescore
from assay.schema.episode import Episode
from assay.schema.score import Abstained, Scored
from assay.schema.task import Task
from assay.scoring.scorer import Scorer
from tests.adapters.test_abstentions import typo
from tests.agents.faulty_endpoint import (
    Fault,
    Request,
    at_random,
    free_port,
    script,
    serving,
)
from tests.runner.corridor import BENCHMARK, Corridor
from tests.runner.test_rollout import Doing, play

FATAL: tuple[Fault, ...] = (
    "unauthorized", "forbidden", "not_found", "quota", "broken", "reset", "malformed",
    "web_page", "no_reply",
)  # fmt: skip
NAMES = ("red", "green", "blue", "gold", "grey", "pink", "teal", "plum")
PASSING: tuple[Fault, ...] = ("busy", "slow", "cut_off")


@pytest.fixture
def corridor(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    Corridor.deaths.clear()
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    path = tmp_path / "corridor.toml"
    names = '"environment_reward", "qa_f1_reward"'
    tasks = 'source = "corridor"\nnames = ["red", "green", "blue"]'
    benchmark = BENCHMARK.replace(names, '"qa_f1_reward"').replace('source = "corridor"', tasks)
    path.write_text(benchmark)
    return path


def answer(request: Request) -> str:
    """Walk once, then answer with the name that the goal ends with."""
    turns = [message for message in request.body["messages"] if message["role"] == "user"]
    name = next(word for word in NAMES if f"Go north, {word}." in str(turns))
    return f'ACTION: answer\nPARAMS: {{"text": "{name}"}}'


def options(url: str, **model_options: Any) -> dict[str, Any]:
    return {
        "model": "openai",
        "auto_scrolls": 0,
        "model_options": {"model": "m", "base_url": url, "timeout_s": 1.0, **model_options},
    }


def run(corridor: Path, url: str, **arguments: Any) -> Run:
    arguments.setdefault("settings", options(url))
    arguments.setdefault("stop_after_errors", 0)
    return assay.run(corridor, agent="web_research", runs_dir=corridor.parent / "runs", **arguments)


def resume(done: Path | str, **arguments: Any) -> Run:
    return assay.run(resume=done, runs_dir=Path(done).parent, **arguments)


def endings(run: Run) -> list[str]:
    return [episode.stop_reason for episode in run.final()]


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize("fault", [*FATAL, *PASSING])
def test_a_call_that_fails_for_good_is_no_zero(corridor: Path, fault: Fault, stream: bool) -> None:
    choose = lambda request: fault if "Go north, green." in str(request.body) else "ok"  # noqa: E731
    with serving(choose, reply=answer, slow_s=5) as endpoint:
        done = run(corridor, endpoint.url, settings=options(endpoint.url, stream=stream))
    by_task = {each.task.id: each.stop_reason for each in done.final()}
    assert by_task == {"red": "answered", "green": "model_error", "blue": "answered"}
    failed = next(each for each in done.final() if each.task.id == "green")
    assert failed.failure is not None
    assert failed.failure.kind == "model_error"
    assert endpoint.url in failed.failure.message
    cut_off = fault == "cut_off" and not stream  # half a body is a broken connection
    assert failed.failure.fatal == (fault in FATAL or cut_off)
    (score,) = failed.scores
    assert isinstance(score, Abstained)
    assert score.reason == "model_error"
    counts = summarise(done).counts
    assert (counts.mean, counts.scored, counts.zero) == (1.0, 2, 0)
    assert (counts.model_errors, counts.abstained, counts.unscored) == (1, 0, 0)
    assert endpoint.open_requests == 0


def test_a_connection_that_is_refused_is_no_zero(corridor: Path) -> None:
    done = run(corridor, f"http://127.0.0.1:{free_port()}")
    assert endings(done) == ["model_error"] * 3
    assert summarise(done).counts.mean is None


def test_odd_text_is_the_agents_own(corridor: Path) -> None:
    with serving(script("odd_text")) as endpoint:
        done = run(corridor, endpoint.url)
    assert endings(done) == ["gave_up"] * 3
    assert summarise(done).counts.mean == 0.0


def test_a_conversation_that_is_too_long_is_the_agents_own(corridor: Path) -> None:
    with serving(script("too_long")) as endpoint:
        done = run(corridor, endpoint.url)
    assert endings(done) == ["agent_error"] * 3
    assert summarise(done).counts.mean == 0.0


def test_one_retry_that_fails_again_ends_no_run_early(corridor: Path) -> None:
    def choose(request: Request) -> Fault:
        return "unauthorized" if "Go north, green." in str(request.body) else "ok"

    with serving(choose, reply=answer) as endpoint:
        done = run(corridor, endpoint.url)
        again = resume(done.path, retry_errors=True)
    assert sorted(endings(again)) == ["answered", "answered", "model_error"]
    assert summarise(again).attempts == 4


class Speaking:
    """An agent whose model cannot be asked, and says so in colours."""

    name = "speaking"

    async def start(self, task: Task, *, limits: EpisodeLimits) -> None: ...

    async def act(self, observation: Any, *, step: int) -> Action:
        raise ModelError("\x1b[31mno\x07")

    async def close(self) -> None: ...


def test_a_message_cannot_drive_the_terminal(
    corridor: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(AGENTS._objects, "speaking", {1: Speaking})
    assert main(["run", str(corridor), "--agent", "speaking"]) == 1
    shown = capfd.readouterr()
    assert "\\x07" in shown.err
    assert not {"\x07", "\x1b"} & set(shown.out + shown.err)


def test_a_run_from_which_the_reward_abstains_throughout_exits_with_one(
    corridor: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    reward(name="typo", replace=True)(typo)
    corridor.write_text(corridor.read_text().replace("qa_f1_reward", "typo"))
    actions = json.dumps(['answer("red")'])
    arguments = ["run", str(corridor), "--agent", "scripted", "--set", f"actions={actions}"]
    assert main([*arguments, "--json"]) == 1
    shown = capfd.readouterr()
    assert json.loads(shown.out)["counts"]["abstained"] == 3
    assert "typo@1 abstained from all 3" in shown.err
    assert "NameError" in shown.err
    (path,) = list_runs(corridor.parent / "runs")
    assert main(["score", str(path), "--reward", "typo"]) == 1
    assert main(["score", str(path), "--reward", "qa_f1_reward"]) == 0


def test_retrying_the_errors_of_nobody_is_refused(
    corridor: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    assert main(["run", "--resume", "latest", "--retry-errors="]) == 2
    assert "choose from" in capfd.readouterr().err


@pytest.mark.parametrize(
    ("command", "words"),
    [("/nowhere/at/all", "cannot start"), ("false", "ended with status 1"), ("sleep 9", "reply")],
)
def test_a_command_line_model_that_is_missing_or_dies_is_no_zero(
    corridor: Path, command: str, words: str
) -> None:
    settings = {"model": "cli", "auto_scrolls": 0}
    settings["model_options"] = {"command": command, "timeout_s": 0.3}
    done = run(corridor, "", settings=settings)
    assert endings(done) == ["model_error"] * 3
    (failure,) = summarise(done).errors
    assert words in failure.message


def test_every_reader_counts_a_model_error_beside_the_mean(corridor: Path) -> None:
    with serving(script("unauthorized", "ok"), reply=answer) as endpoint:
        done = run(corridor, endpoint.url, workers=1)
    runs = corridor.parent / "runs"
    (row,) = LedgerIndex(runs).runs()
    assert (row.n, row.scored, row.mean, row.errors, row.abstained) == (3, 2, 1.0, 1, 0)
    (line,) = history(runs_dir=runs).rows
    assert (line.mean, line.errors, line.attempts) == (1.0, 1, 3)
    shown = compare(done.path, done.path)
    assert shown.n == 2
    assert any("1 of 3 attempts" in note and "by the model" in note for note in shown.notes)
    (cause,) = diagnose(done).causes
    assert (cause.cause, cause.attempts, cause.unscored) == ("model_error", 1, 1)
    assert "--retry-errors" in cause.suggestion
    assert any(note.startswith("1 × model_error: http://") for note in diagnose(done).notes)


def test_a_run_that_is_scored_again_keeps_its_model_errors_out(corridor: Path) -> None:
    with serving(script("unauthorized", "ok"), reply=answer) as endpoint:
        done = run(corridor, endpoint.url, workers=1)
    again = rescore(done, [Scorer("fuzzy_answer_reward")])
    assert (summarise(again).counts.mean, summarise(again).counts.model_errors) == (1.0, 1)


@pytest.mark.parametrize(
    ("act", "ending"),
    [
        (lambda: ModelError("no"), "model_error"),
        (lambda: ExceptionGroup("both", [ModelError("a"), ModelError("b")]), "model_error"),
        (lambda: ExceptionGroup("both", [ModelError("a"), ValueError("b")]), "agent_error"),
        (lambda: PromptTooLong("12 tokens too many"), "agent_error"),
        (lambda: RuntimeError("my own client failed"), "agent_error"),
    ],
)
def test_any_agent_can_say_that_its_model_failed(
    tmp_path: Path, act: Callable[[], Exception], ending: str
) -> None:
    def fail(step: int) -> Action:
        raise act()

    episode = play(tmp_path / "one", Doing(fail))
    assert episode.stop_reason == ending
    assert isinstance(episode.scores[0], Abstained if ending == "model_error" else Scored)


# What the run says, and when it ends early.


def test_each_message_is_said_once_with_its_count(
    corridor: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    with serving(script("not_found")) as endpoint:
        arguments = ["run", str(corridor), "--agent", "web_research", "--set", "auto_scrolls=0"]
        arguments += ["--set", "model_options.model=m"]
        arguments += ["--set", f"model_options.base_url={endpoint.url}"]
        arguments += [
            "--stop-after-errors",
            "0",
            "--set",
            'tasks.names=["red","blue","gold","grey","pink"]',
        ]
        assert main([*arguments]) == 1  # nothing was scored
        shown = capfd.readouterr().out
        assert main([*arguments, "--json"]) == 1
        record = json.loads(capfd.readouterr().out)
    assert shown.count("The model `m` does not exist") == 1
    assert "5 × model_error: " in shown
    (error,) = record["errors"]
    assert (error["kind"], error["count"]) == ("model_error", 5)
    assert "not in it: 5 model_error" in shown


@pytest.mark.parametrize("workers", [1, 4])
def test_the_same_fatal_error_on_the_first_attempts_ends_the_run(
    corridor: Path, workers: int, capfd: pytest.CaptureFixture[str]
) -> None:
    settings = {"tasks.names": list(NAMES)}
    with serving(script("unauthorized")) as endpoint:
        with pytest.raises(RunStopped, match="Incorrect API key") as stopped:
            run(
                corridor,
                endpoint.url,
                workers=workers,
                stop_after_errors=None,
                settings=options(endpoint.url) | settings,
            )
        port = int(endpoint.url.rpartition(":")[2])
    done = Run(stopped.value.path)
    assert set(endings(done)) == {"model_error"}
    assert len(endings(done)) == 3
    assert not done.unfinished()
    # The key is mended: exactly what failed and what is missing is run, nothing twice.
    with serving(script("ok"), reply=answer, port=port) as endpoint:
        again = resume(done.path, retry_errors=True, workers=workers)
    assert endings(again) == ["answered"] * 8
    assert len(endpoint.requests) == 8
    assert summarise(again).counts.mean == 1.0
    assert summarise(again).errors == ()
    assert summarise(again).replaced_zeros == 0


MANY_QUESTIONS = [{"question": f"What is {n} + 1?", "answer": str(n + 1)} for n in range(100)]


@pytest.mark.parametrize("fault", ["unauthorized", "forbidden", "not_found", "refused"])
def test_a_key_that_is_refused_costs_three_of_a_hundred_attempts(
    tmp_path: Path, fault: str, capfd: pytest.CaptureFixture[str]
) -> None:
    questions = tmp_path / "questions.jsonl"
    questions.write_text("\n".join(map(json.dumps, MANY_QUESTIONS)))
    refused = fault == "refused"
    with serving(script("ok" if refused else cast(Fault, fault))) as endpoint:
        url = f"http://127.0.0.1:{free_port()}" if refused else endpoint.url
        arguments = ["run", str(questions), "--model", "openai:m", "--reward", "qa_f1_reward"]
        arguments += ["--set", f"model_options.base_url={url}", "--call-timeout", "1"]
        code: Any = main([*arguments, "--workers", "64", "--runs", str(tmp_path / "runs")])
    assert code == 1
    (path,) = list_runs(tmp_path / "runs")
    assert summarise(Run(path)).attempts == 3
    assert len(endpoint.requests) == (0 if refused else 3)
    (line,) = [line for line in capfd.readouterr().err.splitlines() if line.startswith("assay:")]
    assert "stopped early, since the first attempts all failed alike" in line
    assert url in line


@pytest.mark.parametrize("first", ["42", ModelError("slow", fatal=False), ValueError("mine")])
def test_every_worker_begins_once_one_attempt_did_not_fail_alike(
    tmp_path: Path, first: str | Exception
) -> None:
    """The first reply opens the run, and so does any failure that another attempt may not have."""
    asked: list[str] = []
    all_ask = asyncio.Event()

    async def answer(question: str) -> str:
        asked.append(question)
        if len(asked) > 1:
            if len(asked) == 10:
                all_ask.set()
            await asyncio.wait_for(all_ask.wait(), 20)
            return "42"
        if isinstance(first, Exception):
            raise first
        return first

    tasks, runs = MANY_QUESTIONS[:20], tmp_path / "runs"
    done = assay.run(tasks=tasks, agent=answer, rewards=["qa_f1_reward"], workers=9, runs_dir=runs)
    assert sum(episode.stop_reason == "answered" for episode in done.final()) >= 19


def test_an_agent_that_acts_before_it_asks_its_model_does_not_open_the_run(
    corridor: Path,
) -> None:
    settings = {**options(f"http://127.0.0.1:{free_port()}"), "auto_scrolls": 2}
    settings |= {"tasks.names": list(NAMES)}
    with pytest.raises(RunStopped) as stopped:
        run(corridor, "", settings=settings, workers=8, stop_after_errors=None)
    assert len(endings(Run(stopped.value.path))) == 3


def test_an_early_end_prints_the_reason_and_exits_with_one(
    corridor: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    with serving(script("unauthorized")) as endpoint:
        arguments = ["run", str(corridor), "--agent", "web_research", "--set", "auto_scrolls=0"]
        arguments += ["--set", "model_options.model=m", "--call-timeout", "0.5", "--json"]
        arguments += ["--set", f"model_options.base_url={endpoint.url}"]
        code: Any = main(arguments)
    shown = capfd.readouterr()
    assert code == 1
    assert json.loads(shown.out)["counts"]["model_errors"] == 3
    assert "Incorrect API key" in shown.err
    assert "--retry-errors" in shown.err


@pytest.mark.parametrize("faults", [("ok", "unauthorized"), ("unauthorized", "unauthorized", "ok")])
def test_a_run_in_which_something_worked_goes_on(corridor: Path, faults: tuple[Fault, ...]) -> None:
    with serving(script(*faults), reply=answer) as endpoint:
        done = run(corridor, endpoint.url, workers=1, stop_after_errors=None)
    assert len(endings(done)) == 3


def test_different_errors_do_not_end_a_run(corridor: Path) -> None:
    with serving(script("unauthorized", "not_found", "unauthorized")) as endpoint:
        done = run(corridor, endpoint.url, workers=1, stop_after_errors=None)
    assert endings(done) == ["model_error"] * 3


def test_a_busy_endpoint_does_not_end_a_run(corridor: Path) -> None:
    with serving(script("busy")) as endpoint:
        done = run(corridor, endpoint.url, workers=1, stop_after_errors=None)
    assert endings(done) == ["model_error"] * 3


def test_the_benchmark_can_say_when_to_stop(corridor: Path) -> None:
    corridor.write_text(corridor.read_text() + "stop_after_errors = 2\n")
    with serving(script("not_found")) as endpoint:
        with pytest.raises(RunStopped):
            run(corridor, endpoint.url, workers=1, stop_after_errors=None)
        with pytest.raises(RunStopped):
            run(corridor, endpoint.url, workers=1, stop_after_errors=1)
    counts = [len(endings(Run(path))) for path in list_runs(corridor.parent / "runs")]
    assert sorted(counts) == [1, 2]


# Running what failed again.


def test_without_being_asked_a_resumed_run_leaves_errors_alone(corridor: Path) -> None:
    with serving(script("unauthorized", "ok"), reply=answer) as endpoint:
        done = run(corridor, endpoint.url, workers=1)
        resume(done.path)
    assert len(endpoint.requests) == 3


def test_env_errors_are_run_again_as_often_as_new_ones(corridor: Path) -> None:
    settings = {"actions": ["north"] * 3, "tasks.dies": 4, "tasks.names": ["red"]}
    done = assay.run(corridor, agent="scripted", settings=settings, runs_dir=corridor.parent)
    assert (summarise(done).attempts, endings(done)) == (3, ["env_error"])
    resume(done.path)
    assert summarise(Run(done.path)).attempts == 3
    resume(done.path, retry_errors="env")
    again = summarise(Run(done.path))
    assert (again.attempts, again.endings) == (5, {"finished": 1})


class Clumsy(Doing):
    """Breaks, unless the tests have mended it."""

    name = "clumsy"
    is_mended = False

    def __init__(self) -> None:
        super().__init__(self.do)

    def do(self, step: int) -> Action:
        if not Clumsy.is_mended and self.task != "red":
            raise ValueError(f"clumsy on {self.task}")
        return Action("", answer=self.task)

    async def start(self, task: Task, *, limits: EpisodeLimits) -> None:
        self.task = task.id


def test_agent_errors_are_run_again_only_when_named_and_the_zeros_are_counted(
    corridor: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Clumsy, "is_mended", False)
    done = assay.run(corridor, agent=Clumsy, runs_dir=corridor.parent / "runs")
    assert summarise(done).counts.mean == pytest.approx(1 / 3)
    monkeypatch.setattr(Clumsy, "is_mended", True)
    resume(done.path, agent=Clumsy, retry_errors=True)
    assert summarise(Run(done.path)).attempts == 3
    resume(done.path, agent=Clumsy, retry_errors=["agent"])
    summary = summarise(Run(done.path))
    assert (summary.attempts, summary.counts.mean, summary.replaced_zeros) == (5, 1.0, 2)
    words = "2 zeros replaced by a retry of agent errors"
    assert any(words in note for note in compare(done.path, done.path).notes)
    assert main(["list", "runs"]) == 0
    capfd.readouterr()
    monkeypatch.setattr("assay.registry.AGENTS.get", lambda name: Clumsy)
    assert main(["run", "--resume", str(done.path)]) == 0
    assert words in capfd.readouterr().out


@pytest.mark.parametrize("whose", ["world", "env;model", ""])
def test_an_unknown_kind_of_error_is_refused(corridor: Path, whose: str) -> None:
    with pytest.raises(BadParameter, match="choose from agent, model, env"):
        assay.run(resume="x", retry_errors=whose)


def test_errors_are_retried_of_a_run_that_is_resumed(corridor: Path) -> None:
    with pytest.raises(BadParameter, match="say which run to resume"):
        assay.run(corridor, agent="scripted", retry_errors=True)


# Time: a call has its own.


def test_a_slow_reply_is_not_the_agents_time(corridor: Path) -> None:
    settings = options("", timeout_s=5.0) | {"limits.step_s": 0.1}
    with serving(script("slow"), reply=answer, slow_s=0.4) as endpoint:
        settings["model_options"]["base_url"] = endpoint.url
        done = run(corridor, endpoint.url, settings=settings)
    assert endings(done) == ["answered"] * 3


def test_a_reply_that_outlasts_the_episode_is_no_zero(corridor: Path) -> None:
    settings = options("", timeout_s=60.0) | {"limits.step_s": 0.1, "limits.episode_s": 0.5}
    with serving(script("slow"), slow_s=20) as endpoint:
        settings["model_options"]["base_url"] = endpoint.url
        done = run(corridor, endpoint.url, settings=settings, workers=3)
    assert endings(done) == ["model_error"] * 3
    (error,) = summarise(done).errors
    assert "limits.episode_s" in error.message


def test_an_agent_that_uses_its_episode_up_with_quick_replies_ran_out_of_time(
    tmp_path: Path,
) -> None:
    async def ask(step: int) -> Action:
        async with model_call(5):
            await asyncio.sleep(0.06)
        return Action("south")

    episode = play(tmp_path / "t", Doing(ask), limits=RunLimits(steps=99, step_s=5, episode_s=0.5))
    assert episode.stop_reason == "timeout"


def test_the_agents_own_time_is_limited_also_beside_calls(tmp_path: Path) -> None:
    async def dawdle(step: int) -> Action:
        async with model_call(5):
            await asyncio.sleep(0.2)
        await asyncio.sleep(5)
        return Action("south")

    episode = play(tmp_path / "t", Doing(dawdle), limits=RunLimits(step_s=0.1, episode_s=4))
    assert (episode.stop_reason, episode.metadata["limit"]) == ("timeout", "step_s")
    assert episode.elapsed_s < 3


def test_a_call_that_takes_too_long_says_so(tmp_path: Path) -> None:
    async def ask(step: int) -> Action:
        async with model_call(0.05), model_call():
            await asyncio.Event().wait()
        return Action("south")

    episode = play(tmp_path / "t", Doing(ask), limits=RunLimits(step_s=0.01))
    assert episode.stop_reason == "model_error"
    assert episode.failure is not None
    assert "no reply within 0.05 s" in episode.failure.message


@pytest.mark.parametrize("timeout_s", [0, -1, "soon", True, float("inf")])
def test_a_timeout_is_a_number_of_seconds(timeout_s: Any) -> None:
    with pytest.raises(BadParameter, match="timeout_s is"):
        OpenAIModel(model="m", base_url="http://localhost", timeout_s=timeout_s)


def test_the_options_of_a_resumed_run_are_compared_with_those_it_had(corridor: Path) -> None:
    with serving(script("ok"), reply=answer) as endpoint:
        done = run(corridor, endpoint.url)
        with pytest.raises(BadParameter, match=r"model_options\.model was 'm' and is 'other'"):
            resume(done.path, settings={"model_options.model": "other"})


def test_a_resumed_run_may_find_its_model_elsewhere_and_wait_longer(corridor: Path) -> None:
    with pytest.raises(RunStopped) as stopped:
        run(corridor, f"http://127.0.0.1:{free_port()}", stop_after_errors=None)
    with serving(script("ok"), reply=answer) as endpoint:
        settings = {"model_options.base_url": endpoint.url, "model_options.timeout_s": 9}
        done = resume(stopped.value.path, settings=settings, retry_errors=True)
    assert endings(done) == ["answered"] * 3
    noted = {"base_url": endpoint.url, "timeout_s": 9}
    assert [each.metadata["resumed_with"] for each in done.final()] == [noted] * 3


def test_a_resumed_run_may_wait_longer_also_if_its_model_had_no_options(
    corridor: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(corridor.parent))
    settings = {"model": "cli", "auto_scrolls": 0}
    done = run(corridor, "", settings=settings)
    assert endings(done) == ["model_error"] * 3, "there is no such client here"
    longer = {"model_options.timeout_s": 9}
    again = resume(done.path, settings=longer, retry_errors=True, stop_after_errors=0)
    assert [each.metadata["resumed_with"] for each in again.final()] == [{"timeout_s": 9}] * 3
    with pytest.raises(BadParameter, match=r"command was None"):
        resume(done.path, settings=longer | {"model_options.command": "true"})


# Chance: whatever happens to a request, the number is right.


def test_random_faults_give_no_wrong_score_and_lose_nothing(corridor: Path) -> None:
    weights: dict[Fault, float] = dict.fromkeys((*FATAL, *PASSING), 1.0) | {"ok": 12.0}
    settings = {"tasks.names": list(NAMES)}
    with serving(at_random(7, weights), reply=answer, slow_s=2) as endpoint:
        done = run(
            corridor,
            endpoint.url,
            workers=4,
            repeats=3,
            settings=options(endpoint.url, timeout_s=0.3) | settings,
        )
        for _ in range(20):
            if "model_error" not in endings(Run(done.path)):
                break
            resume(done.path, retry_errors="model", workers=4, stop_after_errors=0)
    final = list(Run(done.path).final())
    assert {(each.task.id, each.repeat) for each in final} == {
        (name, repeat) for name in NAMES for repeat in range(3)
    }
    assert all(_is_right(each) for each in Run(done.path).episodes())
    assert summarise(Run(done.path)).counts.mean == 1.0
    assert endpoint.open_requests == 0


def _is_right(episode: Episode) -> bool:
    (score,) = episode.scores
    if episode.stop_reason == "model_error":
        return isinstance(score, Abstained) and score.reason == "model_error"
    return episode.stop_reason == "answered" and isinstance(score, Scored) and score.value == 1.0
