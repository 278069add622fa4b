"""`traces.jsonl` of verifiers 0.4, written by its own `vf-eval`; this module is the taskset too."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import verifiers.v1 as vf  # type: ignore[import-not-found]

from tools.foreign_logs.endpoint import MODEL, serve
from tools.foreign_logs.questions import QUESTIONS

__all__ = ["ScriptedTaskset"]


class ScriptedData(vf.TaskData):  # type: ignore[misc]
    answer: str


class ScriptedTask(vf.Task[ScriptedData, vf.State, vf.TaskConfig]):  # type: ignore[misc]
    @vf.reward(weight=1.0)  # type: ignore[untyped-decorator]
    async def right_answer(self, trace: Any) -> float:
        return float(trace.last_reply == self.data.answer)

    @vf.reward(weight=0.25)  # type: ignore[untyped-decorator]
    async def short_answer(self, trace: Any) -> float:
        return float(len(trace.last_reply) < 10)


class ScriptedTaskset(vf.Taskset[ScriptedTask, vf.TasksetConfig]):  # type: ignore[misc]
    def load(self) -> Iterator[ScriptedTask]:
        for question in QUESTIONS:
            data = ScriptedData(
                name=question.id,
                prompt=question.text,
                system_prompt="Answer with one word.",
                answer=question.answer,
            )
            yield ScriptedTask(data, self.config.task)


def main(folder: Path) -> None:
    """Ask each question twice; one of them breaks."""
    from verifiers.v1.cli.eval.main import main as evaluate  # type: ignore[import-not-found]

    os.environ["SCRIPTED_KEY"] = "sk-not-a-key"
    sys.path.insert(0, str(Path(__file__).parent))
    os.environ["PYTHONPATH"] = os.pathsep.join([sys.path[0], str(Path.cwd())])
    with serve() as url:
        evaluate(
            [
                "verifiers-traces", "--env.agent.harness.id", "null",
                "--env.agent.runtime.type", "subprocess", "-m", MODEL,
                "--client.base-url", url, "--client.api-key-var", "SCRIPTED_KEY",
                "-r", "2", "-c", "2", "--no-push", "--no-rich",
                "-o", str(folder), "--run.dir", "run", "--run.name", "scripted",
            ]
        )  # fmt: skip


if __name__ == "__main__":
    main(Path(sys.argv[1]))
