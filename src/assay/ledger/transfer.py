"""Runs of other tools into the ledger, and runs of the ledger into the files of other tools."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from assay.errors import BadParameter, BadRecord
from assay.formats import FileFormat, find_format, readable, recognise, writable
from assay.ledger.layout import safe_name
from assay.ledger.provenance import installed_versions, new_run_id, task_set_hash, utc_now
from assay.ledger.run import Run
from assay.ledger.writer import RunWriter
from assay.resources.files import atomic_write, sync
from assay.resources.scratch import scratch_prefix


def import_run(
    path: str | Path,
    runs_dir: str | Path,
    *,
    format: str | None = None,  # noqa: A002
    run_id: str | None = None,
    now: datetime | None = None,
    **options: Any,
) -> Run:
    """A new run with every episode under `path`, there complete or not at all.

    The format is recognised by its files unless it is named; `options` are what its reader takes.
    """
    source = Path(path)
    chosen = recognise(source) if format is None else find_format(format, readable())
    for name in options:
        if name not in chosen.options:
            takes = ", ".join(chosen.options) or "none"
            raise BadParameter(f"{chosen.name} has no option {name!r}; its options: {takes}")
    foreign = chosen.load().read(source, **options)
    manifest = foreign.manifest.model_copy(
        update={
            "run_id": run_id or new_run_id(now),
            "versions": {**foreign.manifest.versions, **installed_versions()},
            "task_set": task_set_hash(foreign.tasks),
            "n_tasks": len(foreign.tasks),
            "created_at": utc_now(now),
        }
    )
    place = Path(runs_dir) / safe_name(manifest.run_id, "run id")
    if place.exists():
        raise BadRecord(f"{str(place)!r} exists already; take another id")
    place.parent.mkdir(parents=True, exist_ok=True)
    prefix = scratch_prefix("import", place.parent, hidden=True)
    with TemporaryDirectory(dir=runs_dir, prefix=prefix) as draft:
        with RunWriter.create(draft, manifest) as writer:
            pending = []
            for episode in foreign.episodes(writer.artifact):
                attempt = writer.new_attempt(episode.task, episode.repeat)
                pending.append(writer.submit(episode.model_copy(update={"attempt": attempt})))
            for future in pending:
                future.result()
        writer.path.rename(place)
        sync(place.parent)
    return Run(place)


def export_run(run: Run, path: str | Path, format: str = "jsonl") -> int:  # noqa: A002
    """Write every attempt of the run to `path`, which is there complete or not at all.

    Returns how many rows, events or trajectories were written. A format that is a folder of files
    is written as one file of lines where `path` ends with `.jsonl`.
    """
    chosen, target = find_format(format, writable()), Path(path)
    if chosen.folder and target.suffix != ".jsonl":
        return _write_folder(run, target, chosen)
    with atomic_write(target) as draft:
        count: int = chosen.load().write(run, draft)
    return count


def _write_folder(run: Run, folder: Path, chosen: FileFormat) -> int:
    folder.mkdir(parents=True, exist_ok=True)
    count = 0
    for name, content in chosen.load().files(run):
        with atomic_write(folder / name) as draft:
            draft.write_bytes(content)
        count += 1
    return count
