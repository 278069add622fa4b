"""The base class of ledger records: immutable, and strict about field names."""

from __future__ import annotations

from typing import Annotated

from pydantic import BaseModel, ConfigDict, PlainSerializer, PlainValidator

from assay.schema.score import Abstained, Scored, score_from_record, score_to_record


class FrozenRecord(BaseModel):
    """An immutable record that refuses unknown fields."""

    model_config = ConfigDict(frozen=True, extra="forbid", ser_json_inf_nan="null")


ScoreField = Annotated[
    Scored | Abstained,
    PlainValidator(
        lambda item: item if isinstance(item, (Scored, Abstained)) else score_from_record(item)
    ),
    PlainSerializer(score_to_record),
]
