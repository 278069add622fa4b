"""The page of one run: its attempts, causes of lost reward, errors and repeats."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from operator import attrgetter
from typing import Annotated, Any, Literal, TypeAlias, get_args

from pydantic import BaseModel, BeforeValidator

from assay.errors import AssayError, UnknownName
from assay.ledger.index import AttemptRow, RunRow
from assay.ledger.summary import DistinctFailure, group_failures, message_key
from assay.report.attempts import EQUAL
from assay.report.comparability import changes, dotted_items
from assay.report.diagnosis import AttemptDiagnosis, Diagnosis
from assay.schema.episode import FailureKind
from assay.schema.manifest import RunManifest
from assay.viewer.pages.records import PageNumber, PageRecord, page_of, pick
from assay.viewer.pages.runs import Order, run_item
from assay.viewer.runs_reader import RunsReader
from assay.viewer.theme import overview, reward_shade
from assay.viewer.words import page_words

PAGE = 50
SPARK = 40
"""Bars of a sparkline; a longer episode has several steps in one."""
MOST_TASKS = 300
MOST_REPEATS = 20
MOST_ERRORS = 20
LABEL_CHARS = 200
AT_ONCE = 2_000
"""Steps of a run up to which it is diagnosed while its page is made; beyond, afterwards."""

SETTINGS = {cause: frozenset(names) for cause, names in page_words().settings.items()}
"""By cause: the settings that it may come from."""

Show: TypeAlias = Literal["counting", "lost", "all"]
Changed: TypeAlias = Literal["", "any", "up", "down"]
SortKey: TypeAlias = Literal[
    "worst", "line", "task", "reward", "before", "steps", "cost", "time", "ending", "cause",
    "domain",
]  # fmt: skip
"""`worst` is what fell most since the run before, then what has no reward, then the least one."""
Bound: TypeAlias = Annotated[
    float | None, BeforeValidator(lambda text: None if text == "" else text)
]
"""A number of a form, in which an empty field is none."""
Predicate: TypeAlias = Callable[[AttemptRow], bool]


class RunQuery(BaseModel, frozen=True):
    """The query parameters of the page of a run."""

    show: Show = "counting"
    """The attempts that count, those of them below full reward, or every one."""
    task: str = ""
    q: str = ""
    """Words that the task, the question, the answer, the reference or the failure contains."""
    cause: str = ""
    ending: str = ""
    domain: str = ""
    least: Bound = None
    """The range of the reward."""
    most: Bound = None
    changed: Changed = ""
    """Tasks whose mean reward is another one than in the run before."""
    error: str = ""
    """A message: attempts whose failure says the same."""
    sort: SortKey = "worst"
    order: Order = "asc"
    page: PageNumber = 1
    seen: str = ""

    @property
    def needs_causes(self) -> bool:
        """Whether the list needs the diagnosis of the run."""
        return bool(self.cause) or self.sort == "cause"


@dataclass(frozen=True, slots=True)
class _Facts:
    """The findings of the attempts, and the changes of tasks since the run before."""

    findings: Mapping[str, AttemptDiagnosis] | None
    """By attempt; `None` until the run is diagnosed."""
    shifts: Mapping[str, tuple[float | None, float | None]]
    """By task: its mean in the run before, and in this one; of tasks that both have."""

    def cause(self, attempt: str) -> str:
        finding = (self.findings or {}).get(attempt)
        return "" if finding is None else finding.cause

    def difference(self, task_id: str) -> float | None:
        before, now = self.shifts.get(task_id, (None, None))
        return None if before is None or now is None else now - before

    def changed(self, task_id: str, how: Changed) -> bool:
        difference = self.difference(task_id)
        if difference is None:
            before, now = self.shifts.get(task_id, (None, None))
            return how == "any" and (before is None) != (now is None)
        return {"up": difference, "down": -difference}.get(how, abs(difference)) > EQUAL


def run_page(reader: RunsReader, run_id: str, query: RunQuery, *, wait: bool = False) -> PageRecord:
    """The record of the page; with `wait`, it always has the diagnosis."""
    reader.layout(run_id)
    rows = reader.runs()
    row = row_of(rows, run_id)
    if row is None:
        raise UnknownName(f"run {run_id!r} was just deleted")
    attempts = reader.attempts(run_id)
    manifest = reader.manifest(run_id)
    diagnosis = reader.diagnosis(run_id, now=wait or row.steps <= AT_ONCE)
    before = run_before(rows, row)
    earlier = row_of(rows, before)
    bases = [each for each in rows if not reader.is_archived(each.run_id)]
    facts = _Facts(
        None if diagnosis is None else {finding.attempt: finding for finding in diagnosis.findings},
        {} if earlier is None else _shifts(reader, row, earlier),
    )
    # The list waits for the diagnosis, by which it is filtered or sorted.
    pending = query.needs_causes and diagnosis is None
    matching = [] if pending else _sort(_matching(attempts, query, facts), query, facts)
    listed, number, pages = page_of(matching, query.page, PAGE)
    errors = _errors(attempts)
    live = reader.is_live(run_id)
    return pick(
        query,
        "show task q cause ending domain least most changed error sort order",
        run=run_item(reader, row, bases, live=live, now=wait or row.attempts <= AT_ONCE),
        rewards=manifest.rewards,
        config=[
            (key, value if isinstance(value, str) else repr(value))
            for key, value in dotted_items(manifest.config)
            if key
        ],
        before=before,
        **_against(reader, earlier, manifest, facts),
        choices=_choices(attempts, query, facts),
        matching=len(matching),
        total=len(attempts),
        page=number,
        pages=pages,
        episodes=[_item(reader, attempt, facts) for attempt in listed],
        pending=pending,
        errors=errors[:MOST_ERRORS],
        more_errors=max(0, len(errors) - MOST_ERRORS),
        unfinished=reader.unfinished(run_id)[:PAGE],
        # A text environment may have no answers, the log of another tool no steps.
        answers=any(attempt.submitted is not None for attempt in attempts),
        references=any(attempt.reference for attempt in attempts),
        steps=any(attempt.n_steps for attempt in attempts),
        matrix=_repeat_grid(attempts),
        # Where it takes too long to make with the page, the page asks for it afterwards.
        diagnosis=None if diagnosis is None else _diagnosis_view(diagnosis, errors),
        live=live,
    )


def _against(
    reader: RunsReader, earlier: RunRow | None, manifest: RunManifest, facts: _Facts
) -> PageRecord:
    """The changes since the run before: settings, and numbers of better and worse tasks."""
    changed = config_changes(reader, earlier, manifest)
    differences = [facts.difference(task) or 0.0 for task in facts.shifts]
    return {
        "before_focus": "" if earlier is None else earlier.focus,
        "changes": changed,
        "settings": settings_of_causes(changed),
        "paired": len(facts.shifts),
        "better": sum(difference > EQUAL for difference in differences),
        "worse": sum(difference < -EQUAL for difference in differences),
    }


def diagnosis_page(reader: RunsReader, run_id: str) -> PageRecord:
    """The record of the run's diagnosis, with the cause of each attempt."""
    diagnosis = reader.diagnosis(run_id)
    assert diagnosis is not None
    rows = reader.runs()
    row = row_of(rows, run_id)
    earlier = None if row is None else row_of(rows, run_before(rows, row))
    return {
        "run_id": run_id,
        "diagnosis": _diagnosis_view(diagnosis, ()),
        "settings": settings_of_causes(config_changes(reader, earlier, reader.manifest(run_id))),
        "causes": {finding.attempt: finding.cause for finding in diagnosis.findings},
    }


def _diagnosis_view(diagnosis: Diagnosis, errors: Iterable[DistinctFailure]) -> PageRecord:
    """The diagnosis for the page, without notes on errors that the page lists elsewhere."""
    shown = {f"{error.kind}: {error.message[:LABEL_CHARS]}" for error in errors}
    return pick(
        diagnosis,
        "mean recoverable_mean scored causes",
        lost=sum(finding.lost is not None for finding in diagnosis.findings),
        notes=[
            note for note in diagnosis.notes if note.partition(" × ")[2][:LABEL_CHARS] not in shown
        ],
    )


def _errors(attempts: Iterable[AttemptRow]) -> tuple[DistinctFailure, ...]:
    """The distinct failures of the attempts that count, most frequent first."""
    kinds = {kind: kind for kind in get_args(FailureKind)}
    return group_failures(
        (kinds.get(row.stop_reason, "agent_error"), row.failure)
        for row in attempts
        if row.counts and row.failure
    )


def _shifts(
    reader: RunsReader, row: RunRow, before: RunRow
) -> dict[str, tuple[float | None, float | None]]:
    """The mean rewards of each task in both runs, if its question is the same."""
    earlier = {task.task_id: task.mean for task in reader.tasks(before)}
    shifts = {
        task.task_id: (earlier[task.task_id], task.mean)
        for task in reader.tasks(row)
        if task.task_id in earlier
    }
    if row.task_set and row.task_set == before.task_set:
        return shifts
    questions = {each.task_id: each.question for each in reader.attempts(before.run_id)}
    others = {
        each.task_id
        for each in reader.attempts(row.run_id)
        if each.question != questions.get(each.task_id, each.question)
    }
    return {task: means for task, means in shifts.items() if task not in others}


def config_changes(
    reader: RunsReader, before: RunRow | None, manifest: RunManifest
) -> tuple[str, ...]:
    """The changes of the configuration since the run before; empty if it cannot be read."""
    try:
        return () if before is None else changes(reader.manifest(before.run_id), manifest)
    except AssayError:
        # The page of that run says what is wrong with it.
        return ()


def settings_of_causes(changed: Iterable[str]) -> dict[str, str]:
    """For each cause, the first changed setting that may explain the cause."""
    settings: dict[str, str] = {}
    for change in changed:
        key, _, values = change.partition(": ")
        name = key.rpartition(".")[2]
        for cause, names in SETTINGS.items():
            if name in names:
                settings.setdefault(cause, f"{name}: {values}")
    return settings


def _matching(attempts: Iterable[AttemptRow], query: RunQuery, facts: _Facts) -> list[AttemptRow]:
    shown = [row for row in attempts if _is_shown(row, query)]
    for keeps in _predicates(query, facts):
        shown = [row for row in shown if keeps(row)]
    return shown


def _is_shown(row: AttemptRow, query: RunQuery) -> bool:
    if query.task and row.task_id != query.task:
        return False
    if query.show == "all":
        return True
    below_full = row.reward is None or row.reward < 1.0
    return row.counts and (query.show == "counting" or below_full)


def _predicates(query: RunQuery, facts: _Facts) -> list[Predicate]:
    """The filters that the query sets, fastest filter first."""
    words, error = query.q.casefold().split(), message_key(query.error)
    least, most = query.least, query.most
    every: list[tuple[bool, Predicate]] = [
        (bool(query.ending), lambda row: row.stop_reason == query.ending),
        (bool(query.domain), lambda row: row.domain == query.domain),
        (least is not None, lambda row: row.reward is not None and row.reward >= (least or 0.0)),
        (most is not None, lambda row: row.reward is not None and row.reward <= (most or 0.0)),
        (bool(query.cause), lambda row: facts.cause(row.attempt) == query.cause),
        (bool(query.changed), lambda row: facts.changed(row.task_id, query.changed)),
        (bool(query.error), lambda row: bool(row.failure) and message_key(row.failure) == error),
        (bool(words), lambda row: _contains(row, words)),
    ]
    return [predicate for is_set, predicate in every if is_set]


def _contains(row: AttemptRow, words: Sequence[str]) -> bool:
    texts = (row.task_id, row.attempt, row.question, row.submitted or "", row.reference)
    text = " ".join((*texts, row.failure)).casefold()
    return all(word in text for word in words)


_SORT_FIELDS: dict[SortKey, str] = {
    "line": "line", "task": "task_id", "reward": "reward", "steps": "n_steps", "cost": "cost_usd",
    "time": "elapsed_s", "ending": "stop_reason", "domain": "domain",
}  # fmt: skip


def _sort(rows: list[AttemptRow], query: RunQuery, facts: _Facts) -> list[AttemptRow]:
    """Sort the attempts by the key of the query; attempts without a value come last."""
    if query.sort == "worst":
        return sorted(rows, key=_worst_first(facts), reverse=query.order == "desc")
    value = _sort_value(query, facts)
    with_value = sorted(
        (row for row in rows if value(row) is not None), key=value, reverse=query.order == "desc"
    )
    return [*with_value, *(row for row in rows if value(row) is None)]


def _worst_first(facts: _Facts) -> Callable[[AttemptRow], tuple[int, float]]:
    falls = {task: fall for task in facts.shifts if (fall := facts.difference(task) or 0) < -EQUAL}

    def key(row: AttemptRow) -> tuple[int, float]:
        if row.reward is not None and row.task_id in falls:
            return 0, falls[row.task_id]
        return (1, 0.0) if row.reward is None else (2, row.reward)

    return key


def _sort_value(query: RunQuery, facts: _Facts) -> Callable[[AttemptRow], Any]:
    if query.sort == "cause":
        return lambda row: facts.cause(row.attempt) or None
    if query.sort == "before":
        return lambda row: facts.difference(row.task_id)
    return attrgetter(_SORT_FIELDS[query.sort])


def _choices(attempts: Iterable[AttemptRow], query: RunQuery, facts: _Facts) -> PageRecord:
    """The causes, endings and domains of the chosen attempts, most frequent first."""
    shown = [row for row in attempts if _is_shown(row, query)]
    return {
        "causes": _counted(facts.cause(row.attempt) for row in shown),
        "endings": _counted(row.stop_reason for row in shown),
        "domains": _counted(row.domain for row in shown),
    }


def _counted(values: Iterable[str]) -> list[PageRecord]:
    counts = Counter(filter(None, values)).most_common()
    return [{"value": value, "count": count} for value, count in counts]


def _item(reader: RunsReader, row: AttemptRow, facts: _Facts) -> PageRecord:
    """The page's record of one attempt in the list."""
    try:
        spark = overview(reader.step_summaries(row.run_id, row.attempt), SPARK)
    except AssayError:
        # The episode's own page shows what is wrong with its steps file.
        spark = ()
    return pick(
        row,
        "attempt task_id repeat domain question submitted reference failure reward abstained "
        "stop_reason n_steps cost_usd elapsed_s counts",
        shade=reward_shade(row.reward),
        spark=spark,
        **evidence_of((facts.findings or {}).get(row.attempt)),
        # Empty when no points were lost, `None` when it is not known yet.
        cause=None if facts.findings is None else facts.cause(row.attempt),
        # The mean reward of the task in the run before, and what it moved by since.
        before=facts.shifts.get(row.task_id, (None, None))[0],
        difference=facts.difference(row.task_id),
    )


def evidence_of(finding: AttemptDiagnosis | None) -> PageRecord:
    """The first line of a finding's evidence, and its step; empty without a finding."""
    sign = finding.evidence[0] if finding is not None and finding.evidence else None
    text, step = ("", None) if sign is None else (sign.text, sign.step)
    return {"evidence": text, "evidence_step": step}


def _repeat_grid(attempts: list[AttemptRow]) -> PageRecord:
    """A grid of tasks and repeats; tasks whose repeats differ most come first."""
    if not any(row.repeat for row in attempts):
        return {"repeats": 1 if attempts else 0, "tasks": (), "left_out": 0}
    tasks: dict[str, dict[int, AttemptRow]] = {}
    for row in attempts:
        if row.counts and row.repeat < MOST_REPEATS:
            tasks.setdefault(row.task_id, {})[row.repeat] = row
    repeats = max((repeat + 1 for rows in tasks.values() for repeat in rows), default=0)
    lines = [_task_line(task, rows, repeats) for task, rows in tasks.items()]
    lines.sort(key=lambda line: -line["spread"])
    left_out = max(0, len(tasks) - MOST_TASKS)
    return {"repeats": repeats, "tasks": lines[:MOST_TASKS], "left_out": left_out}


def _task_line(task: str, rows: Mapping[int, AttemptRow], repeats: int) -> PageRecord:
    """A line of the grid: one task over its repeats, with `None` for a missing attempt."""
    rewards = [row.reward for row in rows.values() if row.reward is not None]
    return {
        "task_id": task,
        "mean": sum(rewards) / len(rewards) if rewards else None,
        "spread": max(rewards) - min(rewards) if rewards else 0.0,
        "squares": [_square(rows[i]) if i in rows else None for i in range(repeats)],
    }


def _square(row: AttemptRow) -> PageRecord:
    outcome = row.abstained or row.stop_reason if row.reward is None else f"{row.reward:.3f}"
    label = f"{row.task_id[:LABEL_CHARS]}, repeat {row.repeat}: {outcome}"
    return pick(row, "attempt repeat reward", shade=reward_shade(row.reward), label=label)


def row_of(runs: Iterable[RunRow], run_id: str | None) -> RunRow | None:
    """The run with this id; `None` if it is not in the list."""
    return next((row for row in runs if row.run_id == run_id), None)


def run_before(runs: list[RunRow], row: RunRow) -> str | None:
    """The id of the run's parent, or else of the latest earlier run of the benchmark."""
    if row.parent:
        return row.parent
    before = reversed(runs[: runs.index(row)])
    same = (run for run in before if run.benchmark == row.benchmark and run.parent is None)
    return next((run.run_id for run in same), None)
