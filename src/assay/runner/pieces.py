"""The unit of a scoring job: one block of rows in, one piece of results and its tally out.

A piece is finished when its tally exists, which is written last. Scoring a piece again leaves the
same bytes behind, so it never matters how often, where or by how many it is done.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, TypeAlias

import orjson

from assay.errors import BadParameter, BadRecord
from assay.runner.batch import score_row
from assay.runner.blocks import read_rows
from assay.runner.results import result_of, whole_or_nothing, write_piece
from assay.runner.rows import Block, Row
from assay.schema.score import Abstained, Score
from assay.scoring.scorer import Scorer

FILE = "file"
"""The column that says which file of a folder a row is from."""

RewardLike: TypeAlias = str | Callable[..., Any] | Scorer
Progress: TypeAlias = Callable[[int, int], None]
"""Called with the rows done and the rows in all."""


@dataclass(slots=True)
class Tally:
    """Running counts for one reward."""

    scored: int = 0
    total: float = 0.0
    abstained: dict[str, int] = field(default_factory=dict)

    def add(self, score: Score) -> None:
        if isinstance(score, Abstained):
            self.abstained[score.reason] = self.abstained.get(score.reason, 0) + 1
        else:
            self.scored += 1
            self.total += score.value

    def merge(self, other: Tally) -> None:
        self.scored += other.scored
        self.total += other.total
        for reason, count in other.abstained.items():
            self.abstained[reason] = self.abstained.get(reason, 0) + count

    @property
    def mean(self) -> float | None:
        """Over what was scored; abstentions are counted beside it, never in it."""
        return self.total / self.scored if self.scored else None


@dataclass(frozen=True, slots=True)
class Piece:
    """A block of a file, and where its results go."""

    number: int
    source: Path
    block: Block
    out: Path
    tally: Path
    drafts: Path
    """Where both are written before they are whole."""
    file: str = ""
    """The file's name within its folder, for results that have to tell files apart."""


@dataclass(frozen=True, slots=True)
class PieceTally:
    """What was counted in a finished piece."""

    number: int
    rows: int
    rewards: dict[str, Tally]


@dataclass(frozen=True, slots=True)
class Scoring:
    """What is done with every piece of a job."""

    scorers: tuple[Scorer, ...]
    keep: tuple[str, ...]

    def __call__(self, piece: Piece) -> PieceTally:
        """The piece and its tally are on the disk."""
        tallies = {scorer.spec.name: Tally() for scorer in self.scorers}
        rows = 0

        def results() -> Iterator[dict[str, Any]]:
            nonlocal rows
            read = read_rows(piece.source, piece.block)
            for scores, result in score_rows(self.scorers, read, self.keep):
                for name, score in scores.items():
                    tallies[name].add(score)
                rows += 1
                yield {**result, FILE: piece.file} if piece.file else result

        keep = (FILE, *self.keep) if piece.file else self.keep
        write_piece(piece.out, results(), self.scorers, keep, piece.drafts)
        record = {
            "block": piece.number,
            "rows": rows,
            "rewards": {name: asdict(tally) for name, tally in tallies.items()},
        }
        with whole_or_nothing(piece.tally, piece.drafts) as draft:
            draft.write_bytes(orjson.dumps(record))
        return PieceTally(piece.number, rows, tallies)

    def config(self) -> dict[str, Any]:
        """What a resumed job has to have in common with the one that was stopped."""
        return {
            "rewards": [scorer.spec.id for scorer in self.scorers],
            "params": [scorer.params for scorer in self.scorers],
            "keep": list(self.keep),
        }


def make_scoring(rewards: Sequence[RewardLike], keep: Sequence[str]) -> Scoring:
    """The rewards ready to judge; none at all, or one of them twice, is an error."""
    scorers = tuple(reward if isinstance(reward, Scorer) else Scorer(reward) for reward in rewards)
    names = [scorer.spec.name for scorer in scorers]
    if not names or len(set(names)) != len(names):
        raise BadParameter(f"rewards={names!r}; name at least one, and each only once")
    return Scoring(scorers, tuple(keep))


def score_rows(
    scorers: Sequence[Scorer], rows: Iterator[Row], keep: Sequence[str]
) -> Iterator[tuple[dict[str, Score], dict[str, Any]]]:
    """For every row its scores, and the result row that tells them."""
    for row in rows:
        if row.problem:
            scores: dict[str, Score] = {
                scorer.spec.name: scorer.abstain("bad_row", row.problem) for scorer in scorers
            }
        else:
            place = f"line {row.number}"
            scores = {scorer.spec.name: score_row(scorer, row.value, place) for scorer in scorers}
        yield scores, result_of(row.number, row.value, keep, scores)


def read_tally(piece: Piece) -> PieceTally | None:
    """What a finished piece counted; `None` when it still has to be scored."""
    if not piece.out.is_file():
        return None
    with suppress(FileNotFoundError, orjson.JSONDecodeError):
        record = orjson.loads(piece.tally.read_bytes())
        rewards = {name: Tally(**tally) for name, tally in record["rewards"].items()}
        return PieceTally(record["block"], record["rows"], rewards)
    return None


def merge_tallies(scorers: Sequence[Scorer], tallies: Iterable[PieceTally]) -> dict[str, Tally]:
    """The counts of the whole job; give the tallies in order, since sums of floats have one."""
    merged = {scorer.spec.name: Tally() for scorer in scorers}
    for tally in tallies:
        for name, counts in tally.rewards.items():
            merged[name].merge(counts)
    return merged


def write_plan(path: Path, plan: dict[str, Any]) -> None:
    """The plan is on the disk, whole."""
    with whole_or_nothing(path) as draft:
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


def check_same(held: dict[str, Any], plan: dict[str, Any], out: Path) -> None:
    """Nothing, unless the earlier job was another one; then an error that says in what."""
    wanted = orjson.loads(orjson.dumps(plan, default=repr))
    for key, value in wanted.items():
        if held.get(key) != value:
            raise BadRecord(
                f"cannot resume {str(out)!r}: its {key} was {held.get(key)!r:.300} and is "
                f"now {value!r:.300}; --overwrite starts again"
            )
