"""An episode as the line that the ledger keeps, and back."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple, get_args

from pydantic import ValidationError

from assay.errors import BadRecord
from assay.formats.lines import FileLine, load_record, read_lines
from assay.ledger.layout import safe_name
from assay.ledger.migrate import upgrade
from assay.schema.episode import Episode, StopReason
from assay.schema.manifest import RUN_SCHEMA

_KEYS = frozenset(Episode.model_fields) - {"trajectory"} | {"stop_reason", "messages", "steps"}
_ENDINGS = frozenset(get_args(StopReason))


class StoredSteps(NamedTuple):
    """What a line says of its steps file."""

    n: int
    sha256: str


class StoredMessages(NamedTuple):
    """What a line says of its messages: they are in it, or in an artifact."""

    n: int = 0
    inline: tuple[dict[str, Any], ...] = ()
    sha256: str = ""


class StoredEpisode(NamedTuple):
    """A line as it was read: the episode without messages and steps, and where those are."""

    episode: Episode
    messages: StoredMessages
    steps: StoredSteps


class RawLine(NamedTuple):
    """A line of `episodes.jsonl` and the record in it, or why there is none."""

    line: FileLine
    record: dict[str, Any] | None
    problem: str = ""

    @property
    def fields(self) -> dict[str, Any]:
        """The record; raises BadRecord where there is none."""
        if self.record is None:
            raise BadRecord(self.problem)
        return self.record


def episode_to_record(
    episode: Episode, messages: StoredMessages, steps: StoredSteps
) -> dict[str, Any]:
    """The line for an episode, the fields that a person looks for first."""
    fields = episode.model_dump(exclude={"trajectory"})
    return {
        "schema_id": RUN_SCHEMA,
        "attempt": fields.pop("attempt"),
        "task": fields.pop("task"),
        "repeat": fields.pop("repeat"),
        "stop_reason": episode.stop_reason,
        **fields,
        "messages": messages._asdict(),
        "steps": steps._asdict(),
    }


def check_episode_keys(fields: Mapping[str, Any]) -> None:
    """Raise BadRecord if a record has keys or an ending that no episode has.

    For readers that take a few numbers from a line and do not validate the rest of it.
    """
    unknown = fields.keys() - _KEYS
    if unknown:
        raise BadRecord(f"not an episode: unknown fields {sorted(unknown)!s:.200}")
    if fields.get("stop_reason") not in _ENDINGS:
        raise BadRecord(f"not an episode: stop_reason={fields.get('stop_reason')!r:.80}")


def episode_from_record(fields: dict[str, Any]) -> StoredEpisode:
    """What `episode_to_record` wrote, after `upgrade`."""
    rest = dict(fields)
    try:
        messages = rest.pop("messages")
        steps = rest.pop("steps")
        rest["trajectory"] = {"stop_reason": rest.pop("stop_reason")}
        safe_name(rest["attempt"], "attempt")
        return StoredEpisode(
            Episode.model_validate(rest),
            StoredMessages(messages["n"], tuple(messages["inline"]), messages["sha256"]),
            StoredSteps(steps["n"], steps["sha256"]),
        )
    except (KeyError, TypeError, ValidationError) as error:
        raise BadRecord(f"not an episode: {type(error).__name__} {error!s:.300}") from error


def read_raw(path: Path, *, start: int = 0, after: int = 0) -> Iterator[RawLine]:
    """Every terminated line of `episodes.jsonl`, brought to this version of the schema."""
    for line in read_lines(path, start=start, after=after):
        try:
            fields = upgrade(load_record(line.data), "episode")
        except BadRecord as error:
            yield RawLine(line, None, str(error))
        else:
            yield RawLine(line, fields)
