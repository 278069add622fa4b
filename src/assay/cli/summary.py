"""Print the summary of a run in the terminal."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich.table import Table
from rich.text import Text

from assay.cli.terminal import BAD, number_text, output, plain, print_json, reward_text, table_of
from assay.errors import AssayError
from assay.ledger.passes import PERFECT
from assay.ledger.run import Run
from assay.ledger.summary import (
    EpisodeCounts,
    RunSummary,
    TaskSummary,
    distinct_failures,
    other_code,
    summarise,
    zeros_replaced,
)
from assay.scoring.counts import RewardCounts

if TYPE_CHECKING:
    from assay.report.pass_rates import PassRate
    from assay.report.statistics import ConfidenceInterval

SHOWN_ERRORS = 10
SHOWN_TASKS = 200


def print_run(run: Run, *, as_json: bool) -> RunSummary:
    """Print the run's summary on stdout, as tables or as JSON."""
    summary = summarise(run)
    if as_json:
        print_json(run_record(run, summary))
        return summary
    console = output()
    console.print(_tasks(summary))
    if len(summary.tasks) > SHOWN_TASKS:
        console.print(f"… and {len(summary.tasks) - SHOWN_TASKS:,} more tasks; --json has all")
    console.print(_totals(summary, _pass_rates(run)))
    for sentence in _ungraded(grades_of(run)) if _is_ungraded(summary) else ():
        console.print(Text(plain(sentence, 600), style=BAD), soft_wrap=True)
    for failure in summary.errors[:SHOWN_ERRORS]:
        console.print(Text(plain(str(failure), 600), style=BAD), soft_wrap=True)
    more = len(summary.errors) - SHOWN_ERRORS
    if more > 0:
        console.print(f"… and {more} more messages; --json has them all")
    console.print(Text(f"{run.path}", style="bold"), soft_wrap=True)
    return summary


def grades_of(run: Run) -> dict[str, RewardCounts]:
    """The counts of scores and abstentions of each reward, over the attempts that count."""
    counts: dict[str, RewardCounts] = {}
    for episode in run.final():
        for score in episode.scores:
            counts.setdefault(score.scorer or "the reward", RewardCounts()).add(score)
    return counts


def _is_ungraded(summary: RunSummary) -> bool:
    counts = summary.counts
    return bool(counts.abstained) or any(each.scored < counts.scored for each in summary.rewards)


def _ungraded(counts: Mapping[str, RewardCounts]) -> Iterator[str]:
    """Yield a sentence for each reward that abstained, with the most frequent reason."""
    for name, reward in counts.items():
        if reward.abstentions:
            most = max(reward.examples.values(), key=lambda example: example.count)
            yield (
                f"{name} did not grade {reward.abstentions:,} of {reward.rows:,} attempts "
                f"({reward.abstentions / reward.rows:.0%}), {most.count:,} since {most.because}"
            )


def run_record(run: Run, summary: RunSummary | None = None) -> dict[str, Any]:
    """The run's summary as JSON values, with the run's path and parent."""
    place = {"path": str(run.path), "parent": run.manifest.parent}
    passes = [rate.to_record() for rate in _pass_rates(run)]
    return place | (summary or summarise(run)).to_record() | {"passes": passes}


def _pass_rates(run: Run) -> tuple[PassRate, ...]:
    if run.manifest.repeats < 2:
        return ()
    # Only now: the intervals need numpy, which takes a while to load.
    from assay.report.pass_rates import pass_rates

    return pass_rates(run.final())


def rate_lines(rates: Iterable[PassRate]) -> list[tuple[str, str]]:
    """The name and the text (value and interval) of each pass rate."""
    return [
        (
            f"{name}{rate.k}",
            f"{value:.3f}  {_interval(interval)} of {rate.tasks} task{'s' * (rate.tasks != 1)}",
        )
        for rate in rates
        for name, value, interval in (
            ("pass@", rate.any_pass, rate.any_interval),
            ("pass^", rate.all_pass, rate.all_interval),
        )
        # With one attempt the two are the same.
        if name == "pass@" or rate.k > 1
    ]


def _interval(interval: ConfidenceInterval | None) -> str:
    if interval is None:
        return "—"
    return f"{100 * interval.level:.0f} % [{interval.low:.3f}, {interval.high:.3f}]"


def fail_unless_scored(run: Run, counts: EpisodeCounts, path: Path) -> None:
    """Raise `AssayError` if no attempt was scored, or if all ended with one agent error."""
    _fail_if_all_alike(run, counts)
    if not counts.n or counts.scored or counts.unscored:
        return
    failed = counts.model_errors + counts.env_errors
    if failed:
        raise AssayError(
            f"no attempt was scored: the model or the environment ended {failed} of {counts.n}. "
            f"After you fix the cause: assay run --resume {path} --retry-errors"
        )
    first = next(episode.scores[0] for episode in run.final() if episode.scores)
    raise AssayError(
        f"no attempt was scored: {first.scorer} abstained from all {counts.n}; first "
        f"reason: {first.because[:300]}. After you fix it: assay score {path} --reward "
        f"{_reward_address(run, first.scorer.partition('@')[0])}"
    )


def _fail_if_all_alike(run: Run, counts: EpisodeCounts) -> None:
    """Raise `AssayError` if every attempt ended with the same agent error."""
    if not counts.n or counts.agent_errors < counts.n:
        return
    failures = distinct_failures(run.final())
    if len(failures) == 1:
        raise AssayError(
            f"every attempt ended in the same agent_error: {failures[0].message[:700]}\n"
            "They count as zeros. After you fix the cause: assay run --resume "
            f"{run.path} --retry-errors=agent"
        )


def _reward_address(run: Run, name: str) -> str:
    """The value of `--reward` for the run's primary reward: its address, else its name."""
    benchmark = run.manifest.config.get("benchmark")
    rewards = benchmark.get("rewards") if isinstance(benchmark, dict) else None
    names = rewards.get("names") if isinstance(rewards, dict) else None
    first = names[0] if isinstance(names, list) and names else name
    return first if isinstance(first, str) and ":" in first else name


def _tasks(summary: RunSummary) -> Table:
    table = table_of("task", "domain", "n", ">mean", ">steps", "endings")
    for row in sorted(summary.tasks, key=_place)[:SHOWN_TASKS]:
        endings = ", ".join(
            name if count == 1 and row.counts.n == 1 else f"{count} {name}"
            for name, count in row.endings.items()
        )
        table.add_row(
            Text(plain(row.task_id, 60)),
            Text(plain(row.domain, 30)),
            str(row.counts.n),
            reward_text(row.counts.mean),
            number_text(row.counts.mean_steps, 1),
            endings,
        )
    return table


def _place(row: TaskSummary) -> tuple[str, list[tuple[int, str]]]:
    """The sort key of a task: its domain, then its id in natural order."""
    pieces = re.split(r"(\d+)", row.task_id[:200])
    return row.domain, [(int(piece) if piece.isdecimal() else -1, piece) for piece in pieces]


def _totals(summary: RunSummary, rates: Iterable[PassRate]) -> Table:
    table = table_of(show_header=False)
    first, *others = _lines(summary.counts, summary.scorer)
    means = [
        ("beside it", f"{number_text(each.mean, 4)} of {each.scored} ({each.scorer})")
        for each in summary.rewards
        if each.scorer != summary.scorer
    ]
    for name, value in (first, *means, *others, *rate_lines(rates)):
        table.add_row(name, value)
    if summary.other_code:
        table.add_row("code", other_code(summary.other_code, summary.counts.n))
    if summary.retried:
        table.add_row("attempts", f"{summary.attempts}, of which {summary.retried} were replaced")
    if summary.replaced_zeros:
        table.add_row("", zeros_replaced(summary.replaced_zeros))
    if summary.usage.calls or summary.cached_calls:
        table.add_row("model", _spent(summary))
    return table


def _spent(summary: RunSummary) -> str:
    """The calls, tokens and cost of the model in words; the cost may be unknown."""
    usage, each = summary.usage, summary.cost_per_attempt_usd
    if usage.cost_usd is None:
        cost = "cost unknown (see --prices)"
    elif usage.cost_usd and each is not None:
        cost = f"${usage.cost_usd:.4f} (${each:.4f} an attempt)"
    else:
        cost = f"${usage.cost_usd:.4f}"
    cached = f"; {summary.cached_calls:,} from the cache" if summary.cached_calls else ""
    return (
        f"{usage.calls:,} calls, {usage.prompt_tokens:,} + {usage.completion_tokens:,} tokens, "
        f"{cost}{cached}"
    )


def _lines(counts: EpisodeCounts, scorer: str) -> list[tuple[str, str]]:
    missing = [
        f"{count} {what}"
        for count, what in (
            (counts.abstained, "abstained"),
            (counts.model_errors, "model_error"),
            (counts.env_errors, "env_error"),
            (counts.unscored, "unscored"),
        )
        if count
    ]
    left_out = f"; not in it: {', '.join(missing)}" if missing else ""
    rate = counts.error_rate
    name = scorer or "not scored yet"
    return [
        ("mean reward", f"{number_text(counts.mean, 4)} of {counts.scored} ({name}){left_out}"),
        ("answered", f"{counts.answered} of {counts.n}"),
        (f"perfect (≥ {PERFECT})", f"{counts.perfect} of {counts.n}"),
        ("above 0.6", f"{counts.good} of {counts.n}"),
        ("zero", f"{counts.zero} of {counts.n}"),
        ("mean steps", number_text(counts.mean_steps, 1)),
        ("error rate", "—" if rate is None else f"{rate:.1%}"),
    ]
