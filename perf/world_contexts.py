"""World rewards over recorded contexts that are damaged, hostile or odd: nothing raises or hangs.

python perf/world_contexts.py [--count 10000] [--seed 0]

For each reward of the text worlds, so many recorded episodes are scored through `assay.score`: with
evidence of the right and of another world, numbers and texts of every kind where numbers belong, no
evidence at all, failures, thousands of messages. Each must end as a `Score` within a second, and
a score must be one that the reward can give. Exit code 1 otherwise.
"""

from __future__ import annotations

import argparse
import math
import random
import sys
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from assay.resources.context import Context
from assay.schema.episode import Episode, Failure, Step, Trajectory
from assay.schema.evidence import WorldEvidence
from assay.schema.message import Message
from assay.schema.task import Task
from assay.scoring.scorer import score

RANGES = {
    "webshop_reward": ("webshop", 0.0, 1.0),
    "alfworld_episode_reward": ("alfworld", 0.0, 1.0),
    "scienceworld_reward": ("scienceworld", -1.0, 10.0),
}
"""The environment of each reward, and the least and the most that it pays."""

SLOWEST_S = 1.0

MESSAGES = tuple(Message(role="user", content="go") for _ in range(3000))

KEYS = (
    "page",
    "asin",
    "r_type",
    "attributes",
    "attributes_matched",
    "goal_options",
    "options_matched",
    "price_ok",
    "max_score",
    "completed",
    "moves",
    "goal_conditions",
    "steps",
)
ODD: Sequence[Any] = (
    None,
    True,
    False,
    0,
    1,
    -1,
    100,
    10**30,
    10**400,
    -(10**400),
    0.5,
    -0.0,
    1e308,
    5e-324,
    math.inf,
    -math.inf,
    math.nan,
    "",
    "1",
    "nan",
    "\ud800",
    "x" * 100_000,
    "1" * 100_000,
    b"\xff",
    [],
    [1] * 1000,
    {},
    {"a": {"b": [None]}},
    complex(1, 2),
    object(),
)
"""What may stand where a number or a text should."""


@dataclass
class Tally:
    """What became of the contexts of one reward."""

    endings: Counter[str] = field(default_factory=Counter)
    faults: list[str] = field(default_factory=list)
    slowest_s: float = 0.0


def check(name: str, count: int, rng: random.Random) -> Tally:
    """Score `count` contexts with the reward, and note what must not happen."""
    tally = Tally()
    for _ in range(count):
        context, task_id = random_context(RANGES[name][0], rng)
        has_option = name != "alfworld_episode_reward"
        params = {"agentfly": True} if has_option and rng.random() < 0.3 else {}
        start = time.perf_counter()
        try:
            result = score(name, params=params, final_response="", context=context, task_id=task_id)
        except Exception as error:  # noqa: BLE001 - whatever leaves the boundary is the finding
            tally.faults.append(f"{name} raised {type(error).__name__}: {str(error)[:200]}")
            continue
        tally.slowest_s = max(tally.slowest_s, time.perf_counter() - start)
        if result.abstained:
            reason = str(result["abstained"])
            tally.endings[reason] += 1
            if reason == "grader_error":
                tally.faults.append(f"{name}: {result.because[:200]}")
            continue
        tally.endings["scored"] += 1
        _, least, most = RANGES[name]
        if not least <= float(result) <= most:
            tally.faults.append(f"{name} pays {float(result)!r}")
    if tally.slowest_s > SLOWEST_S:
        tally.faults.append(f"{name} took {tally.slowest_s:.2f} s")
    return tally


def random_context(world: str, rng: random.Random) -> tuple[Context, Any]:
    """A recorded rollout, and the task id that is asked for."""
    task_id = rng.choice(("7", "7", "7", "8"))
    steps = tuple(
        Step.model_construct(index=number, action="go", evidence=_evidence(world, rng))
        for number in range(rng.choice((0, 1, 1, 1, 2, 5, 200)))
    )
    stop_reason = rng.choice(("finished", "finished", "step_limit", "env_error", "agent_error"))
    failure = Failure(kind="env_error", message="it died") if rng.random() < 0.2 else None
    messages = MESSAGES[: rng.choice((0, 3, 4, 6, len(MESSAGES)))]
    trajectory = Trajectory.model_construct(messages=messages, steps=steps, stop_reason=stop_reason)
    episode = Episode.model_construct(
        task=Task(id="7"), trajectory=trajectory, failure=failure, metadata={}, attempt=0
    )
    return Context.recorded(episode), rng.choice((task_id, task_id, 7, None, b"7", ""))


def _evidence(world: str, rng: random.Random) -> WorldEvidence | None:
    if rng.random() < 0.1:
        return None
    progress = {
        key: rng.choice(ODD) if rng.random() < 0.5 else rng.choice((0, 1, 3, 50, 100, True))
        for key in KEYS
        if rng.random() < 0.7
    }
    number = rng.choice(ODD) if rng.random() < 0.4 else rng.uniform(-100, 100)
    share = rng.random() if world == "webshop" else number
    return WorldEvidence(
        rng.choice((world, world, world, "other")),
        "7",
        share if rng.random() < 0.8 else number,
        rng.choice((True, False)),
        rng.choice((True, False, None)),
        progress if rng.random() < 0.9 else rng.choice(({}, dict.fromkeys(KEYS))),
    )


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--count", type=int, default=10_000, help="contexts for each reward")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    rng = random.Random(options.seed)
    faults = 0
    for name in RANGES:
        tally = check(name, options.count, rng)
        endings = ", ".join(f"{ending} {n:,}" for ending, n in tally.endings.most_common())
        print(f"{name}: {options.count:,} contexts; {endings}; slowest {tally.slowest_s:.3f} s")
        for fault, times in Counter(tally.faults).most_common(10):
            print(f"  FAULT {times}× {fault}")
        faults += len(tally.faults)
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
