"""Scores a recorded run again with other rewards, into a child run."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence

from assay.ledger.provenance import installed_versions, new_run_id, utc_now
from assay.ledger.run import Run
from assay.ledger.writer import RunWriter
from assay.resources.context import Context
from assay.scoring.scorer import SCORE_S, Scorer, score_episode


def rescore(
    run: Run,
    scorers: Sequence[Scorer],
    *,
    focus: str = "",
    limit_s: float = SCORE_S,
    on_progress: Callable[[int], None] | None = None,
) -> Run:
    """Return a new run with the same attempts and new scores, in the same folder of runs.

    Attempts that a retry replaced are scored, too. The child finds the artifacts of its parent.
    """

    async def score_all() -> None:
        for number, episode in enumerate(run.episodes(full=True), 1):
            context = Context.recorded(episode)
            scores = await score_episode(scorers, episode, context, limit_s=limit_s)
            writer.submit(episode.model_copy(update={"scores": scores}))
            if on_progress is not None:
                on_progress(number)

    rewards = [{"name": scorer.spec.id, "options": scorer.params} for scorer in scorers]
    versions = {f"rescoring.{name}": version for name, version in installed_versions().items()}
    changes = {
        "run_id": new_run_id(),
        "config": {**run.manifest.config, "rescored_with": rewards},
        "versions": {**run.manifest.versions, **versions},
        "rewards": tuple(scorer.spec.id for scorer in scorers),
        "focus": focus or run.manifest.focus,
        "parent": run.id,
        "created_at": utc_now(),
    }
    with RunWriter.create(run.path.parent, run.manifest.model_copy(update=changes)) as writer:
        asyncio.run(score_all())
    return Run(writer.path)
