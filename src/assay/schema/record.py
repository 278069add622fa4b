"""What every record of the ledger has in common: frozen, strict about names, scores inside."""

from __future__ import annotations

from typing import Annotated

from pydantic import BaseModel, ConfigDict, PlainSerializer, PlainValidator

from assay.schema.score import Abstained, Scored, score_from_record, score_to_record


class Record(BaseModel):
    """A frozen record; an unknown field is an error, so that a typo never becomes a default."""

    model_config = ConfigDict(frozen=True, extra="forbid", ser_json_inf_nan="null")


ScoreField = Annotated[
    Scored | Abstained,
    PlainValidator(
        lambda item: item if isinstance(item, (Scored, Abstained)) else score_from_record(item)
    ),
    PlainSerializer(score_to_record),
]
