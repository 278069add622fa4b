"""The bench: where every reward is called, and nowhere else."""

from assay.scoring.scorer import Scorer, score, score_async, to_score

__all__ = ["Scorer", "score", "score_async", "to_score"]
