"""The one place where rewards are called."""

from assay.scoring.scorer import Scorer, score, score_async, to_score

__all__ = ["Scorer", "score", "score_async", "to_score"]
