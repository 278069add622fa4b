"""The files of a run folder, and names that are safe as file names.

runs/index.sqlite
runs/<run_id>/manifest.json
              episodes.jsonl              one line for each attempt, appended
              episodes.torn-<at>-<sha8>   what a kill left of a line, moved aside
              writer.lock                 held by the one writer
              archived                    there while the run is left out of lists
              agent.diff                  what was not committed of the agent when the run began
              labels.jsonl                what people say of attempts and steps, appended
              steps/<attempt>.jsonl
              artifacts/<2 hex>/<sha256>
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import unicodedata
from difflib import get_close_matches
from pathlib import Path

from assay.errors import BadRecord, UnknownName
from assay.schema.name import is_name, name_problem

INDEX = "index.sqlite"
LATEST = "latest"
"""What the newest run is called wherever a run is named; `@-1` is it too, `@-2` the one before."""
SLUG_CHARS = 40
NEAR = 0.8
"""The similarity from which a run is suggested for a name; ids share their dates anyway."""

_FROM_THE_END = re.compile(r"@-([1-9]\d{0,8})")
_ATTEMPT = re.compile(r"(?P<stem>.+\.r\d+)\.a(?P<n>\d{1,9})")


class RunLayout:
    """The paths of one run."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.manifest = folder / "manifest.json"
        self.episodes = folder / "episodes.jsonl"
        self.lock = folder / "writer.lock"
        self.archived = folder / "archived"
        self.agent_diff = folder / "agent.diff"
        self.labels = folder / "labels.jsonl"
        self.steps = folder / "steps"
        self.artifacts = folder / "artifacts"

    def steps_of(self, attempt: str) -> Path:
        return self.steps / f"{safe_name(attempt, 'attempt')}.jsonl"


def safe_name(name: str, what: str) -> str:
    """The name, if it is safe as a file name; otherwise raise `BadRecord`."""
    if not is_name(name):
        raise BadRecord(f"{what} {name_problem(name)}")
    return name


def attempt_stem(task_id: str, repeat: int) -> str:
    """The common part of the names of all attempts at one repeat of a task.

    A readable piece of the task's id, and a hash of the whole. Lower case, so that two names
    never differ in case alone.
    """
    if repeat < 0:
        raise BadRecord(f"repeat={repeat!r}; repeats count from 0")
    digest = hashlib.sha256(task_id.encode("utf-8", "surrogatepass")).hexdigest()
    folded = unicodedata.normalize("NFKD", task_id[:400].casefold())
    plain = folded.encode("ascii", "ignore").decode().lower()
    slug = re.sub(r"[^a-z0-9]+", "-", plain).strip("-")[:SLUG_CHARS].rstrip("-") or "task"
    return f"{slug}-{digest[:8]}.r{repeat}"


def attempt_number(attempt: str) -> tuple[str, int] | None:
    """The stem and the number of an attempt id, or `None` for another kind of id."""
    match = _ATTEMPT.fullmatch(attempt)
    return (match["stem"], int(match["n"])) if match else None


def list_runs(runs_dir: Path) -> list[Path]:
    """The folders of all runs, sorted by name, so that the oldest usually come first."""
    if not runs_dir.is_dir():
        return []
    # Also where it is a link that leads nowhere: such a run is damaged, and not gone.
    return sorted(
        folder for folder in runs_dir.iterdir() if os.path.lexists(folder / "manifest.json")
    )


def is_archived(run: Path) -> bool:
    """Whether the run in this folder is archived and hidden from lists."""
    return RunLayout(run).archived.exists()


def archive(run: Path, *, archived: bool = True) -> bool:
    """Archive a run, or undo that; return whether the state changed."""
    mark = RunLayout(run).archived
    before = mark.exists()
    if archived:
        mark.touch()
    else:
        mark.unlink(missing_ok=True)
    return before != archived


def find_run(name: str | Path, runs_dir: Path = Path("runs")) -> Path:
    """Find a run's folder by its path, its id, the beginning of its id, or `latest`.

    `@-1` is the latest run too, and `@-2` the one before it; archived runs have no place in that
    order. Raises `UnknownName` for any other.
    """
    direct = Path(name)
    if RunLayout(direct).manifest.is_file():
        return direct
    runs = list_runs(runs_dir)
    place = place_from_the_end(str(name))
    matches = [run for run in runs if run.name == str(name)]
    if not matches and place:
        in_order = sorted((run for run in runs if not is_archived(run)), key=_start_of)
        matches = in_order[-place:][:1] if place <= len(in_order) else []
    elif not matches and str(name):
        matches = [run for run in runs if run.name.startswith(str(name))]
    if len(matches) == 1:
        return matches[0]
    if matches:
        raise UnknownName(
            f"{str(name)!r} may mean any of {[run.name for run in matches[:5]]}; write a longer id"
        )
    there = "`assay list runs` shows all" if runs else "there is none yet; `assay run` makes one"
    known = [LATEST, *(run.name for run in runs)] if runs else []
    near = get_close_matches(str(name)[:100], known, 1, NEAR)
    hint = f"did you mean {near[0]!r}? " if near else ""
    raise UnknownName(f"no run {str(name)!r} in {str(runs_dir)!r}; {hint}{there}")


def place_from_the_end(name: str) -> int:
    """The position from the end that `latest` (1) or `@-2` (2) names; 0 for other names."""
    if name == LATEST:
        return 1
    match = _FROM_THE_END.fullmatch(name)
    return int(match[1]) if match else 0


def _start_of(run: Path) -> tuple[str, str]:
    try:
        manifest = json.loads(RunLayout(run).manifest.read_bytes())
    except (OSError, ValueError):
        return "", run.name
    return str(manifest.get("created_at", "") if isinstance(manifest, dict) else ""), run.name
