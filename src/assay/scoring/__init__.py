"""The one place where rewards are called."""

from assay.scoring.results import to_score
from assay.scoring.scorer import Scorer, score, score_async

__all__ = ["Scorer", "score", "score_async", "to_score"]
