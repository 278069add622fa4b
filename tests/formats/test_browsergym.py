"""Results of BrowserGym and AgentLab keep what they hold, and run nothing on their way in."""

from __future__ import annotations

import gzip
import os
import pickle
from pathlib import Path
from typing import Any

import pytest

from assay.errors import BadRecord, UsageError
from assay.formats.browsergym import answer_of
from assay.formats.pickles import UnpickledObject, read_pickle
from assay.ledger.artifacts import Artifacts
from assay.ledger.run import Run
from assay.ledger.summary import summarise
from assay.ledger.transfer import import_run
from assay.schema.episode import StopReason
from tests.formats.browsergym_folders import PICTURE, summary_info, write_folder

NAME = "2026-03-29_12-21-35_WebAgent_on_assistantbench.validation.3_0"
ACTIONS = ("click('a12')", 'send_msg_to_user("14.3")')


def import_one(tmp_path: Path, **options: Any) -> Run:
    return import_run(tmp_path / "study", tmp_path / "runs", format="browsergym", **options)


@pytest.mark.parametrize("agentlab", [False, True])
def test_an_episode_keeps_its_reward_its_actions_and_its_pictures(
    agentlab: bool, tmp_path: Path
) -> None:
    write_folder(tmp_path / "study", NAME, summary_info(0.993), ACTIONS, agentlab=agentlab)
    run = import_one(tmp_path)
    (episode,) = run.final(full=True)
    assert (episode.task.id, episode.task.metadata) == (
        "assistantbench.validation.3",
        {"domain": "assistantbench"},
    )
    assert (episode.final_response, episode.stop_reason) == ("14.3", "answered")
    assert (episode.cum_reward, episode.n_steps, episode.elapsed_s) == (0.993, 2, 4.0)
    assert float(episode.scores[0]) == 0.993
    assert episode.scores[0].scorer == run.manifest.rewards[0]
    assert [step.action for step in episode.trajectory.steps] == ["", *ACTIONS]
    assert [step.think for step in episode.trajectory.steps] == ["", "thought 0", "thought 1"]
    assert run.artifact(episode.trajectory.steps[1].screenshot) == PICTURE + b"\x01"
    assert episode.metadata["summary_info"]["stats.cum_steps"] == 3
    assert "Running experiment" in run.text(episode.metadata["experiment_log"])
    assert episode.started_at == "2026-03-29T12:21:35"
    assert (run.manifest.agent, run.manifest.benchmark) == ("WebAgent", "assistantbench")
    assert run.manifest.versions["playwright"] == "1.44.0"


ENDINGS: list[tuple[dict[str, Any] | None, tuple[str, ...], StopReason, float | None, str]] = [
    (summary_info(0.5), ACTIONS, "answered", 0.5, "a message to the user is an answer"),
    (summary_info(0.5), (), "answered", 0.5, "a task of AssistantBench ends in no other way"),
    (
        summary_info(terminated=False, truncated=True),
        ("noop()",),
        "step_limit",
        0.0,
        "cut off by the step limit",
    ),
    (
        summary_info(terminated=False, truncated=True),
        ("noop()", "None"),
        "gave_up",
        0.0,
        "the agent returned None",
    ),
    (
        summary_info(terminated=False, err_msg="KeyError"),
        (),
        "agent_error",
        0.0,
        "the agent raised",
    ),
    (
        summary_info(terminated=None, truncated=None, err_msg="TypeError"),
        ACTIONS,
        "env_error",
        None,
        "the grader raised, or the page was out of reach",
    ),
    (None, ACTIONS, "env_error", None, "the summary itself was lost"),
]


@pytest.mark.parametrize(("summary", "actions", "ending", "reward", "why"), ENDINGS)
def test_how_an_episode_ended(
    summary: dict[str, Any] | None,
    actions: tuple[str, ...],
    ending: StopReason,
    reward: float | None,
    why: str,
    tmp_path: Path,
) -> None:
    write_folder(tmp_path / "study", NAME, summary, actions)
    (episode,) = import_one(tmp_path).final()
    assert episode.stop_reason == ending, why
    assert episode.scores[0]["reward"] == reward, why
    assert (episode.failure is not None) == (ending in ("agent_error", "env_error")), why


def test_other_worlds_end_an_episode_themselves(tmp_path: Path) -> None:
    name = "2026-03-29_12-21-35_WebAgent_on_miniwob.click-test_7"
    write_folder(tmp_path / "study", name, summary_info(1.0), ("click('1')",))
    (episode,) = import_one(tmp_path).final()
    assert (episode.stop_reason, episode.final_response) == ("finished", None)
    assert episode.metadata["seed"] == 7


def test_hidden_retries_become_attempts_that_a_later_one_replaced(tmp_path: Path) -> None:
    study = tmp_path / "study"
    task = "A_on_miniwob.click-test"
    broken = summary_info(terminated=None, truncated=None, err_msg="crash")
    write_folder(study, f"_2026-03-29_12-00-00_{task}_7", broken)
    write_folder(study, f"2026-03-29_12-00-01_{task}_8", summary_info(0.0))
    write_folder(study, f"2026-03-29_12-00-02_{task}_7", summary_info(1.0))
    write_folder(study, f"2026-03-29_12-00-02_{task}_7_1", summary_info(1.0))
    write_folder(study, f"_2026-03-29_12-00-03_{task}_9", broken)
    run = import_one(tmp_path)
    summary = summarise(run)
    assert (summary.attempts, summary.retried, summary.counts.n) == (5, 1, 4)
    assert summary.counts.mean == pytest.approx(2 / 3)
    assert summary.counts.env_errors == 1
    keyed = [(episode.metadata["hidden"], episode.repeat) for episode in run.episodes()]
    assert keyed == [(True, 1), (False, 0), (False, 1), (False, 2), (True, 3)]


def test_a_run_has_one_agent(tmp_path: Path) -> None:
    study = tmp_path / "study"
    write_folder(study, NAME, summary_info(1.0))
    write_folder(study, NAME.replace("WebAgent", "Other"), summary_info(0.0))
    with pytest.raises(UsageError, match="2 agents"):
        import_one(tmp_path)
    (episode,) = import_one(tmp_path, agent="Other").final()
    assert episode.cum_reward == 0.0
    with pytest.raises(UsageError, match="no results of agent 'None such'"):
        import_one(tmp_path, agent="None such")


def test_a_folder_without_results_is_refused(tmp_path: Path) -> None:
    with pytest.raises(BadRecord, match="there is no file or folder"):
        import_one(tmp_path)
    (tmp_path / "study").mkdir()
    with pytest.raises(BadRecord, match="no BrowserGym results"):
        import_one(tmp_path)


def test_a_folder_with_a_name_of_its_own_is_a_task_of_that_name(tmp_path: Path) -> None:
    write_folder(tmp_path / "study", "my episode", summary_info(1.0))
    (episode,) = import_one(tmp_path).final()
    assert (episode.task.id, episode.started_at) == ("my episode", "")


@pytest.mark.parametrize("summary", ["", "{", "[1]", '{"cum_reward": NaN}', "\ud800"])
def test_a_damaged_summary_is_an_episode_that_nobody_judged(summary: str, tmp_path: Path) -> None:
    folder = write_folder(tmp_path / "study", NAME, None)
    (folder / "summary_info.json").write_bytes(summary.encode("utf-8", "surrogatepass"))
    (episode,) = import_one(tmp_path).final()
    assert episode.stop_reason == "env_error"
    assert episode.failure is not None
    assert "summary_info.json" in episode.failure.message


def test_a_link_out_of_the_folder_is_not_followed(tmp_path: Path) -> None:
    secret = tmp_path / "secret"
    secret.write_text("secret")
    folder = write_folder(tmp_path / "study", NAME, summary_info(1.0))
    for name in ("screenshot_step_0.png", "experiment.log"):
        (folder / name).unlink()
        (folder / name).symlink_to(secret)
    run = import_one(tmp_path)
    stored = [path.read_bytes() for path in (run.path / "artifacts").rglob("*") if path.is_file()]
    assert b"secret" not in stored


def test_with_leave_to_unpickle_the_steps_have_their_rewards(tmp_path: Path) -> None:
    write_folder(tmp_path / "study", NAME, summary_info(0.75), ACTIONS)
    run = import_one(tmp_path, unpickle=True)
    (episode,) = run.final(full=True)
    last = episode.trajectory.steps[-1]
    assert (last.action, last.reward, last.raw_reward) == (ACTIONS[1], 0.75, 1.0)
    assert episode.task.goal == "How wet?"
    assert episode.final_response == "14.3"
    assert run.manifest.config["imported"]["unpickle"] is True


class Bomb:
    """Unpickled in the usual way, it leaves a file behind."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __reduce__(self) -> tuple[Any, ...]:
        return os.mkdir, (str(self.path),)


def test_a_hostile_pickle_is_never_run(tmp_path: Path) -> None:
    folder = write_folder(tmp_path / "study", NAME, summary_info(1.0), ACTIONS)
    bomb = pickle.dumps(Bomb(tmp_path / "exploded"))
    (folder / "exp_args.pkl").write_bytes(bomb)
    (folder / "step_0.pkl.gz").write_bytes(gzip.compress(bomb))
    import_one(tmp_path)
    (episode,) = import_one(tmp_path, unpickle=True).final()
    assert episode.metadata["unpickle_problem"] is None
    assert isinstance(read_pickle(folder / "exp_args.pkl"), UnpickledObject)
    assert not (tmp_path / "exploded").exists()


def _pack(data: bytes) -> bytes:
    # Without the time of day, the tests have the same names in every process.
    return gzip.compress(data, mtime=0)


@pytest.mark.parametrize(
    ("content", "why"),
    [
        (b"", "nothing"),
        (b"not gzip", "not packed"),
        (_pack(b"\x80\x05nonsense"), "no pickle"),
        (_pack(pickle.dumps([1, 2, 3]))[:-9], "cut short"),
        (_pack(b"cos\nsystem\n}b."), "state for a class"),
        (_pack(b"(" * 10 + b"P1\n."), "a persistent id"),
    ],
)
def test_a_damaged_pickle_is_named(content: bytes, why: str, tmp_path: Path) -> None:
    path = tmp_path / "step_0.pkl.gz"
    path.write_bytes(content)
    with pytest.raises(BadRecord, match=r"step_0\.pkl\.gz"):
        read_pickle(path)


@pytest.mark.parametrize(
    ("action", "answer", "why"),
    [
        ('send_msg_to_user("14.3")', "14.3", "the usual form"),
        ("send_msg_to_user(text='it\\'s\\n7')", "it's\n7", "by keyword, with escapes"),
        ('send_msg_to_user("C:\\dir")', "C:\\dir", "an escape that Python does not know"),
        ("noop()\nsend_msg_to_user('a')\nsend_msg_to_user('b')", "b", "the last of several"),
        ("send_msg_to_user(14.3)", "14.3", "a number"),
        ("fill('3', 'send_msg_to_user(1)')", None, "only quoted"),
        ("send_msg_to_user(open('/etc/passwd').read())", None, "code is not evaluated"),
        ("send_msg_to_user('a', 'b')", None, "not its signature"),
        ("I would send_msg_to_user('x')", None, "not an action"),
        ("send_msg_to_user(" + "(" * 5_000, None, "nested beyond reason"),
        ("send_msg_to_user('\x00')", None, "a null byte"),
    ],
)
def test_the_answer_in_an_action(action: str, answer: str | None, why: str) -> None:
    assert answer_of(action) == answer, why


def test_damaged_pickles_leave_what_the_log_says(tmp_path: Path) -> None:
    folder = write_folder(tmp_path / "study", NAME, summary_info(1.0), ACTIONS)
    (folder / "step_1.pkl.gz").write_bytes(b"nothing")
    (episode,) = import_one(tmp_path, unpickle=True).final(full=True)
    assert episode.final_response == "14.3"
    assert "step_1" in episode.metadata["unpickle_problem"]


def test_an_import_that_fails_leaves_no_run_behind(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_folder(tmp_path / "study", NAME, summary_info(1.0), ACTIONS)
    with monkeypatch.context() as patch:
        patch.setattr(Artifacts, "put", _full)
        with pytest.raises(OSError, match="full"):
            import_one(tmp_path)
    assert list((tmp_path / "runs").iterdir()) == []
    run = import_one(tmp_path)
    assert import_one(tmp_path).path == run.path
    (run.path / "manifest.json").write_text("{}")
    with pytest.raises(BadRecord, match="already exists"):
        import_one(tmp_path)


def _full(self: Artifacts, data: bytes | str) -> str:
    raise OSError("the disk is full")
