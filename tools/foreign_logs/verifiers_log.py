"""`results.jsonl` and `metadata.json` of verifiers 0.1, written by its own `evaluate`."""

from __future__ import annotations

import asyncio
import os
import sys
from pathlib import Path
from typing import Any

import verifiers as vf  # type: ignore[import-not-found]
from datasets import Dataset  # type: ignore[import-not-found]
from verifiers.types import ClientConfig  # type: ignore[import-not-found]

from tools.foreign_logs.endpoint import MODEL, serve
from tools.foreign_logs.questions import QUESTIONS


def right_answer(completion: Any, answer: str) -> float:
    return float(completion[-1]["content"].strip() == answer)


def short_answer(completion: Any) -> float:
    return float(len(completion[-1]["content"]) < 10)


def main(folder: Path) -> None:
    """Ask each question twice; two rewards are weighed into one, and one question breaks."""
    os.environ["SCRIPTED_KEY"] = "sk-not-a-key"
    rows = [{"question": each.text, "answer": each.answer} for each in QUESTIONS]
    rubric = vf.Rubric(funcs=[right_answer, short_answer], weights=[1.0, 0.25])
    environment = vf.SingleTurnEnv(
        eval_dataset=Dataset.from_list(rows),
        system_prompt="Answer with one word.",
        rubric=rubric,
        env_id="scripted-questions",
    )
    with serve() as url:
        client = ClientConfig(api_base_url=url, api_key_var="SCRIPTED_KEY", max_retries=0)
        asyncio.run(
            environment.evaluate(
                client,
                MODEL,
                sampling_args={"temperature": 0.0},
                num_examples=len(QUESTIONS),
                rollouts_per_example=2,
                results_path=folder,
                save_results=True,
            )
        )


if __name__ == "__main__":
    main(Path(sys.argv[1]))
