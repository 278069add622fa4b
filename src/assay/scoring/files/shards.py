"""Scoring one shard: its rows in, a file of results and a file of counts out.

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
    """A shard of a file, and where its results go."""

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
        """The job of a shard whose files lie in one folder; absolute, for workers elsewhere."""
        here = folder.absolute()
        out, tally = here / f"{number:08d}{suffix}", here / f"{number:08d}.tally.json"
        return cls(number, source.absolute(), shard, out, tally, drafts=here, file=file)


@dataclass(frozen=True, slots=True)
class ShardCounts:
    """What was counted in a finished shard."""

    number: int
    rows: int
    rewards: dict[str, RewardCounts]


@dataclass(frozen=True, slots=True)
class ShardScoring:
    """Scores the rows of a shard, and writes their results."""

    scorers: tuple[Scorer, ...]
    keep: tuple[str, ...]
    limit: AbstentionLimit | None = None
    """When the job stops; a shard alone is stopped by it too, before it is finished."""

    def __call__(self, job: ShardJob) -> ShardCounts:
        """Write the results of the shard, then its counts, and return the counts."""
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
        """What a resumed job has to have in common with the one that was stopped."""
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
    """The rewards, ready to score; raise `BadParameter` for none at all, or one of them twice."""
    scorers = bind_columns(rewards, columns or {})
    names = [scorer.spec.name for scorer in scorers]
    if not names or len(set(names)) != len(names):
        raise BadParameter(f"rewards={names!r}; name at least one, and each only once")
    return ShardScoring(scorers, tuple(keep), AbstentionLimit.of(max_abstained))


def bind_columns(rewards: Sequence[RewardLike], columns: Mapping[str, str]) -> tuple[Scorer, ...]:
    """The rewards with those of the columns that they take.

    A `Scorer` that has columns of its own keeps them. Raises `BadParameter` for a parameter that
    none of the rewards has.
    """
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
    """Whether the reward has a parameter of that name, by name or among any others."""
    spec = scorer.spec
    return parameter in (*spec.required, *spec.optional) or spec.takes_any


def score_rows(
    scorers: Sequence[Scorer], rows: Iterator[InputRow], keep: Sequence[str]
) -> Iterator[tuple[dict[str, Score], dict[str, Any]]]:
    """For every row its scores, and the result row that is written for it."""
    me = os.getpid()

    def score(row: InputRow) -> tuple[InputRow, dict[str, Score]]:
        return row, {scorer.spec.name: score_input(scorer, row) for scorer in scorers}

    for row, scores in map_rows(scorers, score, rows):
        if os.getpid() != me:
            os._exit(0)  # A reward forked, and the copy would write what its parent writes.
        yield scores, result_of(row.number, row.value, keep, scores)


def score_input(scorer: Scorer, row: InputRow) -> Score:
    """The score of a row of a file; an abstention that names its line for one that is bad."""
    if row.problem:
        return scorer.abstain("bad_row", row.problem)
    return score_row(scorer, row.value, f"line {row.number}")


def read_counts(job: ShardJob) -> ShardCounts | None:
    """The counts of a finished shard; `None` when it still has to be scored."""
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
    """The counts of the whole job; `shards` come in order, since a sum of floats depends on it."""
    merged = {scorer.spec.name: RewardCounts() for scorer in scorers}
    for shard in shards:
        for name, counts in shard.rewards.items():
            merged[name].merge(counts)
    return merged


def write_plan(path: Path, plan: dict[str, Any]) -> None:
    """Write the plan, complete or not at all."""
    with atomic_write(path) as draft:
        draft.write_bytes(orjson.dumps(plan, option=orjson.OPT_INDENT_2, default=repr))


def read_plan(path: Path) -> dict[str, Any] | None:
    """The plan of an earlier job; `None` when it was killed before it had written one."""
    try:
        plan: dict[str, Any] = orjson.loads(path.read_bytes())
    except FileNotFoundError:
        return None
    except orjson.JSONDecodeError as error:
        raise BadRecord(f"{str(path)!r} is not the plan of a job: {error}") from error
    return plan


def settle_plan(path: Path, plan: dict[str, Any], out: Path) -> None:
    """Write the plan of a job; raise `BadRecord` if there is one of another job."""
    earlier = read_plan(path)
    if earlier is not None:
        check_same(earlier, plan, out)
    write_plan(path, plan)


def open_partial(out: Path, *, resume: bool, overwrite: bool) -> Path:
    """The folder `OUT.partial` of a job; what is in it stays if the job is resumed.

    Raises `BadRecord` if results would be lost.
    """
    if out.exists() and not overwrite:
        raise BadRecord(f"{str(out)!r} exists already; --overwrite replaces it")
    folder = out.with_name(out.name + PARTIAL)
    if folder.exists() and not resume:
        if not overwrite:
            raise BadRecord(
                f"{str(folder)!r} holds an unfinished job; "
                "--resume continues it, --overwrite starts again"
            )
        shutil.rmtree(folder)
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def check_same(earlier: dict[str, Any], plan: dict[str, Any], out: Path) -> None:
    """Raise `BadRecord` if the earlier job was another one, naming what differs."""
    expected = orjson.loads(orjson.dumps(plan, default=repr))
    earlier = {**earlier, "params": _params_of(earlier)}
    for key, value in expected.items():
        if earlier.get(key) != value:
            raise BadRecord(
                f"cannot resume {str(out)!r}: its {key} was {earlier.get(key)!r:.300} and is "
                f"now {value!r:.300}; --overwrite starts again"
            )


def _params_of(earlier: dict[str, Any]) -> Any:
    """The rewards' options of an earlier job, which may name some that are the default."""
    rewards, params = earlier.get("rewards"), earlier.get("params")
    try:
        return [
            without_defaults(find_reward(reward), options)
            for reward, options in zip(rewards or (), params or (), strict=True)
        ]
    except (UnknownName, TypeError, ValueError, AttributeError):
        return params
