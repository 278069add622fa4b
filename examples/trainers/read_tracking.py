"""What TensorBoard, W&B and Trackio read in the files of a tracked run, as JSON.

    python examples/trainers/read_tracking.py FOLDER

`FOLDER` is one that trl_tracking.py wrote. The readers are the tools' own: TensorBoard's event
accumulator, `wandb leet inspect`, and Trackio's storage. For each there are the numbers by name,
in the order of the steps, the table of worst examples of the last step, and the alerts.
"""

# ruff: noqa: T201 - a script prints; the command is W&B's own

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

PROJECT = "sums"


def read_tensorboard(folder: Path) -> dict[str, Any]:
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

    events = EventAccumulator(str(folder / "tensorboard" / PROJECT))
    events.Reload()
    worst, alerts = (
        [event.tensor_proto.string_val[0].decode() for event in events.Tensors(tag)]
        for tag in ("assay/worst", "assay/alerts")
    )
    numbers = {
        tag: [event.value for event in events.Scalars(tag)] for tag in events.Tags()["scalars"]
    }
    return {"numbers": numbers, "worst": worst[-1], "alerts": alerts}


def read_wandb(folder: Path) -> dict[str, Any]:
    """The history of an offline run, as W&B's own inspector prints it."""
    (file,) = (folder / "wandb").glob("offline-run-*/*.wandb")
    call = [sys.executable, "-m", "wandb", "leet", "inspect", str(file), "--json"]
    with tempfile.TemporaryDirectory() as scratch:
        surroundings = {**os.environ, "WANDB_MODE": "offline", "WANDB_DIR": scratch}
        lines = subprocess.run(
            call, env=surroundings, cwd=scratch, check=True, capture_output=True, text=True
        ).stdout.splitlines()
    records = [json.loads(line) for line in lines]
    items = [record["history"]["item"] for record in records if record["type"] == "history"]
    table = file.parent / "files" / items[-1]["assay/worst.path"]
    alerts = [json.dumps(record) for record in records if record["type"] == "alert"]
    return {"numbers": series(items), "worst": table.read_text(), "alerts": alerts}


def series(rows: Iterable[Mapping[str, Any]]) -> dict[str, list[float]]:
    """The numbers of the rows by name, in the order of the rows."""
    numbers: dict[str, list[float]] = {}
    for row in rows:
        for name, value in row.items():
            if isinstance(value, (int, float)):
                numbers.setdefault(name, []).append(float(value))
    return numbers


def read_trackio(folder: Path) -> dict[str, Any]:
    with tempfile.TemporaryDirectory() as scratch:
        # Trackio opens what it reads for writing, and reads its folder when it is imported.
        shutil.copytree(folder / "trackio", scratch, dirs_exist_ok=True)
        os.environ["TRACKIO_DIR"] = scratch
        import trackio
        from trackio.sqlite_storage import SQLiteStorage

        (run,) = trackio.Api().runs(PROJECT)
        rows = SQLiteStorage.get_logs(PROJECT, run.name, run_id=run.id)
        alerts = [json.dumps(alert) for alert in run.alerts()]
    return {"numbers": series(rows), "worst": rows[-1].get("assay/worst"), "alerts": alerts}


def read_all(folder: Path) -> dict[str, dict[str, Any]]:
    return {
        "tensorboard": read_tensorboard(folder),
        "wandb": read_wandb(folder),
        "trackio": read_trackio(folder),
    }


if __name__ == "__main__":
    print(json.dumps(read_all(Path(sys.argv[1]).absolute())))
