"""Reading what an older Assay wrote: the schema of a record, and earlier names of rewards."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal, TypeAlias

from assay.errors import BadRecord
from assay.registry import REWARDS
from assay.schema.manifest import RUN_SCHEMA

RecordKind: TypeAlias = Literal["manifest", "episode", "step"]


def upgrade(record: dict[str, Any], kind: RecordKind) -> dict[str, Any]:
    """The record as this version writes it, without its `schema_id`.

    Every record carries its own version, so a run that an older Assay began and this one resumed
    is read like any other. Rewards have the names that they have now; what is malformed stays as
    it is. Version 1 of the schema is the first one: no other is read.
    """
    fields = dict(record)
    schema = fields.pop("schema_id", None)
    if schema != RUN_SCHEMA:
        raise BadRecord(
            f"a record of schema {schema!r:.80}; this version of Assay reads {RUN_SCHEMA}"
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
    return [
        {**record, key: REWARDS.current_name(record[key])}
        if isinstance(record, dict) and isinstance(record.get(key), str)
        else record
        for record in records
    ]
