"""Convert an episode to a ledger line and back, including lines of older versions."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Literal, NamedTuple, TypeAlias, get_args

from pydantic import ValidationError

from assay.errors import BadRecord
from assay.formats.lines import FileLine, load_record, read_lines
from assay.ledger.layout import safe_name
from assay.registry import REWARDS
from assay.schema.episode import Episode, StopReason
from assay.schema.manifest import RUN_SCHEMA

_KEYS = frozenset(Episode.model_fields) - {"trajectory"} | {"stop_reason", "messages", "steps"}
_ENDINGS = frozenset(get_args(StopReason))
RecordKind: TypeAlias = Literal["manifest", "episode", "step"]


class StepsFileRecord(NamedTuple):
    """The number of steps and the hash of an attempt's steps file."""

    n: int
    sha256: str


class StoredMessages(NamedTuple):
    """The messages of a ledger line, or the hash of the artifact with the messages."""

    n: int = 0
    inline: tuple[dict[str, Any], ...] = ()
    sha256: str = ""


class StoredEpisode(NamedTuple):
    """An episode without messages and steps, and the places where both are stored."""

    episode: Episode
    messages: StoredMessages
    steps: StepsFileRecord


class RawLine(NamedTuple):
    """A line of `episodes.jsonl` with its record, or with the problem of the line."""

    line: FileLine
    record: dict[str, Any] | None
    problem: str = ""

    @property
    def fields(self) -> dict[str, Any]:
        """The record of the line; raises BadRecord if the line has none."""
        if self.record is None:
            raise BadRecord(self.problem)
        return self.record


def episode_to_record(
    episode: Episode, messages: StoredMessages, steps: StepsFileRecord
) -> dict[str, Any]:
    """The ledger line for an episode, with the most important fields first."""
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
    """Raise BadRecord if a record has unknown keys or an unknown stop reason."""
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
            StepsFileRecord(steps["n"], steps["sha256"]),
        )
    except (KeyError, TypeError, ValidationError) as error:
        raise BadRecord(f"not an episode: {type(error).__name__} {error!s:.300}") from error


def read_raw(path: Path, *, start: int = 0, after: int = 0) -> Iterator[RawLine]:
    """Every complete line of `episodes.jsonl`, converted to the current schema."""
    for line in read_lines(path, start=start, after=after):
        try:
            fields = upgrade(load_record(line.data), "episode")
        except BadRecord as error:
            yield RawLine(line, None, str(error))
        else:
            yield RawLine(line, fields)


def upgrade(record: dict[str, Any], kind: RecordKind) -> dict[str, Any]:
    """Convert a record to the current schema, and remove its `schema_id`.

    Every record carries its own version, so a run that an older Assay began and this one resumed
    is read like any other. Rewards have the names that they have now; what is malformed stays as
    it is. Version 1 of the schema is the first one: no other is read.
    """
    fields = dict(record)
    schema = fields.pop("schema_id", None)
    if schema != RUN_SCHEMA:
        raise BadRecord(
            f"the record's schema is {schema!r:.80}; this version of Assay reads {RUN_SCHEMA}"
        )
    if kind == "episode" and "scores" in fields:
        fields["scores"] = _rename_in(fields["scores"], "scorer")
    elif kind == "manifest":
        if "rewards" in fields:
            fields["rewards"] = _rename(fields["rewards"])
        if isinstance(fields.get("config"), Mapping):
            fields["config"] = _rename_in_config(fields["config"])
    return fields


def _rename_in_config(config: Mapping[str, Any]) -> dict[str, Any]:
    changes: dict[str, Any] = {}
    if "rescored_with" in config:
        changes["rescored_with"] = _rename_in(config["rescored_with"], "name")
    benchmark = config.get("benchmark")
    if isinstance(benchmark, Mapping) and isinstance(benchmark.get("rewards"), Mapping):
        rewards = {key: _rename(value) for key, value in benchmark["rewards"].items()}
        changes["benchmark"] = {**benchmark, "rewards": rewards}
    return {**config, **changes}


def _rename(names: Any) -> Any:
    if isinstance(names, Mapping):
        return {REWARDS.current_name(name): value for name, value in names.items()}
    if isinstance(names, list) and all(isinstance(name, str) for name in names):
        return [REWARDS.current_name(name) for name in names]
    return names


def _rename_in(records: Any, key: str) -> Any:
    if not isinstance(records, list):
        return records
    return [
        {**record, key: REWARDS.current_name(record[key])}
        if isinstance(record, dict) and isinstance(record.get(key), str)
        else record
        for record in records
    ]
