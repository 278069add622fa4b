"""Result folders in the shape that BrowserGym and AgentLab leave, one for each ending."""

from __future__ import annotations

import gzip
import json
import pickle
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

PICTURE = b"\x89PNG\r\n\x1a\n"


@dataclass
class EnvArgs:
    task_name: str = "assistantbench.validation.3"


@dataclass
class StepInfo:
    """The fields of BrowserGym's own record, as it is pickled."""

    step: int
    action: str | None
    reward: float = 0.0
    raw_reward: float | None = None
    obs: dict[str, Any] = field(default_factory=lambda: {"goal": "How wet?"})
    agent_info: dict[str, Any] = field(default_factory=dict)
    task_info: dict[str, Any] | None = None
    profiling: EnvArgs = field(default_factory=EnvArgs)


def write_folder(
    root: Path,
    name: str,
    summary: dict[str, Any] | None,
    actions: tuple[str, ...] = (),
    *,
    agentlab: bool = False,
) -> Path:
    """One episode: its summary, its log, a picture and a pickle for each step."""
    folder = root / name
    folder.mkdir(parents=True)
    (folder / "exp_args.pkl").write_bytes(pickle.dumps(EnvArgs()))
    (folder / "package_versions.txt").write_text("browsergym-core==0.14.3\nplaywright==1.44.0\n")
    if summary is not None:
        (folder / "summary_info.json").write_text(json.dumps(summary, indent=4))
    middle = "4242 - agentlab.experiments.loop:351" if agentlab else "browsergym.experiments.loop"
    head = f"2026-03-29 12:21:35,123 - {middle} - INFO - "
    lines = [f"{head}Running experiment x in:\n  /somewhere\n"]
    for index, action in enumerate((*actions, None)):
        (folder / f"screenshot_step_{index}.png").write_bytes(PICTURE + bytes([index]))
        last = index == len(actions)
        info = StepInfo(
            index,
            action,
            reward=0.75 if last else 0.0,
            agent_info={"think": f"thought {index}"},
            task_info={"RAW_REWARD_GLOBAL": 1.0} if last else None,
        )
        with gzip.open(folder / f"step_{index}.pkl.gz", "wb") as stream:
            pickle.dump(info, stream)
        if action is not None:
            lines.append(f"{head}thought {index}\n\naction:\n{action}\n\n")
    (folder / "experiment.log").write_text("".join(lines))
    return folder


def summary_info(
    cum_reward: float = 0.0,
    *,
    terminated: bool | None = True,
    truncated: bool | None = False,
    err_msg: str | None = None,
    n_steps: int = 2,
) -> dict[str, Any]:
    return {
        "n_steps": n_steps,
        "cum_reward": cum_reward,
        "cum_raw_reward": 0,
        "err_msg": err_msg,
        "stack_trace": None if err_msg is None else "Traceback",
        "stats.cum_steps": n_steps + 1,
        "stats.cum_step_elapsed": 1.5,
        "stats.cum_agent_elapsed": 2.5,
        "terminated": terminated,
        "truncated": truncated,
    }
