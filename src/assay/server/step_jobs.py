"""Score the recorded steps of an episode in a worker process.

Apart from `jobs`: what this imports doubles the time in which a worker starts.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from pydantic import ValidationError

from assay.browser.step_records import rescore
from assay.browser.steps import RecoveryRewardScorer
from assay.errors import BadRecord
from assay.ledger.records import upgrade
from assay.schema.episode import Step
from assay.schema.manifest import RUN_SCHEMA
from assay.server.jobs import DeadlineReached, WorkerCallContext, alarm
from assay.web.strict_json import write_json


def score_steps(records: Sequence[dict[str, Any]], turn: WorkerCallContext) -> bytes | None:
    """Score the steps and write the JSON response; `None` if the time runs out."""
    scorer = RecoveryRewardScorer()
    try:
        with alarm(turn.budget_s):
            steps = [_step(record, number) for number, record in enumerate(records)]
            return write_json({"scorer": scorer.id, "steps": _score(steps, scorer)})
    except DeadlineReached:
        return None


def _step(record: dict[str, Any], number: int) -> Step:
    try:
        return Step.model_validate(upgrade({"schema_id": RUN_SCHEMA, **record}, "step"))
    except ValidationError as error:
        first = error.errors(include_input=False, include_url=False)[0]
        place = ".".join(str(part) for part in first["loc"])
        raise BadRecord(f"steps[{number}].{place}: {first['msg']}") from error
    except BadRecord as error:
        raise BadRecord(f"steps[{number}]: {error}") from error


def _score(steps: Sequence[Step], scorer: RecoveryRewardScorer) -> list[dict[str, Any]]:
    """Return each step's record, as `assay steps --json` prints it."""
    records: list[dict[str, Any]] = []
    try:
        records.extend(row.to_record(scorer.id) for row in rescore(steps, scorer=scorer))
    except BadRecord as error:
        raise BadRecord(f"steps[{len(records)}]: {error}") from error
    return records
