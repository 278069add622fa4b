"""Writes `statistics.json`: what SciPy says of the same numbers. Needs SciPy, which Assay does not.

python tests/data/report/make_statistics.py
"""

from __future__ import annotations

import json
import random
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np

# Named, not imported: it is not a dependency of Assay, and has no types.
SCIPY: Any = import_module("scipy")
STATS: Any = import_module("scipy.stats")
LEVELS = (0, 0, 0.25, -0.5, 1, -1, 0.993, -0.571)
TABLES = ((0, 0), (1, 0), (5, 0), (8, 2), (2, 8), (30, 12), (250, 300), (1200, 1300), (700, 500))


def main() -> None:
    dice = random.Random(5)

    def levels(n: int) -> list[float]:
        return [dice.choice(LEVELS) for _ in range(n)]

    def smooth(n: int, shift: float) -> list[float]:
        return [round(dice.gauss(shift, 0.38), 6) for _ in range(n)]

    few = [[0.1, 0.2, 0.3], [1.0] * 6, [1.0, -1.0, 1.0, -1.0], levels(10), levels(12)]
    few += [smooth(9, 0.2), smooth(12, -0.3), smooth(16, 0.15), [0.5] * 7 + [0.0] * 20]
    many = [smooth(33, 0.1), smooth(60, 0.0), levels(100)]
    cases: list[dict[str, Any]] = [
        {"kind": "exact", "differences": d, "p": _flip(d, np.inf)} for d in few
    ]
    cases += [{"kind": "monte-carlo", "differences": d, "p": _flip(d, 400_000)} for d in many]
    for d in (smooth(10, 0.1), smooth(33, 0.1), levels(100)):
        low, high = STATS.bootstrap(
            (np.array(d, float),), np.mean, n_resamples=100_000, method="percentile", random_state=2
        ).confidence_interval
        cases.append(
            {"kind": "bootstrap", "differences": d, "low": float(low), "high": float(high)}
        )
    for gained, lost in TABLES:
        p = STATS.binomtest(gained, gained + lost, 0.5).pvalue if gained + lost else 1.0
        cases.append({"kind": "mcnemar", "gained": gained, "lost": lost, "p": float(p)})
    target = Path(__file__).with_name("statistics.json")
    target.write_text(json.dumps({"scipy": SCIPY.__version__, "cases": cases}, indent=1), "utf-8")


def _flip(differences: list[float], draws: float) -> float:
    """The size of the sum, one-sided: SciPy's two-sided p doubles the smaller of two random tails.

    In thousandths, so that sums which are equal on paper are equal.
    """
    moved = np.array([round(d * 1000, 3) for d in differences if d])
    result = STATS.permutation_test(
        (moved,),
        lambda x, axis: np.abs(np.sum(x, axis=axis)),
        permutation_type="samples",
        vectorized=True,
        n_resamples=draws,
        alternative="greater",
        random_state=1,
    )
    return float(result.pvalue)


if __name__ == "__main__":
    main()
