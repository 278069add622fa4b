"""Where a run lost reward, why, and how much each cause could return at most."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from assay.errors import AssayError, UnknownName
from assay.ledger.run import Run, RunLike, open_run
from assay.ledger.summary import (
    RewardMean,
    distinct_failures,
    primary_score,
    reward_means,
    reward_of,
)
from assay.report.alignment import AlignedItem, align
from assay.report.attempts import EQUAL, mean
from assay.report.causes import Cause, DiagnosisCase, cause_of, suggestion_for
from assay.report.comparability import step_budget
from assay.report.pass_rates import PassRate, pass_rates
from assay.report.reformatting import SHOWN_CHARS, AnswerRescorer, ReformattedAnswer
from assay.report.traces import AttemptTrace, EvidenceLine
from assay.schema.episode import Episode
from assay.schema.manifest import RunManifest

FULL = 1.0
"""The reward from which nothing is lost."""
MOST_SIGNS = 8


@dataclass(frozen=True, slots=True)
class AttemptDiagnosis:
    """One attempt below full reward: what was lost, and why."""

    attempt: str
    task_id: str
    repeat: int
    stop_reason: str
    reward: float | None
    """`None` when there is none: such an attempt is in no mean."""
    lost: float | None
    cause: Cause
    evidence: tuple[EvidenceLine, ...]
    answer: str | None
    gold: Any
    aligned: tuple[AlignedItem, ...]
    because: str
    """What the reward itself says."""
    recovery: ReformattedAnswer | None
    suggestion: str = ""
    """The one change that the cause suggests, in the words of the environment."""

    @property
    def returns(self) -> float:
        """The most reward that fixing the cause could return."""
        if self.lost is None:
            return 0.0
        if self.cause == "format_rejection" and self.recovery is not None:
            return max(0.0, self.recovery.reward - (self.reward or 0.0))
        return self.lost

    @property
    def best_form(self) -> float:
        """The highest reward that the same answer could have in another form."""
        reward = self.reward or 0.0
        if self.cause == "extra_words":
            return reward + self.returns
        return reward if self.recovery is None else max(reward, self.recovery.reward)

    def links(self) -> list[str]:
        """The file and line of each line of evidence."""
        return [f"steps/{self.attempt}.jsonl:{sign.step + 1}" for sign in self.evidence]

    def to_record(self) -> dict[str, Any]:
        """The finding as plain JSON values."""
        return {**asdict(self), "returns": self.returns, "links": self.links()}


@dataclass(frozen=True, slots=True)
class CauseSummary:
    """The reward that one cause cost a run."""

    cause: Cause
    attempts: int
    unscored: int
    """Attempts without a reward: their loss is not known."""
    lost: float
    """Of the run's mean reward."""
    returns: float
    """What mending it could add to the mean, at most."""
    suggestion: str


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """The diagnosis of a run, cause by cause."""

    run_id: str
    n: int
    """Attempts that count."""
    scored: int
    mean: float | None
    recoverable_mean: float | None
    """The mean if every answer had been in its best form: an upper bound, not a reward."""
    causes: tuple[CauseSummary, ...]
    """The costliest first."""
    findings: tuple[AttemptDiagnosis, ...]
    notes: tuple[str, ...] = ()
    rewards: tuple[RewardMean, ...] = ()
    """Of every reward that scored, the primary one first; causes are of that one alone."""
    planned: int = 0
    """Attempts that the whole run is to have; 0 where that is not known."""
    passes: tuple[PassRate, ...] = ()
    """How often one of k attempts passes, and how often all do; none without repeats."""

    def to_record(self) -> dict[str, Any]:
        """The diagnosis as plain JSON values."""
        record = asdict(self)
        record["findings"] = [finding.to_record() for finding in self.findings]
        record["passes"] = [rate.to_record() for rate in self.passes]
        return record


def diagnose(
    run: RunLike, *, task: str | None = None, full: float = FULL, runs_dir: str | Path = "runs"
) -> Diagnosis:
    """Find a cause, with evidence, for each attempt of the run below full reward.

    Answers are scored again, in other forms, by the run's own primary reward. `task` keeps one
    task.
    """
    opened = open_run(run, runs_dir)
    recoverer = AnswerRescorer()
    task = None if task is None else _task_id(opened, task)
    counted = [episode for episode in opened.final() if task in (None, episode.task.id)]
    rewards: list[float] = []
    best: list[float] = []
    findings: list[AttemptDiagnosis] = []
    for episode in counted:
        reward = reward_of(episode)
        best_form = reward
        if reward is None or reward < full - EQUAL:
            finding = _find(opened, episode, full, recoverer)
            findings.append(finding)
            best_form = finding.best_form
        if reward is not None and best_form is not None:
            rewards.append(reward)
            best.append(best_form)
    n = len(counted)
    return Diagnosis(
        run_id=opened.id,
        n=n,
        scored=len(rewards),
        mean=mean(rewards) if rewards else None,
        recoverable_mean=mean(best) if best else None,
        causes=_summary(findings, len(rewards)),
        findings=tuple(findings),
        notes=(*_notes(opened, n, len(rewards)), *map(str, distinct_failures(counted))),
        rewards=reward_means(counted),
        planned=0 if task is not None else opened.manifest.n_tasks * opened.manifest.repeats,
        passes=pass_rates(counted),
    )


def _task_id(run: Run, task: str) -> str:
    """The full id of a task, which may be given by its unique ending: `3` for `line.3`."""
    ids = {episode.task.id for episode in run.final()}
    ending = sorted(each for each in ids if task in (each, each.rpartition(".")[2]))
    if not ending:
        raise UnknownName(f"run {run.id!r} has no attempt at a task {task!r}")
    if len(ending) > 1 and task not in ids:
        raise UnknownName(f"the task {task!r} is ambiguous: it may be any of {ending[:5]}")
    return task if task in ids else ending[0]


def diagnose_attempt(run: Run, attempt: str, *, full: float = FULL) -> AttemptDiagnosis | None:
    """Why one attempt is below full reward; `None` for an attempt with full reward."""
    episode = run.stored(attempt).episode
    reward = reward_of(episode)
    if reward is not None and reward >= full - EQUAL:
        return None
    return _find(run, episode, full, AnswerRescorer())


def _find(run: Run, episode: Episode, full: float, recoverer: AnswerRescorer) -> AttemptDiagnosis:
    reward = reward_of(episode)
    recovery = recoverer.best(episode)
    aligned = align(episode.final_response, episode.task.answer)
    case = DiagnosisCase(
        trace=AttemptTrace(_whole(run, episode), run.text),
        reward=reward,
        recovery=recovery,
        aligned=aligned,
        steps=step_budget(run.manifest),
        answer_margin=_answer_margin(run.manifest),
    )
    cause, signs = cause_of(case)
    score = primary_score(episode)
    return AttemptDiagnosis(
        attempt=episode.attempt,
        task_id=episode.task.id,
        repeat=episode.repeat,
        stop_reason=episode.stop_reason,
        reward=reward,
        lost=None if reward is None else max(0.0, full - reward),
        cause=cause,
        evidence=signs[:MOST_SIGNS],
        answer=None if episode.final_response is None else episode.final_response[:SHOWN_CHARS],
        gold=episode.task.answer,
        aligned=aligned,
        because=score.because if score is not None else "",
        recovery=recovery,
        suggestion=suggestion_for(cause, case.world, imported=run.manifest.is_imported),
    )


def _whole(run: Run, episode: Episode) -> Episode:
    """The episode with its steps and messages; without them if they cannot be read."""
    try:
        return run.episode(episode.attempt)
    except AssayError:
        return episode


def _answer_margin(manifest: RunManifest) -> int:
    agent = manifest.config.get("agent", {})
    margin = agent.get("options", {}).get("answer_margin") if isinstance(agent, dict) else 0
    return margin if isinstance(margin, int) else 0


def _summary(findings: Iterable[AttemptDiagnosis], scored: int) -> tuple[CauseSummary, ...]:
    groups: dict[Cause, list[AttemptDiagnosis]] = {}
    for finding in findings:
        groups.setdefault(finding.cause, []).append(finding)
    scored = max(scored, 1)
    rows = [
        CauseSummary(
            cause=cause,
            attempts=len(group),
            unscored=sum(finding.lost is None for finding in group),
            lost=sum(finding.lost or 0.0 for finding in group) / scored,
            returns=sum(finding.returns for finding in group) / scored,
            suggestion=group[0].suggestion,
        )
        for cause, group in groups.items()
    ]
    return tuple(sorted(rows, key=lambda row: (-row.returns, -row.lost, -row.attempts, row.cause)))


def _notes(run: Run, n: int, scored: int) -> tuple[str, ...]:
    notes = [f"left out: {problem}" for problem in run.problems]
    if not n:
        notes.append("the run has no finished attempt")
    elif not scored:
        notes.append("no attempt has a reward: there is no mean, and no loss that can be counted")
    return tuple(notes)
