"""Run a proof: every seed and every arm side by side on one machine, each in a process of its own.

    python -m examples.training.prove --proof arithmetic --seeds 1 2 3 --out runs/training

A teacher for each seed leaves its weights in `OUT/weights`, and the arms of that seed wait for
them. A log that has its end is not run again, nor weights taught again, so the same command goes on
after an interruption. At the deadline every process stops after its step, measures, and ends; one
that has not ended a while later is killed. An arm that fails leaves the others alone.
"""

# ruff: noqa: T201 - a script prints
from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tarfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import IO

from examples.training.logs import Run, read_run, summarise, table
from examples.training.rewards import PROOFS

ROOT = Path(__file__).parents[2]
LOOK_S = 1.0
PACK_S = 60.0
GRACE_S = 25.0
"""What a process has after the deadline for its last step and the last measurement."""
OPTIONS: dict[str, tuple[str, ...]] = {
    "arithmetic": ("--steps", "800", "--rate", "1.5e-5"),
    "digits": ("--steps", "250", "--rate", "2e-5"),
}
TINY = (
    *("--tiny", "--steps", "4", "--teach-steps", "20", "--batch", "32", "--group", "8"),
    *("--every", "2", "--rows", "40", "--final-rows", "80"),
)


@dataclass(slots=True)
class Process:
    """A process of the proof, and where its output goes."""

    arm: str
    seed: int
    popen: subprocess.Popen[bytes]
    output: IO[bytes]


@dataclass(frozen=True, slots=True)
class Proof:
    """What is to be run, and until when."""

    name: str
    seeds: tuple[int, ...]
    arms: tuple[str, ...]
    out: Path
    deadline: float
    extra: tuple[str, ...]

    def log(self, arm: str, seed: int) -> Path:
        """Where this process writes."""
        return self.out / f"{self.name}-{arm}-{seed}.jsonl"

    def weights(self, seed: int) -> Path:
        """Where the teacher of this seed leaves what it taught."""
        return self.out / "weights" / f"{self.name}-{seed}.pt"

    def is_over(self, arm: str, seed: int) -> bool:
        """Whether this process has nothing left to do."""
        if arm == "teacher":
            return self.weights(seed).exists()
        run = _read(self.log(arm, seed))
        return run is not None and run.end is not None

    def start(self, arm: str, seed: int) -> Process:
        """The process of an arm, or of a teacher, started."""
        command = [sys.executable, "-m", "examples.training.train", "--task", self.name]
        command += ["--arm", arm, "--seed", str(seed), "--deadline", str(self.deadline)]
        command += ["--weights", str(self.weights(seed)), "--log", str(self.log(arm, seed))]
        output = self.log(arm, seed).with_suffix(".out").open("wb")
        threads = dict.fromkeys(("OMP_NUM_THREADS", "MKL_NUM_THREADS"), "1")
        quiet = {"TOKENIZERS_PARALLELISM": "false", "HF_HUB_OFFLINE": "1"}
        popen = subprocess.Popen(
            [*command, *self.extra],
            cwd=ROOT,
            stdout=output,
            stderr=subprocess.STDOUT,
            env={**os.environ, **threads, **quiet},
        )
        return Process(arm, seed, popen, output)


def run(proof: Proof, pack: Path | None) -> int:
    """Run what is left to run; the number of processes that failed."""
    processes = [
        proof.start(arm, seed)
        for seed in proof.seeds
        for arm in ("teacher", *proof.arms)
        if not proof.is_over(arm, seed)
    ]
    began = last_pack = time.time()
    failures = 0
    try:
        while processes:
            time.sleep(LOOK_S)
            for process in [one for one in processes if one.popen.poll() is not None]:
                processes.remove(process)
                failures += _end(process, proof, began)
                if process.arm == "teacher" and process.popen.returncode:
                    _stop([one for one in processes if one.seed == process.seed])
            if time.time() > proof.deadline + GRACE_S:
                _stop(processes)
            if pack and time.time() - last_pack > PACK_S:
                last_pack = time.time()
                write_pack(proof, pack)
                for one in processes:
                    words = _last_words(proof.log(one.arm, one.seed))
                    print(f"          {one.arm} seed {one.seed}: {words}", flush=True)
    finally:
        _stop(processes)
        if pack:
            write_pack(proof, pack)
    return failures


def _end(process: Process, proof: Proof, began: float) -> int:
    """1 when the process failed, whose last words are then printed."""
    process.output.close()
    code = process.popen.returncode
    words = _last_words(proof.log(process.arm, process.seed)) if code == 0 else f"status {code}"
    print(f"{time.time() - began:6.0f} s  {process.arm} seed {process.seed}: {words}", flush=True)
    if code:
        path = proof.log(process.arm, process.seed).with_suffix(".out")
        print(path.read_text(errors="replace")[-1500:], flush=True)
    return int(code != 0)


def _last_words(log: Path) -> str:
    """How far a log has come: steps, seconds of a step and of the reward in it, truth."""
    run = _read(log)
    if run is None:
        return "nothing yet"
    words = []
    if run.steps:
        step_s = median(line["step_s"] for line in run.steps)
        reward_s = median(line["reward_s"] for line in run.steps)
        words = [f"{run.steps[-1]['step']} steps, {step_s:.2f} s each, reward {reward_s:.4f} s"]
    return ", ".join([*words, *(f"truth {line['truth']:.3f}" for line in run.truths[-1:])])


def _read(log: Path) -> Run | None:
    """The run of a log; `None` while there is none, or no whole line in it."""
    try:
        return read_run(log)
    except (OSError, ValueError):
        return None


def _stop(processes: Sequence[Process]) -> None:
    for process in processes:
        if process.popen.poll() is None:
            process.popen.kill()


def write_pack(proof: Proof, path: Path) -> None:
    """All logs of the proof in one compressed archive, replaced as a whole."""
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_name(path.name + ".part")
    with tarfile.open(part, "w:gz") as archive:
        for log in sorted(proof.out.glob(f"{proof.name}-*")):
            if log.suffix in {".jsonl", ".out"}:
                archive.add(log, log.name)
    part.rename(path)


def parse(arguments: Sequence[str] | None = None) -> tuple[Proof, Path | None]:
    """What the command line asks for, and where the archive goes."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--proof", choices=sorted(PROOFS), required=True)
    parser.add_argument("--seeds", type=int, nargs="+", default=[1, 2, 3])
    arms = "; ".join(f"{name}: {', '.join(of_proof)}" for name, of_proof in PROOFS.items())
    parser.add_argument("--arms", nargs="+", help=f"rewards; by default all of the proof ({arms})")
    parser.add_argument("--out", type=Path, default=Path("runs/training"))
    parser.add_argument(
        "--deadline",
        type=float,
        default=3600.0,
        help="seconds, teaching included, after which all of it ends",
    )
    parser.add_argument("--pack", type=Path, help="an archive of the logs, made anew every minute")
    parser.add_argument("--tiny", action="store_true", help="a few steps, for a CPU")
    parser.add_argument("--teach-only", action="store_true", help="only the taught weights")
    options, extra = parser.parse_known_args(arguments)
    proof = Proof(
        options.proof,
        tuple(options.seeds),
        () if options.teach_only else tuple(options.arms or PROOFS[options.proof]),
        options.out.resolve(),
        time.time() + options.deadline,
        (*OPTIONS[options.proof], *(TINY if options.tiny else ()), *extra),
    )
    proof.out.mkdir(parents=True, exist_ok=True)
    return proof, options.pack


def main(arguments: Sequence[str] | None = None) -> int:
    proof, pack = parse(arguments)
    failures = run(proof, pack)
    runs = [_read(proof.log(arm, seed)) for arm in proof.arms for seed in proof.seeds]
    results = [result for one in runs if one and (result := summarise(one))]
    if proof.arms:
        print(table(results, proof.name))
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
