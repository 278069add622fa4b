"""Reading what an older Assay wrote: each change of the on-disk schema is one entry here."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

from assay.errors import BadRecord
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
    return fields


def _apply(migration: Migration, kind: RecordKind, fields: dict[str, Any]) -> dict[str, Any]:
    try:
        return migration.change(kind, fields)
    except (KeyError, TypeError, ValueError) as error:
        raise BadRecord(
            f"{kind} record is not of {migration.before}: {type(error).__name__} {error!s:.200}"
        ) from error
