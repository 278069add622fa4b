"""The evidence of a live rollout or a recorded episode, for rewards of text environments.

Each reward reads the evidence of the rollout's own environment and steps nothing, so a live rollout
and its recorded episode score alike. Where there is no evidence to read, it abstains:

    not_reset    this rollout never reset the environment, so there is no episode of its own
    env_error    the environment failed or died before the episode was over
    wrong_task   the environment's episode is not the task that is being scored
    bad_evidence the record has a score that the environment cannot give
"""

from __future__ import annotations

import reprlib
from typing import Any

from assay.errors import NotReset, ResourceError
from assay.resources.context import Context
from assay.schema.evidence import WorldEvidence
from assay.schema.score import Abstained


async def read_evidence(
    context: Any, environment: str, task_id: str | None = None
) -> WorldEvidence | Abstained:
    """Return the evidence of this rollout's episode, or an abstention with the reason.

    Another framework's context may have nothing but `acquire_resource`; ours does not start an
    environment just to find that it was never reset.
    """
    try:
        if isinstance(context, Context):
            evidence = context.evidence(environment)
        else:
            evidence = (await context.acquire_resource(environment)).evidence()
    except NotReset as error:
        return Abstained("not_reset", str(error))
    except ResourceError as error:
        return Abstained("env_error", f"{type(error).__name__}: {error}")
    task = getattr(context, "task", None)
    own = evidence.task_id if task is None else task.id
    for expected in (task_id, own):
        if expected is not None and expected != evidence.task_id:
            return Abstained(
                "wrong_task",
                f"{environment} was reset to task {evidence.task_id!r}, "
                f"but task {expected!r} is being scored",
            )
    return evidence


def is_score(value: object, least: int, most: int) -> bool:
    """Whether the value is `None` or a number from `least` to `most`."""
    if value is None:
        return True
    return isinstance(value, (int, float)) and type(value) is not bool and least <= value <= most


def bad_evidence(environment: str, entry: str, value: object) -> Abstained:
    return Abstained(
        "bad_evidence",
        f"the record of {environment} has {reprlib.repr(value)} as its {entry}, a value that the "
        "environment never gives; the recording is damaged or from another environment",
    )
