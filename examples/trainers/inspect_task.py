"""An Inspect task, solved by a scripted model and scored by two Assay rewards; then its log.

python examples/trainers/inspect_task.py
"""

# ruff: noqa: T201 - a script prints
from __future__ import annotations

import sys
import tempfile
from pathlib import Path

from inspect_ai import Task
from inspect_ai import eval as run_task
from inspect_ai.dataset import Sample
from inspect_ai.log import read_eval_log
from inspect_ai.model import ModelOutput, ModelUsage, get_model
from inspect_ai.solver import generate

from assay.adapters import inspect_ai
from assay.formats import inspect_logs

SAID = [r"so \boxed{\tfrac12}", "the answer is 7", r"\boxed{3}"]
SAMPLES = [
    Sample(id="half", input="What is 1 - 1/2?", target="0.5"),
    Sample(id="six", input="What is 2 * 3?", target="6"),
    Sample(id="open", input="How many?"),
]


def scripted(text: str) -> ModelOutput:
    """One reply, with its token counts, which Inspect would otherwise download a tokenizer for."""
    output = ModelOutput.from_content("mock", text)
    output.usage = ModelUsage(input_tokens=8, output_tokens=len(text.split()), total_tokens=16)
    return output


def main() -> int:
    task = Task(
        dataset=SAMPLES,
        solver=generate(),
        scorer=[inspect_ai.reward("math_equal_reward"), inspect_ai.reward("qa_f1_reward")],
    )
    model = get_model("mockllm/model", custom_outputs=[scripted(text) for text in SAID])
    with tempfile.TemporaryDirectory() as folder:
        (log,) = run_task(task, model=model, log_dir=folder, display="none", max_samples=1)
        for sample in log.samples or []:
            score = (sample.scores or {})["math_equal_reward"]
            print(sample.id, score.value, score.reason or "", "|", score.explanation)
        for result in log.results.scores if log.results else []:
            metrics = {name: metric.value for name, metric in result.metrics.items()}
            print(
                result.name,
                metrics,
                "scored",
                result.scored_samples,
                "unscored",
                result.unscored_samples,
            )
        episodes = list(inspect_logs.read_log(log.location))
        copy = inspect_logs.write_log(Path(folder) / "copy.eval", episodes, task="copy")
        again = list(inspect_logs.read_log(copy))
        same = [one.scores for one in episodes] == [one.scores for one in again]
        mean = read_eval_log(str(copy)).results.scores[0].metrics["mean"].value
        print(
            f"{len(episodes)} episodes read, written, read again; same scores: {same}; mean {mean}"
        )
    return 0 if log.status == "success" and same else 1


if __name__ == "__main__":
    sys.exit(main())
