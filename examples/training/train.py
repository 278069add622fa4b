"""One process of a proof: a teacher, which leaves taught weights, or one arm, which trains on them.

`prove.py` starts these. Every line of the log is written at once, so a run that is cut off keeps
what it had.
"""

# ruff: noqa: T201 - a script prints
from __future__ import annotations

import argparse
import json
import os
import platform
import sys
import time
from collections.abc import Callable, Sequence
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from statistics import fmean
from typing import Any

import torch
from transformers import LlamaForCausalLM, TrainerCallback
from transformers.trainer_callback import PrinterCallback

from examples.training.policy import TINY, Size, build_model, build_tokenizer, sample, teach
from examples.training.rewards import build
from examples.training.tasks import TASKS, Question, Split, Task, has_working, is_true, split, style

LIBRARIES = ("torch", "transformers", "accelerate", "trl", "datasets", "numpy", "math-verify")
SAMPLES = 6
"""Completions that each measurement keeps."""
LOOK_S = 0.5


class DeadlinePassed(Exception):
    """The time for this process is over."""


class Log:
    """Lines of JSON, each written at once."""

    def __init__(self, path: Path) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        self._file = path.open("w", encoding="utf-8")

    def write(self, kind: str, **fields: Any) -> None:
        """Add a line; floats are rounded to six digits after the point."""
        rounded = {
            key: round(value, 6) if isinstance(value, float) else value
            for key, value in fields.items()
        }
        print(json.dumps({"kind": kind, **rounded}), file=self._file, flush=True)


def describe(options: argparse.Namespace) -> dict[str, Any]:
    """What a reader needs to repeat this run: settings, versions, hardware."""
    versions = {}
    for library in LIBRARIES:
        try:
            versions[library] = version(library)
        except PackageNotFoundError:
            versions[library] = None
    has_gpu = torch.cuda.is_available()
    return {
        "settings": {
            key: value
            for key, value in vars(options).items()
            if key not in {"task", "arm", "seed", "weights", "log", "deadline"}
        },
        "versions": {"python": platform.python_version(), "cuda": torch.version.cuda, **versions},
        "hardware": {
            "gpu": torch.cuda.get_device_name() if has_gpu else None,
            "cores": os.cpu_count(),
            "platform": platform.platform(),
        },
        "started": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
    }


def measure(
    model: Any,
    tokenizer: Any,
    task: Task,
    questions: Sequence[Question],
    *,
    seed: int,
    score: Callable[..., Any] | None = None,
) -> dict[str, Any]:
    """Truth on these questions, by the checker alone, beside what the reward pays for the same."""
    prompts = [question.prompt for question in questions]
    texts, length = sample(model, tokenizer, prompts, max_tokens=task.max_completion, seed=seed)
    true = [is_true(text, question.answer) for text, question in zip(texts, questions, strict=True)]
    result = {
        "rows": len(texts),
        "truth": fmean(true),
        "hedged": fmean(style(text) == "several" for text in texts),
        "unanswered": fmean(style(text) == "none" for text in texts),
        "worked": fmean(map(has_working, texts)),
        "length": length,
        "samples": [[prompt, text] for prompt, text in zip(prompts[:SAMPLES], texts, strict=False)],
    }
    if score is not None:
        solutions = [str(question.answer) for question in questions]
        numbers = score(prompts=prompts, completions=texts, solution=solutions)
        scored = [float(number) for number in numbers if number is not None]
        result["proxy"] = fmean(scored) if scored else None
        result["abstained"] = len(numbers) - len(scored)
    return result


class TimedReward:
    """The reward of an arm, with its time, and the checker's word on the same completions."""

    def __init__(self, arm: str, group: int) -> None:
        self.score = build(arm)
        self._group = group
        self.__name__ = arm
        self.latest: dict[str, Any] = {}

    def __call__(self, prompts: Any, completions: Any, **columns: Any) -> Any:
        """What the arm's reward says; `latest` describes the batch."""
        start = time.perf_counter()
        numbers = self.score(prompts=prompts, completions=completions, **columns)
        seconds = time.perf_counter() - start
        truths = [
            is_true(text, int(answer))
            for text, answer in zip(completions, columns["solution"], strict=True)
        ]
        paid = [float("nan") if number is None else float(number) for number in numbers]
        groups = [paid[at : at + self._group] for at in range(0, len(paid), self._group)]
        scored = [number for number in paid if number == number]
        self.latest = {
            "reward": fmean(scored) if scored else None,
            "abstained": len(paid) - len(scored),
            "checked": fmean(truths),
            "flat": fmean(len(set(group)) == 1 for group in groups),
            "hedged": fmean(style(text) == "several" for text in completions),
            "worked": fmean(map(has_working, completions)),
            "length": fmean(map(len, columns["completion_ids"])),
            "reward_s": seconds,
        }
        return numbers


class Recorder(TrainerCallback):  # type: ignore[misc, unused-ignore]
    """Writes every step and, now and then, the held-out truth; stops at the deadline."""

    def __init__(
        self,
        log: Log,
        reward: TimedReward,
        truth: Callable[[int], dict[str, Any]],
        *,
        every: int,
        deadline: float,
    ) -> None:
        self._log, self._reward, self._truth = log, reward, truth
        self._every, self._deadline = every, deadline
        self._began = 0.0
        self._step_s = 0.0
        self.passed = False

    def on_step_begin(self, *_: Any, **__: Any) -> None:
        """Start the clock of the step."""
        self._began = time.perf_counter()

    def on_step_end(self, _args: Any, _state: Any, control: Any, **_: Any) -> None:
        """Stop the clock; stop the training when its time is over."""
        self._step_s = time.perf_counter() - self._began
        if time.time() > self._deadline:
            self.passed = True
            control.should_training_stop = True

    def on_log(self, _args: Any, state: Any, _control: Any, logs: Any = None, **_: Any) -> None:
        """Write the line of the step."""
        if not logs or "reward" not in logs:
            return
        trainer = {
            "trainer_reward": logs["reward"],
            "trainer_flat": logs.get("frac_reward_zero_std"),
            "entropy": logs.get("entropy"),
            "grad_norm": logs.get("grad_norm"),
        }
        self._log.write(
            "step", step=state.global_step, step_s=self._step_s, **self._reward.latest, **trainer
        )
        if state.global_step % self._every == 0 and state.global_step < state.max_steps:
            self._log.write("truth", step=state.global_step, **self._truth(state.global_step))


def run_teacher(options: argparse.Namespace, log: Log) -> None:
    """Leave taught weights at `options.weights`, whole or not at all."""
    task, size = TASKS[options.task], TINY if options.tiny else Size()
    start = time.perf_counter()

    def on_step(step: int, loss: float) -> None:
        log.write("taught", step=step, loss=loss, seconds=time.perf_counter() - start)
        if time.time() > options.deadline:
            raise DeadlinePassed(f"after {step} of {options.teach_steps} steps of teaching")

    model = teach(task, seed=options.seed, steps=options.teach_steps, size=size, on_step=on_step)
    questions = split(task, options.seed).held_out[: options.final_rows]
    truth = measure(model, build_tokenizer(), task, questions, seed=options.seed)
    weights = sum(parameter.numel() for parameter in model.parameters())
    log.write("truth", step=0, weights=weights, **truth)
    path = Path(options.weights)
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_suffix(".part")
    torch.save(model.state_dict(), part)
    part.rename(path)


def load(options: argparse.Namespace) -> LlamaForCausalLM:
    """The taught policy, waited for until the deadline."""
    while not Path(options.weights).exists():
        if time.time() > options.deadline:
            raise DeadlinePassed(f"no weights at {options.weights}")
        time.sleep(LOOK_S)
    model = build_model(TINY if options.tiny else Size(), build_tokenizer())
    model.load_state_dict(torch.load(options.weights, map_location="cpu", weights_only=True))
    return model


def run_arm(options: argparse.Namespace, log: Log) -> str:
    """Train the taught policy on the reward of the arm; "done", or "deadline"."""
    from datasets import Dataset
    from trl import GRPOConfig, GRPOTrainer

    task = TASKS[options.task]
    parts: Split = split(task, options.seed)
    reward = TimedReward(options.arm, options.group)
    tokenizer = build_tokenizer()
    rows = [
        {"prompt": question.prompt, "solution": str(question.answer)} for question in parts.train
    ]
    config = GRPOConfig(
        output_dir=str(Path(options.log).with_suffix(".trainer")),
        max_steps=options.steps,
        per_device_train_batch_size=options.batch,
        gradient_accumulation_steps=1,
        num_generations=options.group,
        max_completion_length=task.max_completion,
        temperature=1.0,
        beta=0.0,
        learning_rate=options.rate,
        lr_scheduler_type="linear",
        warmup_steps=0,
        bf16=False,
        fp16=False,
        gradient_checkpointing=False,
        logging_steps=1,
        save_strategy="no",
        report_to=[],
        disable_tqdm=True,
        use_cpu=not torch.cuda.is_available(),
        dataloader_num_workers=0,
        seed=options.seed,
    )
    model = load(options)
    start = time.perf_counter()

    def truth(step: int, rows: int = options.rows) -> dict[str, Any]:
        questions = (parts.held_out * (rows // len(parts.held_out) + 1))[:rows]
        return measure(
            model, tokenizer, task, questions, seed=1000 * options.seed + step, score=reward.score
        )

    recorder = Recorder(log, reward, truth, every=options.every, deadline=options.deadline)
    trainer = GRPOTrainer(
        model=model,
        processing_class=tokenizer,
        train_dataset=Dataset.from_list(rows),
        reward_funcs=[reward],
        args=config,
        callbacks=[recorder],
    )
    trainer.remove_callback(PrinterCallback)
    log.write("truth", step=0, **truth(0, options.final_rows))
    trainer.train()
    step = trainer.state.global_step
    log.write("truth", step=step, final=True, **truth(step, options.final_rows))
    log.write("end", step=step, seconds=time.perf_counter() - start, deadline=recorder.passed)
    return "deadline" if recorder.passed else "done"


def parse(arguments: Sequence[str] | None = None) -> argparse.Namespace:
    """The options of one process; `prove.py` writes them."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--task", choices=sorted(TASKS), required=True)
    parser.add_argument("--arm", required=True, help="a reward, or `teacher`")
    parser.add_argument("--seed", type=int, required=True)
    parser.add_argument("--weights", required=True)
    parser.add_argument("--log", required=True)
    parser.add_argument("--deadline", type=float, required=True, help="seconds since 1970")
    parser.add_argument("--steps", type=int, default=400)
    parser.add_argument("--teach-steps", type=int, default=1500)
    parser.add_argument("--batch", type=int, default=256)
    parser.add_argument("--group", type=int, default=16)
    parser.add_argument("--rate", type=float, default=1e-5)
    parser.add_argument("--every", type=int, default=20)
    parser.add_argument("--rows", type=int, default=500)
    parser.add_argument("--final-rows", type=int, default=2000)
    parser.add_argument("--tiny", action="store_true")
    return parser.parse_args(arguments)


def main() -> int:
    options = parse()
    torch.set_num_threads(1)
    torch.set_float32_matmul_precision("high")
    log = Log(Path(options.log))
    log.write("run", task=options.task, arm=options.arm, seed=options.seed, **describe(options))
    try:
        if options.arm == "teacher":
            run_teacher(options, log)
        else:
            run_arm(options, log)
    except DeadlinePassed as error:
        log.write("stopped", because=str(error))
        print(f"{options.arm} seed {options.seed}: the deadline passed: {error}", file=sys.stderr)
        return 4
    return 0


if __name__ == "__main__":
    sys.exit(main())
