"""The same pages as files: relative links, no server, readable from a folder or a web host."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any

from assay.errors import AssayError, BadRecord
from assay.ledger.index import RunRow
from assay.viewer.app import STATIC, ErrorPage
from assay.viewer.audits import Audits
from assay.viewer.links import (
    WINDOW,
    FileLinks,
    artifact_file,
    compare_file,
    episode_file,
    paged,
    pair_file,
    run_file,
)
from assay.viewer.pages.compare import ComparePage, CompareQuery, compare_page
from assay.viewer.pages.episode import EpisodePage, window_page
from assay.viewer.pages.pair import PairQuery, pair_page
from assay.viewer.pages.rewards import reward_page, rewards_page
from assay.viewer.pages.run import RunPage, RunQuery, run_before, run_page
from assay.viewer.pages.runs import RunsQuery, runs_page
from assay.viewer.rendering import Templates, to_json
from assay.viewer.runs_reader import RunsReader
from assay.viewer.tryout import RewardTryout


@dataclass(frozen=True, slots=True)
class _File:
    """One page, and the file that it becomes."""

    path: str
    template: str
    page: Any


def export(runs_dir: Path, target: Path, *, only: str | None = None) -> int:
    """Every page of the runs is a file below `target`, and its record a `.json` beside it.

    Each run is compared with the one before it. Sorting, filtering and trying rewards are left to
    the server. With `only`, the id of a run, nothing is written of any other run, of the audits
    beside them, or of a reward that the run did not use. The folder must be new or empty; returns
    how many pages there are.
    """
    if target.exists() and any(target.iterdir()):
        raise BadRecord(f"{str(target)!r} is not empty; name a new folder")
    reader, templates = RunsReader(runs_dir, only=only), Templates()
    rows = reader.listed_runs()
    compared = frozenset(_compared(reader, rows))
    shutil.copytree(STATIC, target / "static", dirs_exist_ok=True)
    n = 0
    for file in chain(_files(reader, rows, compared), _reward_files(reader, only)):
        path = target / file.path
        path.parent.mkdir(parents=True, exist_ok=True)
        links = FileLinks(file.path, compared)
        twin = path.name.removesuffix(".html") + ".json"
        html = templates.render(file.template, file.page, links, twin=twin, poll="", here="")
        path.write_text(html, encoding="utf-8")
        path.with_name(twin).write_bytes(to_json(file.page))
        if isinstance(file.page, EpisodePage):
            _copy_artifacts(reader, file.page, target)
        n += 1
    return n


def _files(
    reader: RunsReader, rows: list[RunRow], compared: frozenset[tuple[str, str]]
) -> Iterator[_File]:
    for number, page in _numbered(lambda n: runs_page(reader, RunsQuery(page=n), rows, wait=True)):
        yield _File(paged("index.html", number), "runs.html", page)
    for row in rows:
        yield from _run_files(reader, row.run_id)
    for base, cand in sorted(compared):
        yield from _comparison_files(reader, base, cand)


def _reward_files(reader: RunsReader, only: str | None) -> Iterator[_File]:
    """The pages of all rewards with their audits, or of those that one run used, without."""
    tryout, audits = RewardTryout(), Audits(None if only else reader.runs_dir)
    listed = rewards_page(audits, _rewards_of(reader, only) if only else None)
    yield _File("rewards.html", "rewards.html", listed)
    for item in listed.rewards:
        name = item.reward.name
        reward = reward_page(name, {}, tryout=tryout, audits=audits)
        yield _File(f"rewards/{name}.html", "reward.html", reward)


def _rewards_of(reader: RunsReader, run_id: str) -> list[str]:
    """The names of the rewards that scored a run; none when it cannot be read."""
    with suppress(AssayError):
        return sorted({name.partition("@")[0] for name in reader.manifest(run_id).rewards})
    return []


def _numbered(make: Callable[[int], Any]) -> Iterator[tuple[int, Any]]:
    """Every page of a list, with its number."""
    page = make(1)
    yield 1, page
    yield from ((number, make(number)) for number in range(2, page.pages + 1))


def _run_files(reader: RunsReader, run_id: str) -> Iterator[_File]:
    def make(number: int) -> RunPage:
        return run_page(reader, run_id, RunQuery(show="all", page=number), wait=True)

    try:
        for number, page in _numbered(make):
            yield _File(run_file(run_id, number), "run.html", page)
    except AssayError as error:
        # One run that cannot be read must not hide the others.
        yield _unreadable(run_file(run_id), run_id, error)
        return
    finished = [row.attempt for row in reader.attempts(run_id)]
    for attempt in (*finished, *reader.unfinished(run_id)):
        window = window_page(reader, run_id, attempt, 0)
        yield _File(episode_file(run_id, attempt), "episode.html", window)
        for start in range(WINDOW, window.n_steps, WINDOW):
            window = window_page(reader, run_id, attempt, start)
            yield _File(episode_file(run_id, attempt, start), "episode.html", window)


def _unreadable(path: str, title: str, error: AssayError) -> _File:
    return _File(path, "problem.html", ErrorPage(title, str(error), "not readable"))


def _compared(reader: RunsReader, rows: list[RunRow]) -> Iterator[tuple[str, str]]:
    """Each run with the one that its page offers to compare it with."""
    for row in rows:
        # The page of a run that cannot be compared says why.
        with suppress(AssayError):
            before = run_before(rows, row)
            if before is not None:
                reader.comparison(before, row.run_id)
                yield before, row.run_id


def _comparison_files(reader: RunsReader, base: str, cand: str) -> Iterator[_File]:
    def make(number: int) -> ComparePage:
        return compare_page(reader, CompareQuery(base=base, cand=cand, page=number))

    for number, page in _numbered(make):
        yield _File(compare_file(base, cand, number), "compare.html", page)
        for task in (row.task.task_id for row in page.rows):
            repeat = min(attempt.repeat for attempt in reader.attempts(base, task))
            query = PairQuery(base=base, cand=cand, task=task, repeat=repeat, first=0)
            path = pair_file(base, cand, task)
            try:
                yield _File(path, "pair.html", pair_page(reader, query))
            except AssayError as error:
                yield _unreadable(path, task, error)


def _copy_artifacts(reader: RunsReader, page: EpisodePage, target: Path) -> None:
    needed = [(picture.sha256, picture.kind) for step in page.steps for picture in step.pictures]
    needed += [(step.observation_sha256, "txt") for step in page.steps if step.observation_sha256]
    if page.ending is not None and page.ending.messages_sha256:
        needed.append((page.ending.messages_sha256, "txt"))
    for sha256, kind in needed:
        # The page says of an artifact that it cannot be read.
        with suppress(AssayError):
            content = reader.artifact(page.run_id, sha256)
            path = target / artifact_file(sha256, kind)
            path.parent.mkdir(exist_ok=True)
            path.write_bytes(content)
