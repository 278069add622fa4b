"""Logs of Inspect AI (`.eval` and `.json`), written by its own `eval`."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from inspect_ai import Task, eval, task  # type: ignore[import-not-found]  # noqa: A004
from inspect_ai.dataset import MemoryDataset, Sample  # type: ignore[import-not-found]
from inspect_ai.scorer import includes, match  # type: ignore[import-not-found]
from inspect_ai.solver import generate, system_message  # type: ignore[import-not-found]

from tools.foreign_logs.endpoint import MODEL, serve
from tools.foreign_logs.questions import QUESTIONS


@task  # type: ignore[untyped-decorator]
def questions(broken: bool, epochs: int) -> Task:
    samples = [
        Sample(id=each.id, input=each.text, target=each.answer, metadata={"kind": each.id[:-2]})
        for each in QUESTIONS
        if broken or each.reply
    ]
    return Task(
        dataset=MemoryDataset(samples, name="questions"),
        solver=[system_message("Answer with one word."), generate()],
        scorer=[match(location="any"), includes()],
        epochs=epochs,
        version=3,
    )


def main(folder: Path) -> None:
    """Write an evaluation with failures as a zip file, and a smaller one without as JSON."""
    os.environ["OPENAI_API_KEY"] = "sk-not-a-key"
    os.environ["OPENAI_BASE_URL"] = ""
    with serve() as url:
        for kind, broken, epochs in (("eval", True, 2), ("json", False, 1)):
            eval(
                questions(broken, epochs),
                model=f"openai/{MODEL}",
                model_base_url=url,
                model_args={"responses_api": False},
                log_dir=str(folder),
                log_format=kind,
                display="none",
                fail_on_error=False,
                max_retries=0,
                timeout=10,
                temperature=0.0,
            )


if __name__ == "__main__":
    main(Path(sys.argv[1]))
