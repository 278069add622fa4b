"""Score one shard, and write a file of results and a file of counts.

A shard is finished when its counts exist, which are written last. Scoring it again leaves the same
bytes behind, so it does not matter how often, where or by how many workers that is done.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, TypeAlias

import orjson

from assay.errors import BadParameter, BadRecord, UnknownName
from assay.registry import find_reward
from assay.registry.options import without_defaults
from assay.resources.files import atomic_write
from assay.schema.score import Score
from assay.scoring.batch import map_rows, score_row
from assay.scoring.counts import AbstentionLimit, RewardCounts
from assay.scoring.files.rows import InputRow, Shard, read_rows, result_of, write_shard
from assay.scoring.scorer import RewardLike, Scorer

PARTIAL = ".partial"
"""What the folder of an unfinished job is called after its results."""
FILE = "file"
"""The column that says which file of a folder a row is from."""

RowProgress: TypeAlias = Callable[[int, int], None]
"""Called with the rows done and the rows in all."""


@dataclass(frozen=True, slots=True)
class ShardJob:
    """A shard of a file, and the paths of its results."""

    number: int
    source: Path
    shard: Shard
    out: Path
    tally: Path
    """Where the counts go, which are written after the results."""
    drafts: Path
    """Where both are written before they are complete."""
    file: str = ""
    """The file's name within its folder, for results that have to tell files apart."""

    @classmethod
    def in_folder(
        cls, folder: Path, number: int, source: Path, shard: Shard, *, suffix: str, file: str = ""
    ) -> ShardJob:
        """Make the job of a shard whose files are in one folder."""
        here = folder.absolute()
        out, tally = here / f"{number:08d}{suffix}", here / f"{number:08d}.tally.json"
        return cls(number, source.absolute(), shard, out, tally, drafts=here, file=file)


@dataclass(frozen=True, slots=True)
class ShardCounts:
    """The counts of a finished shard: its rows, and its scores for each reward."""

    number: int
    rows: int
    rewards: dict[str, RewardCounts]


@dataclass(frozen=True, slots=True)
class ShardScoring:
    """Score the rows of a shard, and write the results and the counts."""

    scorers: tuple[Scorer, ...]
    keep: tuple[str, ...]
    limit: AbstentionLimit | None = None
    """When the job stops; a shard alone is stopped by it too, before it is finished."""

    def __call__(self, job: ShardJob) -> ShardCounts:
        """Score the shard, write its results and its counts, and return the counts."""
        counts = {scorer.spec.name: RewardCounts() for scorer in self.scorers}
        rows = 0

        def results() -> Iterator[dict[str, Any]]:
            nonlocal rows
            input_rows = read_rows(job.source, job.shard)
            for scores, result in score_rows(self.scorers, input_rows, self.keep):
                for name, score in scores.items():
                    counts[name].add(score)
                rows += 1
                if self.limit is not None:
                    self.limit.check(counts)
                yield {**result, FILE: job.file} if job.file else result

        keep = (FILE, *self.keep) if job.file else self.keep
        write_shard(job.out, results(), self.scorers, keep, job.drafts)
        record = {
            "block": job.number,
            "rows": rows,
            "rewards": {name: asdict(each) for name, each in counts.items()},
        }
        with atomic_write(job.tally, job.drafts) as draft:
            draft.write_bytes(orjson.dumps(record))
        return ShardCounts(job.number, rows, counts)

    def config(self) -> dict[str, Any]:
        """The configuration that must be the same when a job is resumed."""
        columns = [scorer.columns for scorer in self.scorers]
        return {
            "rewards": [scorer.spec.id for scorer in self.scorers],
            "params": [scorer.params for scorer in self.scorers],
            "keep": list(self.keep),
            **({"columns": columns} if any(columns) else {}),
        }


def make_shard_scoring(
    rewards: Sequence[RewardLike],
    keep: Sequence[str],
    columns: Mapping[str, str] | None = None,
    max_abstained: float | None = None,
) -> ShardScoring:
    """Prepare rewards for scoring. Raises `BadParameter` for no reward or a repeated one."""
    scorers = bind_columns(rewards, columns or {})
    names = [scorer.spec.name for scorer in scorers]
    if not names or len(set(names)) != len(names):
        raise BadParameter(f"rewards={names!r}; give at least one reward, and none twice")
    return ShardScoring(scorers, tuple(keep), AbstentionLimit.of(max_abstained))


def bind_columns(rewards: Sequence[RewardLike], columns: Mapping[str, str]) -> tuple[Scorer, ...]:
    """Give each reward the columns that it takes. Raises `BadParameter` for unknown ones."""
    scorers = [reward if isinstance(reward, Scorer) else Scorer(reward) for reward in rewards]
    for parameter in columns:
        if not any(takes(scorer, parameter) for scorer in scorers):
            names = ", ".join(scorer.spec.name for scorer in scorers)
            raise BadParameter(f"columns: none of {names} has a parameter {parameter!r}")
    bound = []
    for scorer in scorers:
        own = {name: column for name, column in columns.items() if takes(scorer, name)}
        named = {**own, **scorer.columns}
        function, params = scorer.spec.function, scorer.params
        bound.append(Scorer(function, params, columns=named) if own else scorer)
    return tuple(bound)


def takes(scorer: Scorer, parameter: str) -> bool:
    """Whether the reward has this parameter, or accepts any parameter."""
    spec = scorer.spec
    return parameter in (*spec.required, *spec.optional) or spec.takes_any


def score_rows(
    scorers: Sequence[Scorer], rows: Iterator[InputRow], keep: Sequence[str]
) -> Iterator[tuple[dict[str, Score], dict[str, Any]]]:
    """Yield the scores of every row, with the row of results."""
    me = os.getpid()

    def score(row: InputRow) -> tuple[InputRow, dict[str, Score]]:
        return row, {scorer.spec.name: score_input(scorer, row) for scorer in scorers}

    for row, scores in map_rows(scorers, score, rows):
        if os.getpid() != me:
            os._exit(0)  # A reward forked, and the copy would write what its parent writes.
        yield scores, result_of(row.number, row.value, keep, scores)


def score_input(scorer: Scorer, row: InputRow) -> Score:
    """Score a row of a file; a bad row gives an abstention with its line number."""
    if row.problem:
        return scorer.abstain("bad_row", row.problem)
    return score_row(scorer, row.value, f"line {row.number}")


def read_counts(job: ShardJob) -> ShardCounts | None:
    """Read the counts of a finished shard; `None` if the shard is not finished."""
    if not job.out.is_file():
        return None
    with suppress(FileNotFoundError, orjson.JSONDecodeError):
        record = orjson.loads(job.tally.read_bytes())
        rewards = {
            name: RewardCounts.from_record(counts) for name, counts in record["rewards"].items()
        }
        return ShardCounts(record["block"], record["rows"], rewards)
    return None


def merge_counts(
    scorers: Sequence[Scorer], shards: Iterable[ShardCounts]
) -> dict[str, RewardCounts]:
    """Add the counts of all shards; their order matters for sums of floats."""
    merged = {scorer.spec.name: RewardCounts() for scorer in scorers}
    for shard in shards:
        for name, counts in shard.rewards.items():
            merged[name].merge(counts)
    return merged


def write_plan(path: Path, plan: dict[str, Any]) -> None:
    """Write the plan of a job; the file is written whole or not at all."""
    with atomic_write(path) as draft:
        draft.write_bytes(orjson.dumps(plan, option=orjson.OPT_INDENT_2, default=repr))


def read_plan(path: Path) -> dict[str, Any] | None:
    """Read the plan of an earlier job; `None` if the job was killed too early."""
    try:
        plan: dict[str, Any] = orjson.loads(path.read_bytes())
    except FileNotFoundError:
        return None
    except orjson.JSONDecodeError as error:
        raise BadRecord(f"{str(path)!r} is not the plan of a job: {error}") from error
    return plan


def settle_plan(path: Path, plan: dict[str, Any], out: Path) -> None:
    """Write the plan of a job. Raises `BadRecord` if a different job has a plan here."""
    earlier = read_plan(path)
    if earlier is not None:
        check_same(earlier, plan, out)
    write_plan(path, plan)


def open_partial(out: Path, *, resume: bool, overwrite: bool) -> Path:
    """Open the folder `OUT.partial` of a job. Raises `BadRecord` if results would be lost."""
    if out.exists() and not overwrite:
        raise BadRecord(f"{str(out)!r} already exists; --overwrite replaces it")
    folder = out.with_name(out.name + PARTIAL)
    if folder.exists() and not resume:
        if not overwrite:
            raise BadRecord(
                f"{str(folder)!r} holds an unfinished job; "
                "--resume continues the job, --overwrite starts again"
            )
        shutil.rmtree(folder)
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def check_same(earlier: dict[str, Any], plan: dict[str, Any], out: Path) -> None:
    """Raise `BadRecord` if the earlier job had another configuration."""
    expected = orjson.loads(orjson.dumps(plan, default=repr))
    earlier = {**earlier, "params": _params_of(earlier)}
    for key, value in expected.items():
        if earlier.get(key) != value:
            raise BadRecord(
                f"cannot resume {str(out)!r}: its {key} was {earlier.get(key)!r:.300} and is "
                f"now {value!r:.300}; --overwrite starts again"
            )


def _params_of(earlier: dict[str, Any]) -> Any:
    """The options of an earlier job's rewards, without options that equal the defaults."""
    rewards, params = earlier.get("rewards"), earlier.get("params")
    try:
        return [
            without_defaults(find_reward(reward), options)
            for reward, options in zip(rewards or (), params or (), strict=True)
        ]
    except (UnknownName, TypeError, ValueError, AttributeError):
        return params
