"""Labels that people give to attempts and steps: right, wrong or doubtful, with a note.

    add_label(folder, "weather-3-e80250c8.r0.a1", "wrong", note="that is last year's number")
    for label in read_labels(folder).current:
        print(label.attempt, label.value, label.author)

Labels are lines of `labels.jsonl` in the run's folder, appended and never changed: of one person's
lines about one thing the last one counts. They may be added while the run goes on.
"""

from __future__ import annotations

import fcntl
import getpass
import os
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal, TypeAlias, get_args

from pydantic import AfterValidator, Field, ValidationError

from assay.errors import BadParameter, BadRecord, ResourceError
from assay.formats.lines import dump_line, load_record, read_lines
from assay.ledger.layout import RunLayout
from assay.ledger.provenance import utc_now
from assay.schema.episode import MOST
from assay.schema.name import Name
from assay.schema.record import FrozenRecord

LabelValue: TypeAlias = Literal["right", "wrong", "doubtful", "withdrawn"]
"""What a person says; `withdrawn` takes back what the same person said before."""
LABEL_VALUES: tuple[str, ...] = get_args(LabelValue)
NOTE_CHARS = 4_000
AUTHOR_CHARS = 200
AUTHOR_VARIABLE = "ASSAY_AUTHOR"


def _at_most(most: int) -> AfterValidator:
    """Check the length of a text; pydantic's own check refuses lone surrogates."""

    def check(text: str) -> str:
        if len(text) > most:
            raise ValueError(f"is longer than {most:,} characters")
        return text

    return AfterValidator(check)


class Label(FrozenRecord):
    """The judgement of one person about one attempt or one of its steps."""

    schema_id: Literal["assay.label/1"] = "assay.label/1"
    attempt: Name
    step: int | None = Field(default=None, ge=0, le=MOST)
    """`None` for the attempt as a whole."""
    value: LabelValue
    note: Annotated[str, _at_most(NOTE_CHARS)] = ""
    author: Annotated[str, _at_most(AUTHOR_CHARS)] = ""
    at: Annotated[str, _at_most(40)] = ""
    """When, as ISO 8601 in UTC."""

    @property
    def place(self) -> tuple[str, int | None]:
        """What it is about."""
        return self.attempt, self.step


@dataclass(frozen=True, slots=True)
class RunLabels:
    """The labels of a run, the oldest first, and the problems of unreadable labels."""

    labels: tuple[Label, ...] = ()
    problems: tuple[str, ...] = ()

    @property
    def current(self) -> tuple[Label, ...]:
        """The last label of each person for each attempt and step, without withdrawn labels."""
        last = {(label.place, label.author): label for label in self.labels}
        return tuple(label for label in last.values() if label.value != "withdrawn")

    def of(self, attempt: str, step: int | None = None) -> tuple[Label, ...]:
        """The current labels of a whole attempt, or of one of its steps."""
        return tuple(label for label in self.current if label.place == (attempt, step))


def consensus(labels: Iterable[Label]) -> LabelValue | None:
    """The label that most people chose; `doubtful` for a tie, `None` without labels."""
    leading = Counter(label.value for label in labels).most_common(2)
    if not leading:
        return None
    tied = len(leading) > 1 and leading[0][1] == leading[1][1]
    return "doubtful" if tied else leading[0][0]


def read_labels(folder: Path) -> RunLabels:
    """The labels of a run; a damaged line is left out and reported as a problem."""
    path = RunLayout(folder).labels
    labels, problems = [], []
    for line in read_lines(path):
        try:
            labels.append(Label.model_validate(load_record(line.data)))
        except (BadRecord, ValidationError) as error:
            problems.append(f"{str(path)!r} line {line.number}: {error!s:.200}")
    return RunLabels(tuple(labels), tuple(problems))


def new_label(attempt: str, value: str, **fields: Any) -> Label:
    """Create a label; by default its author is the current user and its time is now."""
    if value not in LABEL_VALUES:
        raise BadParameter(f"bad label {value[:100]!r}; choose one of {', '.join(LABEL_VALUES)}")
    chosen = {name: field for name, field in fields.items() if field not in (None, "")}
    defaults = {"author": author_name(), "at": utc_now()}
    try:
        return Label(attempt=attempt, value=value, **{**defaults, **chosen})  # type: ignore[arg-type]
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(map(str, first["loc"]))
        raise BadParameter(f"no label: {where} {first['msg'].lower()}") from error


def add_label(folder: Path, attempt: str, value: str, **fields: Any) -> Label:
    """Append a label to a run, and write it to the disk; see `new_label`.

    Raises `BadRecord` for an attempt or a step that the run does not have, and `ResourceError`
    where the folder cannot be written.
    """
    label = new_label(attempt, value, **fields)
    _check_place(RunLayout(folder), label)
    append_labels(folder, [label])
    return label


def append_labels(folder: Path, labels: Iterable[Label]) -> int:
    """Append the new labels to the file, and return their number."""
    path = RunLayout(folder).labels
    with _appending(path) as file:
        fresh = list(_news(read_labels(folder).labels, labels))
        data = b"".join(dump_line(label.model_dump()) for label in fresh)
        end = os.fstat(file).st_size
        if data and end and os.pread(file, 1, end - 1) != b"\n":
            # What a kill left of a line stays there, as a line that readers leave out.
            data = b"\n" + data
        os.write(file, data)
        os.fsync(file)
    return len(fresh)


def _news(before: Iterable[Label], labels: Iterable[Label]) -> Iterator[Label]:
    """The labels that are new and do not repeat the last label of their author."""
    present = set(before)
    last = {(label.place, label.author): label for label in before}
    for label in labels:
        key = (label.place, label.author)
        earlier = last.get(key)
        repeats = earlier and (earlier.value, earlier.note) == (label.value, label.note)
        if label not in present and not repeats:
            present.add(label)
            last[key] = label
            yield label


@contextmanager
def _appending(path: Path) -> Iterator[int]:
    try:
        file = os.open(path, os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_NOFOLLOW, 0o644)
        try:
            fcntl.flock(file, fcntl.LOCK_EX)
            yield file
        finally:
            os.close(file)
    except OSError as error:
        raise ResourceError(
            f"labels cannot be stored in {str(path)!r}: {error.strerror}; make the folder "
            "writable, or copy the run to a writable folder"
        ) from error


def can_label(folder: Path) -> bool:
    """Whether the folder of this run allows writing labels."""
    path = RunLayout(folder).labels
    return os.access(path if path.exists() else folder, os.W_OK)


def author_name(environment: Mapping[str, str] = os.environ) -> str:
    """The author of new labels: `ASSAY_AUTHOR`, or the name of the user."""
    named = environment.get(AUTHOR_VARIABLE, "").strip()
    with suppress(KeyError, OSError):
        return (named or getpass.getuser())[:AUTHOR_CHARS]
    return ""


def _check_place(layout: RunLayout, label: Label) -> None:
    from assay.ledger.run import Run
    from assay.ledger.steps import read_summaries

    run, steps = Run(layout.folder, strict=False), layout.steps_of(label.attempt)
    if label.attempt not in run.attempts().attempts and not steps.exists():
        raise BadRecord(f"run {layout.folder.name!r} has no attempt {label.attempt[:200]!r}")
    if label.step is not None and label.step >= (n := len(read_summaries(steps))):
        raise BadRecord(f"attempt {label.attempt!r} has no step {label.step}; it has {n} steps")
