"""The bench: where every reward is called, and nowhere else."""

from assay.scoring.judge import Judge, score, score_async, to_score

__all__ = ["Judge", "score", "score_async", "to_score"]
