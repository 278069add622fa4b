"""Count how scores change from one reward to another, by kind, with small examples.

A kind is a direction (one of `CHANGES`) and what both rewards say, apart from the row's own values.
Losses come first.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from importlib.resources import files
from typing import Any, Final, Literal, Self, TypeVar, get_args

from assay.errors import BadParameter, did_you_mean, printable
from assay.report.group_effects import GroupEffects
from assay.schema.score import Abstained, Score

N = TypeVar("N", int, float)
Change = Literal["scored_to_abstained", "down", "abstained_to_scored", "up", "other_abstention"]
CHANGES: Final[tuple[Change, ...]] = get_args(Change)
"""In the order in which they are shown."""
TITLES: Final[Mapping[Change, str]] = {
    "scored_to_abstained": "scored, now abstains",
    "down": "down",
    "abstained_to_scored": "abstained, now scored",
    "up": "up",
    "other_abstention": "abstains for another reason",
}
STEPS: Final = (0.01, 0.1, 0.5, 1.0)
"""How far a reward moves is counted up to each of these, and beyond."""
KINDS = 100
"""Kinds of each change that are told apart; the rest is counted together."""
OTHERS = "of other kinds"
NOTHING: Final = "nothing was compared: neither reward scored a row"
EXAMPLES = 3
TEXT_CHARS = 600
PATTERN_CHARS = 300
_VALUES = re.compile(r"'[^']*'|\"[^\"]*\"|-?\d+(?:\.\d+)?")


@dataclass(frozen=True, slots=True)
class SideScore:
    """The value and the reason that one of the two rewards gives a changed row."""

    value: float | None
    because: str
    abstained: str | None = None

    @classmethod
    def of(cls, score: Score) -> Self:
        """The value and the shortened reason of a score."""
        because = score.because[:TEXT_CHARS]
        if isinstance(score, Abstained):
            return cls(None, because, score.reason)
        return cls(score.value, because)


@dataclass(frozen=True, slots=True)
class ChangeExample:
    """A row whose reward changes, with both reasons."""

    file: str
    line: int
    size: int
    """Characters of the response and the reference, by which the smallest is chosen."""
    shard: int
    response: str
    reference: str
    old: SideScore
    new: SideScore
    id: str = ""

    @property
    def place(self) -> tuple[int, int, int]:
        """The sort key: smaller rows come first, then earlier rows."""
        return self.size, self.shard, self.line


@dataclass(slots=True)
class ChangeKind:
    """Changes in one direction with the same two reasons, apart from values in the text."""

    change: Change
    old: str
    new: str
    count: int = 0
    total: float = 0.0
    """How far they move together."""
    examples: list[ChangeExample] = field(default_factory=list)

    def keep(self, example: ChangeExample) -> None:
        """Keep the example if its row is among the smallest rows; equal texts are kept once."""
        texts = (example.response, example.reference)
        for at, other in enumerate(self.examples):
            if (other.response, other.reference) == texts:
                self.examples[at] = min(example, other, key=lambda each: each.place)
                return
        self.examples.append(example)
        self.examples.sort(key=lambda each: each.place)
        del self.examples[EXAMPLES:]

    def wants(self, place: tuple[int, int, int]) -> bool:
        """Whether an example of that size and place would be kept."""
        return len(self.examples) < EXAMPLES or place < self.examples[-1].place


@dataclass(slots=True)
class DiffCounts:
    """Running counts of the differences between two rewards over the same rows."""

    rows: int = 0
    changes: dict[Change, int] = field(default_factory=lambda: dict.fromkeys(CHANGES, 0))
    scored: list[int] = field(default_factory=lambda: [0, 0])
    """By the old reward and by the new one."""
    totals: list[float] = field(default_factory=lambda: [0.0, 0.0])
    both: int = 0
    """Rows that both score."""
    moved_by: float = 0.0
    """The sum of all differences between two scores."""
    sizes: dict[str, list[int]] = field(
        default_factory=lambda: {"down": [0] * (len(STEPS) + 1), "up": [0] * (len(STEPS) + 1)}
    )
    """By direction: how many move by up to each of `STEPS`, and by more."""
    errors: int = 0
    """Rows that the new reward fails on (`grader_error`) and the old one does not."""
    ungrouped: int = 0
    """Rows that do not say which group they are of."""
    kinds: dict[str, ChangeKind] = field(default_factory=dict)

    def add(
        self,
        old: Score,
        new: Score,
        tolerance: float,
        place: tuple[int, int, int],
        example: Callable[[], ChangeExample],
    ) -> Change | None:
        """Count a row; `example` is called only if its result may be kept."""
        self.rows += 1
        change = self._compare(old, new, tolerance)
        if change is None:
            return None
        self.changes[change] += 1
        moved = 0.0
        if change in ("down", "up"):
            moved = float(new) - float(old)
            size = abs(moved)
            self.sizes[change][sum(size > step + tolerance for step in STEPS)] += 1
        if isinstance(new, Abstained) and new.reason == "grader_error":
            self.errors += 1
        kind = self._kind(change, pattern_of(old), pattern_of(new))
        kind.count += 1
        kind.total += moved
        if kind.wants(place):
            kind.keep(example())
        return change

    def _compare(self, old: Score, new: Score, tolerance: float) -> Change | None:
        was, now = type(old) is not Abstained, type(new) is not Abstained
        if was:
            self.scored[0] += 1
            self.totals[0] += float(old)
        if now:
            self.scored[1] += 1
            self.totals[1] += float(new)
        if was and now:
            self.both += 1
            moved = float(new) - float(old)
            self.moved_by += moved
            return None if abs(moved) <= tolerance else ("up" if moved > 0 else "down")
        if was or now:
            return "scored_to_abstained" if was else "abstained_to_scored"
        return None if old["abstained"] == new["abstained"] else "other_abstention"

    def _kind(self, change: Change, old: str, new: str) -> ChangeKind:
        key = "\n".join((change, old, new))
        many = key not in self.kinds and len(self.kinds) >= KINDS
        if many and sum(kind.change == change for kind in self.kinds.values()) >= KINDS:
            old = new = OTHERS
            key = "\n".join((change, old, new))
        return self.kinds.setdefault(key, ChangeKind(change, old, new))

    def merge(self, other: DiffCounts) -> None:
        """Add the counts of later rows."""
        for name in ("rows", "both", "moved_by", "errors", "ungrouped"):
            setattr(self, name, getattr(self, name) + getattr(other, name))
        for change, count in other.changes.items():
            self.changes[change] += count
        self.scored = _added(self.scored, other.scored)
        self.totals = _added(self.totals, other.totals)
        self.sizes = {way: _added(each, other.sizes[way]) for way, each in self.sizes.items()}
        for theirs in other.kinds.values():
            kind = self._kind(theirs.change, theirs.old, theirs.new)
            kind.count += theirs.count
            kind.total += theirs.total
            for example in theirs.examples:
                kind.keep(example)

    def to_record(self) -> dict[str, Any]:
        """The counts as plain JSON values."""
        return {**asdict(self), "kinds": [asdict(kind) for kind in self.kinds.values()]}

    @classmethod
    def from_record(cls, record: Mapping[str, Any]) -> Self:
        """The counts that `to_record` wrote."""
        kinds = {}
        for each in record["kinds"]:
            examples = [
                ChangeExample(**{**example, **{s: SideScore(**example[s]) for s in ("old", "new")}})
                for example in each["examples"]
            ]
            kind = ChangeKind(**{**each, "examples": examples})
            kinds["\n".join((kind.change, kind.old, kind.new))] = kind
        return cls(**{**record, "kinds": kinds})


def _added(ours: list[N], theirs: list[N]) -> list[N]:
    return [a + b for a, b in zip(ours, theirs, strict=True)]


def pattern_of(score: Score) -> str:
    """The reason of a score without the values of its row, such as numbers."""
    text = _VALUES.sub("…", score.because[:PATTERN_CHARS])
    if isinstance(score, Abstained):
        return f"{score.reason}: {text}"
    return f"{score.value:.4g}: {text}" if score.value in (0.0, 1.0) else text


@dataclass(frozen=True, slots=True)
class DiffGate:
    """A limit on changed rows or groups, above which the reward diff fails."""

    name: str
    most: float
    """A number (an `int`), or a share (a `float`)."""

    @classmethod
    def of(cls, text: str) -> Self:
        """Parse a gate such as `down`, `down=50` or `down=0.1%`, or raise `BadParameter`."""
        name, equals, limit = text.partition("=")
        if name not in GATES:
            raise BadParameter(f"--fail-on {name!r}: {did_you_mean(name, GATES) or 'no gate'}; "
                               f"there are: {', '.join(GATES)}")  # fmt: skip
        share = limit.endswith("%") or "." in limit
        try:
            most: float = int(limit or 0) if not share else float(limit.removesuffix("%"))
            most = most / 100 if limit.endswith("%") else most
            if (equals and not limit) or not 0 <= most <= (1 if share else float("inf")):
                raise ValueError(limit)
        except ValueError:
            raise BadParameter(
                f"--fail-on {text!r}: the limit must be a number, or a share such as 0.01 or 1%"
            ) from None
        return cls(name, most)


@dataclass(frozen=True, slots=True)
class RewardDiff:
    """All changes from the old reward to the new reward, over all rows."""

    old: str
    new: str
    data: tuple[str, ...]
    counts: DiffCounts
    group: tuple[str, ...] = ()
    groups: GroupEffects | None = None
    """`None` where no column says which rows belong together."""
    tolerance: float = 0.0
    elapsed_s: float = 0.0

    @property
    def rows(self) -> int:
        return self.counts.rows

    @property
    def has_scores(self) -> bool:
        """Whether at least one reward scored at least one row."""
        return any(self.counts.scored)

    @property
    def moved(self) -> int:
        """The number of rows whose reward or abstention changed."""
        return sum(self.counts.changes.values())

    def mean(self, side: Literal["old", "new"]) -> float | None:
        """The mean of the old or the new reward; `None` for a reward that scored no row."""
        at = 0 if side == "old" else 1
        scored = self.counts.scored[at]
        return self.counts.totals[at] / scored if scored else None

    @property
    def kinds(self) -> list[ChangeKind]:
        """All kinds of change: losses come first, then frequent kinds."""
        return sorted(
            self.counts.kinds.values(),
            key=lambda kind: (CHANGES.index(kind.change), -kind.count, kind.old, kind.new),
        )

    def closed(self, gates: Sequence[DiffGate]) -> list[str]:
        """A sentence for each gate that fails, or for a comparison in which no row was scored."""
        sentences = [NOTHING] if gates and not self.has_scores else []
        for gate in gates:
            count, total, what = _measure(self, gate)
            most = gate.most if isinstance(gate.most, int) else gate.most * total
            if count > most:
                limit = f"{gate.most:,}" if isinstance(gate.most, int) else f"{gate.most:.2%}"
                sentences.append(f"{gate.name}: {count:,} of {total:,} {what}, more than {limit}")
        return sentences

    def to_record(self, *, timings: bool = False) -> dict[str, Any]:
        """The result as plain JSON values; `timings` adds the elapsed time."""
        counts, both = self.counts, self.counts.both
        record: dict[str, Any] = {
            "old": self.old,
            "new": self.new,
            "data": list(self.data),
            "rows": self.rows,
            "moved": self.moved,
            "changes": dict(counts.changes),
            "errors": counts.errors,
            "scored": {"old": counts.scored[0], "new": counts.scored[1], "both": both},
            "mean": {"old": self.mean("old"), "new": self.mean("new")},
            "mean_difference": counts.moved_by / both if both else None,
            "sizes": {"steps": list(STEPS), **counts.sizes},
            "tolerance": self.tolerance,
            "kinds": [asdict(kind) for kind in self.kinds],
            "group": list(self.group),
            "ungrouped": counts.ungrouped if self.group else None,
            "groups": None if self.groups is None else asdict(self.groups),
        }
        return {**record, "elapsed_s": round(self.elapsed_s, 3)} if timings else record

    def to_html(self) -> str:
        """The result as one HTML page without scripts; all text in it is escaped."""
        from jinja2 import Environment

        environment = Environment(autoescape=True, trim_blocks=True, lstrip_blocks=True)
        template = files("assay.report").joinpath("templates/reward_diff.html")
        page = environment.from_string(template.read_text(encoding="utf-8")).render(
            diff=self.to_record(), titles=TITLES, printable=lambda value: printable(str(value))
        )
        # A lone surrogate has no form in UTF-8, and the page is a file.
        return page.encode("utf-8", "replace").decode("utf-8")


def _row_count(*changes: Change) -> Callable[[RewardDiff], tuple[int, int, str]]:
    return lambda diff: (sum(diff.counts.changes[c] for c in changes), diff.rows, "rows")


ROW_GATES: Final[Mapping[str, Callable[[RewardDiff], tuple[int, int, str]]]] = {
    "moved": _row_count(*CHANGES),
    "down": _row_count("down"),
    "up": _row_count("up"),
    "abstained": _row_count("scored_to_abstained"),
    "errors": lambda diff: (diff.counts.errors, diff.rows, "rows"),
}
"""Gates by the rows that change: how many there are, and of how many."""
GROUP_GATES: Final[Mapping[str, Callable[[GroupEffects], tuple[int, int, str]]]] = {
    "flips": lambda groups: (groups.flipped, groups.rows, "advantages turn round"),
    "flat": lambda groups: (groups.flat, groups.groups, "groups become flat"),
    "reordered": lambda groups: (groups.reordered, groups.groups, "groups change their order"),
}
GATES: Final = (*ROW_GATES, *GROUP_GATES)
"""What `--fail-on` can name."""


def check_gates(gates: Sequence[DiffGate]) -> None:
    """Raise `BadParameter` if a gate is about groups, because there are no groups."""
    for gate in gates:
        if gate.name in GROUP_GATES:
            raise BadParameter(
                f"--fail-on {gate.name} is about groups; add --group COLUMN to define the groups"
            )


def _measure(diff: RewardDiff, gate: DiffGate) -> tuple[int, int, str]:
    if gate.name in ROW_GATES:
        return ROW_GATES[gate.name](diff)
    if diff.groups is None:
        check_gates([gate])
    return GROUP_GATES[gate.name](diff.groups or GroupEffects())
