"""What every record of the ledger has in common: frozen, strict about names, scores inside."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, PlainSerializer, PlainValidator

from assay.schema.score import Abstained, Score, Scored, score_from_record, score_to_record


class Record(BaseModel):
    """A frozen record; an unknown field is an error, so that a typo never becomes a default."""

    model_config = ConfigDict(frozen=True, extra="forbid", ser_json_inf_nan="null")


def _read_score(value: Any) -> Score:
    return value if isinstance(value, (Scored, Abstained)) else score_from_record(value)


ScoreField = Annotated[
    Scored | Abstained, PlainValidator(_read_score), PlainSerializer(score_to_record)
]
