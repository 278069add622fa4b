"""A short GRPO run with TRL on the CPU, tracked in TensorBoard, W&B (offline) and Trackio.

    python examples/trainers/trl_tracking.py FOLDER

The files are read back by the tools' own readers, which must agree with what the tracker sent.
"""

# ruff: noqa: T201 - a script prints

from __future__ import annotations

import json
import os
import struct
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import assay
from assay.adapters import trl

STEPS = 4
BLOCK, FULL, LAST = 32_768, 1, 4
PROJECT = "sums"
KEYS = ("reward", "abstained", "flat_groups", "length", "parts/acc", "drift/reward")


def train(folder: Path) -> list[dict[str, float]]:
    """The numbers of each step, as they were sent."""
    from trl_grpo import build_trainer

    sent = []
    with assay.track(
        "tensorboard", "wandb", "trackio", folder=folder, project=PROJECT, first=2
    ) as tracker:
        reward = tracker.watch(trl.reward("math_equal_reward", answer="solution"))
        trainer = build_trainer(str(folder / "model"), [reward], steps=STEPS, batch=16, group=8)
        end_step = tracker.step
        tracker.step = lambda number=None: sent.append(end_step(number)) or sent[-1]
        trainer.add_callback(tracker.callback())
        trainer.train()
    return [numbers for numbers in sent if numbers]


def read_tensorboard(folder: Path) -> dict[str, list[float]]:
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

    events = EventAccumulator(str(folder / "tensorboard" / PROJECT))
    events.Reload()
    assert "assay/worst" in events.Tags()["tensors"]
    return {tag: [event.value for event in events.Scalars(tag)] for tag in events.Tags()["scalars"]}


def read_wandb(folder: Path) -> dict[str, list[float]]:
    """The history in the records of an offline run, by W&B's own definitions of them."""
    from wandb.proto import wandb_internal_pb2

    (file,) = (folder / "wandb").glob("offline-run-*/*.wandb")
    series: dict[str, list[float]] = {}
    for data in wandb_records(file.read_bytes()):
        record = wandb_internal_pb2.Record()
        record.ParseFromString(data)
        for item in record.history.item:
            name = item.key or "/".join(item.nested_key)
            value = json.loads(item.value_json)
            if isinstance(value, (int, float)):
                series.setdefault(name, []).append(float(value))
    return series


def wandb_records(data: bytes) -> Iterator[bytes]:
    """The records of a .wandb file: LevelDB's log format after a header of 7 bytes."""
    place, record = 7, b""
    while place + 7 <= len(data):
        if BLOCK - place % BLOCK < 7:
            place += BLOCK - place % BLOCK
        _, size, kind = struct.unpack_from("<IHB", data, place)
        record += data[place + 7 : place + 7 + size]
        place += 7 + size
        if kind in (FULL, LAST):
            yield record
            record = b""


def read_trackio() -> dict[str, list[float]]:
    import trackio
    from trackio.sqlite_storage import SQLiteStorage

    (run,) = trackio.Api().runs(PROJECT)
    series: dict[str, list[float]] = {}
    for row in SQLiteStorage.get_logs(PROJECT, run.name, run_id=run.id):
        for name, value in row.items():
            if isinstance(value, (int, float)):
                series.setdefault(name, []).append(float(value))
    return series


def main() -> int:
    folder = Path(sys.argv[1]).absolute()
    os.environ["TRACKIO_DIR"] = str(folder / "trackio")
    os.environ.setdefault("HF_HUB_OFFLINE", "1")
    sent = train(folder)
    (folder / "sent.json").write_text(json.dumps(sent))
    readers: dict[str, Any] = {
        "tensorboard": read_tensorboard(folder),
        "wandb": read_wandb(folder),
        "trackio": read_trackio(),
    }
    failures = 0
    for key in KEYS:
        name = f"assay/math_equal_reward/{key}"
        numbers = [step[name] for step in sent if name in step]
        for tool, series in readers.items():
            read = series.get(name, [])
            same = len(read) == len(numbers) and all(
                abs(a - b) < 1e-6 for a, b in zip(read, numbers, strict=True)
            )
            failures += not same
            shown = [round(number, 4) for number in read]
            print(f"{tool:11} {name:40} {shown} {'as sent' if same else numbers}")
    return 1 if failures or len(sent) != STEPS else 0


if __name__ == "__main__":
    sys.exit(main())
