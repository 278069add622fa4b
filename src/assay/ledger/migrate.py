"""Reading what an older Assay wrote: earlier forms of records, and earlier names of rewards."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

from assay.errors import BadRecord
from assay.registry import REWARDS
from assay.schema.manifest import RUN_SCHEMA

RecordKind: TypeAlias = Literal["manifest", "episode", "step"]


@dataclass(frozen=True, slots=True)
class Migration:
    """How a record of one schema version becomes one of the next."""

    before: str
    after: str
    change: Callable[[RecordKind, dict[str, Any]], dict[str, Any]]


MIGRATIONS: tuple[Migration, ...] = ()
"""Oldest first; version 1 is the first one, so there is nothing to migrate yet."""


def upgrade(
    record: dict[str, Any], kind: RecordKind, migrations: Sequence[Migration] = MIGRATIONS
) -> dict[str, Any]:
    """The record as this version writes it, without its `schema_id`.

    Every record carries its own version, so a run that an older Assay began and this one resumed
    is read like any other.
    """
    fields = dict(record)
    schema = fields.pop("schema_id", None)
    for migration in migrations:
        if migration.before == schema:
            fields = _apply(migration, kind, fields)
            schema = migration.after
    if schema != RUN_SCHEMA:
        schemas = [*(migration.before for migration in migrations), RUN_SCHEMA]
        raise BadRecord(
            f"a record of schema {schema!r:.80}; this version of Assay reads {', '.join(schemas)}"
        )
    return _with_current_names(fields, kind)


def _apply(migration: Migration, kind: RecordKind, fields: dict[str, Any]) -> dict[str, Any]:
    try:
        return migration.change(kind, fields)
    except (KeyError, TypeError, ValueError) as error:
        raise BadRecord(
            f"{kind} record is not of {migration.before}: {type(error).__name__} {error!s:.200}"
        ) from error


def _with_current_names(fields: dict[str, Any], kind: RecordKind) -> dict[str, Any]:
    """The record with the names that its rewards have now; what is malformed stays as it is."""
    if kind == "episode" and "scores" in fields:
        fields["scores"] = _rename_in(fields["scores"], "scorer")
    elif kind == "manifest":
        if "rewards" in fields:
            fields["rewards"] = _rename(fields["rewards"])
        if "config" in fields:
            fields["config"] = _rename_in_config(fields["config"])
    return fields


def _rename_in_config(config: Any) -> Any:
    if not isinstance(config, Mapping):
        return config
    changes: dict[str, Any] = {}
    if "rescored_with" in config:
        changes["rescored_with"] = _rename_in(config["rescored_with"], "name")
    benchmark = config.get("benchmark")
    if isinstance(benchmark, Mapping) and isinstance(benchmark.get("rewards"), Mapping):
        rewards = {key: _rename(value) for key, value in benchmark["rewards"].items()}
        changes["benchmark"] = {**benchmark, "rewards": rewards}
    return {**config, **changes}


def _rename(names: Any) -> Any:
    """Current names in a list of reward names, or in a table by reward name."""
    if isinstance(names, Mapping):
        return {REWARDS.current_name(name): value for name, value in names.items()}
    if isinstance(names, list) and all(isinstance(name, str) for name in names):
        return [REWARDS.current_name(name) for name in names]
    return names


def _rename_in(records: Any, key: str) -> Any:
    """Current names in a list of records that have a reward name under `key`."""
    if not isinstance(records, list):
        return records
    return [_rename_field(record, key) for record in records]


def _rename_field(record: Any, key: str) -> Any:
    name = record.get(key) if isinstance(record, dict) else None
    current = REWARDS.current_name(name) if isinstance(name, str) else name
    return record if current == name else {**record, key: current}
